package rootfs

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/stress"
)

const (
	outsideText   = "SECRET outside the root"
	protectedText = "SECRET in a protected folder"
)

// arena is a workspace under attack: the folder of dir/f, and last/f itself, alternate
// with symlinks that lead outside and into .git.
type arena struct {
	t    *testing.T
	root *Root
	ws   string
	stop atomic.Bool
	wg   sync.WaitGroup
}

// memoryDir returns a folder in memory if possible: thousands of syncs take half a minute
// on a disk. QUARRY_TEST_DIR names another place.
func memoryDir(t *testing.T) string {
	t.Helper()
	parent := os.Getenv("QUARRY_TEST_DIR")
	if parent == "" {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "quarry")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newArena(t *testing.T) *arena {
	ws := memoryDir(t) + "/ws"
	populate(t, ws, "dir/f", "last/f", "deep/a/b/f", ".git/f")
	out := filepath.Dir(ws) + "/out"
	populate(t, filepath.Dir(ws), "out/f", "out/a/b/f")
	for _, f := range []string{"/f", "/a/b/f"} {
		must(t, os.WriteFile(out+f, []byte(outsideText), 0o644))
	}
	must(t, os.WriteFile(ws+"/.git/f", []byte(protectedText), 0o644))
	populate(t, ws, "x1 -> ../out", "x2 -> .git", "last/x3 -> ../../out/f", "last/x4 -> ../.git/f", "x5 -> "+out, "deep/x6 -> ../../out/a")
	a := &arena{t: t, root: openRoot(t, ws, nil), ws: ws}
	for i, pairs := range [][][2]string{
		{{"dir", "x1"}, {"dir", "x2"}, {"dir", "x5"}},
		{{"last/f", "last/x3"}, {"last/f", "last/x4"}, {"deep/a", "deep/x6"}},
	} {
		a.wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for !a.stop.Load() {
				pair := pairs[rnd.IntN(len(pairs))]
				for range 2 { // there and back
					unix.Renameat2(unix.AT_FDCWD, ws+"/"+pair[0], unix.AT_FDCWD, ws+"/"+pair[1], unix.RENAME_EXCHANGE)
					for range rnd.IntN(4) {
						runtime.Gosched()
					}
				}
			}
		})
	}
	return a
}

func (a *arena) end() { a.stop.Store(true); a.wg.Wait() }

var targets = []string{"dir/f", "last/f", "deep/a/b/f"}

// naive reads in the common unsafe way: resolve, check the prefix, open.
func (a *arena) naive(name string) string {
	full, err := filepath.EvalSymlinks(filepath.Join(a.ws, name))
	if err != nil || !strings.HasPrefix(full, a.ws+"/") || strings.Contains(full, "/.git") {
		return ""
	}
	b, _ := os.ReadFile(full)
	return string(b)
}

// late is the naive reader with a delay between its check and its open, as on a busy
// machine: it opens a hundred times after one check.
func (a *arena) late(name string) bool {
	full, err := filepath.EvalSymlinks(filepath.Join(a.ws, name))
	if err != nil || !strings.HasPrefix(full, a.ws+"/") || strings.Contains(full, "/.git") {
		return false
	}
	for range 100 {
		if b, _ := os.ReadFile(full); strings.Contains(string(b), "SECRET") {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// sandboxed reads through every entry point.
func (a *arena) sandboxed(name string, seen map[string]int) {
	take := func(way string, f *File, err error) {
		if err != nil {
			var e *fault.PathError
			if !errors.As(err, &e) {
				a.t.Errorf("%s: %T %v", way, err, err)
			}
			return
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			a.t.Errorf("%s: %v", way, err)
		}
		if strings.Contains(string(b), "SECRET") {
			a.t.Errorf("%s of %s read %q", way, name, b)
		}
		seen[way]++
	}
	p, err := a.root.Resolve(name)
	if err == nil {
		f, err := a.root.OpenFile(p)
		take("Resolve", f, err)
	}
	known := Path{name}
	f, err := a.root.OpenFile(known)
	take("Known", f, err)
	if p, err := a.root.ResolveFold(strings.ToUpper(name)); err == nil {
		f, err := a.root.OpenFile(p)
		take("ResolveFold", f, err)
	}
	if d, err := a.root.OpenDir(known.Dir()); err == nil {
		f, err := d.OpenFile("f")
		take("Dir", f, err)
		d.Close()
	}
	if i, err := a.root.Stat(known); err == nil && i.Type == TypeFile && (i.Size == int64(len(outsideText)) || i.Size == int64(len(protectedText))) {
		a.t.Errorf("Stat of %s describes the secret", name)
	}
}

// TestSymlinkRace replaces folders and files by symlinks while files are read. The naive
// reader must escape at least once, otherwise the test proves nothing.
func TestSymlinkRace(t *testing.T) {
	t.Parallel()
	stress.SkipTiny(t)
	a := newArena(t)
	escapes, rounds := 0, 0
	seen := map[string]int{}
	for range stress.StartFor(t, "symlink race: reading", 20*time.Second).Cases() {
		rounds++
		for _, name := range targets {
			if strings.Contains(a.naive(name), "SECRET") {
				escapes++
			}
			a.sandboxed(name, seen)
		}
	}
	// On a busy machine, a swap in the few microseconds between check and open is rare: one
	// run in eight saw no escape in 10 s. An escape of the late reader also shows that the
	// attackers are active.
	for end := time.Now().Add(time.Minute); escapes == 0 && time.Now().Before(end); {
		for _, name := range targets {
			if a.late(name) {
				escapes++
			}
		}
	}
	a.end()
	t.Logf("%d rounds; ours read inside %v, outside 0; the naive reader escaped %d times", rounds, seen, escapes)
	if escapes == 0 {
		t.Error("the naive reader never escaped: the race proves nothing")
	}
	for _, way := range []string{"Resolve", "Known", "ResolveFold", "Dir"} {
		if seen[way] == 0 && stress.Thorough() {
			t.Errorf("%s never succeeded: the race proves nothing", way)
		}
	}
}

// TestSymlinkRaceByName is the same on a kernel without openat2.
func TestSymlinkRaceByName(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	if !forceByName(a.root) {
		a.end()
		t.Skip("this build doesn't use openat2")
	}
	seen := map[string]int{}
	for range stress.StartFor(t, "symlink race: without openat2", 2*time.Second).Cases() {
		for _, name := range targets {
			a.sandboxed(name, seen)
		}
	}
	a.end()
	t.Logf("ours read inside %v, outside 0", seen)
}

// TestSymlinkRaceOfChanges makes all kinds of changes while folders and files are replaced by
// symlinks. No outside or protected file may change.
func TestSymlinkRaceOfChanges(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	out := filepath.Dir(a.ws) + "/out"
	done := map[string]int{}
	try := func(what string, err error) {
		if err == nil {
			done[what]++
		}
	}
	guard := func() {
		for _, f := range []string{out + "/f", out + "/a/b/f"} {
			if b, err := os.ReadFile(f); err != nil || string(b) != outsideText {
				t.Errorf("outside: %s holds %q, %v", f, b, err)
			}
		}
		if b, err := os.ReadFile(a.ws + "/.git/f"); err != nil || string(b) != protectedText {
			// The attackers exchange .git's link, never .git itself.
			t.Errorf("protected: %q, %v", b, err)
		}
		for _, dir := range []string{out, out + "/a", out + "/a/b", a.ws + "/.git"} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Error(err)
			}
			for _, e := range entries {
				if e.Name() != "f" && e.Name() != "a" && e.Name() != "b" {
					t.Errorf("%s appeared in %s", e.Name(), dir)
				}
			}
		}
	}
	rounds := 0
	for range stress.StartFor(t, "symlink race: changing", 5*time.Second).Cases() {
		rounds++
		for _, name := range targets {
			p := Path{name}
			sibling := p.Dir().child("made")
			_, err := a.root.Replace(p, []byte("ours "+strconv.Itoa(rounds)), Version{}, nil)
			try("replace", err)
			_, _, err = a.root.Create(sibling, []byte("ours"), nil)
			try("create", err)
			try("rename", a.root.Rename(sibling, p.Dir().child("moved")))
			try("remove", a.root.Remove(p.Dir().child("moved")))
			try("remove", a.root.Remove(sibling))
			_, err = a.root.MkdirAll(p.Dir().child("m/n"))
			try("mkdir", err)
			try("removeall", a.root.RemoveAll(p.Dir().child("m")))
		}
		guard()
	}
	a.end()
	guard()
	t.Logf("%d rounds; changes made inside %v, outside 0", rounds, done)
	for _, what := range []string{"replace", "create", "rename", "remove", "mkdir", "removeall"} {
		if done[what] == 0 && stress.Thorough() {
			t.Errorf("%s never succeeded: the race proves nothing", what)
		}
	}
}
