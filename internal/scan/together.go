package scan

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/crew"
	"quarry/internal/re/vec"
	"quarry/match"
	"quarry/search"
)

// minTogether is the minimum size of a file that several scanners share. From 16 blocks
// on, it is worth waking another thread.
const minTogether = 16 * blockSize

// Large reports whether Together shares a file of this size.
func Large(size int64) bool { return size >= minTogether }

// Together returns the same result as File of the first scanner, but all scanners search
// the blocks of a large file. One of them at a time reads a block; the next one continues
// after its last line. Results are delivered in file order. So reading, which takes half of
// the time to search for a literal, and searching run in parallel.
//
// view, if not nil, is the memory-mapped r. Its blocks are searched in place (see
// mapped.go).
func Together(all []*Scanner, r io.Reader, size int64, view View, req *Request) (Result, error) {
	if len(all) < 2 && view == nil || !Large(size) || !shares(all[0], req) {
		return all[0].File(r, size, req)
	}
	if req.NUL != search.SkipBinary { // the start of the file determines how NUL is treated
		head := make([]byte, ripgrepBuffer)
		n, _ := io.ReadFull(r, head) // a later read reports the same error
		r = io.MultiReader(bytes.NewReader(head[:n]), r)
		if bytes.IndexByte(head[:n], 0) >= 0 {
			return all[0].File(r, size, req)
		}
	}
	return together(all, r, size, view, req)
}

func together(all []*Scanner, r io.Reader, size int64, view View, req *Request) (Result, error) {
	g := &group{req: req, view: view, wide: make(chan []byte, 1), broken: make(chan struct{}), text: text{r: r, size: size, binary: req.Binary || req.NUL != search.SkipBinary, asIs: req.Raw, raw: all[0].raw}}
	g.turned.L = &g.order
	g.wide <- nil
	done := crew.Group{Stop: g.abandon}
	for _, s := range all {
		done.Go(func() { g.work(s) })
	}
	done.Wait()
	all[0].raw = g.text.raw
	return g.out, g.err
}

// shares reports whether blocks can be searched independently, except for the number of
// lines and matches before them.
func shares(s *Scanner, req *Request) bool {
	switch {
	case s.Shapes != nil:
		return false
	case req.Before > 0 || req.After > 0 || req.All || req.WhileMatching || req.MaxLines > 0 || req.KeepHits > 0 || req.Gap > 0 || req.NUL != search.SkipBinary && req.NUL != search.MentionNULMapped:
		return false
	case s.m.Pattern().Mode() == match.Lines:
		return req.Detail == Count || req.Detail == Lines && req.Emit != nil
	}
	return s.inBlocks && req.Detail == Count
}

// group is one file searched by several scanners.
type group struct {
	req *Request

	reading sync.Mutex // guards the fields up to alone
	text    text
	carry   []byte // data after the last line of the latest block
	base    int64  // offset of carry
	blocks  int    // number of blocks distributed
	ended   bool
	inPlace bool // blocks are searched in the view

	alone *Scanner // the only scanner that continues if reported lines are dense

	view   View        // nil if the file is read
	moved  atomic.Bool // the view is not reliable any more
	sparse atomic.Bool // most of the text is not reported
	dense  atomic.Bool // much of the text is reported, so that waiting for turns costs more than searching
	behind int         // end of the part of the view that was freed; guarded by order

	// wide contains the only buffer for lines longer than a block, unless it is in use.
	// Clearing a second one would cost the system more than it saves.
	wide chan []byte

	order  sync.Mutex // locked by the scanner whose turn it is
	turned sync.Cond
	turn   int  // number of the block whose results are due
	lines  int  // number of lines before that block
	over   bool // nothing more is reported
	out    Result
	err    error

	broken chan struct{} // closed if a scanner panicked
	breaks sync.Once
}

// share is one block of a group.
type share struct {
	text  []byte
	wide  []byte // the group's wide buffer, if text is in it
	view  bool   // text is in the group's view
	clear int    // as in file
	base  int64
	no    int
	read  int64 // offset of the end of the block in the file
	nul   int64
	skip  Skip // reason if the search of the file ends here
	err   error
}

// work searches blocks until none are left.
func (g *group) work(s *Scanner) {
	for {
		b, ok := g.next(s)
		if !ok {
			return
		}
		g.search(s, &b)
	}
}

// next reads a block of whole lines into a scanner's buffer.
func (g *group) next(s *Scanner) (b share, ok bool) {
	g.reading.Lock()
	defer g.reading.Unlock()
	if g.ended {
		return b, false
	}
	if g.dense.Load() {
		if g.alone == nil {
			g.alone = s
		}
		if g.alone != s {
			return b, false
		}
	}
	if g.usesView() && g.cut(s, &b) {
		return b, true
	}
	if g.inPlace {
		g.readOn()
	}
	longest := s.longest(g.text.size)
	if cap(s.buf) < blockSize {
		s.buf = make([]byte, 0, blockSize)
	}
	buf := append(s.buf[:0], g.carry...)
	for {
		if cap(buf)-len(buf) < blockSize/2 {
			buf = g.widen(&b, buf, longest)
		}
		fresh := len(buf)
		// Read the same amount even within a long line, so that new data is still in the
		// cache.
		filled, err := g.text.fill(buf[:fresh:min(cap(buf), fresh+blockSize)])
		buf = buf[:len(filled)]
		last := err != nil
		end := len(buf)
		if !last {
			end = s.lastCut(buf, fresh)
		}
		switch {
		case err == errBinary:
			b.skip, end = Binary, 0
		case last && err != io.EOF:
			b.err, end = err, 0
		case !last && end == 0 && len(buf) > longest:
			b.skip, last = TooLarge, true
		case !last && end == 0 && g.decided(s, buf, fresh):
			g.rest(s, &b, buf, longest)
			return b, true
		case !last && end == 0:
			continue
		}
		if b.wide == nil {
			s.buf = buf[:0]
		}
		b.clear = min(fresh, end)
		b.text, b.base, b.no = buf[:end], g.base, g.blocks
		b.read, b.nul = g.text.read, g.text.nul
		g.carry = append(g.carry[:0], buf[end:]...)
		g.base += int64(end)
		g.blocks++
		g.ended = last
		return b, true
	}
}

// widen moves a long line to the wide buffer, or to a larger one that replaces it.
func (g *group) widen(b *share, line []byte, longest int) []byte {
	var wide []byte
	if b.wide == nil {
		select {
		case wide = <-g.wide: // its current user never waits for the reader
		case <-g.broken:
		}
	}
	b.wide = nil
	if cap(wide)-len(line) >= blockSize/2 {
		line = append(wide[:0], line...)
	} else {
		line = roomier(line, g.text.size, longest)
	}
	b.wide = line[:0]
	return line
}

// decided reports whether lines are only counted and the current line matches however it
// continues. buf[:seen] was already checked.
func (g *group) decided(s *Scanner, buf []byte, seen int) bool {
	return g.req.Detail == Count && !g.req.Invert && !g.req.Matches && !s.decodes && s.m.Decides(buf, seen)
}

// rest reads up to the end of a decided line. The block then consists of the line's
// start.
func (g *group) rest(s *Scanner, b *share, line []byte, longest int) {
	if b.wide == nil {
		s.buf = line[:0]
	}
	b.text, b.clear, b.base, b.no = line, len(line), g.base, g.blocks
	g.carry = slices.Grow(g.carry[:0], blockSize)
	for size := int64(len(line)); ; {
		part, err := g.text.fill(g.carry[:0:blockSize])
		end := vec.IndexByte(part, '\n', 0) + 1
		if err == io.EOF && end == 0 {
			end = len(part)
		}
		size += int64(cmp.Or(end, len(part)))
		switch {
		case err != nil && err != io.EOF:
			b.err = err
		case end == 0 && err == nil && size > int64(longest):
			b.skip = TooLarge
		case end == 0 && err == nil:
			continue
		}
		if b.err != nil || b.skip != NotSkipped {
			b.text, b.clear, end = nil, 0, len(part)
		}
		g.base += size
		g.carry = append(g.carry[:0], part[end:]...)
		b.read, b.nul = g.text.read, g.text.nul
		g.blocks++
		g.ended = b.err != nil || b.skip != NotSkipped || err == io.EOF && len(g.carry) == 0
		return
	}
}

// search searches a block and delivers the result when it is the block's turn.
func (g *group) search(s *Scanner, b *share) {
	mine := false // whether it is this block's turn
	defer func() {
		if mine { // after a panic the turn is not passed on, see abandon
			g.order.Unlock()
		}
	}()
	req := *g.req
	if req.Emit != nil {
		req.Emit = func(part *Result) error {
			if !mine {
				g.await(b.no)
				mine = true
			}
			return g.emit(part)
		}
	}
	f := g.begin(s, &req, b)
	if b.view {
		steady := f.guarded(b.text, g.view)
		g.await(b.no)
		mine = true
		if !steady || !g.view.Steady() {
			g.moved.Store(true)
			g.reread(s, b)
			f = g.begin(s, &req, b)
			f.all(b.text)
		}
		g.passed(b)
	} else {
		f.all(b.text)
	}
	g.noteDensity(f, b)
	f.emit()
	if !mine {
		g.await(b.no)
		mine = true
	}
	err := cmp.Or(f.failed, s.m.Err(), b.err)
	if g.err == nil && !g.over {
		g.out.Matched += f.out.Matched
		g.out.Matches += f.out.Matches
		g.out.Bytes, g.out.NUL, g.out.Skip = b.read, cmp.Or(g.out.NUL, b.nul, f.out.NUL), b.skip
		g.err = err
		g.over = f.nulls.seen && req.Detail == Lines
	}
	ends := err != nil || g.over
	g.lines += f.line
	g.turn++
	g.turned.Broadcast()
	mine = false
	g.order.Unlock()
	if b.wide != nil {
		select {
		case g.wide <- b.wide:
		case <-g.broken:
		}
	}
	f.end()
	if ends {
		g.stop()
	}
}

// begin starts the search of a block.
func (g *group) begin(s *Scanner, req *Request, b *share) *file {
	f := s.begin(req)
	f.spanning, f.inPlace = s.inBlocks, b.view
	f.base, f.clear = b.base, b.clear
	return f
}

// all searches a block and counts its lines to the end.
func (f *file) all(text []byte) {
	f.block(text, 0)
	if f.req.Detail == Lines {
		if !f.inPlace {
			f.emit() // deliver while the block is in the cache
		}
		f.countTo(text, len(text))
	}
}

// await waits for a block's turn, which lasts until order is unlocked.
func (g *group) await(no int) {
	g.order.Lock()
	for g.turn != no && g.err != errBroken {
		g.turned.Wait()
	}
}

var errBroken = errors.New("another scanner of the file panicked")

// abandon ends the search of the file after a panic. The turn of the block will never
// come, so the other scanners must not wait for it, and nothing more is reported.
func (g *group) abandon() {
	g.breaks.Do(func() { close(g.broken) })
	g.order.Lock()
	g.err = errBroken
	g.turned.Broadcast()
	g.order.Unlock()
	g.stop()
}

// stop stops distributing blocks.
func (g *group) stop() {
	g.reading.Lock()
	g.ended = true
	g.reading.Unlock()
}

// emit delivers lines, with numbers counted from the start of the file. It must be the
// block's turn.
func (g *group) emit(part *Result) error {
	if g.err != nil || g.over {
		return g.err
	}
	for i := range part.Lines {
		part.Lines[i].Number += g.lines
		part.Lines[i].Block += g.out.Matched
	}
	whole := g.out
	whole.Lines = part.Lines
	whole.Matched += part.Matched
	whole.Matches += part.Matches
	return g.req.Emit(&whole)
}
