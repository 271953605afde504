package owner

import "sync"

// gate lets the first sweep of an owner enter a folder as soon as it is watched: a change
// that the sweep misses then makes an event. Without it the sweep would have to wait for
// all folders.
type gate struct {
	mu     sync.Mutex
	opened sync.Cond
	up     bool            // all may pass
	passed map[string]bool // watched
	swept  map[string]bool // admitted while the gate was in use
}

func newGate() *gate {
	g := &gate{passed: map[string]bool{}, swept: map[string]bool{}}
	g.opened.L = &g.mu
	return g
}

// pass records that a folder is watched.
func (g *gate) pass(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed[dir] = true
	g.opened.Broadcast()
}

// raise opens the gate after the last folder is watched.
func (g *gate) raise() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.up = true
	g.opened.Broadcast()
}

// wait returns when a folder may be swept.
func (g *gate) wait(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.up && !g.passed[dir] {
		g.opened.Wait()
	}
	if g.swept != nil {
		g.swept[dir] = true
	}
}

// waited reports whether a folder was swept after it passed the gate, until
// remove.
func (g *gate) waited(dir string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.swept[dir]
}

// remove forgets the contents of the gate.
func (g *gate) remove() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed, g.swept = nil, nil
}
