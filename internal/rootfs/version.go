package rootfs

import (
	"errors"
	"io"

	"quarry/fault"
	"quarry/internal/rootfs/version"
)

// Version identifies a file's content.
type Version = version.Version

var (
	errGrew     = errors.New("the file is larger than allowed")
	errUnstable = errors.New("the file kept changing while it was read")
)

// readTries is how often a file that changes while it is read is read again.
const readTries = 4

// maxWhole is the largest file that ReadFile reads if the caller sets no limit.
const maxWhole = 1 << 30

// ReadFile reads the regular file at p, of at most limit bytes; a limit of 0 or less means
// 1 GiB. The bytes, the version and the info belong together: a file that changed during the
// read is read again. If it keeps changing, the error is Conflict.
func (r *Root) ReadFile(p Path, limit int64) ([]byte, Version, Info, error) {
	data, info, err := r.ReadContent(p, limit)
	if err != nil {
		return nil, Version{}, Info{}, err
	}
	return data, version.Of(data), info, nil
}

// ReadContent is ReadFile without the version, for callers that hash the
// content themselves; see version.SumOf.
func (r *Root) ReadContent(p Path, limit int64) ([]byte, Info, error) {
	if limit <= 0 {
		limit = maxWhole
	}
	for range readTries {
		f, err := r.OpenFile(p)
		if err != nil {
			return nil, Info{}, err
		}
		data, err := f.readAll(p.String(), limit)
		before := f.Info()
		after, statErr := f.Stat()
		f.Close()
		if err != nil {
			return nil, Info{}, err
		}
		if statErr != nil {
			return nil, Info{}, statErr
		}
		if Unchanged(before, after) && after.Size == int64(len(data)) {
			return data, after, nil
		}
	}
	return nil, Info{}, &fault.PathError{Op: "read", Path: p.String(), Kind: fault.Conflict, Err: errUnstable}
}

// ReadVersion is ReadFile for a caller that needs only the version: the content
// may have any size.
func (r *Root) ReadVersion(p Path) (Version, Info, error) {
	for range readTries {
		v, before, after, err := r.hashFile(p)
		if err != nil {
			return Version{}, Info{}, err
		}
		if Unchanged(before, after) {
			return v, after, nil
		}
	}
	return Version{}, Info{}, &fault.PathError{Op: "read", Path: p.String(), Kind: fault.Conflict, Err: errUnstable}
}

func (r *Root) hashFile(p Path) (v Version, before, after Info, err error) {
	f, err := r.OpenFile(p)
	if err != nil {
		return v, before, after, err
	}
	defer f.Close()
	h := version.NewHash()
	// A file that grows as fast as it is read would have no end.
	if _, err := io.CopyBuffer(h, io.LimitReader(f, f.Info().Size+1), make([]byte, 256<<10)); err != nil {
		return v, before, after, Wrap("read", p.String(), err)
	}
	after, err = f.Stat()
	return h.Version(), f.Info(), after, err
}

// Unchanged reports whether the fields that a write changes are equal. It can miss a write within one tick of
// the file system's clock, so Replace doesn't rely on it and compares hashes.
func Unchanged(a, b Info) bool {
	return a.Size == b.Size && a.ModTime.Equal(b.ModTime) && (b.ChangeTime.IsZero() || a.ChangeTime.Equal(b.ChangeTime))
}

// readAll reads the whole file, even if it grows.
func (f *File) readAll(shown string, limit int64) ([]byte, error) {
	tooLarge := &fault.PathError{Op: "read", Path: shown, Kind: fault.TooLarge, Err: errGrew}
	size := f.Info().Size
	if size > limit {
		return nil, tooLarge
	}
	// With room for one more byte, the last read detects the end.
	data := make([]byte, 0, size+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, tooLarge
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, Wrap("read", shown, err)
		}
	}
}
