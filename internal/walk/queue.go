package walk

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"quarry/internal/ignore"
	"quarry/internal/rootfs"
)

// A task is a folder to visit or, if files is set, a part of one.
type task struct {
	from    *handle     // parent folder, on which the task holds a reference; nil if path is used
	name    string      // the folder's name in from
	path    rootfs.Path // the folder's path if from is nil
	ignored bool        // the rules exclude it
	linked  bool        // below a followed symlink, so shown differs from path
	shown   string      // only set if linked or in an ordered walk
	frame   *ignore.Frame
	files   []rootfs.Entry // a part of a large folder; owned by the task
	parts   int            // the number of parts of a large folder
	chain   *ancestor      // only with FollowLinks
	depth   int            // below Start
}

// An ancestor is a folder on the way from Start to the task's folder. The chain is used to detect
// loops.
type ancestor struct {
	up       *ancestor
	dev, ino uint64
}

// where returns the real path of the task's folder.
func (t *task) where() rootfs.Path {
	if t.from == nil {
		return t.path
	}
	p, err := t.from.dir.Path().Child(t.name)
	if err != nil { // unreachable: the name comes from a listing
		return t.from.dir.Path()
	}
	return p
}

// at reports whether p is the path of the task's folder. It does not allocate.
func (t *task) at(p rootfs.Path) bool {
	if t.from == nil {
		return p == t.path
	}
	return p.Dir() == t.from.dir.Path() && p.Base() == t.name
}

// label returns the path at which the walk found the folder, "" for the root.
func (t *task) label() string {
	if t.linked {
		return t.shown
	}
	return plainPath(t.where())
}

// plainPath returns p as a string, "" for the root.
func plainPath(p rootfs.Path) string {
	if p.IsRoot() {
		return ""
	}
	return p.String()
}

// A handle is an open folder. It is closed after its visit, when all tasks that open subfolders
// through it are done too.
type handle struct {
	dir  *rootfs.Dir
	refs atomic.Int32
}

func (w *walker) release(h *handle) {
	if h != nil && h.refs.Add(-1) == 0 {
		h.dir.Close()
		w.handles.Add(-1)
	}
}

// A worker executes tasks. Unless the walk is ordered, each worker has its own stack. It takes the
// newest task first: so it finishes a subtree before the next one, and few folders have to wait. If
// its stack is empty, it takes the oldest tasks of another worker, which are probably the largest
// subtrees.
type worker struct {
	*walker
	id int

	mu    sync.Mutex
	tasks []task // guarded by mu

	// used only by the worker itself, so not guarded
	entries []rootfs.Entry // a listing
	files   []rootfs.Entry // the files of the listing to visit
	dirs    []rootfs.Entry // the folders of the listing to enter

	excluded []rootfs.Entry // the entries of the listing that the rules exclude

	subs    []task
	path    []byte // path of the current entry
	ignored bool   // the current folder is ignored
	visited Visit
	nFiles  int
	nDirs   int
	counts  [reasons]int
	denied  int
	secrets []string

	_ [64]byte // keeps the locks of adjacent workers on different cache lines
}

func (w *worker) loop() {
	for {
		t, ok := w.next()
		if !ok {
			return
		}
		w.work(&t)
		if w.pending.Add(-1) == 0 {
			w.halt()
			return
		}
	}
}

// push adds the subfolders of the folder shown to the queue.
func (w *worker) push(ts []task, shown string) {
	w.pending.Add(int64(len(ts)))
	if w.ordered {
		w.front.push(ts, shown)
	} else {
		w.mu.Lock()
		w.tasks = append(w.tasks, ts...)
		w.mu.Unlock()
	}
	w.startOthers()
	if idle := int(w.idle.Load()); idle > 0 {
		w.wake.L.Lock()
		for range min(idle, len(ts)) { // more workers than tasks would only contend for them
			w.wake.Signal()
		}
		w.wake.L.Unlock()
	}
}

func (w *worker) next() (task, bool) {
	for {
		if w.stop.Load() {
			return task{}, false
		}
		if t, ok := w.pop(); ok {
			return t, true
		}
		if t, ok := w.steal(); ok {
			return t, true
		}
		// Count as idle before the last check for tasks. Otherwise a worker that pushes a task just
		// after the check would not wake this one.
		w.wake.L.Lock()
		w.idle.Add(1)
		t, ok := w.steal()
		if !ok && !w.stop.Load() {
			w.wake.Wait()
		}
		w.idle.Add(-1)
		w.wake.L.Unlock()
		if ok {
			return t, true
		}
	}
}

func (w *worker) pop() (t task, ok bool) {
	if w.ordered {
		return w.front.pop()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return popLast(&w.tasks)
}

func popLast(ts *[]task) (t task, ok bool) {
	if n := len(*ts); n > 0 {
		t, ok = (*ts)[n-1], true
		(*ts)[n-1] = task{}
		*ts = (*ts)[:n-1]
	}
	return t, ok
}

// A front is the queue of an ordered walk, shared by all workers. It is sorted with the first task
// in path order last. So all workers work near the reader's position. If each had its own stack,
// one worker would walk the root's first folder alone, while the results of the others have to
// wait.
type front struct {
	mu    sync.Mutex
	tasks []task // guarded by mu
}

// push inserts the tasks of one folder, which must be sorted like the front. They are adjacent
// there.
func (f *front) push(ts []task, shown string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := sort.Search(len(f.tasks), func(i int) bool { return precedes(f.tasks[i].shown, shown) })
	f.tasks = slices.Insert(f.tasks, at, ts...)
}

// precedes reports whether folder a comes before folder b and the entries of b. "" is the root.
func precedes(a, b string) bool {
	n := min(len(a), len(b))
	switch c := strings.Compare(a[:n], b[:n]); {
	case c != 0 || len(a) == len(b):
		return c < 0
	case len(a) == n:
		return n == 0 || b[n] >= '/'
	}
	return n > 0 && a[n] < '/'
}

func (f *front) pop() (task, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return popLast(&f.tasks)
}

// steal takes the older half of another worker's tasks. It returns one of them and pushes the
// others.
func (w *worker) steal() (task, bool) {
	if w.ordered {
		return w.front.pop()
	}
	for i := 1; i < len(w.workers); i++ {
		other := &w.workers[(w.id+i)%len(w.workers)]
		other.mu.Lock()
		n := len(other.tasks)
		if n == 0 {
			other.mu.Unlock()
			continue
		}
		k := (n + 1) / 2
		taken := make([]task, k)
		copy(taken, other.tasks)
		rest := copy(other.tasks, other.tasks[k:])
		clear(other.tasks[rest:])
		other.tasks = other.tasks[:rest]
		other.mu.Unlock()
		w.mu.Lock()
		w.tasks = append(w.tasks, taken[:k-1]...)
		w.mu.Unlock()
		return taken[k-1], true
	}
	return task{}, false
}

// discard releases the handles of tasks that are still queued when a walk was stopped.
func (w *walker) discard(ts []task) {
	for i := range ts {
		w.release(ts[i].from)
	}
}
