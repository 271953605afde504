//go:build linux && !portable

package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// makeEntries makes entries: "d/" is a folder, "a -> b" a symlink, anything else a file.
func makeEntries(t *testing.T, dir string, entries ...string) {
	t.Helper()
	for _, e := range entries {
		var err error
		if name, target, ok := strings.Cut(e, " -> "); ok {
			err = os.Symlink(target, filepath.Join(dir, name))
		} else if strings.HasSuffix(e, "/") {
			err = os.MkdirAll(filepath.Join(dir, e), 0o755)
		} else {
			os.MkdirAll(filepath.Dir(filepath.Join(dir, e)), 0o755)
			err = os.WriteFile(filepath.Join(dir, e), []byte(e), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shown writes changes as one line: files, then trees with a slash.
func shown(c Changes) string {
	var parts []string
	for _, f := range c.Files {
		parts = append(parts, f.Path.String())
	}
	for _, d := range c.Trees {
		parts = append(parts, d.String()+"/")
	}
	if c.Lost {
		parts = append(parts, "LOST")
	}
	return strings.Join(parts, " ")
}

// TestReports checks the reports after single changes.
func TestReports(t *testing.T) {
	stress.SkipTiny(t)
	for _, c := range []struct {
		name    string
		entries []string
		do      func(in func(string) string) error
		want    string
	}{
		{"nothing happened", []string{"a"}, func(func(string) string) error { return nil }, ""},
		{"a file is written", []string{"d/a"}, func(in func(string) string) error {
			return os.WriteFile(in("d/a"), nil, 0)
		}, "d/a"},
		{"a file is made", []string{"d/"}, func(in func(string) string) error {
			return os.WriteFile(in("d/new"), nil, 0o644)
		}, "d/new"},
		{"a file is renamed", []string{"a", "d/"}, func(in func(string) string) error {
			return os.Rename(in("a"), in("d/b"))
		}, "a d/b"},
		{"a file leaves the root", []string{"a"}, func(in func(string) string) error {
			return os.Rename(in("a"), in("../out/a"))
		}, "a"},
		{"a symlink to a folder is no folder", []string{"d/a"}, func(in func(string) string) error {
			return os.Symlink("d", in("link"))
		}, "link"},
		{"a symlinked folder outside is not watched", []string{"link -> ../out"}, func(in func(string) string) error {
			return os.WriteFile(in("link/a"), nil, 0o644)
		}, ""},
		{"a folder is made", nil, func(in func(string) string) error {
			return os.MkdirAll(in("x/y/z"), 0o755)
		}, "x/"},
		{"a folder is renamed", []string{"d/e/a"}, func(in func(string) string) error {
			return os.Rename(in("d"), in("b"))
		}, "b/ d/"},
		{"a file in a renamed folder", []string{"d/e/a"}, func(in func(string) string) error {
			if err := os.Rename(in("d"), in("b")); err != nil {
				return err
			}
			return os.WriteFile(in("b/e/a"), nil, 0)
		}, "b/ d/"},
		{"a folder's permissions change", []string{"d/e/a"}, func(in func(string) string) error {
			return os.Chmod(in("d/e"), 0o700)
		}, "d/e/"},
		{"a folder goes", []string{"d/e/a", "d/b"}, func(in func(string) string) error {
			return os.RemoveAll(in("d/e"))
		}, "d/e/"},
		{"a file takes a folder's place", []string{"d/e/a"}, func(in func(string) string) error {
			if err := os.RemoveAll(in("d/e")); err != nil {
				return err
			}
			return os.WriteFile(in("d/e"), nil, 0o644)
		}, "d/e d/e/"},
		{"a folder takes a file's place", []string{"d/e"}, func(in func(string) string) error {
			if err := os.Remove(in("d/e")); err != nil {
				return err
			}
			return os.Mkdir(in("d/e"), 0o755)
		}, "d/e d/e/"},
		{"our own temporary files are not told", []string{"d/a"}, func(in func(string) string) error {
			tmp := in("d/.quarry-tmp-w-1")
			if err := os.WriteFile(tmp, nil, 0o644); err != nil {
				return err
			}
			return os.Rename(tmp, in("d/a"))
		}, "d/a"},
		{"a repository is made", []string{"d/"}, func(in func(string) string) error {
			if err := os.MkdirAll(in("d/.git/info"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(in("d/.git/info/exclude"), nil, 0o644)
		}, "d/.git d/.git/info/exclude"},
		{"git works", []string{".git/info/exclude", ".git/index"}, func(in func(string) string) error {
			if err := os.WriteFile(in(".git/index.lock"), nil, 0o644); err != nil {
				return err
			}
			return os.Rename(in(".git/index.lock"), in(".git/index"))
		}, ""},
		{"excludes are edited", []string{".git/info/exclude"}, func(in func(string) string) error {
			return os.WriteFile(in(".git/info/exclude"), nil, 0)
		}, ".git/info/exclude"},
		{"excludes are made", []string{".git/HEAD"}, func(in func(string) string) error {
			if err := os.Mkdir(in(".git/info"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(in(".git/info/exclude"), nil, 0o644)
		}, ".git/info/exclude"},
		{"another protected folder", []string{".obsidian/app.json"}, func(in func(string) string) error {
			return os.WriteFile(in(".obsidian/app.json"), nil, 0)
		}, ""},
	} {
		for _, idle := range []bool{true, false} {
			_, root := workspace(t)
			makeEntries(t, root, c.entries...)
			m := newMirror(t, root, &Options{idle: idle})
			if got := shown(m.barrier()); got != "./" {
				t.Fatalf("%s: first barrier %q, want the root", c.name, got)
			}
			if err := c.do(func(p string) string { return filepath.Join(root, p) }); err != nil {
				t.Fatal(c.name, err)
			}
			if got := shown(m.barrier()); got != c.want {
				t.Errorf("%s (idle %v): %q, want %q", c.name, idle, got, c.want)
			}
			if got := shown(m.barrier()); got != "" {
				t.Errorf("%s (idle %v): a second barrier says %q", c.name, idle, got)
			}
		}
	}
}

// A name that was created, written to and removed may have been a second name of another
// file. So may a name that does not exist when a handle opened by it is written to.
func TestPassedNames(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(in func(string) string)
		want bool
	}{
		{"second name in a folder that is reported", func(in func(string) string) {
			os.Chmod(in("d"), 0o700)
			os.Link(in("a"), in("d/b"))
			os.WriteFile(in("d/b"), []byte("new"), 0)
			os.Remove(in("d/b"))
		}, true},
		{"second name in a folder that is reported, replaced", func(in func(string) string) {
			os.Chmod(in("d"), 0o700)
			os.Link(in("a"), in("d/b"))
			os.WriteFile(in("d/b"), []byte("new"), 0)
			os.Rename(in("d/a"), in("d/b"))
		}, true},
		{"files in a folder that is reported", func(in func(string) string) {
			os.Chmod(in("d"), 0o700)
			os.WriteFile(in("d/b"), []byte("new"), 0o644)
			os.WriteFile(in("d/c"), []byte("new"), 0o644)
		}, false},
		{"a file that is written after it went", func(in func(string) string) {
			f, _ := os.OpenFile(in("a"), os.O_WRONLY, 0)
			os.Remove(in("a"))
			f.WriteString("new")
			f.Close()
		}, true},
		{"second name", func(in func(string) string) {
			os.Link(in("a"), in("b"))
			os.WriteFile(in("b"), []byte("new"), 0)
			os.Remove(in("b"))
		}, true},
		{"second name that leaves", func(in func(string) string) {
			os.Link(in("a"), in("b"))
			os.WriteFile(in("b"), []byte("new"), 0)
			os.Rename(in("b"), in("../out/b"))
		}, true},
		{"second name that is renamed", func(in func(string) string) {
			os.Link(in("a"), in("b"))
			os.WriteFile(in("b"), []byte("new"), 0)
			os.Rename(in("b"), in("c"))
			os.Remove(in("c"))
		}, true},
		{"second name that is renamed over another", func(in func(string) string) {
			os.Link(in("a"), in("b"))
			os.WriteFile(in("b"), []byte("new"), 0)
			os.Rename(in("b"), in("d/a"))
			os.Remove(in("d/a"))
		}, true},
		{"second name in a folder that is reported after that", func(in func(string) string) {
			os.Link(in("a"), in("d/b"))
			os.WriteFile(in("d/b"), []byte("new"), 0)
			os.Chmod(in("d"), 0o700)
			os.Remove(in("d/b"))
		}, true},
		{"second name in a folder that is moved", func(in func(string) string) {
			os.Link(in("a"), in("d/b"))
			os.WriteFile(in("d/b"), []byte("new"), 0)
			os.Rename(in("d"), in("e"))
			os.Remove(in("e/b"))
		}, true},
		{"a file that is written after it went, in a folder that is reported", func(in func(string) string) {
			f, _ := os.OpenFile(in("d/a"), os.O_WRONLY, 0)
			os.Chmod(in("d"), 0o700)
			os.Remove(in("d/a"))
			f.WriteString("new")
			f.Close()
		}, true},
		{"atomic save", func(in func(string) string) {
			os.WriteFile(in("tmp"), []byte("new"), 0o644)
			os.Rename(in("tmp"), in("a"))
		}, false},
		{"empty test file", func(in func(string) string) {
			os.WriteFile(in("4913"), nil, 0o644)
			os.Remove(in("4913"))
		}, false},
	} {
		_, root := workspace(t)
		makeEntries(t, root, "a", "d/a")
		m := newMirror(t, root, nil)
		m.barrier()
		c.do(func(p string) string { return filepath.Join(root, p) })
		passed := false
		if _, err := m.w.Barrier(context.Background(), func(c *Changes) { passed = c.Passed }); err != nil {
			t.Fatal(err)
		}
		if passed != c.want {
			t.Errorf("%s: Passed %v, want %v", c.name, passed, c.want)
		}
	}
}

// The events of a temporary file that is known to be new need no comparison.
func TestTemporaryFilesPass(t *testing.T) {
	_, root := workspace(t)
	makeEntries(t, root, "a")
	m := newMirror(t, root, &Options{idle: true})
	m.barrier()
	drained := func() {
		m.w.mu.Lock()
		defer m.w.mu.Unlock()
		if err := m.w.drain(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		make func(name string) error
		want bool
	}{
		{"new file", func(name string) error { return nil }, false},
		{"second name", func(name string) error { return os.Link(root+"/a", name) }, true},
	} {
		if err := c.make(root + "/b"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+"/b", []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		drained()
		if err := os.Remove(root + "/b"); err != nil {
			t.Fatal(err)
		}
		if got := m.barrier(); got.Passed != c.want {
			t.Errorf("%s: Passed %v, want %v", c.name, got.Passed, c.want)
		}
	}
}

// If a folder is moved out of the tree, its watch ends, and later events on its files are
// lost.
func TestLostWatchPasses(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(in func(string) string)
		want bool
	}{
		{"second name", func(in func(string) string) {
			os.Link(in("a"), in("d/b"))
			os.WriteFile(in("d/b"), []byte("new"), 0)
		}, true},
		{"a file that went", func(in func(string) string) { os.Remove(in("d/a")) }, true},
		{"nothing", func(in func(string) string) {}, false},
	} {
		_, root := workspace(t)
		makeEntries(t, root, "a", "d/a")
		m := newMirror(t, root, &Options{idle: true})
		m.barrier()
		in := func(p string) string { return filepath.Join(root, p) }
		c.do(in)
		if err := os.Rename(in("d"), in("../out/d")); err != nil {
			t.Fatal(err)
		}
		if got := m.barrier(); got.Passed != c.want {
			t.Errorf("%s: Passed %v, want %v", c.name, got.Passed, c.want)
		}
	}
}

// Comparing a folder with the disk watches it again, and no event may be lost meanwhile.
func TestRescanLosesNothing(t *testing.T) {
	_, root := workspace(t)
	makeEntries(t, root, "a")
	m := newMirror(t, root, &Options{idle: true})
	m.barrier()
	const names = 15_000
	want := make([]string, names)
	for i := range want {
		want[i] = fmt.Sprintf("%05d", i)
	}
	rescan := make(chan error)
	stop := make(chan struct{})
	go func() {
		defer close(rescan)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := m.w.Rescan(t.Context(), rootfs.Path{}); err != nil {
				rescan <- err
				return
			}
		}
	}()
	for _, name := range want {
		if err := os.Symlink("a", filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-rescan; err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(shown(m.barrier())); !slices.Equal(got, want) {
		t.Errorf("%d names reported, want %d", len(got), names)
	}
}

// A write to a deleted log that is still open is reported once.
func TestNamelessIsToldOnce(t *testing.T) {
	_, root := workspace(t)
	makeEntries(t, root, "log")
	m := newMirror(t, root, nil)
	f, err := os.OpenFile(root+"/log", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Remove(root + "/log")
	m.barrier()
	var told []bool
	write := func() {
		f.WriteString("line\n")
		told = append(told, m.barrier().Passed)
	}
	write()
	write()
	makeEntries(t, root, "log")
	os.Remove(root + "/log")
	m.barrier()
	write()
	write()
	if want := []bool{true, false, true, false}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// A program that keeps a file open can write to it after the name is gone. If the file has
// another name, the changed content is found there.
func TestHandleOutlivesItsName(t *testing.T) {
	_, root := workspace(t)
	makeEntries(t, root, "d/a")
	m := newMirror(t, root, nil)
	f, err := os.OpenFile(root+"/d/a", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m.barrier()
	for i, step := range []func() error{
		func() error { return os.Link(root+"/d/a", root+"/b") },
		func() error { return os.Remove(root + "/d/a") },
		func() error { return os.Rename(root+"/b", root+"/c") },
		func() error { _, err := f.WriteString("new"); return err },
		func() error { return os.Rename(root+"/d", root+"/e") },
		func() error { _, err := f.WriteString("and again"); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if m.barrier(); len(m.stale(".")) > 0 {
			t.Fatalf("after step %d: %q", i, m.stale("."))
		}
	}
}

// A symlink that replaces a folder leads to another folder, which keeps its own watch.
func TestSymlinkTakesPlace(t *testing.T) {
	_, root := workspace(t)
	makeEntries(t, root, "d/a", "e/a")
	m := newMirror(t, root, &Options{idle: true})
	m.barrier()
	os.RemoveAll(root + "/d")
	os.Symlink("e", root+"/d")
	if got := shown(m.barrier()); got != "d d/" {
		t.Errorf("%q, want d as a file and as a tree", got)
	}
	if st := m.w.Status(); st.Watches != 2 || st.Unwatched != 0 {
		t.Errorf("status %+v, want 2 watches and nothing unwatched", st)
	}
	os.WriteFile(root+"/d/a", nil, 0)
	if got := shown(m.barrier()); got != "e/a" {
		t.Errorf("%q, want e/a", got)
	}
}

// Folders that are not admitted are not watched; a rescan follows a changed decision.
func TestAdmit(t *testing.T) {
	_, root := workspace(t)
	makeEntries(t, root, "src/a", "build/x/a", "build/y/a")
	skip := "build"
	m := newMirror(t, root, &Options{Admit: func(_ rootfs.Path, name string) bool { return name != skip }})
	m.barrier()
	if got := m.w.Status().Watches; got != 2 {
		t.Errorf("%d watches, want 2: root and src", got)
	}
	os.WriteFile(root+"/build/x/a", nil, 0)
	if got := shown(m.barrier()); got != "" {
		t.Errorf("an unwatched folder reports %q", got)
	}
	// An apply function that sees a rule file change admits other folders.
	os.WriteFile(root+"/.gitignore", []byte("src"), 0o644)
	var calls []string
	if _, err := m.w.Barrier(context.Background(), func(c *Changes) {
		calls = append(calls, shown(*c))
		if len(calls) == 1 {
			skip = "src"
			c.Rescan(rootfs.Path{})
		}
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(calls, ", "); got != ".gitignore, build/ src/" {
		t.Errorf("changes %q", got)
	}
	if got := m.w.Status().Watches; got != 4 {
		t.Errorf("%d watches, want 4: root, build, x and y", got)
	}
	os.WriteFile(root+"/src/a", nil, 0)
	os.WriteFile(root+"/build/y/a", nil, 0)
	if got := shown(m.barrier()); got != "build/y/a" {
		t.Errorf("after the rescan %q", got)
	}
}

func maxQueued(t *testing.T) int {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skipf("needs inotify and /proc mounted: %v", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n > 200_000 {
		t.Skipf("a queue of %d events takes too long to fill", n)
	}
	return n
}

// More events than the kernel's queue holds: the loss is reported, folders made and moved
// meanwhile are watched afterwards, and nothing is stale.
func TestOverflow(t *testing.T) {
	size := maxQueued(t)
	_, root := workspace(t)
	makeEntries(t, root, "d/a", "d/b", "e/f/a", "g/h/i/a")
	m := newMirror(t, root, &Options{idle: true})
	m.barrier()
	in := func(p string) string { return filepath.Join(root, p) }
	fill := func() {
		for range size/2 + 10 { // two names in turn, because the kernel merges equal events
			os.Truncate(in("d/a"), 1)
			os.Truncate(in("d/b"), 1)
		}
	}
	runs := 0
	for range stress.Start(t, "overflow of the queue", 20, 200).Cases() {
		run := runs
		runs++
		fill()
		os.Rename(in("e"), in("t")) // none of these is reported
		os.Rename(in("g"), in("e"))
		os.Rename(in("t"), in("g"))
		makeEntries(t, root, fmt.Sprintf("new%d/x/a", run))
		os.RemoveAll(in(fmt.Sprintf("new%d", run-3)))
		got := m.barrier()
		if !got.Lost || shown(got) != "./ LOST" {
			t.Fatalf("run %d: %q, want the root and a loss", run, shown(got))
		}
		if bad := m.stale("."); len(bad) > 0 {
			t.Fatalf("run %d: stale after overflow: %v", run, bad)
		}
		// d, e/f, g/h/i and up to three new folders with one in them.
		if got, want := m.w.Status().Watches, 7+2*min(run+1, 3); got != want {
			t.Fatalf("run %d: %d watches, want %d", run, got, want)
		}
		for _, p := range []string{"e", "g", fmt.Sprintf("new%d/x", run)} {
			makeEntries(t, root, p+"/late")
			if got := shown(m.barrier()); got != p+"/late" {
				t.Fatalf("run %d: %q, want %s/late", run, got, p)
			}
			os.Remove(in(p + "/late"))
			m.barrier()
		}
	}
	if st := m.w.Status(); int(st.Lost) != runs {
		t.Errorf("status counts %d losses of %d", st.Lost, runs)
	}
}

// The background goroutine keeps the queue from overflowing and the memory
// bounded.
func TestBackgroundDrain(t *testing.T) {
	size := maxQueued(t)
	_, root := workspace(t)
	makeEntries(t, root, "d/", "e/a")
	m := newMirror(t, root, &Options{MaxPending: 100})
	m.barrier()
	for i := range size/2 + 1000 { // a file is three events
		if err := os.WriteFile(fmt.Sprintf("%s/d/%d", root, i%2000), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 {
			<-m.w.Pending()
		}
	}
	os.WriteFile(root+"/e/a", nil, 0)
	got := m.barrier()
	if got.Lost || len(got.Files) > 100 || len(got.Trees) == 0 || got.Trees[0].String() != "d" {
		t.Errorf("%d files, trees %v, lost %v", len(got.Files), got.Trees, got.Lost)
	}
	if bad := m.stale("."); len(bad) > 0 {
		t.Errorf("%d stale", len(bad))
	}
}

// Folders beyond the limit are named, and watched when room is made.
func TestMaxWatches(t *testing.T) {
	_, root := workspace(t)
	for i := range 30 {
		makeEntries(t, root, fmt.Sprintf("d%02d/x/a", i), fmt.Sprintf("d%02d/y/a", i))
	}
	m := newMirror(t, root, &Options{MaxWatches: 20})
	m.barrier()
	unwatched, _ := m.w.Barrier(context.Background(), nil)
	st := m.w.Status()
	if st.Watches != 20 || len(unwatched) == 0 || st.Unwatched != len(unwatched) || st.Reason != ErrLimit {
		t.Fatalf("status %+v, unwatched %v", st, unwatched)
	}
	for i := range 30 {
		os.WriteFile(fmt.Sprintf("%s/d%02d/y/a", root, i), []byte("new"), 0)
	}
	m.barrier()
	if bad := m.stale("."); len(bad) > 0 {
		t.Fatalf("stale: %v", bad)
	}
	for i := range 27 {
		os.RemoveAll(fmt.Sprintf("%s/d%02d", root, i))
	}
	m.barrier()
	unwatched, _ = m.w.Barrier(context.Background(), nil)
	if st := m.w.Status(); st.Watches != 10 || len(unwatched) != 0 {
		t.Errorf("with room again: status %+v, unwatched %v", st, unwatched)
	}
}

// When a barrier returns, all earlier changes were applied, whichever concurrent caller
// they were passed to.
func TestConcurrentBarriers(t *testing.T) {
	_, root := workspace(t)
	const workers, rounds = 8, 300
	for i := range workers {
		makeEntries(t, root, fmt.Sprintf("d%d/", i))
	}
	m := newMirror(t, root, nil)
	m.barrier()
	var mu sync.Mutex
	applied := map[string]int{}
	var applying bool
	apply := func(c *Changes) {
		if applying {
			t.Error("two apply calls at a time")
		}
		applying = true
		mu.Lock()
		for _, f := range c.Files {
			applied[f.Path.String()]++
		}
		for _, d := range c.Trees {
			applied[d.String()]++
		}
		mu.Unlock()
		applying = false
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for j := range rounds {
				name := fmt.Sprintf("d%d/%d", i, j)
				var err error
				if j%10 == 0 {
					err = os.Mkdir(root+"/"+name, 0o755)
				} else {
					err = os.WriteFile(root+"/"+name, nil, 0o644)
				}
				if err == nil {
					_, err = m.w.Barrier(context.Background(), apply)
				}
				mu.Lock()
				n := applied[name]
				mu.Unlock()
				if err != nil || n == 0 {
					t.Errorf("%s: not applied (%v)", name, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// openHandles counts the open files of this process, and the watches of its inotify handles.
func openHandles(t *testing.T) (handles, watches int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fdinfo")
	if err != nil {
		t.Skipf("needs /proc mounted: %v", err)
	}
	for _, e := range entries {
		if b, err := os.ReadFile("/proc/self/fdinfo/" + e.Name()); err == nil {
			handles++
			watches += strings.Count(string(b), "inotify wd:")
		}
	}
	return handles, watches
}

// Folders that are made, moved and deleted leave no handles and no watches.
func TestNoLeaks(t *testing.T) {
	dir, root := workspace(t)
	probe, err := rootfs.Open(root, nil) // the runtime's own handles are open now
	if err != nil {
		t.Fatal(err)
	}
	probe.Close()
	makeEntries(t, root, "a/b/c/d/f", "x/")
	before, _ := openHandles(t)
	goroutines := runtime.NumGoroutine()
	r, err := rootfs.Open(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(*Changes) {}
	in := func(p string) string { return filepath.Join(root, p) }
	for i := range 300 {
		os.Rename(in("a"), in("x/a"))
		if i%3 == 0 {
			w.Barrier(context.Background(), nothing)
		}
		os.Rename(in("x/a/b"), dir+"/out/b")
		os.MkdirAll(in(fmt.Sprintf("x/%d/y/z", i)), 0o755)
		w.Barrier(context.Background(), nothing)
		os.Rename(dir+"/out/b", in("x/a/b"))
		os.RemoveAll(in(fmt.Sprintf("x/%d", i)))
		os.Rename(in("x/a"), in("a"))
	}
	w.Barrier(context.Background(), nothing)
	if _, watches := openHandles(t); watches != 6 || w.Status().Watches != 6 {
		t.Errorf("the kernel has %d watches, we count %d, want 6", watches, w.Status().Watches)
	}
	w.mu.Lock() // it may be drained in the background
	s := &w.system
	if len(s.limbo)+len(s.check)+len(s.stack)+len(s.renames)+len(s.marks) != 0 {
		t.Errorf("left behind: limbo %d, check %d, stack %d, renames %d, marks %d",
			len(s.limbo), len(s.check), len(s.stack), len(s.renames), len(s.marks))
	}
	w.mu.Unlock()
	os.Rename(in("a/b"), dir+"/out/b") // with two folders in it, never to return
	w.Barrier(context.Background(), nothing)
	if _, watches := openHandles(t); watches != 3 || w.Status().Watches != 3 {
		t.Errorf("after a folder left the kernel has %d watches, we count %d, want 3", watches, w.Status().Watches)
	}
	w.Close()
	r.Close()
	for i := 0; i < 1e6 && runtime.NumGoroutine() > goroutines; i++ {
		runtime.Gosched() // a goroutine ends a moment after its last signal
	}
	after, watches := openHandles(t)
	if after != before || watches != 0 || runtime.NumGoroutine() > goroutines {
		t.Errorf("handles %d → %d, watches %d, goroutines %d → %d", before, after, watches, goroutines, runtime.NumGoroutine())
	}
}

// Close may be called while other goroutines are in Barrier.
func TestClose(t *testing.T) {
	_, root := workspace(t)
	m := newMirror(t, root, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				if _, err := m.w.Barrier(context.Background(), func(*Changes) {}); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				os.WriteFile(root+"/a", nil, 0o644)
			}
		})
	}
	if err := m.w.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := m.w.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := m.w.Rescan(context.Background(), rootfs.Path{}); !errors.Is(err, ErrClosed) {
		t.Errorf("rescan of a closed watcher: %v", err)
	}
}

// Neither a cancelled barrier nor a panic in apply loses changes.
func TestInterrupted(t *testing.T) {
	_, root := workspace(t)
	m := newMirror(t, root, &Options{idle: true})
	m.barrier()
	for i := range 200 {
		makeEntries(t, root, fmt.Sprintf("d%d/e/a", i))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.w.Barrier(ctx, func(*Changes) {}); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled barrier: %v", err)
	}
	if got := m.barrier(); len(got.Trees) != 200 {
		t.Errorf("%d trees after a cancelled barrier, want 200", len(got.Trees))
	}
	makeEntries(t, root, "d7/e/b")
	func() {
		defer func() { recover() }()
		m.w.Barrier(context.Background(), func(*Changes) { panic("apply") })
	}()
	if got := shown(m.barrier()); got != "./" {
		t.Errorf("after a panic in apply %q, want the root", got)
	}
	if bad := m.stale("."); len(bad) > 0 {
		t.Error(bad)
	}
}

// A tree with paths longer than the kernel accepts.
func TestDeepTree(t *testing.T) {
	_, root := workspace(t)
	m := newMirror(t, root, nil)
	m.barrier()
	fd, err := unix.Open(root, unix.O_PATH, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("n", 200)
	for range 30 {
		if err := unix.Mkdirat(fd, name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, name, unix.O_PATH, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		fd = next
	}
	defer unix.Close(fd)
	w := m.w
	w.Barrier(context.Background(), func(*Changes) {})
	if got := w.Status().Watches; got != 31 {
		t.Errorf("%d watches, want 31", got)
	}
	if err := unix.Mkdirat(fd, "last", 0o755); err != nil {
		t.Fatal(err)
	}
	var got []rootfs.Path
	w.Barrier(context.Background(), func(c *Changes) { got = c.Trees })
	if len(got) != 1 || got[0].Depth() != 31 || got[0].Base() != "last" {
		t.Errorf("%d trees, depth %d", len(got), got[0].Depth())
	}
}

// On an untrusted file system, everything has to be swept.
func TestForeignRoot(t *testing.T) {
	root, err := rootfs.Open("/proc/self/fdinfo", nil)
	if err != nil {
		t.Skipf("needs /proc mounted: %v", err)
	}
	defer root.Close()
	w, err := Open(context.Background(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 2 {
		unwatched, err := w.Barrier(context.Background(), func(*Changes) {})
		if err != nil || len(unwatched) != 1 || !unwatched[0].IsRoot() {
			t.Errorf("unwatched %v, %v", unwatched, err)
		}
	}
	if st := w.Status(); st.Watches != 0 || st.Reason != ErrForeign {
		t.Errorf("status %+v", st)
	}
}

// Parsing ends for any bytes.
func FuzzParse(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0, 0, 1, 0, 64, 0, 0, 0, 0, 255, 255, 255, 255})
	root, err := rootfs.Open(f.TempDir(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	w, err := Open(context.Background(), root, &Options{idle: true, MaxPending: 4})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, block []byte) {
		w.parse(block)
		if _, err := w.Barrier(context.Background(), func(*Changes) {}); err != nil {
			t.Fatal(err)
		}
	})
}

// A repository's exclude file applies to every root, also to one without a policy; other
// entries in .git are never reported.
func TestExcludesWithoutPolicy(t *testing.T) {
	_, dir := workspace(t)
	makeEntries(t, dir, ".git/info/exclude", ".git/index", "sub/.git/HEAD")
	root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := Open(t.Context(), root, &Options{Admit: func(_ rootfs.Path, name string) bool { return name != ".git" }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, c := range []struct{ write, want string }{
		{"", "./"},
		{".git/info/exclude", ".git/info/exclude"},
		{".git/index", ""},
		{"sub/.git/info/exclude", "sub/.git/info/exclude"},
	} {
		if c.write != "" {
			makeEntries(t, dir, c.write)
		}
		got := ""
		if _, err := w.Barrier(t.Context(), func(ch *Changes) { got += shown(*ch) }); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("after %q is written: %q, want %q", c.write, got, c.want)
		}
	}
}
