package quarry

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// reading counts what a build has read.
type reading struct{ files, total, bytes atomic.Int64 }

func (r *reading) now() Progress {
	files := r.files.Load()
	return Progress{Files: int(files), Total: int(max(r.total.Load(), files)), Bytes: r.bytes.Load()}
}

// progress hears of more files that were read, and of the bytes so far.
func (k *keeper) progress(files int, bytes int64) {
	if k.ready.Load() {
		return // small flushes are nobody's business
	}
	k.reading.files.Add(int64(files))
	for was := k.reading.bytes.Load(); bytes > was && !k.reading.bytes.CompareAndSwap(was, bytes); {
		was = k.reading.bytes.Load() // a later report was faster
	}
	if k.opts.Progress != nil {
		k.opts.Progress(k.reading.now())
	}
}

// ErrNotKeeper is for what only the process that keeps the index can do.
var ErrNotKeeper = errors.New("this process keeps no index of the workspace; another one may")

// WaitIndex waits until the index is built. It fails when that isn't possible.
func (w *Workspace) WaitIndex(ctx context.Context) error {
	k := w.keeper.Load()
	if k == nil {
		return ErrNotKeeper
	}
	select {
	case <-k.built:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := k.failed.Load(); err != nil {
		return *err
	}
	return k.ix.Flush(ctx)
}

// followEvery is how often FollowIndex looks: a person sees no more.
const followEvery = 100 * time.Millisecond

// ErrNoIndex is for a workspace whose index no process keeps.
var ErrNoIndex = errors.New("no process keeps an index of the workspace")

// FollowIndex waits until the index is ready, whoever keeps it, and reports how
// far it is about ten times a second, on the calling goroutine.
func (w *Workspace) FollowIndex(ctx context.Context, report func(Progress)) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		st, err := w.IndexStatus(ctx)
		switch {
		case err != nil:
			return err
		case st.State == "ready":
			return nil
		case st.State == "failed":
			return errors.New(st.Error)
		case st.State == "not_found":
			return ErrNoIndex
		}
		report(st.Building)
		var built <-chan struct{}
		if k := w.keeper.Load(); k != nil {
			built = k.built
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-built:
		case <-tick.C:
		}
	}
}
