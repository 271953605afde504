package trigram

import (
	"encoding/binary"
	"math/bits"
)

const (
	blockLen = 128
	maxParam = 31
)

// A code tells how the gaps of a block are written: a Rice parameter, and whether
// numbers that follow the one before directly are marked in a bitmap instead,
// one bit each. Grams come in flocks, since neighbours in a folder are alike:
// the bitmap makes the lists of the Linux tree 7 % shorter.
type code uint8

const (
	runsBit   = 0x20
	paramMask = maxParam
)

// choose returns the code that makes a block shortest. next is the smallest
// number the first one could be.
func choose(ids []uint32, next uint32) code {
	if len(ids) == 0 {
		return 0
	}
	follow := 0
	for from, i := next, 0; i < len(ids); i++ {
		if ids[i] == from {
			follow++
		}
		from = ids[i] + 1
	}
	k, cost := param(ids, next)
	// Marking costs a bit for each number and saves k+1 for each marked.
	if follow*(k+1) <= len(ids)/2 {
		return code(k)
	}
	var buf [blockLen]uint32
	rest := leaps(buf[:0], ids, next)
	if kr, costRest := param(rest, 0); costRest+8*((len(ids)+7)/8) < cost {
		return code(kr) | runsBit
	}
	return code(k)
}

// leaps gives the numbers that don't follow the one before directly, as a
// list of their own whose gaps are one smaller than theirs.
func leaps(dst, ids []uint32, next uint32) []uint32 {
	sum := uint32(0)
	for _, id := range ids {
		if id != next {
			sum += id - next - 1
			dst = append(dst, sum+uint32(len(dst)))
		}
		next = id + 1
	}
	return dst
}

// param chooses the parameter with the shortest code, near the logarithm of
// the mean gap, and gives its length in bits. That is at most 128 times 37, so
// the bytes of a block fit into the length of a skip.
func param(ids []uint32, next uint32) (k, length int) {
	if len(ids) == 0 {
		return 0, 0
	}
	mean := (ids[len(ids)-1] + 1 - next) / uint32(len(ids))
	k = max(0, bits.Len32(mean)-2)
	var a, b, c uint64 // above k, k+1 and k+2 bits
	for _, id := range ids {
		q := uint64(id-next) >> k
		a, b, c = a+q, b+q>>1, c+q>>2
		next = id + 1
	}
	n := uint64(len(ids))
	a, b, c = a+uint64(k+1)*n, b+uint64(k+2)*n, c+uint64(k+3)*n
	switch {
	case a <= b && a <= c || k == maxParam:
		return k, int(a)
	case b <= c || k+1 == maxParam:
		return k + 1, int(b)
	}
	return k + 2, int(c)
}

func (c code) append(dst []byte, ids []uint32, next uint32) []byte {
	k := int(c & paramMask)
	if c&runsBit == 0 {
		return appendRice(dst, ids, next, k)
	}
	var buf [blockLen]uint32
	rest := leaps(buf[:0], ids, next)
	at := len(dst)
	dst = append(dst, make([]byte, (len(ids)+7)/8)...)
	for i, id := range ids {
		if id != next {
			dst[at+i/8] |= 1 << (i % 8) // a leap
		}
		next = id + 1
	}
	return appendRice(dst, rest, 0, k)
}

// decode appends n numbers, at most a block, to dst. src may be longer than the
// code. What it returns without an error is increasing, whatever the bytes.
func (c code) decode(dst []uint32, src []byte, next uint32, n int) ([]uint32, error) {
	k := int(c & paramMask)
	if c&runsBit == 0 {
		return decodeRice(dst, src, next, k, n)
	}
	bitmap := (n + 7) / 8
	if bitmap > len(src) {
		return dst, ErrCorrupt
	}
	var mark [blockLen / 8]byte
	copy(mark[:], src[:bitmap])
	lo, hi := binary.LittleEndian.Uint64(mark[:]), binary.LittleEndian.Uint64(mark[8:])
	var buf [blockLen]uint32
	rest, err := decodeRice(buf[:0], src[bitmap:], 0, k, bits.OnesCount64(lo)+bits.OnesCount64(hi))
	if err != nil {
		return dst, err
	}
	// The i-th number is i after the first one possible, plus what the leaps up
	// to it skipped: for the t-th one its number among them, plus one.
	skipped, t := uint64(next), 0
	for i := range n {
		if lo&1 != 0 {
			if t >= len(rest) {
				return dst, ErrCorrupt
			}
			skipped = uint64(next) + uint64(rest[t]) + 1
			t++
		}
		lo = lo>>1 | hi<<63
		hi >>= 1
		dst = append(dst, uint32(skipped)+uint32(i))
	}
	if skipped+uint64(n) > 1<<32 || t < len(rest) {
		return dst, ErrCorrupt
	}
	return dst, nil
}

// appendRice writes the low k bits of every gap, then what is above them, q, as
// q zeros and a one. Apart, both can be read fast: see decodeRice.
func appendRice(dst []byte, ids []uint32, first uint32, k int) []byte {
	acc, n := uint64(0), 0 // bits not written yet
	low := uint32(1)<<k - 1
	next := first
	for _, id := range ids {
		acc |= uint64((id-next)&low) << n
		next = id + 1
		for n += k; n >= 8; n -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if n > 0 {
		dst = append(dst, byte(acc))
	}
	acc, n, next = 0, 0, first
	for _, id := range ids {
		for n += int((id - next) >> k); n >= 8; n -= 8 {
			dst = append(dst, byte(acc))
			acc = 0
		}
		next = id + 1
		acc |= 1 << n
		if n++; n == 8 {
			dst = append(dst, byte(acc))
			acc, n = 0, 0
		}
	}
	if n > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// padded is more than the longest code and a read of eight bytes behind it.
const padded = 1024

// decodeRice appends n numbers. The i-th one of the upper part is at position p
// after p-i zeros, so a number is the first, plus (p-i)<<k, plus i, plus the low
// parts so far: no number waits for the code of the one before.
func decodeRice(dst []uint32, src []byte, first uint32, k, n int) ([]uint32, error) {
	lowLen := (n*k + 7) / 8
	if lowLen > len(src) {
		return dst, ErrCorrupt
	}
	if len(src) < padded {
		var pad [padded + 8]byte
		copy(pad[:], src)
		src = pad[:]
	}
	mask := uint64(1)<<k - 1
	sum := uint64(first)
	value := sum
	at, i := 0, 0 // bits of the lower part read, numbers read
	for base := 0; i < n; base += 64 {
		from := lowLen + base/8
		if from+8 > len(src) {
			return dst, ErrCorrupt
		}
		for w := binary.LittleEndian.Uint64(src[from:]); w != 0 && i < n; w &= w - 1 {
			zeros := base + bits.TrailingZeros64(w) - i
			sum += binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
			at += k
			value = sum + uint64(zeros)<<k + uint64(i)
			dst = append(dst, uint32(value))
			i++
		}
	}
	if value >= 1<<32 {
		return dst, ErrCorrupt
	}
	return dst, nil
}
