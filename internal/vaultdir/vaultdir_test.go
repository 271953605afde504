package vaultdir_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry/change"
	"quarry/internal/changer"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
	"quarry/internal/vaultdir"
)

// Linked notes are moved concurrently while lines are added to another: no change is
// refused, no line is lost, and every link still leads to the same note.
func TestMovesBesideEdits(t *testing.T) {
	const notes, rounds = 8, 3
	dir := t.TempDir()
	write := func(name, text string) {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".obsidian/app.json", `{"alwaysUpdateLinks":true,"newLinkFormat":"absolute"}`)
	name := func(i, round int) string { return fmt.Sprintf("r%d/note %d.md", round, i) }
	for i := range notes {
		write(name(i, 0), fmt.Sprintf("[[%s]] [[%s]]\n", strings.TrimSuffix(name((i+1)%notes, 0), ".md"), strings.TrimSuffix(name((i+5)%notes, 0), ".md")))
	}
	write("log.md", "log\n")
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := changer.Open(root, &changer.Options{StateDir: t.TempDir(), Workers: 2, Logger: slog.New(slog.DiscardHandler), Extension: vaultdir.New(root, 2, slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var all sync.WaitGroup
	for i := range notes {
		all.Go(func() { // links to the note are updated, so concurrent moves edit the same notes
			for round := range rounds {
				_, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: name(i, round), To: name(i, round+1)}}})
				if err != nil {
					t.Errorf("move of note %d: %v", i, err)
					return
				}
			}
		})
		all.Go(func() { // a note that no move touches
			line := fmt.Sprintf("line %d\n", i)
			if _, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "log.md", Edits: []change.Edit{{Verb: change.AppendText, New: line}}}}}); err != nil {
				t.Errorf("line of note %d: %v", i, err)
			}
		})
	}
	all.Wait()
	log, err := os.ReadFile(filepath.Join(dir, "log.md"))
	if n := strings.Count(string(log), "line "); err != nil || n != notes {
		t.Errorf("%d lines of %d: %v", n, notes, err)
	}
	for i := range notes {
		text, err := os.ReadFile(filepath.Join(dir, name(i, rounds)))
		if err != nil {
			t.Fatal(err)
		}
		links, err := vault.ScanLinks(t.Context(), name(i, rounds), text)
		if err != nil || len(links) != 2 || links[0].Path+".md" != name((i+1)%notes, rounds) || links[1].Path+".md" != name((i+5)%notes, rounds) {
			t.Errorf("%s: %s", name(i, rounds), text)
		}
	}
}
