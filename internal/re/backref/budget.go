// Package backref matches JavaScript patterns exactly, by backtracking. It is needed for
// patterns with look-around or backreferences, which automata can't match, and for the few
// patterns in which JavaScript unsets groups that linear engines keep.
//
// It runs the tree of package ecma directly on UTF-8 and follows the matchers of the ECMAScript
// specification step by step. Every match is JavaScript's; otherwise the call fails with an
// error. Time and memory are limited by a budget of steps that all calls of a query share, so a
// result doesn't depend on the machine's speed. Budget.Stop ends a call within 0.1 ms.
//
// A general backtracking library was tried first. It limits each call by wall time, read
// from a process-wide clock goroutine, can't be cancelled, needs text as runes, and would
// parse an already parsed pattern.
package backref

import (
	"errors"
	"sync/atomic"
)

// ErrBudget reports a search that ran out of steps or memory.
var ErrBudget = errors.New("the pattern backtracks too much: step budget spent")

// DefaultSteps is enough for some seconds of processor time.
const DefaultSteps = 1 << 28

// chunk is the number of steps that a matcher takes from the budget at a time, about 0.1 ms of
// work. After each chunk it also checks whether it was stopped.
const chunk = 1 << 13

// Budget is the number of steps left to a query. It is safe for concurrent use.
type Budget struct {
	left atomic.Int64
	stop atomic.Pointer[error]
}

// NewBudget returns a budget of the given number of steps.
func NewBudget(steps int64) *Budget {
	b := &Budget{}
	b.left.Store(steps)
	return b
}

// Left returns the number of steps not yet taken.
func (b *Budget) Left() int64 { return max(b.left.Load(), 0) }

// Grant adds steps, as for text that was unknown when the budget was made.
func (b *Budget) Grant(steps int64) { b.left.Add(steps) }

// Stop ends the calls that use the budget; they return err.
func (b *Budget) Stop(err error) { b.stop.CompareAndSwap(nil, &err) }

// pay takes the next chunk of steps from the budget.
func (m *Matcher) pay() error {
	if err := m.budget.stop.Load(); err != nil {
		return *err
	}
	if len(m.stack) > maxFrames {
		return ErrBudget
	}
	need := chunk - m.steps // steps is negative if more were used than taken
	if m.budget.left.Add(-need) < -need {
		return ErrBudget
	}
	m.steps = chunk
	return nil
}
