package scan

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"unicode/utf8"

	"quarry/internal/re/vec"
	"quarry/internal/textfile"
	"quarry/search"
)

var errBinary = errors.New("binary file")

// file is the state of one search.
type file struct {
	*Scanner
	req   *Request
	out   Result
	arena []byte        // text of the reported lines
	found []search.Span // and the matches in it

	base    int64 // offset of the current block
	clear   int   // the block's first bytes known to contain no line ending
	line    int   // number of lines before position counted
	counted int
	shown   int  // position after the last reported line
	owed    int  // context lines still to be shown after a match
	full    bool // MaxLines was reached; only context is still reported
	done    bool
	blockNo int // number of multiline blocks so far

	follow   int64 // start of the line after the latest match, with WhileMatching
	searched int64 // number of bytes up to the line that reached MaxLines

	lastHit    int // number of the latest matching line, with Gap
	blockStart int // number of lines reported before the current block
	reported   int // number of reported lines
	texts      int // size of their texts

	inPlace  bool // the block may change, so reported lines are copied, and delivered at its end
	spanning bool // multiline mode with a pattern that allows texts to be cut
	blockEnd int  // end of the last line that a multiline match touches; -1 if there is none

	nulls nulls // treatment of NUL

	shapes []Shape // matches found by Scanner.Shapes that were not yet added to a line

	failed error // error of Request.Emit

	invalid bool // a block is not UTF-8; only with Request.Decode
}

// hit is a matching line of a block.
type hit struct {
	start, end int  // without the line ending
	lossy      bool // matches only if decoded from Windows-1252
}

// blocks searches a file block by block. A block consists of whole lines. The incomplete
// rest, and lines that may be context in the next block, are moved to the front of the
// buffer.
func (f *file) blocks(t *text) error {
	need := blockSize
	if 0 < t.size && t.size < blockSize {
		need = int(t.size) + 1
	}
	if cap(f.buf) < need {
		f.buf = make([]byte, 0, max(need, 64<<10))
	}
	longest := f.longest(t.size)
	buf := f.buf[:0]
	searched := 0 // number of bytes at the start of buf already searched
	alone := false
	defer func() {
		f.raw = t.raw
		if alone {
			release(&f.buf)
			<-large
		}
	}()
	for {
		var err error
		fresh := len(buf)
		// Read the same amount even within a long line, so that new data is still in the
		// cache.
		buf, err = t.fill(buf[:fresh:min(cap(buf), fresh+f.nulls.step(fresh))])
		buf = f.buf[:len(buf)]
		f.out.Bytes = t.read
		if f.nulls.rule == search.SkipBinary {
			f.out.NUL = t.nul
		} else if f.read(buf, fresh) {
			return nil
		}
		if err == errBinary {
			f.out.Skip = Binary
			return nil
		}
		last := err == io.EOF
		if err != nil && !last {
			return err
		}
		end := len(buf)
		if !last {
			end = f.lastCut(buf, fresh) // the remaining text can't be cut
		}
		if end > searched || last {
			f.clear = fresh - searched
			f.block(buf[:end], searched)
			if f.req.Decode && !f.invalid && (!last || len(f.out.Lines) > 0) {
				f.invalid = f.odd(buf[searched:end])
			}
			f.out.settled = last && !f.invalid
			if f.done || last || f.m.Err() != nil {
				return cmp.Or(f.failed, f.m.Err())
			}
			if f.emit(); f.failed != nil {
				return f.failed
			}
			drop := f.contextStart(buf[:end])
			f.rebase(buf, drop)
			buf = buf[:copy(buf, buf[drop:])]
			searched = end - drop
		}
		if len(buf)-searched > longest {
			f.out.Skip = TooLarge
			return nil
		}
		if f.spanning && len(buf) > MaxLine && !alone { // a large text that can't be cut
			large <- struct{}{}
			alone = true
		}
		if cap(buf)-len(buf) < blockSize/2 {
			f.buf = nil
			buf = roomier(buf, t.size, longest)
			f.buf = buf[:0]
			if cap(buf)-len(buf) < 16 { // the buffer is full of context lines
				f.out.Skip = TooLarge
				return nil
			}
		}
	}
}

// roomier moves an incomplete line to a larger buffer of at most longest bytes and a block.
// From 1 MB on, the new buffer has 8 MB in large pages at once: unused memory costs
// nothing, but every move and every small page does.
//
// A text that can't be cut ends up there as a whole, and during a move it is in memory
// twice. So a large text is moved only once if its size is known, to a buffer for all of
// it. If the size is unknown (0), the last move goes directly to a buffer of longest bytes.
// The old buffer is freed at once.
func roomier(buf []byte, size int64, longest int) []byte {
	next := 2*cap(buf) + blockSize
	if next > 1<<20 {
		next = max(next, 4*hugePage+blockSize)
	}
	if next > 4*MaxLine {
		if size > 0 && size <= int64(longest) {
			next = max(next, int(size)+blockSize)
		} else if 2*next > longest {
			next = longest + blockSize
		}
	}
	room := make([]byte, 0, min(next, longest+blockSize))
	huge(room)
	left := cap(buf)
	buf = append(room, buf...)
	if left > 2*MaxLine {
		debug.FreeOSMemory()
	}
	return buf
}

// hugePage is the size of a large page on amd64 and most arm64 systems.
const hugePage = 2 << 20

// rebase adjusts the state if the next block starts drop bytes later in the buffer.
func (f *file) rebase(buf []byte, drop int) {
	if f.req.Detail == Lines || f.req.Gap > 0 { // only these need line numbers
		f.countTo(buf, max(drop, f.counted))
		f.counted -= drop
	}
	f.shown -= drop
	f.blockEnd -= drop
	f.base += int64(drop)
}

// contextStart returns the start of the lines that the next block may show as context.
func (f *file) contextStart(block []byte) int {
	start := len(block)
	if f.req.Detail != Lines {
		return start
	}
	for range f.req.Before {
		if start <= 0 || start <= f.shown {
			break
		}
		start = vec.LastIndexByte(block[:start-1], '\n') + 1
	}
	return start
}

// block reports the matching lines of block[from:].
func (f *file) block(block []byte, from int) {
	switch {
	case f.full:
	case f.spanning:
		f.multiline(block, from)
	default:
		odd := f.decodes && f.odd(block[from:])
		if !f.req.Invert && !f.req.Spans && !f.req.Matches && !odd {
			f.plain(block, from)
		} else {
			f.general(block, from, odd)
		}
	}
	f.settle(block)
}

// settle ends a block: it reports pending context and determines whether the search is
// complete.
func (f *file) settle(block []byte) {
	f.reportOwed(block, len(block))
	if f.follow > 0 && f.follow < f.base+int64(len(block)) {
		f.done = true
	}
	if f.full && f.owed == 0 {
		f.done = true
	}
}

// plain handles the common case in which lines are only counted.
func (f *file) plain(block []byte, from int) {
	f.m.Unbroken(f.clear)
	if f.req.Detail == Count && f.req.MaxLines == 0 && f.req.Gap == 0 && !f.req.WhileMatching {
		f.out.Matched += f.m.CountLines(block[from:])
		return
	}
	f.m.Lines(block[from:], func(start, end int) bool {
		f.report(block, hit{start: from + start, end: from + end})
		return !f.done && !f.full
	})
}

// general first collects the hits of a block, because odd lines and inversion change them.
func (f *file) general(block []byte, from int, odd bool) {
	part := block[from:]
	f.hits = f.hits[:0]
	f.m.Unbroken(f.clear)
	f.m.Lines(part, func(start, end int) bool {
		f.hits = append(f.hits, hit{start: from + start, end: from + end})
		return true
	})
	if odd {
		f.oddLines(block, from)
	}
	if f.req.Invert {
		f.others(block, from)
		return
	}
	for _, h := range f.hits {
		f.report(block, h)
		if f.done || f.full {
			return
		}
	}
}

// others reports the lines that are not hits.
func (f *file) others(block []byte, from int) {
	next := 0
	for at := from; at < len(block) && !f.done && !f.full; {
		end, after := f.lineEnd(block, at)
		if next < len(f.hits) && f.hits[next].start == at {
			next++
		} else {
			f.report(block, hit{start: at, end: end})
		}
		at = after
	}
}

// odd reports whether a text contains invalid UTF-8.
func (f *file) odd(part []byte) bool {
	i := vec.IndexNonASCII(part)
	return i >= 0 && !vec.ValidUTF8(part[i:])
}

// oddLines searches the lines with invalid UTF-8 again, after decoding them from
// Windows-1252 as for reading and editing.
func (f *file) oddLines(block []byte, from int) {
	known := len(f.hits)
	next := 0
	for at := from; at < len(block); {
		end, after := f.lineEnd(block, at)
		for next < known && f.hits[next].start < at {
			next++
		}
		isHit := next < known && f.hits[next].start == at
		if line := block[at:end]; !isHit && !utf8.Valid(line) {
			f.lossy, _ = textfile.Windows1252.AppendDecoded(f.lossy[:0], line, true)
			if f.m.MatchLine(f.lossy) {
				f.hits = append(f.hits, hit{start: at, end: end, lossy: true})
			}
		}
		at = after
	}
	if len(f.hits) > known {
		slices.SortFunc(f.hits, func(a, b hit) int { return a.start - b.start })
	}
}

// report counts a matching line. If lines are requested, it also adds the line and the
// context before it to the result.
func (f *file) report(block []byte, h hit) {
	if f.req.WhileMatching && f.passed(block, h.start) {
		f.done = true
		return
	}
	if f.nulls.rule != search.SkipBinary && f.atNUL(block, h) {
		return
	}
	f.out.Matched++
	if f.req.Detail == Exists {
		f.done = true
		return
	}
	if f.req.Gap > 0 {
		f.enterBlock(block, h.start)
	}
	if f.onlyCounted() {
		f.owed = 0
		f.countTo(block, h.start)
	} else if f.req.Detail == Lines {
		f.reportOwed(block, h.start)
		if f.before(block, h.start); f.done {
			f.out.Matched--
			return
		}
		f.show(block, h, true)
		f.owed = f.after(f.req.After)
	} else {
		if f.req.Gap > 0 {
			f.countTo(block, h.start)
		}
		if f.req.Matches {
			f.out.Matches += len(f.spans(f.textOf(block, h)))
		}
	}
	if f.req.MaxLines > 0 && f.out.Matched >= f.req.MaxLines {
		_, after := f.lineEnd(block, h.start)
		f.stop(after)
	}
}

// passed reports whether there is a line without a match between the latest match and
// position at.
func (f *file) passed(block []byte, at int) bool {
	if f.follow > 0 && f.base+int64(at) != f.follow {
		return true
	}
	_, after := f.lineEnd(block, at)
	f.follow = f.base + int64(after)
	return false
}

// after returns how many context lines to show after a match, given n as the default.
func (f *file) after(n int) int {
	if f.req.All {
		return math.MaxInt
	}
	return n
}

// stop records that MaxLines was reached by the line that ends at after. Nothing after it
// is searched.
func (f *file) stop(after int) {
	f.full, f.out.Stopped = true, true
	f.searched = f.base + int64(after)
}

// enterBlock assigns the matching line at a position to a block, which may be new.
func (f *file) enterBlock(block []byte, at int) {
	// Earlier lines may still be shown as context, so the state of the line count doesn't
	// change.
	n := f.line + 1 + vec.CountByte(block[min(f.counted, at):at], '\n')
	if f.lastHit == 0 || n-f.lastHit > f.req.Gap {
		f.reportOwed(block, at) // the context after the previous block
		f.out.Blocks++
		f.blockStart = f.reported
	}
	if f.lastHit = n; f.out.First == 0 {
		f.out.First = n
	}
	f.out.Last = n
}

// onlyCounted reports whether the current line is only counted.
func (f *file) onlyCounted() bool {
	r := f.req
	return r.KeepHits > 0 && f.out.Matched > r.KeepHits || r.Gap > 0 && (r.KeepBlocks > 0 && f.out.Blocks > r.KeepBlocks ||
		r.BlockLines > 0 && f.reported-f.blockStart >= r.BlockLines)
}

// reportOwed reports the context after the latest match, up to position to.
func (f *file) reportOwed(block []byte, to int) {
	for f.owed > 0 && f.shown < to && !f.done && f.failed == nil {
		end, _ := f.lineEnd(block, f.shown)
		f.show(block, hit{start: f.shown, end: end}, false)
		f.owed--
	}
}

// before reports the context before position at.
func (f *file) before(block []byte, at int) {
	start := at
	for range f.req.Before {
		if start <= max(f.shown, 0) {
			break
		}
		start = vec.LastIndexByte(block[:start-1], '\n') + 1
	}
	for start = max(start, f.shown); start < at && !f.done; {
		end, after := f.lineEnd(block, start)
		f.show(block, hit{start: start, end: end}, false)
		start = after
	}
}

func (f *file) textOf(block []byte, h hit) []byte {
	if !h.lossy {
		return block[h.start:h.end]
	}
	f.lossy, _ = textfile.Windows1252.AppendDecoded(f.lossy[:0], block[h.start:h.end], true)
	return f.lossy
}

func (f *file) show(block []byte, h hit, isHit bool) {
	if f.failed != nil || !isHit && f.nulls.rule != search.SkipBinary && f.contextAtNUL(block, h) {
		return
	}
	f.countTo(block, h.start)
	ending, after := endingAt(block, h.end)
	text := f.textOf(block, h)
	line := f.next()
	line.Number, line.Offset, line.Ending = f.line+1, f.base+int64(h.start), ending
	line.Hit, line.Block = isHit, f.out.Matched
	switch {
	case isHit && !f.req.Invert && (f.req.Spans || f.req.Matches || f.req.MaxText > 0 && len(text) > f.req.MaxText):
		line.Spans = f.spans(text)
		f.out.Matches += len(line.Spans)
	case !isHit && f.req.Invert && f.req.Spans:
		line.Spans = f.spans(text)
	}
	if f.cut(line, text, h.lossy); h.lossy && f.req.Decode {
		f.out.lossy = append(f.out.lossy, len(f.out.Lines)-1)
	}
	f.shown = after
	if ending != "" {
		f.line, f.counted = f.line+1, after
	}
	if len(f.out.Lines) >= emitLines && !f.inPlace {
		f.emit()
	}
}

// next returns a new, cleared line of the result. Its memory may be reused.
func (f *file) next() *search.Line {
	f.reported++
	n := len(f.out.Lines)
	if n < cap(f.out.Lines) {
		f.out.Lines = f.out.Lines[:n+1]
		f.out.Lines[n] = search.Line{}
	} else {
		f.out.Lines = append(f.out.Lines, search.Line{})
	}
	return &f.out.Lines[n]
}

// cut sets the text of a line, limited to MaxText bytes around the first match.
func (f *file) cut(line *search.Line, text []byte, lossy bool) {
	from, to := 0, len(text)
	if most := f.req.MaxText; most > 0 && len(text) > most {
		if len(line.Spans) > 0 {
			s := line.Spans[0]
			from = max(0, min(s.Start-most/4, len(text)-most))
			from = min(from, s.Start)
		}
		to = min(len(text), from+most)
		for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
			from--
		}
		for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
			to--
		}
		line.CutBefore, line.CutAfter = from, len(text)-to
		line.Spans = shiftSpans(line.Spans, from, to)
	}
	f.texts += to - from
	if f.req.Emit != nil && !lossy && !f.inPlace {
		line.Text = text[from:to:to] // not a copy: it is used before the block is overwritten
		return
	}
	n := len(f.arena)
	f.arena = append(f.arena, text[from:to]...)
	line.Text = f.arena[n:len(f.arena):len(f.arena)]
}

func shiftSpans(spans []search.Span, from, to int) []search.Span {
	kept := spans[:0]
	for _, s := range spans {
		if s.Start < to && s.End >= from {
			kept = append(kept, search.Span{Start: max(s.Start, from) - from, End: min(s.End, to) - from})
		}
	}
	return kept
}

// spans returns the matches in a line.
func (f *file) spans(line []byte) []search.Span {
	n := len(f.found)
	f.m.EachInLine(line, func(start, end int) bool {
		f.found = append(f.found, search.Span{Start: start, End: end})
		return true
	})
	return f.since(n)
}

// countTo counts the lines up to to, which is the start of a line.
func (f *file) countTo(block []byte, to int) {
	if to > f.counted {
		f.line += vec.CountByte(block[f.counted:to], '\n')
		f.counted = to
	}
}

// lineEnd returns the end of the text of the line that begins at at, and the start of the
// next line.
func (f *file) lineEnd(block []byte, at int) (end, after int) {
	i := bytes.IndexByte(block[at:], '\n')
	if i < 0 {
		return len(block), len(block)
	}
	end, after = at+i, at+i+1
	if !f.keepCR && end > at && block[end-1] == '\r' {
		end--
	}
	return end, after
}

// endingAt returns the line ending at end, and the start of the next line.
func endingAt(block []byte, end int) (ending string, after int) {
	switch {
	case end == len(block):
		return "", end
	case block[end] == '\n':
		return "\n", end + 1
	}
	return "\r\n", end + 2
}
