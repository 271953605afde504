package version

import (
	"errors"
	"iter"
)

// Errors of Ordered.
var (
	ErrOrder   = errors.New("edits must be in order, inside the file, and not overlap")
	ErrOutside = errors.New("edits reach beyond the end of the file")
)

// Edit replaces Len bytes at Off by Data.
type Edit struct {
	Off, Len int64
	Data     []byte
}

// Edits are in order and don't overlap; offsets refer to the old content. The sequence can be iterated several
// times with the same result. The data of an edit is valid until the next edit. An error aborts the change.
type Edits = iter.Seq2[Edit, error]

// List returns the edits of a list as a sequence.
func List(list []Edit) Edits {
	return func(yield func(Edit, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// ToEnd, as the length of the last of some Edits, means everything up to the end.
const ToEnd = -1

// Orderly iterates over edits and checks that they are in order and within the
// file.
type Orderly struct {
	next func() (Edit, error, bool)
	size int64
	at   int64 // end of the previous edit
	Head Edit
	OK   bool // Head is the next edit
	Err  error
}

// Ordered begins to iterate over edits; stop ends it.
func Ordered(edits Edits, size int64) (o *Orderly, stop func()) {
	o = &Orderly{size: size}
	o.next, stop = iter.Pull2(edits)
	o.Advance()
	return o, stop
}

// Advance moves to the next edit.
func (o *Orderly) Advance() {
	e, err, ok := o.next()
	o.Head, o.OK = e, ok && err == nil
	switch {
	case !ok:
	case err != nil:
		o.Err = err
	case o.at == ToEnd || e.Off < o.at || e.Len != ToEnd && e.Len < 0:
		o.OK, o.Err = false, ErrOrder
	case e.Off > o.size || e.Len > o.size-e.Off:
		o.OK, o.Err = false, ErrOutside
	case e.Len == ToEnd:
		o.at = ToEnd
	default:
		o.at = e.Off + e.Len
	}
}
