package owner

import (
	"context"
	"slices"
	"strings"
	"sync"

	"quarry/internal/rootfs"
	"quarry/internal/watch"
)

// Ignored files are indexed, and their folders watched, while there are few. Then
// a search for them needs no walk, and neither does the hint about them in an
// empty answer. If there are more, as in folders of dependencies, a search for
// them scans.
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

// outlying are the ignored folders that are watched.
type outlying struct {
	mu   sync.Mutex
	dirs map[string]rootfs.Path // by path; the value is its parent
	full bool                   // there were more than maxIgnoredFolders
}

// add adds a folder and reports whether there was room. Folders that were deleted
// make room.
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

// take empties the list.
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

// admits decides whether to watch a folder. The watcher has applied the policy.
func (o *owned) admits(dir rootfs.Path, name string) bool {
	return o.judge.Enters(dir, name) || o.withIgnored.Load() && o.outlying.add(o.root, dir, name)
}

// followIgnored begins or ends watching ignored folders, according to whether the index has
// them. It is called before the events are read, so the next barrier reports a folder that
// it begins to watch.
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

// outermost drops folders inside other ones.
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
