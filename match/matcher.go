package match

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"quarry/internal/re/backref"
	"quarry/internal/re/backtrack"
	"quarry/internal/re/pike"
	"quarry/internal/re/vec"
)

// Matcher searches for a Pattern. It holds scratch space: one goroutine uses
// it at a time. Positions are offsets in the buffer given.
type Matcher struct {
	p     *Pattern
	ctx   context.Context
	err   error
	pike  pike.Cache
	short backtrack.Cache
	back  *backref.Matcher
	dfa   automata

	slots [2]int
}

// NewMatcher returns a Matcher. Matchers of one search that should share the
// budget of a backtracking pattern come from the same Search.
func (p *Pattern) NewMatcher() *Matcher { return p.NewSearch(context.Background()).NewMatcher() }

// Search is one run of a pattern over many texts: what its matchers share. It
// is safe for concurrent use.
type Search struct {
	p      *Pattern
	ctx    context.Context
	budget *backref.Budget
}

// maxSteps is the budget of a backtracking search: a second or two of one
// processor.
const maxSteps = 1 << 26

// NewSearch begins a search that ends early when ctx does.
func (p *Pattern) NewSearch(ctx context.Context) *Search {
	s := &Search{p: p, ctx: ctx}
	if p.plan.back != nil {
		s.budget = backref.NewBudget(maxSteps)
	}
	return s
}

// NewMatcher returns a Matcher for one goroutine of the search.
func (s *Search) NewMatcher() *Matcher {
	m := &Matcher{p: s.p, ctx: s.ctx}
	if s.p.plan.back != nil {
		m.back = s.p.plan.back.NewMatcher(s.budget)
	}
	return m
}

// Pattern returns the pattern m searches for.
func (m *Matcher) Pattern() *Pattern { return m.p }

// ErrBudget is what Err returns when a pattern with look-around or a
// backreference took more steps than a search may.
var ErrBudget = errors.New("the pattern backtracks too much on this text; simplify its repetitions or search fewer files")

// Err tells why the matcher stopped before its time: the search was cancelled
// or its budget spent. What it reported until then is right but not all.
func (m *Matcher) Err() error { return m.err }

func (m *Matcher) fail(err error) {
	if errors.Is(err, backref.ErrBudget) {
		err = ErrBudget
	}
	if m.err == nil {
		m.err = err
	}
}

// MatchLine reports whether the pattern matches in one line, given without its
// line ending. The pattern's mode is Lines.
func (m *Matcher) MatchLine(line []byte) bool {
	if m.err != nil {
		return false
	}
	pl := m.p.plan
	if pl.pre != nil && pl.pre.usable(line) {
		if i, _ := pl.pre.find(line, 0); i < 0 {
			return false
		}
		if pl.whole {
			return true
		}
	}
	return m.decide(line)
}

// decide is MatchLine without prefilter.
func (m *Matcher) decide(line []byte) bool {
	pl := m.p.plan
	if known, ok := m.decideFast(line); known && !(ok && pl.superset) {
		return ok
	}
	return m.find(line, 0, nil)
}

// find runs the exact engine on a text and fills slots.
func (m *Matcher) find(text []byte, from int, slots []int) bool {
	pl := m.p.plan
	if pl.superset {
		ok, err := m.back.Find(m.ctx, text, from, slots)
		if err != nil {
			m.fail(err)
		}
		return ok
	}
	return m.run(text, from, slots)
}

// run decides with the engine that fits the text.
func (m *Matcher) run(text []byte, from int, slots []int) bool {
	if e := m.p.plan.short(); e.Fits(len(text) - from) {
		if match, ok := m.short.Find(e, text, from, len(text), false, slots); ok {
			return match
		}
	}
	return m.runExact(text, from, slots)
}

// runExact decides with the engine that is the reference of all others.
func (m *Matcher) runExact(text []byte, from int, slots []int) bool {
	r := m.pike.Find(m.p.plan.prog(), pike.Input{Hay: text, From: from, To: len(text), Done: m.stopped}, slots)
	if r == pike.Cancelled {
		m.fail(m.ctx.Err())
	}
	return r == pike.Match
}

func (m *Matcher) stopped() bool { return m.ctx.Err() != nil }

// span finds the first match in a text at or after from.
func (m *Matcher) span(text []byte, from int) (start, end int, ok bool) {
	pl := m.p.plan
	if m.err != nil || from > len(text) {
		return 0, 0, false
	}
	if pl.whole && pl.pre.usable(text[from:]) {
		start, end = pl.pre.find(text, from)
		return start, end, start >= 0
	}
	if !pl.superset {
		if start, end, found, known := m.findFast(text, from); known {
			return start, end, found
		}
	}
	if !m.find(text, from, m.slots[:]) {
		return 0, 0, false
	}
	return m.slots[0], m.slots[1], true
}

// each visits the matches of one text that don't overlap, from left to right.
// An empty match right after another match doesn't count.
func (m *Matcher) each(text []byte, yield func(start, end int) bool) {
	last := -1
	for from := 0; from <= len(text); {
		start, end, ok := m.span(text, from)
		if !ok {
			return
		}
		if start == end {
			_, size := utf8.DecodeRune(text[end:])
			from = end + max(size, 1)
			if end == last {
				continue
			}
		} else {
			from = end
		}
		last = end
		if !yield(start, end) {
			return
		}
	}
}

// EachInLine visits the matches in one line, given without its line ending.
func (m *Matcher) EachInLine(line []byte, yield func(start, end int) bool) { m.each(line, yield) }

// Each visits the matches in a buffer, in Lines mode line by line.
func (m *Matcher) Each(buf []byte, yield func(start, end int) bool) {
	if m.p.opts.Mode != Lines {
		m.each(buf, yield)
		return
	}
	m.Lines(buf, func(start, end int) bool {
		goOn := true
		m.each(buf[start:end], func(s, e int) bool {
			goOn = yield(start+s, start+e)
			return goOn
		})
		return goOn
	})
}

// Find returns the first match in buf that starts at or after from. What lies
// before from is seen by assertions but not matched.
func (m *Matcher) Find(buf []byte, from int) (start, end int, ok bool) {
	if m.p.opts.Mode != Lines {
		return m.span(buf, from)
	}
	if from < 0 || from > len(buf) {
		return 0, 0, false
	}
	lineStart := vec.LastIndexByte(buf[:from], '\n') + 1
	lineEnd, next := textEnd(buf, lineStart)
	if from > lineStart && from <= lineEnd {
		if s, e, ok := m.span(buf[lineStart:lineEnd], from-lineStart); ok {
			return lineStart + s, lineStart + e, true
		}
		lineStart = next
	} else if from > lineEnd {
		lineStart = next
	}
	m.Lines(buf[lineStart:], func(s, e int) bool {
		s, e = s+lineStart, e+lineStart
		if start, end, ok = m.span(buf[s:e], 0); ok {
			start, end = start+s, end+s
		}
		return false
	})
	return start, end, ok
}

// Captures finds the first match in text at or after from and returns the
// spans of its groups: group i is slots[2*i] to slots[2*i+1], -1 when it took
// no part. slots is reused when it is large enough. In Lines mode text is one
// line.
func (m *Matcher) Captures(text []byte, from int, slots []int) ([]int, bool) {
	if n := 2 * m.p.Groups(); cap(slots) < n {
		slots = make([]int, n)
	} else {
		slots = slots[:n]
	}
	if m.err != nil || from < 0 || from > len(text) {
		return nil, false
	}
	if !m.find(text, from, slots) {
		return nil, false
	}
	if m.back != nil && !m.p.plan.superset {
		if _, err := m.back.MatchAt(m.ctx, text, slots[0], slots); err != nil {
			m.fail(err)
			return nil, false
		}
	}
	return slots, true
}

// textEnd gives the end of the text of the line that starts at start and the
// start of the next line.
func textEnd(buf []byte, start int) (end, next int) {
	i := bytes.IndexByte(buf[start:], '\n')
	if i < 0 {
		return len(buf), len(buf)
	}
	end, next = start+i, start+i+1
	if end > start && buf[end-1] == '\r' {
		end--
	}
	return end, next
}
