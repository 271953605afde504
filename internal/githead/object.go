package githead

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// Kinds of objects, as packs number them.
const (
	commitObject = 1
	treeObject   = 2
	offsetDelta  = 6
	namedDelta   = 7
)

// maxObject is the largest tree or commit that is read, and maxChain the
// longest chain of deltas; git makes at most 50.
const (
	maxObject = 256 << 20
	maxChain  = 4096
)

var errDamaged = errors.New("an object of the repository is damaged")

// object reads a commit or tree.
func (r *Repo) object(id string) (kind int, data []byte, err error) { return r.stored(id, 0) }

func (r *Repo) stored(id string, depth int) (kind int, data []byte, err error) {
	name := hex.EncodeToString([]byte(id))
	for _, dir := range r.objects {
		f, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		defer f.Close()
		return loose(f)
	}
	for _, pack := range r.packs {
		at, err := r.inPack(pack, id)
		if err != nil {
			return 0, nil, err
		}
		if at > 0 {
			return r.packed(pack, at, depth)
		}
	}
	return 0, nil, fmt.Errorf("the repository has no object %s", name)
}

// loose reads an object that has a file of its own.
func loose(f io.Reader) (kind int, data []byte, err error) {
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return 0, nil, err
	}
	defer z.Close()
	b := bufio.NewReader(z)
	head, err := b.ReadString(0)
	if err != nil {
		return 0, nil, err
	}
	word, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n < 0 || n > maxObject {
		return 0, nil, errDamaged
	}
	data, err = io.ReadAll(io.LimitReader(b, n+1))
	if err == nil && int64(len(data)) != n {
		err = errDamaged
	}
	return map[string]int{"commit": commitObject, "tree": treeObject}[word], data, err
}

// inPack is the offset of an object in a pack, from the pack's index; 0 if it is
// not there.
func (r *Repo) inPack(pack, id string) (int64, error) {
	f, err := os.Open(pack + ".idx")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:]) != "\xfftOc\x00\x00\x00\x02" {
		return 0, fmt.Errorf("%s.idx is of an unknown form", filepath.Base(pack))
	}
	number := func(at int64) int64 {
		var b [4]byte
		if _, e := f.ReadAt(b[:], at); e != nil {
			err = e
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
	at := low + int64(sort.Search(int(high-low), func(i int) bool {
		if _, e := f.ReadAt(got, names+(low+int64(i))*size); e != nil {
			err = e
		}
		return string(got) >= id
	}))
	if at == high || err != nil {
		return 0, err
	}
	if _, err := f.ReadAt(got, names+at*size); err != nil || string(got) != id {
		return 0, err
	}
	offsets := names + all*size + all*4 // behind the checksums
	to := number(offsets + at*4)
	if to&(1<<31) != 0 { // a large pack has a table of wide offsets
		var b [8]byte
		if _, err := f.ReadAt(b[:], offsets+all*4+(to&^(1<<31))*8); err != nil {
			return 0, err
		}
		to = int64(binary.BigEndian.Uint64(b[:]) & (1<<63 - 1))
	}
	return to, err
}

// packed reads the object at an offset of a pack.
func (r *Repo) packed(pack string, at int64, depth int) (kind int, data []byte, err error) {
	if depth > maxChain || at < 0 {
		return 0, nil, errDamaged
	}
	f, err := os.Open(pack + ".pack")
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	b := bufio.NewReader(io.NewSectionReader(f, at, 1<<62))
	c, err := b.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	kind = int(c >> 4 & 7)
	size := int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = b.ReadByte(); err != nil || shift > 50 {
			return 0, nil, errDamaged
		}
		size |= int64(c&0x7f) << shift
	}
	base := ""
	below := int64(0)
	switch kind {
	case offsetDelta:
		if below, err = backwards(b); err != nil {
			return 0, nil, err
		}
	case namedDelta:
		name := make([]byte, r.idSize())
		if _, err := io.ReadFull(b, name); err != nil {
			return 0, nil, err
		}
		base = string(name)
	}
	if size > maxObject {
		return 0, nil, errDamaged
	}
	z, err := zlib.NewReader(b)
	if err != nil {
		return 0, nil, err
	}
	defer z.Close()
	data = make([]byte, size)
	if _, err := io.ReadFull(z, data); err != nil {
		return 0, nil, err
	}
	var under []byte
	switch kind {
	case offsetDelta:
		kind, under, err = r.packed(pack, at-below, depth+1)
	case namedDelta:
		kind, under, err = r.stored(base, depth+1)
	default:
		return kind, data, nil
	}
	if err != nil {
		return 0, nil, err
	}
	data, err = applyDelta(under, data)
	return kind, data, err
}

// backwards reads the distance from a delta back to its base.
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

// applyDelta makes an object of its base and a delta: copies from the base, and
// text of its own.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errDamaged
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxObject {
		return nil, errDamaged
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
		if length == 0 {
			length = 0x10000
		}
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
	name string
	mode uint32
	id   string
}

const treeMode = 0o40000

// tree returns a tree, cached if it was read before. Its entries are in order
// of their names.
func (r *Repo) tree(id string) ([]branch, error) {
	r.mu.Lock()
	list, ok := r.trees[id]
	r.mu.Unlock()
	if ok {
		return list, nil
	}
	kind, data, err := r.object(id)
	if err != nil {
		return nil, err
	}
	if kind != treeObject {
		return nil, errDamaged
	}
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, found := bytes.Cut(head, []byte{' '})
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		if !ok || !found || err != nil || len(rest) < r.idSize() {
			return nil, errDamaged
		}
		list = append(list, branch{string(name), uint32(bits), string(rest[:r.idSize()])})
		data = rest[r.idSize():]
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	r.mu.Lock()
	r.trees[id] = list
	r.mu.Unlock()
	return list, nil
}

// committed finds a path in the last commit.
func (r *Repo) committed(path string) (branch, bool, error) {
	id := r.root
	for id != "" {
		list, err := r.tree(id)
		if err != nil {
			return branch{}, false, err
		}
		name, rest, deeper := strings.Cut(path, "/")
		i := sort.Search(len(list), func(i int) bool { return list[i].name >= name })
		if i == len(list) || list[i].name != name {
			break
		}
		if !deeper {
			return list[i], list[i].mode != treeMode, nil
		}
		if list[i].mode != treeMode {
			break
		}
		id, path = list[i].id, rest
	}
	return branch{}, false, nil
}
