package walk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"quarry/internal/crew"
	"quarry/internal/rootfs"
)

// sequence delivers the results of parallel workers in path order. Each folder's subfolders are
// announced before they are visited, so the reader knows which folder to wait for next.
type sequence[T any] struct {
	work    func(v *Visit, e *rootfs.Entry) (T, bool)
	waiting func(bool)

	mu      sync.Mutex
	folders map[string]*folder[T] // announced but not yet delivered, by shown path
}

// folder holds the results of one folder once it was visited.
type folder[T any] struct {
	ready chan struct{} // closed when the fields below are final
	path  rootfs.Path
	items []outcome[T] // subfolders, and files with a result; empty if the folder was unreadable
	order []int        // indexes of items in path order; each name occurs once

	mu   sync.Mutex
	seen int // number of parts done; a large folder has several
}

type outcome[T any] struct {
	entry  rootfs.Entry
	result T
}

// errStopped means that the walk stopped before every folder was delivered. If the walk returned an
// error too, that error is the reason. If not, an announced folder was never visited, and the
// answer is incomplete.
var errStopped = errors.New("walk stopped before every folder was visited")

// run walks, and delivers the results in order on the caller's goroutine.
func (s *sequence[T]) run(ctx context.Context, root *rootfs.Root, opts *Options,
	pass func(path string, dir rootfs.Path, o *outcome[T]) error) (Report, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	s.folders = map[string]*folder[T]{}
	w := newWalker(root, opts, s.visit)
	w.ordered, w.announce, w.missed = true, s.announce, s.miss
	shown := plainPath(w.opts.Start)
	top := s.expect(shown)

	var report Report
	var walkErr error
	finished := make(chan struct{})
	walking := crew.Group{Stop: cancel}
	walking.Go(func() {
		defer close(finished)
		report, walkErr = w.run(inner)
	})
	var err error
	walking.Do(func() { err = s.read(finished, shown, top, pass) })
	if err != nil {
		cancel()
	}
	if s.waiting != nil { // nothing more is delivered, so workers must not wait for the reader
		s.waiting(true)
		defer s.waiting(false)
	}
	walking.Wait()
	if walkErr != nil && (err == nil || err == errStopped) {
		err = walkErr
	}
	if err == nil {
		// A callback may have skipped files because it saw that ctx was done before inner was.
		err = ctx.Err()
	}
	return report, err
}

func (s *sequence[T]) expect(shown string) *folder[T] {
	f := &folder[T]{ready: make(chan struct{})}
	s.mu.Lock()
	s.folders[shown] = f
	s.mu.Unlock()
	return f
}

func (s *sequence[T]) announce(shown string, dirs []rootfs.Entry) {
	for _, d := range dirs {
		s.expect(join(shown, d.Name))
	}
}

func (s *sequence[T]) folder(shown string) *folder[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folders[shown]
}

func (s *sequence[T]) miss(shown string, parts int) {
	if f := s.folder(shown); f != nil {
		f.add(parts, nil)
	}
}

func (s *sequence[T]) visit(v *Visit) error {
	items := make([]outcome[T], 0, len(v.Dirs))
	for _, d := range v.Dirs {
		d.Type = rootfs.TypeDir // also for a followed symlink
		items = append(items, outcome[T]{entry: d})
	}
	for i := range v.Files {
		if r, ok := s.work(v, &v.Files[i]); ok {
			items = append(items, outcome[T]{v.Files[i], r})
		}
	}
	f := s.folder(v.Shown)
	f.mu.Lock()
	f.path = v.Path
	f.mu.Unlock()
	f.add(v.Parts, items)
	return nil
}

// add adds the items of one part. The folder is ready when all parts have been added.
func (f *folder[T]) add(parts int, items []outcome[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items = append(f.items, items...)
	if f.seen++; f.seen == parts {
		f.order = byPath(len(f.items), func(i int) *rootfs.Entry { return &f.items[i].entry })
		close(f.ready)
	}
}

// byPath returns the indexes of n entries in path order, without duplicate names. It sorts indexes
// instead of outcomes, because sorting these would add 17 KB of code for each T.
func byPath(n int, entry func(i int) *rootfs.Entry) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareEntries(*entry(a), *entry(b)) })
	return slices.CompactFunc(order, func(a, b int) bool { return entry(a).Name == entry(b).Name && entry(a).Type == entry(b).Type })
}

// read delivers the results below f, depth first. It uses its own stack, because a tree may be
// deeper than a goroutine's stack allows.
func (s *sequence[T]) read(finished <-chan struct{}, shown string, f *folder[T], pass func(string, rootfs.Path, *outcome[T]) error) error {
	type level struct {
		shown string
		f     *folder[T]
		next  int
	}
	stack := []level{{shown, f, 0}}
	for len(stack) > 0 {
		l := &stack[len(stack)-1]
		if l.next == 0 {
			if !s.await(finished, l.f.ready) {
				return errStopped
			}
		}
		if l.next == len(l.f.order) {
			s.mu.Lock()
			delete(s.folders, l.shown)
			s.mu.Unlock()
			stack = stack[:len(stack)-1]
			continue
		}
		o := &l.f.items[l.f.order[l.next]]
		l.next++
		path := join(l.shown, o.entry.Name)
		if err := pass(path, l.f.path, o); err != nil {
			return err
		}
		if o.entry.Type == rootfs.TypeDir {
			stack = append(stack, level{path, s.folder(path), 0})
		}
	}
	return nil
}

// await waits for a folder to become ready. It returns false if the walk ended first.
func (s *sequence[T]) await(finished, ready <-chan struct{}) bool {
	select {
	case <-ready:
		return true
	default:
	}
	if s.waiting != nil {
		s.waiting(true)
		defer s.waiting(false)
	}
	select {
	case <-ready:
		return true
	case <-finished:
	}
	select {
	case <-ready:
		return true
	default:
		return false
	}
}

// compareEntries compares entries of one folder by their full paths: for a folder, the name is
// followed by a slash.
func compareEntries(a, b rootfs.Entry) int {
	x, y := a.Name, b.Name
	n := min(len(x), len(y))
	if c := strings.Compare(x[:n], y[:n]); c != 0 {
		return c
	}
	return after(x, n, a.Type) - after(y, n, b.Type)
}

func compareDirs(a, b string) int {
	return compareEntries(rootfs.Entry{Name: a, Type: rootfs.TypeDir}, rootfs.Entry{Name: b, Type: rootfs.TypeDir})
}

// after returns byte n of an entry's path, or -1 after the end of the path.
func after(name string, n int, t rootfs.Type) int {
	switch {
	case n < len(name):
		return int(name[n])
	case t == rootfs.TypeDir:
		return '/'
	}
	return -1
}
