package changer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// Processes can edit different places of one file concurrently, although their locks are
// independent. No edit is lost.
func TestDisjointEditsOfOneFile(t *testing.T) {
	const processes, edits = 10, 5
	var b strings.Builder
	for i := range processes * edits {
		fmt.Fprintf(&b, "line %d old\nbetween\n", i)
	}
	w := changing(t, map[string]string{"f": b.String()})
	state := t.TempDir()
	var wait sync.WaitGroup
	for p := range processes {
		other := opened(t, w.root.RealDir(), state)
		wait.Go(func() {
			for e := range edits {
				n := p*edits + e
				_, err := other.Apply(context.Background(), change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "f", Edits: []change.Edit{{Old: fmt.Sprintf("line %d old", n), New: fmt.Sprintf("line %d new", n)}}}}})
				if err != nil {
					t.Errorf("edit %d of process %d: %v", e, p, err)
				}
			}
		})
	}
	wait.Wait()
	if got := text(t, w, "f"); got != strings.ReplaceAll(b.String(), "old", "new") {
		t.Errorf("edits are lost: %d of %d are there", strings.Count(got, "new"), processes*edits)
	}
}

// If a file changes between reading and writing, a caller that specified a version gets a
// conflict. Otherwise the edit is made on the new content, and refused if its text is
// gone.
func TestPlannedAgain(t *testing.T) {
	for _, c := range []struct {
		name, meanwhile string
		version         bool
		want            string // "" means a conflict, "?" that the text is not found
	}{
		{"elsewhere", "new head\nbody\n", false, "new head\nchanged\n"},
		{"elsewhere, with a version", "new head\nbody\n", true, ""},
		{"the same text", "head\nother\n", false, "?"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte("head\nbody\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		once := false
		layer := &rootfs.Layer{Before: func(call string) error {
			if !once { // right before the new content is written
				once = true
				if err := os.WriteFile(file, []byte(c.meanwhile), 0o644); err != nil {
					t.Error(err)
				}
			}
			return nil
		}}
		root, err := rootfs.Open(dir, &rootfs.Options{Layer: layer})
		if err != nil {
			t.Fatal(err)
		}
		w, err := Open(root, &Options{StateDir: t.TempDir(), Trash: change.TrashNone, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		op := change.Op{Verb: change.EditFile, Path: "f", Edits: []change.Edit{{Old: "body", New: "changed"}}}
		if c.version {
			op.Version = version.Of([]byte("head\nbody\n")).String()
		}
		_, err = w.Apply(context.Background(), change.Set{Ops: []change.Op{op}})
		if !once {
			t.Fatalf("%s: nothing came between", c.name)
		}
		var missing *change.NotFoundError
		switch {
		case c.want == "" && !errors.Is(err, fault.Conflict), c.want == "?" && !errors.As(err, &missing):
			t.Errorf("%s: %v", c.name, err)
		case len(c.want) > 1 && (err != nil || text(t, w, "f") != c.want):
			t.Errorf("%s: %v, %q", c.name, err, text(t, w, "f"))
		}
		w.Close()
		root.Close()
	}
}
