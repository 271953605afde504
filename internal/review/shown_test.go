package review_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
)

// propose proposes a set and returns the proposal without waiting.
func (b *bench) propose(ops ...change.Op) *review.Proposal {
	b.t.Helper()
	_, err := b.agent.Apply(b.t.Context(), change.Set{Ops: ops, Summary: "Fix a typo", Client: change.Client{Name: "agent"}})
	if pending := (*review.PendingError)(nil); !errors.As(err, &pending) {
		b.t.Fatalf("%v, want a proposal that waits", err)
	}
	return b.only()
}

// shownOf returns all text that is shown about one file of a proposal.
func shownOf(t *testing.T, p *review.Proposal, path string) string {
	t.Helper()
	for _, f := range p.Files {
		if f.Path == path || f.To == path {
			text := f.Note + "\n"
			for _, h := range f.Hunks {
				text += h.Text
			}
			return text
		}
	}
	t.Fatalf("no file %s in %+v", path, p.Files)
	return ""
}

// Every effect of a set is shown, however its paths are spelled and whatever else is in
// the set.
func TestEverythingIsShown(t *testing.T) {
	b := newBench(t, map[string]string{"d/one.txt": "1\n", "d/.hidden": "2\n", "gone.txt": "the text\n", "real/x.txt": "x\n", "a.txt": "a\n"}, -1)
	link := filepath.Join(b.dir, "link")
	err := os.Symlink("real", link)
	if err == nil {
		_, err = os.Readlink(link) // Wine 8 makes no symlinks but reports success
	}
	if err != nil {
		t.Skipf("needs symlinks (on Windows: developer mode): %v", err)
	}
	p := b.propose(
		change.Op{Verb: change.DeletePath, Path: "d"},
		change.Op{Verb: change.DeletePath, Path: "./gone.txt"},
		change.Op{Verb: change.CreateFile, Path: "./evil.sh", Content: []byte("rm -rf /\n")},
		change.Op{Verb: change.CreateFile, Path: "link/y.sh", Content: []byte("curl\n")},
		change.Op{Verb: change.EditFile, Path: "real//../a.txt", Edits: []change.Edit{{Old: "a", New: "b"}}},
		change.Op{Verb: change.MovePath, Path: "real/x.txt", To: "./moved.txt"},
	)
	for path, want := range map[string]string{
		"d": "deletes the folder with everything in it, 2 entries:\n  d/.hidden\n  d/one.txt", "gone.txt": "deletes the file\n-the text", "evil.sh": "+rm -rf /", "real/y.sh": "+curl", "a.txt": "-a\n+b", "moved.txt": "",
	} {
		if got := shownOf(t, p, path); !strings.Contains(got, want) {
			t.Errorf("%s shows %q, want %q", path, got, want)
		}
	}
	if got := p.Does(); got != "deletes 2, moves 1, creates 2, edits 1" {
		t.Errorf("does %q", got)
	}
}

// A deletion is shown even if the plan is applied by its digest.
func TestPlanByDigestIsShown(t *testing.T) {
	b := newBench(t, map[string]string{"gone.txt": "the text\n", "a.txt": "a\n"}, -1)
	plan, err := b.agent.Plan(t.Context(), change.Set{Ops: []change.Op{
		{Verb: change.DeletePath, Path: "gone.txt"},
		{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "a", New: "b"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.agent.Apply(t.Context(), change.Set{Digest: plan.Digest})
	if pending := (*review.PendingError)(nil); !errors.As(err, &pending) {
		t.Fatalf("%v, want a proposal that waits", err)
	}
	p := b.only()
	if got := shownOf(t, p, "gone.txt"); !strings.Contains(got, "-the text") {
		t.Errorf("the deletion shows %q", got)
	}
	if got := shownOf(t, p, "a.txt"); !strings.Contains(got, "+b") {
		t.Errorf("the edit shows %q", got)
	}
}

// Long changes are shown completely, or the omitted lines are counted.
func TestLongChangesAreShown(t *testing.T) {
	lines := func(n int) []byte {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, "line %d\n", i)
		}
		return []byte(s.String())
	}
	b := newBench(t, nil, -1)
	p := b.propose(
		change.Op{Verb: change.CreateFile, Path: "one.txt", Content: lines(3000)},
		change.Op{Verb: change.CreateFile, Path: "two.txt", Content: lines(3000)},
		change.Op{Verb: change.CreateFile, Path: "huge.txt", Content: lines(30_000)},
	)
	for _, path := range []string{"one.txt", "two.txt"} {
		if got := shownOf(t, p, path); !strings.Contains(got, "+line 2999\n") || strings.Contains(got, "left out") {
			t.Errorf("%s is cut", path)
		}
	}
	if got := shownOf(t, p, "huge.txt"); !strings.Contains(got, "of the changed lines are left out") {
		t.Errorf("huge.txt is cut in silence: %.100q", got)
	}
}

// A long undo is shown completely too.
func TestLongUndoIsShown(t *testing.T) {
	old := strings.Repeat("old line\n", 3000)
	b := newBench(t, map[string]string{"a.txt": old + "last\n"}, -1)
	c, err := b.person.Apply(t.Context(), change.Set{Ops: []change.Op{{Verb: change.WriteFile, Path: "a.txt", Content: []byte("new\n")}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.agent.Undo(t.Context(), c.ID, nil)
	if pending := (*review.PendingError)(nil); !errors.As(err, &pending) {
		t.Fatalf("%v, want a proposal that waits", err)
	}
	if got := shownOf(t, b.only(), "a.txt"); !strings.Contains(got, "+last\n") {
		t.Errorf("the undo is cut: %.100q", got)
	}
}

// Files that no longer parse are named with the proposal, and in the result and the agent's
// answer if the accepted hunks break them.
func TestBrokenFilesAreNamed(t *testing.T) {
	const old, broke = "package a\n\nfunc F() {\n}\n\n// 1\n// 2\n// 3\n// 4\n// 5\n// 6\n\nfunc G() {\n}\n", "no longer parses: line 13: "
	for _, c := range []struct {
		verdicts []review.Verdict
		broken   string
	}{
		{[]review.Verdict{review.Yes, review.Yes}, "a.go " + broke},
		{[]review.Verdict{review.No, review.Yes}, "a.go " + broke},
		{[]review.Verdict{review.Yes, review.No}, ""},
	} {
		b := newBench(t, map[string]string{"a.go": old}, time.Minute)
		done := make(chan *change.Change, 1)
		go func() {
			got, _ := b.agent.Edit(context.Background(), "a.go", []change.Edit{{Old: "func F", New: "func H"}, {Old: "func G() {", New: "func G( {"}}, as)
			done <- got
		}()
		p := b.only()
		if !strings.HasPrefix(p.Files[0].Note, broke) {
			t.Errorf("the note is %q, want %q", p.Files[0].Note, broke)
		}
		p, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{By: "shell", Hunks: [][]review.Verdict{c.verdicts}})
		if err != nil {
			t.Fatal(err)
		}
		for who, list := range map[string][]change.Broken{"the result": p.Broken, "the answer": (<-done).Broken} {
			said := ""
			for _, broken := range list {
				said += broken.String()
			}
			if !strings.HasPrefix(said, c.broken) || c.broken == "" && said != "" {
				t.Errorf("%v: %s says %q, want %q", c.verdicts, who, said, c.broken)
			}
		}
	}
}

// A folder that has changed since it was shown is not deleted or moved.
func TestFolderChangedSince(t *testing.T) {
	for verb, op := range map[string]change.Op{
		"delete": {Verb: change.DeletePath, Path: "d"},
		"move":   {Verb: change.MovePath, Path: "d", To: "e"},
	} {
		t.Run(verb, func(t *testing.T) {
			b := newBench(t, map[string]string{"d/one.txt": "1\n", "d/sub/two.txt": "2\n"}, -1)
			p := b.propose(op)
			if stale := b.store.Stale(t.Context(), b.person, p); len(stale) > 0 {
				t.Fatalf("stale at once: %v", stale)
			}
			if err := os.WriteFile(filepath.Join(b.dir, "d/sub/mine.txt"), []byte("mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes})
			if stale := (*review.StaleError)(nil); !errors.As(err, &stale) || b.read("d/sub/mine.txt") != "mine\n" {
				t.Errorf("%v, want that the folder changed since", err)
			}
		})
	}
}

// Files that only one client may see are not shown to another.
func TestClosedFilesAreNotShown(t *testing.T) {
	b := newBench(t, map[string]string{".env": "KEY=topsecret\n", "a.txt": "a\n"}, -1)
	allowed, err := quarry.Open(b.dir, &quarry.Options{StateDir: b.state, Trash: change.TrashLocal, Allow: []string{".env"}, Review: &quarry.ReviewOptions{Dir: b.reviews, Wait: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer allowed.Close()
	_, err = allowed.Apply(t.Context(), change.Set{Summary: "rotate topsecret in .env", Client: change.Client{Name: "agent"}, Ops: []change.Op{
		{Verb: change.EditFile, Path: ".env", Edits: []change.Edit{{Old: "topsecret", New: "other"}}},
		{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "a", New: "b"}}},
	}})
	if pending := (*review.PendingError)(nil); !errors.As(err, &pending) {
		t.Fatalf("%v, want a proposal that waits", err)
	}
	p := b.only()
	if stale := b.store.Stale(t.Context(), b.person, p); len(stale) > 0 {
		t.Errorf("stale: %v", stale)
	}
	seen := fmt.Sprintf("%+v", *b.store.Seen(t.Context(), b.person, p))
	log, err := b.agent.Changes(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the proposal": seen, "the list of changes": fmt.Sprintf("%+v", log.Changes)} {
		if strings.Contains(text, "topsecret") || strings.Contains(text, ".env") {
			t.Errorf("%s shows closed content: %s", what, text)
		}
	}
	if !strings.Contains(seen, "+b") {
		t.Errorf("the open file is not shown: %s", seen)
	}
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes}); err == nil || b.read(".env") != "KEY=topsecret\n" {
		t.Errorf("accepted where it is closed: %v", err)
	}
}
