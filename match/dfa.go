package match

import (
	"bytes"

	"quarry/internal/re/dfa"
	"quarry/internal/re/vec"
)

// automata are a Matcher's table-driven engines, built when first used.
type automata struct {
	lines *dfa.LineCache
	find  *dfa.FindCache
	list  []dfa.Line
}

// decideFast answers for one line when the automaton can.
func (m *Matcher) decideFast(line []byte) (known, ok bool) {
	switch m.finder().IsMatch(line, 0, len(line), false) {
	case dfa.Match:
		return true, true
	case dfa.NoMatch:
		return true, false
	}
	return false, false
}

func (m *Matcher) finder() *dfa.FindCache {
	if m.dfa.find == nil {
		m.dfa.find = m.p.plan.find.NewCache()
	}
	return m.dfa.find
}

// segment bounds how much is read between two looks at the context: at the
// slowest 30 MB/s of an automaton that refills its cache all the time, 35 ms.
const segment = 1 << 20

// allLines looks at every line.
func (m *Matcher) allLines(buf []byte, yield func(start, end int) bool) {
	if m.dfa.lines == nil {
		m.dfa.lines = m.p.plan.lines.NewCache(m.decideByHand)
	}
	for base := 0; base < len(buf); {
		end := len(buf)
		if end-base > segment {
			if i := vec.LastIndexByte(buf[base:base+segment], '\n'); i >= 0 {
				end = base + i + 1
			} else if i := bytes.IndexByte(buf[base+segment:], '\n'); i >= 0 {
				end = base + segment + i + 1
			}
		}
		if !m.segmentLines(buf[base:end], base, yield) {
			return
		}
		base = end
		if err := m.ctx.Err(); err != nil {
			m.fail(err)
			return
		}
	}
}

func (m *Matcher) segmentLines(part []byte, base int, yield func(start, end int) bool) bool {
	m.dfa.list = m.dfa.lines.All(m.dfa.list[:0], part)
	for _, l := range m.dfa.list {
		start, end := l.Start, l.End
		line := part[start:end]
		if m.p.plan.superset || bytes.IndexByte(line, '\r') >= 0 {
			if end < len(part) && end > start && part[end-1] == '\r' {
				end--
			}
			if !m.decide(part[start:end]) {
				if m.err != nil {
					return false
				}
				continue
			}
		}
		if !yield(base+start, base+end) {
			return false
		}
	}
	return m.err == nil
}

// decideByHand answers for a line the table can't. It doesn't know whether a \r
// at the end belongs to the line, so it tries both; such a line is looked at
// again.
func (m *Matcher) decideByHand(line []byte) bool {
	if m.err != nil {
		return false
	}
	if n := len(line); n > 0 && line[n-1] == '\r' && m.run(m.p.plan.prog, line[:n-1], 0, nil) {
		return true
	}
	return m.run(m.p.plan.prog, line, 0, nil)
}
