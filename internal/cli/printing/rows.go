package printing

import (
	"io"
	"strconv"

	"quarry/search"
)

// pieceBytes is the size of a write: rows are gathered until they have 64 KiB, the capacity of a
// pipe. A text of at least that length is written directly, without copying.
const pieceBytes = 64 << 10

// rows buffers the rows of the output.
type rows struct {
	w     io.Writer
	row   []byte
	eager bool  // flush finished rows at once, because a person waits
	err   error // the first write error
	sent  int64 // bytes written so far
}

// Printed returns how many bytes were written or are buffered.
func (r *rows) Printed() int64 { return r.sent + int64(len(r.row)) }

// bytes appends b to the output.
func (r *rows) bytes(b []byte) {
	if len(b) < pieceBytes {
		r.row = append(r.row, b...)
		return
	}
	r.flush()
	r.write(b)
}

func (r *rows) write(b []byte) {
	if r.err == nil && len(b) > 0 {
		r.sent += int64(len(b))
		_, r.err = r.w.Write(b)
	}
}

// flushRow writes the buffer if it is large enough.
func (r *rows) flushRow() error {
	if len(r.row) >= pieceBytes {
		r.flush()
	}
	return r.err
}

// done ends the output for a file or a part of it.
func (r *rows) done() error {
	if r.eager {
		return r.flush()
	}
	return r.flushRow()
}

func (r *rows) flush() error {
	r.write(r.row)
	if r.row = r.row[:0]; cap(r.row) > 16*pieceBytes {
		r.row = nil // release a buffer that grew with a long line
	}
	return r.err
}

// plain reports whether lines are printed unchanged after their prefix.
func (p *printer) plain() bool {
	s := &p.style
	return !s.Symbols && !s.OnlyMatches && !s.Vimgrep && !s.Colour && !s.Escape && !s.Trim && s.MaxColumns == 0 &&
		!(s.Multiline && s.Column) && p.replace == nil && s.PathSep == "" && !s.NulLines && !s.CRLF
}

// plainLines does the work of block for many lines in a plain style. It skips the steps that such a
// style doesn't need, and so prints 8 million lines of a log in a third of the time.
func (p *printer) plainLines(path string, lines []search.Line) {
	s := &p.style
	named := s.Path && !s.Heading
	for i := range lines {
		l := &lines[i]
		p.separate(l.Number)
		p.last = l.Number
		sep := s.ContextSep
		if l.Hit {
			sep = s.MatchSep
		}
		row := p.row
		if named {
			row = append(row, path...)
			if s.Nul {
				row = append(row, 0)
			} else {
				row = append(row, sep...)
			}
		}
		if s.LineNumber {
			row = append(strconv.AppendInt(row, int64(l.Number), 10), sep...)
		}
		if s.Column && len(l.Spans) > 0 {
			row = append(strconv.AppendInt(row, int64(l.Spans[0].Start)+1, 10), sep...)
		}
		if s.ByteOffset {
			row = append(strconv.AppendInt(row, l.Offset, 10), sep...)
		}
		if len(l.Text) < pieceBytes {
			row = append(append(row, l.Text...), '\n')
			if p.row = row; len(row) < pieceBytes {
				continue
			}
		} else {
			p.row = row
			p.bytes(l.Text)
			p.row = append(p.row, '\n')
		}
		if p.flushRow() != nil {
			return
		}
	}
}
