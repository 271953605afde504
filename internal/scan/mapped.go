package scan

import (
	"io"
	"runtime/debug"

	"quarry/internal/re/vec"
	"quarry/internal/textfile"
)

// View is a file in mapped memory, as rootfs.View has it: it may change or vanish
// while it is looked at.
//
// To copy a large file takes as long as to search it for a literal. So several
// scanners look at the view of a file, which costs no copy. What one found in a block
// counts only if the file is still the one that was opened when the block's turn
// comes. If not, or if the memory has vanished, this block and all after it are read,
// as those of a file without a view are. Nothing that is reported refers to the view.
type View interface {
	io.ReaderAt // of the file as it is now
	Bytes() []byte
	Steady() bool      // nobody has changed the file since it was opened
	Drop(from, to int) // this part is not needed any more
}

const (
	// viewBlock is a block of a view: large enough that the order of the blocks costs
	// nothing, small enough for the processor's cache.
	viewBlock = 1 << 20

	// viewKept is how much of a view stays behind the block in hand. All of it would
	// count as memory of the process.
	viewKept = 16 << 20

	// denseHits is how close to each other lines that are reported may be in a view: to
	// copy each costs more than to read them all at once.
	denseHits = 2 << 10
)

// cut takes the next block from the view. It reports false if it can't be relied on.
func (g *group) cut(s *Scanner, b *share) (ok bool) {
	defer recovered(g.view, &ok)()
	rest := g.view.Bytes()[g.base:]
	longest := s.longest(g.text.size)
	size, seen := min(viewBlock, len(rest)), 0
	end := size
	for size < len(rest) {
		if end = s.lastCut(rest[:size], seen); end > 0 {
			break
		}
		if size > longest {
			b.skip = TooLarge
			break
		}
		seen, size = size, min(size+blockSize, len(rest))
		end = size
	}
	b.text, b.clear, b.view = rest[:end:end], min(seen, end), true
	b.base, b.no = g.base, g.blocks
	g.base += int64(end)
	b.read, b.nul = g.base, g.text.nul
	if b.skip == TooLarge {
		b.read += int64(size)
	}
	g.blocks++
	g.ended = size == len(rest) && end == size || b.skip != NotSkipped
	return true
}

// looks reports whether the next block is looked at in the view. Lines are copied
// from there, so it has to be known that they are few.
func (g *group) looks() bool {
	if g.view == nil || g.moved.Load() || g.dense.Load() || g.blocks == 0 {
		return false
	}
	if !g.inPlace && (g.req.Detail == Count || g.sparse.Load()) {
		g.inPlace = g.text.enc == textfile.UTF8 || g.text.enc == textfile.Windows1252
	}
	return g.inPlace
}

// weigh notes how much of a block is reported.
func (g *group) weigh(f *file, b *share) {
	if f.req.Detail != Lines || len(b.text) == 0 {
		return
	}
	if max(f.reported*denseHits, f.texts*8) > len(b.text) {
		g.dense.Store(true)
	} else {
		g.sparse.Store(true)
	}
}

// readOn goes on without the view.
func (g *group) readOn() {
	g.inPlace = false
	g.text.r, g.text.read = io.NewSectionReader(g.view, g.base, g.text.size-g.base), g.base
	g.carry = g.carry[:0]
}

// guarded searches a block of a view. It reports false if that can't be relied on.
func (f *file) guarded(text []byte, view View) (ok bool) {
	defer recovered(view, &ok)()
	f.all(text)
	return true
}

// recovered returns a function to be deferred that recovers from a fault of a view,
// and from what an engine does if a text changes before its eyes. Then *ok is false.
func recovered(view View, ok *bool) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			if _, fault := r.(interface{ Addr() uintptr }); !fault && view.Steady() {
				panic(r)
			}
			*ok = false
		}
	}
}

// reread replaces the text of a block by what the file has there now.
func (g *group) reread(s *Scanner, b *share) {
	s.m = s.m.Clone() // it may have been left in the middle of something
	text := make([]byte, len(b.text))
	n, err := g.view.ReadAt(text, b.base)
	if b.text, b.view, b.read = text[:n], false, b.base+int64(n); err != nil && err != io.EOF {
		b.err = err
	}
	b.clear = max(0, min(b.clear, vec.IndexByte(b.text, '\n', 0)))
}

// passed notes that a block of the view is done. Its caller has the turn.
func (g *group) passed(b *share) {
	if end := int(b.base) + len(b.text); b.view && end-g.behind > viewKept {
		g.view.Drop(g.behind, end)
		g.behind = end
	}
}
