package githead

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"time"
)

// File is a file to compare with the last commit.
type File struct {
	Path                string // relative to the top of the repository, with slashes
	Mode                fs.FileMode
	Size                int64
	ModTime, ChangeTime time.Time
	Ino                 uint64
	// Open opens the file for reading.
	Open func() (io.ReadCloser, error)
}

// Same reports whether a file is unchanged since the last commit.
func (r *Repo) Same(ctx context.Context, f *File) (bool, error) {
	at, ok, err := r.committed(ctx, f.Path)
	if err != nil || !ok {
		return false, err
	}
	if at.mode&0o170000 != 0o100000 || r.mode && (at.mode&0o100 != 0) != (f.Mode&0o100 != 0) {
		return false, nil
	}
	if r.trusts(f, at.id) {
		return true, nil
	}
	id, pairs, err := r.idOf(ctx, f, 0)
	if err != nil || id == at.id || pairs == 0 || !r.crlf {
		return err == nil && id == at.id, err
	}
	// Git may have converted line endings: compare again with \r\n as \n.
	id, _, err = r.idOf(ctx, f, pairs)
	return err == nil && id == at.id, err
}

// idOf returns git's id of a file's content, and the number of \r\n in it. If drop equals
// that number, the id is computed without the \r of these.
func (r *Repo) idOf(ctx context.Context, f *File, drop int64) (id string, pairs int64, err error) {
	in, err := f.Open()
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	h := r.newHash()
	h.Write([]byte("blob " + strconv.FormatInt(f.Size-drop, 10) + "\x00"))
	from := &reader{ctx.Err, io.LimitReader(in, f.Size+1)}
	buf := make([]byte, 64<<10)
	read := int64(0)
	held := false // the previous block ended with a \r that is not yet hashed
	for {
		n, err := from.Read(buf)
		b := buf[:n]
		read += int64(n)
		if held && n > 0 {
			if held = false; b[0] == '\n' {
				pairs++
			}
			if b[0] != '\n' || drop == 0 {
				h.Write([]byte{'\r'})
			}
		}
		if n > 0 && b[n-1] == '\r' {
			held, b = true, b[:n-1]
		}
		for drop > 0 {
			i := bytes.Index(b, []byte("\r\n"))
			if i < 0 {
				break
			}
			pairs++
			h.Write(b[:i])
			b = b[i+1:]
		}
		if drop == 0 {
			pairs += int64(bytes.Count(b, []byte("\r\n")))
		}
		h.Write(b)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", 0, err
		}
	}
	if held {
		h.Write([]byte{'\r'})
	}
	if read != f.Size || drop > 0 && pairs != drop {
		return "", 0, errors.New("the file changed while it was read")
	}
	return string(h.Sum(nil)), pairs, nil
}
