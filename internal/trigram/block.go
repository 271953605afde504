package trigram

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	blockLen = 128
	maxParam = 31
)

// A code says how the numbers of a block are encoded. It has a Rice parameter, and a flag if a
// bitmap marks consecutive numbers, with one bit for each number. Numbers are often consecutive,
// since files of one folder are similar: the bitmap makes the lists of the Linux tree 7 % shorter.
//
// A gap is a number minus its smallest possible value: the previous number plus one, or next for
// the first number. Without the bitmap, the block has the low k bits of all gaps, filled from the
// low end of each byte and padded to a byte, then the upper part q of each gap, as q zeros and a
// one. With the bitmap, the bitmap comes first, and only the nonzero gaps follow, each minus one.
type code uint8

const (
	runsBit   = 0x20
	paramMask = maxParam
)

// appendBlock encodes ids with the shortest code. next is the smallest possible first number.
func appendBlock(dst []byte, ids []uint32, next uint32) ([]byte, code) {
	var buf, rest [blockLen]uint32
	gaps := buf[:len(ids)]
	var leaps [2]uint64 // a bit for each number that isn't consecutive
	n := 0
	for i, id := range ids {
		gap := id - next
		gaps[i] = gap
		if gap != 0 {
			leaps[i>>6] |= 1 << (i & 63)
			rest[n] = gap - 1
			n++
		}
		next = id + 1
	}
	k, length := param(gaps)
	// Marking costs one bit per number and saves k+1 for each consecutive one.
	if follow := len(ids) - n; follow*(k+1) > len(ids)/2 {
		marks := (len(ids) + 7) / 8
		if kr, short := param(rest[:n]); short+8*marks < length {
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:], leaps[0])
			binary.LittleEndian.PutUint64(b[8:], leaps[1])
			dst = append(dst, b[:marks]...)
			return appendRice(dst, rest[:n], kr, short), code(kr) | runsBit
		}
	}
	return appendRice(dst, gaps, k, length), code(k)
}

// param chooses the Rice parameter with the shortest result, near the logarithm of the mean
// gap, and returns the result's length in bits. That is at most 128 times 37, so a block's
// length in bytes fits into a skip entry.
func param(gaps []uint32) (k, length int) {
	if len(gaps) == 0 {
		return 0, 0
	}
	sum, n := uint64(0), uint64(len(gaps))
	for _, gap := range gaps {
		sum += uint64(gap)
	}
	k = max(0, bits.Len64((sum+n)/n)-2)
	var a, b, c uint64 // sums of the parts above k, k+1 and k+2 bits
	for _, gap := range gaps {
		q := uint64(gap) >> k
		a, b, c = a+q, b+q>>1, c+q>>2
	}
	a, b, c = a+uint64(k+1)*n, b+uint64(k+2)*n, c+uint64(k+3)*n
	switch {
	case a <= b && a <= c || k == maxParam:
		return k, int(a)
	case b <= c || k+1 == maxParam:
		return k + 1, int(b)
	}
	return k + 2, int(c)
}

// decode appends n numbers, at most a block, to dst. src may continue after the block. If
// there is no error, the result is increasing, even for corrupt bytes.
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
	// Numbers are consecutive, except after a leap, which a set bit marks. rest has one number
	// for each leap: the total skipped so far, minus one.
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

// appendRice writes the low k bits of every gap, then the upper part q of each gap as q zeros
// and a one: length bits in total. The two parts are separate because both can then be read
// fast: see decodeRice.
func appendRice(dst []byte, gaps []uint32, k, length int) []byte {
	lowLen := (len(gaps)*k + 7) / 8
	size := lowLen + (length-len(gaps)*k+7)/8
	at := len(dst)
	dst = slices.Grow(dst, size+8)[:at+size+8] // each write takes eight bytes
	clear(dst[at:])
	acc, n, to := uint64(0), 0, at // acc has n bits that are not written yet
	low := uint32(1)<<k - 1
	for _, gap := range gaps {
		acc |= uint64(gap&low) << n
		if n += k; n >= 32 {
			binary.LittleEndian.PutUint32(dst[to:], uint32(acc))
			acc >>= 32
			n -= 32
			to += 4
		}
	}
	binary.LittleEndian.PutUint64(dst[to:], acc)
	bit := (at + lowLen) * 8
	for _, gap := range gaps {
		bit += int(gap >> k)
		dst[bit>>3] |= 1 << (bit & 7)
		bit++
	}
	return dst[:at+size]
}

// padded is longer than the longest code plus a read of eight bytes after it.
const padded = 1024

// decodeRice appends n numbers. If the one of the i-th upper part is the p-th bit, p-i zeros
// come before it. So the number is first, plus (p-i)<<k, plus i, plus the low parts so far,
// and doesn't depend on decoding the previous number.
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
	at, i := 0, 0 // at bits of the lower part and i numbers have been read
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
