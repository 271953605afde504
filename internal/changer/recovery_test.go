package changer

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
)

// An interrupted change is completed or rolled back when the workspace is opened again.
func TestRecovery(t *testing.T) {
	for _, c := range []struct {
		name    string
		done    int    // steps carried out before the process died
		foreign string // content that another program then wrote to b.md
		a, b    string // the contents afterwards
		entries int
	}{
		{"before the first step", 0, "", "one\n", "one\n", 0},
		{"between the steps", 1, "", "one\n", "one\n", 0},
		{"after the last step", 2, "", "two\n", "two\n", 1},
		{"someone went on", 2, "foreign\n", "one\n", "foreign\n", 2},
		{"someone went on from the old content", 1, "foreign\n", "one\n", "foreign\n", 2},
		{"someone changed what was not begun", 0, "foreign\n", "one\n", "foreign\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			w := changing(t, map[string]string{"a.md": "one\n", "b.md": "one\n"})
			dir, state := w.root.RealDir(), w.state.root.RealDir()
			steps := []step{replaceStep(t, w, "a.md", "one", "two"), replaceStep(t, w, "b.md", "one", "two")}
			tx, err := w.state.journal.Begin(ctx, w.root, journal.Change{Tool: "test", Ops: []journal.Op{steps[0].op, steps[1].op}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range steps[:c.done] {
				if err := s.do(tx); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil { // without ending the change
				t.Fatal(err)
			}
			if c.foreign != "" {
				if err := os.WriteFile(filepath.Join(dir, "b.md"), []byte(c.foreign), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			again := opened(t, dir, state)
			if a, b := text(t, again, "a.md"), text(t, again, "b.md"); a != c.a || b != c.b {
				t.Errorf("a is %q, b is %q", a, b)
			}
			log, err := again.Log(0)
			if err != nil || len(log.Changes) != c.entries {
				t.Fatalf("the journal has %+v, %v", log, err)
			}
			if c.entries > 0 && log.Changes[0].Pending {
				t.Error("the change is still pending")
			}
			if c.foreign == "" {
				return
			}
			if c.entries == 2 && log.Changes[0].Summary != "rolled back change "+log.Changes[1].ID+", which was cut short; left as they are, changed since: 1" {
				t.Errorf("the log does not say that the change was rolled back: %+v", log.Changes)
			}
			if _, err := again.Undo(ctx, "", change.Options{}); fault.CodeOf(err) != fault.Conflict {
				t.Errorf("undo: %v", err)
			}
		})
	}
}
