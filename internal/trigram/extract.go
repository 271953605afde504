package trigram

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"unicode/utf8"

	"quarry/internal/textfile"
)

// Extractor collects the grams of texts, one after the other. It must be used by one goroutine only.
type Extractor struct {
	seen  [Grams / 64]uint64 // 512 KiB: fits a second-level cache
	grams []Gram             // the grams set in seen, including broken ones
	lossy []byte             // a decoded line
}

// Add adds a part of a text that consists of whole lines; the last line may lack its end. The
// text is UTF-8 as in a scan: decoded, without a byte order mark. An invalid line is added
// twice, because a scan searches it twice: as it is, and decoded from Windows-1252.
func (x *Extractor) Add(text []byte) {
	if x.addAll(text) {
		return
	}
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		end = cmp.Or(end, len(text))
		line := text[:end]
		text = text[end:]
		if !utf8.Valid(line) {
			x.lossy, _ = textfile.Windows1252.AppendDecoded(x.lossy[:0], line, true)
			x.addAll(x.lossy)
		}
	}
}

// step is the number of bytes processed at once. It bounds the room to reserve in the list of
// grams, to a quarter of a megabyte.
const step = 64 << 10

// addAll adds text, and reports whether all of it is valid UTF-8.
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

// partialRune returns the number of bytes at the end of b that may be the start of a character.
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

// add is the critical loop of building an index. It records grams with a break like others,
// and they are removed later: testing for them at each byte would take longer.
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

// codeAt returns the window of the first character of text alone, and the character's length.
// A byte that isn't UTF-8 is a break.
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

// Take appends the collected grams to dst, without repeats and unordered, and resets the Extractor.
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
