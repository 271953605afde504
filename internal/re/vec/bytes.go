package vec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// CountByte counts the bytes of b that equal c. It uses the standard library's vector loop.
func CountByte(b []byte, c byte) int { return bytes.Count(b, []byte{c}) }

// IndexByte returns the position of the first c in b at or after from, or -1.
func IndexByte(b []byte, c byte, from int) int {
	if from < 0 || from > len(b) {
		return -1
	}
	return shift(bytes.IndexByte(b[from:], c), from)
}

// LastIndexByte returns the position of the last c in b, or -1.
func LastIndexByte(b []byte, c byte) int { return lastIndexByte(current(), b, c) }

// IndexNonASCII returns the position of the first byte of b that is 0x80 or
// above, or -1.
func IndexNonASCII(b []byte) int { return indexNonASCII(current(), b) }

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeroBytes sets the high bit of each zero byte of x. It is exact: unlike in the shorter
// formula with x-ones, no carry crosses bytes.
func zeroBytes(x uint64) uint64 {
	return ^(x&^highs + ^uint64(highs) | x) & highs
}

func lastIndexByteGeneric(b []byte, c byte) int {
	n := len(b)
	want := ones * uint64(c)
	for n >= 8 {
		if z := zeroBytes(binary.LittleEndian.Uint64(b[n-8:]) ^ want); z != 0 {
			return n - 1 - bits.LeadingZeros64(z)/8
		}
		n -= 8
	}
	for n--; n >= 0 && b[n] != c; n-- {
	}
	return n
}

func indexNonASCIIGeneric(b []byte) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		w := b[i : i+32]
		if (binary.LittleEndian.Uint64(w)|binary.LittleEndian.Uint64(w[8:])|
			binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]))&highs != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if h := binary.LittleEndian.Uint64(b[i:]) & highs; h != 0 {
			return i + bits.TrailingZeros64(h)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] >= 0x80 {
			return i
		}
	}
	return -1
}
