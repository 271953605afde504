// Package textedit turns edits of a text into splices of the file's raw bytes.
//
// Every byte outside the spans an edit names is the same afterwards, by
// construction: a Change is a list of (span, new bytes) over the original, and
// writing it copies everything else. New text takes the file's encoding and the
// line ending in use at that place. Nothing is ever applied by resemblance;
// text that is not there gives an error that shows what comes closest. The
// package reads and writes no files.
package textedit

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"quarry/change"
	"quarry/internal/textfile"
)

// Outcome tells what one edit did.
type Outcome struct {
	// Count is the number of occurrences replaced, lines inserted or lines
	// deleted; 1 for a Span.
	Count int
	// Line is the line of the first replacement, the line after which text
	// was inserted (0: the beginning), or the first line deleted.
	Line int
	// Remaining counts the other occurrences of Old that a Replace left
	// alone, and RemainingLines has the lines the first of them begin on,
	// at most 20, without repeats.
	Remaining      int
	RemainingLines []int
}

// Splice replaces the raw bytes [Start, End) of a file by New.
type Splice struct {
	Start, End int
	New        []byte
}

// Change is the outcome of Apply. It is immutable and keeps the document.
type Change struct {
	doc     *textfile.Document
	splices []Splice
	planned []piece

	// Outcomes has one entry for each edit, in their order.
	Outcomes []Outcome
	// TurnsBinary is set where the edit moves a NUL that stood behind the
	// first 64 KiB into them, so that the file will count as binary.
	TurnsBinary bool
}

// piece is a splice in terms of the text. It keeps the span the edit named,
// which may be wider than what changes.
type piece struct {
	start, end           int
	namedStart, namedEnd int
	edit                 int
	text                 string // line endings converted
	glue                 bool   // text begins with the ending the last line lacked
	merged               bool   // several replacements and what stands between them
	eol                  textfile.Ending
}

// Apply works out one change from all edits. Every position refers to the
// document as it is now, never to the outcome of an earlier edit in the list.
// Edits that touch the same text are refused with an error that names both; insertions
// at one place follow each other in the order of the list. If any edit fails,
// there is no change, and the error has all that fail. With more than one edit
// each is a *change.EditError. A file
// that would grow beyond DefaultMaxSize is refused with a *SizeError.
func Apply(d *textfile.Document, edits ...change.Edit) (*Change, error) {
	return ApplyWithin(d, DefaultMaxSize, edits...)
}

// DefaultMaxSize is how large an edit may make a file: 256 MB.
const DefaultMaxSize = 256 << 20

// ApplyWithin is Apply with a limit of its own. A file that is larger already may
// be edited as long as it does not grow. The size is known before any of the new
// text is made, so what is refused costs nothing.
func ApplyWithin(d *textfile.Document, limit int64, edits ...change.Edit) (*Change, error) {
	p := &planner{doc: d, text: d.Text(), alone: len(edits) == 1, size: int64(len(d.Raw())), limit: max(limit, int64(len(d.Raw())))}
	c := &Change{doc: d, Outcomes: make([]Outcome, len(edits))}
	var failed []error
	for i, e := range edits {
		p.edit, p.later = i, edits[i+1:]
		var err error
		if c.Outcomes[i], err = p.plan(e); err != nil {
			failed = append(failed, wrap(edits, i, err))
		}
	}
	if len(failed) == 1 {
		return nil, failed[0]
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	sort.SliceStable(p.pieces, func(i, j int) bool {
		a, b := &p.pieces[i], &p.pieces[j]
		return cmp.Or(cmp.Compare(a.namedStart, b.namedStart), cmp.Compare(a.namedEnd, b.namedEnd)) < 0
	})
	if err := p.checkOverlap(); err != nil {
		return nil, err
	}
	p.unglue()
	c.planned = p.pieces
	if err := c.encode(edits); err != nil {
		return nil, err
	}
	if size := c.Size(); size > p.limit { // an encoding may need more bytes than the text
		return nil, &SizeError{Size: size, Max: p.limit}
	}
	if err := c.checkMeaning(); err != nil {
		return nil, err
	}
	return c, nil
}

func wrap(edits []change.Edit, i int, err error) error {
	if len(edits) < 2 {
		return err
	}
	return &change.EditError{Index: i, Err: err}
}

func (p *planner) checkOverlap() error {
	for i := 1; i < len(p.pieces); i++ {
		a, b := p.pieces[i-1], p.pieces[i]
		if b.namedStart < a.namedEnd {
			return &overlapError{
				First: min(a.edit, b.edit), Second: max(a.edit, b.edit),
				Line: p.doc.Lines().At(b.namedStart),
			}
		}
	}
	return nil
}

// unglue takes back the line ending that an insertion at the end of the file
// brings for the last line, where another edit deletes that line.
func (p *planner) unglue() {
	for i := 1; i < len(p.pieces); i++ {
		before, at := p.pieces[i-1], &p.pieces[i]
		if !at.glue || before.end != len(p.text) || before.start == before.end || before.text != "" {
			continue
		}
		if before.start == 0 || p.text[before.start-1] == '\n' {
			at.text = strings.TrimPrefix(at.text, at.eol.String())
			at.glue = false
		}
	}
}

// encode makes the raw splices. The same text is encoded once for all places.
func (c *Change) encode(edits []change.Edit) error {
	cache := map[string][]byte{}
	guessed := sync.OnceValue(c.doc.Guessed)
	c.splices = make([]Splice, 0, len(c.planned))
	for _, s := range c.planned {
		b, ok := cache[s.text]
		if !ok {
			var err error
			if b, err = c.encoded(s.text); err != nil {
				return wrap(edits, s.edit, err)
			}
			if !s.merged { // those differ
				cache[s.text] = b
			}
		}
		if !isASCII(b) && guessed() {
			return wrap(edits, s.edit, &GuessError{Encoding: c.doc.Encoding()})
		}
		if len(b) > 0 && s.start == len(c.doc.Text()) && c.doc.HalfUnit() {
			return wrap(edits, s.edit, ErrHalfUnit)
		}
		c.splices = append(c.splices, Splice{c.doc.RawOffset(s.start), c.doc.RawOffset(s.end), b})
	}
	return nil
}

// encoded is text in the file's encoding. In UTF-8 it is not copied: what replaces
// every letter of a file is as large as the file.
func (c *Change) encoded(text string) ([]byte, error) {
	if c.doc.Encoding().IsUTF8() && utf8.ValidString(text) && !strings.Contains(text, "\x00") {
		return unsafe.Slice(unsafe.StringData(text), len(text)), nil
	}
	return c.doc.Encoding().Append(nil, text)
}

// checkMeaning looks at how the new file would be read. Only in Windows-1252,
// which is what remains when nothing else fits, can an edit change the encoding:
// the bytes of "Ã©" alone are valid UTF-8. Pure ASCII reads the same in both.
func (c *Change) checkMeaning() error {
	var head []byte
	for b := range c.Pieces() {
		if head = append(head, b[:min(len(b), textfile.SniffLen-len(head))]...); len(head) == textfile.SniffLen {
			break
		}
	}
	if c.TurnsBinary = textfile.Sniff(head).Binary; c.TurnsBinary || c.doc.Encoding() != textfile.Windows1252 {
		return nil
	}
	var d textfile.Detector
	var size int64
	ascii := true
	for b := range c.Pieces() {
		d.Write(b)
		size += int64(len(b))
		if ascii = ascii && isASCII(b); d.Invalid() && size >= utf8.UTFMax {
			break // whatever follows, this is not UTF-8
		}
	}
	if k := d.Kind(); !ascii && k.Encoding != textfile.Windows1252 {
		return &MeaningError{From: textfile.Windows1252, To: k.Encoding}
	}
	return nil
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Document returns the document the change applies to.
func (c *Change) Document() *textfile.Document { return c.doc }

// Splices returns the raw splices in order of position, none overlapping.
func (c *Change) Splices() []Splice { return c.splices }

// Empty reports whether the bytes stay what they are.
func (c *Change) Empty() bool {
	for _, s := range c.splices {
		if !bytes.Equal(c.doc.Raw()[s.Start:s.End], s.New) {
			return false
		}
	}
	return true
}

// Pieces yields the new file's bytes in order, as slices of the original and
// of the new text. None is copied; they must not be modified.
func (c *Change) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		raw, at := c.doc.Raw(), 0
		for _, s := range c.splices {
			if at < s.Start && !yield(raw[at:s.Start]) {
				return
			}
			if len(s.New) > 0 && !yield(s.New) {
				return
			}
			at = s.End
		}
		if at < len(raw) {
			yield(raw[at:])
		}
	}
}

// Size returns the size of the new file.
func (c *Change) Size() int64 {
	n := int64(len(c.doc.Raw()))
	for _, s := range c.splices {
		n += int64(len(s.New)) - int64(s.End-s.Start)
	}
	return n
}

// WriteTo writes the new file without making a copy of it in memory.
func (c *Change) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for b := range c.Pieces() {
		n, err := w.Write(b)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Bytes returns the new file.
func (c *Change) Bytes() []byte {
	out := make([]byte, 0, c.Size())
	for b := range c.Pieces() {
		out = append(out, b...)
	}
	return out
}
