package page

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/internal/activity"
	"quarry/internal/review"
)

// These tests use every action of the page by keyboard: keys, Tab, Enter, Space and arrows. Tests
// that click would not notice actions that only a mouse can reach.

// tabTo presses Tab until the focused element satisfies the condition, in which it is called el.
// Each element on the way must be visible and have an outline.
func (b *tab) tabTo(condition string) {
	b.t.Helper()
	b.until(`[...document.querySelectorAll("a, button, input, select, summary, textarea, [tabindex]")].some((el) => el.checkVisibility() && !el.disabled && (` + condition + `))`)
	for range 150 {
		b.keys(kb.Tab)
		switch eval[string](b, `(() => {
			const el = document.activeElement;
			if (el === document.body) return "";
			const style = getComputedStyle(el), r = el.getBoundingClientRect();
			if (style.outlineStyle === "none" || !r.width || r.bottom < 0 || r.top > innerHeight) return "hidden: " + el.outerHTML.slice(0, 200) + JSON.stringify(r);
			return (`+condition+`) ? "found" : "";
		})()`) {
		case "found":
			return
		case "":
		default:
			b.t.Errorf("a stop of Tab can't be seen: %s", eval[string](b, `document.activeElement.outerHTML.slice(0, 300)`))
			return
		}
	}
	b.t.Fatalf("Tab never leads to %s", condition)
}

// press moves the focus to a button, link or field with Tab, and presses key.
func (b *tab) press(label, key string) {
	b.t.Helper()
	b.tabTo(`(el.getAttribute("aria-label") ?? el.textContent).startsWith(` + quote(label) + `)`)
	b.keys(key)
}

// chord presses a key with modifiers.
func (b *tab) chord(key string, mods int64) {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		e := *kb.Encode([]rune(key)[0])[0]
		e.Type, e.Modifiers, e.Text = kind, mods, ""
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, e); err != nil {
			b.t.Fatal(err)
		}
	}
}

const (
	space = " "
	ctrl  = 2 // modifier bits in the browser's protocol
)

// spy replaces opening an address by recording it, because the addresses open an editor.
const spy = `(() => { window.opened = []; HTMLAnchorElement.prototype.click = function () { opened.push(this.href); }; })()`

// walking opens a page that has agents and data for every action.
func walking(t *testing.T) (*agents, *tab) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "b.txt": "b\n", "docs/guide.md": "# Guide\n\nretryAfter is here.\n", "src/pay.go": "package pay\n\nfunc retryAfter(n int) int {\n\treturn n\n}\n", ".hidden.txt": "retryAfter\n", "pic.bin": "\x00\x01"})
	s.calls = t.TempDir()
	s.opts.Activity = activity.Follow(s.calls)
	b := s.open(t, "/search", 1600, 1000, "light")
	b.has("#live", "Live")
	eval[chromedp.Void](b, spy)
	return s, b
}

// TestBrowserWalkSearch uses every action of Search.
func TestBrowserWalkSearch(t *testing.T) {
	_, b := walking(t)
	b.keys(kb.Escape, "/", "retryafter")
	b.until(`document.querySelectorAll("a.hit").length === 2`)
	b.press("Match case", space)
	b.has(".zero", "No match")
	b.keys(space)
	b.until(`document.querySelectorAll("a.hit").length === 2`)
	b.keys(kb.Tab, space) // whole words
	b.until(`location.search.includes("word=1")`)
	b.keys(space)
	b.until(`!location.search.includes("word=1")`)
	for _, mode := range []string{"Regex", "Words", "Files", "Symbols", "Text"} {
		b.press(mode, kb.Enter)
		b.until(`document.querySelector("#bar [aria-current]")?.textContent === ` + quote(mode))
	}
	b.until(`document.querySelectorAll("a.hit").length === 2`)
	// Use the filters: the glob by its key, then a type, hidden files, and skipped files.
	b.keys(kb.Escape, "f")
	b.until(`document.activeElement.id === "glob"`)
	b.keys("*.md")
	b.until(`document.querySelectorAll("a.hit").length === 1`)
	b.press("Remove filter *.md", kb.Enter)
	b.until(`document.querySelectorAll("a.hit").length === 2`)
	b.keys(kb.Escape, "f")
	b.tabTo(`el.closest("label")?.textContent.includes("md")`)
	b.keys(space)
	b.until(`document.querySelectorAll("a.hit").length === 1 && document.activeElement.checked`) // still has the focus
	b.keys(space)
	b.until(`document.querySelectorAll("a.hit").length === 2`)
	b.tabTo(`el.closest("label")?.textContent.includes("Hidden files")`)
	b.keys(space)
	b.until(`document.querySelectorAll("a.hit").length === 3`)
	b.press("Show the list", kb.Enter)
	b.has("dialog[open]", "What was not searched")
	b.keys(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	// Go through the hits and open a file.
	b.keys("/", kb.ArrowDown)
	b.until(`document.activeElement.matches("a.hit.on")`)
	b.keys("j", "k", "n", "p", "n")
	b.has(".peek .path", "docs/guide.md")
	b.keys("y")
	b.has(".toast", "Copied path and line")
	b.keys("o")
	b.until(`opened.at(-1)?.startsWith("vscode://") && opened.at(-1).endsWith("docs/guide.md:3")`)
	b.keys(kb.Enter)
	b.until(`document.activeElement.matches(".peek .lines")`)
	b.keys("k")
	b.until(`document.querySelector(".peek .hit.on")?.dataset.n === "2"`)
	b.keys("b")
	b.has(".peek .by", "not through Quarry")
	b.chord("f", ctrl)
	b.until(`document.activeElement.matches(".finder input")`)
	b.keys("guide")
	b.has(".finder", "1 of 1")
	b.press("Close find", kb.Enter)
	b.until(`!document.querySelector(".finder")`)
	b.press("Close the file", kb.Enter)
	b.until(`!location.search.includes("at=")`)
	// Find nothing, and use the suggestion.
	b.keys(kb.Escape, "/", "retryaftr")
	b.has(".zero", "No match")
	b.keys(kb.Escape, "?")
	b.has("dialog[open] h2", "Keys")
	b.keys(kb.Enter)
	b.until(`!document.querySelector("dialog")`)
	b.keys("t")
	b.until(`document.documentElement.dataset.theme === "dark"`)
	for i, view := range []string{"search", "changes", "review", "activity", "health"} {
		b.keys(kb.Escape, fmt.Sprint(i+1))
		b.until(`location.pathname.startsWith("/` + view + `")`)
	}
}

// TestBrowserWalkChanges uses every action of Changes.
func TestBrowserWalkChanges(t *testing.T) {
	s, b := walking(t)
	one, other := s.agent(t, "claude-code", 0), s.agent(t, "cursor", 0)
	one.call("apply_changes", map[string]any{"summary": "Words", "changes": []any{
		map[string]any{"path": "a.txt", "old_text": "\n2\n", "new_text": "\ntwo\n"}, map[string]any{"path": "a.txt", "old_text": "\n28\n", "new_text": "\ntwenty-eight\n"}, map[string]any{"path": "b.txt", "content": "B\n"},
	}})
	one.call("write_file", map[string]any{"path": "c.txt", "content": "c\n"})
	other.call("write_file", map[string]any{"path": "d.txt", "content": "d\n"})
	b.keys(kb.Escape, "2")
	b.until(`document.querySelectorAll(".entry").length === 3 && document.querySelector(".dfile")`)
	b.keys("j")
	b.has(".dhead h1", "c.txt")
	b.keys("j")
	b.has(".dhead h1", "Words")
	b.keys("n")
	b.until(`document.activeElement.matches(".dfile")`)
	b.keys("p", "s")
	b.until(`!document.documentElement.classList.contains("split")`)
	b.press("Split", kb.Enter)
	b.until(`document.documentElement.classList.contains("split")`)
	b.press("b.txt", kb.Enter) // in the list of files
	b.until(`document.activeElement.matches("#f1")`)
	b.press("Copy path and line", kb.Enter)
	b.has(".toast", "Copied path and line")
	b.press("Open in", kb.Enter)
	b.until(`opened.at(-1)?.includes("b.txt")`)
	b.press("Undo this file: b.txt", kb.Enter)
	s.becomes(t, "b.txt", "b\n")
	b.until(`document.querySelectorAll(".entry").length === 4`)
	b.has(".dhead h1", "undo a part")
	b.keys("u") // undo the undo
	s.becomes(t, "b.txt", "B\n")
	b.until(`document.querySelectorAll(".entry").length === 5`)
	b.keys("j", "j", "j", "j")
	b.has(".dhead h1", "Words")
	b.press("Undo this hunk: 2 of a.txt", kb.Enter)
	s.becomes(t, "a.txt", "\n28\n")
	b.until(`document.querySelectorAll(".entry").length === 6`)
	// Redo a change.
	b.keys("j", "j", "j")
	b.has(".dhead h1", "d.txt")
	b.keys("u")
	b.has(".toast", "Undone")
	b.until(`document.querySelectorAll(".entry").length === 7`)
	b.has(".dhead h1", "d.txt") // the next one is another agent's
	b.has(".dhead .btns", "Redo this change")
	b.keys("U")
	s.becomes(t, "d.txt", "d\n")
	b.until(`document.querySelectorAll(".entry").length === 8`)
	// Use the filters.
	b.tabTo(`el.getAttribute("aria-label") === "Client"`)
	b.keys(kb.ArrowDown)
	b.until(`location.search.includes("client=") && document.activeElement.getAttribute("aria-label") === "Client"`)
	b.keys(kb.ArrowUp)
	b.until(`!location.search.includes("client=") && document.activeElement.getAttribute("aria-label") === "Client"`)
	b.tabTo(`el.getAttribute("aria-label") === "Time"`)
	b.keys(kb.ArrowDown)
	b.until(`location.search.includes("since=1h") && document.activeElement.getAttribute("aria-label") === "Time"`)
	b.keys(kb.ArrowUp)
	b.until(`!location.search.includes("since")`)
	b.press("Filter by path", "c.txt")
	b.until(`document.querySelectorAll(".entry").length === 1 && document.activeElement.value === "c.txt"`)
	b.keys(strings.Repeat(kb.Backspace, 5))
	b.until(`document.querySelectorAll(".entry").length === 8`)
	// Open the group of a connection.
	b.keys(kb.Escape)
	b.tabTo(`el.matches(".gtoggle")`)
	b.keys(kb.Enter)
	b.until(`[...document.querySelectorAll(".gchanges .entry")].some((e) => !e.checkVisibility())`)
	b.keys(kb.Enter, kb.Tab, kb.Enter) // show all changes as one
	b.has(".dhead h1", "of claude-code")
	b.press("Undo all", kb.Enter)
	b.has("dialog[open]", "Undo all of this session?")
	b.keys(kb.Escape)
	b.until(`!document.querySelector("dialog") && document.activeElement.textContent.includes("Undo all")`)
	// Undo all changes since a point.
	b.press("Undo since a point", kb.Enter)
	b.has(".pickhint", "Choose the last change to keep")
	b.tabTo(`el.matches(".entry") && el.textContent.includes("d.txt") && !el.textContent.includes("undo")`)
	b.keys(kb.Enter)
	b.has("dialog[open]", "Undo everything after this change?")
	b.keys(kb.Enter)
	b.has(".toast", "Undone")
	// A new change arrives while another one is shown.
	b.until(`!document.querySelector("dialog")`)
	b.keys("j", "j")
	other.call("write_file", map[string]any{"path": "e.txt", "content": "e\n"})
	b.has(".fresh", "new change")
	b.keys(".")
	b.until(`!document.querySelector(".fresh")`)
}

// TestBrowserWalkReview uses every action of Review.
func TestBrowserWalkReview(t *testing.T) {
	s, b := walking(t)
	kept := &book{}
	s.opts.RuleBooks = []RuleBook{{Workspace: s.ws, Load: func() ([]string, string, review.Action, error) {
		rules, err := kept.load()
		return rules, "", review.Ask, err
	}, Save: func(rules []string) error {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		kept.rules = rules
		return nil
	}}}
	agent := s.agent(t, "claude-code", time.Minute)
	answer := agent.start("apply_changes", map[string]any{"changes": []any{
		map[string]any{"path": "a.txt", "old_text": "\n2\n", "new_text": "\ntwo\n"}, map[string]any{"path": "a.txt", "old_text": "\n28\n", "new_text": "\ntwenty-eight\n"},
		map[string]any{"path": "b.txt", "content": "B\n"}, map[string]any{"path": "docs/guide.md", "old_text": "here", "new_text": "there"},
	}})
	s.waiting(t, 1)
	b.has("#waiting", "1")
	b.keys(kb.Escape, "w")
	b.has(".hunk.now", "1 of 4")
	b.keys("j", "k", "n", "p", "s", "v")
	b.until(`document.querySelector('.frow[data-file="0"] input').checked`)
	b.keys("a", "r", "c")
	b.until(`document.activeElement.matches(".say textarea")`)
	b.keys("not this", kb.Escape)
	b.until(`document.querySelector('.hunk[data-k="1"] .say').textContent.includes("not this")`)
	b.press("Edit", kb.Enter)
	b.until(`document.activeElement.matches(".say textarea")`)
	b.keys(" one", kb.Escape)
	b.keys("C")
	b.until(`document.activeElement.matches(".decide textarea")`)
	b.keys("on the whole", kb.Escape)
	// Decide a file by its row, a hunk by its buttons, and the rest at once.
	b.press("b.txt", kb.Enter)
	b.has(".hunk.now", "3 of 4")
	b.press("Refuse b.txt", kb.Enter)
	b.has(`.frow[data-file="1"]`, "1 of 1 decided")
	b.press("Accept hunk 4 of 4", kb.Enter)
	b.has(".tally", "2 accepted")
	b.has(".tally", "2 refused")
	b.press("Refuse docs/guide.md", kb.Enter)
	b.has(".tally", "3 refused")
	b.until(`document.activeElement.matches(".decide .primary:not(:disabled)")`)
	b.keys(kb.Enter)
	got := <-answer
	for _, words := range []string{"a.txt:2", "not this one", "on the whole"} {
		if !strings.Contains(got, words) {
			t.Errorf("the agent is not told %q:\n%s", words, got)
		}
	}
	if a := s.text(t, "a.txt"); !strings.Contains(a, "two\n") || strings.Contains(a, "twenty-eight") || s.text(t, "b.txt") != "b\n" {
		t.Errorf("a.txt = %q", a)
	}
	// Decide the rest by the button.
	answer = agent.start("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n5\n", "\nfive\n", "\n25\n", "\ntwenty-five\n")})
	s.waiting(t, 1)
	b.has("#waiting", "1")
	b.keys("w")
	b.has(".hunk.now", "1 of 2")
	b.keys("r")
	b.press("Accept the rest", kb.Enter)
	b.has(".tally", "1 accepted")
	b.keys(kb.Enter)
	<-answer
	s.becomes(t, "a.txt", "twenty-five")
	// Press A and R, each with a confirmation.
	for _, c := range []struct{ key, title, name string }{{"A", "Accept everything?", "c.txt"}, {"R", "Refuse everything?", "d.txt"}} {
		answer = agent.start("write_file", map[string]any{"path": c.name, "content": "x\n"})
		s.waiting(t, 1)
		b.has("#waiting", "1")
		b.keys("w")
		b.has(".dhead", c.name)
		b.keys(c.key)
		b.has("dialog[open]", c.title)
		b.keys(kb.Escape)
		b.until(`!document.querySelector("dialog")`)
		b.keys(c.key)
		b.has("dialog[open]", c.title)
		b.keys(kb.Enter)
		<-answer
	}
	if files, _ := filepath.Glob(filepath.Join(s.dir, "[cd].txt")); len(files) != 1 || filepath.Base(files[0]) != "c.txt" {
		t.Errorf("there are %q", files)
	}
	// Show earlier decisions, and the rules.
	b.press("All", kb.Enter)
	b.until(`location.search === "?show=all" && document.querySelectorAll(".entry").length === 4`)
	b.press("Decided", kb.Enter)
	b.until(`location.search === "?show=decided"`)
	b.tabTo(`el.matches(".entry")`)
	b.keys(kb.Enter)
	b.has(".facts", "refused")
	b.keys("e")
	b.until(`document.activeElement.matches("dialog.rules textarea")`)
	b.keys("accept docs/**")
	b.press("Try on the last 50 changes", kb.Enter)
	b.has(".trial", "Of the last")
	b.press("Save", kb.Enter)
	b.has(".toast", "Saved: 1 rule")
	b.keys(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	if rules, _ := kept.load(); len(rules) != 1 {
		t.Errorf("the rules are %q", rules)
	}
}

// TestBrowserWalkActivity uses every action of Activity, and the tables of Health.
func TestBrowserWalkActivity(t *testing.T) {
	s, b := walking(t)
	one, other := s.agent(t, "claude-code", 0), s.agent(t, "cursor", 0)
	one.call("search_files", map[string]any{"query": "first"})
	other.call("search_files", map[string]any{"query": "second"})
	b.keys(kb.Escape, "4")
	b.until(`document.querySelectorAll(".call").length === 2`)
	b.keys(space)
	b.has("#bar", "Go on")
	one.call("search_files", map[string]any{"query": "third"})
	b.keys(space)
	b.until(`document.querySelectorAll(".call").length === 3`)
	b.tabTo(`el.matches(".agent") && el.textContent.includes("cursor")`)
	b.keys(kb.Enter)
	b.until(`[...document.querySelectorAll(".call")].filter((c) => !c.hidden).length === 1`)
	one.call("search_files", map[string]any{"query": "fourth"})
	b.until(`document.querySelectorAll(".call").length === 4 && document.activeElement.matches(".agent[aria-pressed=true]")`) // the cards were redrawn
	b.press("Show all", kb.Enter)
	b.until(`[...document.querySelectorAll(".call")].filter((c) => !c.hidden).length === 4`)
	b.press("Purge", kb.Enter)
	b.has("dialog[open]", "Remove all lines?")
	b.keys(kb.Enter)
	b.has(".empty", "No calls yet")
	b.keys("5")
	b.tabTo(`el.matches(".tblbox")`)
}
