package changer

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"quarry/change"
	"quarry/internal/stress"
)

// Undoing a change of many files takes about as long as the change, and so does undoing
// the undo. With later changes to the same files it takes not much longer.
func TestUndoSpeed(t *testing.T) {
	stress.SkipTiny(t)
	stress.SkipRace(t)
	files, rounds, most := 400, 3, 1.5
	if os.Getenv("PERF") != "" {
		files, rounds, most = 16_000, 1, 1.2
	}
	text, set := map[string]string{}, change.Set{}
	for i := range files {
		name := fmt.Sprintf("d%d/n%d.md", i%50, i)
		text[name] = fmt.Sprintf("# note %d\n\nalpha beta gamma\n\n", i) + strings.Repeat(fmt.Sprintf("some more text of note %d\n", i), 60)
		set.Ops = append(set.Ops, change.Op{Verb: change.EditFile, Path: name})
	}
	w := changing(t, text)
	ctx := context.Background()
	least := map[string]time.Duration{}
	took := func(what string, f func() (*change.Change, error)) string {
		began := stress.CPU()
		c, err := f()
		if err != nil {
			t.Fatal(err)
		}
		if spent := stress.CPU() - began; least[what] == 0 || spent < least[what] {
			least[what] = spent
		}
		return c.ID
	}
	edit := func(old, new string) func() (*change.Change, error) {
		for i := range set.Ops {
			set.Ops[i].Edits = []change.Edit{{Old: old, New: new}}
		}
		return func() (*change.Change, error) { return w.Apply(ctx, set) }
	}
	for range rounds { // the fastest counts: other load can only make a round slower
		id := ""
		undo := func() (*change.Change, error) { return w.Undo(ctx, id, change.Options{}) }
		id = took("change", edit("beta", "BETA"))
		id = took("undo", undo)
		id = took("redo", undo)
		took("change", edit("# note", "# Note"))
		took("undo beneath", undo)
		took("change", edit("# Note", "# note"))
	}
	ratio := func(what string) float64 { return float64(least[what]) / float64(least["change"]) }
	t.Logf("%d files: changed in %v of processor time; undo %.2f times that, redo %.2f, undo beneath another change %.2f",
		files, least["change"], ratio("undo"), ratio("redo"), ratio("undo beneath"))
	if ratio("undo") > most || ratio("redo") > most || ratio("undo beneath") > 3 {
		t.Errorf("an undo costs more than %.1f times the change, or beneath another change 3 times", most)
	}
}
