// Package textedit turns edits of a text into splices of the file's raw bytes.
//
// Bytes outside of the spans that edits name can't change: a Change is a list of (span, new
// bytes) over the original, and writing it copies all other bytes. New text gets the file's
// encoding and the line ending in use at its position. An edit is never applied to a text that
// is merely similar, except for white space in edits that are Lenient; a missing text gives an
// error that shows the closest one. The package opens no files.
//
// Texts need not be in memory: a Change works on a textfile.Text, which may be read in pages.
// It yields its splices and the new file in order, as often as requested.
package textedit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/textfile"
)

// Outcome is the effect of one edit.
type Outcome struct {
	// Count is the number of occurrences replaced, or of lines inserted or deleted. It is 1 for a Span.
	Count int
	// Line is the line of the first replacement, the line after which text was inserted (0
	// means the beginning), or the first line deleted.
	Line int
	// Remaining is the number of other occurrences of Old that a Replace did not change.
	// RemainingLines has the lines where the first of them begin: at most 20, without repeats.
	Remaining      int
	RemainingLines []int
	// Note says how the text of a Lenient edit was interpreted; "" if it matched exactly.
	Note string
}

// Splice replaces the raw bytes [Start, End) of a file by New.
type Splice struct {
	Start, End int64
	New        []byte
}

// Change is the result of Apply. It refers to the text and, like it, is not safe for concurrent use.
type Change struct {
	doc   *textfile.Text
	edits []change.Edit
	kept  []piece       // in order of position
	every []*everywhere // pieces that are searched for each time
	size  int64
	empty bool

	// Outcomes has one entry for each edit, in the order of the edits.
	Outcomes []Outcome
	// TurnsBinary reports whether the edit moves a NUL into the first 64 KiB, so that the file
	// will count as binary.
	TurnsBinary bool
}

// piece is a splice with offsets in the decoded text. Its named span is the text that the edit
// names, which may be larger than the changed part.
type piece struct {
	start, end           int
	namedStart, namedEnd int
	edit                 int
	text                 string // with the line endings to write
	glue                 bool   // text begins with the line ending that the file's last line lacked
	eol                  textfile.Ending
}

// Apply computes one change from all edits. Every position refers to the current document, never to
// the result of an earlier edit in the list. Edits that touch the same text are refused with an
// error that names both. Insertions at the same position follow each other in the order of the list.
// If any edit fails, there is no change, and the error lists all that fail, with more than one edit
// as *change.EditError. A file that would grow beyond DefaultMaxSize is refused with a *SizeError.
func Apply(d *textfile.Document, edits ...change.Edit) (*Change, error) {
	return ApplyTo("", textfile.InMemory(d), DefaultMaxSize, nil, edits...)
}

// DefaultMaxSize is the default limit of an edited file: 256 MB.
const DefaultMaxSize = 256 << 20

// ApplyTo is like Apply for any text and with a given limit. The file's name determines the
// meaning of its white space, for edits that are Lenient, and how values are written. A file
// that is already larger than the limit may be edited if it does not grow. The size is
// computed before any new text is made. effort, if not nil, limits the explanations of
// missing texts for several calls together. If reading the text fails, that error is
// returned first.
func ApplyTo(name string, d *textfile.Text, limit int64, effort *Effort, edits ...change.Edit) (*Change, error) {
	if effort == nil {
		effort = &Effort{}
	}
	c, err := apply(name, d, limit, effort, edits)
	if d.Err() != nil {
		return nil, d.Err()
	}
	return c, err
}

func apply(name string, d *textfile.Text, limit int64, effort *Effort, edits []change.Edit) (*Change, error) {
	p := &planner{doc: d, name: name, size: d.RawLen(), limit: max(limit, d.RawLen()), effort: effort}
	c := &Change{doc: d, edits: edits, Outcomes: make([]Outcome, len(edits))}
	if err := affordable(d, edits); err != nil {
		return nil, err
	}
	if err := p.values(edits); err != nil {
		return nil, err
	}
	var failed []error
	for i, e := range edits {
		if p.edit, p.later = i, edits[i+1:]; d.Stopped() {
			return nil, d.Err()
		}
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
	slices.SortStableFunc(p.pieces, byPlace)
	c.kept, c.every = p.pieces, p.every
	if err := c.settle(p.limit); err != nil {
		return nil, err
	}
	if err := c.checkMeaning(); err != nil {
		return nil, err
	}
	return c, nil
}

// maxLooked limits the bytes that all edits together may search; an edit that names a text
// searches the whole file. The limit takes about half a minute.
const maxLooked = 32 << 30

// affordable refuses a list of edits that would take too long.
func affordable(d *textfile.Text, edits []change.Edit) error {
	n := 0
	for i := range edits {
		if v := edits[i].Verb; v == change.ReplaceText || v == change.ApplyHunk && d.Len() > maxTable {
			n++
		}
	}
	if n > 1 && int64(n)*int64(d.Len()) > maxLooked {
		return fault.New(fault.TooLarge, fmt.Sprintf("%d edits in a file of %d MB are too many at once", n, d.Len()>>20), "make fewer of them in one call, or name lines instead of texts")
	}
	return nil
}

func wrap(edits []change.Edit, i int, err error) error {
	if len(edits) < 2 {
		return err
	}
	return &change.EditError{Index: i, Err: err}
}

func byPlace(a, b piece) int {
	return cmp.Or(cmp.Compare(a.namedStart, b.namedStart), cmp.Compare(a.namedEnd, b.namedEnd))
}

// pieces yields all pieces in order of position. Pieces at the same position keep the order of
// their edits.
func (c *Change) pieces() iter.Seq[piece] {
	switch {
	case len(c.every) == 0:
		return c.unglued(slices.Values(c.kept))
	case len(c.every) == 1 && len(c.kept) == 0:
		return c.unglued(c.every[0].pieces())
	}
	return c.unglued(c.merged())
}

// merged yields the stored pieces and those of c.every in order of position.
func (c *Change) merged() iter.Seq[piece] {
	return func(yield func(piece) bool) {
		type source struct {
			head piece
			ok   bool
			next func() (piece, bool)
		}
		sources := make([]source, 0, len(c.every)+1)
		open := func(seq iter.Seq[piece]) (stop func()) {
			next, stop := iter.Pull(seq)
			s := source{next: next}
			s.head, s.ok = next()
			sources = append(sources, s)
			return stop
		}
		defer open(slices.Values(c.kept))()
		for _, e := range c.every {
			defer open(e.pieces())()
		}
		for {
			var first *source
			for i := range sources {
				s := &sources[i]
				if s.ok && (first == nil || cmp.Or(byPlace(s.head, first.head), cmp.Compare(s.head.edit, first.head.edit)) < 0) {
					first = s
				}
			}
			if first == nil || !yield(first.head) {
				return
			}
			first.head, first.ok = first.next()
		}
	}
}

// unglued removes the line ending that an insertion at the end of the file adds to the last
// line, if another edit deletes that line.
func (c *Change) unglued(pieces iter.Seq[piece]) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		var before piece
		for s := range pieces {
			if s.glue && before.end == c.doc.Len() && before.start < before.end && before.text == "" &&
				(before.start == 0 || c.doc.Byte(before.start-1) == '\n') {
				s.text, s.glue = strings.TrimPrefix(s.text, s.eol.String()), false
			}
			if !yield(s) {
				return
			}
			before = s
		}
	}
}

// settle checks that the pieces don't overlap, that the file's encoding can represent their
// text, and that the file does not become too large.
func (c *Change) settle(limit int64) error {
	c.size, c.empty = c.doc.RawLen(), true
	var before piece
	first := true
	for s, err := range c.encoded() {
		if !first && s.namedStart < before.namedEnd {
			return &overlapError{
				First: min(before.edit, s.edit), Second: max(before.edit, s.edit),
				Line: c.doc.LineAt(s.namedStart),
			}
		}
		if err != nil {
			return wrap(c.edits, s.edit, err)
		}
		c.size += int64(len(s.New)) - (s.End - s.Start)
		c.empty = c.empty && c.same(s.Splice)
		before, first = s.piece, false
	}
	if c.size > limit { // the encoding may need more bytes than the decoded text
		return &SizeError{Size: c.size, Max: limit}
	}
	return nil
}

// same reports whether a splice changes nothing.
func (c *Change) same(s Splice) bool {
	if s.End-s.Start != int64(len(s.New)) {
		return false
	}
	at := s.Start
	for rest := s.New; len(rest) > 0; {
		b := c.doc.RawSpan(at)
		b = b[:min(len(b), len(rest))]
		if len(b) == 0 || !bytes.Equal(b, rest[:len(b)]) {
			return false
		}
		rest, at = rest[len(b):], at+int64(len(b))
	}
	return true
}

// encodedPiece is a piece with its splice.
type encodedPiece struct {
	piece
	Splice
}

// encoded yields the pieces with their raw splices. It encodes equal texts only once.
func (c *Change) encoded() iter.Seq2[encodedPiece, error] {
	return func(yield func(encodedPiece, error) bool) {
		cache := map[string][]byte{}
		guessed := sync.OnceValue(c.doc.Guessed)
		last, b := "", []byte(nil)
		for s := range c.pieces() {
			ok := s.text == last // usually the same string
			if !ok {
				b, ok = cache[s.text]
			}
			if last = s.text; !ok {
				var err error
				if b, err = c.encode(s.text); err != nil {
					yield(encodedPiece{piece: s}, err)
					return
				}
				if !isASCII(b) && guessed() {
					yield(encodedPiece{piece: s}, &GuessError{Encoding: c.doc.Encoding()})
					return
				}
				cache[s.text] = b
			}
			if len(b) > 0 && s.start == c.doc.Len() && c.doc.HalfUnit() {
				yield(encodedPiece{piece: s}, ErrHalfUnit)
				return
			}
			if !yield(encodedPiece{s, Splice{c.doc.RawOffset(s.start), c.doc.RawOffset(s.end), b}}, nil) {
				return
			}
		}
	}
}

// encode returns text in the file's encoding. UTF-8 text is not copied.
func (c *Change) encode(text string) ([]byte, error) {
	if c.doc.Encoding().IsUTF8() && utf8.ValidString(text) && !strings.Contains(text, "\x00") {
		return unsafe.Slice(unsafe.StringData(text), len(text)), nil
	}
	return c.doc.Encoding().Append(nil, text)
}

// checkMeaning checks that the new file would be read in the same encoding. An edit can change
// the encoding only of a Windows-1252 file, because Windows-1252 is assumed if no other
// encoding fits: the bytes of "Ã©" alone are valid UTF-8. Pure ASCII reads the same in both.
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
			break // the file isn't UTF-8, regardless of the rest
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

// Text returns the text that the change applies to.
func (c *Change) Text() *textfile.Text { return c.doc }

// Splices yields the raw splices in order of position, without overlap. If the text is read in
// pages, they are valid only if Text().Err() is nil afterwards.
func (c *Change) Splices() iter.Seq[Splice] {
	return func(yield func(Splice) bool) {
		for s, err := range c.encoded() {
			if err != nil || !yield(s.Splice) { // settle has found all errors
				return
			}
		}
	}
}

// Empty reports whether the change leaves all bytes the same.
func (c *Change) Empty() bool { return c.empty }

// Pieces yields the new file's bytes in order, as slices of the original and of new text. A
// slice must not be modified, and is valid until the next one.
func (c *Change) Pieces() iter.Seq[[]byte] { return c.PiecesFrom(0) }

// PiecesFrom is Pieces without the first at bytes of the original. at must not exceed the
// start of the first splice.
func (c *Change) PiecesFrom(at int64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		old := func(to int64) bool {
			for at < to {
				b := c.doc.RawSpan(at)
				b = b[:min(int64(len(b)), to-at)]
				if len(b) == 0 || !yield(b) {
					return false
				}
				at += int64(len(b))
			}
			return true
		}
		for s := range c.Joined() {
			if !old(s.Start) || len(s.New) > 0 && !yield(s.New) {
				return
			}
			at = s.End
		}
		old(c.doc.RawLen())
	}
}

// Joined yields Splices, with nearby ones joined into one that includes the bytes between them.
// Writing or hashing two bytes takes as long as a hundred. New is valid until the next splice.
func (c *Change) Joined() iter.Seq[Splice] {
	return func(yield func(Splice) bool) {
		var cur Splice
		var buf []byte
		open := false
		flush := func() bool {
			cur.New = buf
			done := !open || yield(cur)
			open, buf = false, buf[:0]
			return done
		}
		for s := range c.Splices() {
			if open && s.Start-cur.End <= joinGap && len(buf) < joinSize && len(s.New) < joinSize {
				for at := cur.End; at < s.Start; {
					b := c.doc.RawSpan(at)
					if b = b[:min(int64(len(b)), s.Start-at)]; len(b) == 0 {
						break
					}
					buf, at = append(buf, b...), at+int64(len(b))
				}
				buf, cur.End = append(buf, s.New...), s.End
				continue
			}
			if !flush() {
				return
			}
			if len(s.New) >= joinSize {
				if !yield(s) {
					return
				}
				continue
			}
			cur, open = s, true
			buf = append(buf, s.New...)
		}
		flush()
	}
}

const (
	joinGap  = 128      // maximum number of bytes between two splices
	joinSize = 32 << 10 // maximum length of their new text in bytes
)

// Size returns the size of the new file.
func (c *Change) Size() int64 { return c.size }

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
	return total, c.doc.Err()
}

// Bytes returns the new file.
func (c *Change) Bytes() []byte {
	out := make([]byte, 0, c.Size())
	for b := range c.Pieces() {
		out = append(out, b...)
	}
	return out
}
