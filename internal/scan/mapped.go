package scan

import (
	"io"
	"runtime/debug"

	"quarry/internal/re/vec"
	"quarry/internal/textfile"
)

// View is a memory-mapped file, implemented by rootfs.View. Its contents may change or
// vanish during the search.
//
// Copying a large file takes as long as searching it for a literal, so several scanners
// search a view without copying. The result of a block is used only if, at the block's
// turn, the file is unmodified. Otherwise, or if the memory has vanished, this block and
// all later ones are read from the file. Reported lines never refer to the view's memory.
type View interface {
	io.ReaderAt // reads the current file
	Bytes() []byte
	Steady() bool      // reports whether the file is unmodified since it was opened
	Drop(from, to int) // frees a part that is no longer needed
}

const (
	// viewBlock is the size of a block in a view: large enough that keeping the order
	// costs nothing, small enough for the processor's cache.
	viewBlock = 1 << 20

	// viewKept is how much of a view is kept before the current block. A view kept as a
	// whole would count as memory of the process.
	viewKept = 16 << 20

	// denseHits is the distance in bytes below which reported lines in a view are dense.
	// Copying each of them would cost more than reading all of them at once.
	denseHits = 2 << 10
)

// cut takes the next block from the view. It returns false if the view is not reliable.
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

// usesView reports whether the next block is searched in the view. Reported lines must be
// copied from a view, so it is only used if they are known to be few.
func (g *group) usesView() bool {
	if g.view == nil || g.moved.Load() || g.dense.Load() || g.blocks == 0 {
		return false
	}
	if !g.inPlace && (g.req.Detail == Count || g.sparse.Load()) {
		g.inPlace = g.text.enc == textfile.UTF8 || g.text.enc == textfile.Windows1252
	}
	return g.inPlace
}

// noteDensity records how much of a block was reported.
func (g *group) noteDensity(f *file, b *share) {
	if f.req.Detail != Lines || len(b.text) == 0 {
		return
	}
	if max(f.reported*denseHits, f.texts*8) > len(b.text) {
		g.dense.Store(true)
	} else {
		g.sparse.Store(true)
	}
}

// readOn stops using the view.
func (g *group) readOn() {
	g.inPlace = false
	g.text.r, g.text.read = io.NewSectionReader(g.view, g.base, g.text.size-g.base), g.base
	g.carry = g.carry[:0]
}

// guarded searches a block in a view. It returns false if the view is not reliable.
func (f *file) guarded(text []byte, view View) (ok bool) {
	defer recovered(view, &ok)()
	f.all(text)
	return true
}

// recovered returns a function to be deferred. The function recovers from faults in the
// view's memory, and from panics of engines whose text changed during the search, and
// then sets *ok to false.
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

// reread replaces the text of a block by the current contents of the file.
func (g *group) reread(s *Scanner, b *share) {
	s.m = s.m.Clone() // the old matcher may be in the middle of a search
	text := make([]byte, len(b.text))
	n, err := g.view.ReadAt(text, b.base)
	if b.text, b.view, b.read = text[:n], false, b.base+int64(n); err != nil && err != io.EOF {
		b.err = err
	}
	b.clear = max(0, min(b.clear, vec.IndexByte(b.text, '\n', 0)))
}

// passed frees the part of the view before a finished block. It must be the block's turn.
func (g *group) passed(b *share) {
	if end := int(b.base) + len(b.text); b.view && end-g.behind > viewKept {
		g.view.Drop(g.behind, end)
		g.behind = end
	}
}
