package textfile

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Document is one text file in memory: its raw bytes, their decoded text, and the map between the two. It is
// immutable and safe for concurrent use. Offsets called "text" count bytes of the decoded UTF-8 text after
// the byte order mark; offsets called "raw" count bytes of the file.
type Document struct {
	raw   []byte
	enc   Encoding
	text  []byte
	marks []mark // empty where text is a slice of raw
	exact bool
	lines func() *Lines
}

// mark maps an offset in the text to its raw offset, at the start of a character. With
// one mark every markEvery raw bytes, a lookup decodes at most that many; the marks take
// less than 1 % of the file.
type mark struct{ text, raw int }

const markEvery = 2048

// New makes a document of raw, which must not be modified afterwards. A binary file gives
// a *BinaryError. UTF-8 is not copied; other encodings are decoded once, here.
func New(raw []byte) (*Document, error) {
	k := Detect(raw)
	if k.Binary {
		return nil, &BinaryError{Type: BinaryType(raw), Size: int64(len(raw))}
	}
	d := &Document{raw: raw, enc: k.Encoding, exact: true}
	body := raw[len(k.Encoding.BOM()):]
	if k.Encoding.IsUTF8() {
		d.text = body
	} else {
		d.decode(body)
	}
	d.lines = sync.OnceValue(func() *Lines { return IndexLines(d.text) })
	return d, nil
}

func (d *Document) decode(body []byte) {
	bom := len(d.enc.BOM())
	size := len(body) + len(body)/8
	if d.enc != Windows1252 {
		size = len(body)/2 + len(body)/16
	}
	d.text = make([]byte, 0, size)
	for at := 0; at < len(body); {
		d.marks = append(d.marks, mark{len(d.text), bom + at})
		end := min(at+markEvery, len(body))
		var n int
		d.text, n = d.enc.AppendDecoded(d.text, body[at:end], end == len(body))
		at += n
	}
	d.marks = append(d.marks, mark{len(d.text), len(d.raw)})
	if d.enc != Windows1252 && bytes.Contains(d.text, []byte(string(utf8.RuneError))) {
		again, err := d.enc.Append(make([]byte, 0, len(body)), string(d.text))
		d.exact = err == nil && bytes.Equal(again, body)
	}
}

// Raw returns the bytes of the file. They must not be modified.
func (d *Document) Raw() []byte { return d.raw }

// Text returns the decoded text without the byte order mark. It is valid UTF-8
// and must not be modified.
func (d *Document) Text() []byte { return d.text }

// Encoding returns the encoding of the file.
func (d *Document) Encoding() Encoding { return d.enc }

// Lines returns the line index of Text, which is built by the first call.
func (d *Document) Lines() *Lines { return d.lines() }

// Exact reports whether encoding Text gives Raw again. Only UTF-16 with lone surrogates
// or half a unit at its end is not exact.
func (d *Document) Exact() bool { return d.exact }

// RawOffset returns the raw offset at which the character at or around a text offset
// begins. Offsets outside the text are moved to its nearer end.
func (d *Document) RawOffset(text int) int {
	text = max(0, min(text, len(d.text)))
	if d.enc.IsUTF8() {
		return len(d.enc.BOM()) + text
	}
	if text == len(d.text) {
		return len(d.raw)
	}
	i := sort.Search(len(d.marks), func(i int) bool { return d.marks[i].text > text }) - 1
	m := d.marks[i]
	for {
		n, w := d.step(m)
		if m.text+w > text {
			return m.raw
		}
		m.text, m.raw = m.text+w, m.raw+n
	}
}

// step returns the number of raw and of text bytes of the character at m.
func (d *Document) step(m mark) (raw, text int) {
	if d.enc == Windows1252 {
		return 1, utf8.RuneLen(decode1252(d.raw[m.raw]))
	}
	r, n := nextUTF16(d.raw[m.raw:], d.enc == UTF16BE)
	return n, utf8.RuneLen(r)
}

// Convert converts every line ending of text to e. A \r without a following \n is not a
// line ending.
func (e Ending) Convert(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if e == CRLF {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// Guessed reports whether the encoding is probably wrong. Windows-1252 is assumed if no other encoding fits.
// Every byte is valid in it, so GBK, Shift-JIS, KOI8-R and the like are decoded as Windows-1252 too. Real
// Windows-1252 nearly always has single bytes over 0x7F; the other encodings have sequences of them, or bytes
// that are rare in Windows-1252.
func (d *Document) Guessed() bool {
	var g guesser
	g.write(d.raw, d.enc)
	return g.odd()
}

// guesser counts evidence for Guessed in a file that arrives in blocks.
type guesser struct {
	high, strange int
	before        byte // the last byte
	open          bool // before is over 0x7F and not counted as strange
}

func (g *guesser) write(block []byte, enc Encoding) {
	if enc != Windows1252 {
		return
	}
	for _, b := range block {
		if b < 0x80 {
			g.before, g.open = b, false
			continue
		}
		if g.open { // before has a neighbour: count it
			g.strange++
		}
		g.high++
		g.open = false
		switch {
		case b == 0x81 || b == 0x9D, b >= 0x82 && b <= 0x84 || b >= 0x86 && b <= 0x90 || b >= 0x98 && b <= 0x9F && b != 0x99: // lead bytes of Shift-JIS, rare or unassigned in Windows-1252
			g.strange++
		case g.before >= 0x80:
			g.strange++
		default:
			g.open = true
		}
		g.before = b
	}
}

func (g *guesser) odd() bool { return 2*g.strange > g.high }
