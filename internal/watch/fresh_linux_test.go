//go:build linux && !portable

package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("WATCH_CHILD"); dir != "" {
		seed, _ := strconv.ParseUint(os.Getenv("WATCH_SEED"), 10, 64)
		if err := serveChanges(dir, seed, os.Getenv("WATCH_ALL") == "true", os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if job := os.Getenv("WATCH_NAMESPACE"); job != "" {
		if err := inNamespace(job, os.Getenv("WATCH_DIR")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	stress.InMemory()
	os.Exit(m.Run())
}

// stamp is the visible state of a file. Since Linux 6.13, any change after a look gives a
// different ctime.
type stamp struct {
	mode  uint32
	size  int64
	mtime syscall.Timespec
	ctime syscall.Timespec
	ino   uint64
	nlink uint64
}

// mirror acts like a user of the package. It reads the disk only where a report says so,
// so it becomes stale if a change is not reported.
type mirror struct {
	t       *testing.T
	dir     string // of the root
	fd      int    // of dir, open
	root    *rootfs.Root
	w       *Watcher
	known   map[string]stamp
	inos    map[uint64]map[string]bool // paths by inode
	several map[string]bool            // files that had several names at the last look
	untold  map[uint64]bool            // files that were found changed without an event
}

func newMirror(t *testing.T, dir string, opts *Options) *mirror {
	t.Helper()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(context.Background(), root, opts)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); root.Close(); unix.Close(fd) })
	return &mirror{t: t, dir: dir, fd: fd, root: root, w: w, known: map[string]stamp{}, inos: map[uint64]map[string]bool{}, several: map[string]bool{}, untold: map[uint64]bool{}}
}

// stampOf looks at a path without following a symlink anywhere in it. The stamp of a
// folder has only its permissions.
func (m *mirror) stampOf(rel string) (stamp, bool) {
	fd, err := unix.Openat2(m.fd, rel, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH})
	if err != nil {
		return stamp{}, false
	}
	defer unix.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return stamp{}, false
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return stamp{mode: st.Mode}, true
	}
	return stamp{mode: st.Mode, size: st.Size, mtime: st.Mtim, ctime: st.Ctim, ino: st.Ino, nlink: uint64(st.Nlink)}, true
}

// look updates one path and the other names of its file.
func (m *mirror) look(rel string) {
	old, had := m.known[rel]
	now, is := m.stampOf(rel)
	if had && old.ino != 0 {
		if delete(m.inos[old.ino], rel); len(m.inos[old.ino]) == 0 {
			delete(m.inos, old.ino)
		}
	}
	delete(m.known, rel)
	delete(m.several, rel)
	if is {
		m.known[rel] = now
		if now.ino != 0 {
			if m.inos[now.ino] == nil {
				m.inos[now.ino] = map[string]bool{}
			}
			m.inos[now.ino][rel] = true
			if (now.nlink > 1 || m.untold[now.ino]) && now.mode&syscall.S_IFMT == syscall.S_IFREG {
				m.several[rel] = true
			}
		}
	}
	if had && old != now {
		m.lookOthers(old.ino)
	}
	if is && old != now && old.ino != now.ino {
		m.lookOthers(now.ino)
	}
}

func (m *mirror) lookOthers(ino uint64) {
	for other := range m.inos[ino] {
		if s, is := m.stampOf(other); !is || s != m.known[other] {
			m.look(other)
		}
	}
}

// restamp compares all known files, and records those that differ.
func (m *mirror) restamp() {
	for rel, was := range maps.Clone(m.known) {
		if now, is := m.stampOf(rel); is && now != was && now.ino != 0 && now.ino == was.ino {
			m.untold[now.ino] = true
			m.look(rel)
		}
	}
}

// sweep updates everything at and below rel; "." is the root.
func (m *mirror) sweep(rel string) {
	for p := range m.known {
		if within(p, rel) {
			if _, is := m.stampOf(p); !is {
				m.look(p)
			}
		}
	}
	for _, p := range m.disk(rel) {
		m.look(p)
	}
}

func within(p, dir string) bool {
	return dir == "." || p == dir || strings.HasPrefix(p, dir+"/")
}

func (m *mirror) disk(rel string) []string {
	var all []string
	filepath.WalkDir(filepath.Join(m.dir, rel), func(p string, d os.DirEntry, err error) error {
		if r, e := filepath.Rel(m.dir, p); e == nil && err == nil && r != "." {
			all = append(all, r)
		}
		return nil
	})
	return all
}

// barrier does the first step of a search. It returns all changes.
func (m *mirror) barrier() Changes {
	m.t.Helper()
	var all Changes
	apply := func(c *Changes) {
		for _, f := range c.Files {
			m.look(f.Path.String())
		}
		if c.Passed {
			m.restamp()
		}
		for _, d := range c.Trees {
			m.sweep(d.String())
		}
		all.Files = append(all.Files, c.Files...)
		all.Trees = append(all.Trees, c.Trees...)
		all.Lost, all.Passed = all.Lost || c.Lost, all.Passed || c.Passed
	}
	unwatched, err := m.w.Barrier(context.Background(), apply)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range unwatched {
		m.sweep(p.String())
	}
	for rel := range m.several {
		if s, is := m.stampOf(rel); !is || s != m.known[rel] {
			m.look(rel)
		}
	}
	return all
}

// stale lists the differences between the mirror and the disk at and below rel.
func (m *mirror) stale(rel string) []string {
	var bad []string
	seen := map[string]bool{}
	check := func(p string) {
		seen[p] = true
		now, is := m.stampOf(p)
		if was, had := m.known[p]; had != is || was != now {
			bad = append(bad, fmt.Sprintf("%s: known %v %+v, is %v %+v", p, had, was, is, now))
		}
	}
	for _, p := range m.disk(rel) {
		check(p)
	}
	for p := range m.known {
		if within(p, rel) && !seen[p] {
			check(p)
		}
	}
	slices.Sort(bad)
	return bad
}

// child is another process that makes changes on request.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startChild starts a child; watched says that all folders are watched.
func startChild(t *testing.T, dir string, seed uint64, watched bool) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WATCH_CHILD="+dir, "WATCH_SEED="+strconv.FormatUint(seed, 10), "WATCH_ALL="+strconv.FormatBool(watched), "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &child{t, cmd, in, bufio.NewReader(out)}
}

// change waits until the child has made a change, and returns its kind and the places.
func (c *child) change() (kind string, places []string) {
	c.t.Helper()
	io.WriteString(c.in, "\n")
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	for _, f := range fields[1:] {
		p, err := strconv.Unquote(f)
		if err != nil {
			c.t.Fatal(err)
		}
		places = append(places, p)
	}
	return fields[0], places
}

func workspace(t *testing.T) (dir, root string) {
	t.Helper()
	return workspaceIn(t, t.TempDir())
}

// workspaceIn makes the folder to watch and one outside it.
func workspaceIn(t *testing.T, dir string) (string, string) {
	t.Helper()
	root := filepath.Join(dir, "root")
	for _, d := range []string{root, filepath.Join(dir, "out")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, root
}

// A barrier reports every change that another process has confirmed before.
func TestAcknowledgedChangesAreReported(t *testing.T) {
	for _, c := range []struct {
		name    string
		opts    Options
		share   int // in tenths of all changes
		folders int // made before
	}{
		{"drained in the background", Options{}, 5, 0},
		{"drained by barriers only", Options{idle: true}, 2, 0},
		{"10 watches", Options{MaxWatches: 10}, 1, 0},
		{"100 watches", Options{MaxWatches: 100}, 1, 120},
		{"8 pending paths", Options{MaxPending: 8}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, root := workspaceIn(t, stress.FastDir(t))
			for i := range c.folders {
				makeEntries(t, root, fmt.Sprintf("many/%d/", i))
			}
			m := newMirror(t, root, &c.opts)
			m.barrier()
			run := stress.Start(t, "freshness: "+c.name, 2_000*c.share, 100_000*c.share)
			var other *child
			for seed := range run.Cases() {
				if other == nil {
					other = startChild(t, dir, seed, c.opts.MaxWatches == 0)
				}
				kind, places := other.change()
				got := m.barrier()
				if seed%200 == 199 {
					places = []string{"."}
				}
				for _, p := range slices.Compact(places) {
					if bad := m.stale(p); len(bad) > 0 {
						t.Fatalf("seed %d, %q: reported %+v, but stale:\n%s", seed, kind, got, strings.Join(bad, "\n"))
					}
				}
			}
			st := m.w.Status()
			t.Logf("%+v", st)
			if c.folders > 0 && (st.Watches != c.opts.MaxWatches || st.Unwatched == 0) {
				t.Errorf("%+v, want all of %d watches in use", st, c.opts.MaxWatches)
			}
		})
	}
}
