//go:build (!linux && !windows && !darwin) || portable

package watch

import (
	"context"

	"quarry/internal/rootfs"
)

// If there is no working barrier, the root is one unwatched tree, and the caller sweeps.
type system struct{ roots []rootfs.Path }

func (w *Watcher) start(ctx context.Context) error {
	w.system.roots = []rootfs.Path{{}}
	return ctx.Err()
}

func (w *Watcher) stop() error                     { return nil }
func (w *Watcher) drain(context.Context) error     { return nil }
func (w *Watcher) remounted(context.Context) error { return nil }
func (w *Watcher) restarted(context.Context) error { return nil }
func (w *Watcher) settle(context.Context) error    { return nil }
func (w *Watcher) endRenames()                     {}
func (w *Watcher) rescan(rootfs.Path)              {}
func (w *Watcher) swept(func(string) bool) error   { return nil }
func (w *Watcher) unmark()                         {}
func (w *Watcher) unwatched() []rootfs.Path        { return w.system.roots }
func (w *Watcher) status() Status                  { return Status{Unwatched: 1, Reason: ErrForeign} }
