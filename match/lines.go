package match

import (
	"bytes"

	"quarry/internal/re/vec"
)

// Lines visits the lines of buf that match, in order. A line is given by where
// its text starts and ends, its line ending excluded; the last line need not
// have one. The pattern's mode is Lines.
func (m *Matcher) Lines(buf []byte, yield func(start, end int) bool) {
	for base := 0; base < len(buf) && m.err == nil; {
		end := segmentEnd(buf, base, segmentSize)
		if !m.segment(buf[base:end], base, yield) {
			return
		}
		base = end
		m.poll()
	}
}

// CountLines counts the lines of buf that match. It is Lines for callers that
// don't need to know where they are.
func (m *Matcher) CountLines(buf []byte) int {
	n := 0
	pre := m.p.plan.pre
	if m.p.plan.every {
		if n = vec.CountByte(buf, '\n'); len(buf) > 0 && buf[len(buf)-1] != '\n' {
			n++
		}
		return n
	}
	for base := 0; base < len(buf) && m.err == nil; {
		end := segmentEnd(buf, base, segmentSize)
		part := buf[base:end]
		if m.p.plan.whole && !pre.hasCR && pre.usable(part) {
			n += pre.countLines(part)
		} else {
			m.segment(part, base, func(int, int) bool { n++; return true })
		}
		base = end
		m.poll()
	}
	return n
}

// segmentSize is how much is searched between two looks at Search.stop: at the
// slowest 30 MB/s of an automaton that refills its cache all the time, 35 ms.
const segmentSize = 1 << 20

// segmentEnd cuts buf[base:] after a line, after size bytes or the line that
// is longer.
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

// segment visits the matching lines of part, which starts at base. It reports
// whether to go on.
func (m *Matcher) segment(part []byte, base int, yield func(start, end int) bool) bool {
	if m.p.plan.every {
		return everyLine(part, base, yield)
	}
	if pre := m.p.plan.pre; pre != nil && pre.usable(part) {
		return m.candidateLines(part, base, yield)
	}
	return m.allLines(part, base, yield)
}

// everyLine visits all lines.
func everyLine(part []byte, base int, yield func(start, end int) bool) bool {
	for start := 0; start < len(part); {
		end, next := textEnd(part, start)
		if !yield(base+start, base+end) {
			return false
		}
		start = next
	}
	return true
}

// candidateLines looks only at lines the prefilter finds.
func (m *Matcher) candidateLines(buf []byte, base int, yield func(start, end int) bool) bool {
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
		start := pos + vec.LastIndexByte(buf[pos:hit], '\n') + 1
		end, next := textEndAfter(buf, start, hitEnd)
		pos = next
		if pl.whole {
			// A hit may take in the \r of the line's ending. Another one in
			// the line may not.
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

// A hit that is no match costs about as much as missBytes read by the
// automaton, so with more of them the rest of the segment is left to it.
const (
	missBytes = 160
	minMisses = 32
)

// from is where the search in a line begins that starts at start and has its
// first hit at hit.
func (p *plan) from(start, hit int) int {
	if p.fromHit {
		return hit
	}
	return start
}

// textEndAfter is textEnd for a line known to reach past position at.
func textEndAfter(buf []byte, start, at int) (end, next int) {
	at = min(at, len(buf))
	if at > start && buf[at-1] == '\n' {
		at--
	}
	i := bytes.IndexByte(buf[at:], '\n')
	if i < 0 {
		return len(buf), len(buf)
	}
	end, next = at+i, at+i+1
	if end > start && buf[end-1] == '\r' {
		end--
	}
	return end, next
}
