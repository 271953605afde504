//go:build linux

package linux

import (
	"bytes"
	"cmp"
	"math"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/version"
)

// With 256 KiB per step, the data stays in the second-level cache between reading, hashing
// and writing.
const pourStep = 256 << 10

var pourPool = sync.Pool{New: func() any { return new([pourStep]byte) }}

// Poured is the result of Pour.
type Poured struct {
	Old, New         version.Version
	OldSize, NewSize int64
}

// Known is the old content, if the caller has it in memory, with its version and the
// version after the edits.
type Known struct {
	Old           []byte
	Version, Next version.Version
}

// pouring writes the edited content of one file to another in one pass, and hashes the old
// and the new content. They are equal up to the first edit, so until then there is one hash,
// which is then cloned.
type pouring struct {
	c       *Calls
	out     int
	off     int64
	buf     []byte // small pieces not yet written
	oldHash version.Hash
	newHash version.Hash // valid if forked
	forked  bool         // newHash was cloned, at the first edit
	edited  bool         // the first edit was written
	written int64
	started int64 // writing to disk was started up to this offset
	err     error
}

// Pour reads old to its end and writes its edited content to out at off. If old no longer
// has the given size, for which the edits were checked, the error is ErrMeanwhile.
//
// If known is given, the old content is compared with it, which is ten times as fast as
// hashing, and the result has the versions of known.
func (c *Calls) Pour(old, out int, off, size int64, edits version.Edits, known *Known) (Poured, error) {
	step := pourPool.Get().(*[pourStep]byte)
	defer pourPool.Put(step)
	p := &pouring{c: c, out: out, off: off}
	if known == nil {
		p.oldHash = version.NewHash()
	}
	next, stop := version.Ordered(edits, size)
	defer stop()
	fork := int64(math.MaxInt64)
	if next.OK {
		fork = next.Head.Off
	}
	pos, skip := int64(0), int64(0) // old bytes before skip were replaced
	for {
		n, err := c.Pread(old, step[:], pos)
		if err != nil {
			return Poured{}, err
		}
		if n == 0 {
			break
		}
		chunk, end := step[:n], pos+int64(n)
		if known == nil {
			p.hashOld(chunk, fork-pos)
		} else if end > int64(len(known.Old)) || !bytes.Equal(chunk, known.Old[pos:end]) {
			return Poured{}, file.ErrVersion
		}
		for next.OK && next.Head.Off < end {
			e := next.Head
			p.keep(chunk, pos, max(skip, pos), e.Off)
			p.put(e.Data)
			if skip = e.Off + e.Len; e.Len == version.ToEnd {
				skip = math.MaxInt64
			}
			next.Advance()
		}
		if err := cmp.Or(next.Err, p.err); err != nil {
			return Poured{}, err
		}
		p.keep(chunk, pos, max(skip, pos), end)
		pos = end
	}
	if known == nil && !p.forked && fork <= pos {
		p.fork()
	}
	for ; next.OK; next.Advance() { // edits at the end of the file
		p.put(next.Head.Data)
	}
	p.flush()
	if err := cmp.Or(next.Err, p.err); err != nil {
		return Poured{}, err
	}
	if pos != size {
		return Poured{}, file.ErrMeanwhile
	}
	res := Poured{OldSize: pos, NewSize: p.written}
	if known != nil {
		res.Old, res.New = known.Version, known.Next
		return res, nil
	}
	res.Old = p.oldHash.Version()
	if res.New = res.Old; p.forked {
		res.New = p.newHash.Version()
	}
	return res, nil
}

// hashOld hashes a chunk of the old content. The first edit is at offset at of the chunk, if
// that is inside.
func (p *pouring) hashOld(chunk []byte, at int64) {
	if !p.forked && at >= 0 && at < int64(len(chunk)) {
		p.oldHash.Write(chunk[:at])
		p.fork()
		chunk = chunk[at:]
	}
	p.oldHash.Write(chunk)
}

func (p *pouring) fork() { p.newHash, p.forked = p.oldHash.Clone(), true }

// keep adds the old bytes [from, to) to the new content. They are in chunk, which starts at
// pos.
func (p *pouring) keep(chunk []byte, pos, from, to int64) {
	if from >= to {
		return
	}
	b := chunk[from-pos : to-pos]
	if p.edited && p.forked {
		p.newHash.Write(b)
	}
	p.emit(b)
}

// put adds the new bytes of an edit.
func (p *pouring) put(b []byte) {
	p.edited = true
	if p.forked {
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
		p.err = p.c.PwriteAll(p.out, b, p.off)
	}
	p.off += int64(len(b))
	if p.off-p.started >= startStep {
		// Start writing to disk while we continue reading, so that the sync takes less time.
		unix.SyncFileRange(p.out, p.started, p.off-p.started, unix.SYNC_FILE_RANGE_WRITE)
		p.started = p.off
	}
}

// startStep is the number of bytes after which writing to disk is started.
const startStep = 8 << 20

// Hash returns the version of size bytes at off. If there are fewer, the error is ErrMeanwhile.
func (c *Calls) Hash(fd int, off, size int64) (version.Version, error) {
	return c.Copy(fd, off, -1, 0, size)
}

// Copy copies size bytes between files, unless to is -1, and hashes them.
func (c *Calls) Copy(from int, fromOff int64, to int, toOff, size int64) (version.Version, error) {
	step := pourPool.Get().(*[pourStep]byte)
	defer pourPool.Put(step)
	h := version.NewHash()
	for done := int64(0); done < size; {
		n, err := c.Pread(from, step[:min(pourStep, size-done)], fromOff+done)
		if err != nil {
			return version.Version{}, err
		}
		if n == 0 {
			return version.Version{}, file.ErrMeanwhile
		}
		h.Write(step[:n])
		if to >= 0 {
			if err := c.PwriteAll(to, step[:n], toOff+done); err != nil {
				return version.Version{}, err
			}
		}
		done += int64(n)
	}
	return h.Version(), nil
}

// VersionAt returns the version of the first size bytes of an entry.
func (c *Calls) VersionAt(dir int, name string, size int64) (version.Version, error) {
	fd, err := Openat(dir, name, FlagsFile, 0)
	if err != nil {
		return version.Version{}, err
	}
	defer syscall.Close(fd)
	return c.Hash(fd, 0, size)
}

// ReadFull fills b with content at off, which ends at limit.
func (c *Calls) ReadFull(fd int, b []byte, off, limit int64) (int, error) {
	if off >= limit {
		return 0, nil
	}
	b = b[:min(int64(len(b)), limit-off)]
	done := 0
	for done < len(b) {
		n, err := c.Pread(fd, b[done:], off+int64(done))
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		done += n
	}
	return done, nil
}

// Holds verifies that a file has a content of this size and version.
func (c *Calls) Holds(fd int, size int64, want version.Version) error {
	info, err := c.FDInfo(fd)
	if err != nil {
		return err
	}
	if info.Size != size {
		return file.ErrMeanwhile
	}
	v, err := c.Hash(fd, 0, size)
	if err != nil {
		return err
	}
	if v != want {
		return file.ErrMeanwhile
	}
	return nil
}
