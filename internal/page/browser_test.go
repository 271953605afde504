package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/change"
	"quarry/internal/stress"
)

var project = map[string]string{
	"README.md":             "# demo\n\nretryAfter is explained in docs.\n",
	"internal/pay/retry.go": "package pay\n\n// retryAfter says how long to wait.\nfunc retryAfter(n int) int {\n\treturn n\n}\n\nvar x = retryAfter(1)\n",
	"internal/pay/other.go": "package pay\n\nvar y = retryAfter(2)\n",
	"long.txt":              strings.Repeat("a line of text\n", 30000),
	"wide.txt":              "retryAfter " + strings.Repeat("wide ", 5000) + "\n",
	"empty.txt":             "",
	"pic.png":               "\x89PNG\r\n\x1a\n\x00\x00",
}

// TestBrowserSearch uses the search only by keyboard.
func TestBrowserSearch(t *testing.T) {
	s := serve(t, project, nil)
	b := s.open(t, "/search", 1600, 1000, "light")
	b.has(".zero h2", "Search demo")
	b.until(`document.querySelector(".rail .tag").hidden`) // without a filter, no count is shown
	b.until(`document.activeElement.id === "q"`)
	b.until(`!location.hash && sessionStorage.getItem("quarry.token")`)
	b.keys("retryAfter")
	b.until(`document.querySelectorAll("a.hit").length === 6`)
	b.has(".status", "6 matching lines in 4 files")
	b.until(`document.querySelector(".status").textContent.includes("complete")`)
	b.until(`location.search === "?q=retryAfter"`)
	// Colours are added after the text, and don't change it.
	b.until(`document.querySelector(".hits .src .k")`)
	b.keys(kb.ArrowDown)
	b.until(`document.activeElement.matches("a.hit.on") && document.activeElement.textContent.includes("explained")`)
	b.has(".peek .path", "README.md")
	b.keys("j", "j")
	b.until(`location.search.includes("at=internal/pay/retry.go:3")`)
	b.has(".peek .hit.on", "retryAfter says how long")
	b.keys("k", "n")
	b.until(`location.search.includes("at=internal/pay/retry.go:3")`)
	b.keys("p", kb.Enter)
	b.until(`location.search.includes("at=internal/pay/other.go:3")`)
	// Reloading keeps the state.
	b.reload()
	b.has(".peek .hit.on", "var y")
	b.until(`document.querySelectorAll("a.hit").length === 6 && document.getElementById("q").value === "retryAfter"`)
	b.until(`document.querySelector("a.hit.on")?.textContent.includes("var y")`)
	b.keys(kb.Escape)
	b.until(`!location.search.includes("at=") && !document.querySelector(".with-peek")`)
	// Going back opens the previous file.
	b.do(chromedp.NavigateBack())
	b.has(".peek .hit.on", "var y")

	// Select another mode by its tab.
	b.click(`.seg a[href*="mode=regex"]`)
	b.until(`location.search.includes("mode=regex")`)
	b.keys("/")
	b.until(`document.activeElement.id === "q"`)
	b.keys("(")
	b.has(".notice.bad", "This pattern can't be used")
	b.click(`.notice.bad .btn`)
	b.until(`location.search === "?q=%28" && document.querySelectorAll("a.hit").length === 3`)
	b.click(`.brand`)
	b.has(".zero h2", "Search demo")
	b.keys("wide.t")
	b.has(".zero h2", "No match for")
	b.click(`.seg a[href*="mode=paths"]`)
	b.has(".pathhit", "wide.txt")
	b.keys(kb.Escape, "?")
	b.has("dialog[open] h2", "Keys")
}

// TestBrowserFiles opens files that are long, wide, empty, binary and deleted.
func TestBrowserFiles(t *testing.T) {
	s := serve(t, project, nil)
	b := s.open(t, "/search?q=text&at=long.txt:29990", 1600, 1000, "dark")
	b.has(".peek .hit.on .no", "29990")
	b.has(".peek .foot2", "30,000 lines")
	if n := b.count(".peek .lines li"); n > 400 {
		t.Errorf("%d lines of 30,000 are in the document", n)
	}
	eval[chromedp.Void](b, `document.querySelector(".peek .lines").scrollTop = 15000 * 22`)
	b.until(`[...document.querySelectorAll(".peek .lines li")].some((l) => l.dataset.n === "15000" && l.textContent.includes("a line of text"))`)
	for _, c := range []struct{ at, want string }{
		{"empty.txt:1", "The file is empty."}, {"pic.png:1", "no image that this browser shows"}, {"gone.txt:1", "gone"}, {"wide.txt:1", "retryAfter"}, {"../x:1", "can't be shown"}, {"README.md:900", "demo"},
	} {
		eval[chromedp.Void](b, fmt.Sprintf(`history.pushState(null, "", "/search?q=text&at=" + encodeURIComponent(%s)); dispatchEvent(new PopStateEvent("popstate"))`, quote(c.at)))
		b.has(".peek", c.want)
	}
	// Modify a file while it is shown.
	eval[chromedp.Void](b, `history.pushState(null, "", "/search?q=text&at=README.md:1"); dispatchEvent(new PopStateEvent("popstate"))`)
	b.has(".peek .lines", "explained in docs")
	if _, err := s.ws.Write(t.Context(), "README.md", []byte("# another text\n"), nil); err != nil {
		t.Fatal(err)
	}
	b.has(".peek .lines", "another text")
}

// TestBrowserChanges shows changes as they are made, and undoes and redoes them.
func TestBrowserChanges(t *testing.T) {
	s := serve(t, project, nil)
	b := s.open(t, "/changes", 1600, 1000, "light")
	b.has(".empty h2", "No changes yet")
	first, err := s.ws.Edit(t.Context(), "README.md", []change.Edit{change.Edit{Old: "explained", New: "described"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelectorAll(".entry").length === 1`)
	b.has(".dfile .l.del del", "explained")
	b.has(".dfile .l.add ins", "described")
	b.until(`document.querySelector(".entry > .pm")?.textContent.includes("+1")`)
	b.until(`!document.querySelector("[data-writes]").disabled`)
	if got := eval[bool](b, `document.documentElement.classList.contains("split")`); !got {
		t.Error("a wide page is not side by side")
	}
	b.keys("s")
	b.until(`!document.documentElement.classList.contains("split")`)
	b.keys("u")
	b.until(`document.querySelectorAll(".entry").length === 2`)
	s.becomes(t, "README.md", "explained")
	b.until(`document.querySelector(".entry.undone")`)
	b.click(`.entry[data-id="` + first.ID + `"]`)
	b.until(`document.querySelector("h1") && document.querySelector(".facts")?.textContent.includes("undone by")`)
	b.keys("U")
	b.until(`!document.querySelector(".entry.undone[data-id='` + first.ID + `']")`)
	s.becomes(t, "README.md", "described")
	// The button for a conflicting change is disabled, and the conflict is explained.
	write(t, filepath.Join(s.dir, "README.md"), "by hand\n")
	b.reload()
	b.has(".notice.warn", "README.md")
	b.until(`document.querySelector("[data-writes][data-no='1']")?.disabled`)
	// A new entry is announced, not shown, while an older one is open.
	if _, err := s.ws.Write(t.Context(), "new.txt", []byte("x\n"), nil); err != nil {
		t.Fatal(err)
	}
	b.has(".fresh", "1 new change")
	at := eval[string](b, "location.pathname")
	b.keys(".")
	b.until(`document.querySelectorAll(".entry").length === 4 && !document.querySelector(".fresh")`)
	if now := eval[string](b, "location.pathname"); now != at {
		t.Errorf("a new entry moved the reader from %s to %s", at, now)
	}
	b.keys("k", "k", "k")
	b.has(".dfile .head", "new.txt")
}

// Pressing u repeatedly undoes one change after another. At the end a message says why there is
// nothing more to undo.
func TestBrowserUndoesInARow(t *testing.T) {
	s := serve(t, map[string]string{"a.txt": "0\n"}, nil)
	for i := range 3 {
		if _, err := s.ws.Write(t.Context(), "a.txt", fmt.Appendf(nil, "%d\n", i+1), nil); err != nil {
			t.Fatal(err)
		}
	}
	b := s.open(t, "/changes", 1600, 1000, "light")
	for i := range 3 {
		b.until(fmt.Sprintf(`document.querySelectorAll(".entry").length === %d && !document.querySelector(".dhead .btn[data-writes]")?.disabled && document.querySelector(".dfile .l.add .tx")?.textContent === "%d"`, 3+i, 3-i))
		b.keys("u")
	}
	s.becomes(t, "a.txt", "0\n")
	b.until(`document.querySelectorAll(".entry.undone").length === 3 && document.querySelectorAll(".entry").length === 6`)
	b.has(".dhead", "Redo this change")
	b.keys("u")
	b.has(".toasts", "is undone already")
	if n := eval[int](b, `[...document.querySelectorAll(".entry")].filter((e) => e.textContent.includes("page")).length`); n > 0 {
		t.Errorf("%d entries are of \"page\" and not of you", n)
	}
}

// Pressing u again undoes an earlier change of the same agent, and U redoes it. Points to go back to are
// ordered by time, for all agents together. A moved file counts once in the list and in the head. A
// message about a failure has no green mark.
func TestBrowserUndoesOneAgent(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": "0\n", "b.txt": "0\n", "c.txt": "c\n", "d.txt": "d\n"})
	one, other := s.agent(t, "claude-code", 0), s.agent(t, "cursor", 0)
	text := func(path string, i int) map[string]any {
		return map[string]any{"path": path, "content": fmt.Sprintf("%d\n", i)}
	}
	for i := range 2 {
		one.call("write_file", text("a.txt", i+1))
		other.call("write_file", text("b.txt", i+1))
	}
	one.call("apply_changes", map[string]any{"changes": []any{map[string]any{"path": "c.txt", "move_to": "e.txt"}, map[string]any{"path": "d.txt", "content": "D\n"}}})
	b := s.open(t, "/changes", 1600, 1000, "light")
	b.has(".dhead .facts", "2 files")
	b.has(".entry.on .files", "2 files")
	order := `[...document.querySelectorAll(".entry .when")].map((x) => x.dateTime)`
	b.click(".pickpoint")
	b.until(`document.querySelector(".pickhint") && !document.querySelector(".group")`)
	if got := eval[[]string](b, order); len(got) != 5 || !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("points: %q", got)
	}
	b.keys(kb.Escape)
	b.until(`document.querySelectorAll(".group").length === 2`)
	ready := func(add string) {
		t.Helper()
		b.until(`document.querySelector(".dhead .btn[data-writes]")?.disabled === false && document.querySelector(".dfile .l.add .tx")?.textContent === "` + add + `"`)
	}
	b.keys("j")
	ready("2")
	b.keys("u")
	ready("1")
	if got := s.text(t, "a.txt") + s.text(t, "b.txt"); got != "1\n2\n" {
		t.Errorf("a and b = %q", got)
	}
	b.keys("U")
	b.until(`document.querySelector(".entry.on") && document.querySelector(".dhead .btn")?.textContent.startsWith("Undo") && document.querySelector(".dfile .l.add .tx")?.textContent === "2"`)
	s.becomes(t, "a.txt", "2\n")
	b.keys("U")
	b.has(".toast.bad", "not undone")
	// The button counts the same files as the list, and a question opens at its title.
	other.call("write_file", text("d.txt", 1))
	b.keys("k")
	b.has(".notice.warn button", "Undo the other file")
	b.do(chromedp.EmulateViewport(1280, 500))
	b.click(".pickpoint")
	b.until(`document.querySelector(".pickhint")`)
	eval[chromedp.Void](b, `[...document.querySelectorAll(".entry")].at(-1).click()`)
	b.has("dialog[open]", "Undo everything after this change?")
	if top := eval[int](b, `document.querySelector("dialog[open]").scrollTop`); top > 0 {
		t.Errorf("the question opens %d pixels below its title", top)
	}
}

// TestBrowserManyChanges shows a long undo log page by page.
func TestBrowserManyChanges(t *testing.T) {
	stress.SkipQuick(t)
	const total = 350
	s := serve(t, map[string]string{"a.txt": "0\n"}, nil)
	for i := range total {
		if _, err := s.ws.Write(t.Context(), fmt.Sprintf("d%d/f%d.txt", i%7, i), []byte("x\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	b := s.open(t, "/changes", 1600, 1000, "light")
	b.has(".status", "350 changes")
	if n := b.count(".entry"); n > 200 {
		t.Errorf("%d entries at the start", n)
	}
	for range 6 {
		eval[chromedp.Void](b, `document.querySelector(".list").scrollTop = 1e9`)
		b.until(`document.querySelector(".list").scrollTop > 0`)
	}
	b.until(`(document.querySelector(".list").scrollTop = 1e9) && document.querySelectorAll(".entry").length === 350`)
	eval[chromedp.Void](b, `(() => { const i = document.querySelector(".barinput"); i.value = "d3/"; i.dispatchEvent(new Event("input")); })()`)
	b.has(".status", "50 of 350 changes")
}

// TestBrowserWidths checks every view, wide and narrow, in both themes: nothing scrolls sideways,
// and every focused element has an outline.
func TestBrowserWidths(t *testing.T) {
	stress.SkipQuick(t)
	s := serve(t, project, nil)
	if _, err := s.ws.Edit(t.Context(), "internal/pay/retry.go", []change.Edit{change.Edit{Old: "int", New: "int64 /* " + strings.Repeat("long ", 60) + "*/", Occurrence: change.All}}, nil); err != nil {
		t.Fatal(err)
	}
	views := []struct{ path, wait string }{
		{"/search", ".zero"}, {"/search?q=retryAfter", "a.hit"}, {"/search?q=retryAfter&at=wide.txt:1", ".peek .hit.on"}, {"/search?q=zzzz", ".zero"},
		{"/changes", ".entry"}, {"/review", ".empty"}, {"/health", ".kv"},
	}
	for _, theme := range []string{"light", "dark"} {
		b := s.open(t, "/health", 1600, 1000, theme)
		dark := eval[string](b, `getComputedStyle(document.body).backgroundColor`)
		if want := map[string]string{"light": "rgb(248, 248, 246)", "dark": "rgb(17, 18, 20)"}[theme]; dark != want {
			t.Errorf("%s: background %s, want %s", theme, dark, want)
		}
		// Load each view in a narrow window and then enlarge it. The other tests begin with a wide
		// window.
		for _, v := range views {
			for i, width := range []int64{380, 320, 1000, 1600} {
				b.do(chromedp.EmulateViewport(width, 800))
				if i == 0 {
					b.do(chromedp.Navigate(s.base + v.path))
				}
				b.until(fmt.Sprintf("innerWidth === %d && document.querySelector(%s)", width, quote(v.wait)))
				if wide := eval[int](b, `document.scrollingElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("%s %s at %d: %d pixels too wide", theme, v.path, width, wide)
				}
			}
		}
		b.check()
	}
}

// hostile returns names and contents that would have an effect on the page if they were interpreted
// as markup.
func hostile() []string {
	list := []string{
		"<img src=x onerror=pwned()>", "<script>pwned()</script>", "\"><svg onload=pwned()>", "javascript:pwned()", "' onmouseover='pwned()", "</textarea><script>pwned()</script>",
		"<iframe srcdoc='<script>parent.pwned()</script>'>", "{{constructor.constructor('pwned()')()}}", "${pwned()}", "<style>*{display:none}</style>", "<base href=http://evil.example>", "<meta http-equiv=refresh content=0;url=http://evil.example>",
		"\u202egpj.exe", "\u2066a\u2069", "a\u200bb", "\ufeffbom", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x00", "a\nb", "a\tb", "\r", "\x7f", "\u0085", "\u2028", "e\u0301\u0301\u0301\u0301",
		"%3Cscript%3E", "&lt;b&gt;", "&#x3c;script&#x3e;", "__proto__", "constructor", "hasOwnProperty", "null", "undefined", "-->", "]]>", "\\\"", "`", "../../etc/passwd", "#token=x", "?q=<b>", "\xff\xfe", "\xc3(", "日本語", "😀", strings.Repeat("w", 180),
	}
	for i := len(list); i < 200; i++ {
		list = append(list, fmt.Sprintf("%s %d", strings.Repeat(list[i%20], 1+i%3), i))
	}
	return list
}

// TestBrowserHostile shows 200 hostile names and contents as text.
func TestBrowserHostile(t *testing.T) {
	files := map[string]string{}
	for i, h := range hostile() {
		name := strings.NewReplacer("/", "_", "\x00", "0", "\\", "_").Replace(h)
		if len(name) > 200 {
			name = name[:200]
		}
		content := "needle " + strings.ReplaceAll(h, "\x00", "\x01") + "\n"
		files[fmt.Sprintf("n%d/x%s.go", i, name)] = content
	}
	s := serve(t, files, nil)
	b := s.open(t, "/search?q=needle", 1600, 1000, "light")
	b.has(".status", "200 matching lines in 200 files")
	b.until(`document.querySelectorAll("article.file").length === 200`) // the last files are drawn only while no key is pressed
	elements := `[...document.querySelectorAll("main *, dialog *")].filter((e) => ["IMG","SCRIPT","IFRAME","STYLE","BASE","META","OBJECT","EMBED","LINK","FORM"].includes(e.tagName)).length + [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || /^javascript:/i.test(a.value))).length`
	clean := func(where string) {
		t.Helper()
		if n := eval[int](b, elements); n != 0 {
			t.Errorf("%s: %d elements came from names or contents", where, n)
		}
		if eval[bool](b, `"pwned" in window`) {
			t.Errorf("%s: a script ran", where)
		}
		if eval[bool](b, `/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(document.querySelector("main").innerText)`) {
			t.Errorf("%s: a control character is shown as it is", where)
		}
	}
	clean("results")
	if n := b.count(".hits .esc"); n < 40 {
		t.Errorf("%d marked escapes, want at least 40", n)
	}
	b.keys(kb.ArrowDown)
	const chosen = `document.querySelector("a.hit.on").closest("article").querySelector(".path").textContent`
	for range 25 {
		before := eval[string](b, chosen)
		b.keys("n")
		b.until(chosen + " !== " + quote(before)) // the address changes half a second later
		b.until(`document.querySelector(".peek .hit.on, .peek .notice") && document.querySelector(".peek .path").textContent === ` + chosen)
		if eval[bool](b, `!!document.querySelector(".peek .notice")`) {
			t.Errorf("%s can't be opened: %s", eval[string](b, chosen), eval[string](b, `document.querySelector(".peek").innerText`))
		}
		clean("file")
	}
	// The undo log shows them too.
	for i, p := range slices.Sorted(mapKeys(files)) {
		if i%8 != 0 {
			continue
		}
		if _, err := s.ws.Write(t.Context(), p, []byte("needle "+files[p]), nil); err != nil {
			t.Fatalf("%q: %v", p, err)
		}
	}
	b.do(chromedp.Navigate(s.base + "/changes"))
	b.until(`document.querySelectorAll(".entry").length === 25 && document.querySelector(".dfile")`)
	clean("changes")
	for range 24 {
		const chosen = `document.querySelector(".entry.on").dataset.id`
		before := eval[string](b, chosen)
		b.keys("j")
		b.until(chosen + " !== " + quote(before))
	}
	b.until(`document.querySelector(".dfile")`)
	clean("diffs")
	b.do(chromedp.Navigate(s.base + "/search?mode=paths&q=pwned"))
	b.until(`document.querySelectorAll(".pathhit").length > 20`)
	clean("paths")
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestBrowserOldAnswers types fast while the server answers out of order. An older answer must
// never replace a newer one.
func TestBrowserOldAnswers(t *testing.T) {
	stress.SkipQuick(t)
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%d/f.txt", i)] = "abcdefghij\nabcdef\nabc\na\n"
	}
	s := serve(t, files, nil)
	b := s.open(t, "/search", 1600, 1000, "light")
	b.until(`document.activeElement.id === "q"`)
	// Record every state: the query in the input field, and the marked text in the first hit.
	eval[chromedp.Void](b, `(() => { window.seen = []; new MutationObserver(() => { const m = document.querySelector(".hits mark"); if (m) seen.push([document.getElementById("q").value, m.textContent]); }).observe(document.querySelector(".list-of-hits"), { childList: true, subtree: true }); })()`)
	for range 3 {
		b.keys("abcdefghij")
		b.until(`document.querySelector(".hits mark")?.textContent === "abcdefghij"`)
		for range 9 {
			b.keys(kb.Backspace)
		}
		b.until(`document.querySelector(".hits mark")?.textContent === "a"`)
		b.keys(kb.Backspace)
		b.has(".zero h2", "Search demo")
	}
	// A drawn answer belongs to the current query or, until its answer arrives, to the previous
	// one. After a newer answer, no older one may be drawn.
	wrong := eval[[][]string](b, `(() => { const out = []; let last = ""; for (const [q, m] of seen) { if (m !== last) { if (m !== q) out.push([q, m]); last = m; } } return out; })()`)
	if len(wrong) > 0 {
		t.Errorf("answers to older questions appeared: %v", wrong)
	}
}

// TestBrowserWithoutToken checks that a page without the token shows nothing, and that it gets the
// token from another tab that has it.
func TestBrowserWithoutToken(t *testing.T) {
	s := serve(t, project, nil)
	b := s.open(t, "/search?q=retryAfter", 1600, 1000, "light")
	b.until(`document.querySelectorAll("a.hit").length === 6`)
	eval[chromedp.Void](b, `sessionStorage.clear()`)
	b.reload()
	b.has(".empty h2", "needs its whole address")
	if text := eval[string](b, "document.documentElement.textContent"); strings.Contains(text, "demo") {
		t.Error("the page tells the name of the folder")
	}
}

// TestBrowserHealth shows the figures and the plot of search times.
func TestBrowserHealth(t *testing.T) {
	s := serve(t, project, func(o *Options) {
		o.Rules = []Rule{{Path: ".env", Why: "secrets"}}
	})
	for range 5 {
		answer(t, s, "q=retryAfter")
	}
	b := s.open(t, "/health", 1600, 1000, "dark")
	b.until(`document.querySelectorAll(".spark rect").length === 5`)
	b.has(".health", "Policy")
	b.has(".tbl", ".env")
	b.has(".bar", "healthy")
	b.keys("1")
	b.until(`location.pathname === "/search"`)
	b.keys(kb.Escape, "5")
	b.until(`document.querySelectorAll(".spark rect").length === 5`)
	b.keys("t")
	b.until(`document.documentElement.dataset.theme === "light"`)
	b.reload()
	b.until(`document.documentElement.dataset.theme === "light"`)
}

// TestBrowserUndoOthers undoes changes some of whose files were modified since. The page offers to
// undo the remaining files.
func TestBrowserUndoOthers(t *testing.T) {
	stress.SkipQuick(t)
	s := serve(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}, nil)
	text := func(name string) string {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	apply := func(summary string, names ...string) *change.Change {
		set := change.Set{Summary: summary}
		for _, name := range names {
			set.Ops = append(set.Ops, change.Op{Verb: change.WriteFile, Path: name, Content: []byte(text(name) + summary + "\n")})
		}
		c, err := s.ws.Apply(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := apply("first", "c.txt")
	second := apply("second", "a.txt", "b.txt")
	write(t, filepath.Join(s.dir, "b.txt"), "by hand\n")
	b := s.open(t, "/changes/"+second.ID, 1600, 1000, "light")
	b.has(".notice.warn", "b.txt")
	b.has(".notice.warn button", "Undo the other file")
	b.click(".notice.warn button")
	b.has("dialog[open]", "stay as they are")
	b.keys("\r")
	b.has(".dhead h1", "undo a part of "+second.ID)
	if text("a.txt") != "a\n" || text("b.txt") != "by hand\n" {
		t.Errorf("a is %q, b is %q", text("a.txt"), text("b.txt"))
	}
	// Undo everything since the first change. This works for the change that was already undone in
	// part. b.txt of the second change stays as it is.
	apply("third", "c.txt")
	b.until(`document.querySelectorAll(".entry").length === 4`)
	b.click(".pickpoint")
	b.click(`.entry[data-id="` + first.ID + `"]`)
	b.has("dialog[open] .conflicts", "b.txt")
	b.keys("\r")
	b.has("dialog[open]", "Undo everything after this change?")
	b.keys("\r")
	b.has(".toast", "Undone: the files are as they were then")
	if text("a.txt") != "a\n" || text("b.txt") != "by hand\n" || text("c.txt") != "c\nfirst\n" {
		t.Errorf("a is %q, b is %q, c is %q", text("a.txt"), text("b.txt"), text("c.txt"))
	}
}
