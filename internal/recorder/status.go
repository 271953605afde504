package recorder

import (
	"context"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// Status returns the state of the recording.
func (r *Recorder) Status() *change.Recording {
	r.base.mu.Lock()
	st := &change.Recording{
		On: r.base.built && r.ready(), Files: r.base.files, TooLarge: r.base.counts[tooLarge], OverBudget: r.base.counts[overBudget], Unreadable: r.base.counts[unreadable],
		Since: r.base.since, MaxBytes: r.opts.MaxBytes, Bytes: r.base.size + r.base.end,
	}
	r.base.mu.Unlock()
	if size, err := r.outside.Size(); err == nil {
		st.Bytes += size
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	st.Omitted = int(r.omitted.Load())
	if r.problem != nil {
		st.Problem = r.problem.Error()
	}
	return st
}

// Purge removes the records of a path and everything below it; "" means all records. No
// recorder may be running.
func Purge(ctx context.Context, opts *Options, path string) error {
	state, err := rootfs.Open(opts.StateDir, &rootfs.Options{Trusted: true, AllowAny: true, Private: opts.Layer == nil, Layer: opts.Layer})
	if err != nil {
		return err
	}
	defer state.Close()
	return journal.PurgeOutside(ctx, state, path, &journal.Options{})
}
