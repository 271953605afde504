package index

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// nameCode compresses names. Most control characters and bytes beyond ASCII are codes for
// strings of 2 to 8 bytes that are frequent in the names of a segment; all other bytes stand
// for themselves. escapeByte precedes a byte that would otherwise be a code. The method is FSST
// (Boncz, Neumann, Leis 2020) with fewer codes, so that text needs no escapes. On the names of
// Linux 6.1 it saves two fifths.
type nameCode struct {
	symbols []string
	// byPair maps the first two bytes of a text to the index of a list of symbols that
	// begin with them, longest first. List 0 is empty.
	byPair *[1 << 16]uint8
	lists  [][]uint8
	texts  [256]codeText
}

// codeText is the expansion of a code: up to eight bytes, as a number. An escape has none.
type codeText struct {
	bytes uint64
	n     int
}

const (
	escapeByte   = 0x01
	lowCode      = 0x02 // codes from here to 0x1F
	firstCode    = 0x80 // codes from here to 0xFF
	lowCodes     = 0x20 - lowCode
	maxSymbols   = lowCodes + 0x80
	maxSymbol    = 8
	trainRounds  = 5
	trainSamples = 1 << 18 // size of the samples in bytes
	// A table takes up to 1 KB, so it isn't worth it for few names.
	trainFrom = 1000
)

// codeByte returns the code of symbol i.
func codeByte(i int) byte {
	if i < lowCodes {
		return byte(lowCode + i)
	}
	return byte(firstCode + i - lowCodes)
}

func symbolOf(b byte) int {
	switch {
	case b >= firstCode:
		return int(b) - firstCode + lowCodes
	case b >= lowCode && b < lowCode+lowCodes:
		return int(b) - lowCode
	}
	return -1
}

func newNameCode(symbols []string) *nameCode {
	c := &nameCode{symbols: symbols}
	for b := range c.texts {
		c.texts[b] = codeText{uint64(b), 1}
		if s := symbolOf(byte(b)); s >= 0 && s < len(symbols) {
			var text [maxSymbol]byte
			c.texts[b] = codeText{n: copy(text[:], symbols[s])}
			c.texts[b].bytes = binary.LittleEndian.Uint64(text[:])
		} else if s >= 0 || b == escapeByte {
			c.texts[b].n = 0
		}
	}
	if len(symbols) == 0 {
		return c
	}
	c.byPair, c.lists = new([1 << 16]uint8), make([][]uint8, 1)
	for i, s := range symbols {
		at := &c.byPair[pairOf(s)]
		if *at == 0 {
			*at = uint8(len(c.lists))
			c.lists = append(c.lists, nil)
		}
		c.lists[*at] = append(c.lists[*at], uint8(i))
	}
	for _, list := range c.lists {
		slices.SortStableFunc(list, func(a, b uint8) int { return cmp.Compare(len(symbols[b]), len(symbols[a])) })
	}
	return c
}

func pairOf[T ~string | ~[]byte](s T) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// match returns the longest symbol that text begins with, or -1.
func (c *nameCode) match(text []byte) int {
	if len(text) < 2 || c.byPair == nil {
		return -1
	}
	for _, i := range c.lists[c.byPair[pairOf(text)]] {
		if s := c.symbols[i]; len(s) <= len(text) && string(text[:len(s)]) == s {
			return int(i)
		}
	}
	return -1
}

// append appends the encoded text.
func (c *nameCode) append(dst, text []byte) []byte {
	for len(text) > 0 {
		if i := c.match(text); i >= 0 {
			dst = append(dst, codeByte(i))
			text = text[len(c.symbols[i]):]
			continue
		}
		if text[0] == escapeByte || symbolOf(text[0]) >= 0 {
			dst = append(dst, escapeByte)
		}
		dst = append(dst, text[0])
		text = text[1:]
	}
	return dst
}

// appendText appends the decoded text. It panics on invalid codes.
func (c *nameCode) appendText(dst, code []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, maxSymbol*len(code)+maxSymbol) // room for writing eight bytes at once
	dst = dst[:cap(dst)]
	for i := 0; i < len(code); i++ {
		t := &c.texts[code[i]]
		if t.n > 0 {
			binary.LittleEndian.PutUint64(dst[n:], t.bytes)
			n += t.n
			continue
		}
		if code[i] != escapeByte {
			panic("code of a name")
		}
		i++
		dst[n] = code[i]
		n++
	}
	return dst[:n]
}

// trainCode makes a code for texts similar to the samples. In each round it encodes the
// samples; the symbols and the pairs of adjacent symbols that save most become the next
// code.
func trainCode(samples [][]byte) *nameCode {
	c := newNameCode(nil)
	for range trainRounds {
		gain := map[string]int{}
		for _, text := range samples {
			last := ""
			for len(text) > 0 {
				one := string(text[:1])
				if i := c.match(text); i >= 0 {
					one = c.symbols[i]
				}
				text = text[len(one):]
				if len(one) > 1 {
					gain[one] += len(one) - 1
				}
				if pair := last + one; last != "" && len(pair) <= maxSymbol {
					gain[pair] += len(pair) - 1
				}
				last = one
			}
		}
		best := make([]string, 0, len(gain))
		for s, n := range gain {
			if n >= 3*len(s) { // occurs at least a few times
				best = append(best, s)
			}
		}
		slices.SortFunc(best, func(a, b string) int { return cmp.Or(cmp.Compare(gain[b], gain[a]), cmp.Compare(a, b)) })
		c = newNameCode(best[:min(len(best), maxSymbols)])
	}
	return c
}

// encode encodes the table: length and bytes of each symbol.
func (c *nameCode) encode() (out []byte) {
	for _, s := range c.symbols {
		out = append(append(out, byte(len(s))), s...)
	}
	return out
}

func decodeNameCode(b []byte) (*nameCode, error) {
	var symbols []string
	for len(b) > 0 {
		n := int(b[0])
		if n < 2 || n > maxSymbol || n+1 > len(b) || len(symbols) == maxSymbols {
			return nil, damaged("code of the names")
		}
		symbols = append(symbols, string(b[1:n+1]))
		b = b[n+1:]
	}
	return newNameCode(symbols), nil
}

// appendLengths encodes how many bytes a name shares with the previous one and how many follow.
// They take 5 and 3 bits, and extra numbers if they don't fit.
func appendLengths(dst []byte, shared, size int) []byte {
	dst = append(dst, byte(min(shared, 31)<<3|min(size, 7)))
	if shared >= 31 {
		dst = binary.AppendUvarint(dst, uint64(shared-31))
	}
	if size >= 7 {
		dst = binary.AppendUvarint(dst, uint64(size-7))
	}
	return dst
}

// readLengths decodes the two lengths and returns the remaining bytes.
func readLengths(b []byte) (shared, size int, rest []byte) {
	shared, size = int(b[0]>>3), int(b[0]&7)
	b = b[1:]
	if shared == 31 {
		b = more(b, &shared)
	}
	if size == 7 {
		b = more(b, &size)
	}
	return shared, size, b
}

func more(b []byte, to *int) []byte {
	v, n := binary.Uvarint(b)
	if n <= 0 || v > 1<<16 {
		panic("length of a name")
	}
	*to += int(v)
	return b[n:]
}
