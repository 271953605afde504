package trigram

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"quarry/internal/textfile"
)

// Extractor collects the grams of texts, one after the other. It belongs to one goroutine.
type Extractor struct {
	seen  [Grams / 64]uint64 // 512 KiB: fits a second-level cache
	grams []Gram             // the set bits of seen, including broken grams
	lossy []byte             // a decoded line
}

// Add adds a piece of a text that consists of whole lines; the last one may lack its end. The
// text is UTF-8 as for a scan: decoded, without a byte order mark. An invalid line counts
// twice, as a scan searches it twice: with its valid parts, and decoded from Windows-1252.
func (x *Extractor) Add(text []byte) {
	if x.addAll(text) {
		return
	}
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		line := text[:end]
		text = text[end:]
		if !utf8.Valid(line) {
			x.lossy, _ = textfile.Windows1252.AppendDecoded(x.lossy[:0], line, true)
			x.addAll(x.lossy)
		}
	}
}

// step is how much text is processed at once, so that the list of grams has room for the
// maximum it may add: a quarter of a megabyte.
const step = 64 << 10

// addAll reports whether all of text is valid.
func (x *Extractor) addAll(text []byte) bool {
	last, valid := window(0), true
	for len(text) > 0 {
		part := text
		if len(part) > step {
			part = text[:step-partialRune(text[:step])]
		}
		var ok bool
		last, ok = x.add(last, part)
		valid = valid && ok
		text = text[len(part):]
	}
	return valid
}

// partialRune returns how many bytes at the end may be the start of a character.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// add is the critical loop of building an index. Grams with a break are recorded like others
// and removed later: testing each byte for them would take longer.
func (x *Extractor) add(win window, text []byte) (window, bool) {
	const high = 0x8080808080808080
	seen := &x.seen
	n := len(x.grams)
	if need := n + len(text) + 8; cap(x.grams) < need {
		x.grams = append(make([]Gram, 0, need+need/2), x.grams...)
	}
	grams := x.grams[:cap(x.grams)]
	valid := true
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			if w := binary.LittleEndian.Uint64(text[i:]); w&high == 0 {
				for range 8 {
					win = win.push(asciiCode[uint8(w)])
					w >>= 8
					g := win.gram()
					if v, bit := seen[g>>6], uint64(1)<<(g&63); v&bit == 0 {
						seen[g>>6] = v | bit
						grams[n] = g
						n++
					}
				}
				i += 8
				continue
			}
		}
		c, size := codeAt(text[i:])
		if c == classBreak && text[i] != '\n' {
			valid = false
		}
		i += size
		win = win.push(c)
		g := win.gram()
		if v, bit := seen[g>>6], uint64(1)<<(g&63); v&bit == 0 {
			seen[g>>6] = v | bit
			grams[n] = g
			n++
		}
	}
	x.grams = grams[:n]
	return win, valid
}

// codeAt returns the code of the first character of text and its length; a byte that isn't
// UTF-8 is a break.
func codeAt(text []byte) (c window, size int) {
	if b := text[0]; b < utf8.RuneSelf {
		return asciiCode[b], 1
	}
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size == 1 {
		return classBreak, 1
	}
	return window(class(r)) << 1, size
}

// Take appends the collected grams to dst, each once and unordered, and resets the
// Extractor.
func (x *Extractor) Take(dst []Gram) []Gram {
	for _, g := range x.grams {
		x.seen[g>>6] = 0
		if !g.broken() {
			dst = append(dst, g)
		}
	}
	x.grams = x.grams[:0]
	return dst
}

// Reset drops the collected grams.
func (x *Extractor) Reset() {
	for _, g := range x.grams {
		x.seen[g>>6] = 0
	}
	x.grams = x.grams[:0]
}
