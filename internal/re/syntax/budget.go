package syntax

import "errors"

// Budget bounds the memory and time of parsing: all patterns of one call share
// one. It counts bytes as the parsers estimate them and asks now and then whether
// to stop. Once it is spent or stopped, it stays so.
type Budget struct {
	left  int
	since int          // bytes since stop was asked
	stop  func() error // nil never stops
	err   error
}

// The parsers charge these for a node of a tree and for a range of a class.
// 2 million ranges take a third of a second to put in order.
const (
	NodeBytes  = 256
	RangeBytes = 32
)

// pollBytes of work take less than a millisecond.
const pollBytes = 64 << 10

// ErrTooLarge says that a budget is spent.
var ErrTooLarge = errors.New("too large")

// NewBudget returns a budget of so many bytes. stop, which may be nil, returns an
// error when the work is to end.
func NewBudget(bytes int, stop func() error) *Budget { return &Budget{left: bytes, stop: stop} }

// Take spends bytes and reports whether to go on.
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

// Left returns the bytes that are not spent.
func (b *Budget) Left() int { return max(b.left, 0) }

// Err returns why Take reported false: ErrTooLarge or the error of stop.
func (b *Budget) Err() error { return b.err }
