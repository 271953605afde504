package scan

import (
	"bytes"
	"cmp"
	"io"
	"runtime/debug"

	"quarry/internal/re/vec"
	"quarry/search"
)

// whole reads a file into memory and searches it as one text. Patterns that may match
// across lines need this.
func (f *file) whole(t *text) error {
	defer func() { f.raw = t.raw }()
	if t.size > MaxWhole {
		f.out.Skip = TooLarge
		return nil
	}
	alone := false
	defer func() {
		if alone {
			release(&f.buf)
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
		if err = cmp.Or(err, f.m.Err()); err != nil {
			return err
		}
		if len(buf) > MaxWhole {
			f.out.Skip = TooLarge
			return nil
		}
		if max(int64(len(buf)), t.size) > MaxLine && !alone {
			large <- struct{}{}
			alone = true
			// Most texts are UTF-8 and have the size of the file. If the size is unknown,
			// reserve more than most texts need, because the system only allocates pages when
			// they are written. Reserving the maximum of a gigabyte would fail in a process
			// with limited memory.
			size := t.size
			size = cmp.Or(size, 8*MaxLine)
			buf = f.move(buf, max(size, 2*MaxLine)+blockSize)
		}
		if cap(buf)-len(buf) < blockSize/2 {
			buf = f.move(buf, min(max(2*int64(cap(buf)), t.size+blockSize), MaxWhole+blockSize))
		}
	}
	f.buf = buf[:0]
	if f.nulls.rule != search.SkipBinary {
		if f.out.NUL = 0; f.read(buf, 0) {
			return nil
		}
	}
	f.multiline(buf, 0)
	f.settle(buf)
	f.out.settled = f.req.Decode && len(f.out.Lines) > 0 && !f.odd(buf)
	return cmp.Or(f.failed, f.m.Err())
}

// move moves a text to a buffer of the given capacity. The memory of a large text is
// freed at once, so that it is only in memory twice during the copy.
func (f *file) move(text []byte, capacity int64) []byte {
	room := make([]byte, 0, capacity)
	huge(room)
	left := cap(text)
	text = append(room, text...)
	f.buf = text[:0]
	if left > 4*MaxLine {
		debug.FreeOSMemory()
	}
	return text
}

// release frees the memory of a large file at once. The garbage collector would wait
// until the heap has doubled, so the memory of the next file would add up.
func release(buf *[]byte) {
	size := cap(*buf)
	*buf = nil // don't keep the large buffer for small files
	if size > 4*MaxLine {
		debug.FreeOSMemory()
	}
}

// multiline reports the lines of text[from:] that matches touch. Matches whose lines
// overlap or are adjacent form a block.
func (f *file) multiline(text []byte, from int) {
	if f.nulls.seen && f.req.Detail == Lines {
		if _, _, ok := f.m.Find(text, from); ok { // only report that there is a match
			f.out.Matched, f.done = f.out.Matched+1, true
		}
		return
	}
	if f.req.Invert {
		f.untouched(text, from)
	} else {
		f.touched(text, from)
	}
}

// each calls visit for the matches in a text.
func (f *file) each(text []byte, visit func(start, end int) bool) {
	if f.Shapes == nil {
		f.m.Each(text, visit)
		return
	}
	if _, _, ok := f.m.Find(text, 0); !ok {
		return // every match of Shapes contains a match of the pattern
	}
	found, ok := f.Shapes(f.Path, text)
	if !ok {
		f.out.Skip = TooLarge
		return
	}
	f.shapes = found
	for i := range found {
		if !visit(found[i].Start, found[i].End) {
			return
		}
	}
}

func (f *file) touched(text []byte, from int) {
	spans := f.gathered[:0] // matches in the current block, as offsets in text
	first := from           // start of the block's first line
	f.each(text[from:], func(start, end int) bool {
		start, end = from+start, from+end
		if start == len(text) && (start == 0 || text[start-1] == '\n') {
			return true // the empty match after the last line feed is not in a line
		}
		f.out.Matches++
		if f.req.Detail == Exists {
			f.out.Matched, f.done = 1, true
			return false
		}
		f.out.Matched++
		if start >= f.blockEnd { // otherwise the previous match touches this line
			known := max(f.blockEnd, from) // start of a line
			line := known + vec.LastIndexByte(text[known:start], '\n') + 1
			if line > f.blockEnd {
				f.flush(text, spans, first)
				spans, first = spans[:0], line
				f.blockNo++
			}
		}
		if f.req.Detail == Lines {
			spans = append(spans, search.Span{Start: start, End: end})
		}
		if end > f.blockEnd || end == start {
			f.blockEnd = max(f.blockEnd, blockLimit(text, start, end))
		}
		if f.req.MaxLines > 0 && f.out.Matched >= f.req.MaxLines {
			f.stop(blockLimit(text, start, end))
		}
		return !f.full && f.failed == nil
	})
	f.flush(text, spans, first)
	f.gathered = spans[:0]
}

// blockLimit returns the end of the last line that a match touches. A match that ends in a
// line feed doesn't touch the next line.
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

// flush reports the lines of a block. start is the start of its first line, and
// f.blockEnd the end of its last.
func (f *file) flush(text []byte, spans []search.Span, start int) {
	if len(spans) == 0 {
		return
	}
	limit := f.blockEnd
	f.reportOwed(text, start)
	f.before(text, start)
	for at := start; at < limit || at == start; {
		end, after := f.lineEnd(text, at)
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

// showPart reports one line of a block with its parts of the matches. It returns the
// matches that continue in later lines.
func (f *file) showPart(text []byte, at, end, after int, spans []search.Span) []search.Span {
	f.countTo(text, at)
	line := f.next()
	line.Number, line.Offset = f.line+1, f.base+int64(at)
	line.Ending, _ = endingAt(text, end)
	line.Hit, line.Block = true, f.blockNo
	n := len(f.found)
	mine := spans
	for i, s := range spans {
		if s.Start >= after && s.Start > at {
			mine = spans[:i]
			break
		}
		if part := (search.Span{Start: clamp(s.Start, at, end) - at, End: clamp(s.End, at, end) - at}); part.Start < part.End || s.Start == s.End {
			if last := len(f.found) - 1; f.Shapes != nil && last >= n && part.Start < f.found[last].End {
				f.found[last].End = max(f.found[last].End, part.End) // structural matches may overlap
				continue
			}
			f.found = append(f.found, part) // unless only the line ending matches
		}
	}
	line.Spans = f.since(n)
	n = len(f.found)
	for _, s := range mine {
		if s.Start >= at {
			f.found = append(f.found, search.Span{Start: s.Start - at, End: s.End - at})
			f.shape(line, at)
		}
	}
	line.Whole = f.since(n)
	f.cut(line, text[at:end], false)
	f.shown = after
	if f.spanning && len(f.out.Lines) >= 16*emitLines {
		f.emit() // even within a block, which may be most of the file
	}
	for len(spans) > 0 && spans[0].Start < after && spans[0].End <= after {
		spans = spans[1:]
	}
	return spans
}

// shape adds holes and doubts of the next structural matches to the line that begins at
// at.
func (f *file) shape(line *search.Line, at int) {
	if len(f.shapes) == 0 {
		return
	}
	s := &f.shapes[0]
	f.shapes = f.shapes[1:]
	var holes []search.Hole
	for _, h := range s.Holes {
		h.Start, h.End = h.Start-at, h.End-at
		holes = append(holes, h)
	}
	if line.Holes = append(line.Holes, holes); s.Doubt != "" && line.Doubts == nil {
		line.Doubts = make([]string, len(line.Holes)-1)
	}
	if line.Doubts != nil {
		line.Doubts = append(line.Doubts, s.Doubt)
	}
}

// since returns the spans starting at index n.
func (f *file) since(n int) []search.Span {
	if len(f.found) == n {
		return nil
	}
	return f.found[n:len(f.found):len(f.found)]
}

func clamp(v, low, high int) int { return min(max(v, low), high) }

// untouched reports the lines that no match touches.
func (f *file) untouched(text []byte, from int) {
	f.hits = f.hits[:0]
	known, limit := from, from // start of the line, and end of the touched lines
	f.m.Each(text[from:], func(start, end int) bool {
		start, end = from+start, from+end
		if start >= limit {
			known = limit + vec.LastIndexByte(text[limit:start], '\n') + 1
		}
		if end > limit || end == start {
			limit = max(limit, blockLimit(text, start, end))
		}
		if n := len(f.hits); n > 0 && f.hits[n-1].start == known {
			f.hits[n-1].end = limit
		} else {
			f.hits = append(f.hits, hit{start: known, end: limit})
		}
		return true
	})
	next, covered := 0, from
	for at := from; at < len(text) && !f.done && !f.full; {
		end, after := f.lineEnd(text, at)
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
