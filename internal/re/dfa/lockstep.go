package dfa

import "unsafe"

// Each step of the machine waits for the previous one, about five cycles per byte, during
// which the processor is idle. Reading several parts of the buffer in one loop fills these
// gaps. A loop checks only once per block whether a stream fell into a row that leads only to
// itself; that stream then reads the block again, byte by byte.
const (
	// Six streams gained 8 % where few lines match (2.4 against 2.2 GB per
	// CPU second) and lost 5 % where all do; eight don't fit the registers.
	maxStreams = 4
	block      = 8 // bytes

	// Limits of the size of a piece: small enough that the streams finish together, large
	// enough that setting one up costs little.
	minPiece = 2 << 10
	maxPiece = 64 << 10
)

// piece is a part of the buffer, cut at the start of a line. Its lines are
// streams[stream].out[from:to].
type piece struct {
	start, end int
	stream     int
	from, to   int
}

// All appends the matching lines of hay to dst, in order. hay starts at the start of a
// line; its last line needs no \n.
func (c *LineCache) All(dst []Line, hay []byte) []Line {
	m := c.m
	m.live = m.live[:0]
	switch {
	case c.always:
		for i := 0; i < len(hay); {
			line := Line{i, lineEnd(hay, i)}
			dst = append(dst, line)
			i = line.End + 1
		}
		return dst
	case m.startState(false, kindEdge) == m.special(rowDead):
		return dst
	case len(hay) < maxStreams*minPiece:
		s := &c.streams[0]
		*s = stream{end: len(hay), state: m.startState(false, kindEdge), out: s.out[:0]}
		c.finish(hay, s)
		return append(dst, s.out...)
	}
	c.cut(hay)
	c.lockstep(hay)
	for _, p := range c.pieces {
		dst = append(dst, c.streams[p.stream].out[p.from:p.to]...)
	}
	return dst
}

// cut divides hay into pieces.
func (c *LineCache) cut(hay []byte) {
	rounds := min(max(len(hay)/maxStreams/maxPiece, 2), max(len(hay)/maxStreams/minPiece, 1))
	n := rounds * maxStreams
	c.pieces = c.pieces[:0]
	at := 0
	for i := range n {
		end := max(at, (i+1)*(len(hay)/n))
		if i == n-1 {
			end = len(hay)
		} else if end > at && hay[end-1] != '\n' {
			end = min(lineEnd(hay, end)+1, len(hay))
		}
		if end > at {
			c.pieces = append(c.pieces, piece{start: at, end: end})
		}
		at = end
	}
}

// lockstep reads all pieces, several at a time.
func (c *LineCache) lockstep(hay []byte) {
	next := 0
	var own [maxStreams]*piece
	take := func(k int) bool {
		s := &c.streams[k]
		if own[k] != nil {
			own[k].to = len(s.out)
			own[k] = nil
		}
		if next == len(c.pieces) {
			return false
		}
		p := &c.pieces[next]
		next++
		p.stream, p.from = k, len(s.out)
		own[k] = p
		s.pos, s.end, s.floor = p.start, p.end, p.start
		s.state = c.m.startState(false, kindEdge)
		return true
	}
	full := true
	for k := range c.streams {
		c.streams[k].out = c.streams[k].out[:0]
		c.streams[k].pos, c.streams[k].end = 0, 0
		full = take(k) && full
	}
	for full {
		n := c.streams[0].end - c.streams[0].pos
		for k := 1; k < maxStreams; k++ {
			n = min(n, c.streams[k].end-c.streams[k].pos)
		}
		if n >= block && c.handed <= 0 {
			n, before := min(n/block, pollBytes/maxStreams/block), c.streams[0].pos
			for k, fell := range c.run(hay, n) {
				if fell {
					c.aside(hay, k, block)
				}
			}
			if c.stopped(maxStreams * (c.streams[0].pos - before)) {
				next = len(c.pieces)
				for k := range c.streams {
					c.streams[k].abandon()
				}
			}
			continue
		}
		for k := range c.streams {
			s := &c.streams[k]
			if c.handed > 0 || s.end-s.pos < block {
				c.aside(hay, k, 0)
				full = take(k) && full
			}
		}
	}
	for k := range c.streams {
		for own[k] != nil {
			c.aside(hay, k, 0)
			take(k)
		}
	}
}

// aside lets stream k read alone and keeps the other streams' states valid. It reads count
// bytes, or to the stream's end if count is 0.
func (c *LineCache) aside(hay []byte, k, count int) {
	m := c.m
	m.live = m.live[:0]
	for j := range c.streams {
		m.live = append(m.live, c.streams[j].state)
	}
	s := &c.streams[k]
	if count == 0 {
		c.finish(hay, s)
	} else if line, ok := c.advance(hay, s, count); ok {
		s.out = append(s.out, line)
	}
	for j := range c.streams {
		if j != k {
			c.streams[j].state = m.live[j]
		}
	}
	m.live = m.live[:0]
}

// finish reads the stream to its end.
func (c *LineCache) finish(hay []byte, s *stream) {
	for s.pos < s.end {
		c.run1(hay, s)
		if line, ok := c.advance(hay, s, 4*block); ok {
			s.out = append(s.out, line)
		}
	}
}

// run reads up to n blocks with all streams. It stops after the first block in which some
// stream fell into a special row, and moves those streams back to the start of the block.
func (c *LineCache) run(hay []byte, n int) (fell [maxStreams]bool) {
	m := c.m
	st := &c.streams
	// Interior pointers: every stream has n blocks before its end, so each address below is
	// in hay.
	h0, h1 := unsafe.Pointer(&hay[st[0].pos]), unsafe.Pointer(&hay[st[1].pos])
	h2, h3 := unsafe.Pointer(&hay[st[2].pos]), unsafe.Pointer(&hay[st[3].pos])
	s0, s1, s2, s3 := uintptr(st[0].state), uintptr(st[1].state), uintptr(st[2].state), uintptr(st[3].state)
	var t0, t1, t2, t3 uintptr
	limit := uintptr(m.special(rowDead)) // rowDead is not special here: a dead line is read on
	i := 0
	if m.wide {
		base := m.base()
		for ; i < n*block; i += block {
			t0, t1, t2, t3 = s0, s1, s2, s3
			for j := i; j < i+block; j += 4 {
				s0, s1, s2, s3 = walk(base, s0, h0, j), walk(base, s1, h1, j), walk(base, s2, h2, j), walk(base, s3, h3, j)
				s0, s1, s2, s3 = walk(base, s0, h0, j+1), walk(base, s1, h1, j+1), walk(base, s2, h2, j+1), walk(base, s3, h3, j+1)
				s0, s1, s2, s3 = walk(base, s0, h0, j+2), walk(base, s1, h1, j+2), walk(base, s2, h2, j+2), walk(base, s3, h3, j+2)
				s0, s1, s2, s3 = walk(base, s0, h0, j+3), walk(base, s1, h1, j+3), walk(base, s2, h2, j+3), walk(base, s3, h3, j+3)
			}
			if s0 < limit || s1 < limit || s2 < limit || s3 < limit {
				break
			}
		}
	} else {
		base, cols := m.base(), unsafe.Pointer(&m.cols)
		for ; i < n*block; i += block {
			t0, t1, t2, t3 = s0, s1, s2, s3
			for j := i; j < i+block; j += 2 {
				s0, s1, s2, s3 = walkCols(base, cols, s0, h0, j), walkCols(base, cols, s1, h1, j), walkCols(base, cols, s2, h2, j), walkCols(base, cols, s3, h3, j)
				s0, s1, s2, s3 = walkCols(base, cols, s0, h0, j+1), walkCols(base, cols, s1, h1, j+1), walkCols(base, cols, s2, h2, j+1), walkCols(base, cols, s3, h3, j+1)
			}
			if s0 < limit || s1 < limit || s2 < limit || s3 < limit {
				break
			}
		}
	}
	broke := i < n*block
	m.scanned += maxStreams * i
	for k, s := range [maxStreams][2]uintptr{{s0, t0}, {s1, t1}, {s2, t2}, {s3, t3}} {
		st[k].pos += i
		st[k].state = uint32(s[0])
		if broke {
			if fell[k] = s[0] < limit; fell[k] {
				st[k].state = uint32(s[1])
			} else {
				st[k].pos += block
			}
		}
	}
	return fell
}

// run1 is run for a single stream.
func (c *LineCache) run1(hay []byte, s *stream) {
	m := c.m
	n := min(s.end-s.pos, pollBytes) / block
	if n <= 0 || c.handed > 0 {
		return
	}
	limit, base, cols := uintptr(m.limit()), m.base(), unsafe.Pointer(&m.cols)
	h := unsafe.Pointer(&hay[s.pos])
	id := uintptr(s.state)
	i := 0
	for ; i < n*block; i += block {
		t := id
		for j := i; j < i+block; j += 4 {
			id = walkCols(base, cols, id, h, j)
			id = walkCols(base, cols, id, h, j+1)
			id = walkCols(base, cols, id, h, j+2)
			id = walkCols(base, cols, id, h, j+3)
		}
		if id < limit {
			id = t
			break
		}
	}
	m.scanned += i
	s.pos += i
	s.state = uint32(id)
	if c.stopped(i) {
		s.abandon()
	}
}

// walk is one step in a wide table. The sum of base and column comes first, because it
// doesn't wait for the state.
func walk(base unsafe.Pointer, id uintptr, h unsafe.Pointer, i int) uintptr {
	b := *(*byte)(unsafe.Add(h, i))
	return uintptr(*(*uint32)(unsafe.Add(unsafe.Add(base, 4*uintptr(b)), id)))
}

// walkCols is one step in a table by class.
func walkCols(base, cols unsafe.Pointer, id uintptr, h unsafe.Pointer, i int) uintptr {
	b := *(*byte)(unsafe.Add(h, i))
	col := *(*byte)(unsafe.Add(cols, b))
	return uintptr(*(*uint32)(unsafe.Add(unsafe.Add(base, 4*uintptr(col)), id)))
}
