package vec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// ByteSet searches for the next byte that is in a set.
//
// A set of one byte uses bytes.IndexByte, a set of two or three a kernel that compares with
// each. Any other set uses a kernel with two look-ups. The low four bits of a byte select, in
// one of two tables, the set of its possible high halves as bits; the second look-up picks the
// bit of the byte's high half. This is exact for all sets.
type ByteSet struct {
	in    half
	level level
}

// half is a set prepared for searching. The assembly depends on its layout.
type half struct {
	low   [16]byte // by low four bits: the high halves 0 to 7 in the set, as bits
	high  [16]byte // by low four bits: the high halves 8 to 15 in the set
	bytes [3]byte  // the members, if few; the last one repeated
	kind  setKind
	has   [256]bool
}

type setKind uint8

const (
	setEmpty setKind = iota
	setOne
	setFew // two or three
	setMany
	setAll
)

// NewByteSet makes the set of all bytes b for which set[b] is true.
func NewByteSet(set *[256]bool) *ByteSet { return newByteSet(set, current()) }

func newByteSet(set *[256]bool, l level) *ByteSet {
	return &ByteSet{in: newHalf(set), level: l}
}

func newHalf(set *[256]bool) half {
	h := half{has: *set}
	n := 0
	for b, in := range set {
		if !in {
			continue
		}
		for i := n; i < 3; i++ {
			h.bytes[i] = byte(b)
		}
		n++
		if b < 0x80 {
			h.low[b&15] |= 1 << (b >> 4)
		} else {
			h.high[b&15] |= 1 << (b >> 4 & 7)
		}
	}
	switch {
	case n == 0:
		h.kind = setEmpty
	case n == 1:
		h.kind = setOne
	case n <= 3:
		h.kind = setFew
	case n < 256:
		h.kind = setMany
	default:
		h.kind = setAll
	}
	return h
}

// Has reports whether b is in the set.
func (s *ByteSet) Has(b byte) bool { return s.in.has[b] }

// Find returns the position of the first byte of hay at or after from that is
// in the set, or -1.
func (s *ByteSet) Find(hay []byte, from int) int { return s.in.find(s.level, hay, from) }

func (h *half) find(l level, hay []byte, from int) int {
	if from < 0 || from >= len(hay) {
		return -1
	}
	switch h.kind {
	case setEmpty:
		return -1
	case setAll:
		return from
	case setOne:
		return shift(bytes.IndexByte(hay[from:], h.bytes[0]), from)
	}
	// Check eight bytes first. A run of bytes in or outside sets like \w or \s usually ends
	// within a few bytes, and this is faster than setting up a call.
	near := hay[from:min(from+8, len(hay))]
	for i, b := range near {
		if h.has[b] {
			return from + i
		}
	}
	from += len(near)
	return shift(setFind(l, h, hay[from:]), from)
}

func setFindGeneric(h *half, b []byte) int {
	if h.kind == setFew {
		return fewFindGeneric(h, b)
	}
	for i, c := range b {
		if h.has[c] {
			return i
		}
	}
	return -1
}

// fewFindGeneric compares eight bytes at a time with each of the set's members.
func fewFindGeneric(h *half, b []byte) int {
	w0, w1, w2 := ones*uint64(h.bytes[0]), ones*uint64(h.bytes[1]), ones*uint64(h.bytes[2])
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if z := zeroBytes(x^w0) | zeroBytes(x^w1) | zeroBytes(x^w2); z != 0 {
			return i + bits.TrailingZeros64(z)/8
		}
	}
	for ; i < len(b); i++ {
		if h.has[b[i]] {
			return i
		}
	}
	return -1
}
