package rootfs

import (
	"errors"
	"io"
	"os"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/lock"
)

// Log is a file of our own state that grows at its end and can be locked. It exists in
// trusted roots only. Its methods may be called concurrently.
type Log struct {
	f    *os.File
	path string
	root *Root
}

var errNotTrusted = errors.New("a log can only be kept in one of our own state folders")

// OpenLog opens the log at p for reading and appending. With create, a missing log is
// made with mode 0600 and a durable name.
func (r *Root) OpenLog(p Path, create bool) (*Log, error) {
	const op = "open"
	if r.policy.Policy != nil {
		return nil, &fault.PathError{Op: op, Path: p.String(), Kind: fault.InvalidArgument, Err: errNotTrusted}
	}
	if create {
		if err := r.editable(op, p, false); err != nil {
			return nil, err
		}
	}
	f, err := r.openLog(p, create)
	if err != nil {
		return nil, Wrap(op, p.String(), err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = file.ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, Wrap(op, p.String(), err)
	}
	return &Log{f: f, path: p.String(), root: r}, nil
}

// Hold opens the log called name, creating it if it is missing, and locks it for this process alone. Without
// wait the log is nil if another process holds it. A held log shows that its process is running; the lock
// ends with the process, however that ends. See Held.
func (r *Root) Hold(name string, wait bool) (*Log, error) {
	l, err := r.OpenLog(r.Own(name), true)
	if err != nil {
		return nil, err
	}
	held := true
	if wait {
		err = l.Lock(true)
	} else {
		held, err = l.TryLock(true)
	}
	if err != nil || !held {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Held reports whether a running process holds the log called name.
func (r *Root) Held(name string) (bool, error) {
	p, err := r.Known(name)
	if err != nil {
		return false, nil // no log can have this name
	}
	l, err := r.OpenLog(p, false)
	if err != nil {
		if KindOf(err) == fault.NotFound {
			return false, nil
		}
		return false, err
	}
	free, err := l.TryLock(true)
	return !free, errors.Join(err, l.Close())
}

// Size returns the current length.
func (l *Log) Size() (int64, error) {
	st, err := l.f.Stat()
	if err != nil {
		return 0, Wrap("stat", l.path, err)
	}
	return st.Size(), nil
}

// ReadAt implements io.ReaderAt.
func (l *Log) ReadAt(b []byte, off int64) (int, error) {
	n, err := l.f.ReadAt(b, off)
	if err == io.EOF {
		return n, err
	}
	return n, Wrap("read", l.path, err)
}

// Append writes b at the end. The caller holds the lock, and size is the current length. A failed write is
// truncated.
func (l *Log) Append(b []byte, size int64) error {
	err := l.root.appendLog(l.f, b, size)
	if err == nil {
		return nil
	}
	return Wrap("append", l.path, errors.Join(err, l.root.truncateLog(l.f, size)))
}

// Truncate cuts the log to size.
func (l *Log) Truncate(size int64) error {
	return Wrap("truncate", l.path, l.root.truncateLog(l.f, size))
}

// Sync makes appended data durable.
func (l *Log) Sync() error { return Wrap("sync", l.path, l.root.syncLog(l.f)) }

// Lock waits for the lock on the file, shared or exclusive. Locks belong to this
// Log and end with it, even if the process dies.
func (l *Log) Lock(exclusive bool) error {
	_, err := lock.Take(l.f, exclusive, true)
	return Wrap("lock", l.path, err)
}

// TryLock takes the lock unless another holder has it.
func (l *Log) TryLock(exclusive bool) (bool, error) {
	ok, err := lock.Take(l.f, exclusive, false)
	return ok, Wrap("lock", l.path, err)
}

// Unlock releases the lock.
func (l *Log) Unlock() error { return Wrap("unlock", l.path, lock.Release(l.f)) }

// Close releases the log and its lock. Closing twice is harmless.
func (l *Log) Close() error {
	if err := l.f.Close(); !errors.Is(err, os.ErrClosed) {
		return Wrap("close", l.path, err)
	}
	return nil
}
