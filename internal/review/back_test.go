package review_test

import (
	"errors"
	"testing"

	"quarry/change"
	"quarry/internal/review"
)

// Going back to a point is a proposal like other changes. If accepted, it undoes the changes
// that it showed. Later changes are kept; if they are in the same files, it is refused.
func TestGoingBackIsProposed(t *testing.T) {
	for _, c := range []struct {
		name, later string // the file that is changed before the decision
		stale       bool
	}{
		{"no later change", "", false},
		{"a later change", "c.txt", false},
		{"a later change of its file", "b.txt", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}, -1)
			ctx := t.Context()
			write := func(name, text string) {
				t.Helper()
				if _, err := b.person.Write(ctx, name, []byte(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.person.Point(ctx, "start"); err != nil {
				t.Fatal(err)
			}
			log, err := b.person.Changes(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			write("a.txt", "A\n")
			write("b.txt", "B\n")
			back := &change.Options{To: &change.Back{Since: log.Points[0].Time, Name: "start"}, Client: change.Client{Name: "agent"}}
			_, err = b.agent.Undo(ctx, "", back)
			pending, ok := errors.AsType[*change.PendingError](err)
			if !ok || b.read("a.txt")+b.read("b.txt") != "A\nB\n" {
				t.Fatalf("not a proposal: %v", err)
			}
			p, err := b.store.Get(pending.ID)
			if err != nil || len(p.Files) != 2 || p.Files[0].Hunks[0].Text != "-A\n+a\n" {
				t.Fatalf("proposed %+v, %v", p, err)
			}
			if c.later != "" {
				write(c.later, "later\n")
			}
			p, err = b.store.Decide(ctx, b.person, pending.ID, review.Decision{By: "shell", Rest: review.Yes})
			if c.stale {
				if _, ok := errors.AsType[*review.StaleError](err); !ok || b.read("a.txt") != "A\n" {
					t.Errorf("accepted: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := "a\nb\nc\n"
			if c.later != "" {
				want = "a\nb\nlater\n"
			}
			if got := b.read("a.txt") + b.read("b.txt") + b.read("c.txt"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if log, err = b.person.Changes(ctx, 1); err != nil || log.Changes[0].Proposal != p.ID || log.Changes[0].Client.Name != "agent" {
				t.Errorf("the log has %+v, %v", log.Changes, err)
			}
		})
	}
}
