package changer

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"quarry/change"
)

// If the state folder is deleted or replaced, a running process begins a new undo log and
// can make, list and undo changes.
func TestStateFolderDeleted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows deletes no folder with open files")
	}
	for _, c := range []struct {
		name string
		harm func(state string) error
	}{
		{"deleted", os.RemoveAll},
		{"deleted with the one above", func(state string) error { return os.RemoveAll(filepath.Dir(state)) }},
		{"replaced", func(state string) error {
			if err := os.RemoveAll(state); err != nil {
				return err
			}
			return os.Mkdir(state, 0o700)
		}},
	} {
		dir, state := t.TempDir(), filepath.Join(t.TempDir(), "quarry", "journal")
		if err := os.MkdirAll(state, 0o700); err != nil {
			t.Fatal(err)
		}
		w := opened(t, dir, state)
		write := func(path string) string {
			t.Helper()
			made, err := w.Apply(context.Background(), change.Set{Ops: []change.Op{{Verb: change.WriteFile, Path: path, Content: []byte("x\n")}}})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return made.ID
		}
		first := write("a")
		if err := c.harm(state); err != nil {
			t.Fatal(err)
		}
		second, third := write("b"), write("c")
		if second == first || third <= second {
			t.Errorf("%s: ids %s, %s, %s", c.name, first, second, third)
		}
		other := opened(t, dir, state) // another process sees the changes
		log, err := other.Log(0)
		if err != nil || len(log.Changes) != 2 || log.Changes[0].ID != third || log.Lost != 0 {
			t.Errorf("%s: log %+v, %v", c.name, log, err)
		}
		if _, err := w.Undo(context.Background(), "", change.Options{}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "c")); !os.IsNotExist(err) {
			t.Errorf("%s: not undone", c.name)
		}
	}
}
