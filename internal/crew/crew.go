// Package crew runs goroutines on behalf of a caller and propagates their panics to it. When the
// caller gets a panic, all goroutines of the group have ended. So if the caller recovers from it,
// as a tool call does, the program can continue.
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
	// Stop, if set, is called when a goroutine panics, so that others don't wait for its work.
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

// StackOf returns the stack for a value that was just recovered. If it is the panic of a group's
// goroutine, that is the stack of that goroutine, otherwise the caller's.
func StackOf(v any) []byte {
	if p, ok := v.(*Panic); ok {
		return p.stack
	}
	return debug.Stack()
}

// Go calls f on a new goroutine of the group.
func (g *Group) Go(f func()) { g.running.Go(func() { g.Do(f) }) }

// Do calls f on the caller's goroutine. It records a panic for Wait, as Go does.
func (g *Group) Do(f func()) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		g.mu.Lock()
		if g.first == nil {
			p, nested := v.(*Panic) // propagated from a group that f used
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

// Each calls f with the numbers from 0 to n-1, on at most workers goroutines. It stops when ctx is
// done. If f panics, Each stops and panics too.
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

// Wait waits for all goroutines. If one has panicked, Wait panics with the first *Panic.
func (g *Group) Wait() {
	if err := g.WaitErr(); err != nil {
		panic(err)
	}
}

// WaitErr waits for all goroutines. If one has panicked, it returns the first *Panic.
func (g *Group) WaitErr() error {
	g.running.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		return nil
	}
	return g.first
}
