package owner

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"quarry/search"
)

// The format of files sent by an owner: the fields of the struct in order, numbers as
// varints, and strings preceded by their length.

var errWire = errors.New("damaged message from the index's owner")

func appendFile(b []byte, f *search.FileMatch) []byte {
	b = appendText(b, f.Path)
	b = binary.AppendVarint(b, int64(f.Matched))
	b = binary.AppendVarint(b, int64(f.Matches))
	b = binary.AppendVarint(b, f.Bytes)
	b = append(binary.AppendVarint(b, f.NUL), flag(f.AtNUL))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.Score))
	b = appendTime(b, f.ModTime)
	b = appendText(b, f.Version)
	b = append(b, flag(f.More))
	b = binary.AppendUvarint(b, uint64(len(f.Lines)))
	for i := range f.Lines {
		b = appendLine(b, &f.Lines[i])
	}
	return b
}

func appendLine(b []byte, l *search.Line) []byte {
	b = append(b, flag(l.Hit))
	b = binary.AppendVarint(b, int64(l.Number))
	b = binary.AppendVarint(b, l.Offset)
	b = appendText(b, string(l.Text))
	b = appendText(b, l.Ending)
	b = appendSpans(b, l.Spans)
	b = appendSpans(b, l.Whole)
	b = appendHoles(b, l.Holes)
	b = binary.AppendUvarint(b, uint64(len(l.Doubts)))
	for _, d := range l.Doubts {
		b = appendText(b, d)
	}
	b = binary.AppendVarint(b, int64(l.CutBefore))
	b = binary.AppendVarint(b, int64(l.CutAfter))
	return binary.AppendVarint(b, int64(l.Block))
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	return binary.AppendVarint(append(b, 1), t.UnixNano())
}

func appendSpans(b []byte, spans []search.Span) []byte {
	b = binary.AppendUvarint(b, uint64(len(spans)))
	for _, s := range spans {
		b = binary.AppendVarint(b, int64(s.Start))
		b = binary.AppendVarint(b, int64(s.End))
	}
	return b
}

func appendHoles(b []byte, matches [][]search.Hole) []byte {
	b = binary.AppendUvarint(b, uint64(len(matches)))
	for _, holes := range matches {
		b = binary.AppendUvarint(b, uint64(len(holes)))
		for _, h := range holes {
			b = appendText(b, h.Name)
			b = binary.AppendVarint(b, int64(h.Start))
			b = binary.AppendVarint(b, int64(h.End))
		}
	}
	return b
}

// wireReader parses a message in this format. After an error all results are zero.
type wireReader struct {
	b   []byte
	err error
}

func decodeFile(b []byte) (search.FileMatch, error) {
	r := &wireReader{b: b}
	f := search.FileMatch{
		Path: r.text(), Matched: r.int(), Matches: r.int(), Bytes: r.varint(), NUL: r.varint(), AtNUL: r.byte() == 1,
		Score: r.float(), ModTime: r.time(), Version: r.text(), More: r.byte() == 1,
	}
	n := r.count(10) // 10 is the minimum size of a line
	if n > 0 {
		f.Lines = make([]search.Line, n)
		for i := range f.Lines {
			r.line(&f.Lines[i])
		}
	}
	if r.err == nil && len(r.b) > 0 {
		r.err = errWire
	}
	return f, r.err
}

func (r *wireReader) line(l *search.Line) {
	l.Hit = r.byte() == 1
	l.Number, l.Offset = r.int(), r.varint()
	l.Text = []byte(r.text())
	l.Ending = r.text()
	l.Spans, l.Whole = r.spans(), r.spans()
	if n := r.count(1); n > 0 {
		l.Holes = make([][]search.Hole, n)
		for i := range l.Holes {
			l.Holes[i] = r.holes()
		}
	}
	if n := r.count(1); n > 0 {
		l.Doubts = make([]string, n)
		for i := range l.Doubts {
			l.Doubts[i] = r.text()
		}
	}
	l.CutBefore, l.CutAfter, l.Block = r.int(), r.int(), r.int()
}

func (r *wireReader) fail() {
	if r.err == nil {
		r.err = errWire
	}
	r.b = nil
}

func (r *wireReader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *wireReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *wireReader) int() int { return int(r.varint()) }

// count reads the number of following items, each of at least size bytes. A number that
// exceeds the message is an error, so damage can't cause a large allocation.
func (r *wireReader) count(size int) int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *wireReader) text() string {
	n := r.count(1)
	if n > len(r.b) {
		r.fail()
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *wireReader) float() float64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.b = r.b[8:]
	return v
}

func (r *wireReader) time() time.Time {
	if r.byte() != 1 {
		return time.Time{}
	}
	return time.Unix(0, r.varint())
}

func (r *wireReader) spans() []search.Span {
	n := r.count(2)
	if n == 0 {
		return nil
	}
	spans := make([]search.Span, n)
	for i := range spans {
		spans[i] = search.Span{Start: r.int(), End: r.int()}
	}
	return spans
}

func (r *wireReader) holes() []search.Hole {
	n := r.count(3)
	if n == 0 {
		return nil
	}
	holes := make([]search.Hole, n)
	for i := range holes {
		holes[i] = search.Hole{Name: r.text(), Span: search.Span{Start: r.int(), End: r.int()}}
	}
	return holes
}
