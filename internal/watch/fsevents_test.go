package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// daemon behaves like the service behind FSEvents: it holds events back, combines the flags of a path, and
// delivers the held events in any order.
type daemon struct {
	root, own string // where the folders are
	rnd       *rand.Rand
	in        *arrivals
	held      map[string]uint32
	mounts    []rootfs.Path
	moved     bool // mounts changed

	opened, closed int
	refuses        error
	silent         bool   // delivers nothing
	alone          bool   // delivers a marker before all else
	keeps          []bool // for each marker: it is never delivered
}

// Event paths have slashes on the only system that has FSEvents.
func (d *daemon) rootPath() string { return filepath.ToSlash(d.root) }

func (d *daemon) open(in *arrivals) (fsStream, string, string, error) {
	if d.refuses != nil {
		return nil, "", "", d.refuses
	}
	d.opened++
	d.in, d.held = in, map[string]uint32{}
	return d, d.rootPath(), filepath.ToSlash(d.own), nil
}

func (d *daemon) close() { d.closed++ }

func (d *daemon) touch(name string) (func(), error) {
	file := filepath.Join(d.own, name)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return nil, err
	}
	marker := filepath.ToSlash(file)
	d.note(marker, fsCreated|fsIsFile)
	keep := false
	if len(d.keeps) > 0 {
		keep, d.keeps = d.keeps[0], d.keeps[1:]
	}
	if !d.silent && !keep {
		// The timer of the burst ends at some point, and the marker is delivered.
		paths := d.shuffled()
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == marker })
		if d.alone {
			paths = nil
		}
		d.tell(append([]string{marker}, paths[:d.rnd.IntN(len(paths)+1)]...))
	}
	return func() {
		os.Remove(file)
		d.note(marker, fsRemoved|fsIsFile)
	}, nil
}

func (d *daemon) mounted() ([]rootfs.Path, bool) {
	moved := d.moved
	d.moved = false
	return d.mounts, moved
}

func (d *daemon) flush() {
	if len(d.keeps) == 0 {
		d.tell(d.shuffled())
	}
}

func (d *daemon) shuffled() []string {
	paths := slices.Sorted(maps.Keys(d.held))
	d.rnd.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return paths
}

func (d *daemon) tell(paths []string) {
	var events []fsEvent
	for _, p := range paths {
		events = append(events, fsEvent{p, d.held[p]})
		delete(d.held, p)
	}
	d.in.deliver(events)
}

// note adds an event of the kernel.
func (d *daemon) note(path string, flags uint32) { d.held[path] |= flags }

// at adds an event by a path below the root.
func (d *daemon) at(rel string, flags uint32) { d.note(d.rootPath()+"/"+rel, flags) }

// streamed is a watcher over a daemon.
type streamed struct {
	*fsevents
	daemon *daemon
	dir    string
}

func newStreamed(t *testing.T, own string, admit func(rootfs.Path, string) bool) *streamed {
	t.Helper()
	dir := t.TempDir()
	if own == "" {
		own = t.TempDir()
	} else {
		own = filepath.Join(dir, own)
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := &Watcher{root: root, wake: make(chan struct{}, 1), told: map[rootfs.Path]bool{}, protected: map[string]bool{}, opts: Options{Admit: admit}}
	w.pending.init(1000)
	d := &daemon{root: dir, own: own, rnd: rand.New(rand.NewPCG(1, 2))}
	return &streamed{&fsevents{folders: folders{w: w}, sys: d, wait: 20 * time.Second}, d, dir}
}

// barrier works like Watcher.Barrier.
func (s *streamed) barrier(t *testing.T) (Changes, []rootfs.Path) {
	t.Helper()
	if err := errors.Join(s.remounted(t.Context()), s.drain(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s.w.pending.take(s.w.path), s.unwatched()
}

func (s *streamed) put(t *testing.T, rel, text string) {
	t.Helper()
	file := filepath.Join(s.dir, filepath.FromSlash(rel))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func told(c Changes) string {
	var out []string
	for _, f := range c.Files {
		out = append(out, f.Path.String())
	}
	for _, d := range c.Trees {
		out = append(out, strings.TrimPrefix(d.String(), ".")+"/")
	}
	if c.Lost {
		out = append(out, "lost")
	}
	if c.Passed {
		out = append(out, "passed")
	}
	return strings.Join(out, " ")
}

// Each kind of event, after a barrier without problems.
func TestStreamEvents(t *testing.T) {
	for _, c := range []struct {
		name   string
		events func(s *streamed)
		want   string
	}{
		{"written", func(s *streamed) { s.daemon.at("a.txt", fsModified|fsIsFile) }, "a.txt"},
		{"only metadata", func(s *streamed) { s.daemon.at("a.txt", fsXattr|fsIsFile) }, "a.txt"},
		{"owner", func(s *streamed) { s.daemon.at("d/b.txt", fsOwner|fsIsFile) }, "d/b.txt"},
		{"cloned", func(s *streamed) { s.daemon.at("a.txt", fsCloned|fsIsFile) }, "a.txt"},
		{"gone", func(s *streamed) { s.daemon.at("no.txt", fsCreated|fsRemoved|fsIsFile) }, "no.txt"},
		{"came, was written and went", func(s *streamed) { s.daemon.at("no.txt", fsCreated|fsModified|fsRemoved) }, "no.txt passed"},
		{"a folder's own times", func(s *streamed) { s.daemon.at("d", fsInodeMeta|fsIsDir) }, ""},
		{"the root's own times", func(s *streamed) { s.daemon.note(s.daemon.rootPath(), fsInodeMeta|fsIsDir) }, ""},
		{"a folder that came", func(s *streamed) { s.daemon.at("d/sub", fsCreated|fsIsDir) }, "d/sub/"},
		{"a folder that went", func(s *streamed) {
			os.RemoveAll(filepath.Join(s.dir, "d"))
			s.daemon.at("d", fsRenamed|fsIsDir)
		}, "d d/"},
		{"a folder to compare", func(s *streamed) { s.daemon.at("d/", fsMustScan) }, "d d/"},
		{"no flag: something in a folder", func(s *streamed) { s.daemon.at("d", 0) }, "d d/"},
		{"everything to compare", func(s *streamed) { s.daemon.note(s.daemon.rootPath()+"/", fsMustScan) }, "/ lost"},
		{"dropped by the daemon", func(s *streamed) { s.daemon.note("/", fsMustScan|fsUserDropped) }, "/ lost"},
		{"dropped by the kernel", func(s *streamed) { s.daemon.at("d", fsMustScan|fsKernelDropped) }, "/ lost"},
		{"numbers began anew", func(s *streamed) { s.daemon.note("/", fsIDsWrapped) }, "/ lost"},
		{"history done", func(s *streamed) { s.daemon.note("", fsHistoryDone) }, ""},
		{"a volume came", func(s *streamed) { s.daemon.at("d", fsMount) }, "/ lost"},
		{"a volume went", func(s *streamed) { s.daemon.at("d", fsUnmount) }, "/ lost"},
		{"the root was moved", func(s *streamed) { s.daemon.note(s.daemon.rootPath(), fsRootChanged) }, "/ lost"},
		{"our folder was moved", func(s *streamed) { s.daemon.note(filepath.ToSlash(s.daemon.own), fsRootChanged) }, "/ lost"},
		{"the root in another spelling", func(s *streamed) { s.daemon.note(strings.ToUpper(s.daemon.rootPath())+"/a.txt", fsModified) }, "/ lost"},
		{"a sibling with the root's name as prefix", func(s *streamed) { s.daemon.note(s.daemon.rootPath()+"-evil/a.txt", fsModified) }, "/ lost"},
		{"in a folder nobody admitted", func(s *streamed) { s.daemon.at("out/c.txt", fsModified) }, ""},
		{"that folder as a whole", func(s *streamed) { s.daemon.at("out", fsMustScan) }, ""},
		{"in a protected folder", func(s *streamed) { s.daemon.at(".git/index.lock", fsCreated|fsIsFile) }, ""},
		{"what steers searches", func(s *streamed) { s.daemon.at(".git/info/exclude", fsModified|fsIsFile) }, ".git/info/exclude"},
		{"its folder as a whole", func(s *streamed) { s.daemon.at(".git/info", fsMustScan) }, ".git/info/exclude"},
		{"the protected folder as a whole", func(s *streamed) { s.daemon.at(".git", fsMustScan) }, ".git/info/exclude"},
		{"another protected folder", func(s *streamed) { s.daemon.at(".obsidian", fsMustScan) }, ""},
		{"below a folder we never saw", func(s *streamed) { s.daemon.at("d/unseen/f.txt", fsRemoved|fsIsFile) }, "d/"},
		{"our own markers", func(s *streamed) { s.daemon.note(filepath.ToSlash(s.daemon.own)+"/x.tmp", fsCreated) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStreamed(t, "", func(_ rootfs.Path, name string) bool { return name != "out" })
			for _, file := range []string{"a.txt", "d/b.txt", "d/sub/deep/x.txt", "out/c.txt", ".git/info/exclude", ".obsidian/app.json"} {
				s.put(t, file, "text")
			}
			if err := s.begin(t.Context()); err != nil || s.failed != nil {
				t.Fatal(err, s.failed)
			}
			s.barrier(t)
			c.events(s)
			got, unwatched := s.barrier(t)
			if told(got) != c.want || len(unwatched) > 0 {
				t.Errorf("told %q, want %q; unwatched %v", told(got), c.want, unwatched)
			}
			if again, _ := s.barrier(t); told(again) != "" {
				t.Errorf("told again: %q", told(again))
			}
			if reopened := strings.Contains(c.name, "was moved"); s.daemon.opened != 1+s.daemon.closed || (s.daemon.closed == 1) != reopened {
				t.Errorf("opened %d times, closed %d", s.daemon.opened, s.daemon.closed)
			}
			s.daemon.at("d/sub/deep/x.txt", fsModified)
			if got, _ := s.barrier(t); !strings.HasPrefix(told(got), "d/") && s.known["d"] {
				t.Errorf("afterwards a change in a folder is told as %q", told(got))
			}
		})
	}
}

// If a barrier doesn't work, events are not relied on.
func TestStreamDoubts(t *testing.T) {
	t.Run("no framework", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		s.daemon.refuses = errors.New("not to be had")
		if err := s.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, unwatched := s.barrier(t); len(unwatched) != 1 || !unwatched[0].IsRoot() || s.status().Reason == nil {
			t.Errorf("unwatched %v, status %+v", unwatched, s.status())
		}
	})
	t.Run("nothing comes", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		s.wait, s.daemon.silent = time.Millisecond, true
		if err := s.begin(t.Context()); err != nil || !errors.Is(s.failed, errLate) || s.live != nil || s.daemon.closed != 1 {
			t.Errorf("%v, failed %v", err, s.failed)
		}
	})
	t.Run("out of order", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		s.daemon.alone = true
		s.daemon.keeps = []bool{false, true, true, true, false, false}
		if err := s.begin(t.Context()); err != nil || !errors.Is(s.failed, errUnordered) || s.live != nil {
			t.Errorf("a stream that holds events back for good is trusted: %v, %v", err, s.failed)
		}
	})
	t.Run("late once, then twice", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		s.put(t, "a.txt", "text")
		if err := s.begin(t.Context()); err != nil || s.failed != nil {
			t.Fatal(err, s.failed)
		}
		late := func(silent bool) (string, int) {
			s.daemon.silent = silent
			if s.wait = 20 * time.Second; silent {
				s.wait = time.Millisecond
			}
			s.daemon.at("a.txt", fsModified)
			got, unwatched := s.barrier(t)
			return told(got), len(unwatched)
		}
		if _, unwatched := late(true); unwatched != 1 || s.failed != nil {
			t.Errorf("late: %d unwatched, %v", unwatched, s.failed)
		}
		if got, unwatched := late(false); got != "a.txt" || unwatched != 0 {
			t.Errorf("in time again: told %q, %d unwatched", got, unwatched)
		}
		late(true)
		if _, unwatched := late(true); unwatched != 1 || !errors.Is(s.failed, errLate) {
			t.Errorf("late twice: %d unwatched, %v", unwatched, s.failed)
		}
		s.daemon.silent, s.wait = false, 20*time.Second
		if err := s.restart(t.Context()); err != nil || s.failed != nil {
			t.Fatal(err, s.failed)
		}
		if got, unwatched := late(false); got != "/ lost" || unwatched != 0 {
			t.Errorf("after a restart: told %q, %d unwatched", got, unwatched)
		}
	})
	t.Run("no marker can be made", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		if err := s.begin(t.Context()); err != nil || s.failed != nil {
			t.Fatal(err, s.failed)
		}
		if err := os.RemoveAll(s.daemon.own); err != nil {
			t.Fatal(err)
		}
		if _, unwatched := s.barrier(t); len(unwatched) != 1 {
			t.Errorf("unwatched %v, want the root", unwatched)
		}
	})
	t.Run("too many between two barriers", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		if err := s.begin(t.Context()); err != nil || s.failed != nil {
			t.Fatal(err, s.failed)
		}
		s.barrier(t)
		events := make([]fsEvent, maxArrived+1)
		for i := range events {
			events[i] = fsEvent{fmt.Sprintf("%s/f%d", s.daemon.rootPath(), i), fsModified}
		}
		s.in.deliver(events)
		if got, _ := s.barrier(t); !got.Lost {
			t.Errorf("told %q, want that events were lost", told(got))
		}
	})
	t.Run("a volume below the root", func(t *testing.T) {
		s := newStreamed(t, "", nil)
		s.put(t, "mnt/a.txt", "text")
		if err := s.begin(t.Context()); err != nil || s.failed != nil {
			t.Fatal(err, s.failed)
		}
		s.barrier(t)
		s.daemon.mounts, s.daemon.moved = []rootfs.Path{s.w.path("mnt")}, true
		if got, unwatched := s.barrier(t); !got.Lost || len(unwatched) != 1 || unwatched[0].String() != "mnt" {
			t.Errorf("told %q, unwatched %v", told(got), unwatched)
		}
	})
	t.Run("our folder below the root", func(t *testing.T) {
		s := newStreamed(t, "state/own", nil)
		if err := s.begin(t.Context()); err != nil || s.failed != nil {
			t.Fatal(err, s.failed)
		}
		s.barrier(t)
		if got, _ := s.barrier(t); told(got) != "" {
			t.Errorf("our own markers are told: %q", told(got))
		}
		s.put(t, "a/events-1-1", "a user's file")
		s.daemon.at("a", fsCreated|fsIsDir)
		s.daemon.at("a/events-1-1", fsModified)
		if got, _ := s.barrier(t); told(got) != "a/" {
			t.Errorf("a user's file with a marker's name: told %q", told(got))
		}
	})
}

// A folder admitted later is reported, and so are later events in it.
func TestStreamRescan(t *testing.T) {
	open := false
	s := newStreamed(t, "", func(_ rootfs.Path, name string) bool { return name != "out" || open })
	s.put(t, "out/deep/a.txt", "text")
	if err := s.begin(t.Context()); err != nil || s.failed != nil {
		t.Fatal(err, s.failed)
	}
	s.barrier(t)
	s.daemon.at("out/deep/a.txt", fsModified)
	if got, _ := s.barrier(t); told(got) != "" {
		t.Errorf("told %q of a folder nobody admitted", told(got))
	}
	open = true
	s.rescan(rootfs.Path{})
	if err := s.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.barrier(t); told(got) != "out/" {
		t.Errorf("told %q, want out/", told(got))
	}
	s.daemon.at("out/deep/a.txt", fsModified)
	if got, _ := s.barrier(t); told(got) != "out/deep/a.txt" {
		t.Errorf("told %q, want out/deep/a.txt", told(got))
	}
}

// Random changes, delivered as macOS does: late, in any order, combined, and now and then
// only as a folder to compare or as a loss. A client that looks only at reported paths is
// never stale.
func TestStreamFresh(t *testing.T) {
	run := stress.Start(t, "fresh, events of macOS", 300, 20000)
	s := newStreamed(t, "", nil)
	if err := s.begin(t.Context()); err != nil || s.failed != nil {
		t.Fatal(err, s.failed)
	}
	m := replica{dir: s.dir, files: map[string]string{}}
	m.apply(&Changes{Trees: []rootfs.Path{{}}})
	for seed := range run.Cases() {
		rnd := stress.Rand(seed)
		s.daemon.rnd = rnd
		var did []string
		for range 1 + rnd.IntN(5) {
			did = append(did, s.change(rnd))
			switch rnd.IntN(20) {
			case 0:
				s.daemon.coarsen(rnd)
			case 1: // the timer of a burst ends
				s.daemon.tell(s.daemon.shuffled())
			}
		}
		c, unwatched := s.barrier(t)
		if len(unwatched) > 0 {
			t.Fatal(unwatched, s.failed)
		}
		m.apply(&c)
		if diff := m.differs(); diff != "" {
			run.Violation(seed, "after %s: %s", strings.Join(did, ", "), diff)
			m.apply(&Changes{Trees: []rootfs.Path{{}}})
		}
	}
}

// coarsen replaces events by the report that the system makes when there are too many
// events.
func (d *daemon) coarsen(rnd *rand.Rand) {
	at := d.rootPath()
	for p := range d.held {
		if strings.HasPrefix(p, at+"/") && rnd.IntN(2) == 0 {
			at = parent(p)
			break
		}
	}
	flags := fsMustScan
	if at == d.rootPath() {
		flags |= []uint32{fsUserDropped, fsKernelDropped}[rnd.IntN(2)]
	}
	maps.DeleteFunc(d.held, func(p string, _ uint32) bool { return strings.HasPrefix(p, at+"/") })
	d.note(at, flags)
}

// change makes a random change, and the events that macOS makes for it.
func (s *streamed) change(rnd *rand.Rand) string {
	name := func(letter string, of int) string { return fmt.Sprintf("%s%d", letter, rnd.IntN(of)) }
	folder := func() string {
		p := ""
		for range rnd.IntN(4) {
			p = join(p, name("d", 3))
		}
		return p
	}
	disk := func(rel string) string { return filepath.Join(s.dir, filepath.FromSlash(rel)) }
	file := join(folder(), name("f", 5)+".txt")
	text := []byte(fmt.Sprint(rnd.Uint64()))
	switch rnd.IntN(8) {
	case 0, 1:
		_, err := os.Lstat(disk(file))
		if os.WriteFile(disk(file), text, 0o644) == nil {
			flags := fsModified | fsIsFile
			if err != nil {
				flags |= fsCreated
			}
			s.daemon.at(file, flags)
		}
		return "write " + file
	case 2:
		to := join(folder(), name("f", 5)+".txt")
		if file != to && os.Rename(disk(file), disk(to)) == nil {
			s.daemon.at(file, fsRenamed|fsIsFile)
			s.daemon.at(to, fsRenamed|fsIsFile)
		}
		return "rename " + file + " " + to
	case 3:
		temp := file + ".tmp"
		if os.WriteFile(disk(temp), text, 0o644) == nil && os.Rename(disk(temp), disk(file)) == nil {
			s.daemon.at(temp, fsCreated|fsModified|fsRenamed|fsIsFile)
			s.daemon.at(file, fsRenamed|fsIsFile)
		}
		return "replace " + file
	case 4:
		if os.Remove(disk(file)) == nil {
			s.daemon.at(file, fsRemoved|fsIsFile)
		}
		return "remove " + file
	case 5:
		dir := join(folder(), name("d", 3))
		if os.Mkdir(disk(dir), 0o755) == nil {
			s.daemon.at(dir, fsCreated|fsIsDir)
		}
		if at := join(dir, "at-once.txt"); os.WriteFile(disk(at), text, 0o644) == nil {
			s.daemon.at(at, fsCreated|fsModified|fsIsFile)
		}
		return "mkdir " + dir
	case 6: // for a moved folder only the folder is reported
		from, to := join(folder(), name("d", 3)), join(folder(), name("d", 3))
		if from != to && os.Rename(disk(from), disk(to)) == nil {
			s.daemon.at(from, fsRenamed|fsIsDir)
			s.daemon.at(to, fsRenamed|fsIsDir)
		}
		return "rename folder " + from + " " + to
	default:
		dir := join(folder(), name("d", 3))
		var inside []string
		filepath.WalkDir(disk(dir), func(p string, _ fs.DirEntry, err error) error {
			if rel, e := filepath.Rel(s.dir, p); err == nil && e == nil {
				inside = append(inside, filepath.ToSlash(rel))
			}
			return nil
		})
		if rnd.IntN(3) == 0 && os.RemoveAll(disk(dir)) == nil {
			for _, p := range inside {
				s.daemon.at(p, fsRemoved)
			}
		}
		return "remove folder " + dir
	}
}
