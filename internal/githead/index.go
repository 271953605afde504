package githead

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"hash/maphash"
	"io"
	"time"
)

// stamp has the data by which git detects changes of a file: the lower 32 bits of each
// value.
type stamp struct{ mtime, mnano, ctime, cnano, ino, size uint32 }

// stamps records which path had which content at which stamp, according to the index. It
// keeps only a 128-bit hash of each entry, with random seeds. The entries themselves, of
// a hundred bytes each, would take 100 MB for a million files.
type stamps struct {
	seeds [2]maphash.Seed
	sums  map[[2]uint64]struct{}
}

func (s *stamps) sum(path, id string, at stamp) [2]uint64 {
	var b [24]byte
	for i, v := range [...]uint32{at.mtime, at.mnano, at.ctime, at.cnano, at.ino, at.size} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	var sum [2]uint64
	for i, seed := range s.seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		h.Write(b[:])
		h.WriteString(id)
		h.WriteString(path)
		sum[i] = h.Sum64()
	}
	return sum
}

// maxStamps limits the entries kept from an index; each takes 40 bytes. Further files are
// compared by content. maxIndex limits how many bytes are read.
const (
	maxStamps = 1_000_000
	maxIndex  = 1 << 30
)

// readIndex reads git's index. Unreadable parts are skipped; see the package comment.
func (r *Repo) readIndex(ctx context.Context) error {
	r.known = stamps{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, sums: map[[2]uint64]struct{}{}}
	p, err := r.git.Own.Known("index")
	if err != nil {
		return nil
	}
	f, err := r.git.Own.OpenFile(p)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Info().Size > maxIndex {
		return nil
	}
	r.parseIndex(bufio.NewReaderSize(&reader{ctx.Err, io.LimitReader(f, maxIndex)}, 64<<10), f.Info().ModTime)
	return ctx.Err()
}

// parseIndex parses the entries of an index in version 2, 3 or 4, written at the given time.
func (r *Repo) parseIndex(in *bufio.Reader, written time.Time) {
	var head [12]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || string(head[:4]) != "DIRC" {
		return
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 {
		return
	}
	fixed := make([]byte, 40+r.idSize()+2)
	before := []byte{}
	for range min(count, maxStamps) {
		if _, err := io.ReadFull(in, fixed); err != nil {
			return
		}
		var at stamp
		for i, to := range []*uint32{&at.ctime, &at.cnano, &at.mtime, &at.mnano, nil, &at.ino, nil, nil, nil, &at.size} {
			if to != nil {
				*to = binary.BigEndian.Uint32(fixed[4*i:])
			}
		}
		flags := binary.BigEndian.Uint16(fixed[len(fixed)-2:])
		size := len(fixed)
		if version >= 3 && flags&0x4000 != 0 {
			if n, err := in.Discard(2); err != nil {
				return
			} else {
				size += n
			}
		}
		var ok bool
		if before, ok = entryPath(in, size, version, before); !ok || len(before) == 0 {
			return
		}
		// Skip conflicts, which have several entries, and files written in the same clock
		// tick as the index or later, which may have changed without a new stamp.
		if flags>>12&3 == 0 && time.Unix(int64(at.mtime), int64(at.mnano)).Before(written) {
			r.known.sums[r.known.sum(string(before), string(fixed[40:40+r.idSize()]), at)] = struct{}{}
		}
	}
}

// entryPath reads an entry's path and padding, after the entry's first head bytes. In
// version 4 the prefix shared with the previous path is omitted.
func entryPath(in *bufio.Reader, head int, version uint32, before []byte) ([]byte, bool) {
	drop := len(before)
	if version == 4 {
		drop = 0
		for i := 0; ; i++ {
			c, err := in.ReadByte()
			if err != nil || i > 4 {
				return nil, false
			}
			if drop = drop<<7 | int(c&0x7f); c&0x80 == 0 {
				break
			}
			drop++
		}
	}
	tail, err := in.ReadSlice(0) // at most 64 KB
	if err != nil || drop > len(before) {
		return nil, false
	}
	n := len(tail) - 1
	path := append(before[:len(before)-drop], bytes.TrimSuffix(tail, []byte{0})...)
	if version < 4 {
		if _, err := in.Discard((head+n+8)&^7 - (head + n + 1)); err != nil {
			return nil, false
		}
	}
	return path, len(path) <= 64<<10
}

// trusts reports whether the index has a file's present stamp with the content id.
func (r *Repo) trusts(f *File, id string) bool {
	m, c := f.ModTime, f.ChangeTime
	_, ok := r.known.sums[r.known.sum(f.Path, id, stamp{
		uint32(m.Unix()), uint32(m.Nanosecond()), uint32(c.Unix()), uint32(c.Nanosecond()), uint32(f.Ino), uint32(f.Size),
	})]
	return ok
}
