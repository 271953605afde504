package searcher

import (
	"context"
	"sync"

	"quarry/internal/index"
)

// memory keeps answers that are made of many files as long as none of them changes.
type memory struct {
	mu   sync.Mutex
	kept map[string]answered
}

// answered is an answer with the state of the files that it was made in.
type answered struct {
	state fileState
	value any
}

// fileState tells states of the files that a query without options shows.
type fileState struct {
	of      *index.State
	lens    string
	version uint64
}

// maxKept is how many answers are kept.
const maxKept = 4

// Remember returns what make has returned for the key, if no file has changed since that
// a query without options shows; otherwise it calls make. The value is shared: nobody
// may change it. Without an index in this process it always calls make.
func (d *Folder) Remember(ctx context.Context, key string, make func() (any, error)) (any, error) {
	if _, err := d.here(ctx); err != nil {
		return nil, err
	}
	// The state is older than what make sees, so a change in between is found at the
	// next call.
	state, known := d.fileState(ctx)
	if !known {
		return make()
	}
	if v, ok := d.memory.get(key, state); ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		d.memory.put(key, answered{state, v})
	}
	return v, err
}

func (m *memory) get(key string, state fileState) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[key]
	if !ok || k.state != state {
		return nil, false
	}
	return k.value, true
}

// put keeps an answer and drops those of other states, which nobody will ask for.
func (m *memory) put(key string, k answered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for other, had := range m.kept {
		if had.state != k.state || len(m.kept) >= maxKept {
			delete(m.kept, other)
		}
	}
	if m.kept == nil {
		m.kept = map[string]answered{}
	}
	m.kept[key] = k
}

// fileState is the present state; false if the index doesn't know it.
func (d *Folder) fileState(ctx context.Context) (s fileState, known bool) {
	ix := d.index()
	ask := &index.Ask{Terms: true}
	if !ix.Ready(ask) {
		return s, false
	}
	snap, err := ix.Fresh(ctx)
	if err != nil {
		return s, false
	}
	defer snap.Close()
	lens := ix.Lens(false, false)
	if s.of = snap.State(); s.of == nil || lens == nil || !ix.Covers(snap, ask.Under, false) {
		return s, false
	}
	s.lens, s.version = lens.Key, lens.Version
	return s, true
}
