package searcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textfile"
	"quarry/search"
)

// streamFrom is the size above which a file is read in pieces, so that only the requested
// part of a 1 GB log, or of a very long line, is kept in memory.
const streamFrom = 4 << 20

// errWhole is returned for a file that can only be decoded as a whole.
var errWhole = errors.New("its encoding needs the whole file")

// readLarge is Read in bounded memory. It returns errWhole for UTF-16.
func (d *Folder) readLarge(ctx context.Context, p rootfs.Path, opts *search.ReadOptions) (*search.Text, error) {
	const tries = 4
	for range tries {
		f, err := d.Root.OpenFile(p)
		if err != nil {
			return nil, err
		}
		s := &sieve{opts: opts, sum: version.NewHash(), line: 1}
		before := f.Info()
		err = s.all(ctx, f)
		after, statErr := f.Stat()
		f.Close()
		if err = errors.Join(err, statErr); err != nil {
			var binary *textfile.BinaryError
			if errors.As(err, &binary) {
				binary.Size = before.Size
				return nil, fmt.Errorf("%s: %w", fault.Printable(p.String()), err)
			}
			return nil, err
		}
		if before.Size == after.Size && before.ModTime.Equal(after.ModTime) && before.ChangeTime.Equal(after.ChangeTime) && s.size == after.Size {
			return s.text(p.String()), nil
		}
	}
	return nil, &fault.PathError{Op: "read", Path: p.String(), Kind: fault.Conflict, Err: errors.New("the file kept changing while it was read")}
}

// sieve selects lines of a text that arrives in pieces, and collects facts about the
// whole text.
type sieve struct {
	opts    *search.ReadOptions
	sum     version.Hash
	kind    textfile.Detector
	endings textfile.EndingCounter
	size    int64
	line    int      // number of the current line
	open    bool     // part of the line has arrived
	kept    [][]byte // requested lines, undecoded, without line endings
	bytes   int
	full    bool // there is more than requested
	goOn    bool // the last kept line is incomplete
}

func (s *sieve) all(ctx context.Context, r io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			first := s.size == 0
			s.piece(buf[:n])
			if k := s.kind.Kind(); first && (k.Encoding == textfile.UTF16LE || k.Encoding == textfile.UTF16BE) {
				return errWhole
			} else if first && k.Binary {
				return &textfile.BinaryError{Type: textfile.BinaryType(buf[:n])}
			}
		}
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if k := s.kind.Kind(); k.Binary {
		return &textfile.BinaryError{Type: textfile.BinaryType(nil)}
	}
	return nil
}

func (s *sieve) piece(b []byte) {
	s.size += int64(len(b))
	s.sum.Write(b)
	s.kind.Write(b)
	s.endings.Write(b)
	for len(b) > 0 {
		if s.full || s.line < s.opts.Start {
			b = s.pass(b)
			continue
		}
		i := bytes.IndexByte(b, '\n')
		part, rest := b, []byte(nil)
		if i >= 0 {
			part, rest = b[:i], b[i+1:]
		}
		if s.keep(part); i >= 0 {
			s.end()
		} else {
			s.open = true
		}
		b = rest
	}
}

// pass counts and discards the lines before the first requested one. It returns the rest
// of b.
func (s *sieve) pass(b []byte) []byte {
	if s.full {
		s.line += bytes.Count(b, []byte{'\n'})
		s.open = b[len(b)-1] != '\n'
		return nil
	}
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		s.open = true
		return nil
	}
	s.line, s.open = s.line+1, false
	return b[i+1:]
}

// slack is extra room in a line for a byte order mark.
const slack = 8

// keep adds to the current line.
func (s *sieve) keep(part []byte) {
	o := s.opts
	if !s.goOn {
		if o.End > 0 && s.line > o.End || o.MaxLines > 0 && len(s.kept) > o.MaxLines || o.MaxBytes > 0 && s.bytes > o.MaxBytes+slack {
			s.full = true
			return
		}
		s.kept, s.goOn = append(s.kept, nil), true
	}
	if o.MaxBytes > 0 { // one byte more for a carriage return that may be part of the line ending
		part = part[:min(len(part), max(o.MaxBytes+2*slack-s.bytes, 0))]
	}
	last := &s.kept[len(s.kept)-1]
	*last = append(*last, part...)
	s.bytes += len(part)
}

// end handles the line feed after the current line.
func (s *sieve) end() {
	if s.goOn {
		last := &s.kept[len(s.kept)-1]
		*last = bytes.TrimSuffix(*last, []byte{'\r'})
		s.bytes++
	}
	s.line, s.open, s.goOn = s.line+1, false, false
}

// text returns the requested lines and the facts about the text.
func (s *sieve) text(path string) *search.Text {
	kind := s.kind.Kind()
	t := &search.Text{
		Path: path, Total: s.line, Encoding: kind.Encoding.String(), Ending: s.endings.Endings().String(),
		First: max(s.opts.Start, 1), Version: s.sum.Version().String(),
	}
	if !s.open {
		t.Total--
	}
	if len(s.kept) > 0 && s.opts.Start <= 1 {
		s.kept[0] = bytes.TrimPrefix(s.kept[0], []byte(kind.Encoding.BOM()))
	}
	size := 0
	for i, raw := range s.kept {
		if s.opts.End > 0 && t.First+i > s.opts.End {
			break
		}
		if !kind.Encoding.IsUTF8() {
			raw, _ = kind.Encoding.AppendDecoded(nil, raw, true)
		}
		if !addLine(t, string(raw), &size, s.opts) {
			break
		}
	}
	return t
}
