package scan

import (
	"cmp"

	"quarry/search"
)

// emitLines is the number of lines delivered at a time. At 136 bytes per line they fit
// into the processor's cache.
const emitLines = 1024

// parts is reusable memory for delivered lines.
type parts struct {
	lines []search.Line
	arena []byte
	found []search.Span
}

func (s *Scanner) begin(req *Request) *file {
	f := &s.one
	*f = file{Scanner: s, req: req, blockEnd: -1}
	f.owed = f.after(0)
	if !req.Binary {
		f.nulls.rule = req.NUL
	}
	if req.Emit != nil {
		f.out.Lines, f.arena, f.found = s.parts.lines[:0], s.parts.arena[:0], s.parts.found[:0]
	}
	return f
}

// end returns the result. Its buffers are kept for the next file, unless many matches
// have made them large.
func (f *file) end() Result {
	if f.req.Emit != nil && cap(f.arena) <= blockSize && cap(f.found) <= blockSize {
		f.parts = parts{f.out.Lines, f.arena, f.found}
	}
	out := f.out
	*f = file{} // drop all references
	return out
}

// emit delivers the lines reported so far.
func (f *file) emit() {
	if f.req.Emit == nil || len(f.out.Lines) == 0 || f.failed != nil {
		return
	}
	// If lines are only shown, as with --passthru, no engine runs and checks for
	// cancellation.
	if f.failed = cmp.Or(f.m.Err(), f.req.Emit(&f.out)); f.failed != nil {
		f.done = true
	}
	f.out.Lines, f.arena, f.found = f.out.Lines[:0], f.arena[:0], f.found[:0]
}
