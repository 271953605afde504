// Package scan finds the matching lines of one file.
//
// The reported lines are exactly those that the pattern matches on their own, whichever
// way the file is read: whole, in blocks, decoded. A file of any size is read in bounded
// memory. A Scanner belongs to one goroutine.
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
	// blockSize is the size of one read. Nearly all files are smaller and take a single
	// read; larger blocks gained nothing on the Linux tree.
	blockSize = 256 << 10

	// MaxLine is the longest line that is searched.
	MaxLine = 16 << 20

	// MaxWhole is the largest file that is searched in multiline mode, where the whole
	// file is in memory. Files over MaxLine are searched one at a time.
	MaxWhole = 1 << 30
)

// large is held while a file over MaxLine is in memory.
var large = make(chan struct{}, 1)

// Detail selects how much to report; less is faster.
type Detail uint8

const (
	// Lines reports the matching lines with their text.
	Lines Detail = iota
	// Count reports only the number of matching lines.
	Count
	// Exists stops at the first.
	Exists
)

// Request selects what to report about a file.
type Request struct {
	Detail        Detail
	Before, After int            // lines of context
	Invert        bool           // report lines that don't match
	Spans         bool           // report the positions in each line
	Matches       bool           // count matches, not only lines
	MaxLines      int            // stop after this many matching lines, in multiline mode matches; 0 is no limit
	MaxText       int            // cut a longer line around its first match; 0 keeps all
	Binary        bool           // search binary files as text
	NUL           search.NULRule // what NUL means if Binary is not set
	Raw           bool           // ignore encoding marks
	Decode        bool           // Result.Decode follows; not with Emit
	All           bool           // report all lines: those that don't match as context
	WhileMatching bool           // stop at the first line after a match that doesn't match

	// Emit, if set, receives reported lines while the file is read, a few thousand at a
	// time. The Result then contains only the last ones. Lines and texts are valid until Emit
	// returns, the rest until the next search. An error ends the search and is returned.
	Emit func(*Result) error

	// KeepHits is how many matching lines are reported; further ones are only counted.
	// 0 means no limit.
	KeepHits int

	// Gap, if not 0, makes blocks of matching lines: lines whose numbers differ
	// by at most Gap share a block. It has no effect in multiline mode.
	Gap int
	// KeepBlocks and BlockLines limit the reported blocks, and the lines of each, so that
	// a file that matches everywhere doesn't fill the memory. The rest is only counted. 0 means
	// no limit.
	KeepBlocks, BlockLines int
}

// Skip is why a file, or the rest of it, was not searched.
type Skip uint8

const (
	NotSkipped Skip = iota
	Binary          // a NUL in the first 64 KiB
	TooLarge        // a line over MaxLine, or in multiline mode a file over MaxWhole
)

func (s Skip) String() string {
	return [...]string{"", "binary", "too_large"}[s]
}

// Result is the result of searching a file.
type Result struct {
	Lines   []search.Line
	Matched int // matching lines; in multiline mode, matches
	Matches int // matches, if Request.Matches or Spans is set
	Blocks  int // if Request.Gap is set
	First   int // numbers of the first and last matching line, if Request.Gap is set
	Last    int
	Bytes   int64 // bytes searched: if Stopped, up to the last line of MaxLines
	Skip    Skip
	NUL     int64 // 1 + the offset of the first NUL of a binary file searched as text; 0 if none
	AtNUL   bool  // the search ended there
	Stopped bool  // MaxLines was reached and the rest was not read

	decoding
}

// Scanner searches files one after the other. Its buffers are reused. Memory that a Result
// refers to is not, unless Request.Emit is set.
type Scanner struct {
	m        *match.Matcher
	inBlocks bool // multiline mode, with a pattern whose texts can be cut
	keepCR   bool // \r before \n belongs to the line
	decodes  bool // lines that aren't UTF-8 may match only when decoded
	one      file // the current file
	parts    parts
	buf      []byte // the current block of text
	raw      []byte // undecoded bytes of a file that isn't UTF-8
	hits     []hit
	lossy    []byte        // one decoded line
	gathered []search.Span // matches of a block in multiline mode

	// Shapes, if set, finds the matches of a text in the file at path, in the order of
	// their starts, instead of the pattern, which all of them contain. It reports false if it
	// gave up; the file is then skipped as too large.
	Shapes func(path string, text []byte) ([]Shape, bool)
	Path   string
}

// Shape is a match found by Scanner.Shapes.
type Shape struct {
	search.Span
	Holes []search.Hole // offsets as in Span
	Doubt string
}

// New returns a Scanner for the pattern of m.
func New(m *match.Matcher) *Scanner {
	s := &Scanner{}
	s.Use(m)
	return s
}

// Use changes the pattern of the next searches to that of m.
func (s *Scanner) Use(m *match.Matcher) {
	p := m.Pattern()
	s.m, s.inBlocks, s.keepCR, s.decodes = m, p.Cuts(), p.KeepsCR(), p.Windows1252Adds()
}

// longest returns the longest text without a cut that is searched in a file of a size. In
// multiline mode it is the limit of files that are searched whole. Larger files must be cut
// more often; otherwise a file of 5 GB would take 1 GB of memory before it is given up.
func (s *Scanner) longest(size int64) int {
	if s.inBlocks && size <= MaxWhole {
		return MaxWhole
	}
	return MaxLine
}

// lastCut returns the end of the whole lines of buf that can be searched separately: after
// a line feed in buf[from:], or 0.
func (s *Scanner) lastCut(buf []byte, from int) int {
	if s.inBlocks {
		return s.m.Pattern().Cut(buf, from)
	}
	if i := vec.LastIndexByte(buf[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return 0
}

// File searches the content of r. size is a hint: the expected length of the file.
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

// Bytes searches text that is already in memory.
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
