package changer

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// source is a file being edited. A small file is read into memory. A large one is read
// several times, a page at a time, so its plan is valid only if the file does not change
// meanwhile. This is checked when the plan is made and, by the file's hash, when it is
// carried out.
type source struct {
	path    rootfs.Path
	info    rootfs.Info
	version rootfs.Version
	text    *textfile.Text
	notText error // why the file is not text
	stop    func() error

	data []byte       // the content of a small file
	sum  *version.Sum // the hash of data; version is set with it

	file    *rootfs.File // set for a large file
	running *version.RunningSum
}

// largeFile is the size above which a file is not read into memory. Most source files are
// much smaller, so they are read only once.
const largeFile = 4 << 20

// stopOf returns a function that returns an error once the context is done.
func stopOf(ctx context.Context) func() error {
	return func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
}

// maxHeld limits the file contents of a set that are kept in memory until it is carried
// out.
const maxHeld = 64 << 20

// open reads a file to be edited, or only opens it if it is large. The planner's close
// closes it.
func (p *planner) open(ctx context.Context, path rootfs.Path) (*source, error) {
	info, err := p.w.root.Stat(path)
	if err == nil && info.Type == rootfs.TypeFile && (info.Size > p.w.largeFrom || p.held+info.Size > maxHeld) {
		return p.openLarge(ctx, path)
	}
	data, info, err := p.w.root.ReadContent(path, maxRead)
	if err != nil {
		return nil, err
	}
	p.held += int64(len(data))
	return &source{path: path, info: info, data: data, sum: version.SumOf(data), stop: stopOf(ctx)}, nil
}

func (p *planner) openLarge(ctx context.Context, path rootfs.Path) (*source, error) {
	f, err := p.w.root.OpenFile(path)
	if err != nil {
		return nil, err
	}
	p.opened = append(p.opened, f)
	s := &source{path: path, info: f.Info(), file: f, running: version.NewRunningSum(), stop: stopOf(ctx)}
	s.text, s.notText = textfile.Scan(f, s.info.Size, s.running)
	s.version = s.running.Version()
	if s.text != nil {
		s.text.StopWith(s.stop)
	}
	if s.notText != nil {
		var binary *textfile.BinaryError
		if !errors.As(s.notText, &binary) {
			return nil, fmt.Errorf("edit %s: %w", fault.Printable(path.String()), s.notText)
		}
		if s.version, s.info, err = p.w.root.ReadVersion(path); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Version returns the version of the file.
func (s *source) Version() rootfs.Version {
	if s.sum != nil {
		return s.sum.Version()
	}
	return s.version
}

// Text returns the file's text, or an error if the file is not text.
func (s *source) Text() (*textfile.Text, error) {
	if s.text == nil && s.notText == nil {
		doc, err := document(s.path, s.data)
		if err != nil {
			return nil, err
		}
		s.text = textfile.InMemory(doc)
		s.text.StopWith(s.stop)
	}
	if s.notText != nil {
		return nil, fmt.Errorf("%s: %w", s.path, s.notText)
	}
	return s.text, nil
}

// isBlob reports whether id is git's id of the content, possibly abbreviated. git may
// store a file with \r\n under the id of the same text with \n.
func (s *source) isBlob(id string) bool {
	if len(id) < 7 {
		return false
	}
	is := func(size int64, from io.Reader) bool {
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", size)
		_, err := io.Copy(h, from)
		return err == nil && strings.HasPrefix(hex.EncodeToString(h.Sum(nil)), strings.ToLower(id))
	}
	if s.file != nil {
		return is(s.info.Size, io.NewSectionReader(s.file, 0, s.info.Size))
	}
	if is(int64(len(s.data)), bytes.NewReader(s.data)) {
		return true
	}
	plain := bytes.ReplaceAll(s.data, []byte("\r\n"), []byte("\n"))
	return len(plain) < len(s.data) && is(int64(len(plain)), bytes.NewReader(plain))
}

// checkUnchanged returns a conflict if a large file was modified since it was opened.
func (s *source) checkUnchanged() error {
	if s.file == nil {
		return nil
	}
	now, err := s.file.Stat()
	if err != nil {
		return err
	}
	if !rootfs.Unchanged(s.info, now) {
		return s.conflict()
	}
	return nil
}

func (s *source) conflict() error {
	return &fault.PathError{Op: "edit", Path: s.path.String(), Kind: fault.Conflict, Err: errChangedMeanwhile}
}

var errChangedMeanwhile = errors.New("the file was changed while the edit was worked out")

// edits returns an iterator over the edits of a change, with offsets in the file. It
// computes them each time it is used.
func edits(edited *textedit.Change) rootfs.Edits {
	return func(yield func(rootfs.Edit, error) bool) {
		for s := range edited.Joined() {
			if !yield(rootfs.Edit{Off: s.Start, Len: s.End - s.Start, Data: s.New}, nil) {
				return
			}
		}
		if err := edited.Text().Err(); err != nil {
			yield(rootfs.Edit{}, err)
		}
	}
}

// Within these limits, the edits are kept as a list. The journal then stores the list
// instead of the content, and the edits are not computed again for writing.
const (
	maxEdits     = 4096
	maxEditBytes = 1 << 20
)

// fewEdits returns the edits of a change as a list if they are within the limits.
func fewEdits(edited *textedit.Change) (list []rootfs.Edit, ok bool) {
	size := int64(0)
	for s := range edited.Splices() {
		if size += int64(len(s.New)); len(list) == maxEdits || size > maxEditBytes {
			return nil, false
		}
		list = append(list, rootfs.Edit{Off: s.Start, Len: s.End - s.Start, Data: s.New})
	}
	return list, true
}

// edited returns the version that the file will have after a change.
func (s *source) edited(c *textedit.Change, list []rootfs.Edit) (rootfs.Version, error) {
	if s.sum != nil && list != nil {
		return s.sum.Edited(list), nil
	}
	var first int64
	for sp := range c.Splices() {
		first = sp.Start
		break
	}
	h, at := version.NewHash(), int64(0)
	if s.running != nil {
		h, at = s.running.From(first)
	}
	for b := range c.PiecesFrom(at) {
		h.Write(b)
	}
	return h.Version(), c.Text().Err()
}

// step returns the step that writes the file's new content if it still has the version
// that was read. shown holds the hunks of the diff.
func (s *source) step(w *Changer, c *textedit.Change, shown string) (step, error) {
	list, ok := fewEdits(c)
	next, err := s.edited(c, list)
	if err == nil {
		err = s.checkUnchanged()
	}
	if err != nil {
		return step{}, err
	}
	version := s.Version()
	op := journal.Op{Kind: journal.Replace, Path: s.path, Old: version, New: next, OldData: s.data, Shown: shown}
	if ok {
		op.Edits = list
		if s.file != nil {
			s.file.Close() // a set may have many files; and some systems can't replace an open file
		}
		return step{op: op, do: func(*journal.Tx) error {
			_, err := w.root.Splice(s.path, list, version, &rootfs.ReplaceOptions{Old: s.data, Want: next})
			return err
		}}, nil
	}
	if s.data != nil && c.Size() <= maxEditBytes {
		op.NewData = c.Bytes() // for a later diff
	}
	return step{op: op, do: func(*journal.Tx) error {
		_, err := w.root.Rewrite(s.path, edits(c), version, &rootfs.ReplaceOptions{Old: s.data, Want: next})
		if rootfs.KindOf(err) == fault.InvalidArgument {
			// The file was modified after the plan was made.
			return errors.Join(s.conflict(), err)
		}
		return err
	}}, nil
}
