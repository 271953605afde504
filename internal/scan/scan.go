// Package scan finds the matching lines of one file.
//
// The result doesn't depend on how the file is read, whole, in blocks or decoded: the
// reported lines are those that the pattern matches on their own. Files of any size are
// searched in bounded memory. A Scanner is not safe for concurrent use.
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
	// blockSize is the size of one read. Nearly all files are smaller and need only one
	// read. Larger blocks were not faster on the Linux tree.
	blockSize = 256 << 10

	// MaxLine is the longest line that is searched.
	MaxLine = 16 << 20

	// MaxWhole is the size of the largest file searched in multiline mode, where the
	// whole file is in memory. Of the files larger than MaxLine, only one is searched at
	// a time.
	MaxWhole = 1 << 30
)

// large limits the files larger than MaxLine in memory to one.
var large = make(chan struct{}, 1)

// Detail selects how much to report. Less detail is faster.
type Detail uint8

const (
	// Lines reports the matching lines with their text.
	Lines Detail = iota
	// Count reports only the number of matching lines.
	Count
	// Exists stops at the first matching line.
	Exists
)

// Request selects what to report about a file.
type Request struct {
	Detail        Detail
	Before, After int            // lines of context
	Invert        bool           // report lines that don't match
	Spans         bool           // report the positions in each line
	Matches       bool           // count matches, not only lines
	MaxLines      int            // stop after this many matching lines, or matches in multiline mode; 0 means no limit
	MaxText       int            // cut longer lines around their first match; 0 means no limit
	Binary        bool           // search binary files as text
	NUL           search.NULRule // how NUL is treated if Binary is not set
	Raw           bool           // ignore encoding marks
	Decode        bool           // Result.Decode will be called; not allowed with Emit
	All           bool           // also report all other lines, as context
	WhileMatching bool           // after the first match, stop at the first line that doesn't match

	// Emit, if set, is called with reported lines while the file is read, a few thousand at a
	// time. The returned Result then contains only the last ones. Lines and texts are valid
	// until Emit returns, everything else until the next search. An error ends the search and
	// is returned.
	Emit func(*Result) error

	// KeepHits is the number of matching lines to report; further ones are only counted.
	// 0 means no limit.
	KeepHits int

	// Gap, if not 0, groups matching lines into blocks: consecutive ones whose numbers
	// differ by at most Gap share a block. It has no effect in multiline mode.
	Gap int
	// KeepBlocks and BlockLines limit the blocks reported and the lines in each, so that a file
	// in which every line matches doesn't fill the memory. The rest is only counted. 0 means no
	// limit.
	KeepBlocks, BlockLines int
}

// Skip is the reason why a file, or the rest of it, was not searched.
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
	Matched int // number of matching lines; in multiline mode, of matches
	Matches int // number of matches, if Request.Matches or Spans is set
	Blocks  int // number of blocks, if Request.Gap is set
	First   int // numbers of the first and last matching line, if Request.Gap is set
	Last    int
	Bytes   int64 // number of bytes searched; if Stopped, up to the line that reached MaxLines
	Skip    Skip
	NUL     int64 // offset of the first NUL, plus 1, in a binary file searched as text; 0 if there is none
	AtNUL   bool  // the search ended at that NUL
	Stopped bool  // MaxLines was reached, and the rest was not searched

	decoding
}

// Scanner searches one file after another. Its buffers are reused, except for memory that
// a Result refers to if Request.Emit is not set.
type Scanner struct {
	m        *match.Matcher
	inBlocks bool // multiline mode with a pattern that allows texts to be cut
	keepCR   bool // \r before \n belongs to the line
	decodes  bool // lines with invalid UTF-8 may match only when decoded
	one      file // the current file
	parts    parts
	buf      []byte // the current block of text
	raw      []byte // undecoded bytes of a file that isn't UTF-8
	hits     []hit
	lossy    []byte        // one decoded line
	gathered []search.Span // matches of a block in multiline mode

	// Shapes, if set, finds the matches in the text of the file at path, in order of their
	// starts. All of them must contain a match of the pattern. If Shapes returns false, it
	// gave up, and the file is skipped as too large.
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

// longest returns the size of the longest text without a cut that is searched in a file of
// the given size. In multiline mode this limits the size of files that are searched whole.
// Texts in larger files must be cut more often; otherwise a file of 5 GB would take 1 GB of
// memory before the search gives up.
func (s *Scanner) longest(size int64) int {
	if s.inBlocks && size <= MaxWhole {
		return MaxWhole
	}
	return MaxLine
}

// lastCut returns the end of the lines of buf that can be searched on their own. It is
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

// File searches the contents of r. size is the expected size of the file; it is only a
// hint.
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
