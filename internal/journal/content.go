package journal

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/splice"
)

// maxInline is the size of the largest content stored in the log itself, where it needs
// no sync of its own. Larger contents are not compressed either.
const maxInline = 1 << 20

// maxDeflated is the largest size of data that is compressed: a list of edits.
const maxDeflated = 2*maxInline + headLen

type codec uint8

const (
	plain codec = iota
	deflated
)

// minDeflate is the smallest size that is compressed. Below it, the header costs more
// than compression saves.
const minDeflate = 256

var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // fails only for unknown levels
	return w
}}

// squeeze returns data in its stored form. BestSpeed reduces source text to a third and
// takes about as long as hashing. Data that doesn't shrink by at least an eighth is
// stored uncompressed.
func squeeze(data []byte) ([]byte, codec) {
	if len(data) < minDeflate {
		return data, plain
	}
	var b bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&b)
	if _, err := w.Write(data); err != nil || w.Close() != nil || b.Len() > len(data)-len(data)/8 {
		return data, plain
	}
	return b.Bytes(), deflated
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// inflate decompresses stored to exactly size bytes.
func inflate(stored io.Reader, size int64) ([]byte, error) {
	in := inflaters.Get().(io.Reader)
	defer inflaters.Put(in)
	if err := in.(flate.Resetter).Reset(stored, nil); err != nil || size < 0 || size > maxDeflated {
		return nil, errors.Join(errBody, err)
	}
	// size may be damaged, so the buffer grows with the bytes read.
	var b bytes.Buffer
	b.Grow(int(min(size, 64<<10)))
	if n, err := io.Copy(&b, io.LimitReader(in, size+1)); err != nil || n != size {
		return nil, errors.Join(errBody, err)
	}
	return b.Bytes(), nil
}

// source reads the contents of one entry. It keeps the files open, so they remain
// readable even if the entry is dropped.
type source struct {
	seg  *rootfs.Log
	pack *rootfs.File
	blob func(id string) ([]byte, error)
}

func (s *source) close() error {
	var errs []error
	if s.seg != nil {
		errs = append(errs, s.seg.Close())
	}
	if s.pack != nil {
		errs = append(errs, s.pack.Close())
	}
	return errors.Join(errs...)
}

// open returns a reader of the content at r. At the end it returns ErrDamaged instead of
// io.EOF if the content does not have the version want.
func (s *source) open(r ref, want rootfs.Version) (io.Reader, error) {
	var at io.ReaderAt
	if r.src != nil {
		s = r.src
	}
	switch {
	case r.place == inGit:
		if s.blob == nil {
			return nil, errNoGit
		}
		data, err := s.blob(r.git)
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", errNoGit, err)
		}
		at, r.stored = bytes.NewReader(data), int64(len(data))
	case r.place == inSegment && s.seg != nil:
		at = s.seg
	case r.place == inPack && s.pack != nil:
		at = s.pack
	case r.place == nowhere, r.place == asEdits:
		return nil, ErrNotKept
	default:
		return nil, fmt.Errorf("%w: a file with stored contents is missing", ErrDamaged)
	}
	var in io.Reader = io.NewSectionReader(at, r.off, r.stored)
	if r.codec == deflated {
		data, err := inflate(in, r.size)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		in = bytes.NewReader(data)
	}
	return &verifying{in: in, h: version.NewHash(), left: r.size, want: want}, nil
}

// read returns a whole content and verifies its version.
func (s *source) read(r ref, want rootfs.Version, limit int64) ([]byte, error) {
	if r.size > limit {
		return nil, &TooLargeError{r.size, limit}
	}
	in, err := s.open(r, want)
	if err != nil {
		return nil, err
	}
	// The recorded size may be damaged, so the buffer grows with the bytes read.
	var b bytes.Buffer
	b.Grow(int(min(r.size, maxInline)))
	if _, err := io.Copy(&b, in); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var errNoGit = fault.New(fault.NotFound, "git does not have a content that this change needs any more", "git may have removed it; undo the other files by their names")

// edits returns edits that replace a file's whole content, block by block.
func (s *source) edits(r ref, want rootfs.Version) rootfs.Edits {
	return func(yield func(rootfs.Edit, error) bool) {
		in, err := s.open(r, want)
		buf := make([]byte, min(256<<10, max(r.size, 0)+1))
		for err == nil {
			var n int
			if n, err = in.Read(buf); n > 0 && !yield(rootfs.Edit{Data: buf[:n]}, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(rootfs.Edit{}, err)
			return
		}
		yield(rootfs.Edit{Len: rootfs.ToEnd}, nil)
	}
}

type verifying struct {
	in   io.Reader
	h    version.Hash
	left int64
	want rootfs.Version
	err  error
}

func (v *verifying) Read(b []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	if v.left == 0 {
		v.err = io.EOF
		if v.h.Version() != v.want {
			v.err = fmt.Errorf("%w: kept content does not have its hash", ErrDamaged)
		}
		return 0, v.err
	}
	n, err := v.in.Read(b[:min(int64(len(b)), v.left)])
	v.h.Write(b[:n])
	v.left -= int64(n)
	if err != nil && (v.left > 0 || err != io.EOF) {
		v.err = fmt.Errorf("%w: %w", ErrDamaged, err)
		return n, v.err
	}
	return n, nil
}

// encodeDiff encodes edits of the old content. It returns nil if that takes more than
// maxInline bytes.
func encodeDiff(id ID, op int, edits []rootfs.Edit) []byte {
	size := 0
	for _, e := range edits {
		size += len(e.Data)
	}
	if size > maxInline {
		return nil
	}
	var e encoder
	e.str(string(id))
	e.num(uint64(op))
	e.edits(edits)
	return e.b
}

// diffHead reads a diff record's entry id and operation index.
func diffHead(b []byte) (ID, int, error) {
	d := &decoder{b: b}
	id, op := d.id(), int(min(d.num(), maxRecord))
	return id, op, d.err
}

// decodeDiff applies a diff record to the old content.
func decodeDiff(b, old []byte) ([]byte, error) {
	d := &decoder{b: b}
	d.id()
	d.num()
	edits := d.edits()
	if err := d.end(); err != nil {
		return nil, err
	}
	return spliced(old, edits)
}

// spliced applies edits. It checks them first, because a damaged record may have
// unordered or overlapping ones.
func spliced(old []byte, edits []rootfs.Edit) ([]byte, error) {
	if !ordered(edits, int64(len(old))) {
		return nil, errBody
	}
	list := make([]splice.Splice, len(edits))
	for i, e := range edits {
		list[i] = splice.Splice{Span: splice.Span{Start: int(e.Off), End: int(e.Off + e.Len)}, New: string(e.Data)}
	}
	return splice.Apply(old, list)
}

// ordered reports whether edits are sorted, don't overlap, and are within size bytes.
func ordered(edits []rootfs.Edit, size int64) bool {
	at := int64(0)
	for _, e := range edits {
		if e.Off < at || e.Len < 0 || e.Off > size || e.Len > size-e.Off {
			return false
		}
		at = e.Off + e.Len
	}
	return true
}

// span returns the single edit that changes old to new.
func span(old, new []byte) []rootfs.Edit {
	p, s := splice.Ends(old, new)
	return []rootfs.Edit{{Off: int64(p), Len: int64(len(old) - p - s), Data: new[p : len(new)-s]}}
}
