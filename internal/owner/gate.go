package owner

import "sync"

// gate lets an owner's first sweep enter each folder as soon as that is watched. A change
// after that causes an event, so the sweep can't miss it. Without the gate, the sweep
// would have to wait until all folders are watched.
type gate struct {
	mu     sync.Mutex
	opened sync.Cond
	up     bool            // all folders may be entered
	passed map[string]bool // folders that are watched
	swept  map[string]bool // folders entered while the gate was in use
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

// raise opens the gate for all folders.
func (g *gate) raise() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.up = true
	g.opened.Broadcast()
}

// wait waits until a folder may be entered.
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

// waited reports whether the sweep entered a folder through the gate. After remove it
// returns false.
func (g *gate) waited(dir string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.swept[dir]
}

// remove discards the gate's data.
func (g *gate) remove() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed, g.swept = nil, nil
}
