package powercut

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Fate decides which unsynced changes survive.
type Fate interface {
	// Names returns how many of n unsynced changes of a folder survive. They are the first ones.
	Names(n int) int
	// Size and Sector decide about n unsynced writes to a file. The file has the length after
	// the first Size writes, and a sector has the first Sector writes.
	Size(n int) int
	Sector(sector, sectors, n int) int
}

// sectorSize is the size of an atomic write. Real disks have 512 bytes or more; a smaller size lets
// even small records be torn.
const sectorSize = 64

// State is the state of the disk after a power cut.
type State struct {
	tops    []string
	top     []int
	nodes   []*node
	names   map[int]map[string]int // entries of each folder
	data    map[int][]byte         // content of each file
	mode    map[int]fs.FileMode
	written map[uint64]uint64 // maps inodes of the written copy to recorded inodes
}

// Cut returns the state if power fails before event number at.
func (d *Disk) Cut(at int, fate Fate) *State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &State{tops: d.tops, top: d.top, nodes: d.nodes, names: map[int]map[string]int{}, data: map[int][]byte{}, mode: map[int]fs.FileMode{}}
	d.cutNames(s, at, fate)
	d.cutData(s, at, fate)
	return s
}

// cutNames decides how many changes of each folder survive. A rename between two folders must
// survive in both or in neither, which makes the decisions depend on each other.
func (d *Disk) cutNames(s *State, at int, fate Fate) {
	changes := map[int][]int{} // numbers of the events in each folder
	synced := map[int]int{}    // number of these that must survive
	for i := range d.events[:at] {
		e := &d.events[i]
		if e.Call == "fsyncdir" {
			synced[e.file] = len(changes[e.file])
		}
		if e.dir >= 0 && e.Call != "link" {
			changes[e.dir] = append(changes[e.dir], i)
		}
		if e.to >= 0 && (e.to != e.dir || e.Call == "link") {
			changes[e.to] = append(changes[e.to], i)
		}
	}
	keep := map[int]int{}
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		n := len(changes[id]) - synced[id]
		keep[id] = synced[id] + min(max(fate.Names(n), 0), n)
	}
	has := func(id, i int) (at int, kept bool) {
		at, _ = slices.BinarySearch(changes[id], i)
		return at, at < keep[id]
	}
	for again := true; again; {
		again = false
		for i := range d.events[:at] {
			e := &d.events[i]
			if e.Call != "rename" || e.dir == e.to {
				continue
			}
			a, inA := has(e.dir, i)
			b, inB := has(e.to, i)
			if inA != inB {
				keep[e.dir], keep[e.to], again = max(keep[e.dir], a+1), max(keep[e.to], b+1), true
			}
		}
	}
	for _, n := range d.nodes {
		if n.typ != fs.ModeDir {
			continue
		}
		names := maps.Clone(n.names)
		for _, i := range changes[n.id][:keep[n.id]] {
			d.events[i].apply(n.id, names)
		}
		s.names[n.id] = names
	}
}

// cutData decides how much of each file's unsynced data survives.
func (d *Disk) cutData(s *State, at int, fate Fate) {
	pending := map[int][]*event{} // writes to each file since its last sync
	for _, n := range d.nodes {
		s.data[n.id], s.mode[n.id] = n.data, n.mode
	}
	for i := range d.events[:at] {
		switch e := &d.events[i]; e.Call {
		case "chmod":
			s.mode[e.file] = e.Mode.Perm()
		case "write", "truncate":
			pending[e.file] = append(pending[e.file], e)
		case "fsync", "fsyncdir":
			for _, w := range pending[e.file] {
				s.data[e.file] = w.write(s.data[e.file])
			}
			delete(pending, e.file)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(pending)) {
		s.data[id] = mix(s.data[id], pending[id], fate)
	}
}

// mix returns content of which each sector has only some of the writes.
func mix(data []byte, writes []*event, fate Fate) []byte {
	versions := [][]byte{data}
	longest := len(data)
	for _, w := range writes {
		data = w.write(data)
		versions = append(versions, data)
		longest = max(longest, len(data))
	}
	n := len(writes)
	within := func(k int) int { return min(max(k, 0), n) }
	out := make([]byte, len(versions[within(fate.Size(n))]))
	sectors := (longest + sectorSize - 1) / sectorSize
	for i := range sectors {
		v := versions[within(fate.Sector(i, sectors, n))]
		from := min(i*sectorSize, len(v))
		if from < len(out) {
			copy(out[from:], v[from:min(from+sectorSize, len(v))])
		}
	}
	return out
}

// write returns a copy of data with the event applied.
func (e *event) write(data []byte) []byte {
	size := int(e.Size)
	if e.Call == "write" {
		size = max(len(data), int(e.Off)+len(e.Data))
	}
	out := make([]byte, size)
	copy(out, data)
	copy(out[min(int(e.Off), size):], e.Data)
	return out
}

// Sum returns a hash of the state.
func (s *State) Sum() [32]byte {
	h := sha256.New()
	seen := map[int]bool{}
	var visit func(name string, id int)
	visit = func(name string, id int) {
		var head [24]byte
		binary.LittleEndian.PutUint64(head[:], uint64(id))
		binary.LittleEndian.PutUint64(head[8:], uint64(len(name)))
		binary.LittleEndian.PutUint64(head[16:], uint64(len(s.data[id])))
		h.Write(head[:])
		h.Write([]byte(name))
		if seen[id] {
			return
		}
		seen[id] = true
		h.Write(s.data[id])
		for _, name := range slices.Sorted(maps.Keys(s.names[id])) {
			visit(name, s.names[id][name])
		}
		h.Write([]byte{0})
	}
	for i, id := range s.top {
		visit(s.tops[i], id)
	}
	return [32]byte(h.Sum(nil))
}

// WriteTo writes the state to dir. Each recorded folder becomes a folder with the same base name.
// Files written after the recording began get the current time.
func (s *State) WriteTo(dir string) error {
	s.written = map[uint64]uint64{}
	made := map[int]string{}
	for i, id := range s.top {
		if err := s.write(filepath.Join(dir, filepath.Base(s.tops[i])), id, made); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) write(path string, id int, made map[int]string) error {
	n := s.nodes[id]
	if first, ok := made[id]; ok {
		if n.typ == fs.ModeDir {
			return nil // folders can't have two names, so only the first is written
		}
		return os.Link(first, path)
	}
	made[id] = path
	var err error
	switch n.typ {
	case fs.ModeDir:
		err = os.Mkdir(path, 0o755)
		for _, name := range slices.Sorted(maps.Keys(s.names[id])) {
			if err == nil {
				err = s.write(filepath.Join(path, name), s.names[id][name], made)
			}
		}
	case fs.ModeSymlink:
		err = os.Symlink(n.target, path)
	default:
		if err = os.WriteFile(path, s.data[id], 0o600); err == nil {
			err = os.Chmod(path, s.mode[id])
		}
		if err == nil && !n.time.IsZero() && bytes.Equal(s.data[id], n.data) {
			err = os.Chtimes(path, n.time, n.time)
		}
	}
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	s.written[inoOf(info)] = n.ino
	return nil
}

// Ino returns the recorded inode of a file, for rootfs.Layer.
func (s *State) Ino(ino uint64) uint64 {
	if was, ok := s.written[ino]; ok {
		return was
	}
	return ino
}

// String describes the state, for the output of failing tests.
func (s *State) String() string {
	var out []byte
	var visit func(path string, id int)
	visit = func(path string, id int) {
		data := s.data[id]
		if len(data) > 60 {
			data = data[:60]
		}
		out = fmt.Appendf(out, "%s  node %d, %d bytes %q\n", path, id, len(s.data[id]), data)
		for _, name := range slices.Sorted(maps.Keys(s.names[id])) {
			visit(path+"/"+name, s.names[id][name])
		}
	}
	for i, id := range s.top {
		visit(filepath.Base(s.tops[i]), id)
	}
	return string(out)
}
