package scan

import (
	"cmp"

	"quarry/search"
)

// emitLines is how many lines are delivered at a time. With 136 bytes each they fit into
// the processor's cache.
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

// end returns the result. The memory is kept for the next file, unless a file with many
// matches has made it large.
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
	// For lines that are only shown, as with --passthru, no engine checks for cancellation.
	if f.failed = cmp.Or(f.m.Err(), f.req.Emit(&f.out)); f.failed != nil {
		f.done = true
	}
	f.out.Lines, f.arena, f.found = f.out.Lines[:0], f.arena[:0], f.found[:0]
}
