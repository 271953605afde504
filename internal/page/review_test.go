package page

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
)

const thirty = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\n30\n"

// serveReview is a page with proposals, and the workspace of an agent behind
// the gate.
func serveReview(t testing.TB, files map[string]string) (*served, *quarry.Workspace) {
	t.Helper()
	dir := t.TempDir()
	store, err := review.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := serve(t, files, func(o *Options) { o.Review, o.Decide = store, o.Workspace.(review.Workspace) })
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

// TestBrowserReview decides by keyboard: one hunk of three is accepted, with a
// comment, and exactly that is written.
func TestBrowserReview(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty, "b.txt": "<b>&amp;\n"})
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".empty h2", "Nothing waits")
	id := propose(t, agent, "a.txt", change.Edit{Old: "2\n3\n", New: "two\n3\n", Occurrence: change.First}, change.Edit{Old: "15\n", New: "15\nand <script>pwned()</script>\n"}, change.Edit{Old: "28\n", New: ""})
	b.has("#waiting", "1") // it shows without a reload
	b.until(`location.pathname === "/review/` + id + `" && document.querySelectorAll(".hunk").length === 3`)
	b.has(".hunk.now", "1 of 3")
	b.keys("r")
	b.has(".hunk.now", "2 of 3")
	b.keys("c")
	b.until(`document.activeElement.matches("textarea")`)
	b.keys("keep it", kb.Escape)
	const said = `[...document.querySelectorAll(".say:not([hidden])")].some((e) => e.textContent.includes("keep it"))`
	b.until(said)
	b.until(`document.querySelector(".decide .primary").disabled`)
	// What was decided survives a reload.
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

// TestBrowserReviewStale: what changed since can't be accepted, and says so.
func TestBrowserReviewStale(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty})
	id := propose(t, agent, "a.txt", change.Edit{Old: "28\n", New: ""})
	write(t, filepath.Join(s.dir, "a.txt"), thirty+"31\n")
	b := s.open(t, "/review/"+id, 380, 800, "dark")
	b.has(".notice.warn", "Files changed since")
	b.until(`document.querySelector(".entry .tag.warn") || document.querySelector(".dfile .tag.warn")`)
	b.keys("a")
	b.has(".decide", "changed since the proposal")
	b.until(`document.querySelector(".decide .primary").disabled`)
	eval[chromedp.Void](b, `document.querySelector(".hunk").focus()`)
	b.keys("r", kb.Enter)
	b.until(`document.querySelector(".facts")?.textContent.includes("refused")`)
	if data, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); string(data) != thirty+"31\n" {
		t.Errorf("the file is %q", data)
	}
}

// A proposal of several files, one of them new, is shown.
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
