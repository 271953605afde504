package match

import (
	"bytes"

	"quarry/internal/re/vec"
)

// Lines visits the lines of buf that match, in order. It passes the start and end of a
// line's text, without the line ending; the last line need not have one. The pattern's mode
// must be Lines.
func (m *Matcher) Lines(buf []byte, yield func(start, end int) bool) {
	unbroken := m.takeUnbroken()
	for base := 0; base < len(buf) && m.err == nil; {
		end := firstEnd(buf, base, unbroken)
		if !m.segment(buf[base:end], base, unbroken, yield) {
			return
		}
		base, unbroken = end, 0
		m.poll()
	}
}

// CountLines counts the lines of buf that match, for callers that don't need
// their positions.
func (m *Matcher) CountLines(buf []byte) int {
	n := 0
	pre := m.p.plan.pre
	if m.p.plan.every {
		if n = vec.CountByte(buf, '\n'); len(buf) > 0 && buf[len(buf)-1] != '\n' {
			n++
		}
		return n
	}
	unbroken := m.takeUnbroken()
	for base := 0; base < len(buf) && m.err == nil; {
		end := firstEnd(buf, base, unbroken)
		part := buf[base:end]
		if m.p.plan.whole && !pre.hasCR && pre.usable(part) {
			n += pre.countLines(part, unbroken)
		} else {
			m.segment(part, base, unbroken, func(int, int) bool { n++; return true })
		}
		base, unbroken = end, 0
		m.poll()
	}
	return n
}

// Decides reports whether the line that begins with buf matches regardless of the rest of the
// line. A previous call has checked buf[:seen]. It may return false for a line that matches.
func (m *Matcher) Decides(buf []byte, seen int) bool {
	pl := m.p.plan
	switch {
	case m.p.opts.Mode != Lines || m.err != nil || pl.superset:
		return false
	case pl.whole && !pl.pre.hasCR:
		part := buf[max(0, seen-pl.pre.longest):]
		hit, _ := pl.pre.find(part, 0)
		return hit >= 0 && pl.pre.usable(part)
	case pl.free && seen == 0:
		return m.MatchLine(bytes.TrimSuffix(buf, []byte("\r"))) // a \r at the end may be part of the line ending
	}
	return false
}

// segmentSize is the number of bytes searched between two checks of Search.stop: 35 ms at 30
// MB/s, the speed of an automaton that constantly refills its cache.
const segmentSize = 1 << 20

// Unbroken tells the matcher that the first n bytes of the next buffer given to Lines or
// CountLines contain no line feed. A caller that has read a long line knows this, and saves
// the matcher another search for one.
func (m *Matcher) Unbroken(n int) { m.unbroken = n }

func (m *Matcher) takeUnbroken() int {
	n := m.unbroken
	m.unbroken = 0
	return n
}

// firstEnd is segmentEnd, but extends the segment to the end of a first line known to be longer.
func firstEnd(buf []byte, base, unbroken int) int {
	if unbroken < segmentSize || unbroken > len(buf) {
		return segmentEnd(buf, base, segmentSize)
	}
	if i := bytes.IndexByte(buf[unbroken:], '\n'); i >= 0 {
		return unbroken + i + 1
	}
	return len(buf)
}

// segmentEnd returns the end of a segment of whole lines that begins at base. The segment has
// about size bytes, or is one longer line.
func segmentEnd(buf []byte, base, size int) int {
	if len(buf)-base <= size {
		return len(buf)
	}
	if i := vec.LastIndexByte(buf[base:base+size], '\n'); i >= 0 {
		return base + i + 1
	}
	if i := bytes.IndexByte(buf[base+size:], '\n'); i >= 0 {
		return base + size + i + 1
	}
	return len(buf)
}

// segment visits the matching lines of part, which starts at base in the buffer and has no
// line feed in its first unbroken bytes. It reports whether to continue.
func (m *Matcher) segment(part []byte, base, unbroken int, yield func(start, end int) bool) bool {
	if m.p.plan.every {
		return m.everyLine(part, base, yield)
	}
	if pre := m.p.plan.pre; pre != nil && pre.usable(part) {
		return m.candidateLines(part, base, unbroken, yield)
	}
	return m.allLines(part, base, yield)
}

// everyLine visits all lines.
func (m *Matcher) everyLine(part []byte, base int, yield func(start, end int) bool) bool {
	for start := 0; start < len(part); {
		end, next := textEnd(part, start, m.p.opts.KeepCR)
		if !yield(base+start, base+end) {
			return false
		}
		start = next
	}
	return true
}

// candidateLines examines only lines with a hit of the prefilter.
func (m *Matcher) candidateLines(buf []byte, base, unbroken int, yield func(start, end int) bool) bool {
	pl := m.p.plan
	misses := 0
	for pos := 0; pos < len(buf); {
		if misses*missBytes > pos+minMisses*missBytes {
			return m.allLines(buf[pos:], base+pos, yield)
		}
		hit, hitEnd := pl.pre.find(buf, pos)
		if hit < 0 {
			break
		}
		start := pos
		if hit > unbroken {
			start += vec.LastIndexByte(buf[pos:hit], '\n') + 1
		}
		end, next := textEndAfter(buf, start, max(hitEnd, unbroken), m.p.opts.KeepCR)
		pos = next
		if pl.whole {
			// A hit may include the \r of the line ending. Then check whether the line has
			// another hit that doesn't.
			if hitEnd > end && !m.MatchLine(buf[start:end]) {
				continue
			}
		} else if !m.decide(buf[pl.from(start, hit):end]) {
			if m.err != nil {
				return false
			}
			misses++
			continue
		}
		if !yield(base+start, base+end) || m.err != nil {
			return false
		}
	}
	return true
}

// missBytes is the cost of a hit that is not a match, in bytes read by the automaton. If there
// are too many such hits, the automaton searches the rest of the segment.
const (
	missBytes = 160
	minMisses = 32
)

// from returns the offset at which to begin the search in a line that starts at start and has its
// first hit at hit.
func (p *plan) from(start, hit int) int {
	if p.fromHit {
		return hit
	}
	return start
}

// textEndAfter is textEnd for a line known to extend beyond at.
func textEndAfter(buf []byte, start, at int, keepCR bool) (end, next int) {
	at = min(at, len(buf))
	if at > start && buf[at-1] == '\n' {
		at--
	}
	i := bytes.IndexByte(buf[at:], '\n')
	if i < 0 {
		return len(buf), len(buf)
	}
	end, next = at+i, at+i+1
	if !keepCR && end > start && buf[end-1] == '\r' {
		end--
	}
	return end, next
}
