// Package textfile interprets the bytes of a text file: their encoding, the positions of lines, and how new
// text is written in the same encoding and with the same line ending.
//
// A Document keeps the raw bytes and, for encodings other than UTF-8, a map from offsets in the decoded text
// to offsets in those bytes. A change to the text is a splice of the raw bytes, so other bytes can't change,
// even in files that no encoder could reproduce: UTF-16 with lone surrogates or half a unit at the end. The
// package opens no files and never modifies its input.
package textfile

import (
	"bytes"
	"unicode/utf8"
)

// SniffLen is the number of bytes that decide whether a file is binary: it has a NUL in
// them, and no UTF-16 byte order mark.
const SniffLen = 64 << 10

// Encoding is the encoding of a text file.
type Encoding uint8

const (
	// UTF8 is UTF-8 without a byte order mark, also ASCII and the empty file.
	UTF8 Encoding = iota
	// UTF8BOM is UTF-8 after the byte order mark EF BB BF, which is not part of the text.
	UTF8BOM
	// UTF16LE is little-endian UTF-16 after the byte order mark FF FE.
	UTF16LE
	// UTF16BE is big-endian UTF-16 after the byte order mark FE FF.
	UTF16BE
	// Windows1252 is the encoding assumed for bytes that are not UTF-8. The five bytes it leaves undefined
	// (81 8D 8F 90 9D) encode the control characters of the same number, as in the WHATWG standard, so
	// every byte is one character and can be encoded again.
	Windows1252
)

var encodingNames = [...]string{"utf-8", "utf-8-bom", "utf-16le", "utf-16be", "windows-1252"}

// String returns the name used in results: utf-8, utf-8-bom, utf-16le,
// utf-16be or windows-1252.
func (e Encoding) String() string {
	if int(e) < len(encodingNames) {
		return encodingNames[e]
	}
	return "unknown"
}

const (
	bomUTF8  = "\xEF\xBB\xBF"
	bomLE    = "\xFF\xFE"
	bomBE    = "\xFE\xFF"
	bomUTF32 = "\xFF\xFE\x00\x00"
)

// BOM returns the byte order mark that files in this encoding begin with, or "".
func (e Encoding) BOM() string {
	switch e {
	case UTF8BOM:
		return bomUTF8
	case UTF16LE:
		return bomLE
	case UTF16BE:
		return bomBE
	}
	return ""
}

// IsUTF8 reports whether the bytes after the byte order mark are the decoded
// text itself, so that nothing needs to be decoded.
func (e Encoding) IsUTF8() bool { return e == UTF8 || e == UTF8BOM }

// Kind is the result of detection.
type Kind struct {
	// Encoding is meaningless when Binary is set.
	Encoding Encoding
	// Binary is set for a NUL in the first SniffLen bytes without a UTF-16 byte order
	// mark. The bytes FF FE 00 00 are the mark of UTF-32, so such a file is binary too.
	Binary bool
}

// bom16 recognizes the two UTF-16 byte order marks.
func bom16(head []byte) (Encoding, bool) {
	if len(head) < 2 {
		return UTF8, false
	}
	switch {
	case head[0] == 0xFF && head[1] == 0xFE:
		return UTF16LE, !(len(head) >= 4 && string(head[:4]) == bomUTF32)
	case head[0] == 0xFE && head[1] == 0xFF:
		return UTF16BE, true
	}
	return UTF8, false
}

func hasBOM8(head []byte) bool { return len(head) >= 3 && string(head[:3]) == bomUTF8 }

// Detect classifies a whole file. It searches the first 64 KiB for a NUL, and validates
// all of the file as UTF-8.
func Detect(data []byte) Kind {
	k := Sniff(data[:min(len(data), SniffLen)])
	if k.Binary || !k.Encoding.IsUTF8() {
		return k
	}
	if !utf8.Valid(data) {
		k.Encoding = Windows1252
	}
	return k
}

// Sniff classifies a file by the first SniffLen bytes of its first block. If the block has min(file size,
// SniffLen) bytes, Binary, the UTF-16 encodings and Windows1252 are final results. UTF8 and UTF8BOM are
// correct if the rest is valid, which Detect or a Detector checks. A character cut off by the end of the
// block is no evidence against UTF-8.
func Sniff(head []byte) Kind {
	head = head[:min(len(head), SniffLen)]
	if e, ok := bom16(head); ok {
		return Kind{Encoding: e}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return Kind{Binary: true}
	}
	if !utf8.Valid(head[:len(head)-partialRune(head)]) {
		return Kind{Encoding: Windows1252}
	}
	if hasBOM8(head) {
		return Kind{Encoding: UTF8BOM}
	}
	return Kind{Encoding: UTF8}
}

// SniffForm is Sniff without the validation of files that have no byte order mark: if they are not
// binary, they are UTF8. It takes a third of the time.
func SniffForm(head []byte) Kind {
	head = head[:min(len(head), SniffLen)]
	if _, ok := bom16(head); ok || hasBOM8(head) {
		return Sniff(head)
	}
	return Kind{Encoding: UTF8, Binary: bytes.IndexByte(head, 0) >= 0}
}

// partialRune returns the number of bytes at the end of p that could be the beginning of
// an incomplete character.
func partialRune(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Detector is Detect for a file that arrives in blocks of any size. The zero value is
// ready to use. It stores at most eight bytes.
type Detector struct {
	seen    int64
	head    [4]byte
	carry   [utf8.UTFMax]byte // a character cut off by the end of a block
	ncarry  int
	nul     bool
	invalid bool
}

// Write examines the next block. It never fails.
func (d *Detector) Write(p []byte) (int, error) {
	if d.seen < int64(len(d.head)) {
		copy(d.head[d.seen:], p)
	}
	if d.seen < SniffLen && !d.nul {
		d.nul = bytes.IndexByte(p[:min(int64(len(p)), SniffLen-d.seen)], 0) >= 0
	}
	d.seen += int64(len(p))
	if !d.invalid {
		d.validate(p)
	}
	return len(p), nil
}

func (d *Detector) validate(p []byte) {
	for d.ncarry > 0 && len(p) > 0 {
		d.carry[d.ncarry] = p[0]
		d.ncarry++
		p = p[1:]
		if c := d.carry[:d.ncarry]; utf8.FullRune(c) {
			if !utf8.Valid(c) {
				d.invalid = true
				return
			}
			d.ncarry = 0
		}
	}
	if len(p) == 0 {
		return
	}
	cut := len(p) - partialRune(p)
	d.invalid = !utf8.Valid(p[:cut])
	d.ncarry = copy(d.carry[:], p[cut:])
}

// Invalid reports whether the bytes so far can't be the beginning of valid UTF-8.
func (d *Detector) Invalid() bool { return d.invalid }

// Kind returns the kind of a file that ends after the bytes written so far.
func (d *Detector) Kind() Kind {
	head := d.head[:min(d.seen, int64(len(d.head)))]
	if e, ok := bom16(head); ok {
		return Kind{Encoding: e}
	}
	switch {
	case d.nul:
		return Kind{Binary: true}
	case d.invalid || d.ncarry > 0:
		return Kind{Encoding: Windows1252}
	case hasBOM8(head):
		return Kind{Encoding: UTF8BOM}
	}
	return Kind{Encoding: UTF8}
}
