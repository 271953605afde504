// Package crew runs goroutines that work for one caller. Their panics are the caller's:
// the program goes on if the caller recovers, as a call of a tool does, and no goroutine
// of the group is left when the caller learns of it.
package crew

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Group is goroutines that one caller waits for. Its zero value is ready to use.
type Group struct {
	// Stop, which may be nil, is called when one of them panics: others that wait for
	// what it would have done must not wait any longer.
	Stop func()

	running sync.WaitGroup
	mu      sync.Mutex
	first   *Panic // guarded by mu
}

// Panic is what a goroutine of a group panicked with.
type Panic struct {
	Value any
	stack []byte
}

// Error is the value in words, without the stack.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Stack is that of the goroutine that panicked.
func (p *Panic) Stack() []byte { return p.stack }

// StackOf is the stack of a value that was just recovered: that of the goroutine of a group
// that panicked with it, or the caller's.
func StackOf(v any) []byte {
	if p, ok := v.(*Panic); ok {
		return p.stack
	}
	return debug.Stack()
}

// Go calls f on another goroutine.
func (g *Group) Go(f func()) { g.running.Go(func() { g.Do(f) }) }

// Do calls f on the caller's goroutine. A panic in it is kept for Wait too.
func (g *Group) Do(f func()) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		g.mu.Lock()
		if g.first == nil {
			p, nested := v.(*Panic) // of a group that f waited for
			if !nested {
				p = &Panic{v, StackOf(v)}
			}
			g.first = p
		}
		g.mu.Unlock()
		if g.Stop != nil {
			g.Stop()
		}
	}()
	f()
}

// Each calls f with 0 to n-1 on at most so many goroutines. It stops when ctx ends or f
// panics, and panics then itself.
func Each(ctx context.Context, n, workers int, f func(i int)) {
	var next atomic.Int64
	g := Group{Stop: func() { next.Store(int64(n)) }}
	for range min(workers, n) {
		g.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	g.Wait()
}

// Wait waits for all and panics with the first *Panic there was.
func (g *Group) Wait() {
	if err := g.WaitErr(); err != nil {
		panic(err)
	}
}

// WaitErr waits for all and returns the first *Panic, or nil.
func (g *Group) WaitErr() error {
	g.running.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		return nil
	}
	return g.first
}
