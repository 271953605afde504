package scan

import (
	"bytes"
	"cmp"
	"io"

	"quarry/internal/re/vec"
	"quarry/search"
)

// whole reads a file into memory and searches it as one text, which a pattern
// that may span lines needs.
func (f *file) whole(t *text) error {
	defer func() { f.raw = t.raw }()
	if t.size > MaxWhole {
		f.out.Skip = TooLarge
		return nil
	}
	alone := false
	defer func() {
		if alone {
			f.buf = nil // not to be kept for the small ones
			<-large
		}
	}()
	if cap(f.buf) < blockSize {
		f.buf = make([]byte, 0, blockSize)
	}
	buf := f.buf[:0]
	for {
		var err error
		buf, err = t.fill(buf)
		f.out.Bytes, f.out.NUL = t.read, t.nul
		if err == errBinary {
			f.out.Skip = Binary
			return nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(buf) > MaxWhole {
			f.out.Skip = TooLarge
			return nil
		}
		if len(buf) > MaxLine && !alone {
			large <- struct{}{}
			alone = true
			// Most of these are UTF-8: their size is that of the text.
			buf = append(make([]byte, 0, max(t.size, 2*MaxLine)+blockSize), buf...)
		}
		if cap(buf)-len(buf) < blockSize/2 {
			buf = append(make([]byte, 0, min(2*cap(buf), MaxWhole+blockSize)), buf...)
			f.buf = buf[:0]
		}
	}
	f.buf = buf[:0]
	f.multiline(buf)
	return cmp.Or(f.failed, f.m.Err())
}

// multiline reports the lines that matches touch. Matches whose lines overlap
// or adjoin are one block.
func (f *file) multiline(text []byte) {
	if f.req.Invert {
		f.untouched(text)
	} else {
		f.touched(text)
	}
	f.settle(text)
}

func (f *file) touched(text []byte) {
	var spans []search.Span // of the block being gathered, in the text
	blockEnd := -1
	f.m.Each(text, func(start, end int) bool {
		lineStart, _ := vec.LineBounds(text, start)
		if lineStart == len(text) {
			return true // a newline ends a line; it does not start one
		}
		f.out.Matches++
		if f.req.Detail == Exists {
			f.out.Matched, f.done = 1, true
			return false
		}
		if len(spans) > 0 && lineStart > blockEnd {
			f.flush(text, spans, blockEnd)
			spans = spans[:0]
		}
		f.out.Matched++
		spans = append(spans, search.Span{Start: start, End: end})
		blockEnd = max(blockEnd, blockLimit(text, start, end))
		if f.req.MaxLines > 0 && f.out.Matched >= f.req.MaxLines {
			f.stop(blockLimit(text, start, end))
		}
		return !f.full && f.failed == nil
	})
	if len(spans) > 0 {
		f.flush(text, spans, blockEnd)
	}
}

// blockLimit is the end of the last line a match touches. A match that ends
// with a line feed doesn't touch the line after it.
func blockLimit(text []byte, start, end int) int {
	if end > start && text[end-1] == '\n' {
		return end
	}
	i := bytes.IndexByte(text[end:], '\n')
	if i < 0 {
		return len(text)
	}
	return end + i + 1
}

// flush shows the lines of a block.
func (f *file) flush(text []byte, spans []search.Span, limit int) {
	if f.req.Detail != Lines {
		return
	}
	f.blockNo++
	start, _ := vec.LineBounds(text, spans[0].Start)
	f.owe(text, start)
	f.before(text, start)
	for at := start; at < limit || at == start; {
		end, after := lineEnd(text, at)
		spans = f.showPart(text, at, end, after, spans)
		if after == at {
			break
		}
		at = after
	}
	f.owed = f.after(f.req.After)
	if len(f.out.Lines) >= emitLines {
		f.emit()
	}
}

// showPart shows one line of a block with its share of the matches, and
// returns those that reach the lines after it.
func (f *file) showPart(text []byte, at, end, after int, spans []search.Span) []search.Span {
	f.countTo(text, at)
	line := f.next()
	line.Number, line.Offset = f.line+1, f.base+int64(at)
	line.Ending, _ = endingAt(text, end)
	line.Hit, line.Block = true, f.blockNo
	for _, s := range spans {
		if s.Start >= after && s.Start > at {
			break
		}
		if part := (search.Span{Start: clamp(s.Start, at, end) - at, End: clamp(s.End, at, end) - at}); part.Start < part.End || s.Start == s.End {
			line.Spans = append(line.Spans, part) // not where only the line's ending matches
		}
		if s.Start >= at {
			line.Whole = append(line.Whole, search.Span{Start: s.Start - at, End: s.End - at})
		}
	}
	f.cut(line, text[at:end], false)
	f.shown = after
	for len(spans) > 0 && spans[0].Start < after && spans[0].End <= after {
		spans = spans[1:]
	}
	return spans
}

func clamp(v, low, high int) int { return min(max(v, low), high) }

// untouched reports the lines no match touches.
func (f *file) untouched(text []byte) {
	f.hits = f.hits[:0]
	f.m.Each(text, func(start, end int) bool {
		lineStart, _ := vec.LineBounds(text, start)
		f.hits = append(f.hits, hit{start: lineStart, end: blockLimit(text, start, end)})
		return true
	})
	next, covered := 0, 0
	for at := 0; at < len(text) && !f.done && !f.full; {
		end, after := lineEnd(text, at)
		for next < len(f.hits) && f.hits[next].start <= at {
			covered = max(covered, f.hits[next].end)
			next++
		}
		if at >= covered {
			f.report(text, hit{start: at, end: end})
		}
		at = after
	}
}
