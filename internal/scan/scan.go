// Package scan finds the matching lines of one file.
//
// What it reports is exactly what running the pattern on every line gives,
// whichever way the file is read: whole, in blocks, decoded. A file of any
// size is read in bounded memory. A Scanner belongs to one goroutine.
package scan

import (
	"cmp"
	"io"

	"quarry/internal/re/vec"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

const (
	// blockSize is what one read asks for. Files up to it, nearly all, take a
	// single read; larger blocks gained nothing on the Linux tree.
	blockSize = 256 << 10

	// MaxLine is the longest line that is searched.
	MaxLine = 16 << 20

	// MaxWhole is the largest file that is searched in multiline mode: all of it
	// has to be in memory. Files over MaxLine are searched one at a time.
	MaxWhole = 1 << 30
)

// large is held while a file over MaxLine is in memory.
var large = make(chan struct{}, 1)

// Detail says how much of an answer is wanted; less is faster.
type Detail uint8

const (
	// Lines reports the matching lines with their text.
	Lines Detail = iota
	// Count reports only how many there are.
	Count
	// Exists stops at the first.
	Exists
)

// Request is what to report of a file.
type Request struct {
	Detail        Detail
	Before, After int            // lines of context
	Invert        bool           // lines that don't match
	Spans         bool           // where in each line
	Matches       bool           // count matches, not only lines
	MaxLines      int            // stop after this many matching lines, in multiline mode matches; 0 is no limit
	MaxText       int            // cut a longer line around its first match; 0 keeps all
	Binary        bool           // search binary files as text
	NUL           search.NULRule // what NUL means if Binary is not set
	Raw           bool           // bytes as they are: no mark of an encoding counts
	Decode        bool           // Result.Decode follows; not with Emit
	All           bool           // report all lines: those that don't match as context
	WhileMatching bool           // stop at the first line after a match that doesn't match

	// Emit, if set, gets reported lines while the file is read, a few thousand at
	// a time. The Result then has only the last ones. Lines and texts are valid
	// until it returns, the rest until the next search. An error ends the search
	// and is returned.
	Emit func(*Result) error

	// KeepHits is how many matching lines are reported; further ones are only
	// counted. 0 is no bound.
	KeepHits int

	// Gap, if not 0, makes blocks of matching lines: lines whose numbers differ
	// by at most Gap share a block. It has no effect in multiline mode.
	Gap int
	// KeepBlocks and BlockLines bound what is reported of them, so that a file
	// that matches everywhere doesn't fill the memory: the first blocks, and the
	// first lines of each. The rest is only counted. 0 is no limit.
	KeepBlocks, BlockLines int
}

// Skip says why a file, or the rest of it, was not searched.
type Skip uint8

const (
	NotSkipped Skip = iota
	Binary          // a NUL in the first 64 KiB
	TooLarge        // a line over MaxLine, or in multiline mode a file over MaxWhole
)

func (s Skip) String() string {
	return [...]string{"", "binary", "too_large"}[s]
}

// Result is what was found in a file.
type Result struct {
	Lines   []search.Line
	Matched int // matching lines; in multiline mode, matches
	Matches int // matches, when Request.Matches or Spans asked
	Blocks  int // when Request.Gap asked
	First   int // number of the first matching line, and Last of the last one, when Request.Gap asked
	Last    int
	Bytes   int64 // searched: up to the last line of MaxLines when Stopped
	Skip    Skip
	NUL     int64 // 1 and the offset of the first NUL of a binary file searched as text; 0 for none
	AtNUL   bool  // the search ended there
	Stopped bool  // MaxLines was reached and the rest not read

	decoding
}

// Scanner searches files one after the other. Its buffers are reused; what a
// Result refers to is not, unless Request.Emit is set.
type Scanner struct {
	m        *match.Matcher
	inBlocks bool // multiline mode, by a pattern whose texts can be cut
	keepCR   bool // \r before \n belongs to the line
	decodes  bool // lines that aren't UTF-8 may match only when they are decoded
	one      file // the file in hand
	parts    parts
	buf      []byte // the block of text in hand
	raw      []byte // bytes before decoding, of a file that isn't UTF-8
	hits     []hit
	lossy    []byte        // one line decoded
	gathered []search.Span // matches of a block in multiline mode

	// Shapes, if set, finds the matches of a text whose path is Path, in the order
	// of their starts, instead of the pattern, which they all contain. It reports
	// false if it gave up, and the file is then skipped as too large.
	Shapes func(path string, text []byte) ([]Shape, bool)
	Path   string
}

// Shape is a match of something else than the pattern.
type Shape struct {
	search.Span
	Holes []search.Hole // offsets as those of the span
	Doubt string
}

// New returns a Scanner for the pattern of m.
func New(m *match.Matcher) *Scanner {
	s := &Scanner{}
	s.Use(m)
	return s
}

// Use makes the next searches look for the pattern of m.
func (s *Scanner) Use(m *match.Matcher) {
	p := m.Pattern()
	s.m, s.inBlocks, s.keepCR, s.decodes = m, p.Cuts(), p.KeepsCR(), p.Windows1252Adds()
}

// longest is the longest text without a cut that is searched in a file of a size.
// In multiline mode it is that of files that are searched whole. Larger files have
// to be cut more often, else one of 5 GB would take 1 GB before it is given up.
func (s *Scanner) longest(size int64) int {
	if s.inBlocks && size <= MaxWhole {
		return MaxWhole
	}
	return MaxLine
}

// lastCut returns where the whole lines of buf end that can be searched by themselves:
// after a line feed in buf[from:], or 0.
func (s *Scanner) lastCut(buf []byte, from int) int {
	if s.inBlocks {
		return s.m.Pattern().Cut(buf, from)
	}
	if i := vec.LastIndexByte(buf[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return 0
}

// File searches what r gives. size is a hint: the length the file is thought
// to have.
func (s *Scanner) File(r io.Reader, size int64, req *Request) (Result, error) {
	f := s.begin(req)
	t := &text{r: r, size: size, binary: req.Binary || req.NUL != search.SkipBinary, asIs: req.Raw, raw: s.raw}
	var err error
	if f.spanning = s.inBlocks && s.Shapes == nil; f.spanning || s.m.Pattern().Mode() == match.Lines {
		err = f.blocks(t)
	} else {
		err = f.whole(t)
	}
	if t.enc == textfile.UTF8BOM {
		f.out.mark = int64(len(t.enc.BOM()))
	}
	f.out.settled = f.out.settled || t.enc == textfile.UTF16LE || t.enc == textfile.UTF16BE
	if f.out.Stopped {
		f.out.Bytes = min(f.out.Bytes, f.searched)
	}
	if err == nil {
		err = s.m.Err()
	}
	return f.end(), err
}

// Bytes searches text that is in memory already.
func (s *Scanner) Bytes(text []byte, req *Request) (Result, error) {
	f := s.begin(req)
	if s.m.Pattern().Mode() == match.Lines {
		f.block(text, 0)
	} else {
		f.multiline(text, 0)
		f.settle(text)
	}
	f.out.Bytes = int64(len(text))
	if f.out.Stopped {
		f.out.Bytes = min(f.out.Bytes, f.searched)
	}
	err := cmp.Or(f.failed, s.m.Err())
	return f.end(), err
}
