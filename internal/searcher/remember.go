package searcher

import (
	"context"
	"sync"

	"quarry/internal/index"
)

// memory caches answers that depend on many files until one of the files changes.
type memory struct {
	mu   sync.Mutex
	kept map[string]answered
}

// answered is a cached answer and the state of the files it depends on.
type answered struct {
	state fileState
	value any
}

// fileState identifies a state of the files that a query without options covers.
type fileState struct {
	of      *index.State
	lens    string
	version uint64
}

// maxKept is the number of cached answers.
const maxKept = 4

// Remember returns the cached result of make for key if no file that a query without
// options covers has changed since; otherwise it calls make. The result is shared and
// must not be modified. Without an index in this process Remember always calls make.
func (d *Folder) Remember(ctx context.Context, key string, make func() (any, error)) (any, error) {
	if _, err := d.here(ctx); err != nil {
		return nil, err
	}
	// Get the state before make reads files. If a file changes in between, the cached
	// state is too old and the next call makes the answer again.
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

// put caches an answer. It drops answers for other states, which can't recur.
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

// fileState returns the current state. known is false if the index can't tell.
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
