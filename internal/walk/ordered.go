package walk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"quarry/internal/rootfs"
)

// Item is one file or folder of an ordered walk.
type Item struct {
	Dir   rootfs.Path // the folder it really lies in
	Path  string      // where the walk found it, relative to the root
	Entry rootfs.Entry
}

// A node is a folder whose listing is or will be known.
type node struct {
	ready chan struct{} // closed when the fields below are set
	path  rootfs.Path
	items []rootfs.Entry // files and folders, sorted; none if it couldn't be read
}

// Ordered lists files in the byte order of their paths, and with folders set
// the folders as well, each right before what lies in it. Workers read ahead in
// parallel; an item is passed to yield as soon as all before it are known.
// yield runs on the calling goroutine; its error stops the walk and is returned.
func Ordered(ctx context.Context, root *rootfs.Root, opts *Options, folders bool, yield func(Item) error) (Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := orderer{nodes: map[string]*node{}, folders: folders, yield: yield}
	w := newWalker(root, opts, o.visit)
	w.opts.Batch = 1 << 30 // a folder must come whole to be sorted
	w.ordered, w.announce, w.missed = true, o.announce, o.miss
	shown := plainPath(w.opts.Start)
	top := o.expect(shown)

	var report Report
	var walkErr error
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		report, walkErr = w.run(ctx)
	}()
	err := o.emit(finished, shown, top)
	if err != nil {
		cancel()
	}
	<-finished
	if err == nil || err == errStopped {
		err = walkErr
	}
	return report, err
}

// errStopped says that the walk ended early; its own error tells why.
var errStopped = errors.New("walk stopped")

type orderer struct {
	folders bool
	yield   func(Item) error

	mu    sync.Mutex
	nodes map[string]*node // announced and not yet emitted, by shown path
}

func (o *orderer) expect(shown string) *node {
	n := &node{ready: make(chan struct{})}
	o.mu.Lock()
	o.nodes[shown] = n
	o.mu.Unlock()
	return n
}

func (o *orderer) announce(shown string, dirs []rootfs.Entry) {
	for _, d := range dirs {
		o.expect(join(shown, d.Name))
	}
}

func (o *orderer) node(shown string) *node {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.nodes[shown]
}

func (o *orderer) miss(shown string) {
	if n := o.node(shown); n != nil {
		close(n.ready)
	}
}

func (o *orderer) visit(v *Visit) error {
	n := o.node(v.Shown)
	n.path = v.Path
	n.items = make([]rootfs.Entry, 0, len(v.Files)+len(v.Dirs))
	n.items = append(n.items, v.Files...)
	for _, d := range v.Dirs {
		d.Type = rootfs.TypeDir // also a symlink that is followed
		n.items = append(n.items, d)
	}
	slices.SortFunc(n.items, compareEntries)
	close(n.ready)
	return nil
}

// compareEntries orders as full paths are: a folder as if its name ended in the
// slash that its entries' paths have there.
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

// after is the byte of an entry's path at position n, -1 behind its end.
func after(name string, n int, t rootfs.Type) int {
	switch {
	case n < len(name):
		return int(name[n])
	case t == rootfs.TypeDir:
		return '/'
	}
	return -1
}

// emit passes on the items below n, depth first. It keeps its own stack: a tree
// may be deeper than a goroutine's.
func (o *orderer) emit(finished <-chan struct{}, shown string, n *node) error {
	type level struct {
		shown string
		n     *node
		next  int
	}
	stack := []level{{shown, n, 0}}
	for len(stack) > 0 {
		l := &stack[len(stack)-1]
		if l.next == 0 {
			select {
			case <-l.n.ready:
			case <-finished:
				select {
				case <-l.n.ready:
				default:
					return errStopped
				}
			}
		}
		if l.next == len(l.n.items) {
			o.mu.Lock()
			delete(o.nodes, l.shown)
			o.mu.Unlock()
			stack = stack[:len(stack)-1]
			continue
		}
		e := l.n.items[l.next]
		l.next++
		path := join(l.shown, e.Name)
		isDir := e.Type == rootfs.TypeDir
		if !isDir || o.folders {
			if err := o.yield(Item{l.n.path, path, e}); err != nil {
				return err
			}
		}
		if isDir {
			stack = append(stack, level{path, o.node(path), 0})
		}
	}
	return nil
}
