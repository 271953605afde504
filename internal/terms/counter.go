package terms

import "encoding/binary"

// MaxCount limits the counted occurrences of a term in a text: scores are flat long
// before.
const MaxCount = 100

// MaxText is the size of the largest file that is counted; larger ones are data.
const MaxText = 8 << 20

// Counter counts the terms of texts, one text at a time. It must be used by one goroutine.
//
// Each part is looked up by a hash of its bytes in a small table of the current text.
// Only a part that is new there is folded and looked up among earlier parts, and only a
// part not seen recently is stemmed. The Linux tree, 1.3 GB, takes 5.5 s of processor
// time.
type Counter struct {
	parts int
	slots []slot
	used  []uint32 // slots of the current text
	known []known
}

// slot counts one word of the current text in its exact spelling.
type slot struct {
	hash  uint64
	key   Key
	count uint32 // 0 marks a free slot
}

// known is a part seen before.
type known struct {
	hash uint64
	key  Key
}

const (
	firstSlots = 1 << 11
	knownParts = 1 << 16
)

// NewCounter returns a Counter.
func NewCounter() *Counter {
	return &Counter{slots: make([]slot, firstSlots), known: make([]known, knownParts)}
}

// Reset starts a new text.
func (c *Counter) Reset() {
	if len(c.slots) > 64*firstSlots && len(c.used) < firstSlots { // after a large text
		c.slots = make([]slot, firstSlots)
	} else {
		for _, i := range c.used {
			c.slots[i].count = 0
		}
	}
	c.parts, c.used = 0, c.used[:0]
}

// Parts returns the number of parts in the current text so far.
func (c *Counter) Parts() int { return c.parts }

// Each passes the keys of the current text and their counts, at most MaxCount. A key may
// occur several times, once for each spelling of a term.
func (c *Counter) Each(f func(k Key, n int)) {
	for _, i := range c.used {
		f(c.slots[i].key, int(min(c.slots[i].count, MaxCount)))
	}
}

// Add counts the next lines of the current text.
func (c *Counter) Add(text []byte) {
	n := len(text)
	for i := 0; i < n; {
		if k := partKind[text[i]]; k == 0 || k == 4 {
			i++
			continue
		}
		start := i
		i = partEnd(text, i)
		c.parts++
		c.count(text, start, i)
	}
}

func (c *Counter) count(text []byte, start, end int) {
	h := hashPart(text, start, end)
	mask := uint64(len(c.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := &c.slots[at]
		if s.count == 0 {
			*s = slot{h, c.keyOf(h, text[start:end]), 1}
			c.used = append(c.used, uint32(at))
			if len(c.used)*2 > len(c.slots) {
				c.grow()
			}
			return
		}
		if s.hash == h {
			s.count++
			return
		}
	}
}

// keyOf returns the key of a part, usually from the cache.
func (c *Counter) keyOf(h uint64, part []byte) Key {
	k := &c.known[h>>48]
	if k.hash != h {
		var buf [MaxPart + 8]byte
		*k = known{h, KeyOf(Append(buf[:0], part))}
	}
	return k.key
}

func (c *Counter) grow() {
	old := c.slots
	c.slots = make([]slot, 4*len(old))
	mask := uint64(len(c.slots) - 1)
	for n, i := range c.used {
		at := old[i].hash & mask
		for c.slots[at].count > 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = old[i]
		c.used[n] = uint32(at)
	}
}

// hashPart hashes the bytes of a part, eight at a time. It is never 0.
func hashPart(text []byte, start, end int) uint64 {
	n := end - start
	h := uint64(n) * 0x9e3779b97f4a7c15
	for ; n > 8; n -= 8 {
		h = (h ^ binary.LittleEndian.Uint64(text[start:])) * 0xff51afd7ed558ccd
		h ^= h >> 29
		start += 8
	}
	var last uint64
	if start+8 <= len(text) {
		last = binary.LittleEndian.Uint64(text[start:]) << (64 - 8*uint(n)) // 1 to 8 bytes
	} else {
		for i := end - 1; i >= start; i-- {
			last = last<<8 | uint64(text[i])
		}
		last <<= 64 - 8*uint(n)
	}
	h = (h ^ last) * 0xd6e8feb86659fd93
	return max(h^h>>32, 1)
}
