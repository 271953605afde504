package match

import (
	"bytes"

	"quarry/internal/re/dfa"
)

// automata holds a Matcher's table-driven engines, which are built on first use.
type automata struct {
	lines *dfa.LineCache
	find  *dfa.FindCache
	list  []dfa.Line

	noFind bool // find can't be built
	here   int  // number of searches that first try an anchored match
	atOnce int  // consecutive matches that began at the start of the search
}

// decideFast decides one line if the automaton can. known reports whether it could.
func (m *Matcher) decideFast(line []byte) (known, ok bool) {
	if m.p.plan.looseEnd && bytes.IndexByte(line, '\r') >= 0 {
		return false, false // the automaton would take the \r for the end of the line
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

// hasFind builds the automata for spans if necessary, and reports whether there are any.
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

// findFast finds a span with the automata. known reports whether they could decide.
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
	// An anchored search needs no second run for the start of the match, and its match is the
	// leftmost. So try it first if the last matches began right at the start of the search,
	// as matches of .*= and the tokens of a lexer do.
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
	// have begun, so the table of an unanchored search grows too large. An anchored search
	// needs few states, and succeeds nearly everywhere for such a pattern.
	if start, end, r = m.dfa.find.Find(text, from, to, true); r == dfa.Match {
		m.dfa.here = anchoredTries
		return start, end, true, true
	}
	return 0, 0, false, false
}

// anchoredTries is the number of anchored tries that follow a successful one. It is also the
// number of consecutive matches at the start of the search after which tries begin.
const anchoredTries = 4

// cancelled is the Stop function of the automata.
func (m *Matcher) cancelled() bool {
	m.poll()
	return m.err != nil
}

// allLines decides every line of part with the automaton.
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

// decideByHand decides a line that the automaton can't decide. It doesn't know whether a \r at
// the end belongs to the line, so it tries both; such a line is verified later.
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
