package searcher_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry"
	"quarry/internal/owner"
	"quarry/internal/stress"
	"quarry/search"
)

// homeOptions returns the options for an index called name in the folder home.
func homeOptions(home, name string, most int64) *quarry.IndexOptions {
	return &quarry.IndexOptions{Home: home, Dir: filepath.Join(home, name), MaxBytes: most}
}

func fillTree(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), fmt.Appendf(nil, "line %d\nword%d\n", i, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openIndexed(t *testing.T, dir string, opts *quarry.IndexOptions) *quarry.Workspace {
	t.Helper()
	ws, err := quarry.Open(dir, &quarry.Options{Index: opts})
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return ws
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// The total size of all indexes is limited. The least recently used one is deleted, but
// never an index in use, nor anything that isn't an index.
func TestIndexesHaveACap(t *testing.T) {
	stress.SkipWine(t, "whole workspaces")
	home, dir := t.TempDir(), fillTree(t, 50)
	if err := os.WriteFile(filepath.Join(home, "note.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "photos"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "photos", "a.jpg"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	openIndexed(t, dir, homeOptions(home, "first", 0)).Close()
	kept := openIndexed(t, dir, homeOptions(home, "kept", 0))
	defer kept.Close()
	openIndexed(t, dir, homeOptions(home, "third", 0)).Close()
	if got := names(t, home); got != "first kept note.txt photos third" {
		t.Fatalf("below the cap: %q", got)
	}
	last := openIndexed(t, dir, homeOptions(home, "last", 1))
	last.Close() // waits for the eviction
	if got := names(t, home); got != "kept last note.txt photos" {
		t.Errorf("above the cap: %q, want what is kept, the last one and what is no index", got)
	}
	st, err := kept.Index().Status(ctx)
	if err != nil || st.State != "ready" || st.MaxBytes != 10<<30 || st.AllBytes < 2*st.DiskBytes || st.PID != os.Getpid() {
		t.Errorf("%+v %v", st, err)
	}
}

// A process that opens an index while another deletes it gets a new one.
func TestIndexDeletedWhileOpened(t *testing.T) {
	stress.SkipTiny(t)
	home, dir := stress.FastDir(t), fillTree(t, 5)
	opts := homeOptions(home, "x", 0)
	for range 60 {
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := quarry.DeleteIndex(opts); err != nil && !errors.Is(err, quarry.ErrIndexInUse) && ctx.Err() == nil {
				// the open may see a partly deleted folder, which the next eviction
				// removes
				t.Log(err)
			}
		})
		ws, err := quarry.Open(dir, &quarry.Options{Index: opts})
		if err != nil {
			t.Fatal(err)
		}
		wait.Wait()
		if err := ws.Index().Wait(ctx); err != nil && !errors.Is(err, quarry.ErrNotOwner) {
			t.Fatal(err)
		}
		r, err := ws.Search(ctx, search.Query{Pattern: "word3"})
		if err != nil || len(r.Files) != 1 {
			t.Fatalf("%v %v", r, err)
		}
		if ws.Index().Wait(ctx) == nil && !strings.Contains(names(t, filepath.Join(home, "x")), "manifest-") {
			t.Fatal("the index is kept in a folder that is gone")
		}
		ws.Close()
	}
}

func TestDeleteIndex(t *testing.T) {
	stress.SkipWine(t, "whole workspaces")
	home, dir := t.TempDir(), fillTree(t, 5)
	opts := homeOptions(home, "x", 0)
	if ok, err := quarry.DeleteIndex(opts); ok || err != nil {
		t.Errorf("without an index: %v %v", ok, err)
	}
	ws := openIndexed(t, dir, opts)
	if ok, err := quarry.DeleteIndex(opts); ok || !errors.Is(err, quarry.ErrIndexInUse) {
		t.Errorf("with an owner: %v %v", ok, err)
	}
	ws.Close()
	if ok, err := quarry.DeleteIndex(opts); !ok || err != nil || names(t, home) != "" {
		t.Errorf("%v %v, left %q", ok, err, names(t, home))
	}
}

// The progress of a build can be followed, even from another process.
func TestFollowIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	dir := fillTree(t, 3000)
	var mu sync.Mutex
	var heard search.Progress
	opts := &quarry.IndexOptions{Dir: t.TempDir(), Socket: filepath.Join(t.TempDir(), "s", "sock")}
	opts.Progress = func(p search.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Files > heard.Files {
			heard = p
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{Index: opts})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	other, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: opts.Dir, Socket: opts.Socket, Ask: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, w := range map[string]*quarry.Workspace{"owner": ws, "client": other} {
		last := 0
		err := w.Index().Follow(ctx, func(p search.Progress) {
			if p.Files < last || p.Total > 0 && p.Files > p.Total {
				t.Errorf("%s: %+v after %d files", name, p, last)
			}
			last = p.Files
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if heard.Files != 3000 || heard.Total != 3000 || heard.Bytes == 0 {
		t.Errorf("heard %+v, want all of 3,000 files", heard)
	}
	alone, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if err := alone.Index().Follow(ctx, func(search.Progress) {}); !errors.Is(err, owner.ErrNobody) {
		t.Errorf("without an index: %v", err)
	}
}

func TestVerifyIndex(t *testing.T) {
	dir := fillTree(t, 300)
	ws := openIndexed(t, dir, &quarry.IndexOptions{Dir: t.TempDir()})
	defer ws.Close()
	last := search.Progress{}
	v, err := ws.Index().Verify(ctx, func(path, what string) { t.Errorf("%s: %s", path, what) }, func(p search.Progress) { last = p })
	if err != nil || v.Files+v.Changed != 300 || v.Listed != 300 || v.Searches < 10 || v.Faults != 0 || v.Remote {
		t.Errorf("%+v %v", v, err)
	}
	if last.Files != 300 || last.Total != 300 {
		t.Errorf("progress %+v", last)
	}
}
