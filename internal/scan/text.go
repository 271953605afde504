package scan

import (
	"bytes"
	"io"

	"quarry/internal/textfile"
)

// text reads a file as UTF-8: unchanged but without its byte order mark, or decoded from
// UTF-16. Invalid UTF-8 is passed through, and lines with it are searched again (see
// oddLines).
type text struct {
	r      io.Reader
	size   int64 // according to the file system
	binary bool  // don't stop at binary content
	asIs   bool  // don't decode

	read    int64 // number of bytes read
	nul     int64 // offset of the first NUL, plus 1; 0 if there is none
	started bool
	ended   bool
	enc     textfile.Encoding
	raw     []byte // undecoded bytes of a UTF-16 file
	pending int    // number of bytes in raw
}

// fill appends text to dst, up to its capacity. At the end of the file it returns io.EOF,
// possibly together with text. For a binary file it returns errBinary.
func (t *text) fill(dst []byte) ([]byte, error) {
	if t.started && !t.enc.IsUTF8() && t.enc != textfile.Windows1252 {
		return t.fillDecoded(dst)
	}
	room := dst[len(dst):cap(dst)]
	if !t.started && t.size > 0 && t.size < int64(len(room)) {
		room = room[:t.size+1] // the extra byte detects the end without another read
	}
	n, err := t.get(room)
	if err != nil && err != io.EOF {
		return dst, err
	}
	if t.started {
		return dst[:len(dst)+n], err
	}
	// The encoding is determined from the first block, so it must be large enough.
	for err == nil && n < min(textfile.SniffLen, len(room)) {
		var more int
		more, err = t.get(room[n:])
		n += more
	}
	if err != nil && err != io.EOF {
		return dst, err
	}
	return t.start(dst, room[:n], err)
}

func (t *text) start(dst, first []byte, err error) ([]byte, error) {
	t.started = true
	kind := textfile.SniffForm(first)
	if t.asIs {
		kind = textfile.Kind{Encoding: textfile.UTF8, Binary: bytes.IndexByte(first, 0) >= 0}
	}
	if kind.Binary {
		if !t.binary {
			return dst, errBinary
		}
		kind.Encoding = textfile.UTF8
		t.nul = 1 + int64(bytes.IndexByte(first, 0))
	}
	t.enc = kind.Encoding
	switch t.enc {
	case textfile.UTF16LE, textfile.UTF16BE:
		t.raw = append(t.raw[:0], first[len(t.enc.BOM()):]...)
		t.pending = len(t.raw)
		return t.fillDecoded(dst)
	case textfile.UTF8BOM:
		n := copy(first, first[len(t.enc.BOM()):])
		return dst[:len(dst)+n], err
	}
	return dst[:len(dst)+len(first)], err
}

// fillDecoded decodes as much as certainly fits in dst, since two bytes become up to
// three.
func (t *text) fillDecoded(dst []byte) ([]byte, error) {
	room := (cap(dst) - len(dst)) / 3 * 2
	if room < 8 {
		return dst, nil
	}
	t.raw = t.raw[:t.pending]
	for len(t.raw) < room && !t.ended {
		if cap(t.raw) < room {
			t.raw = append(make([]byte, 0, room), t.raw...)
		}
		n, err := t.get(t.raw[len(t.raw):room])
		if err != nil && err != io.EOF {
			return dst, err
		}
		t.raw = t.raw[:len(t.raw)+n]
	}
	part := t.raw[:min(room, len(t.raw))]
	last := t.ended && len(part) == len(t.raw)
	dst, used := t.enc.AppendDecoded(dst, part, last)
	t.pending = copy(t.raw, t.raw[used:])
	if last {
		return dst, io.EOF
	}
	return dst, nil
}

// get reads once and, if possible, detects the end of the file.
func (t *text) get(b []byte) (int, error) {
	if t.ended {
		return 0, io.EOF
	}
	n, err := t.r.Read(b)
	t.read += int64(n)
	if err == nil && n < len(b) && t.read == t.size {
		err = io.EOF
	}
	t.ended = err == io.EOF
	return n, err
}
