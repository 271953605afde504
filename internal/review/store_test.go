package review_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// decided makes n proposals, each of which is decided and reported to its client.
func (b *bench) decided(n int) {
	b.t.Helper()
	client := change.Client{Name: "agent"}
	for i := range n {
		o := change.Options{Client: client}
		if _, err := b.agent.Write(b.t.Context(), fmt.Sprintf("f%d.txt", i), []byte("x\n"), &o); err == nil {
			b.t.Fatal("the write did not wait for a decision")
		}
		p := b.only()
		if _, err := b.store.Decide(b.t.Context(), b.person, p.ID, review.Decision{Rest: review.No, By: "shell"}); err != nil {
			b.t.Fatal(err)
		}
		if news, err := b.store.News(change.Client{Name: client.Name, Session: "later"}); err != nil || len(news) != 0 {
			b.t.Errorf("a later session is told %v, %v", news, err)
		}
		if news, err := b.store.News(client); err != nil || len(news) != 1 {
			b.t.Fatalf("news: %v, %v", news, err)
		}
	}
}

// Waiting proposals are found without reading settled ones. Settled ones are still listed
// and found by id, and their numbers aren't reused.
func TestSettledAreNotRead(t *testing.T) {
	b := newBench(t, nil, -1)
	b.decided(12)
	s := b.store
	kept := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(b.reviews, "p-*.json"))
	if err != nil || len(files) != 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	damage := func(with func(file string) []byte) {
		for _, f := range files {
			if err := os.WriteFile(f, with(f), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, f := range files {
		if kept[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	damage(func(string) []byte { return []byte("{") }) // so that reading a proposal fails
	for _, f := range []func() ([]*review.Proposal, error){s.Pending, func() ([]*review.Proposal, error) { return s.News(change.Client{Name: "agent"}) }} {
		if list, err := f(); err != nil || len(list) != 0 {
			t.Errorf("%v, %v; want none", list, err)
		}
	}
	if _, err := s.List(); err == nil {
		t.Error("damaged proposals are listed: this shows nothing")
	}
	damage(func(f string) []byte { return kept[f] })
	list, err := s.List()
	if err != nil || len(list) != 12 || list[0].ID != "p-0012" || list[0].State != review.Refused {
		t.Errorf("all: %v, %v", list, err)
	}
	if p, err := s.Get("p-0003"); err != nil || p.State != review.Refused {
		t.Errorf("p-0003: %v, %v", p, err)
	}
	o := change.Options{Client: change.Client{Name: "agent"}}
	if _, err := b.agent.Write(t.Context(), "g.txt", []byte("x\n"), &o); err == nil {
		t.Fatal("the write did not wait for a decision")
	}
	if p := b.only(); p.ID != "p-0013" {
		t.Errorf("the next one is %s, want p-0013", p.ID)
	}
	// A settled proposal can't be decided again.
	if _, err := s.Decide(t.Context(), b.person, "p-0003", review.Decision{Rest: review.Yes, By: "shell"}); err == nil {
		t.Error("a settled proposal was decided again")
	}
}

// Decided proposals beyond the newest 200 are removed. Waiting ones are kept, however
// old.
func TestOldOnesAreDropped(t *testing.T) {
	b := newBench(t, nil, -1)
	b.decided(1)
	data, err := os.ReadFile(filepath.Join(b.reviews, "p-0001.settled.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 2; i <= 230; i++ {
		text := strings.ReplaceAll(string(data), "p-0001", fmt.Sprintf("p-%04d", i))
		name := "p-%04d.settled.json"
		if i == 3 { // as written by an older version
			name = "p-%04d.json"
		}
		if err := os.WriteFile(filepath.Join(b.reviews, fmt.Sprintf(name, i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := change.Options{Client: change.Client{Name: "agent"}}
	if _, err := b.agent.Write(t.Context(), "g.txt", []byte("x\n"), &o); err == nil {
		t.Fatal("the write did not wait for a decision")
	}
	if p := b.only(); p.ID != "p-0231" {
		t.Errorf("the next one is %s, want p-0231", p.ID)
	}
	list, err := b.store.List()
	if err != nil || len(list) != 201 || list[200].ID != "p-0031" {
		t.Errorf("%d are left, %v", len(list), err)
	}
}

// A summary from an agent is reduced to one line, and counts include the whole change.
func TestLongWordsAndCounts(t *testing.T) {
	stress.SkipShort(t)
	b := newBench(t, nil, -1)
	_, err := b.agent.Apply(t.Context(), change.Set{
		Summary: strings.Repeat("S\n", 100_000), Tool: strings.Repeat("t", 500), Client: change.Client{Name: strings.Repeat("c", 500)},
		Ops: []change.Op{{Verb: change.CreateFile, Path: "big.txt", Content: []byte(strings.Repeat("a line\n", 200_001))}},
	})
	if err == nil {
		t.Fatal("it was made")
	}
	p := b.only()
	if len(p.Summary) > 400 || !strings.HasSuffix(p.Summary, "[cut: 199999 characters]") || len(p.Tool) > 200 {
		t.Errorf("summary %q, tool %q", p.Summary, p.Tool)
	}
	if add, del := p.Lines(); add != 200_001 || del != 0 {
		t.Errorf("+%d -%d", add, del)
	}
	// Omitted lines can be read until the proposal is decided.
	f, err := b.store.Whole(t.Context(), b.person, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Lines(); l != (review.Lines{Added: 200_001}) || f.Cut != (review.Lines{}) || strings.Count(f.Hunks[0].Text, "\n") != 200_001 || strings.Contains(f.Note, "left out") {
		t.Errorf("whole: %+v, cut %+v, note %q", l, f.Cut, f.Note)
	}
	if p, err = b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes, By: "shell"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Whole(t.Context(), b.person, p, 0); err == nil {
		t.Error("a decided proposal is worked out again")
	}
	log, err := b.person.Changes(t.Context(), 1)
	if err != nil || len(log.Changes[0].Summary) > 400 || len(log.Changes[0].Client.Name) > 200 || len(log.Changes[0].Tool) > 200 {
		t.Errorf("change %+v, %v", log, err)
	}
}

// A long edit and its undo can be read completely, unless the file has changed since.
func TestWholeOfEditAndUndo(t *testing.T) {
	stress.SkipShort(t)
	b := newBench(t, map[string]string{"big.txt": strings.Repeat("a line of text\n", 100_000)}, -1)
	check := func() {
		t.Helper()
		p := b.only()
		if p.Files[0].Cut == (review.Lines{}) {
			t.Fatal("nothing is left out")
		}
		if add, del := p.Lines(); add != 100_000 || del != 100_000 {
			t.Errorf("+%d -%d", add, del)
		}
		f, err := b.store.Whole(t.Context(), b.person, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if l := f.Lines(); l != (review.Lines{Added: 100_000, Removed: 100_000}) {
			t.Errorf("whole: %+v", l)
		}
	}
	if _, err := b.agent.Write(t.Context(), "big.txt", []byte(strings.Repeat("another line\n", 100_000)), nil); err == nil {
		t.Fatal("it was made")
	}
	check()
	p, err := b.store.Decide(t.Context(), b.person, "p-0001", review.Decision{Rest: review.Yes, By: "shell"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.agent.Undo(t.Context(), p.Change, nil); err == nil {
		t.Fatal("it was undone")
	}
	check()
	if err := os.WriteFile(filepath.Join(b.dir, "big.txt"), []byte("by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stale *review.StaleError
	if _, err := b.store.Whole(t.Context(), b.person, b.only(), 0); !errors.As(err, &stale) {
		t.Errorf("whole of a file that changed = %v", err)
	}
}

// If the store's folder is deleted or replaced, all processes that have it open go on with a new
// one.
func TestStoreFolderDeleted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows deletes no folder with open files")
	}
	for name, harm := range map[string]func(dir string) error{
		"deleted":                    os.RemoveAll,
		"deleted with the one above": func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) },
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700))
		},
	} {
		b := newBench(t, nil, -1)
		dir := filepath.Join(t.TempDir(), "quarry", "reviews")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		agent := b.open(&quarry.ReviewOptions{Dir: dir, Wait: -1})
		store, err := review.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if err := store.ShowAt("http://page/"); err != nil {
			t.Fatal(err)
		}
		propose := func(path string) {
			t.Helper()
			_, err := agent.Write(t.Context(), path, []byte("x\n"), &change.Options{Client: change.Client{Name: "agent"}})
			if _, waits := errors.AsType[*review.PendingError](err); !waits {
				t.Errorf("%s: %v", name, err)
			}
		}
		propose("a")
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		propose("b")
		list, err := store.Pending()
		if err != nil || len(list) != 1 || list[0].Paths()[0] != "b" {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
		if at := store.Page("1"); at != "http://page/1" {
			t.Errorf("%s: page %q", name, at)
		}
		if _, err := store.Decide(t.Context(), b.person, list[0].ID, review.Decision{Rest: review.Yes, By: "shell"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(b.dir, "b")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
