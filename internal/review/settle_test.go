package review_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
)

// dying is a workspace whose process seems to end while it applies a proposal: before the
// first step, or before it can report the result.
type dying struct {
	*quarry.Workspace
	done bool
}

type died struct{}

func (d dying) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	if d.done {
		if _, err := d.Workspace.Apply(ctx, set); err != nil {
			return nil, err
		}
	}
	panic(died{})
}

func (d dying) Undo(ctx context.Context, id string, o *change.Options) (*change.Change, error) {
	if d.done {
		if _, err := d.Workspace.Undo(ctx, id, o); err != nil {
			return nil, err
		}
	}
	panic(died{})
}

// If a process is killed while applying a proposal, the next one determines whether it
// was applied, for every kind of change.
func TestSettleKnowsWhatHappened(t *testing.T) {
	files := map[string]string{"a.txt": "a\n", "d/one.txt": "1\n"}
	agent := change.Client{Name: "agent"}
	kinds := map[string]change.Op{
		"edit": {Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "a", New: "b"}}}, "create": {Verb: change.CreateFile, Path: "new.txt", Content: []byte("n\n")},
		"move": {Verb: change.MovePath, Path: "a.txt", To: "b.txt"}, "move folder": {Verb: change.MovePath, Path: "d", To: "e"},
		"delete": {Verb: change.DeletePath, Path: "a.txt"}, "delete folder": {Verb: change.DeletePath, Path: "d"}, "folder": {Verb: change.MakeFolder, Path: "n/m"},
	}
	for name, op := range kinds {
		for _, done := range []bool{false, true} {
			for _, undo := range []bool{false, true} {
				b := newBench(t, files, -1)
				set := change.Set{Ops: []change.Op{op}, Tool: "tool", Client: agent}
				if undo {
					c, err := b.person.Apply(t.Context(), set)
					if err != nil {
						t.Fatal(err)
					}
					if _, err = b.agent.Undo(t.Context(), c.ID, &change.Options{Tool: "tool", Client: agent}); err == nil {
						t.Fatal("undone without a decision")
					}
				} else if _, err := b.agent.Apply(t.Context(), set); err == nil {
					t.Fatal("applied without a decision")
				}
				id := b.only().ID
				func() {
					defer func() {
						if p := recover(); p != (died{}) {
							t.Fatalf("%s: ended with %v", name, p)
						}
					}()
					_, err := b.store.Decide(t.Context(), dying{b.person, done}, id, review.Decision{Rest: review.Yes})
					t.Errorf("%s: %v", name, err)
				}()
				// The next process must not wait for the first one's lock.
				next, err := review.Open(b.reviews)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(next.Settle(t.Context(), b.person), next.Close()); err != nil {
					t.Fatal(err)
				}
				p, err := b.store.Get(id)
				if err != nil {
					t.Fatal(err)
				}
				want := review.Waiting
				if done {
					want = review.Accepted
				}
				if p.State != want || done != (p.Change != "") {
					t.Errorf("%s, done %v, undo %v: state %s, change %q", name, done, undo, p.State, p.Change)
				}
			}
		}
	}
}

// A change of the same file by the same client and tool, but not from the proposal, is
// not mistaken for the proposal's change.
func TestSettleDoesNotGuess(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\nb\n"}, -1)
	set := change.Set{Tool: "tool", Client: change.Client{Name: "agent"}, Ops: []change.Op{{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "a", New: "A"}}}}}
	if _, err := b.agent.Apply(t.Context(), set); err == nil {
		t.Fatal("applied without a decision")
	}
	id := b.only().ID
	func() {
		defer func() {
			if p := recover(); p != (died{}) {
				t.Fatalf("ended with %v", p)
			}
		}()
		_, err := b.store.Decide(t.Context(), dying{b.person, false}, id, review.Decision{Rest: review.Yes})
		t.Error(err)
	}()
	set.Ops[0].Edits = []change.Edit{{Old: "b", New: "B"}}
	made, err := b.person.Apply(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.Settle(t.Context(), b.person); err != nil {
		t.Fatal(err)
	}
	p, err := b.store.Get(id)
	if err != nil || p.State != review.Waiting || p.Change != "" {
		t.Errorf("state %s, change %q (made by others: %s), %v; want waiting", p.State, p.Change, made.ID, err)
	}
}

// The proposal's change is recognized even though the journal cuts long client names and
// its log masks hidden files.
func TestSettleKnowsMaskedChanges(t *testing.T) {
	for name, client := range map[string]string{"a long name": strings.Repeat("agent ", 40), "a closed file": "agent"} {
		b := newBench(t, map[string]string{".env": "KEY=old\n"}, -1)
		open := func(r *quarry.ReviewOptions) *quarry.Workspace {
			ws, err := quarry.Open(b.dir, &quarry.Options{StateDir: b.state, Allow: []string{".env"}, Review: r})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { ws.Close() })
			return ws
		}
		set := change.Set{Tool: "tool", Client: change.Client{Name: client}, Ops: []change.Op{{Verb: change.EditFile, Path: ".env", Edits: []change.Edit{{Old: "old", New: "new"}}}}}
		_, err := open(&quarry.ReviewOptions{Dir: b.reviews, Wait: -1}).Apply(t.Context(), set)
		if pending := (*change.PendingError)(nil); !errors.As(err, &pending) {
			t.Fatalf("%v, want a proposal that waits", err)
		}
		id, allowed := b.only().ID, open(nil)
		func() {
			defer func() {
				if p := recover(); p != (died{}) {
					t.Fatalf("%s: ended with %v", name, p)
				}
			}()
			_, err := b.store.Decide(t.Context(), dying{allowed, true}, id, review.Decision{Rest: review.Yes})
			t.Errorf("%s: %v", name, err)
		}()
		settler := b.person // this workspace may not read the file
		if name == "a long name" {
			settler = allowed
		}
		if err := b.store.Settle(t.Context(), settler); err != nil {
			t.Fatal(err)
		}
		p, err := b.store.Get(id)
		if err != nil || p.State != review.Accepted || p.Change == "" {
			t.Errorf("%s: state %s, change %q, %v; want accepted", name, p.State, p.Change, err)
		}
	}
}
