// Package activity records a line for each tool call, so that a person can see what each
// agent does.
//
// Each server appends to its own file, of at most 1 MB, in a private folder of the state
// folder that only its user can read. Lines are kept for a day. Nothing leaves the
// machine. A line contains no answer and no file contents, only the short arguments that
// describe the call, clipped, except those that name a closed file.
package activity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"quarry/internal/rootfs"
)

// Call is one tool call.
type Call struct {
	Time    time.Time `json:"t"` // when it began
	Client  string    `json:"client"`
	Session string    `json:"session,omitempty"`
	Tool    string    `json:"tool"`
	About   string    `json:"about,omitempty"`
	Millis  int64     `json:"ms"`
	Bytes   int       `json:"bytes"` // of the answer
	Error   string    `json:"error,omitempty"`
}

const (
	// Kept is how long a line is kept.
	Kept = 24 * time.Hour
	// maxFile is the size above which the older half of a file is dropped.
	maxFile = 1 << 20
	maxLine = 1000
	ending  = ".calls"
)

// Server records the calls of one server.
type Server struct {
	root *rootfs.Root
	path rootfs.Path
	now  func() time.Time

	mu    sync.Mutex
	since time.Time // of the oldest line; guarded by mu
}

// Open prepares to write in dir, which must exist. The first call creates the file;
// expired files are removed.
func Open(dir string) (*Server, error) {
	root, err := open(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{root: root, now: time.Now}
	if s.path, err = root.Known(fmt.Sprintf("%d-%d%s", os.Getpid(), time.Now().UnixNano(), ending)); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	expire(root, time.Now())
	return s, nil
}

func open(dir string) (*rootfs.Root, error) {
	return rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
}

// Close closes the folder. The lines remain.
func (s *Server) Close() error { return s.root.Close() }

// Called records a call that has ended. Write errors are ignored: recording never fails a
// call.
func (s *Server) Called(c Call) {
	line, err := json.Marshal(c)
	if err != nil || len(line) > maxLine {
		return
	}
	line = append(line, '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	// Opened for each call, because expired files are removed.
	log, err := s.root.OpenLog(s.path, true)
	if err != nil {
		return
	}
	defer log.Close()
	if log.Lock(true) != nil { // it may be purged meanwhile
		return
	}
	size, err := log.Size()
	if err != nil {
		return
	}
	if size == 0 {
		s.since = c.Time
	}
	if size+int64(len(line)) > maxFile || s.now().Sub(s.since) > Kept {
		if size, err = s.shorten(log, size); err != nil {
			return
		}
	}
	_ = log.Append(line, size)
}

// shorten drops expired lines and, if the file is still too large, its older half. The
// caller holds mu and the lock.
func (s *Server) shorten(log *rootfs.Log, size int64) (int64, error) {
	data := make([]byte, size)
	if _, err := log.ReadAt(data, 0); err != nil {
		return 0, errors.Join(err, log.Truncate(0))
	}
	if size > maxFile/2 {
		data = data[size-maxFile/2:]
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n') + 1
		var c Call
		if end > 0 && json.Unmarshal(data[:end], &c) == nil && s.now().Sub(c.Time) <= Kept {
			s.since = c.Time
			break
		}
		end = cmp.Or(end, len(data))
		data = data[end:]
	}
	if len(data) == 0 {
		s.since = s.now()
	}
	if err := log.Truncate(0); err != nil {
		return 0, err
	}
	return int64(len(data)), log.Append(data, 0)
}

// files lists the files of a folder.
func files(root *rootfs.Root) []rootfs.Path {
	top, err := root.OpenDir(rootfs.Path{})
	if err != nil {
		return nil
	}
	defer top.Close()
	entries, err := top.Read(nil)
	if err != nil {
		return nil
	}
	var list []rootfs.Path
	for _, e := range entries {
		if p, err := root.Known(e.Name); err == nil && strings.HasSuffix(e.Name, ending) {
			list = append(list, p)
		}
	}
	return list
}

// expire removes files whose last line has expired.
func expire(root *rootfs.Root, now time.Time) {
	for _, p := range files(root) {
		if info, err := root.Stat(p); err == nil && now.Sub(info.ModTime) > Kept {
			empty(root, p)
			_ = root.Remove(p)
		}
	}
}

// empty truncates a file while its server is not writing.
func empty(root *rootfs.Root, p rootfs.Path) {
	log, err := root.OpenLog(p, false)
	if err != nil {
		return
	}
	defer log.Close()
	if log.Lock(true) == nil {
		_ = log.Truncate(0)
	}
}

// Purge removes all lines in a folder.
func Purge(dir string) error {
	root, err := open(dir)
	if err != nil {
		return err
	}
	for _, p := range files(root) {
		empty(root, p)
	}
	return root.Close()
}
