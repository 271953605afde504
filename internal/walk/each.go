package walk

import (
	"context"
	"slices"
	"sync"

	"quarry/internal/rootfs"
)

// Each does work on every file, in parallel and with the file's folder open,
// and delivers the results in the byte order of the paths. A result comes as
// soon as the folders before it are done; files for which work reports false
// have none.
//
// work runs on several goroutines, deliver on the calling one. An error of
// deliver stops the walk and is returned, as the context's is.
func Each[T any](ctx context.Context, root *rootfs.Root, opts *Options,
	work func(v *Visit, e *rootfs.Entry) (T, bool), deliver func(path string, result T) error) (Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := sequence[T]{folders: map[string]*folder[T]{}, work: work}
	w := newWalker(root, opts, s.visit)
	w.opts.Batch = 1 << 30 // a folder must come whole to be sorted
	w.ordered, w.announce, w.missed = true, s.announce, s.miss
	shown := plainPath(w.opts.Start)
	top := s.expect(shown)

	var report Report
	var walkErr error
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		report, walkErr = w.run(ctx)
	}()
	err := s.emit(finished, shown, top, deliver)
	if err != nil {
		cancel()
	}
	<-finished
	if err == nil || err == errStopped {
		err = walkErr
	}
	return report, err
}

// folder is a folder whose results are or will be known.
type folder[T any] struct {
	ready chan struct{} // closed when items is set
	items []outcome[T]  // files with a result and folders, sorted; none if it couldn't be read
}

type outcome[T any] struct {
	entry  rootfs.Entry
	result T
}

type sequence[T any] struct {
	work func(v *Visit, e *rootfs.Entry) (T, bool)

	mu      sync.Mutex
	folders map[string]*folder[T] // announced and not yet delivered, by shown path
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

func (s *sequence[T]) miss(shown string) {
	if f := s.folder(shown); f != nil {
		close(f.ready)
	}
}

func (s *sequence[T]) visit(v *Visit) error {
	f := s.folder(v.Shown)
	items := make([]outcome[T], 0, len(v.Dirs))
	for _, d := range v.Dirs {
		d.Type = rootfs.TypeDir // also a symlink that is followed
		items = append(items, outcome[T]{entry: d})
	}
	for i := range v.Files {
		if r, ok := s.work(v, &v.Files[i]); ok {
			items = append(items, outcome[T]{v.Files[i], r})
		}
	}
	slices.SortFunc(items, func(a, b outcome[T]) int { return compareEntries(a.entry, b.entry) })
	f.items = items
	close(f.ready)
	return nil
}

// emit delivers what is below f, depth first. It keeps its own stack: a tree
// may be deeper than a goroutine's.
func (s *sequence[T]) emit(finished <-chan struct{}, shown string, f *folder[T], deliver func(string, T) error) error {
	type level struct {
		shown string
		f     *folder[T]
		next  int
	}
	stack := []level{{shown, f, 0}}
	for len(stack) > 0 {
		l := &stack[len(stack)-1]
		if l.next == 0 {
			select {
			case <-l.f.ready:
			case <-finished:
				select {
				case <-l.f.ready:
				default:
					return errStopped
				}
			}
		}
		if l.next == len(l.f.items) {
			s.mu.Lock()
			delete(s.folders, l.shown)
			s.mu.Unlock()
			stack = stack[:len(stack)-1]
			continue
		}
		o := &l.f.items[l.next]
		l.next++
		path := join(l.shown, o.entry.Name)
		if o.entry.Type == rootfs.TypeDir {
			stack = append(stack, level{path, s.folder(path), 0})
		} else if err := deliver(path, o.result); err != nil {
			return err
		}
	}
	return nil
}
