//go:build linux && !portable

package watch

import (
	"context"

	"quarry/internal/rootfs"
)

// remounted checks whether something was mounted or unmounted below the root, and reports
// the affected folders. After mounting over a folder, its watch is on the hidden folder,
// so all places are compared with the disk. This also restores the watch of a folder that
// was mounted in two places.
func (w *Watcher) remounted(ctx context.Context) error {
	s := &w.system
	if s.mounts == nil || s.file == nil {
		return nil // nothing is watched: the root is swept each time
	}
	if moved := s.mounts.Poll(); len(moved) > 0 {
		for _, p := range moved {
			s.path = append(s.path[:0], p.String()...)
			w.pending.tree(s.path)
			if info, err := w.root.Stat(p); err != nil || info.Type != rootfs.TypeDir {
				w.pending.file(s.path, Created|Removed, false)
			}
		}
		w.noteMounted()
		w.rescan(rootfs.Path{})
		if err := w.settle(ctx); err != nil {
			w.pending.all() // the mounts won't be reported again
			return err
		}
	}
	for _, path := range s.mounted {
		if _, ok := w.pending.file(path, Written, false); !ok {
			w.pending.all()
		}
	}
	return nil
}

// noteMounted finds files on which something is mounted.
func (w *Watcher) noteMounted() {
	s := &w.system
	s.mounted = nil
	for _, m := range s.mounts.Below() {
		if info, err := w.root.Stat(m.At); err == nil && info.Type == rootfs.TypeFile {
			s.mounted = append(s.mounted, []byte(m.At.String()))
		}
	}
}
