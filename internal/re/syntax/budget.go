package syntax

import "errors"

// Budget limits the memory and time of parsing; all patterns of one call share it. It counts
// bytes as estimated by the parsers, and occasionally calls stop. Once it is spent or stopped,
// Take always returns false.
type Budget struct {
	left  int
	since int          // bytes since the last call of stop
	stop  func() error // may be nil
	err   error
}

// NodeBytes and RangeBytes are the parsers' charges for a node of a tree and a range of a
// class. Sorting 2 million ranges takes a third of a second.
const (
	NodeBytes  = 256
	RangeBytes = 32
)

// pollBytes of work take less than a millisecond.
const pollBytes = 64 << 10

// ErrTooLarge reports that a budget is spent.
var ErrTooLarge = errors.New("too large")

// NewBudget returns a budget of the given number of bytes. stop, which may be nil, returns an
// error if parsing must end.
func NewBudget(bytes int, stop func() error) *Budget { return &Budget{left: bytes, stop: stop} }

// Take spends bytes and reports whether to continue.
func (b *Budget) Take(bytes int) bool {
	if b.err != nil {
		return false
	}
	if b.left -= bytes; b.left < 0 {
		b.err = ErrTooLarge
		return false
	}
	if b.since += bytes; b.since >= pollBytes && b.stop != nil {
		b.since = 0
		b.err = b.stop()
	}
	return b.err == nil
}

// Left returns the bytes not yet spent.
func (b *Budget) Left() int { return max(b.left, 0) }

// Err returns why Take returned false: ErrTooLarge or the error of stop.
func (b *Budget) Err() error { return b.err }
