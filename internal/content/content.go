// Package content turns the bytes of a file into the text to search: unpacked, decoded
// from an encoding, or produced by a program.
//
// A Maker opens no files: its caller opens the file inside the sandbox and passes the
// bytes. It runs only programs that its options name and, with -z, the known unpackers;
// none outlives its context. A Maker is safe for concurrent use.
package content

import (
	"compress/bzip2"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Options select the steps: a program or unpacking, then decoding.
type Options struct {
	Zip      bool   // unpack files according to their extension
	Encoding string // an encoding label of the WHATWG; "" and auto leave the text unchanged
	// Command gets the path as its argument and the bytes on standard input, and writes
	// the text to standard output. It runs only for files that Wanted accepts.
	Command string
	Wanted  func(path string) bool // nil accepts all
}

// Maker produces texts.
type Maker struct {
	o   Options
	enc encoding.Encoding // nil leaves the text unchanged
}

// New checks the options.
func New(o Options) (*Maker, error) {
	m := &Maker{o: o}
	if o.Encoding != "" && o.Encoding != "auto" {
		enc, err := htmlindex.Get(o.Encoding)
		if err != nil || enc == encoding.Replacement {
			return nil, fmt.Errorf("unknown encoding %q: give a label as browsers know them, such as utf-16le, latin1, sjis or euc-jp", o.Encoding)
		}
		m.enc = enc
	}
	if o.Command != "" {
		if _, err := exec.LookPath(o.Command); err != nil {
			return nil, fmt.Errorf("no program %q: %w", o.Command, err)
		}
	}
	return m, nil
}

// Text returns the text of the file shown as path. Close reports the program's error
// messages. When ctx is done, the program is killed with the processes it started, and
// reading and closing return ctx's error.
func (m *Maker) Text(ctx context.Context, path string, r io.Reader) (io.ReadCloser, error) {
	text := io.NopCloser(r)
	var err error
	switch {
	case m.o.Command != "" && (m.o.Wanted == nil || m.o.Wanted(path)):
		text, err = run(ctx, r, m.o.Command, path)
	case m.o.Zip:
		text, err = unpack(ctx, path, r)
	}
	if err != nil || m.enc == nil {
		return text, err
	}
	return &decoded{transform.NewReader(text, unicode.BOMOverride(m.enc.NewDecoder())), text}, nil
}

// decoded converts a text to UTF-8.
type decoded struct {
	io.Reader
	from io.Closer
}

func (d *decoded) Close() error { return d.from.Close() }

// unpackers maps extensions to programs. gzip and bzip2 files need no program.
var unpackers = map[string][]string{
	".xz": {"xz", "-dc"}, ".txz": {"xz", "-dc"}, ".lzma": {"xz", "--format=lzma", "-dc"},
	".lz4": {"lz4", "-dc"}, ".br": {"brotli", "-dc"}, ".zst": {"zstd", "-q", "-dc"}, ".zstd": {"zstd", "-q", "-dc"},
	".Z": {"uncompress", "-c"},
}

func unpack(ctx context.Context, name string, r io.Reader) (io.ReadCloser, error) {
	switch ext := path.Ext(name); ext {
	case ".gz", ".tgz":
		return gzip.NewReader(r)
	case ".bz2", ".tbz2":
		return io.NopCloser(bzip2.NewReader(r)), nil
	default:
		command, ok := unpackers[ext]
		if !ok {
			return io.NopCloser(r), nil
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			return nil, fmt.Errorf("unpacking requires the program %s", command[0])
		}
		return run(ctx, r, command[0], command[1:]...)
	}
}
