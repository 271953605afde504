//go:build linux && !portable

package rootfs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"hash"
	"math"
	"sync"

	"golang.org/x/sys/unix"
)

// 256 KiB a step: the copy stays in the second-level cache between reading,
// hashing and writing.
const pourStep = 256 << 10

var pourPool = sync.Pool{New: func() any { return new([pourStep]byte) }}

// poured is what pour learned on the way.
type poured struct {
	old, new         Version
	oldSize, newSize int64
}

// knownContent is an old content the caller has in memory, with its version and
// the one the edits lead to.
type knownContent struct {
	old           []byte
	version, next Version
}

// pouring writes the edited content of one file into another in one pass over the
// old one, hashing both. Up to the first edit both are equal, so one hash is
// computed for both and then copied.
type pouring struct {
	r       *Root
	out     int
	off     int64
	buf     []byte // small pieces waiting to be written
	oldHash hash.Hash
	newHash hash.Hash // nil before the chunk of the first edit
	edited  bool      // the first edit was written: the hashes differ from here on
	written int64
	started int64 // up to here the disk has been told
	err     error
}

// pour reads old to its end and writes it, edited, to out at off. An old file
// that no longer has the given size is a conflict: edits were checked against it.
//
// With known, the old content is compared with it, which is ten times as fast as
// hashing, and the versions are the ones given.
func (r *Root) pour(old, out int, off, size int64, edits Edits, known *knownContent) (poured, error) {
	step := pourPool.Get().(*[pourStep]byte)
	defer pourPool.Put(step)
	p := &pouring{r: r, out: out, off: off, oldHash: sha256.New()}
	if known != nil {
		p.oldHash = nil
	}
	next, stop := ordered(edits, size)
	defer stop()
	fork := int64(math.MaxInt64)
	if next.ok {
		fork = next.head.Off
	}
	pos, skip := int64(0), int64(0) // skip: old bytes before it are dropped
	for {
		n, err := r.pread(old, step[:], pos)
		if err != nil {
			return poured{}, err
		}
		if n == 0 {
			break
		}
		chunk, end := step[:n], pos+int64(n)
		if known == nil {
			p.hashOld(chunk, fork-pos)
		} else if end > int64(len(known.old)) || !bytes.Equal(chunk, known.old[pos:end]) {
			return poured{}, errVersion
		}
		for next.ok && next.head.Off < end {
			e := next.head
			p.keep(chunk, pos, max(skip, pos), e.Off)
			p.put(e.Data)
			if skip = e.Off + e.Len; e.Len == ToEnd {
				skip = math.MaxInt64
			}
			next.advance()
		}
		if err := cmp.Or(next.err, p.err); err != nil {
			return poured{}, err
		}
		p.keep(chunk, pos, max(skip, pos), end)
		pos = end
	}
	if known == nil && p.newHash == nil && fork <= pos {
		p.fork()
	}
	for ; next.ok; next.advance() { // at the very end
		p.put(next.head.Data)
	}
	p.flush()
	if err := cmp.Or(next.err, p.err); err != nil {
		return poured{}, err
	}
	if pos != size {
		return poured{}, errMeanwhile
	}
	res := poured{oldSize: pos, newSize: p.written}
	if known != nil {
		res.old, res.new = known.version, known.next
		return res, nil
	}
	res.old = versionOfHash(p.oldHash)
	if res.new = res.old; p.newHash != nil {
		res.new = versionOfHash(p.newHash)
	}
	return res, nil
}

// hashOld adds to the hash of the old content. After the first at bytes the hash
// of the new content is separate.
func (p *pouring) hashOld(chunk []byte, at int64) {
	if p.newHash == nil && at >= 0 && at < int64(len(chunk)) {
		p.oldHash.Write(chunk[:at])
		p.fork()
		chunk = chunk[at:]
	}
	p.oldHash.Write(chunk)
}

func (p *pouring) fork() { p.newHash = cloneHash(p.oldHash) }

// keep passes on the old bytes [from, to) of a chunk that starts at pos.
func (p *pouring) keep(chunk []byte, pos, from, to int64) {
	if from >= to {
		return
	}
	b := chunk[from-pos : to-pos]
	if p.edited && p.newHash != nil {
		p.newHash.Write(b)
	}
	p.emit(b)
}

// put adds the new bytes of an edit.
func (p *pouring) put(b []byte) {
	p.edited = true
	if p.newHash != nil {
		p.newHash.Write(b)
	}
	p.emit(b)
}

func (p *pouring) emit(b []byte) {
	p.written += int64(len(b))
	if len(p.buf)+len(b) < pourStep/4 {
		p.buf = append(p.buf, b...)
		return
	}
	p.flush()
	p.write(b)
}

func (p *pouring) flush() {
	p.write(p.buf)
	p.buf = p.buf[:0]
}

func (p *pouring) write(b []byte) {
	if p.err == nil {
		p.err = p.r.pwriteAll(p.out, b, p.off)
	}
	p.off += int64(len(b))
	if p.off-p.started >= startStep {
		// The disk starts writing while we read on, so the sync takes less time.
		unix.SyncFileRange(p.out, p.started, p.off-p.started, unix.SYNC_FILE_RANGE_WRITE)
		p.started = p.off
	}
}

// startStep is how much is written before writing to disk is started.
const startStep = 8 << 20

// hashFD hashes size bytes of a file from off on; less is a conflict.
func (r *Root) hashFD(fd int, off, size int64) (Version, error) {
	return r.copyFD(fd, off, -1, 0, size)
}

// copyFD copies size bytes between files, unless to is -1, and hashes them.
func (r *Root) copyFD(from int, fromOff int64, to int, toOff, size int64) (Version, error) {
	step := pourPool.Get().(*[pourStep]byte)
	defer pourPool.Put(step)
	h := sha256.New()
	for done := int64(0); done < size; {
		n, err := r.pread(from, step[:min(pourStep, size-done)], fromOff+done)
		if err != nil {
			return Version{}, err
		}
		if n == 0 {
			return Version{}, errMeanwhile
		}
		h.Write(step[:n])
		if to >= 0 {
			if err := r.pwriteAll(to, step[:n], toOff+done); err != nil {
				return Version{}, err
			}
		}
		done += int64(n)
	}
	return versionOfHash(h), nil
}
