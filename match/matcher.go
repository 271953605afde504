package match

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/re/backref"
	"quarry/internal/re/backtrack"
	"quarry/internal/re/dfa"
	"quarry/internal/re/onepass"
	"quarry/internal/re/pike"
	"quarry/internal/re/vec"
)

// Matcher searches for a Pattern. It has scratch memory and must not be used concurrently.
// Positions are offsets in the given buffer.
type Matcher struct {
	p      *Pattern
	search *Search
	err    error
	pike   pike.Cache
	short  backtrack.Cache
	one    onepass.Cache
	back   *backref.Matcher
	dfa    automata
	inside *Matcher // matches the inside of a bounded pattern

	slots [2]int
	work  int // bytes and matches since the last check for a stop; see spend

	unbroken int // see Unbroken
}

// NewMatcher returns a Matcher for a search of its own. Matchers that share the budget of a
// backtracking pattern must come from the same Search.
func (p *Pattern) NewMatcher() *Matcher { return p.NewSearch().NewMatcher() }

// Search is the common state of matchers that search many texts for a pattern. It is safe for
// concurrent use.
type Search struct {
	p      *Pattern
	stop   atomic.Pointer[error]
	budget *backref.Budget // nil for patterns without backtracking
	exact  atomic.Int64    // remaining steps for patterns too large for an automaton
}

// maxSteps and stepsPerByte limit a search that backtracks, or that simulates an automaton too large to
// build: to a second or two of one processor, plus stepsPerByte steps for each byte of text. An ordinary
// pattern such as \w+(?!\w)\s*= takes 4 steps per byte on C code, an exponential pattern thousands.
const (
	maxSteps     = 1 << 26
	stepsPerByte = 32
)

// NewSearch begins a search.
func (p *Pattern) NewSearch() *Search {
	s := &Search{p: p}
	s.exact.Store(maxSteps)
	if p.plan.back != nil {
		s.budget = backref.NewBudget(maxSteps)
	}
	return s
}

// Stop ends the search: its matchers stop soon, and their Err returns err. Only the first call
// has an effect.
func (s *Search) Stop(err error) {
	s.stop.CompareAndSwap(nil, &err)
	if s.budget != nil {
		s.budget.Stop(err)
	}
}

// StopWith stops the search when ctx is done. Call release when the search is over, like
// a context's cancel function.
func (s *Search) StopWith(ctx context.Context) (release func()) {
	if err := ctx.Err(); err != nil {
		s.Stop(err)
		return func() {}
	}
	end := context.AfterFunc(ctx, func() { s.Stop(ctx.Err()) })
	return func() { end() }
}

// NewMatcher returns a Matcher for one goroutine of the search.
func (s *Search) NewMatcher() *Matcher {
	m := &Matcher{p: s.p, search: s}
	if s.p.plan.back != nil {
		m.back = s.p.plan.back.NewMatcher(s.budget)
	}
	return m
}

// Clone returns a Matcher of the same search for another goroutine.
func (m *Matcher) Clone() *Matcher { return m.search.NewMatcher() }

// Pattern returns the pattern m searches for.
func (m *Matcher) Pattern() *Pattern { return m.p }

// ErrBudget is returned by Err if a pattern took more steps than a search may take. It can
// occur for patterns with look-around or a backreference, or with counts in the thousands.
var ErrBudget = fault.New(fault.InvalidPattern, "the pattern takes too many steps on this text; simplify its repetitions or search fewer files", "")

// Err returns why the matcher stopped early: the search was stopped, or its budget is spent.
// The matches reported before are correct but incomplete.
func (m *Matcher) Err() error {
	m.poll()
	return m.err
}

func (m *Matcher) fail(err error) {
	if errors.Is(err, backref.ErrBudget) {
		err = ErrBudget
	}
	if m.err == nil {
		m.err = err
	}
}

// pollBytes is the number of bytes searched between two checks of Search.stop: 26 ms at 10
// MB/s, which is slow even for an engine that simulates. A match counts as matchWork bytes,
// since restarting after it costs as much.
const (
	pollBytes = 256 << 10
	matchWork = 128
)

// spend counts work and reports whether the search continues.
func (m *Matcher) spend(n int) bool {
	if m.work += n; m.work >= pollBytes {
		m.work = 0
		m.poll()
	}
	return m.err == nil
}

// poll checks whether the search was stopped.
func (m *Matcher) poll() {
	if err := m.search.stop.Load(); err != nil {
		m.fail(*err)
	}
	if err := m.p.plan.ended.Load(); err != nil {
		m.fail(*err)
	}
}

// MatchLine reports whether the pattern matches one line, given without its line ending.
// The pattern's mode must be Lines.
func (m *Matcher) MatchLine(line []byte) bool {
	if m.err != nil {
		return false
	}
	pl := m.p.plan
	if pl.every {
		return true
	}
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

// decide is MatchLine without a prefilter.
func (m *Matcher) decide(line []byte) bool {
	pl := m.p.plan
	if pl.bounded != nil && pl.bounded.strings {
		if _, _, ok, known := m.boundedSpan(line, 0, len(line)); known {
			return ok
		}
	}
	if known, ok := m.decideFast(line); known && !(ok && pl.superset) {
		return ok
	}
	return m.find(line, 0, nil)
}

// find runs the exact engine on a text and fills slots.
func (m *Matcher) find(text []byte, from int, slots []int) bool {
	pl := m.p.plan
	if pl.superset {
		if from == 0 {
			m.search.budget.Grant(stepsPerByte * int64(len(text)))
		}
		ok, err := m.back.Find(text, from, slots)
		if err != nil {
			m.fail(err)
		}
		return ok
	}
	return m.run(text, from, len(text), false, slots)
}

// run searches with an engine that suits the length of the text. Assertions see all of text,
// the match is in text[from:to], and if anchored is set it starts at from.
func (m *Matcher) run(text []byte, from, to int, anchored bool, slots []int) bool {
	if !m.spend(to - from) {
		return false
	}
	if len(slots) > 2 && (anchored || m.p.plan.anchored()) {
		if e := m.p.plan.onePass(); e != nil {
			return m.one.Find(e, text, from, to, slots)
		}
	}
	if e := m.p.plan.short(); e.Fits(to - from) {
		if match, ok := m.short.Find(e, text, from, to, anchored, slots); ok {
			return match
		}
	}
	return m.runExact(text, from, to, anchored, slots)
}

// runExact is run with the reference engine.
func (m *Matcher) runExact(text []byte, from, to int, anchored bool, slots []int) bool {
	in := pike.Input{Hay: text, From: from, To: to, Anchored: anchored, Done: m.stopped}
	r := m.pike.Find(m.p.plan.prog(), in, slots)
	if r == pike.Cancelled {
		m.poll()
	}
	return r == pike.Match
}

// stopped charges the engine's work to the search and reports whether the search ends.
func (m *Matcher) stopped(bytes, steps int) bool {
	if excess := int64(steps) - stepsPerByte*int64(bytes); excess > 0 && m.search.exact.Add(-excess) < 0 {
		m.fail(ErrBudget)
	}
	m.poll()
	return m.err != nil
}

// span finds the first match in a text at or after from.
func (m *Matcher) span(text []byte, from int) (start, end int, ok bool) {
	pl := m.p.plan
	if from < 0 || from > len(text) || !m.spend(matchWork) {
		return 0, 0, false
	}
	if pl.whole {
		if start, end, known := pl.pre.first(text, from); known {
			return start, end, start >= 0
		}
	}
	if pl.reach > 0 {
		if start, end, ok, known := m.spanAtHit(text, from); known {
			return start, end, ok
		}
	}
	if m.p.opts.Mode == Lines || pl.pre == nil {
		return m.spanIn(text, from, len(text))
	}
	// Most texts have no match. Search only around each hit, as far as a match can extend from it.
	for from <= len(text) {
		hit, hitEnd := pl.pre.find(text, from)
		if hit < 0 && pl.pre.usable(text[from:]) {
			return 0, 0, false
		}
		if hit < 0 || pl.fence == nil || !pl.pre.usable(text[from:hitEnd]) {
			return m.spanIn(text, from, len(text))
		}
		var to int
		if from, to, ok = pl.fence.around(text, from, hit, hitEnd); !ok {
			return m.spanIn(text, from, len(text))
		}
		if start, end, ok = m.spanIn(text, from, to); ok || m.err != nil {
			return start, end, ok
		}
		from = to + 1
	}
	return 0, 0, false
}

// spanAtHit is span for patterns whose matches are short and begin with a hit. known is false
// if the automaton can't decide.
func (m *Matcher) spanAtHit(text []byte, from int) (start, end int, ok, known bool) {
	pl := m.p.plan
	if !m.hasFind() {
		return 0, 0, false, false
	}
	for m.spend(matchWork) {
		hit, _ := pl.pre.find(text, from)
		if hit < 0 {
			break
		}
		start, end, r := m.dfa.find.Find(text, hit, min(len(text), hit+pl.reach), true)
		if r == dfa.Match || r == dfa.GaveUp {
			return start, end, r == dfa.Match, r == dfa.Match
		}
		from = hit + 1
	}
	return 0, 0, false, true
}

// spanIn finds the first match in text[from:to].
func (m *Matcher) spanIn(text []byte, from, to int) (start, end int, ok bool) {
	if m.p.plan.superset {
		// This engine takes no end position, so matches beyond to count too.
		ok = m.find(text, from, m.slots[:])
		return m.slots[0], m.slots[1], ok
	}
	// In ASCII text the automata decide Unicode's word assertions; at any other byte they give up.
	b := m.p.plan.bounded
	if b != nil && b.strings {
		if start, end, ok, known := m.boundedSpan(text, from, to); known {
			return start, end, ok
		}
	}
	if start, end, found, known := m.findFast(text, from, to); known {
		return start, end, found
	}
	if b != nil && !b.strings {
		if start, end, ok, known := m.boundedSpan(text, from, to); known {
			return start, end, ok
		}
	}
	ok = m.run(text, from, to, false, m.slots[:])
	return m.slots[0], m.slots[1], ok
}

// each visits the non-overlapping matches of one text, from left to right. It skips an empty
// match right after another match.
func (m *Matcher) each(text []byte, yield func(start, end int) bool) {
	last := -1
	for from := 0; from <= len(text); {
		start, end, ok := m.span(text, from)
		if !ok {
			return
		}
		if start == end {
			from = end + m.afterEmpty(text[end:])
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

// afterEmpty returns the distance from an empty match to the next possible start of a match. In Rust's
// syntax a match may begin inside a scalar value, as with (?-u:\xBF); in ECMAScript it may not.
func (m *Matcher) afterEmpty(rest []byte) int {
	if !m.p.plan.superset {
		return 1
	}
	_, size := utf8.DecodeRune(rest)
	return max(size, 1)
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

// Find returns the first match in buf that starts at or after from. Assertions see the text
// before from.
func (m *Matcher) Find(buf []byte, from int) (start, end int, ok bool) {
	if m.p.opts.Mode != Lines {
		return m.span(buf, from)
	}
	if from < 0 || from > len(buf) {
		return 0, 0, false
	}
	lineStart := vec.LastIndexByte(buf[:from], '\n') + 1
	lineEnd, next := textEnd(buf, lineStart, m.p.opts.KeepCR)
	if from > lineStart && from <= lineEnd {
		if s, e, ok := m.span(buf[lineStart:lineEnd], from-lineStart); ok {
			return lineStart + s, lineStart + e, true
		}
		lineStart = next
	} else if from > lineEnd {
		lineStart = next
	}
	// Search a few lines first, then more. Otherwise callers that call Find repeatedly would
	// search the same megabyte for each match.
	for size := minFind; lineStart < len(buf) && !ok && m.err == nil; size = min(4*size, segmentSize) {
		part := buf[lineStart:segmentEnd(buf, lineStart, size)]
		m.Lines(part, func(s, e int) bool {
			if start, end, ok = m.span(part[s:e], 0); ok {
				start, end = lineStart+s+start, lineStart+s+end
			}
			return false
		})
		lineStart += len(part)
	}
	return start, end, ok
}

// minFind is the size of the first part that Find searches.
const minFind = 512

// Captures finds the first match in text at or after from and returns the spans of its
// groups: group i is slots[2*i] to slots[2*i+1], -1 if it did not participate. slots is
// reused if it is large enough. In Lines mode text is one line.
func (m *Matcher) Captures(text []byte, from int, slots []int) ([]int, bool) {
	if m.err != nil || from < 0 || from > len(text) {
		return nil, false
	}
	pl := m.p.plan
	if !m.mayMatch(text, from) {
		return nil, false
	}
	if n := 2 * m.p.Groups(); cap(slots) < n {
		slots = make([]int, n)
	} else {
		slots = slots[:n]
	}
	if !m.groups(text, from, slots) {
		return nil, false
	}
	if m.back != nil && !pl.superset {
		if _, err := m.back.MatchAt(text, slots[0], slots); err != nil {
			m.fail(err)
			return nil, false
		}
	}
	return slots, true
}

// mayMatch asks the prefilter, unless matching the pattern is as fast.
func (m *Matcher) mayMatch(text []byte, from int) bool {
	pl := m.p.plan
	if pl.anchored() && (from > 0 || pl.onePass() != nil) {
		return from == 0
	}
	if pl.pre == nil || !pl.pre.usable(text[from:]) {
		return true
	}
	hit, _ := pl.pre.find(text, from)
	return hit >= 0
}

// groups finds the first match and its groups. The engines that support groups are the
// slowest, so they run only on matches that other engines have found. The exception is a match
// that can begin only at the start of a text: finding it first would do the work twice.
func (m *Matcher) groups(text []byte, from int, slots []int) bool {
	pl := m.p.plan
	if pl.superset {
		return m.find(text, from, slots)
	}
	if from == 0 && pl.anchored() && (len(text) <= shortText || pl.onePass() != nil) {
		return m.find(text, from, slots)
	}
	if pl.pre == nil && m.hasFind() {
		if end, r := m.dfa.find.FindEnd(text, from, len(text), false, false); r == dfa.NoMatch {
			return false
		} else if r == dfa.Match && end-from < nearMatch && m.run(text, from, end, false, slots) {
			return true
		}
	}
	start, end, ok := m.span(text, from)
	return ok && m.run(text, start, end, true, slots)
}

// nearMatch is the largest distance to the end of a match for which the engine with groups runs
// without searching for the start first. This helps lexers, whose tokens follow one another.
const nearMatch = 64

// shortText is the largest text that an engine with groups searches by itself.
const shortText = 1024

// textEnd returns the end of the text of the line that starts at start, and the
// start of the next line.
func textEnd(buf []byte, start int, keepCR bool) (end, next int) {
	i := bytes.IndexByte(buf[start:], '\n')
	if i < 0 {
		return len(buf), len(buf)
	}
	end, next = start+i, start+i+1
	if !keepCR && end > start && buf[end-1] == '\r' {
		end--
	}
	return end, next
}
