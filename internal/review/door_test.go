package review_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"quarry/change"
	"quarry/internal/backend"
	"quarry/internal/review"
)

// methodsOf lists the methods of an interface.
func methodsOf[T any]() (names []string) {
	for m := range reflect.TypeFor[T]().Methods() {
		names = append(names, m.Name)
	}
	return names
}

// Every way to change files must go through the gate. The interface Changer has all of
// them; each is called here through a gate, and no file may change. The reading methods
// that the gate passes on are listed here. A new method fails this test until it is
// listed, or added to Changer if it changes files.
func TestGateCoversAllChanges(t *testing.T) {
	reading := []string{
		"Dir", "EachText", "Find", "Index", "Inside", "Read", "ReadBytes", "Remember", "SearchCode", "SearchEach", "Stat", "Symbols",
		"Authors", "Diff", "DiffAll", "Log", "Plan", "Point", "Purge", "Trashed",
	}
	for _, name := range append(methodsOf[backend.Reader](), methodsOf[backend.History]()...) {
		if !slices.Contains(reading, name) {
			t.Errorf("%s bypasses review: move it to backend.Changer unless it only reads", name)
		}
	}
	others := []string{"Close"}
	for _, name := range methodsOf[backend.Backend]() {
		if !slices.Contains(slices.Concat(reading, others, methodsOf[backend.Changer]()), name) {
			t.Errorf("%s of backend.Backend is in none of its parts", name)
		}
	}

	b := newBench(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"}, -1)
	ctx := t.Context()
	made, err := b.person.Write(ctx, "a.txt", []byte("1\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.person.Delete(ctx, "b.txt", nil); err != nil {
		t.Fatal(err)
	}
	before := b.tree()
	tries := map[string]func() error{
		"Apply": func() error {
			_, err := b.agent.Write(ctx, "a.txt", []byte("2\n"), nil)
			return err
		},
		"Undo": func() error {
			_, err := b.agent.Undo(ctx, made.ID, nil)
			return err
		},
		"Undo to a point": func() error {
			_, err := b.agent.Undo(ctx, "", &change.Options{To: &change.Back{}})
			return err
		},
		"Restore": func() error {
			_, err := b.agent.RestoreTrashed(ctx, "b.txt", "", nil)
			return err
		},
		"EmptyTrash": func() error {
			_, err := b.agent.EmptyTrash(ctx, time.Now().Add(time.Hour))
			return err
		},
		"Clean": func() error {
			_, err := b.agent.Clean(ctx)
			return errors.Join(err, errRemovesNoFile)
		},
	}
	for _, name := range append(methodsOf[backend.Changer](), "Undo to a point") {
		try := tries[name]
		if try == nil {
			t.Errorf("%s changes files and is not tried through a gate", name)
			continue
		}
		if err := try(); err == nil {
			t.Errorf("%s was made without a decision", name)
		}
		if after := b.tree(); after != before {
			t.Fatalf("%s changed files without a decision:\n%s\nbefore:\n%s", name, after, before)
		}
		list, err := b.store.Pending()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list { // otherwise the next call would be refused because of this proposal
			if _, err := b.store.Decide(ctx, b.person, p.ID, review.Decision{Rest: review.No}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// errRemovesNoFile marks a call that may succeed without a decision, because it only
// removes temporary files.
var errRemovesNoFile = errors.New("removes left-over temporary files only")
