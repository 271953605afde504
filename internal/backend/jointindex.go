package backend

import (
	"cmp"
	"context"
	"time"

	"quarry/change"
	"quarry/search"
)

// Index returns the indexes of all parts as one.
func (s *joint) Index() Index { return (*jointIndex)(s) }

type jointIndex joint

// states ranks the states of an index, best first. The joint state is the worst of all
// parts.
var states = map[string]int{"ready": 0, "indexing": 1, "not_found": 2, "failed": 3}

// Status adds up the status of all parts. The state is the worst.
func (s *jointIndex) Status(ctx context.Context) (*search.IndexStatus, error) {
	out := &search.IndexStatus{State: "ready", Freshness: "event"}
	for _, p := range s.parts {
		st, err := p.Index().Status(ctx)
		if err != nil {
			return nil, p.located(err)
		}
		if states[st.State] > states[out.State] {
			out.State, out.Error = st.State, st.Error
		}
		if st.Freshness != "event" {
			out.Freshness = st.Freshness
		}
		if out.Updated.IsZero() || st.Updated.Before(out.Updated) {
			out.Updated = st.Updated
		}
		out.Remote, out.Overlay = out.Remote || st.Remote, out.Overlay || st.Overlay
		out.Files += st.Files
		out.TextBytes += st.TextBytes
		out.DiskBytes += st.DiskBytes
		out.Pending += st.Pending
		out.Watches += st.Watches
		out.Unwatched += st.Unwatched
		out.Sweeps += st.Sweeps
		out.Restamps += st.Restamps
		out.AllBytes, out.MaxBytes = st.AllBytes, st.MaxBytes
		out.Building.Files += st.Building.Files
		out.Building.Total += st.Building.Total
		out.Building.Bytes += st.Building.Bytes
	}
	return out, nil
}

// Wait waits for the parts one after another, until one fails.
func (s *jointIndex) Wait(ctx context.Context) error {
	return s.each(func(ix Index) error { return ix.Wait(ctx) })
}

// Follow waits for the parts one after another. Each report is about one of them.
func (s *jointIndex) Follow(ctx context.Context, report func(search.Progress)) error {
	return s.each(func(ix Index) error { return ix.Follow(ctx, report) })
}

func (s *jointIndex) each(do func(Index) error) error {
	for _, p := range s.parts {
		if err := do(p.Index()); err != nil {
			return p.located(err)
		}
	}
	return nil
}

// Idle returns the time since another process last sent any part a request.
func (s *jointIndex) Idle() time.Duration {
	idle := s.parts[0].Index().Idle()
	for _, p := range s.parts {
		idle = min(idle, p.Index().Idle())
	}
	return idle
}

// Verify compares each part with its files.
func (s *jointIndex) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	out := &search.Verification{}
	for _, p := range s.parts {
		v, err := p.Index().Verify(ctx, func(path, what string) { fault(p.join(path), what) }, progress)
		if err != nil {
			return nil, p.located(err)
		}
		out.Files += v.Files
		out.Bytes += v.Bytes
		out.Changed += v.Changed
		out.Listed += v.Listed
		out.Searches += v.Searches
		out.Faults += v.Faults
		out.Remote = out.Remote || v.Remote
	}
	return out, nil
}

// Recording adds up the recordings of the parts. It is on if all parts are recorded.
func (s *jointIndex) Recording(ctx context.Context) (*change.Recording, error) {
	var out *change.Recording
	for _, p := range s.parts {
		st, err := p.Index().Recording(ctx)
		if err != nil {
			return nil, p.located(err)
		}
		if st == nil {
			st = &change.Recording{}
		}
		if out == nil {
			out = &change.Recording{On: true}
		}
		out.On = out.On && st.On
		if st.Since.After(out.Since) {
			out.Since = st.Since
		}
		out.Files, out.TooLarge, out.OverBudget, out.Unreadable = out.Files+st.Files, out.TooLarge+st.TooLarge, out.OverBudget+st.OverBudget, out.Unreadable+st.Unreadable
		out.Omitted, out.Unwatched = out.Omitted+st.Omitted, out.Unwatched+st.Unwatched
		out.Bytes, out.MaxBytes = out.Bytes+st.Bytes, out.MaxBytes+st.MaxBytes
		out.Problem = cmp.Or(out.Problem, st.Problem)
	}
	return out, nil
}
