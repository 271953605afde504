package rootfs

import (
	"errors"
	"io"
	"sync"

	"quarry/fault"
)

// Mapping is the content of a file of our own state that is never modified after it gets
// its name. It exists in trusted roots only. If a mapped file is truncated, reading the
// mapping is a fault, so a user's file is mapped only as a View.
type Mapping struct {
	data  []byte
	unmap func() error
	once  sync.Once
	err   error
	file  *File // kept open if mapped, to detect writes
	mu    sync.Mutex
	info  Info // its state at the last check; guarded by mu
}

var (
	errNotOurs  = errors.New("only files of our own state folders are mapped")
	errMapEmpty = errors.New("empty file")
	errMapLarge = errors.New("file too large to map")
)

// Map returns the content of the file at p.
func (r *Root) Map(p Path) (*Mapping, error) {
	const op = "map"
	if r.policy.Policy != nil {
		return nil, &fault.PathError{Op: op, Path: p.String(), Kind: fault.InvalidArgument, Err: errNotOurs}
	}
	f, err := r.OpenFile(p)
	if err != nil {
		return nil, err
	}
	m, err := f.mapped()
	if err != nil {
		f.Close()
		return nil, Wrap(op, p.String(), err)
	}
	return m, nil
}

// mapped returns a mapping, which closes the file.
func (f *File) mapped() (*Mapping, error) {
	const op = "map"
	size := f.Info().Size
	if size <= 0 {
		return nil, &fault.PathError{Op: op, Kind: fault.InvalidArgument, Err: errMapEmpty}
	}
	if int64(int(size)) != size {
		return nil, &fault.PathError{Op: op, Kind: fault.TooLarge, Err: errMapLarge}
	}
	data, unmap, err := mapFile(f, int(size))
	if err != nil {
		return nil, err
	}
	m := &Mapping{data: data, unmap: unmap, file: f, info: f.Info()}
	if !reallyMaps {
		m.file = nil
		return m, f.Close()
	}
	return m, nil
}

// ReadAt reads the content from the file, because accessed pages of the mapping count as
// memory of the process.
func (m *Mapping) ReadAt(b []byte, off int64) (int, error) {
	if m.file != nil {
		return m.file.ReadAt(b, off)
	}
	if off < 0 || off > int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(b, m.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Touched reports whether the file was written to, truncated or otherwise changed since
// it was mapped, or since the last call that returned true. If so, the content has to be
// checked again. It costs one system call. A removed name also counts as a change.
func (m *Mapping) Touched() bool {
	if m.file == nil {
		return false // the content is a copy
	}
	now, err := m.file.Stat()
	if err != nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	same := now.Size == m.info.Size && now.ModTime.Equal(m.info.ModTime) && now.ChangeTime.Equal(m.info.ChangeTime)
	m.info = now
	return !same
}

// Bytes returns the content, which is valid until Close and must not be changed.
func (m *Mapping) Bytes() []byte { return m.data }

// Forget releases the memory of accessed pages, which can be read again. It must not be
// called after Close.
func (m *Mapping) Forget() {
	if m.file != nil {
		forgetPages(m.data)
	}
}

// Close releases the memory. Closing twice is harmless.
func (m *Mapping) Close() error {
	m.once.Do(func() {
		m.err = m.unmap()
		if m.file != nil {
			m.err = errors.Join(m.err, m.file.Close())
		}
	})
	return m.err
}
