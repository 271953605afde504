package rootfs

import (
	"errors"
	"sync"
)

// Mapping is the content of a file of our own state that is never written to
// once it has its name. It exists in trusted roots only: someone who truncates
// a mapped file kills whoever reads it, so a user's file is never mapped.
type Mapping struct {
	data  []byte
	unmap func() error
	once  sync.Once
	err   error
}

var (
	errNotOurs  = errors.New("only files of our own state folders are mapped")
	errMapEmpty = errors.New("empty file")
	errMapLarge = errors.New("file too large to map")
)

// Map gives the content of the file at p.
func (r *Root) Map(p Path) (*Mapping, error) {
	const op = "map"
	if r.policy != nil {
		return nil, &Error{Op: op, Path: p.String(), Kind: InvalidArgument, Err: errNotOurs}
	}
	f, err := r.OpenFile(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := f.Info().Size
	if size <= 0 {
		return nil, &Error{Op: op, Path: p.String(), Kind: InvalidArgument, Err: errMapEmpty}
	}
	if int64(int(size)) != size {
		return nil, &Error{Op: op, Path: p.String(), Kind: TooLarge, Err: errMapLarge}
	}
	data, unmap, err := mapFile(f, int(size))
	if err != nil {
		return nil, wrap(op, p.String(), err)
	}
	return &Mapping{data: data, unmap: unmap}, nil
}

// Bytes returns the content, which is valid until Close and must not be changed.
func (m *Mapping) Bytes() []byte { return m.data }

// Close gives the memory back. Closing twice is harmless.
func (m *Mapping) Close() error {
	m.once.Do(func() { m.err = m.unmap() })
	return m.err
}
