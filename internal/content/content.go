// Package content turns the bytes of a file into the text that is searched:
// unpacked, decoded from an encoding, or made by a program.
//
// A Maker opens nothing: its caller opens the file inside the sandbox and passes the
// bytes. It runs only programs that its options name, and with -z the known
// unpackers; none outlives its context. A Maker is safe for
// concurrent use.
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

// Options say what is done: first a program or unpacking, then decoding.
type Options struct {
	Zip      bool   // unpack files by the end of their name
	Encoding string // a label as browsers know them; "" and auto leave the text as it is
	// Command gets the path as its argument and the bytes on its standard input; its
	// standard output is the text. Only files that Wanted accepts go to it.
	Command string
	Wanted  func(path string) bool // nil wants all
}

// Maker makes texts.
type Maker struct {
	o   Options
	enc encoding.Encoding // nil leaves the text as it is
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

// Text gives the text of a file that is shown as path. Closing it reports what a
// program has complained about. When ctx is done, a program is killed with the
// processes it started, and reading and closing return the error of ctx.
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

// decoded is a text in UTF-8.
type decoded struct {
	io.Reader
	from io.Closer
}

func (d *decoded) Close() error { return d.from.Close() }

// unpackers are programs by the extension of a name. gzip and bzip2 need none.
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
			return nil, fmt.Errorf("to unpack it takes the program %s", command[0])
		}
		return run(ctx, r, command[0], command[1:]...)
	}
}
