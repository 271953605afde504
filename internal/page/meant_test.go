package page

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// In these tests a person decides about changes of MCP clients on the page. The resulting files and
// the agents' answers must agree with the decisions.

// threeHunks lets an agent propose three hunks in one file.
func threeHunks(t testing.TB) (*agents, <-chan string) {
	t.Helper()
	s := serveAgents(t, map[string]string{"a.txt": thirty})
	answer := s.agent(t, "claude-code", time.Minute).start("edit_file", map[string]any{
		"path": "a.txt", "edits": edits("\n2\n", "\ntwo\n", "\n15\n", "\n15\nand more\n", "\n28\n", "\n"),
	})
	s.waiting(t, 1)
	return s, answer
}

func (s *served) text(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A accepts all undecided hunks, but not those already refused. The file then has hunks 1 and 3.
// The agent's answer has the refused hunk's path, line and comment.
func TestBrowserAcceptsTheRest(t *testing.T) {
	s, answer := threeHunks(t)
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".hunk.now", "1 of 3")
	b.keys("j")
	b.has(".hunk.now", "2 of 3")
	b.keys("r", "c")
	b.until(`document.activeElement.matches("textarea")`)
	b.keys("not this one", kb.Escape)
	b.until(`document.querySelector('.hunk[data-k="1"] .say').textContent.includes("not this one")`) // the message about the refused hunk
	b.has(".decide", "Accept the rest")
	b.keys("A")
	b.has("dialog[open]", "2 hunks accepted, 1 refused")
	b.keys(kb.Enter)
	b.has(".facts", "applied as")
	want := strings.Replace(strings.Replace(thirty, "\n2\n", "\ntwo\n", 1), "\n28\n", "\n", 1)
	if got := s.text(t, "a.txt"); got != want {
		t.Errorf("a.txt = %q", got)
	}
	got := <-answer
	for _, words := range []string{"written: ", "a.txt:2", "a.txt:28", "refused, not written: a.txt:16", "not this one"} {
		if !strings.Contains(strings.ToLower(got), words) {
			t.Errorf("the agent is not told %q:\n%s", words, got)
		}
	}
	// The log describes the change in Quarry's words instead of the agent's.
	b.keys("2")
	b.has(".entry .ttl", "in part: 2 of 3 hunks")
	if b.count(".entry .said") > 0 {
		t.Error("our words are shown as the agent's")
	}
}

// There is a button "Accept the rest" next to "Refuse the rest".
func TestBrowserTheRest(t *testing.T) {
	stress.SkipQuick(t)
	s, answer := threeHunks(t)
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".hunk.now", "1 of 3")
	b.keys("r")
	b.until(`document.querySelector(".decide")?.textContent.includes("Accept the rest")`)
	eval[chromedp.Void](b, `[...document.querySelectorAll(".decide button")].find((x) => x.textContent === "Accept the rest").click()`)
	b.has(".tally", "2 accepted")
	b.has(".tally", "1 refused")
	b.keys(kb.Enter)
	b.has(".facts", "applied as")
	if got := s.text(t, "a.txt"); strings.Contains(got, "two") || !strings.Contains(got, "and more") {
		t.Errorf("a.txt = %q", got)
	}
	<-answer
}

// The box of a comment opens above the decision bar, with the end of its hunk, wherever the hunk was.
func TestBrowserCommentIsVisible(t *testing.T) {
	s, agent := serveReview(t, nil)
	id := uneven(t, s, agent, 12)
	for _, size := range [][2]int64{{1280, 800}, {380, 800}} {
		b := s.open(t, "/review/"+id, size[0], size[1], "light")
		b.has(".hunk.now", "1 of 12")
		for k := range 12 {
			for _, at := range []string{"bottom - document.querySelector('.decide').getBoundingClientRect().top - 20", "bottom - document.querySelector('.bar').getBoundingClientRect().bottom - 20"} {
				eval[chromedp.Void](b, fmt.Sprintf(`(() => { const el = document.querySelector('.hunk[data-k="%d"]'); el.focus({ preventScroll: true }); scrollBy(0, el.getBoundingClientRect().%s); })()`, k, at))
				b.keys("c")
				b.until(`document.activeElement.matches(".say textarea")`)
				eval[chromedp.Void](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
				if covered := eval[string](b, `(() => { const r = document.activeElement.getBoundingClientRect(), name = document.activeElement.closest(".dfile").querySelector(".head .base").getBoundingClientRect(); const on = (x, y) => document.elementFromPoint(x, y); return on(r.left + 9, r.top + 2) === document.activeElement && on(r.right - 9, r.bottom - 2) === document.activeElement && on(name.left + 4, name.top + 4)?.closest(".head") ? "" : JSON.stringify(r) + innerHeight; })()`); covered != "" {
					t.Errorf("at %d pixels the comment on hunk %d is at %s", size[0], k+1, covered)
				}
				b.keys(kb.Escape)
			}
		}
		b.close()
	}
}

// R asks for a reason, which is sent to the agent.
func TestBrowserRefusesWithReason(t *testing.T) {
	s, answer := threeHunks(t)
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".hunk.now", "1 of 3")
	b.keys("R")
	b.until(`document.querySelector("dialog[open] textarea") === document.activeElement`)
	b.keys("use the other file", kb.Enter)
	b.has(".facts", "refused")
	if got := <-answer; !strings.Contains(got, "use the other file") || strings.Contains(got, "ask the user what to do") {
		t.Errorf("the agent is told %s", got)
	}
	if s.text(t, "a.txt") != thirty {
		t.Error("something was written")
	}
}

// A comment on the whole proposal is sent to the agent with the decision.
func TestBrowserCommentsOnTheWhole(t *testing.T) {
	stress.SkipQuick(t)
	s, answer := threeHunks(t)
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".hunk.now", "1 of 3")
	b.keys("C")
	b.until(`document.activeElement.matches(".decide textarea")`)
	b.keys("well done", kb.Escape)
	b.until(`!document.querySelector(".decide textarea")`)
	b.keys("a", "a", "a")
	b.has(".decide", "1 comment will go")
	b.keys(kb.Enter)
	b.has(".facts", "applied as")
	if got := <-answer; !strings.Contains(got, "well done") {
		t.Errorf("the agent is told %s", got)
	}
}

// visible is a script that reports whether the current hunk's first changed line and its file's
// name can be seen.
const visible = `(() => {
	const el = document.querySelector(".hunk.now"), line = el?.querySelector(".l.add, .l.del"), name = el?.closest(".dfile").querySelector(".head .base");
	const seen = (x, inside) => { const r = x.getBoundingClientRect(), at = document.elementFromPoint(r.left + Math.min(r.width / 2, 20), r.top + Math.min(r.height / 2, 8)); return !!at && inside.contains(at); };
	return !!line && seen(line, line) && seen(name, name.closest(".head"));
})()`

// TestBrowserEveryStop goes through a proposal of 367 hunks with the key j.
func TestBrowserEveryStop(t *testing.T) {
	stress.SkipQuick(t)
	s, agent := serveReview(t, nil)
	id := uneven(t, s, agent, 367)
	for _, size := range [][2]int64{{1600, 1000}, {380, 700}} {
		b := s.open(t, "/review/"+id, size[0], size[1], "light")
		b.has(".hunk.now", "1 of 367")
		b.keys("j", "k")
		b.until(`document.activeElement.dataset.k === "0"`)
		// Check each stop after it was painted.
		eval[chromedp.Void](b, `(async () => {
			const frame = () => new Promise((resolve) => requestAnimationFrame(resolve)), hidden = [];
			for (let k = 0; k < 367; k++) {
				for (let i = 0; i < 500 && document.activeElement.dataset.k !== String(k); i++) await frame();
				await frame(); await frame();
				window.stop_ = k;
				if (document.activeElement.dataset.k !== String(k) || !`+visible+`) hidden.push(k);
				document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
			}
			window.hidden_ = hidden;
		})()`)
		for k := 0; k < 367; k += 40 { // on a busy machine all of them take longer than one wait
			b.until(fmt.Sprintf("window.stop_ >= %d", k))
		}
		b.until("window.hidden_")
		if hidden := eval[[]int](b, "hidden_"); len(hidden) > 0 {
			t.Errorf("at %d pixels %d of 367 stops don't show the line and the file: %v", size[0], len(hidden), hidden[:min(len(hidden), 20)])
		}
		b.close()
	}
}

// uneven proposes hunks, some of them long, in files of different lengths.
func uneven(t testing.TB, s *served, by proposer, hunks int) string {
	t.Helper()
	var ops []change.Op
	for k, left := 0, hunks; left > 0; k++ {
		var old, now strings.Builder
		for i := range min(left, 1+k*7) {
			fmt.Fprintf(&old, "first %d\na\nb\nc\nd\ne\nf\ng\n", i)
			fmt.Fprintf(&now, "first %d\na\nb\n%sd\ne\nf\ng\n", i, strings.Repeat("a line that is rather long, so that it wraps on a phone\n", 1+(i*k)%50))
		}
		left -= min(left, 1+k*7)
		name := fmt.Sprintf("folder-%d/with a long name/file%d.txt", k, k)
		write(t, filepath.Join(s.dir, name), old.String())
		ops = append(ops, change.Op{Verb: change.WriteFile, Path: name, Content: []byte(now.String())})
	}
	return pendingID(t, by, change.Set{Tool: "apply_changes", Client: change.Client{Name: "claude-code"}, Ops: ops})
}

// A hunk outside the window is not decided; the first key press scrolls to it.
func TestBrowserDecidesVisibleHunks(t *testing.T) {
	s, agent := serveReview(t, nil)
	id := uneven(t, s, agent, 40)
	b := s.open(t, "/review/"+id, 1200, 700, "light")
	b.has(".hunk.now", "1 of 40")
	eval[chromedp.Void](b, `scrollTo(0, 1e6)`)
	b.until(`document.querySelector(".hunk.now").getBoundingClientRect().bottom < 0`)
	b.keys("a")
	b.until(visible)
	if n := b.count(".hunk.yes"); n != 0 {
		t.Errorf("%d unseen hunks were accepted", n)
	}
	b.keys("a")
	b.until(`document.querySelectorAll(".hunk.yes").length === 1`)
	// Accepting a file in the list of files counts as having seen it.
	b.until(`document.querySelectorAll(".frow").length > 3`)
	b.click(`.frow[data-file="1"] .btn.no`)
	b.until(`document.querySelectorAll(".hunk.no").length === 8`)
	b.has(`.frow[data-file="1"]`, "8 of 8 decided")
	b.click(`.frow[data-file="1"] input`)
	b.reload()
	b.until(`document.querySelector('.frow[data-file="1"] input')?.checked && document.querySelectorAll(".hunk.no").length === 8`)
}

// TestBrowserTellsSizes checks that the page counts both sides of a rewrite of 30,000 lines, and
// shows the text of a deleted file and the diff of an undo that was itself undone.
func TestBrowserTellsSizes(t *testing.T) {
	var old, now strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&old, "old line %d\n", i)
		fmt.Fprintf(&now, "new line %d\n", i)
	}
	s := serve(t, map[string]string{"big.txt": old.String(), "gone.txt": "its last words\n", "a.txt": "before\n"}, nil)
	ctx := t.Context()
	big, err := s.ws.Write(ctx, "big.txt", []byte(now.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := s.ws.Delete(ctx, "gone.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := s.open(t, "/changes/"+big.ID, 1600, 1000, "light")
	b.has(".dfile .head .pm", "+30,000 −30,000")
	b.has(".facts .pm", "+30,000 −30,000")
	b.until(`document.querySelector('.entry[data-id="` + big.ID + `"] > .pm')?.textContent === "+30,000 −30,000"`)
	b.until(`document.querySelectorAll(".dfile .l.add").length > 100 && document.querySelectorAll(".dfile .l.del").length > 100`)
	b.click(`.entry[data-id="` + gone.ID + `"]`)
	b.has(".dfile .l.del", "its last words")

	// Undo an edit and a deletion, and undo the undo.
	edit, err := s.ws.Write(ctx, "a.txt", []byte("after\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ id, undone, where, again string }{
		{edit.ID, "before", ".dfile .l.add", "after"}, {gone.ID, "It came back from the trash", ".dfile .l.del", "its last words"},
	} {
		undo, err := s.ws.Undo(ctx, c.id, nil)
		if err != nil {
			t.Fatal(err)
		}
		redo, err := s.ws.Undo(ctx, undo.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate(s.base + "/changes/" + undo.ID))
		b.has(".facts", "undone by")
		b.has(".dfile", c.undone)
		b.do(chromedp.Navigate(s.base + "/changes/" + redo.ID))
		b.has(c.where, c.again)
	}
}

// A key opens the pending proposal with the nearest deadline, and the title counts the pending
// ones. If a file is modified, the page reports it without a reload, and A no longer says that it
// accepts everything.
func TestBrowserWaitingIsReached(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "b.txt": thirty, "c.txt": thirty})
	edit := func(name string) map[string]any {
		return map[string]any{"path": name, "edits": edits("\n28\n", "\n")}
	}
	slow := s.agent(t, "slow", 3*time.Minute).start("edit_file", edit("a.txt"))
	late := s.waiting(t, 1)
	fast := s.agent(t, "fast", time.Minute).start("edit_file", edit("b.txt"))
	near := s.waiting(t, 2)
	b := s.open(t, "/health", 1600, 1000, "light")
	b.until(`document.title.startsWith("(2) ")`)
	for _, want := range []string{near.ID, late.ID, near.ID} {
		b.keys("w")
		b.until(`location.pathname === "/review/` + want + `" && document.querySelector(".facts")?.textContent.includes("` + want + `")`)
	}
	b.has(".dfile", "unchanged since")
	write(t, filepath.Join(s.dir, "b.txt"), "0\n"+thirty)
	b.has(".dfile", "changed since, still fits")
	write(t, filepath.Join(s.dir, "b.txt"), strings.Replace(thirty, "\n28\n", "\ntwenty-eight\n", 1))
	b.until(`document.querySelector(".dfile .tag.warn")?.textContent === "changed since"`)
	b.has(".entry.on .tag.warn", "changed since")
	b.has(".notice.warn", "Files changed since")
	b.keys("A")
	b.has(".toast.bad", "can't be accepted")
	if eval[bool](b, `!!document.querySelector("dialog[open]")`) {
		t.Error("A asks about what can't be accepted")
	}
	write(t, filepath.Join(s.dir, "b.txt"), thirty)
	b.until(`document.querySelector(".dfile .tag.ok")?.textContent === "unchanged since" && !document.querySelector(".notice.warn")`)
	b.keys("A")
	b.has("dialog[open]", "Accept everything?")
	b.keys(kb.Enter)
	<-fast
	b.until(`location.pathname === "/review/` + late.ID + `"`) // the next pending proposal
	b.has(".dfile", "a.txt")
	b.keys("R")
	b.until(`document.querySelector("dialog[open] textarea")`)
	b.keys(kb.Enter)
	<-slow
	b.until(`document.title.startsWith("Proposal")`)
}

// Health counts changes that were made, not requests. It lists an agent as soon as the agent has
// given its name.
func TestBrowserHealthIsTrue(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty})
	row := func(name string) string {
		return `[...document.querySelectorAll(".tbl.stack tbody tr")].find((r) => r.textContent.includes("` + name + `"))`
	}
	b := s.open(t, "/health", 1600, 1000, "light")
	b.has(".health", "No agent is connected")
	agent := s.agent(t, "cursor", time.Minute)
	b.until(row("cursor"))
	refused := agent.start("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n28\n", "\n")})
	if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, s.waiting(t, 1).ID, review.Decision{By: "page", Rest: review.No}); err != nil {
		t.Fatal(err)
	}
	<-refused
	accepted := agent.start("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n3\n", "\nthree\n")})
	if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, s.waiting(t, 1).ID, review.Decision{By: "page", Rest: review.Yes}); err != nil {
		t.Fatal(err)
	}
	<-accepted
	cell := func(label string) string {
		return row("cursor") + `?.querySelector('[data-l="` + label + `"]').textContent`
	}
	b.until(cell("Calls") + ` === "2" && ` + cell("Changes") + ` === "1"`)
}

// Facets count all results, not only those shown, and the filter lists every client.
func TestBrowserCountsAll(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("one/a%02d.txt", i)] = strings.Repeat("needle\n", 20)
	}
	files["two/z.go"] = strings.Repeat("// needle\n", 33)
	s := serve(t, files, nil)
	b := s.open(t, "/search?q=needle", 1600, 1000, "light")
	b.until(`[...document.querySelectorAll(".facet")].some((f) => f.textContent.includes("txt") && f.textContent.includes("600"))`)
	b.until(`[...document.querySelectorAll(".facet")].some((f) => f.textContent.includes("go") && f.textContent.includes("33"))`)
	for i := range 7 {
		if _, err := s.ws.Write(t.Context(), "n.txt", []byte(fmt.Sprint(i)), &change.Options{Client: change.Client{Name: fmt.Sprintf("client-%d", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	b.do(chromedp.Navigate(s.base + "/changes"))
	b.until(`["0", "1", "2", "3", "4", "5", "6"].every((i) => document.querySelector(".changes-bar")?.textContent.includes("client-" + i))`)
}

// Going back restores the position: the same file at the same place in the window, whatever has
// been drawn above it.
func TestBrowserBackKeepsPlace(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("d%03d.txt", i)] = strings.Repeat("needle\n", i%2+1)
	}
	s := serve(t, files, nil)
	b := s.open(t, "/search?q=needle", 1600, 800, "light")
	const all = `document.querySelectorAll("article.file").length === 120`
	const top = `(() => {
		const f = [...document.querySelectorAll("article.file")].find((f) => f.getBoundingClientRect().bottom > 0);
		return f ? f.textContent.slice(0, 8) + " at " + Math.round(f.getBoundingClientRect().top) : "";
	})()`
	b.until(all)
	b.until(`(scrollTo(0, 2500), scrollY === 2500)`) // possible once the page is long enough
	b.keys(kb.Escape)
	was := eval[string](b, `((was) => (document.querySelector('[data-view="health"]').click(), was))(`+top+`)`)
	if was == "" || strings.HasPrefix(was, "d000") {
		t.Fatalf("nothing was scrolled: %q", was)
	}
	b.until(`location.pathname === "/health" && scrollY === 0`)
	b.do(chromedp.NavigateBack())
	b.until(`location.pathname === "/search" && ` + all + ` && ` + top + ` === ` + quote(was))
}

// Going back twice in quick succession keeps the position stored for the entry in between, and the
// page doesn't move afterwards.
func TestBrowserTwoStepsBack(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("d%03d.txt", i)] = "needle\n"
	}
	s := serve(t, files, nil)
	b := s.open(t, "/health", 1600, 500, "light")
	b.until(`document.querySelector(".health")`)
	b.click(`[data-view="search"]`)
	b.until(`location.pathname === "/search"`)
	eval[chromedp.Void](b, `(() => { const q = document.querySelector("#q"); q.focus(); q.value = "needle"; q.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	const all = `document.querySelectorAll("article.file").length === 120`
	b.until(all)
	b.until(`(scrollTo(0, 2500), scrollY === 2500)`)
	eval[chromedp.Void](b, `document.querySelector('[data-view="activity"]').click()`)
	b.until(`location.pathname === "/activity"`)
	eval[chromedp.Void](b, `(addEventListener("popstate", () => setTimeout(() => history.back(), 300), { once: true }), history.back())`)
	b.until(`location.pathname === "/health" && document.querySelector(".health")`)
	eval[chromedp.Void](b, `(window.moved = 0, window.since = performance.now(), addEventListener("scroll", () => { window.moved++; }))`)
	b.until(`performance.now() - window.since > 1000`) // longer than a position is kept fixed
	if moved := eval[int](b, "window.moved"); moved > 5 {
		t.Errorf("the page moved %d times", moved)
	}
	b.do(chromedp.NavigateForward())
	b.until(`location.pathname === "/search" && ` + all + ` && scrollY > 1500`)
}

// Space for a file that is not drawn yet has the final height, so that the page doesn't shift while
// scrolling.
func TestBrowserScrollsEvenly(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%03d.txt", i)] = strings.Repeat("needle\n", i%7+1)
	}
	s := serve(t, files, nil)
	b := s.open(t, "/search?q=needle", 1600, 800, "light")
	b.until(`document.querySelectorAll("article.file").length === 40`)
	const height = `document.querySelector("article.file:last-child").getBoundingClientRect().bottom + scrollY`
	before := eval[float64](b, height)
	drawn := eval[float64](b, `(document.querySelectorAll("article.file").forEach((f) => { f.style.contentVisibility = "visible"; }), `+height+`)`)
	if math.Abs(before-drawn) > 2 {
		t.Errorf("the list ends at %.0f before it is drawn and at %.0f after", before, drawn)
	}
}

// Keys work in a shown file, and find also finds lines that are not drawn.
func TestBrowserFileKeys(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	s := serve(t, map[string]string{"long.txt": text.String()}, nil)
	b := s.open(t, "/search?q=line%205", 1600, 800, "light")
	b.until(`document.querySelectorAll("a.hit").length > 10`)
	b.keys(kb.Escape, "j", kb.Enter)
	b.until(`document.activeElement.matches(".peek .lines")`)
	b.keys("j", "j")
	b.until(`document.querySelector(".peek .hit.on")?.dataset.n === "7"`)
	eval[bool](b, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true, cancelable: true })) === false`)
	b.until(`document.activeElement.matches(".finder input")`)
	b.keys("LINE 4321")
	b.has(".finder", "1 of 1")
	b.until(`document.querySelector(".peek .hit.on")?.textContent.includes("line 4321")`)
	b.keys(kb.Escape)
	b.until(`!document.querySelector(".finder") && document.activeElement.matches(".peek .lines")`)
	b.keys(kb.Escape)
	b.until(`document.activeElement.matches("a.hit.on")`)
}

// If the server is restarted with the same port and token, open tabs reconnect. Another program
// that uses the port meanwhile does not get the token.
func TestBrowserFindsItsServerAgain(t *testing.T) {
	listen := func(at string) net.Listener {
		t.Helper()
		var l net.Listener
		var err error
		if !stress.Becomes(func() bool {
			l, err = net.Listen("tcp", at)
			return err == nil
		}) {
			t.Fatal(err)
		}
		return l
	}
	token := NewToken()
	same := func(o *Options) { o.Token = token }
	l := listen("127.0.0.1:0")
	s := serveOn(t, l, project, same)
	b := s.open(t, "/changes", 1600, 1000, "light")
	b.has("#live", "Live")
	s.end(t)
	b.has(".bar.banner", "Not connected.")
	var asked, told atomic.Int32
	stranger := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get(tokenHeader) != "" {
			told.Add(1)
		}
		w.WriteHeader(http.StatusNotFound)
	})}
	other := listen(l.Addr().String())
	go func() { _ = stranger.Serve(other) }()
	stress.Becomes(func() bool {
		eval[chromedp.Void](b, `document.querySelector(".banner button")?.click()`)
		return asked.Load() >= 2
	})
	stranger.Close()
	if asked.Load() < 2 || told.Load() > 0 {
		t.Errorf("the other program was asked %d times and got the token %d times", asked.Load(), told.Load())
	}
	again := serveOn(t, listen(l.Addr().String()), project, same)
	eval[chromedp.Void](b, `document.querySelector(".banner button")?.click()`)
	b.has("#live", "Live")
	if _, err := again.ws.Write(t.Context(), "README.md", []byte("of the second run\n"), nil); err != nil {
		t.Fatal(err)
	}
	b.has(".dfile", "of the second run")
}
