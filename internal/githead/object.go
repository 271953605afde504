package githead

import (
	"bufio"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Kinds of objects, with their numbers in packs.
const (
	commitObject = 1
	treeObject   = 2
	offsetDelta  = 6
	namedDelta   = 7
)

// maxObject limits the size of a tree or commit; it allows about 400,000 entries. A chain
// of deltas is limited to maxChain links with a total of maxObject bytes, and to maxMade
// bytes produced. Git itself makes at most 50 links.
const (
	maxObject = 16 << 20
	maxChain  = 4096
	maxMade   = 512 << 20
)

var errDamaged = errors.New("an object of the repository is damaged")

// place is where a packed object is.
type place struct {
	in   *store
	pack string
	at   int64
}

// object reads a commit or tree.
func (r *Repo) object(ctx context.Context, id string) (kind int, data []byte, err error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	var deltas [][]byte // the last one applies to the base object
	held, made := 0, 0
	next := func(id string) (*place, error) {
		at, kindOf, whole, err := r.find(ctx, id)
		kind, data = kindOf, whole
		return at, err
	}
	at, err := next(id)
	for err == nil && at != nil {
		var link *link
		if link, err = r.packed(ctx, at); err != nil {
			break
		}
		if link.kind != offsetDelta && link.kind != namedDelta {
			kind, data, at = link.kind, link.data, nil
			break
		}
		if held += len(link.data); held > maxObject || len(deltas) == maxChain {
			return 0, nil, errDamaged
		}
		deltas = append(deltas, link.data)
		if link.kind == namedDelta {
			at, err = next(link.base)
		} else {
			at = &place{at.in, at.pack, at.at - link.below}
		}
	}
	for i := len(deltas) - 1; i >= 0 && err == nil; i-- {
		if err = ctx.Err(); err != nil {
			break
		}
		data, err = applyDelta(data, deltas[i])
		if made += len(data); made > maxMade {
			err = errDamaged
		}
	}
	if err != nil {
		return 0, nil, err
	}
	return kind, data, nil
}

// find finds an object. It reads a loose object; for a packed one it returns the place.
func (r *Repo) find(ctx context.Context, id string) (at *place, kind int, data []byte, err error) {
	name := hex.EncodeToString([]byte(id))
	for _, s := range r.stores {
		f, err := s.open(name[:2] + "/" + name[2:])
		if err != nil {
			if k := rootfs.KindOf(err); k == fault.NotFound || k == fault.NotFolder {
				continue
			}
			return nil, 0, nil, err
		}
		defer f.Close()
		kind, data, err = loose(&reader{ctx.Err, f})
		return nil, kind, data, err
	}
	for _, s := range r.stores {
		for _, pack := range s.packs {
			if err := ctx.Err(); err != nil {
				return nil, 0, nil, err
			}
			at, err := s.inPack(pack, id)
			if err != nil {
				return nil, 0, nil, err
			}
			if at > 0 {
				return &place{s, pack, at}, 0, nil, nil
			}
		}
	}
	return nil, 0, nil, errors.New("the repository lacks an object; a partial clone may not have fetched it yet")
}

// loose decodes an object stored in its own file.
func loose(f io.Reader) (kind int, data []byte, err error) {
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return 0, nil, errDamaged
	}
	defer z.Close()
	b := bufio.NewReaderSize(z, 4<<10)
	head, err := b.ReadSlice(0)
	if err != nil {
		return 0, nil, errDamaged
	}
	word, length, _ := strings.Cut(string(head[:len(head)-1]), " ")
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n < 0 {
		return 0, nil, errDamaged
	}
	data, err = unpack(b, n)
	return map[string]int{"commit": commitObject, "tree": treeObject}[word], data, err
}

// errLarge means that a tree or commit is too large.
var errLarge = fmt.Errorf("a folder or a commit of the repository takes more than %d MB", maxObject>>20)

// unpack decompresses exactly size bytes.
func unpack(in io.Reader, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, errLarge
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, errDamaged
	}
	if n, err := in.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, errDamaged
	}
	return data, nil
}

// inPack returns an object's offset in a pack, according to the pack's index. It returns
// 0 if the object is not in the pack.
func (s *store) inPack(pack, id string) (int64, error) {
	f, err := s.open("pack/" + pack + ".idx")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return inIndex(f, id)
}

// inIndex is inPack for an open index.
func inIndex(f *rootfs.File, id string) (offset int64, err error) {
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:]) != "\xfftOc\x00\x00\x00\x02" {
		return 0, errors.New("the index of a pack is of an unknown form")
	}
	number := func(at int64) int64 {
		var b [4]byte
		if _, e := f.ReadAt(b[:], at); e != nil {
			err = errDamaged
		}
		return int64(binary.BigEndian.Uint32(b[:]))
	}
	const fan = 8
	low, high, all := int64(0), number(fan+4*int64(id[0])), number(fan+4*255)
	if id[0] > 0 {
		low = number(fan + 4*int64(id[0]-1))
	}
	if err != nil || low > high || high > all {
		return 0, errDamaged
	}
	size := int64(len(id))
	names := int64(fan + 4*256)
	got := make([]byte, size)
	found := low + int64(sort.Search(int(high-low), func(i int) bool {
		if _, e := f.ReadAt(got, names+(low+int64(i))*size); e != nil {
			err = errDamaged
		}
		return string(got) >= id
	}))
	if found == high || err != nil {
		return 0, err
	}
	if _, e := f.ReadAt(got, names+found*size); e != nil || string(got) != id {
		return 0, nil
	}
	offsets := names + all*size + all*4 // after the checksums
	to := number(offsets + found*4)
	if to&(1<<31) != 0 { // a large pack has a table of wide offsets
		var b [8]byte
		if _, err := f.ReadAt(b[:], offsets+all*4+(to&^(1<<31))*8); err != nil {
			return 0, errDamaged
		}
		to = int64(binary.BigEndian.Uint64(b[:]) & (1<<63 - 1))
	}
	return to, err
}

// link is an object of a pack, or a delta with the location of its base.
type link struct {
	kind  int
	data  []byte
	base  string // id of the base, for a namedDelta
	below int64  // distance to the base, for an offsetDelta
}

// packed reads the link at a place.
func (r *Repo) packed(ctx context.Context, at *place) (*link, error) {
	if at.at <= 0 {
		return nil, errDamaged
	}
	f, err := at.in.open("pack/" + at.pack + ".pack")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := bufio.NewReader(&reader{ctx.Err, io.NewSectionReader(f, at.at, 1<<62)})
	c, err := b.ReadByte()
	if err != nil {
		return nil, errDamaged
	}
	l := &link{kind: int(c >> 4 & 7)}
	size := int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = b.ReadByte(); err != nil || shift > 50 {
			return nil, errDamaged
		}
		size |= int64(c&0x7f) << shift
	}
	switch l.kind {
	case offsetDelta:
		// A base precedes its delta, so a chain can't be cyclic.
		if l.below, err = backwards(b); err != nil || l.below <= 0 {
			return nil, errDamaged
		}
	case namedDelta:
		name := make([]byte, r.idSize())
		if _, err := io.ReadFull(b, name); err != nil {
			return nil, errDamaged
		}
		l.base = string(name)
	}
	z, err := zlib.NewReader(b)
	if err != nil {
		return nil, errDamaged
	}
	defer z.Close()
	l.data, err = unpack(z, size)
	return l, err
}

// backwards decodes the distance from a delta to its base.
func backwards(b *bufio.Reader) (int64, error) {
	n := int64(-1)
	for range 9 {
		c, err := b.ReadByte()
		if err != nil {
			return 0, err
		}
		n = (n+1)<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errDamaged
}

// applyDelta builds an object from its base and a delta, which copies from the base and
// inserts text.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errDamaged
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 {
		return nil, errDamaged
	}
	if size > maxObject {
		return nil, errLarge
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, errDamaged
			}
			out, delta = append(out, delta[:op]...), delta[op:]
			continue
		}
		var at, length uint64
		for i := range 7 {
			if op&(1<<i) == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errDamaged
			}
			if i < 4 {
				at |= uint64(delta[0]) << (8 * i)
			} else {
				length |= uint64(delta[0]) << (8 * (i - 4))
			}
			delta = delta[1:]
		}
		length = cmp.Or(length, 0x10000)
		if at+length > uint64(len(base)) || uint64(len(out))+length > size {
			return nil, errDamaged
		}
		out = append(out, base[at:at+length]...)
	}
	if uint64(len(out)) != size {
		return nil, errDamaged
	}
	return out, nil
}

// branch is one entry of a tree.
type branch struct {
	mode uint32
	id   string
}

const treeMode = 0o40000

// tree is a tree in git's encoding, with the offsets of its entries sorted by name.
// Decoded entries would take five times as much memory.
type tree struct {
	data    string
	entries []uint32
	idSize  int
}

// maxTrees limits the size of the cached trees in bytes; it is enough for 300,000 files.
const maxTrees = 16 << 20

// name returns the name of the i-th entry.
func (t *tree) name(i int) string { return entryName(t.data, t.entries[i]) }

func (t *tree) branch(i int) branch {
	s := t.data[t.entries[i]:]
	space, end := strings.IndexByte(s, ' '), strings.IndexByte(s, 0)
	mode, _ := strconv.ParseUint(s[:space], 8, 32) // parseTree has checked it
	return branch{uint32(mode), s[end+1 : end+1+t.idSize]}
}

// parseTree finds the entries of a tree.
func parseTree(data string, idSize int) (*tree, error) {
	t := &tree{data: data, idSize: idSize, entries: make([]uint32, 0, len(data)/(idSize+20))} // a mode, and a name of 13 bytes
	for at := 0; at < len(data); {
		s := data[at:min(len(data), at+8<<10)]
		space, end := strings.IndexByte(s, ' '), strings.IndexByte(s, 0)
		if space < 0 || end < space || len(data)-at < end+1+idSize {
			return nil, errDamaged
		}
		if _, err := strconv.ParseUint(s[:space], 8, 32); err != nil {
			return nil, errDamaged
		}
		t.entries = append(t.entries, uint32(at))
		at += end + 1 + idSize
	}
	// Git orders a folder as if its name ended in a slash.
	slices.SortFunc(t.entries, func(a, b uint32) int {
		return strings.Compare(entryName(data, a), entryName(data, b))
	})
	return t, nil
}

func entryName(data string, at uint32) string {
	s := data[at:]
	s = s[strings.IndexByte(s, ' ')+1:]
	return s[:strings.IndexByte(s, 0)]
}

// tree returns a tree, from the cache if possible.
func (r *Repo) tree(ctx context.Context, id string) (*tree, error) {
	r.mu.Lock()
	t := r.trees[id]
	r.mu.Unlock()
	if t != nil {
		return t, nil
	}
	kind, data, err := r.object(ctx, id)
	if err != nil {
		return nil, err
	}
	if kind != treeObject {
		return nil, errDamaged
	}
	// data is not used otherwise, and can have 16 MB
	if t, err = parseTree(unsafe.String(unsafe.SliceData(data), len(data)), r.idSize()); err != nil {
		return nil, err
	}
	size := len(t.data) + 4*cap(t.entries)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held += size; r.held > maxTrees { // files come in path order, so few are needed again
		r.held = size
		clear(r.trees)
	}
	r.trees[id] = t
	return t, nil
}

// committed returns the entry for a path in the last commit.
func (r *Repo) committed(ctx context.Context, path string) (branch, bool, error) {
	id := r.root
	for id != "" {
		t, err := r.tree(ctx, id)
		if err != nil {
			return branch{}, false, err
		}
		name, rest, deeper := strings.Cut(path, "/")
		i := sort.Search(len(t.entries), func(i int) bool { return t.name(i) >= name })
		if i == len(t.entries) || t.name(i) != name {
			break
		}
		at := t.branch(i)
		if !deeper {
			return at, at.mode != treeMode, nil
		}
		if at.mode != treeMode {
			break
		}
		id, path = at.id, rest
	}
	return branch{}, false, nil
}
