package page

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/activity"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// look is a view, in the state that do creates.
type look struct {
	name, path, wait string
	do               func(b *tab)
}

// pressing returns a function that presses keys and waits for a condition.
func pressing(until string, keys ...string) func(*tab) {
	return func(b *tab) {
		b.t.Helper()
		b.keys(keys...)
		b.until(until)
	}
}

// gallery opens a page that has data for every view and state.
func gallery(t testing.TB) (*agents, []look) {
	t.Helper()
	files := map[string]string{"docs/guide.md": "# Guide\n\nHow to start.\n", "go.lock": "l\n", "stale.txt": thirty, "left.txt": thirty, "part.txt": thirty, "b.txt": "b\n", "old.txt": "o\n", "multi.txt": thirty, "two.txt": "1\n"}
	for name, text := range project {
		files[name] = text
	}
	s := serveAgents(t, files)
	s.calls = t.TempDir()
	s.opts.Activity = activity.Follow(s.calls)
	s.opts.Rules = []Rule{{Path: "**", Read: true, Write: true, Why: "default"}, {Path: ".env", Why: "secrets"}}
	s.opts.RuleBooks = []RuleBook{{Workspace: s.ws, Load: func() ([]string, string, review.Action, error) {
		return []string{"accept docs/**", "refuse *.lock", "ask lines>200"}, "~/.config/quarry/quarry.toml:4", review.Ask, nil
	}, Save: func([]string) error { return nil }}}
	free := s.agent(t, "claude-code", 0)
	free.call("apply_changes", map[string]any{"summary": "Explain the retry in the guide", "changes": []any{
		map[string]any{"path": "docs/guide.md", "content": "# Guide\n\nHow to start, and how to retry.\n"}, map[string]any{"path": "docs/new.md", "content": "# New\n"},
	}})
	free.call("edit_file", map[string]any{"path": "README.md", "old_text": "explained", "new_text": "described"})
	free.call("read_file", map[string]any{"path": "gone.txt"})
	free.call("apply_changes", map[string]any{"changes": []any{map[string]any{"path": "b.txt", "content": "B\n"}, map[string]any{"path": "two.txt", "content": "2\n"}}})
	write(t, filepath.Join(s.dir, "b.txt"), "by hand\n")
	free.call("delete_file", map[string]any{"path": "go.lock"})
	log, err := s.ws.Changes(t.Context(), 0)
	if err != nil || len(log.Changes) < 4 {
		t.Fatalf("%d changes, %v", len(log.Changes), err)
	}
	session := log.Changes[0].Client.Session
	ids := map[string]string{}
	waits := func(name, agent, tool string, args map[string]any) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		one := s.agent(t, agent, 5*time.Minute)
		go func() { _, _ = one.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args}) }()
		ids[name] = s.waiting(t, len(ids)+1).ID
		if name == "left" {
			cancel()
		}
	}
	edit := func(file string) map[string]any {
		return map[string]any{"path": file, "edits": edits("\n2\n", "\ntwo\n", "\n15\n", "\n15\nand more\n", "\n28\n", "\n")}
	}
	waits("part", "cursor", "edit_file", edit("part.txt"))
	if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, ids["part"], review.Decision{By: "page", Hunks: [][]review.Verdict{{review.Yes, review.No, review.Yes}}, Comments: [][]string{{"", "Keep line 15 as it is."}}, Comment: "Thanks."}); err != nil {
		t.Fatal(err)
	}
	part := ids["part"]
	delete(ids, "part")
	waits("left", "windsurf", "edit_file", edit("left.txt"))
	waits("stale", "zed", "edit_file", edit("stale.txt"))
	write(t, filepath.Join(s.dir, "stale.txt"), strings.Replace(thirty, "\n15\n", "\n15 and others\n", 1))
	waits("files", "claude-code", "apply_changes", map[string]any{"summary": "Three files as one", "changes": []any{
		map[string]any{"path": "multi.txt", "old_text": "\n2\n", "new_text": "\ntwo\n"}, map[string]any{"path": "multi.txt", "old_text": "\n28\n", "new_text": "\n"},
		map[string]any{"path": "internal/pay/other.go", "delete": true}, map[string]any{"path": "old.txt", "move_to": "docs/renamed.txt"}, map[string]any{"path": "docs/fresh.md", "content": "# Fresh\n\nA new page.\n"},
	}})
	waits("proposal", "cursor", "edit_file", map[string]any{"path": "internal/pay/retry.go", "edits": edits("package pay", "package pay // <b>")})

	const dialog = `document.querySelector("dialog[open]")`
	file, multi := "/search?q=retryAfter&at=internal/pay/retry.go:3", "/review/"+ids["files"]
	return s, []look{
		{name: "start", path: "/search", wait: ".zero"}, {name: "hits", path: "/search?q=retryAfter", wait: "a.hit"}, {name: "file", path: file, wait: ".peek .hit.on"}, {name: "nothing", path: "/search?q=zzzzqqqq", wait: ".zero"},
		{name: "error", path: "/search?q=(&mode=regex", wait: ".notice.bad"}, {name: "files", path: "/search?q=retry&mode=paths", wait: ".pathhit"}, {name: "symbols", path: "/search?q=%40retry", wait: ".zero, a.hit"},
		{name: "words", path: "/search?q=how+long+to+wait&mode=words", wait: "a.hit"}, {name: "cut", path: "/search?q=line", wait: ".notice.warn"}, {name: "filtered", path: "/search?q=retryAfter&glob=*.go&hidden=1", wait: "a.hit"},
		{name: "gone", path: "/search?q=x&at=gone.txt:1", wait: ".peek .notice"},
		{"filters", "/search?q=retryAfter", "a.hit", pressing(`document.activeElement.id === "glob"`, kb.Escape, "f")},
		{"authors", "/search?q=Guide&at=docs/guide.md:3", ".peek .hit.on", pressing(`document.querySelector(".peek .by a")`, "b")},
		{"finder", file, ".peek .hit.on", func(b *tab) {
			b.until(`document.querySelector(".peek .lines")`)
			eval[chromedp.Void](b, `document.querySelector(".peek .lines").focus()`)
			b.chord("f", ctrl)
			b.until(`document.querySelector(".finder")`)
			b.keys("int")
			b.until(`document.querySelector(".finder").textContent.includes(" of ")`)
		}},
		{"skipped", "/search?q=zzzzqqqq", ".zero", func(b *tab) {
			b.until(`[...document.querySelectorAll(".zero a")].some((a) => a.textContent === "see which")`)
			eval[chromedp.Void](b, `[...document.querySelectorAll(".zero a")].find((a) => a.textContent === "see which").click()`)
			b.until(dialog)
		}},
		{name: "changes", path: "/changes", wait: ".entry"}, {name: "change", path: "/changes/" + log.Changes[2].ID, wait: ".dfile"}, {name: "deleted", path: "/changes/" + log.Changes[0].ID, wait: ".dfile"},
		{name: "conflict", path: "/changes/" + log.Changes[1].ID, wait: ".notice.warn"}, {name: "session", path: "/changes/session:" + session, wait: ".dfile"}, {name: "no-changes", path: "/changes?path=nothing", wait: ".empty"},
		{"point", "/changes", ".pickpoint", func(b *tab) { b.click(".pickpoint"); b.until(`document.querySelector(".pickhint")`) }},
		{name: "review", path: "/review", wait: ".entry"}, {name: "proposal", path: "/review/" + ids["proposal"], wait: ".hunk.now"}, {name: "decided", path: "/review?show=decided", wait: ".review-bar"},
		{name: "several", path: multi, wait: ".hunk.now"}, {name: "stale", path: "/review/" + ids["stale"], wait: ".notice.warn"}, {name: "left", path: "/review/" + ids["left"], wait: ".notice.warn"}, {name: "part", path: "/review/" + part, wait: ".hunk"},
		{"halfway", multi, ".hunk.now", pressing(`document.activeElement.matches("textarea")`, "a", "r", "c")},
		{"rules", multi, ".hunk.now", pressing(dialog, "e")}, {"keys", multi, ".hunk.now", pressing(dialog, "?")}, {"refuse", multi, ".hunk.now", pressing(dialog, "R")}, {"accept", multi, ".hunk.now", pressing(dialog, "A")},
		{"tried", multi, ".hunk.now", func(b *tab) {
			b.keys("e")
			b.until(dialog)
			eval[chromedp.Void](b, `[...document.querySelectorAll("dialog.rules button")].find((x) => x.textContent.startsWith("Try")).click()`)
			b.until(`document.querySelector(".trial table")`)
		}},
		{name: "activity", path: "/activity", wait: ".call"}, {name: "health", path: "/health", wait: ".kv"},
	}
}

// TestBrowserLooks checks every view and state at five widths in both themes: nothing scrolls
// sideways, and axe finds no problems. -artifacts stores screenshots. go test checks only some of
// them.
func TestBrowserLooks(t *testing.T) {
	needsBrowser(t)
	axe, err := os.ReadFile(filepath.Join(os.Getenv("QUARRY_NPM"), "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("npm package axe-core not found; set QUARRY_NPM to the folder that holds it")
	}
	s, looks := gallery(t)
	eye := &eye{t, string(axe), t.ArtifactDir(), 0}
	widths := []int64{380, 768, 1280, 1600, 2560}
	if !stress.Long() {
		widths = []int64{380, 1600}
	}
	for k, theme := range []string{"light", "dark"} {
		b := s.open(t, "/health", 1600, 1000, theme)
		b.has("#live", "Live")
		for i, l := range looks {
			for j, width := range widths {
				if !stress.Thorough() && i%12 != 2*k+j {
					continue
				}
				eye.at(b, s.base, l, width, theme)
			}
		}
		b.close()
	}
	// Also check an empty page, one without its token, and one whose server has ended.
	empty, _ := serveReview(t, nil)
	for _, theme := range []string{"light", "dark"} {
		b := empty.open(t, "/health", 1600, 1000, theme)
		b.has("#live", "Live")
		for _, width := range widths {
			for _, l := range []look{{name: "empty-changes", path: "/changes", wait: ".empty"}, {name: "empty-review", path: "/review", wait: ".empty"}, {name: "activity-off", path: "/activity", wait: ".empty"}} {
				if stress.Thorough() {
					eye.at(b, empty.base, l, width, theme)
				}
			}
		}
		b.close()
		lost := empty.open(t, "/changes", 1600, 1000, theme)
		lost.has("#live", "Live")
		if theme == "dark" {
			empty.end(t)
			lost.has(".bar.banner", "Not connected.")
			for _, width := range widths {
				lost.do(chromedp.EmulateViewport(width, 900))
				eye.see(lost, "lost", width, theme)
			}
		}
		lost.close()
	}
	t.Logf("%d views and states were looked at", eye.looked)
	if eye.looked < len(looks)/4 {
		t.Error("too few")
	}
}

// eye checks a page and takes screenshots.
type eye struct {
	t      *testing.T
	axe    string
	dir    string // for screenshots
	looked int
}

func (e *eye) at(b *tab, base string, l look, width int64, theme string) {
	e.t.Helper()
	b.do(chromedp.EmulateViewport(width, 900))
	eval[chromedp.Void](b, `sessionStorage.removeItem("quarry.folded"); Object.keys(sessionStorage).filter((k) => k.startsWith("quarry.review.")).forEach((k) => sessionStorage.removeItem(k))`)
	b.do(chromedp.Navigate(base + l.path))
	b.until(fmt.Sprintf("innerWidth === %d && document.querySelector(%s)", width, quote(l.wait)))
	b.until(`document.getElementById("live").textContent === "Live" && document.getElementById("progress").hidden`)
	if l.do != nil {
		l.do(b)
	}
	e.see(b, l.name, width, theme)
}

func (e *eye) see(b *tab, name string, width int64, theme string) {
	e.t.Helper()
	where := fmt.Sprintf("%s at %d, %s", name, width, theme)
	if wide := eval[int](b, `document.scrollingElement.scrollWidth - innerWidth`); wide > 0 {
		e.t.Errorf("%s: %d pixels too wide", where, wide)
	}
	b.picture(filepath.Join(e.dir, fmt.Sprintf("%s-%d-%s.png", name, width, theme)))
	b.axe(where, e.axe)
	e.looked++
}

func (b *tab) picture(file string) {
	b.t.Helper()
	res, err := chromedp.Call(b.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, res.Data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// axe reports the problems that axe-core finds.
func (b *tab) axe(where, source string) {
	b.t.Helper()
	eval[chromedp.Void](b, `(() => { if (!window.axe) { `+source+` } })()`)
	eval[chromedp.Void](b, `(() => { window.found = null; axe.run(document, { resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } }).then((r) => { found = JSON.stringify(r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.target.join(" ") + ": " + n.failureSummary.slice(0, 160))])); }, (e) => { found = JSON.stringify([["failed", [String(e)]]]); }); })()`)
	b.until("window.found")
	var list [][]any
	if err := json.Unmarshal([]byte(eval[string](b, "found")), &list); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range list {
		b.t.Errorf("%s: axe: %v", where, v)
	}
}

// TestBrowserZoom checks that at 200 % a diff still has more than half of the window's height.
func TestBrowserZoom(t *testing.T) {
	stress.SkipQuick(t)
	s, agent := serveReview(t, nil)
	id := uneven(t, s, agent, 30)
	b := s.open(t, "/review/"+id, 1280, 800, "light")
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 640, Height: 400, DeviceScaleFactor: 2}); err != nil {
		t.Fatal(err)
	}
	b.has(".hunk.now", "1 of 30")
	b.keys("j", "j")
	b.until(visible)
	free := eval[float64](b, `(() => { const bottom = Math.min(document.querySelector(".decide").getBoundingClientRect().top, innerHeight), top = document.querySelector(".hunk.now").closest(".dfile").querySelector(".head").getBoundingClientRect().bottom; return (bottom - top) / innerHeight; })()`)
	if free < 0.5 {
		t.Errorf("at 200 %% the diff has %.0f %% of the height", 100*free)
	}
}
