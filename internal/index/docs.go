package index

import (
	"bytes"
	"encoding/binary"
)

// restartEvery is the interval of paths that are stored in full; the others omit the
// prefix they share with the previous path. With 16, the table has a quarter of the
// paths' total length, and finding a path decodes 8 paths on average.
const restartEvery = 16

// docWriter writes the document table. Paths are in byte order, so the documents of a
// folder are consecutive.
type docWriter struct {
	n        int
	text     uint64 // total size of the texts
	last     []byte
	paths    []byte
	restarts []byte
	stamps   []byte
	flags    []byte
	parts    []byte
	blocks   blockWriter
}

// add adds the next document. starts are the starts of its blocks except the first, as in
// a blockTable; parts is its number of parts, or unknownParts.
func (w *docWriter) add(path []byte, s Stamp, f Flags, starts []byte, parts uint32) {
	w.addPath(path)
	w.stamps = appendStamp(w.stamps, s)
	w.flags = binary.LittleEndian.AppendUint16(w.flags, uint16(f))
	w.parts = binary.LittleEndian.AppendUint32(w.parts, parts)
	w.blocks.add(w.n-1, starts)
	w.text += textSize(s, f)
}

// addPath adds only the path of the next document.
func (w *docWriter) addPath(path []byte) {
	shared := 0
	if w.n%restartEvery == 0 {
		w.restarts = binary.LittleEndian.AppendUint32(w.restarts, uint32(len(w.paths)))
	} else {
		for shared < len(path) && shared < len(w.last) && path[shared] == w.last[shared] {
			shared++
		}
	}
	w.paths = binary.AppendUvarint(w.paths, uint64(shared))
	w.paths = binary.AppendUvarint(w.paths, uint64(len(path)-shared))
	w.paths = append(w.paths, path[shared:]...)
	w.last = append(w.last[:0], path...)
	w.n++
}

// textSize returns the size of a document's text: 0 if the file is binary or was not read.
func textSize(s Stamp, f Flags) uint64 {
	if f&Binary != 0 || f&AlwaysScan != 0 && f&Large == 0 {
		return 0
	}
	return uint64(max(0, s.Size))
}

// docTable reads the table. Its methods may panic on bytes that docWriter didn't write, so they
// must be called under guard.
type docTable struct {
	n        int
	paths    []byte
	restarts []byte
	stamps   []byte
	flags    []byte
	parts    []byte
}

func (t *docTable) check() error {
	blocks := (t.n + restartEvery - 1) / restartEvery
	if len(t.restarts) != 4*blocks || len(t.stamps) != t.n*stampSize || len(t.flags) != 2*t.n || len(t.parts) != 4*t.n {
		return damaged("document table")
	}
	return nil
}

func (t *docTable) flag(id int) Flags { return Flags(binary.LittleEndian.Uint16(t.flags[2*id:])) }

// counted returns a document's number of parts, or unknownParts.
func (t *docTable) counted(id int) uint32 { return binary.LittleEndian.Uint32(t.parts[4*id:]) }

func (t *docTable) stamp(id int) Stamp { return readStamp(t.stamps[id*stampSize:]) }

// pathReader decodes paths in sequence.
type pathReader struct {
	t    *docTable
	at   int // offset of the next path
	id   int // number of the next path
	path []byte
}

// seek makes id the next document.
func (r *pathReader) seek(id int) {
	if id >= r.id && id/restartEvery == r.id/restartEvery && r.id%restartEvery != 0 {
		for r.id < id { // the next path is at or before id and can be reached without a restart
			r.next()
		}
		return
	}
	block := id / restartEvery
	r.at = int(binary.LittleEndian.Uint32(r.t.restarts[4*block:]))
	r.id = block * restartEvery
	r.path = r.path[:0]
	for r.id < id {
		r.next()
	}
}

// next decodes the next path. It is valid until the following call.
func (r *pathReader) next() []byte {
	shared := r.uvarint()
	n := r.uvarint()
	r.path = append(r.path[:shared], r.t.paths[r.at:r.at+n]...)
	r.at += n
	r.id++
	return r.path
}

func (r *pathReader) uvarint() int {
	b := r.t.paths[r.at]
	if b < 0x80 {
		r.at++
		return int(b)
	}
	v, n := binary.Uvarint(r.t.paths[r.at:])
	if n <= 0 || v > 1<<30 {
		panic("index: bad path length")
	}
	r.at += n
	return int(v)
}

// first returns the path at a restart, without a copy.
func (t *docTable) first(block int) []byte {
	r := pathReader{t: t, at: int(binary.LittleEndian.Uint32(t.restarts[4*block:]))}
	r.uvarint()
	n := r.uvarint()
	return t.paths[r.at : r.at+n]
}

// lowerBound returns the number of the first document whose path is not before path.
func (t *docTable) lowerBound(path []byte) int {
	blocks := len(t.restarts) / 4
	lo, hi := 0, blocks // first(block) is before path for all blocks below lo
	for lo < hi {
		mid := (lo + hi) / 2
		if bytes.Compare(t.first(mid), path) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0
	}
	r := pathReader{t: t}
	id := (lo - 1) * restartEvery
	r.seek(id)
	for ; id < min(lo*restartEvery, t.n); id++ {
		if bytes.Compare(r.next(), path) >= 0 {
			break
		}
	}
	return id
}

// find returns the number of the document with a path, or -1.
func (t *docTable) find(path []byte) int {
	id := t.lowerBound(path)
	if id == t.n {
		return -1
	}
	r := pathReader{t: t}
	r.seek(id)
	if !bytes.Equal(r.next(), path) {
		return -1
	}
	return id
}

// folder returns the range of documents below a folder. "" is the root.
func (t *docTable) folder(dir string) (lo, hi int) {
	if dir == "" {
		return 0, t.n
	}
	return t.lowerBound(append([]byte(dir), '/')), t.lowerBound(append([]byte(dir), '/'+1))
}
