// Package backref matches JavaScript patterns exactly, by backtracking: the
// ones with look-around and backreferences, which no automaton decides, and
// the groups of the few others whose groups JavaScript unsets where linear
// engines keep them.
//
// It runs the tree of package ecma directly on UTF-8 and follows the
// matchers of the ECMAScript specification step by step. Its invariant: a
// match is JavaScript's, or there is an error; time and memory are bounded
// by a budget of steps that all calls of a query share, so a result doesn't
// depend on the machine's speed, and Budget.Stop ends a call within 0.1 ms.
//
// A general backtracking library was tried first. It bounds each call by
// wall time, read from a process-wide clock goroutine, can't be cancelled,
// wants text as runes, and would parse a pattern we have parsed already.
package backref

import (
	"errors"
	"sync/atomic"
)

// ErrBudget is a search given up because its steps or its memory were spent.
var ErrBudget = errors.New("the pattern backtracks too much: step budget spent")

// DefaultSteps lasts for some seconds of one processor.
const DefaultSteps = 1 << 28

// chunk is what a matcher takes from the budget at a time: about 0.1 ms of
// work, after which it also looks whether it was stopped.
const chunk = 1 << 13

// Budget is the number of steps a query may still take. It is safe for
// concurrent use.
type Budget struct {
	left atomic.Int64
	stop atomic.Pointer[error]
}

// NewBudget returns a budget of so many steps.
func NewBudget(steps int64) *Budget {
	b := &Budget{}
	b.left.Store(steps)
	return b
}

// Left is the number of steps not yet handed out.
func (b *Budget) Left() int64 { return max(b.left.Load(), 0) }

// Grant adds steps, as for text that wasn't known when the budget was made.
func (b *Budget) Grant(steps int64) { b.left.Add(steps) }

// Stop ends the calls that pay from the budget with this error.
func (b *Budget) Stop(err error) { b.stop.CompareAndSwap(nil, &err) }

// pay takes more steps from the budget.
func (m *Matcher) pay() error {
	if err := m.budget.stop.Load(); err != nil {
		return *err
	}
	if len(m.stack) > maxFrames {
		return ErrBudget
	}
	need := chunk - m.steps // steps is negative by what was used in advance
	if m.budget.left.Add(-need) < -need {
		return ErrBudget
	}
	m.steps = chunk
	return nil
}
