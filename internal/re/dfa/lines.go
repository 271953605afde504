package dfa

import (
	"bytes"
	"unsafe"

	"quarry/internal/re/nfa"
)

// Lines finds the matching lines of a buffer. Every line is a separate text: assertions see
// nothing outside it, nor its \n.
//
// One table serves all lines: the entry for \n decides the current line and leads to the start of the
// next, so a buffer is read in one go. Only whether a line matches is of interest, not which match is
// preferred, and reading stops at a line's first match, so these tables are smaller than a Finder's.
type Lines struct {
	p         *nfa.Prog
	cl        *classes
	look      *lookTable
	cacheSize sizes

	// unsure is set if a match isn't certain on a line with bytes over 0x7F, because a Unicode
	// assertion was assumed to hold or an empty match may split a scalar value.
	unsure bool
}

// NewLines makes a machine for a program; the program's captures are ignored.
func NewLines(p *nfa.Prog, opt *Options) *Lines {
	return &Lines{
		p: p, cl: newClasses(p, modeLines), look: newLookTable(false), cacheSize: opt.cacheSize(p),
		unsure: p.Looks.HasAny(nfa.LooksUnicode) || p.UTF8 && p.Nullable,
	}
}

// Line is the offsets of a line in its buffer, without its \n.
type Line struct{ Start, End int }

// LineCache holds the states that a Lines has built. It must not be used concurrently.
type LineCache struct {
	// Stop is called every 256 KiB; if it returns true, the rest of the buffer is skipped.
	// It may be nil.
	Stop func() bool

	l      *Lines
	m      *machine
	decide func(line []byte) bool
	always bool // every line matches
	// handed counts the bytes still to be decided without the machine, after it gave up. Each
	// time it gives up, this stretch gets longer, unless the machine has read much since the
	// last time (at lastRead).
	handed, stretch, lastRead int
	sincePoll                 int // bytes read since the last call of Stop
	streams                   [maxStreams]stream
	pieces                    []piece
}

// NewCache returns an empty cache. decide reports exactly whether a line, given without its
// \n, matches. It is called if the machine can't decide: the pattern has a Unicode assertion
// and the line isn't ASCII, or the cache was refilled too often.
func (l *Lines) NewCache(decide func(line []byte) bool) *LineCache {
	c := &LineCache{l: l, decide: decide, stretch: minStretch}
	c.m = newMachine(l.p, modeLines, l.look, l.cl, l.cacheSize)
	id := c.m.startState(false, kindEdge)
	c.always = id >= c.m.limit() && c.m.hasOp(c.m.set(&c.m.rows[id>>c.m.shift]), nfa.OpMatch)
	return c
}

const (
	minStretch = 64 << 10
	maxStretch = 16 << 20
)

// Next returns the first matching line that starts at or after from, which must be the
// start of a line.
func (c *LineCache) Next(hay []byte, from int) (Line, bool) {
	if from < 0 || from >= len(hay) {
		return Line{}, false
	}
	if c.always {
		return Line{from, lineEnd(hay, from)}, true
	}
	s := &c.streams[0]
	*s = stream{pos: from, end: len(hay), floor: from}
	c.m.live = c.m.live[:0]
	s.state = c.m.startState(false, kindEdge)
	for s.pos < s.end {
		c.run1(hay, s)
		if line, ok := c.advance(hay, s, 4*block); ok {
			return line, true
		}
	}
	return Line{}, false
}

// stopped counts bytes read and reports whether to stop.
func (c *LineCache) stopped(read int) bool {
	if c.sincePoll += read; c.sincePoll < pollBytes {
		return false
	}
	c.sincePoll = 0
	return c.Stop != nil && c.Stop()
}

// abandon skips the rest of a stream.
func (s *stream) abandon() { s.pos, s.floor = s.end, s.end }

// Match reports whether a single line matches, given without its \n. It is for candidate
// lines, and omits what pays only for many lines.
func (c *LineCache) Match(line []byte) bool {
	if c.always {
		return true
	}
	if c.handed > 0 {
		c.handed -= len(line) + 1
		return c.decide(line)
	}
	m := c.m
	m.live = m.live[:0]
	id := m.startState(false, kindEdge)
	for i := 0; ; {
		at := i
		text := line[:min(len(line), i+pollBytes)]
		base, limit := m.base(), m.limit()
		for ; i < len(text); i++ {
			// id is a row's offset in the table, as in FindCache.run.
			e := *(*uint32)(unsafe.Add(base, uintptr(id)+4*uintptr(m.cols[text[i]])))
			if e < limit {
				break
			}
			id = e
		}
		m.scanned += i - at
		if i == len(line) {
			return m.ends(id) && c.sure(line)
		}
		if c.stopped(i - at) {
			return false
		}
		if i == len(text) {
			continue
		}
		e := m.step(id, line[i])
		switch {
		case m.thrashed:
			c.giveUp()
			return c.decide(line)
		case e == m.special(rowMatched):
			return c.sure(line)
		case e < m.limit():
			return false // dead
		}
		id = e
		i++
	}
}

// sure confirms a line that matches according to the machine, calling decide if that isn't certain.
func (c *LineCache) sure(line []byte) bool {
	return !c.l.unsure || ascii(line) || c.decide(line)
}

// stream is a part of the buffer that is being read.
type stream struct {
	pos, end int
	floor    int // all remaining lines start here or later
	state    uint32
	out      []Line
}

// advance reads byte by byte: at most count bytes, or to the stream's end if count is 0. It
// returns once a line matches, with the stream at the start of the next line.
func (c *LineCache) advance(hay []byte, s *stream, count int) (Line, bool) {
	m := c.m
	stop := s.end
	if count > 0 {
		stop = min(stop, s.pos+count)
	}
	for {
		if c.handed > 0 {
			if line, ok := c.byHand(hay, s); ok {
				return line, true
			}
			if s.pos >= stop {
				return Line{}, false
			}
		}
		i, id := s.pos, s.state
		limit := m.limit()
		for i < stop {
			e := m.peek(id, hay[i])
			if e < limit {
				break
			}
			id = e
			i++
		}
		if i >= stop {
			m.scanned += i - s.pos
			s.pos, s.state = i, id
			if i < len(hay) || i == s.floor || hay[i-1] == '\n' {
				return Line{}, false
			}
			// The last line has no \n.
			if !m.ends(id) {
				return Line{}, false
			}
			return c.found(hay, s, i)
		}
		m.scanned += i - s.pos + 1
		s.pos, s.state = i, id
		e := m.step(id, hay[i])
		switch {
		case m.thrashed:
			c.handOver(hay, s)
		case e == m.special(rowMatched):
			if line, ok := c.found(hay, s, i); ok {
				return line, true
			}
		case e == m.special(rowDead):
			c.skip(hay, s, lineEnd(hay[:s.end], i)) // i isn't \n
		default:
			s.pos, s.state = i+1, e
		}
	}
}

// found handles a match in the line that contains offset i. It leaves the stream at the start
// of the next line.
func (c *LineCache) found(hay []byte, s *stream, i int) (Line, bool) {
	line := Line{lineStart(hay, s.floor, i), lineEnd(hay[:s.end], i)}
	c.skip(hay, s, line.End)
	return line, c.sure(hay[line.Start:line.End])
}

// skip moves the stream to after the line that ends at end.
func (c *LineCache) skip(hay []byte, s *stream, end int) {
	s.pos = min(end+1, s.end)
	s.floor = s.pos
	s.state = c.m.startState(false, kindEdge)
}

// giveUp marks a stretch of text to be decided without the machine. The stretches grow, so at
// most a few percent of the time goes into refilling caches.
func (c *LineCache) giveUp() {
	c.m.thrashed = false
	if c.m.read-c.lastRead > c.stretch {
		c.stretch = minStretch
	}
	c.lastRead = c.m.read
	c.handed = c.stretch
	c.stretch = min(2*c.stretch, maxStretch)
}

// handOver gives up, and moves the stream back to the start of its line.
func (c *LineCache) handOver(hay []byte, s *stream) {
	c.giveUp()
	s.pos = lineStart(hay, s.floor, s.pos)
	s.floor = s.pos
	s.state = c.m.startState(false, kindEdge)
}

// byHand decides lines without the machine, until one matches or the stretch is over. The
// stream must be at the start of a line, otherwise it moves there first.
func (c *LineCache) byHand(hay []byte, s *stream) (Line, bool) {
	s.pos = lineStart(hay, s.floor, s.pos)
	for c.handed > 0 && s.pos < s.end {
		line := Line{s.pos, lineEnd(hay[:s.end], s.pos)}
		c.handed -= line.End - line.Start + 1
		c.skip(hay, s, line.End)
		if c.decide(hay[line.Start:line.End]) {
			return line, true
		}
	}
	s.state = c.m.startState(false, kindEdge)
	return Line{}, false
}

// lineEnd returns the offset of the \n at or after i, or the end of hay.
func lineEnd(hay []byte, i int) int {
	if n := bytes.IndexByte(hay[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(hay)
}

// lineStart returns the start of the line that contains offset i. The start isn't before
// floor, which is the start of a line. A \n at i belongs to the line that it ends.
func lineStart(hay []byte, floor, i int) int {
	return floor + bytes.LastIndexByte(hay[floor:i], '\n') + 1
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
