package owner

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"quarry/fault"
	"quarry/search"
)

// reading counts the files and bytes that a build has read so far.
type reading struct{ files, total, bytes atomic.Int64 }

func (r *reading) now() search.Progress {
	files := r.files.Load()
	return search.Progress{Files: int(files), Total: int(max(r.total.Load(), files)), Bytes: r.bytes.Load()}
}

// progress is called by the index: files were read since the last call, and bytes in
// total.
func (o *owned) progress(files int, bytes int64) {
	if o.ready.Load() {
		return // small flushes are not reported
	}
	o.reading.files.Add(int64(files))
	for was := o.reading.bytes.Load(); bytes > was && !o.reading.bytes.CompareAndSwap(was, bytes); {
		was = o.reading.bytes.Load() // a later report has already been counted
	}
	if o.opts.Progress != nil {
		o.opts.Progress(o.reading.now())
	}
}

// ErrNotOwner is returned for a call that only the index owner can make.
var ErrNotOwner = fault.New(fault.IndexNotFound, "this process does not own the index of the workspace", "")

// Wait waits until this process has built the index. It returns an error if this process
// is not the owner or the build fails.
func (m *Member) Wait(ctx context.Context) error {
	o := m.holds()
	if o == nil {
		return ErrNotOwner
	}
	select {
	case <-o.built:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := o.failed.Load(); err != nil {
		return *err
	}
	return o.ix.Flush(ctx)
}

// followEvery is how often Follow checks the progress; a user wouldn't notice more.
const followEvery = 100 * time.Millisecond

// ErrNobody means that no process owns the root's index.
var ErrNobody = fault.New(fault.IndexNotFound, "no process owns an index of the workspace", "")

// Follow waits until the index is ready, in whichever process owns it, and reports its
// progress about ten times a second, on the calling goroutine.
func (m *Member) Follow(ctx context.Context, report func(search.Progress)) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		st, _ := m.Status(ctx)
		switch {
		case st.State == "ready":
			return nil
		case st.State == "failed":
			return errors.New(st.Error)
		case st.State == "not_found":
			return ErrNobody
		}
		report(st.Building)
		var built <-chan struct{}
		if o := m.holds(); o != nil {
			built = o.built
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-built:
		case <-tick.C:
		}
	}
}
