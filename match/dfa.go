package match

import (
	"bytes"

	"quarry/internal/re/dfa"
)

// automata has a Matcher's table-driven engines, built on first use.
type automata struct {
	lines *dfa.LineCache
	find  *dfa.FindCache
	list  []dfa.Line

	noFind bool // find can't be built
	here   int  // how often to try a match at the current position first
	atOnce int  // consecutive matches that began at once
}

// decideFast decides one line if the automaton can.
func (m *Matcher) decideFast(line []byte) (known, ok bool) {
	if m.p.plan.looseEnd && bytes.IndexByte(line, '\r') >= 0 {
		return false, false // the automaton would let the line end there
	}
	return true, m.lineCache().Match(line)
}

func (m *Matcher) lineCache() *dfa.LineCache {
	if m.dfa.lines == nil {
		m.dfa.lines = m.p.plan.lines.NewCache(m.decideByHand)
		m.dfa.lines.Stop = m.cancelled
	}
	return m.dfa.lines
}

// hasFind reports whether there are automata for spans, and builds them.
func (m *Matcher) hasFind() bool {
	if m.dfa.find == nil && !m.dfa.noFind {
		f := m.p.plan.find()
		if f == nil {
			m.dfa.noFind = true
			return false
		}
		m.dfa.find = f.NewCache()
		m.dfa.find.Stop = m.cancelled
	}
	return m.dfa.find != nil
}

// findFast returns a span if the automata can find it.
func (m *Matcher) findFast(text []byte, from, to int) (start, end int, found, known bool) {
	if !m.hasFind() {
		return 0, 0, false, false
	}
	if m.p.plan.anchored() {
		if from > 0 {
			return 0, 0, false, true
		}
		start, end, r := m.dfa.find.Find(text, 0, to, true)
		return start, end, r == dfa.Match, r != dfa.GaveUp
	}
	// A search anchored at one position needs no second run for the start of the match, and
	// a match found there is the leftmost. So it is tried first if the last matches began at
	// once, as those of .*= and the tokens of a lexer.
	if m.dfa.here > 0 {
		if start, end, r := m.dfa.find.Find(text, from, to, true); r == dfa.Match {
			m.dfa.here = anchoredTries
			return start, end, true, true
		}
		m.dfa.here--
		m.dfa.atOnce = 0
	}
	start, end, r := m.dfa.find.Find(text, from, to, false)
	if r != dfa.GaveUp {
		if m.dfa.atOnce++; r != dfa.Match || start != from {
			m.dfa.atOnce = 0
		} else if m.dfa.atOnce >= anchoredTries {
			m.dfa.here = anchoredTries
		}
		return start, end, r == dfa.Match, true
	}
	// A pattern such as [\s\S]{5000} has a state for each set of positions where a match may
	// have begun, so its table grows too large. Anchored it needs few states, and such a pattern
	// matches nearly everywhere.
	if start, end, r = m.dfa.find.Find(text, from, to, true); r == dfa.Match {
		m.dfa.here = anchoredTries
		return start, end, true, true
	}
	return 0, 0, false, false
}

// anchoredTries is how often a matcher tries an anchored search first after a successful
// one, and after how many matches that began at once it starts to.
const anchoredTries = 4

// cancelled reports to an automaton whether the search was stopped.
func (m *Matcher) cancelled() bool {
	m.poll()
	return m.err != nil
}

// allLines examines every line of part.
func (m *Matcher) allLines(part []byte, base int, yield func(start, end int) bool) bool {
	m.dfa.list = m.lineCache().All(m.dfa.list[:0], part)
	for _, l := range m.dfa.list {
		start, end := l.Start, l.End
		line := part[start:end]
		if m.p.plan.superset || bytes.IndexByte(line, '\r') >= 0 {
			if !m.p.opts.KeepCR && end < len(part) && end > start && part[end-1] == '\r' {
				end--
			}
			if !m.decide(part[start:end]) {
				if m.err != nil {
					return false
				}
				continue
			}
		}
		if !yield(base+start, base+end) || m.err != nil {
			return false
		}
	}
	return m.err == nil
}

// decideByHand decides a line that the table can't decide. Whether a \r at the end belongs
// to the line is unknown here, so it tries both; such a line is verified later.
func (m *Matcher) decideByHand(line []byte) bool {
	if m.err != nil {
		return false
	}
	if m.p.plan.bounded != nil && bytes.IndexByte(line, '\r') < 0 {
		if _, _, ok, known := m.boundedSpan(line, 0, len(line)); known {
			return ok
		}
	}
	if n := len(line); n > 0 && line[n-1] == '\r' && m.run(line[:n-1], 0, n-1, false, nil) {
		return true
	}
	return m.run(line, 0, len(line), false, nil)
}
