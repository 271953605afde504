//go:build linux && !portable

package changer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// between returns a Changer for three files. It calls foreign, which simulates another
// program, after a set has changed the first file and before it changes the last.
func between(t *testing.T, foreign func(write func(name, content string))) (*Changer, string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		write(name, manyLines("old"))
	}
	once := false
	layer := &rootfs.Layer{Before: func(string) error {
		if once {
			return nil
		}
		if b, err := os.ReadFile(filepath.Join(dir, "b")); err == nil && strings.Contains(string(b), "new") {
			once = true
			foreign(write)
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
	t.Cleanup(func() {
		w.Close()
		root.Close()
		if !once {
			t.Error("nothing came between")
		}
	})
	return w, dir
}

// manyLines returns a text with word in line 5. The foreign program edits the first line.
func manyLines(word string) string {
	var b strings.Builder
	for i := range 10 {
		if i == 5 {
			b.WriteString(word + "\n")
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func edited(text string) string { return strings.Replace(text, "line 0", "Line 0 of someone else", 1) }

// A set that meets foreign changes half-way is rolled back, without removing those, and
// applied again to the present files.
func TestSetAmongForeignChanges(t *testing.T) {
	set := func(version string) change.Set {
		var s change.Set
		for _, name := range []string{"a", "b", "c"} {
			s.Ops = append(s.Ops, change.Op{Verb: change.EditFile, Path: name, Version: version, Edits: []change.Edit{{Old: "old", New: "new"}}})
		}
		return s
	}
	was := version.Of([]byte(manyLines("old"))).String()
	for _, c := range []struct {
		name     string
		set      change.Set
		foreign  map[string]string
		want     map[string]string // "" for c: as the set leaves it
		conflict bool
		partial  bool
	}{
		{
			name:    "elsewhere in a changed file and in one to be changed",
			set:     set(""),
			foreign: map[string]string{"a": edited(manyLines("new")), "c": edited(manyLines("old"))},
			want:    map[string]string{"a": edited(manyLines("new")), "b": manyLines("new"), "c": edited(manyLines("new"))},
		},
		{
			name:    "an editor saves what it had read before",
			set:     set(""),
			foreign: map[string]string{"a": edited(manyLines("old")), "c": edited(manyLines("old"))},
			want:    map[string]string{"a": edited(manyLines("new")), "b": manyLines("new"), "c": edited(manyLines("new"))},
		},
		{
			name:     "with versions",
			set:      set(was),
			foreign:  map[string]string{"a": edited(manyLines("new")), "c": edited(manyLines("old"))},
			want:     map[string]string{"a": edited(manyLines("old")), "b": manyLines("old"), "c": edited(manyLines("old"))},
			conflict: true,
		},
		{
			name:     "the text of the set itself",
			set:      set(was),
			foreign:  map[string]string{"a": manyLines("newer"), "c": edited(manyLines("old"))},
			want:     map[string]string{"a": manyLines("newer"), "b": manyLines("old"), "c": edited(manyLines("old"))},
			conflict: true, partial: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, dir := between(t, func(write func(name, content string)) {
				for name, content := range c.foreign {
					write(name, content)
				}
			})
			_, err := w.Apply(context.Background(), c.set)
			if c.conflict != errors.Is(err, fault.Conflict) || !c.conflict && err != nil || c.partial != partial(err) {
				t.Errorf("%v", err)
			}
			for name, want := range c.want {
				if got := mustRead(t, dir, name); got != want {
					t.Errorf("%s has\n%s", name, got)
				}
			}
			log, err := w.Log(0)
			if err != nil {
				t.Fatal(err)
			}
			for _, ch := range log.Changes {
				if ch.Pending {
					t.Errorf("pending: %+v", ch)
				}
			}
			if entries := map[bool]int{true: 0, false: 1}[c.conflict]; !c.partial && len(log.Changes) != entries {
				t.Errorf("the log has %d changes", len(log.Changes))
			}
		})
	}
}

func mustRead(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A set that is cancelled half-way is rolled back as a whole. So is its undo.
func TestCancelledHalfWay(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w, dir := between(t, func(func(name, content string)) { cancel() })
	var set change.Set
	for _, name := range []string{"a", "b", "c"} {
		set.Ops = append(set.Ops, change.Op{Verb: change.EditFile, Path: name, Edits: []change.Edit{{Old: "old", New: "new"}}})
	}
	if _, err := w.Apply(ctx, set); !errors.Is(err, change.ErrRolledBack) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if got := mustRead(t, dir, name); got != manyLines("old") {
			t.Errorf("%s has\n%s", name, got)
		}
	}
	if log, err := w.Log(0); err != nil || len(log.Changes) != 0 {
		t.Errorf("the log has %+v, %v", log, err)
	}
	c, err := w.Apply(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	during := &endsWhen{Context: context.Background(), over: func() bool { return mustRead(t, dir, "b") == manyLines("old") }}
	if _, err := w.Undo(during, c.ID, change.Options{}); !errors.Is(err, change.ErrRolledBack) {
		t.Errorf("undo: %v", err)
	}
	if got := mustRead(t, dir, "a") + mustRead(t, dir, "b") + mustRead(t, dir, "c"); got != strings.Repeat(manyLines("new"), 3) {
		t.Errorf("after an undo that was cancelled:\n%s", got)
	}
	// ctx is cancelled from the start, so nothing is done at all. The answer is the same.
	_, err = w.Undo(ctx, c.ID, change.Options{})
	_, again := w.Apply(ctx, set)
	_, to := w.Undo(ctx, "", change.Options{To: &change.Back{Since: c.Time.Add(-time.Hour)}})
	for _, err := range []error{err, again, to} {
		if !errors.Is(err, change.ErrRolledBack) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before it began: %v", err)
		}
	}
	if _, err := w.Undo(context.Background(), c.ID, change.Options{}); err != nil {
		t.Error(err)
	}
}

// endsWhen is a context that counts as cancelled once over returns true.
type endsWhen struct {
	context.Context
	over func() bool
}

func (c *endsWhen) Err() error {
	if c.over() {
		return context.Canceled
	}
	return nil
}
