package notebook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/internal/notebook"
	"quarry/internal/stress"
)

// An answer about all notes is cached until a file is changed, added or removed.
func TestRememberedUntilAChange(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		write(fmt.Sprintf("n%d.md", i), fmt.Sprintf("[[n%d]] [[nowhere %d]]\n", i*2, i))
	}
	scan, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Skip("no index here:", err)
	}
	ask := func(ws *planned) string {
		t.Helper()
		b := notebook.Open(ws)
		orphans, err := b.Orphans(ctx)
		if err != nil {
			t.Fatal(err)
		}
		links, err := b.Unresolved(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Place(ctx, links); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(links)
		if err != nil {
			t.Fatal(err)
		}
		if len(links) > 0 {
			links[0].Link = "changed by the caller" // must not affect the next answer
		}
		return fmt.Sprintf("%q %s", orphans, text)
	}
	r := stress.Rand(7)
	again, some := 0, 0
	for step := range 40 {
		n := r.IntN(30)
		name := fmt.Sprintf("n%d.md", n)
		switch r.IntN(4) {
		case 0:
			os.Remove(filepath.Join(dir, name))
		case 1: // add a file that broken links resolve to
			write(fmt.Sprintf("nowhere %d.md", n), "x\n")
		case 2:
			os.Remove(filepath.Join(dir, fmt.Sprintf("nowhere %d.md", n)))
		default:
			write(name, fmt.Sprintf("[[n%d]] [[gone %d]]\n", r.IntN(30), step))
		}
		if step%3 == 0 { // wait until the index has read all changes
			if _, err := ws.Index().Verify(ctx, func(path, what string) { t.Errorf("%s: %s", path, what) }, nil); err != nil {
				t.Fatal(err)
			}
		}
		want := ask(&planned{Workspace: scan})
		for range 2 {
			w := &planned{Workspace: ws}
			if diff := cmp.Diff(want, ask(w)); diff != "" {
				t.Fatalf("step %d, remembered %v: %s", step, w.remembered, diff)
			}
			if w.remembered {
				again++
			}
		}
		if len(want) > len(`[] null`) {
			some++
		}
	}
	t.Logf("%d of 80 answers were remembered, %d of 40 are not empty", again, some)
	if again < 10 || some < 30 {
		t.Errorf("%d answers were remembered, %d are not empty: the test shows little", again, some)
	}
}
