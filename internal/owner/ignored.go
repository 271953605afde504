package owner

import (
	"context"
	"slices"
	"strings"
	"sync"

	"quarry/internal/rootfs"
	"quarry/internal/watch"
)

// If there are only a few ignored files, they are indexed and their folders watched. A
// search that includes them then needs no walk, and neither does the hint about them in
// an empty answer. If there are more, as in folders of dependencies, such a search scans.
const (
	maxIgnoredFiles   = 20_000
	maxIgnoredFolders = 5_000
)

func (o *Options) maxIgnored() int {
	if o.MaxIgnored > 0 {
		return o.MaxIgnored
	}
	return maxIgnoredFiles
}

// outlying has the ignored folders that are watched.
type outlying struct {
	mu   sync.Mutex
	dirs map[string]rootfs.Path // each folder's parent, by path
	full bool                   // there were more than maxIgnoredFolders
}

// add adds a folder unless the limit is reached, and reports whether it did. If the limit
// is reached, it first removes folders that no longer exist.
func (l *outlying) add(root *rootfs.Root, dir rootfs.Path, name string) bool {
	p, err := dir.Child(name)
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirs == nil {
		l.dirs = map[string]rootfs.Path{}
	}
	if _, known := l.dirs[p.String()]; !known && len(l.dirs) >= maxIgnoredFolders && !l.full {
		for at, p := range l.dirs {
			if info, err := root.Stat(p); err != nil || info.Type != rootfs.TypeDir {
				delete(l.dirs, at)
			}
		}
		l.full = len(l.dirs) > maxIgnoredFolders/5*4
	}
	if l.full {
		return false
	}
	l.dirs[p.String()] = p
	return true
}

func (l *outlying) tooMany() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// take returns all folders and removes them.
func (l *outlying) take() []rootfs.Path {
	l.mu.Lock()
	defer l.mu.Unlock()
	var dirs []rootfs.Path
	for _, p := range l.dirs {
		dirs = append(dirs, p)
	}
	l.dirs = nil
	return dirs
}

// admits decides whether to watch a folder that the policy allows.
func (o *owned) admits(dir rootfs.Path, name string) bool {
	return o.judge.Enters(dir, name) || o.withIgnored.Load() && o.outlying.add(o.root, dir, name)
}

// followIgnored begins to watch ignored folders if the index has them, and otherwise ends
// that. It is called before events are read, so the next barrier reports the newly
// watched folders.
func (o *owned) followIgnored(ctx context.Context, watcher *watch.Watcher) error {
	if !o.withIgnored.Load() {
		_, err := o.ix.TakeIgnored(func() error {
			o.withIgnored.Store(true)
			return watcher.Rescan(ctx, rootfs.Path{})
		})
		return err
	}
	if o.ix.WantsIgnored() {
		return nil
	}
	o.withIgnored.Store(false)
	for _, dir := range outermost(o.outlying.take()) {
		if err := watcher.Rescan(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// outermost removes folders that are inside other ones.
func outermost(dirs []rootfs.Path) []rootfs.Path {
	slices.SortFunc(dirs, func(a, b rootfs.Path) int { return strings.Compare(a.String()+"/", b.String()+"/") })
	kept := dirs[:0]
	for _, d := range dirs {
		if len(kept) == 0 || !d.Beneath(kept[len(kept)-1]) {
			kept = append(kept, d)
		}
	}
	return kept
}
