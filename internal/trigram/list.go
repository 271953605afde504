package trigram

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A posting list is a set of document numbers in one of three forms, whichever
// is smallest. docs/FORMAT.md has the bytes.
//
// Gaps are Rice-coded, in blocks of 128 with a parameter each: on the Linux tree
// that takes 4.7 % of the text, where packing the gaps of a block with one width
// takes 6.3 % (one large gap widens all) and a byte or more for each 8.5 %.
// Decoding takes 4 ns a number.
const (
	blockLen = 128

	formBlocks = 0x40 // else below 32: one block, and its parameter
	formBitmap = 0x41

	maxParam  = 31
	skipEntry = 6 // last number of a block, its parameter and length
	lenBits   = 11
	maxLen    = 1<<lenBits - 1
)

// ErrCorrupt is found in lists that AppendList didn't write.
var ErrCorrupt = errors.New("corrupt posting list")

// AppendList encodes ids, which are increasing and below docs.
func AppendList(dst []byte, ids []uint32, docs int) []byte {
	start := len(dst)
	if len(ids) <= blockLen {
		k := param(ids, 0)
		dst = append(dst, byte(k))
		dst = appendRice(dst, ids, 0, k)
	} else {
		dst = appendBlocks(dst, ids)
	}
	if size := 1 + (docs+7)/8; len(dst)-start >= size {
		dst = appendBitmap(dst[:start], ids, size)
	}
	return dst
}

func appendBitmap(dst []byte, ids []uint32, size int) []byte {
	start := len(dst)
	dst = slices.Grow(dst, size)[:start+size]
	clear(dst[start:])
	dst[start] = formBitmap
	bitmap := dst[start+1:]
	for _, id := range ids {
		bitmap[id>>3] |= 1 << (id & 7)
	}
	return dst
}

func appendBlocks(dst []byte, ids []uint32) []byte {
	blocks := (len(ids) + blockLen - 1) / blockLen
	dst = append(dst, formBlocks)
	skips := len(dst)
	dst = slices.Grow(dst, blocks*skipEntry)[:skips+blocks*skipEntry]
	next := uint32(0)
	for i := range blocks {
		block := ids[i*blockLen : min((i+1)*blockLen, len(ids))]
		k := param(block, next)
		from := len(dst)
		dst = appendRice(dst, block, next, k)
		last := block[len(block)-1]
		entry := dst[skips+i*skipEntry:]
		binary.LittleEndian.PutUint32(entry, last)
		binary.LittleEndian.PutUint16(entry[4:], uint16(k<<lenBits|(len(dst)-from)))
		next = last + 1
	}
	return dst
}

// param chooses the parameter with the shortest code: near the logarithm of
// the mean gap. next is the smallest number the first one could be. A code is
// at most 128 times 32 bits long plus 128, which fits into an entry's length.
func param(ids []uint32, next uint32) int {
	if len(ids) == 0 {
		return 0
	}
	mean := (ids[len(ids)-1] + 1 - next) / uint32(len(ids))
	best, bestCost := 0, uint64(1)<<62
	middle := bits.Len32(mean)
	for k := max(0, middle-2); k <= min(maxParam, middle); k++ {
		cost := uint64(0)
		from := next
		for _, id := range ids {
			cost += uint64((id - from) >> k)
			from = id + 1
		}
		if cost += uint64(k * len(ids)); cost < bestCost {
			best, bestCost = k, cost
		}
	}
	return best
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

// decodeRice appends n numbers, at most a block, to dst. src may be longer than
// the code. What it returns without an error is increasing, whatever the bytes.
//
// The i-th one of the upper part is at position p after p-i zeros, so a number
// is the first, plus (p-i)<<k, plus i, plus the low parts so far: no number
// waits for the code of the one before.
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

// List is an encoded posting list.
type List struct {
	data []byte
	n    int
	docs int
}

// OpenList returns the list at the start of data, which may be longer, of n
// numbers below docs. Whether the list is sound shows when it is used.
func OpenList(data []byte, n, docs int) List { return List{data, n, docs} }

// Len returns how many numbers the list has.
func (l List) Len() int { return l.n }

// Append appends the numbers in [lo, hi) to dst.
func (l List) Append(dst []uint32, lo, hi uint32) ([]uint32, error) {
	if l.n == 0 {
		return dst, nil
	}
	if len(l.data) == 0 || l.n > l.docs {
		return dst, ErrCorrupt
	}
	form, rest := l.data[0], l.data[1:]
	start := len(dst)
	var err error
	switch {
	case form <= maxParam && l.n <= blockLen:
		dst, err = decodeRice(dst, rest, 0, int(form), l.n)
	case form == formBlocks:
		dst, err = l.appendBlocks(dst, lo, hi)
	case form == formBitmap && len(rest) >= (l.docs+7)/8:
		return appendBits(dst, rest[:(l.docs+7)/8], lo, min(hi, uint32(l.docs))), nil
	default:
		err = ErrCorrupt
	}
	if err != nil {
		return dst[:start], err
	}
	if got := dst[start:]; len(got) > 0 && int(got[len(got)-1]) >= l.docs {
		return dst[:start], ErrCorrupt
	}
	return clip(dst, start, lo, hi), nil
}

// clip drops what of dst[start:] is outside of [lo, hi).
func clip(dst []uint32, start int, lo, hi uint32) []uint32 {
	got := dst[start:]
	to, _ := slices.BinarySearch(got, hi)
	from, _ := slices.BinarySearch(got, lo)
	if from > to {
		from = to
	}
	return dst[:start+copy(got, got[from:to])]
}

func appendBits(dst []uint32, bitmap []byte, lo, hi uint32) []uint32 {
	for at := lo &^ 7; at < hi; at += 8 {
		for b := bitmap[at>>3]; b != 0; b &= b - 1 {
			if id := at + uint32(bits.TrailingZeros8(b)); id >= lo && id < hi {
				dst = append(dst, id)
			}
		}
	}
	return dst
}

// blocks walks over the blocks of a list.
type blocks struct {
	list   *List
	skips  []byte
	data   []byte
	i      int
	next   uint32 // smallest number the block could start with
	last   uint32
	k      int
	length int
}

func (l *List) blocks() (blocks, error) {
	count := (l.n + blockLen - 1) / blockLen
	rest := l.data[1:]
	if len(rest) < count*skipEntry {
		return blocks{}, ErrCorrupt
	}
	b := blocks{list: l, skips: rest[:count*skipEntry], data: rest[count*skipEntry:], i: -1}
	return b, nil
}

// advance goes to the next block; at the end it reports false.
func (b *blocks) advance() (bool, error) {
	if b.i >= 0 {
		b.next = b.last + 1
		b.data = b.data[b.length:]
	}
	b.i++
	if len(b.skips) == 0 {
		return false, nil
	}
	b.last = binary.LittleEndian.Uint32(b.skips)
	v := int(binary.LittleEndian.Uint16(b.skips[4:]))
	b.k, b.length = v>>lenBits, v&maxLen
	b.skips = b.skips[skipEntry:]
	if b.last < b.next || int(b.last) >= b.list.docs || b.length > len(b.data) {
		return false, ErrCorrupt
	}
	return true, nil
}

// read decodes the block.
func (b *blocks) read(dst []uint32) ([]uint32, error) {
	n := min(blockLen, b.list.n-b.i*blockLen)
	// Behind the block is the next one, so most reads can take eight bytes.
	dst, err := decodeRice(dst, b.data, b.next, b.k, n)
	if err == nil && dst[len(dst)-1] != b.last {
		err = ErrCorrupt
	}
	return dst, err
}

func (l List) appendBlocks(dst []uint32, lo, hi uint32) ([]uint32, error) {
	b, err := l.blocks()
	if err != nil {
		return dst, err
	}
	for {
		ok, err := b.advance()
		if !ok || err != nil || b.next >= hi {
			return dst, err
		}
		if b.last < lo {
			continue
		}
		if dst, err = b.read(dst); err != nil {
			return dst, err
		}
	}
}

// Filter keeps those of ids, which are increasing, that are in the list. It
// works in place.
func (l List) Filter(ids []uint32) ([]uint32, error) {
	if l.n == 0 || len(ids) == 0 {
		return ids[:0], nil
	}
	if len(l.data) > 0 && l.n <= l.docs {
		switch form := l.data[0]; {
		case form == formBitmap && len(l.data) > (l.docs+7)/8:
			return l.filterBits(ids), nil
		case form == formBlocks:
			return l.filterBlocks(ids)
		}
	}
	var buf [blockLen]uint32
	mine, err := l.Append(buf[:0], ids[0], ids[len(ids)-1]+1)
	if err != nil {
		return ids, err
	}
	return Intersect(ids[:0], ids, mine), nil
}

func (l List) filterBits(ids []uint32) []uint32 {
	bitmap := l.data[1:]
	kept := ids[:0]
	for _, id := range ids {
		if int(id) < l.docs && bitmap[id>>3]>>(id&7)&1 == 1 {
			kept = append(kept, id)
		}
	}
	return kept
}

// filterBlocks decodes only blocks that could hold one of ids.
func (l List) filterBlocks(ids []uint32) ([]uint32, error) {
	b, err := l.blocks()
	if err != nil {
		return ids, err
	}
	kept := ids[:0]
	var buf [blockLen]uint32
	for len(ids) > 0 {
		ok, err := b.advance()
		if err != nil {
			return ids, err
		}
		if !ok {
			break
		}
		if b.last < ids[0] {
			continue
		}
		mine, err := b.read(buf[:0])
		if err != nil {
			return ids, err
		}
		n := 0
		for n < len(ids) && ids[n] <= b.last {
			n++
		}
		kept = Intersect(kept, ids[:n], mine)
		ids = ids[n:]
	}
	return kept, nil
}

// Intersect appends what a and b share to dst, which may be the front of a.
func Intersect(dst, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			dst = append(dst, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return dst
}

// Union merges two increasing lists into dst, which must not share memory with
// either.
func Union(dst, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			dst, a = append(dst, a[0]), a[1:]
		case a[0] > b[0]:
			dst, b = append(dst, b[0]), b[1:]
		default:
			dst, a, b = append(dst, a[0]), a[1:], b[1:]
		}
	}
	return append(append(dst, a...), b...)
}
