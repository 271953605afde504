// Package crew runs goroutines that work for one caller. Their panics propagate to the
// caller: the program continues if the caller recovers, as a tool call does, and all
// goroutines of the group have ended by then.
package crew

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Group is a set of goroutines that one caller waits for. Its zero value is ready to use.
type Group struct {
	// Stop, which may be nil, is called when one of them panics, to release others that
	// wait for its work.
	Stop func()

	running sync.WaitGroup
	mu      sync.Mutex
	first   *Panic // guarded by mu
}

// Panic is the panic of a goroutine in a group.
type Panic struct {
	Value any
	stack []byte
}

// Error returns the value as text, without the stack.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Stack returns the stack of the goroutine that panicked.
func (p *Panic) Stack() []byte { return p.stack }

// StackOf returns the stack for a value just recovered: the stack of the group's goroutine
// that panicked with it, or the caller's.
func StackOf(v any) []byte {
	if p, ok := v.(*Panic); ok {
		return p.stack
	}
	return debug.Stack()
}

// Go calls f on another goroutine.
func (g *Group) Go(f func()) { g.running.Go(func() { g.Do(f) }) }

// Do calls f on the caller's goroutine. It also records a panic for Wait.
func (g *Group) Do(f func()) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		g.mu.Lock()
		if g.first == nil {
			p, nested := v.(*Panic) // from a group that f waited for
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

// Each calls f with 0 to n-1 on at most workers goroutines. It stops when ctx ends or f
// panics; then it panics itself.
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

// Wait waits for all and panics with the first *Panic, if any.
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
