// Package content turns the bytes of a file into the text that is searched:
// unpacked, decoded from an encoding, or made by a program.
//
// A Maker opens nothing: it gets the bytes from whoever has opened the file, inside
// the sandbox. It runs no program that its options don't name, but for the
// unpackers that -z stands for. A Maker is safe for concurrent use.
package content

import (
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// Options say what is done, in this order: a program, or else unpacking, and then
// decoding.
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
// program has complained about.
func (m *Maker) Text(path string, r io.Reader) (io.ReadCloser, error) {
	text := io.NopCloser(r)
	var err error
	switch {
	case m.o.Command != "" && (m.o.Wanted == nil || m.o.Wanted(path)):
		text, err = run(exec.Command(m.o.Command, path), r)
	case m.o.Zip:
		text, err = unpack(path, r)
	}
	if err != nil || m.enc == nil {
		return text, err
	}
	return &decoded{transform.NewReader(text, m.enc.NewDecoder()), text}, nil
}

// decoded is a text in UTF-8.
type decoded struct {
	io.Reader
	from io.Closer
}

func (d *decoded) Close() error { return d.from.Close() }

// unpackers are programs by the ends of names. gzip and bzip2 need none.
var unpackers = map[string][]string{
	".xz": {"xz", "-dc"}, ".txz": {"xz", "-dc"}, ".lzma": {"xz", "--format=lzma", "-dc"},
	".lz4": {"lz4", "-dc"}, ".br": {"brotli", "-dc"}, ".zst": {"zstd", "-q", "-dc"}, ".zstd": {"zstd", "-q", "-dc"},
	".Z": {"uncompress", "-c"},
}

func unpack(name string, r io.Reader) (io.ReadCloser, error) {
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
		return run(exec.Command(command[0], command[1:]...), r)
	}
}

// program is the output of a program that runs.
type program struct {
	cmd   *exec.Cmd
	out   io.ReadCloser
	says  strings.Builder
	ended bool // the output was read to its end
}

func run(cmd *exec.Cmd, in io.Reader) (io.ReadCloser, error) {
	p := &program{cmd: cmd}
	cmd.Stdin, cmd.Stderr = in, &limited{&p.says}
	var err error
	if p.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *program) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	p.ended = p.ended || err == io.EOF
	return n, err
}

// Close ends a program nobody reads any more; one that has failed by itself is an
// error with what it said.
func (p *program) Close() error {
	ended := p.ended
	if !ended {
		p.cmd.Process.Kill()
	}
	p.out.Close()
	err := p.cmd.Wait()
	if err == nil || !ended {
		return nil
	}
	if says := strings.TrimSpace(p.says.String()); says != "" {
		return fmt.Errorf("%s: %w: %s", p.cmd.Path, err, says)
	}
	return fmt.Errorf("%s: %w", p.cmd.Path, err)
}

// limited keeps the beginning of what a program complains about.
type limited struct{ to *strings.Builder }

func (l *limited) Write(b []byte) (int, error) {
	if room := 1024 - l.to.Len(); room > 0 {
		l.to.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
