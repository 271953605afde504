package walk

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// If a folder is replaced by a symlink between its listing and its visit, only that folder is
// missing from the walk, and nothing is listed twice.
func TestFolderBecomesLink(t *testing.T) {
	for _, target := range []string{"a", "b/deep", "z", "."} {
		// With several workers, which one opens the folder, and when, is random.
		for _, workers := range append([]int{1}, slices.Repeat([]int{4}, stress.N(40))...) {
			dir := tree(t, "0", "a/x", "b/deep/y", "m/gone", "z/last")
			r := openRoot(t, dir, nil)
			opts := &Options{Workers: workers}
			var got []string
			// The files at the top are processed before any folder is opened.
			report, err := Each(context.Background(), r, opts, func(v *Visit, e *rootfs.Entry) (string, bool) {
				if e.Name == "0" {
					// Remove the folder instead of renaming it, because overlayfs without
					// redirect_dir refuses to rename folders (EXDEV).
					must(t, os.RemoveAll(filepath.Join(dir, "m")))
					must(t, os.Symlink(target, filepath.Join(dir, "m")))
				}
				return e.Name, true
			}, func(path, _ string) error {
				got = append(got, path)
				return nil
			})
			must(t, err)
			want := []string{"0", "a/x", "b/deep/y", "z/last"}
			opened := workers > 1 && report.Count(Vanished) == 0 // another worker opened the folder before it was replaced
			if opened {
				got = slices.DeleteFunc(got, func(p string) bool { return p == "m/gone" })
			}
			if !slices.Equal(got, want) || !opened && report.Count(Vanished) != 1 {
				t.Errorf("link to %s, %d workers: %s; %v %v", target, workers, strings.Join(got, " "), report.Counts, report.Skipped)
			}
		}
	}
}

// If a listing has an entry twice, as in some file systems while names are exchanged, the entry is
// delivered once.
func TestListedTwice(t *testing.T) {
	w := &worker{walker: &walker{ordered: true}}
	w.dirs = []rootfs.Entry{{Name: "b", Type: rootfs.TypeDir}, {Name: "a", Type: rootfs.TypeDir}, {Name: "b", Type: rootfs.TypeDir}}
	h := &handle{}
	h.refs.Store(4)
	w.subs = []task{{name: "b", from: h}, {name: "a", from: h}, {name: "b", from: h}}
	w.once()
	if len(w.dirs) != 2 || len(w.subs) != 2 || h.refs.Load() != 3 {
		t.Errorf("%d folders, %d tasks, %d users of the handle", len(w.dirs), len(w.subs), h.refs.Load())
	}
	f := &folder[int]{ready: make(chan struct{})}
	f.add(1, []outcome[int]{{rootfs.Entry{Name: "x"}, 1}, {rootfs.Entry{Name: "y"}, 2}, {rootfs.Entry{Name: "x"}, 3}})
	if len(f.order) != 2 {
		t.Errorf("%d items", len(f.order))
	}
}
