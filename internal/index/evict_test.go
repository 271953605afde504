package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

func TestEvictDropsTheLeastRecentlyUsed(t *testing.T) {
	stress.SkipWine(t, "deleting a file that is open")
	dir := memoryDir(t)
	home := openState(t, dir)
	tree := t.TempDir()
	root, err := rootfs.Open(tree, &rootfs.Options{AllowAny: true})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	now := time.Now()
	var busy *Index
	for i, name := range []string{"newest", "oldest", "busy", "middle"} {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		ix, err := Open(root, openState(t, sub), nil)
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(sub, "segment-00000000000000aa"), make([]byte, 1000), 0o600)
		p, _ := home.Known(name)
		age := []time.Duration{0, 3, 4, 2}[i] * time.Hour
		if err := MarkUsed(home, p, tree, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		if name == "busy" {
			busy = ix
			continue
		}
		ix.Close()
	}
	defer busy.Close()
	gone, err := Evict(home, 2500, "newest")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range gone {
		names = append(names, s.Name)
	}
	if want := []string{"oldest", "middle"}; !slices.Equal(names, want) {
		t.Errorf("evicted %q, want %q: the oldest that nobody uses", names, want)
	}
	left, err := List(home)
	if err != nil || len(left) != 2 || left[0].Name != "busy" || left[1].Bytes < 1000 {
		t.Errorf("left: %+v, %v", left, err)
	}
	for _, s := range left {
		if s.Folder != tree {
			t.Errorf("%s is of %q, want %q", s.Name, s.Folder, tree)
		}
	}
}

// An index that is opened for another folder is listed with that folder.
func TestMarkUsedNotesTheFolder(t *testing.T) {
	dir := memoryDir(t)
	home := openState(t, dir)
	sub := filepath.Join(dir, "x")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sub, lockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := home.Known("x")
	for _, folder := range []string{"/a", "/a", "/b \xff"} {
		if err := MarkUsed(home, p, folder, time.Now()); err != nil {
			t.Fatal(err)
		}
		all, err := List(home)
		if err != nil || len(all) != 1 || all[0].Folder != folder {
			t.Errorf("%q: %+v, %v", folder, all, err)
		}
	}
}
