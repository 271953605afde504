package match

import (
	"bytes"

	"quarry/internal/re/vec"
)

// Lines visits the lines of buf that match, in order. A line is given by where
// its text starts and ends, its line ending excluded; the last line need not
// have one. The pattern's mode is Lines.
func (m *Matcher) Lines(buf []byte, yield func(start, end int) bool) {
	pl := m.p.plan
	switch {
	case m.err != nil || len(buf) == 0:
	case pl.pre != nil && pl.pre.usable(buf):
		m.candidateLines(buf, yield)
	default:
		m.allLines(buf, yield)
	}
}

// candidateLines looks only at lines the prefilter finds.
func (m *Matcher) candidateLines(buf []byte, yield func(start, end int) bool) {
	pl := m.p.plan
	for pos := 0; pos < len(buf); {
		hit, hitEnd := pl.pre.find(buf, pos)
		if hit < 0 {
			return
		}
		start := pos + vec.LastIndexByte(buf[pos:hit], '\n') + 1
		end, next := textEndAfter(buf, start, hitEnd)
		pos = next
		if pl.whole {
			if hitEnd > end {
				// The hit takes in the \r of the line's ending. Another one
				// in the line may not.
				if !m.MatchLine(buf[start:end]) {
					continue
				}
			}
		} else if !m.decide(buf[start:end]) {
			if m.err != nil {
				return
			}
			continue
		}
		if !yield(start, end) {
			return
		}
	}
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

// eachLine is the definition: the exact engine on every line.
func (m *Matcher) eachLine(buf []byte, yield func(start, end int) bool) {
	for pos := 0; pos < len(buf) && m.err == nil; {
		end, next := textEnd(buf, pos)
		if m.find(buf[pos:end], 0, nil) && !yield(pos, end) {
			return
		}
		pos = next
	}
}
