package trigram

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A posting list is a set of document numbers. Its first byte is the form, and
// AppendList takes the shortest:
//
//   - below formBlocks: one block of at most 128 numbers; the byte is its code.
//   - formBlocks: blocks of 128 numbers. First four bytes for each block: two with
//     its last number minus its smallest possible first number, then two with its
//     code (upper 6 bits) and its length (lower 10). Then the blocks; the first
//     gap of a block counts from the last number of the previous block.
//   - formWide: the same with four bytes for the last number.
//   - formBitmap: a bit for each document, low bits first.
//
// Gaps are Rice-coded in blocks of 128, each with its own code: see block.go. The lists of the
// Linux tree take 4.7 bits per number. Without marking consecutive numbers, packing the gaps
// of a block with a common width took a third more (one large gap widens all), and one or more
// bytes per gap took 80 % more. Decoding takes 4 ns per number.
const (
	formBlocks = 0x40 // a lower first byte is the code of a single block
	formWide   = 0x41 // blocks whose span doesn't fit into two bytes
	formBitmap = 0x42

	narrowSkip = 4 // bytes per block: two for its span, two for its code and length
	wideSkip   = 6
	lenBits    = 10
	maxLen     = 1<<lenBits - 1
)

// ErrCorrupt reports a list that AppendList didn't write.
var ErrCorrupt = errors.New("corrupt posting list")

// AppendList encodes ids, which are increasing and below docs.
func AppendList(dst []byte, ids []uint32, docs int) []byte {
	start := len(dst)
	if len(ids) <= blockLen {
		var c code
		dst, c = appendBlock(append(dst, 0), ids, 0)
		dst[start] = byte(c)
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
	form, entry := byte(formBlocks), narrowSkip
	for i, next := blockLen, uint32(0); i-blockLen < len(ids); i += blockLen {
		last := ids[min(i, len(ids))-1]
		if last-next > 0xFFFF {
			form, entry = formWide, wideSkip
			break
		}
		next = last + 1
	}
	dst = append(dst, form)
	skips := len(dst)
	dst = slices.Grow(dst, blocks*entry)[:skips+blocks*entry]
	next := uint32(0)
	for i := range blocks {
		block := ids[i*blockLen : min((i+1)*blockLen, len(ids))]
		from := len(dst)
		var c code
		dst, c = appendBlock(dst, block, next)
		last := block[len(block)-1]
		skip := dst[skips+i*entry:]
		if form == formWide {
			binary.LittleEndian.PutUint32(skip, last-next)
		} else {
			binary.LittleEndian.PutUint16(skip, uint16(last-next))
		}
		binary.LittleEndian.PutUint16(skip[entry-2:], uint16(int(c)<<lenBits|(len(dst)-from)))
		next = last + 1
	}
	return dst
}

// List is an encoded posting list.
type List struct {
	data []byte
	n    int
	docs int
}

// OpenList returns the list of n numbers below docs at the start of data, which may be longer.
// Corruption is detected on use.
func OpenList(data []byte, n, docs int) List { return List{data, n, docs} }

// Len returns the number of elements.
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
	case form < formBlocks && l.n <= blockLen:
		dst, err = code(form).decode(dst, rest, 0, l.n)
	case form == formBlocks || form == formWide:
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

// clip drops the elements of dst[start:] outside of [lo, hi).
func clip(dst []uint32, start int, lo, hi uint32) []uint32 {
	got := dst[start:]
	to, _ := slices.BinarySearch(got, hi)
	from, _ := slices.BinarySearch(got, lo)
	from = min(from, to)
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

// blocks iterates over the blocks of a list.
type blocks struct {
	list   *List
	skips  []byte
	entry  int // bytes per skip
	data   []byte
	i      int
	next   uint32 // smallest possible first number of the block
	last   uint32
	code   code
	length int
}

func (l *List) blocks() (blocks, error) {
	count := (l.n + blockLen - 1) / blockLen
	entry := narrowSkip
	if l.data[0] == formWide {
		entry = wideSkip
	}
	rest := l.data[1:]
	if len(rest) < count*entry {
		return blocks{}, ErrCorrupt
	}
	return blocks{list: l, entry: entry, skips: rest[:count*entry], data: rest[count*entry:], i: -1}, nil
}

// advance goes to the next block, or returns false at the end.
func (b *blocks) advance() (bool, error) {
	if b.i >= 0 {
		b.next = b.last + 1
		b.data = b.data[b.length:]
	}
	b.i++
	if len(b.skips) == 0 {
		return false, nil
	}
	span := uint64(binary.LittleEndian.Uint16(b.skips))
	if b.entry == wideSkip {
		span = uint64(binary.LittleEndian.Uint32(b.skips))
	}
	v := int(binary.LittleEndian.Uint16(b.skips[b.entry-2:]))
	b.code, b.length = code(v>>lenBits), v&maxLen
	b.skips = b.skips[b.entry:]
	last := uint64(b.next) + span
	if last >= uint64(b.list.docs) || b.length > len(b.data) {
		return false, ErrCorrupt
	}
	b.last = uint32(last)
	return true, nil
}

// read decodes the current block.
func (b *blocks) read(dst []uint32) ([]uint32, error) {
	n := min(blockLen, b.list.n-b.i*blockLen)
	// b.data continues with the next block, so most reads can take eight bytes.
	dst, err := b.code.decode(dst, b.data, b.next, n)
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

// Filter removes from ids, which are increasing, the numbers that are not in the list. It
// works in place.
func (l List) Filter(ids []uint32) ([]uint32, error) {
	if l.n == 0 || len(ids) == 0 {
		return ids[:0], nil
	}
	if len(l.data) > 0 && l.n <= l.docs {
		switch form := l.data[0]; {
		case form == formBitmap && len(l.data) > (l.docs+7)/8:
			return l.filterBits(ids), nil
		case form == formBlocks || form == formWide:
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

// filterBlocks is Filter for lists of several blocks. It decodes only blocks that could
// contain one of ids.
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

// Intersect appends the common elements of a and b to dst, which may be the start of a.
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

// Union merges two increasing lists into dst, which must not share memory with either.
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
