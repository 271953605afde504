package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

const thirty = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\n30\n"

// serveReview serves a page with proposals. It returns the page and an agent's workspace, whose
// changes are reviewed.
func serveReview(t testing.TB, files map[string]string) (*served, *quarry.Workspace) {
	t.Helper()
	dir := t.TempDir()
	store, err := review.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := serve(t, files, func(o *Options) { o.Review, o.Decide = store, o.Workspace.(review.Workspace) })
	s.proposals = dir
	agent, err := quarry.Open(s.dir, &quarry.Options{StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: dir, Wait: -1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Close() })
	return s, agent
}

func propose(t testing.TB, agent *quarry.Workspace, path string, edits ...change.Edit) string {
	t.Helper()
	_, err := agent.Edit(t.Context(), path, edits, &change.Options{Client: change.Client{Name: "claude-code"}, Tool: "edit_file"})
	var pending *review.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("edit = %v", err)
	}
	return pending.ID
}

// TestBrowserReview accepts one of three hunks by keyboard, with a comment, and checks that exactly
// this hunk is written.
func TestBrowserReview(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty, "b.txt": "<b>&amp;\n"})
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".empty h2", "Nothing waits")
	id := propose(t, agent, "a.txt", change.Edit{Old: "2\n3\n", New: "two\n3\n", Occurrence: change.First}, change.Edit{Old: "15\n", New: "15\nand <script>pwned()</script>\n"}, change.Edit{Old: "28\n", New: ""})
	b.has("#waiting", "1") // appears without a reload
	b.until(`location.pathname === "/review/` + id + `" && document.querySelectorAll(".hunk").length === 3`)
	b.has(".hunk.now", "1 of 3")
	b.keys("r")
	b.has(".hunk.now", "2 of 3")
	b.keys("j", "k", "c") // without j and k, the comment would be about the hunk just refused
	b.until(`document.activeElement.matches("textarea")`)
	b.keys("keep it", kb.Escape)
	const said = `[...document.querySelectorAll(".say:not([hidden])")].some((e) => e.textContent.includes("keep it"))`
	b.until(said)
	b.until(`document.querySelector(".decide .primary").disabled`)
	// A reload keeps the decisions.
	b.reload()
	b.until(`document.querySelectorAll(".hunk.no").length === 1 && ` + said)
	b.keys("a")
	b.until(`document.querySelectorAll(".hunk.yes").length === 1`)
	b.keys("r")
	b.until(`!document.querySelector(".decide .primary").disabled`)
	if data, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); string(data) != thirty {
		t.Fatalf("something was written before the decision: %q", data)
	}
	b.keys(kb.Enter)
	b.until(`document.querySelector(".facts")?.textContent.includes("applied as")`)
	data, _ := os.ReadFile(filepath.Join(s.dir, "a.txt"))
	if want := strings.Replace(thirty, "15\n", "15\nand <script>pwned()</script>\n", 1); string(data) != want {
		t.Errorf("after one hunk of three: %q", data)
	}
	p, err := s.opts.Review.Get(id)
	if err != nil || p.State != review.Partly || len(p.Comments()) != 1 || !strings.Contains(p.Comments()[0], "keep it") {
		t.Errorf("proposal = %+v, %v", p, err)
	}
	if eval[bool](b, `"pwned" in window`) {
		t.Error("a script of a proposal ran")
	}
}

// TestBrowserReviewStale checks that a hunk that conflicts with later changes can't be accepted,
// and that the page says so. The other hunks are applied at their new lines.
func TestBrowserReviewStale(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty})
	id := propose(t, agent, "a.txt", change.Edit{Old: "\n4\n", New: "\nfour\n"}, change.Edit{Old: "28\n", New: ""})
	now := "0\n" + strings.Replace(thirty, "\n28\n", "\ntwenty-eight\n", 1)
	write(t, filepath.Join(s.dir, "a.txt"), now)
	b := s.open(t, "/review/"+id, 380, 800, "dark")
	b.has(".notice.warn", "Files changed since")
	b.until(`document.querySelector(".dfile .tag.warn") && document.querySelectorAll(".met").length === 1 && document.querySelector('.hunk[data-k="1"] .met') && document.querySelector('.hunk[data-k="1"] .acts .yes').disabled`)
	for range 3 { // the first key press may only scroll to the hunk
		b.keys("a")
	}
	b.has(".decide", "can only be refused")
	b.until(`document.querySelectorAll(".hunk.yes").length === 1`)
	b.keys("r")
	b.has(".decide", "1 hunk in 1 file will be written")
	b.keys(kb.Enter)
	b.until(`document.querySelector(".facts")?.textContent.includes("applied as")`)
	if data, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); string(data) != strings.Replace(now, "\n4\n", "\nfour\n", 1) {
		t.Errorf("the file is %q", data)
	}
}

// A decision that is sent before the event stream is connected is applied.
func TestBrowserDecidesAtOnce(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty})
	id := propose(t, agent, "a.txt", change.Edit{Old: "28\n", New: ""})
	b := s.open(t, "/search", 1600, 1000, "light")
	source := `const real = fetch; fetch = (what, ...more) => String(what.url ?? what).includes("/api/events") ? new Promise(() => {}) : real(what, ...more);`
	if _, err := chromedp.Call(b.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(s.base + "/review/" + id))
	b.until(`document.querySelector(".hunk")`)
	b.keys("r", kb.Enter)
	b.until(`document.querySelector(".facts")?.textContent.includes("refused")`)
	b.has("#live", "Connecting")
}

// A proposal with several files, one of them new, has all of them.
func TestProposalOfASet(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty, "b.txt": "b\n", "run.sh": "#!/bin/sh\necho hi\n"})
	_, err := agent.Apply(t.Context(), change.Set{Tool: "apply_changes", Client: change.Client{Name: "claude-code"}, Ops: []change.Op{
		{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "1\n2\n", New: "one\n2\n", Occurrence: change.First}}},
		{Verb: change.CreateFile, Path: "new/file.md", Content: []byte("# New\n\ntext\n")},
		{Verb: change.DeletePath, Path: "b.txt"},
		{Verb: change.EditFile, Path: "run.sh", Edits: []change.Edit{{Old: "hi", New: "hello"}}, Executable: new(true)},
	}})
	var pending *review.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("apply = %v", err)
	}
	got := get[struct{ Files []struct{ Path, Note string } }](t, s, "/api/review/"+pending.ID)
	if len(got.Files) != 4 || got.Files[1].Path != "new/file.md" || got.Files[3].Note != "makes it executable" {
		t.Errorf("files = %+v", got.Files)
	}
}

// manyHunks proposes a change of several files with the given number of hunks each.
func manyHunks(t testing.TB, s *served, agent *quarry.Workspace, files, hunks int) string {
	t.Helper()
	var ops []change.Op
	for k := range files {
		name := fmt.Sprintf("%c.txt", 'a'+k)
		var old, now strings.Builder
		for i := range hunks {
			fmt.Fprintf(&old, "%d\na\nb\nc\nd\ne\nf\ng\n", i)
			fmt.Fprintf(&now, "new %d\na\nb\nc\nd\ne\nf\ng\n", i)
		}
		write(t, filepath.Join(s.dir, name), old.String())
		ops = append(ops, change.Op{Verb: change.WriteFile, Path: name, Content: []byte(now.String())})
	}
	return pendingID(t, agent, change.Set{Tool: "apply_changes", Client: change.Client{Name: "you"}, Ops: ops})
}

// proposer makes proposals.
type proposer interface {
	Apply(ctx context.Context, set change.Set) (*change.Change, error)
}

// pendingID proposes a set and returns the proposal's id.
func pendingID(t testing.TB, by proposer, set change.Set) string {
	t.Helper()
	_, err := by.Apply(t.Context(), set)
	var pending *review.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("apply = %v", err)
	}
	return pending.ID
}

// Each hunk has the name of the enclosing definition.
func TestProposalNamesDefinitions(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.go": "package a\n\nfunc First() int {\n\treturn 1\n}\n\n// Second does.\nfunc Second() int {\n\tx := 2\n\ty := 3\n\tz := 4\n\treturn x + y + z\n}\n"})
	id := propose(t, agent, "a.go", change.Edit{Old: "return x", New: "return 1 + x"})
	got := get[struct {
		Files []struct {
			Decisions []struct{ Parts []struct{ In string } }
		}
	}](t, s, "/api/review/"+id)
	if len(got.Files) != 1 || got.Files[0].Decisions[0].Parts[0].In != "Second" {
		t.Errorf("files = %+v", got.Files)
	}
}

// A large proposal is sent in parts. A request with a decision for each of its hunks is not too
// large.
func TestLargeProposal(t *testing.T) {
	stress.SkipShort(t)
	const files, hunks = 6, 2000
	s, agent := serveReview(t, nil)
	id := manyHunks(t, s, agent, files, hunks)
	type file struct {
		Count, Add, Del int
		Decisions       []struct{ Parts []struct{ Lines []any } }
	}
	res, body := s.request(t, "GET", "/api/review/"+id, "")
	if res.StatusCode != http.StatusOK || len(body) > 4<<20 {
		t.Fatalf("%d, %d bytes", res.StatusCode, len(body))
	}
	got := get[struct {
		Proposal struct {
			Client string
			Hunks  int
		}
		Files []file
	}](t, s, "/api/review/"+id)
	if got.Proposal.Hunks != files*hunks || len(got.Files) != files || got.Files[1].Count != hunks || got.Files[1].Add != hunks || got.Proposal.Client == "you" {
		t.Errorf("proposal %+v, %d files", got.Proposal, len(got.Files))
	}
	have := len(got.Files[0].Decisions)
	if have == 0 || have >= hunks {
		t.Errorf("%d decisions at once", have)
	}
	more := get[file](t, s, fmt.Sprintf("/api/review/%s?file=1&from=%d", id, have))
	if len(more.Decisions) == 0 || len(more.Decisions[0].Parts) != 1 {
		t.Errorf("no more decisions after %d", have)
	}
	for _, bad := range []string{"file=0", "file=7", "file=1&from=-1", "file=1&from=2001", "file=x"} {
		if res, body := s.request(t, "GET", "/api/review/"+id+"?"+bad, ""); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s = %d %s", bad, res.StatusCode, body)
		}
	}
	verdicts := make([][]string, files)
	for i := range verdicts {
		verdicts[i] = slices.Repeat([]string{"refuse"}, hunks)
	}
	decision, _ := json.Marshal(map[string]any{"hunks": verdicts, "comment": strings.Repeat("c", 1<<20)})
	if res, body := s.request(t, "POST", "/api/review/"+id, string(decision)); res.StatusCode != http.StatusOK {
		t.Errorf("a decision of %d bytes = %d %.200s", len(decision), res.StatusCode, body)
	}
}

// TestBrowserLargeProposal reads and decides a proposal of 1,200 hunks. Distant hunks are not
// drawn, but can be reached by keys.
func TestBrowserLargeProposal(t *testing.T) {
	stress.SkipQuick(t)
	const hunks = 1200
	s, agent := serveReview(t, nil)
	id := manyHunks(t, s, agent, 2, hunks/2)
	b := s.open(t, "/review/"+id, 1600, 1000, "light")
	b.has(".hunk.now", "1 of 1,200")
	if drawn := b.count(".hunk"); drawn > 500 {
		t.Errorf("%d hunks are drawn at once", drawn)
	}
	b.keys("n")
	b.until(`document.activeElement.dataset.k === "600" && document.activeElement.dataset.f === "1"`)
	b.keys("a")
	b.until(`document.activeElement.dataset.k === "601"`)
	eval[chromedp.Void](b, `[...document.querySelectorAll(".decide button")].find((x) => x.textContent === "Refuse the rest").click()`)
	b.has(".decide", "1199 refused")
	// Pressing Enter again while the decision is being sent has no effect.
	b.until(`document.activeElement.matches(".decide .primary")`)
	eval[chromedp.Void](b, `(() => { const f = fetch; window.posts = 0; window.fetch = (u, o) => { if (o?.method === "POST") posts++; return f(u, o); }; })()`)
	eval[chromedp.Void](b, `(() => { const p = document.querySelector(".decide .primary"); p.click(); p.click(); document.querySelector("main").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true })); })()`)
	b.has(".facts", "applied as")
	if n := eval[int](b, "posts"); n != 1 {
		t.Errorf("the decision was sent %d times", n)
	}
	if n := b.count(".toast.bad"); n > 0 {
		t.Errorf("%d complaints", n)
	}
	data, _ := os.ReadFile(filepath.Join(s.dir, "b.txt"))
	if !strings.HasPrefix(string(data), "new 0\na\n") || strings.Count(string(data), "new") != 1 {
		t.Errorf("b.txt begins with %.40q", data)
	}
}

// A file that is too long for one answer can be read to its end.
func TestBrowserWholeFile(t *testing.T) {
	stress.SkipQuick(t)
	s, agent := serveReview(t, nil)
	_, err := agent.Write(t.Context(), "big.txt", []byte(strings.Repeat("harmless\n", 210_000)+"EVIL\n"), nil)
	var pending *review.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("write = %v", err)
	}
	from, last := 0, ""
	for range 100 {
		res, body := s.request(t, "GET", fmt.Sprintf("/api/review/%s/whole?file=1&from=%d", pending.ID, from), "")
		var got struct {
			Parts []diffHunk
			Next  int
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != http.StatusOK || len(got.Parts) == 0 {
			t.Fatalf("%d %v %.200s", res.StatusCode, err, body)
		}
		lines := got.Parts[len(got.Parts)-1].Lines
		if last, from = lines[len(lines)-1].Text, got.Next; from == 0 {
			break
		}
		from = max(from, 416) // skip the middle
	}
	if last != "EVIL" {
		t.Errorf("the last line is %q", last)
	}
	b := s.open(t, "/review/"+pending.ID, 1600, 1000, "light")
	b.has(".dfile .head .plus", "+210,001")
	b.until(`scrollBy(0, 1e6) || [...document.querySelectorAll(".told button")].some((x) => x.textContent === "Read the whole diff")`)
	eval[chromedp.Void](b, `[...document.querySelectorAll(".told button")].find((x) => x.textContent === "Read the whole diff").click()`)
	b.until(`document.querySelector(".told .l.add")`)
}
