package page

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry"
	"quarry/change"
	"quarry/internal/activity"
	"quarry/internal/review"
)

// maxFirstLoad limits the bytes of fixed files that the first load transfers.
const maxFirstLoad = 90_000

// TestFirstLoad limits the total size of the files loaded first, not counting headers.
func TestFirstLoad(t *testing.T) {
	s := serve(t, sample, nil)
	bare := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	load := func(path string) (int, string) {
		t.Helper()
		req, err := http.NewRequest("GET", s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
		res, err := bare.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, res.Status, err)
		}
		return len(data), res.Header.Get("Content-Encoding")
	}
	sum, files := 0, []string{"/search"}
	for _, name := range []string{"style.css", "icon.svg", "theme.js", "app.js"} {
		files = append(files, "/assets/"+name)
	}
	for i := 0; i < len(files); i++ { // the loop adds the imports of each module
		data, err := assets.ReadFile(files[i][1:])
		if err != nil && i > 0 {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^import .* from "\.(/[\w.]+)"`).FindAllSubmatch(data, -1) {
			if name := "/assets" + string(m[1]); !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	if len(files) < 20 {
		t.Errorf("only %d files", len(files))
	}
	for _, path := range files {
		n, coding := load(path)
		if coding != "gzip" {
			t.Errorf("%s is sent as %q", path, coding)
		}
		sum += n
	}
	t.Logf("%d bytes in %d files", sum, len(files))
	if sum > maxFirstLoad {
		t.Errorf("the first load transfers %d bytes, more than %d", sum, maxFirstLoad)
	}
	// Clients that don't accept gzip get the uncompressed file.
	if _, plain := s.request(t, "GET", "/assets/app.js", ""); !strings.Contains(plain, "import") {
		t.Errorf("app.js = %q", plain)
	}
}

// TestBrowserPlaces searches for an address copied with y, which leads to the place, and for a name
// after an @, which leads to its definition. Both work in every search mode.
func TestBrowserPlaces(t *testing.T) {
	s := serve(t, project, func(o *Options) {
		ws, err := quarry.Open(o.Workspace.Dir(), &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		if err := ws.Index().Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.Workspace = ws
	})
	b := s.open(t, "/search", 1280, 800, "light")
	for _, mode := range []string{"text", "regex", "words", "paths", "symbols"} {
		for _, q := range []string{"retry.go:4", "internal/pay/retry.go:4", s.dir + "/internal/pay/retry.go:4:6"} {
			b.do(chromedp.Navigate(s.base + "/search?mode=" + mode))
			b.until(`document.activeElement.id === "q"`)
			b.keys(q)
			b.has(".list-of-hits > :first-child .pathhit", "internal/pay/retry.go:4")
			b.keys(kb.Enter)
			b.has(".peek .hit.on", "func retryAfter")
			if n := b.count(".zero"); n > 0 {
				t.Errorf("%s, %s: it also says that there is nothing", mode, q)
			}
		}
		b.do(chromedp.Navigate(s.base + "/search?mode=" + mode + "&q=%40retryAfter"))
		b.has("article.file", "func retryAfter(n int) int")
		b.has(".rail", "Definitions come from the index")
	}
	// A text that only resembles an address is searched as text.
	b.do(chromedp.Navigate(s.base + "/search?q=localhost:8080"))
	b.has(".zero h2", "No match for")
}

// TestBrowserFacets selects a folder or a type; the counts of the others remain.
func TestBrowserFacets(t *testing.T) {
	s := serve(t, map[string]string{"a/x/1.go": "needle\nneedle\n", "b/y/2.go": "needle\n", "b/y/3.md": "needle\n"}, nil)
	counts := func(b *tab, section int) string {
		return eval[string](b, fmt.Sprintf(`[...document.querySelectorAll(".rail section")[%d].querySelectorAll(".facet")].map((f) => f.innerText.replace(/\s+/g, " ").trim()).join(", ")`, section))
	}
	b := s.open(t, "/search?q=needle", 1280, 800, "light")
	b.until(`document.querySelectorAll(".facet .num").length === 4`)
	b.click(`.facet input[data-id="b/y"]`)
	b.has(".status", "2 matching lines")
	b.until(`document.querySelector(".status").textContent.includes("complete")`)
	b.until(`[...document.querySelectorAll(".facet")].some((f) => f.textContent.includes("md") && f.textContent.includes("1"))`)
	if got := counts(b, 2); got != "a/x 2, b/y 2" {
		t.Errorf("folders = %s", got)
	}
	// They are counted also if the page is opened with the filters.
	b.do(chromedp.Navigate(s.base + "/search?q=needle&type=md"))
	b.has(".status", "1 matching line")
	b.until(`[...document.querySelectorAll(".facet")].some((f) => f.textContent.includes("go") && f.textContent.includes("3"))`)
}

// TestBrowserActivityWaits checks that pending calls come first and don't look like failures, that
// rows link to their files, and that an ended connection is marked.
func TestBrowserActivityWaits(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "b.txt": "b\n"})
	s.calls = t.TempDir()
	s.opts.Activity = activity.Follow(s.calls)
	free, gated := s.agent(t, "zed", 0), s.agent(t, "claude-code", 300*time.Millisecond)
	free.call("edit_file", map[string]any{"path": "b.txt", "old_text": "b", "new_text": "B"})
	free.call("read_file", map[string]any{"path": "a.txt"})
	b := s.open(t, "/activity", 1280, 800, "light")
	b.has(".call", "read_file")
	gated.call("edit_file", map[string]any{"path": "a.txt", "old_text": "\n2\n", "new_text": "\ntwo\n"})
	b.has(".waits", "1 change waits for you")
	b.has(".waits .waitrow", "claude-code")
	b.has(".call .tag.warn", "waits for you")
	if n := b.count(".call.failed"); n > 0 {
		t.Errorf("%d calls are shown as failed", n)
	}
	if first := eval[string](b, `document.querySelector("main").firstElementChild.className`); !regexp.MustCompile(`\bwaits\b`).MatchString(first) {
		t.Errorf("%s comes first", first)
	}
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "(1) ") {
		t.Errorf("title = %s", title)
	}
	b.until(`document.querySelector('.call a.about[href^="/changes/"]') && document.querySelector('.call a.about[href^="/search?at=a.txt"]')`)
	free.there.Close()
	b.has(".agent .tag", "ended")
	b.click(".waits .waitrow")
	b.until(`location.pathname.startsWith("/review/")`)
	b.has(".dhead", "claude-code")

	// On a phone no word of a row is broken. Proposals are worded as something to be done.
	gated.call("delete_file", map[string]any{"path": "b.txt"})
	b.do(chromedp.EmulateViewport(380, 800))
	b.keys("4")
	b.has(".waits", "2 changes wait for you")
	b.has(".waits ol", "delete b.txt")
	if broken := eval[[]string](b, `[...document.querySelectorAll(".waitrow > *")].filter((x) => x.textContent && x.getBoundingClientRect().height > 50).map((x) => x.textContent)`); len(broken) > 0 {
		t.Errorf("broken: %q", broken)
	}
	// Decided proposals don't wait any more.
	list, err := s.opts.Review.Pending()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, p.ID, review.Decision{By: "page", Rest: review.No}); err != nil {
			t.Fatal(err)
		}
	}
	b.until(`document.querySelector(".waits").hidden && !document.querySelector(".call").parentElement.textContent.includes("waits for you")`)
	if n := b.count(".call .tag.no"); n != 2 {
		t.Errorf("%d calls are marked as refused", n)
	}
}

// A call is shown with its own proposal, not with one that another connection of the same client
// made at the same time, and the times of calls are those at which they ended.
func TestBrowserActivityOfTwo(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "b.txt": thirty})
	s.calls = t.TempDir()
	s.opts.Activity = activity.Follow(s.calls)
	edit := func(path string) map[string]any {
		return map[string]any{"path": path, "old_text": "\n2\n", "new_text": "\ntwo\n"}
	}
	one, other := s.agent(t, "claude-code", 2*time.Second), s.agent(t, "claude-code", 2*time.Second)
	answers := []<-chan string{one.start("edit_file", edit("a.txt"))}
	first := s.waiting(t, 1)
	answers = append(answers, other.start("edit_file", edit("b.txt")))
	s.waiting(t, 2)
	b := s.open(t, "/activity", 1280, 800, "light")
	for _, a := range answers {
		<-a
	}
	b.until(`document.querySelectorAll(".call .tag.warn").length === 2`)
	one.call("read_file", map[string]any{"path": "a.txt"})
	b.until(`document.querySelectorAll(".call").length === 3`)
	if times := eval[[]string](b, `[...document.querySelectorAll(".call time")].map((x) => x.textContent)`); !slices.IsSortedFunc(times, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("times, newest first: %v", times)
	}
	if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, first.ID, review.Decision{By: "page", Rest: review.No}); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector('.call:has([href="/review/` + first.ID + `"]) .tag.no') && document.querySelectorAll(".call .tag.warn").length === 1`)
}

// TestMarksOfWords checks that the marked words are those that count for the ranking: whole words
// in any form, without stop words.
func TestMarksOfWords(t *testing.T) {
	s := serve(t, map[string]string{"a.md": "# Renewal\n\nThe renewal of the certificate is automatic; certificates are renewed by it in time.\n"}, nil)
	_, body := s.request(t, "GET", "/api/search?mode=words&q=how+is+it+renewed+in+the+certificate", "")
	got := map[string]bool{}
	for line := range strings.Lines(body) {
		var one struct{ File wireFile }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		for _, l := range one.File.Lines {
			for i := 0; i+1 < len(l.Spans); i += 2 {
				got[strings.ToLower(l.Text[l.Spans[i]:l.Spans[i+1]])] = true
			}
		}
	}
	list := slices.Sorted(maps.Keys(got))
	if want := "certificate certificates renewal renewed"; strings.Join(list, " ") != want {
		t.Errorf("marked %q, want %q", list, want)
	}
	text := get[wireText](t, s, "/api/file?path=a.md&mode=words&q=how+is+it+renewed+in+the+certificate")
	if n := len(text.Marks[3]) / 2; n != 4 {
		t.Errorf("%d marks in line 3 of the file, want 4: %v", n, text.Marks)
	}
}

// TestBrowserFromHunk extends the hunks of a change and of a proposal by more lines or by the whole
// definition, opens the file at a hunk's line, and goes back.
func TestBrowserFromHunk(t *testing.T) {
	var b strings.Builder
	b.WriteString("package pay\n\n")
	for i := range 4 {
		fmt.Fprintf(&b, "// f%d is one.\nfunc f%d() int {\n", i, i)
		for j := range 30 {
			fmt.Fprintf(&b, "\tx%d := %d\n", j, i*100+j)
		}
		b.WriteString("\treturn 0\n}\n\n")
	}
	source := b.String()
	s := serveAgents(t, map[string]string{"pay.go": source, "use.go": "package pay\n\nvar u = f2()\n"})
	// Make two hunks in f1 and one in f2. Then another program modifies the file.
	set := change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "pay.go", Edits: []change.Edit{{Old: "x10 := 110", New: "x10 := f2()"}, {Old: "x25 := 125\n", New: ""}, {Old: "x15 := 215", New: "x15 := 1\n\ty := 2"}}}}}
	c, err := s.ws.Apply(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.dir+"/pay.go", "// later\n"+source)
	tab := s.open(t, "/changes/"+c.ID, 1280, 800, "light")
	shown := func(k int) string {
		return eval[string](tab, fmt.Sprintf(`[...document.querySelectorAll(".hunk")[%d].querySelectorAll(".l:not(.dup):not(.fill)")].map((l) => l.querySelector(".o").textContent + "," + l.querySelector(".w").textContent).join(" ")`, k))
	}
	tab.until(`document.querySelectorAll(".hunk").length === 3`)
	click := func(k int, label string) {
		t.Helper()
		eval[chromedp.Void](tab, fmt.Sprintf(`document.querySelectorAll(".hunk")[%d].querySelector('[aria-label=%s]').click()`, k, quote(label)))
	}
	if got := shown(0); !strings.HasPrefix(got, "47,47 48,48 49,49 50, ,50 51,51") {
		t.Fatalf("first hunk = %s", got)
	}
	click(0, "10 lines above")
	tab.until(`document.querySelectorAll(".hunk")[0].querySelectorAll(".l:not(.dup)").length === 18`)
	if got := shown(0); !strings.HasPrefix(got, "37,37 38,38") {
		t.Errorf("10 lines above = %s", got)
	}
	click(0, "The whole definition")
	tab.has(".toast", "All of f1")
	tab.until(`document.querySelectorAll(".hunk")[0].textContent.includes("x20 := 120")`)
	if got := shown(0) + " " + shown(1); !strings.HasPrefix(got, "37,37 ") || !strings.Contains(got, " 54,54 55,55 ") || !strings.HasSuffix(got, "71,70") {
		t.Errorf("the whole definition = %s", got)
	}
	eval[chromedp.Void](tab, `document.querySelectorAll(".hunk")[2].querySelector("a.btn").focus()`)
	tab.keys("x")
	tab.until(`document.querySelectorAll(".hunk")[2].textContent.includes("x5 := 205") && document.querySelectorAll(".hunk")[2].textContent.includes("x28 := 228")`)
	tab.keys("g")
	tab.until(`location.pathname === "/search" && document.querySelector(".alone .peek .hit.on")`)
	tab.do(chromedp.NavigateBack())
	tab.until(`document.querySelectorAll(".hunk").length === 3`)

	// A name in a diff leads to its definition and references.
	tab.until(`document.querySelector(".hunk .add .tx")`)
	eval[chromedp.Void](tab, `getSelection().removeAllRanges()`)
	tab.keys("d")
	tab.has("dialog.names", "f2")
	eval[chromedp.Void](tab, `document.querySelector('dialog.names [aria-label="Definition of f2"]').click()`)
	tab.has(".peek .hit.on", "func f2() int")
	tab.do(chromedp.NavigateBack())
	tab.until(`location.pathname.startsWith("/changes/")`)
	tab.do(chromedp.Navigate(s.base + "/search?q=f2"))
	tab.until(`document.querySelectorAll("a.hit").length > 1`)
	tab.until(`(() => { // once the line is drawn, a point leads to its text
		const el = [...document.querySelectorAll("a.hit")].find((a) => a.textContent.includes("var u"))?.querySelector(".src"), r = document.createRange();
		const texts = function* (n) { if (n.nodeType === 3) yield n; for (const c of n.childNodes) yield* texts(c); };
		const node = el && [...texts(el)].find((n) => n.data.includes("f2"));
		if (!node) return false;
		r.setStart(node, node.data.indexOf("f2")); r.setEnd(node, node.data.indexOf("f2") + 2);
		const box = r.getBoundingClientRect(), x = box.left + 5, y = box.top + 8;
		if (document.caretRangeFromPoint(x, y)?.startContainer !== node) return false;
		el.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, altKey: true, clientX: x, clientY: y }));
		return true;
	})()`)
	tab.has(".peek .hit.on", "func f2() int")
	eval[chromedp.Void](tab, `document.activeElement.blur()`)
	tab.keys("d")
	tab.has("dialog.names", "f2")
	eval[chromedp.Void](tab, `document.querySelector('dialog.names [aria-label="Uses of f2"]').click()`)
	tab.until(`location.search === "?q=f2&mode=uses"`)
	tab.has(".status", "1 use in 1 file")
	tab.has("a.hit", "var u = f2()")

	// The additional lines in a proposal are those of the current file.
	agent := s.agent(t, "claude-code", 5*time.Minute)
	agent.start("edit_file", map[string]any{"path": "pay.go", "old_text": "x20 := 320", "new_text": "x20 := f1()"})
	id := s.waiting(t, 1).ID
	tab.do(chromedp.Navigate(s.base + "/review/" + id))
	tab.has(".hunk.now", "1 of 1")
	tab.keys("X")
	tab.has(".toast", "All of f3")
	if got := shown(0); !strings.HasPrefix(got, "109,109 110,110") || !strings.Contains(got, "130,130 131, ,131 132,132") {
		t.Errorf("the definition around a proposal = %s", got)
	}
	// The definition is the one around the change, not around the first line of context.
	write(t, s.dir+"/two.go", "package pay\n\nfunc one() int {\n\treturn 1\n}\nfunc two() int {\n\ta := 1\n\treturn a\n}\n")
	agent.start("edit_file", map[string]any{"path": "two.go", "old_text": "\ta := 1\n", "new_text": "\ta := 1\n\ta++\n"})
	id = s.waiting(t, 2).ID
	tab.do(chromedp.Navigate(s.base + "/review/" + id))
	tab.has(".hunk.now", "1 of 1")
	tab.keys("X")
	tab.has(".toast", "All of two")
}
