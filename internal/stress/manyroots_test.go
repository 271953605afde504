package stress_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/stress"
)

// A server has thirty roots, each with an index. A search covers all of them, and a change and its
// undo affect only the root they name. All close in time.
func TestThirtyRoots(t *testing.T) {
	stress.SkipTiny(t)
	const n = 30
	var roots []quarry.Root
	dirs := make([]string, n)
	for i := range n {
		dirs[i] = stress.FastDir(t)
		put(t, filepath.Join(dirs[i], "a.txt"), fmt.Sprintf("needle %d\n", i))
		ws, err := quarry.Open(dirs[i], &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal, Index: &quarry.IndexOptions{Dir: stress.FastDir(t)}})
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, quarry.Root{Name: fmt.Sprintf("r%d", i), Workspace: ws})
	}
	ws, err := quarry.Join(roots...)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, args string) string {
		t.Helper()
		r := reg.Lookup(name).Execute(t.Context(), json.RawMessage(args))
		if r.IsError {
			t.Fatalf("%s %s: %s", name, args, r.Text)
		}
		return r.Text
	}
	for i := range n {
		call("edit_file", fmt.Sprintf(`{"path":"r%d/a.txt","old_text":"needle","new_text":"NEEDLE"}`, i))
	}
	found := call("search_files", `{"regex":"NEEDLE","max_results":100}`)
	for i := range n {
		if !strings.Contains(found, fmt.Sprintf("NEEDLE %d\n", i)) {
			t.Errorf("root %d is not in %s", i, found)
		}
	}
	for i := n - 1; i >= 0; i-- { // in reverse order
		call("undo_change", `{}`)
		if got := text(t, filepath.Join(dirs[i], "a.txt")); got != fmt.Sprintf("needle %d\n", i) {
			t.Fatalf("root %d has %q after its undo", i, got)
		}
	}
	began := time.Now()
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("closing takes %v", took)
	}
	t.Logf("%d roots: %d edits and undos, one search with all of them", n, n)
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
