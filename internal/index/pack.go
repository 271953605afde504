package index

import "encoding/binary"

// A packed text consists of literal bytes and copies of earlier bytes, as in LZ77: a varint
// with the number of literals, then the literals; then, unless the text ends, a varint with the
// length of a copy minus minCopy, and one with its distance. Columns of notes shrink to a
// third, and 1 GB is unpacked in a second.

// minCopy is the length of the shortest copy. A copy takes at least three bytes, and
// time.
const minCopy = 6

// maxCopy is the length of the longest copy. It limits how much text a few bytes can
// expand to.
const maxCopy = 1 << 20

// packer packs texts. It is not safe for concurrent use.
type packer struct {
	last [1 << 13]int32 // by hash of four bytes: their latest offset plus one
}

// pack appends the packed text to dst.
func (p *packer) pack(dst, text []byte) []byte {
	clear(p.last[:])
	from := 0 // offset of the first literal
	for at := 0; at+minCopy <= len(text); {
		now := binary.LittleEndian.Uint32(text[at:])
		slot := &p.last[now*2654435761>>(32-13)]
		before := int(*slot) - 1
		*slot = int32(at + 1)
		n := 0
		if before >= 0 {
			for n < maxCopy && at+n < len(text) && text[before+n] == text[at+n] {
				n++
			}
		}
		if n < minCopy {
			at++
			continue
		}
		dst = append(binary.AppendUvarint(dst, uint64(at-from)), text[from:at]...)
		dst = binary.AppendUvarint(dst, uint64(n-minCopy))
		dst = binary.AppendUvarint(dst, uint64(at-before))
		at += n
		from = at
	}
	return append(binary.AppendUvarint(dst, uint64(len(text)-from)), text[from:]...)
}

// unpack appends the text to dst, which must be empty. It panics on invalid bytes, and before
// the text exceeds limit bytes: five packed bytes can expand to a megabyte.
func unpack(dst, packed []byte, limit int) []byte {
	s := columnSource(packed)
	for {
		n := s.number()
		if n > limit-len(dst) {
			panic("size of packed fields")
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
		if len(s) == 0 {
			return dst
		}
		length, k := binary.Uvarint(s)
		if k <= 0 || length > maxCopy {
			panic("packed fields")
		}
		back, l := binary.Uvarint(s[k:])
		if l <= 0 || back == 0 || back > uint64(len(dst)) {
			panic("packed fields")
		}
		s = s[k+l:]
		from, n := len(dst)-int(back), int(length)+minCopy
		if n > limit-len(dst) {
			panic("size of packed fields")
		}
		for n > 0 { // the source may overlap the copy
			part := dst[from:min(from+n, len(dst))]
			dst = append(dst, part...)
			n -= len(part)
		}
	}
}
