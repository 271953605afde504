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

// mark pairs a place in the text with its place in the raw bytes, both at the
// start of a character. One every markEvery raw bytes makes a look-up walk at
// most that far; 16 bytes in 2,048 is under 1 % of the file.
type mark struct{ text, raw int }

const markEvery = 2048

// New reads raw as text. The document keeps raw, which must not change any
// more. A binary file gives a *BinaryError. For UTF-8 nothing is copied; other
// encodings are decoded once, here.
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

// Lines returns the line index of Text, built at the first call.
func (d *Document) Lines() *Lines { return d.lines() }

// Exact reports whether encoding Text gives Raw again. It does for every
// file but UTF-16 with lone surrogates or half a unit at its end.
func (d *Document) Exact() bool { return d.exact }

// RawOffset returns where the character at or around a text offset begins in
// the raw bytes. Offsets outside the text are moved to its nearer end.
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

// step returns how many raw and how many text bytes the character at m has.
func (d *Document) step(m mark) (raw, text int) {
	if d.enc == Windows1252 {
		return 1, utf8.RuneLen(decode1252(d.raw[m.raw]))
	}
	r, n := nextUTF16(d.raw[m.raw:], d.enc == UTF16BE)
	return n, utf8.RuneLen(r)
}

// Convert returns text with every line ending made e. A \r that no \n follows
// is a character like any other and stays.
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

// Guessed reports whether the encoding is probably wrong. Windows-1252 is the fallback when nothing else
// fits, and every byte means something in it, so GBK, Shift-JIS, KOI8-R and their like are read as it too. In
// real Windows-1252, characters over 0x7F nearly always occur singly; in the others they come in rows, or are
// bytes that are rare there.
func (d *Document) Guessed() bool {
	var g guesser
	g.write(d.raw, d.enc)
	return g.odd()
}

// guesser counts evidence for Guessed in a file that arrives in blocks.
type guesser struct {
	high, strange int
	before        byte // the last byte
	open          bool // it is over 0x7F and no neighbour has been seen
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
		if g.open { // it has a neighbour now
			g.strange++
		}
		g.high++
		g.open = false
		switch {
		case b == 0x81 || b == 0x9D, b >= 0x82 && b <= 0x84 || b >= 0x86 && b <= 0x90 || b >= 0x98 && b <= 0x9F && b != 0x99: // lead bytes of Shift-JIS; rare here, or no characters
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
