package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// A manifest lists the segments of the index, oldest first, and their dead documents.
// Each manifest is a file with the next higher number. The highest-numbered one that can
// be read is valid.
type manifest struct {
	number uint64
	segs   []manifestSegment
}

type manifestSegment struct {
	name string
	size int64
	sum  uint32
	dead bitset
}

const (
	manifestMagic  = "QRYMAN\x00\x01"
	manifestPrefix = "manifest-"
	segmentPrefix  = "segment-"
	lockName       = "lock"
	maxManifest    = 64 << 20
)

func (m *manifest) encode() []byte {
	b := []byte(manifestMagic)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = binary.LittleEndian.AppendUint32(b, fingerprint())
	b = binary.LittleEndian.AppendUint64(b, m.number)
	b = binary.AppendUvarint(b, uint64(len(m.segs)))
	for _, s := range m.segs {
		b = binary.AppendUvarint(b, uint64(len(s.name)))
		b = append(b, s.name...)
		b = binary.AppendUvarint(b, uint64(s.size))
		b = binary.LittleEndian.AppendUint32(b, s.sum)
		b = binary.AppendUvarint(b, uint64(len(s.dead)))
		for _, w := range s.dead {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// decoder decodes a manifest. bad is set by the first error.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) bytes(n uint64) []byte {
	if d.bad || n > uint64(len(d.b)) {
		d.bad = true
		return make([]byte, min(n, 8))
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) u32() uint32 { return binary.LittleEndian.Uint32(d.bytes(4)) }
func (d *decoder) u64() uint64 { return binary.LittleEndian.Uint64(d.bytes(8)) }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.bad || n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func decodeManifest(b []byte) (*manifest, error) {
	if len(b) < len(manifestMagic)+4 || string(b[:len(manifestMagic)]) != manifestMagic {
		return nil, damaged("no manifest")
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, castagnoli()) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil, damaged("manifest checksum")
	}
	d := &decoder{b: body[len(manifestMagic):]}
	if v := d.u32(); v != formatVersion {
		return nil, damaged("manifest version %d", v)
	}
	if d.u32() != fingerprint() {
		return nil, damaged("made with other character tables")
	}
	m := &manifest{number: d.u64()}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		s := manifestSegment{name: string(d.bytes(d.uvarint())), size: int64(d.uvarint()), sum: d.u32()}
		words := d.uvarint()
		if words > uint64(len(d.b))/8 {
			d.bad = true
			break
		}
		s.dead = make(bitset, words)
		for i := range s.dead {
			s.dead[i] = d.u64()
		}
		m.segs = append(m.segs, s)
	}
	if d.bad || len(d.b) > 0 {
		return nil, damaged("manifest")
	}
	return m, nil
}

func numbered(prefix string, n uint64) string { return fmt.Sprintf("%s%016x", prefix, n) }

func numberOf(prefix, name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil
}

// stored lists the files of an index folder.
type stored struct {
	manifests []uint64 // newest first
	segments  []uint64
}

func listStored(state *rootfs.Root) (stored, error) {
	var s stored
	entries, err := state.List(rootfs.Path{})
	for _, e := range entries {
		if n, ok := numberOf(manifestPrefix, e.Name); ok {
			s.manifests = append(s.manifests, n)
		} else if n, ok := numberOf(segmentPrefix, e.Name); ok {
			s.segments = append(s.segments, n)
		}
	}
	slices.SortFunc(s.manifests, func(a, b uint64) int { return cmp.Compare(b, a) })
	return s, err
}

func readManifest(state *rootfs.Root, number uint64) (*manifest, error) {
	b, _, _, err := state.ReadFile(state.Own(numbered(manifestPrefix, number)), maxManifest)
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(b)
	if err != nil {
		return nil, err
	}
	if m.number != number {
		return nil, damaged("manifest %d is called %d", m.number, number)
	}
	return m, nil
}

// load opens the newest manifest that can be read, and its segments. Damaged segments are
// omitted and reported. Their files are then unknown to the index until the first sweep
// finds them.
func load(state *rootfs.Root, s stored, extractor *Extractor, trusting bool) (number uint64, segs []*held, problems []error) {
	for _, n := range s.manifests {
		m, err := readManifest(state, n)
		if err != nil {
			problems = append(problems, fmt.Errorf("manifest %d: %w", n, err))
			continue
		}
		for _, ms := range m.segs {
			h, err := openHeld(state, ms, extractor, trusting)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			segs = append(segs, h)
		}
		return m.number, segs, problems
	}
	return 0, nil, problems
}

func openHeld(state *rootfs.Root, ms manifestSegment, extractor *Extractor, trusting bool) (*held, error) {
	if _, ok := numberOf(segmentPrefix, ms.name); !ok {
		return nil, damaged("manifest names %q", ms.name)
	}
	seg, err := openSegment(state, ms.name, extractor, trusting)
	if err != nil {
		return nil, err
	}
	if seg.size != ms.size || seg.sum != ms.sum || len(ms.dead) != len(newBitset(seg.docs.n)) {
		seg.release()
		return nil, fmt.Errorf("segment %s: %w", ms.name, damaged("not the one the manifest names"))
	}
	return newHeld(seg, ms.dead), nil
}

// remove deletes files of the index folder. If a deletion fails, it is repeated when the
// index is next opened.
func remove(state *rootfs.Root, names ...string) error {
	var errs []error
	for _, name := range names {
		if err := state.Remove(state.Own(name)); err != nil && rootfs.KindOf(err) != fault.NotFound {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
