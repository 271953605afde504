package searcher

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/textfile"
	"quarry/search"
)

var errRange = fault.New(fault.InvalidArgument, "invalid range of lines", "")

// Stat describes the file at a path. If no file has exactly this path, but exactly one
// has it in another case, Stat describes that file.
func (d *Folder) Stat(ctx context.Context, path string) (*search.Info, error) {
	if _, err := d.present(ctx); err != nil {
		return nil, err
	}
	p, err := d.Root.Resolve(path)
	folded := err != nil
	var info rootfs.Info
	if !folded {
		info, err = d.Root.Stat(p)
	}
	if err != nil { // the case may be different
		if p, err = d.Root.ResolveFold(path); err != nil {
			return nil, err
		}
		if info, err = d.Root.Stat(p); err != nil {
			return nil, err
		}
		exact, err := d.Root.Resolve(path)
		folded = err != nil || exact != p
	}
	return &search.Info{
		Path: p.String(), Folded: folded, Folder: info.Type == rootfs.TypeDir, Special: info.Type == rootfs.TypeOther,
		Size: info.Size, ModTime: info.ModTime, Created: info.BirthTime,
	}, nil
}

// checkedRead adds defaults to options, or returns an error if they are invalid.
func checkedRead(o *search.ReadOptions) (*search.ReadOptions, error) {
	if o == nil {
		return &search.ReadOptions{}, nil
	}
	if o.Start < 0 || o.End < 0 || o.End > 0 && o.Start > o.End {
		return nil, fmt.Errorf("%w: %d to %d", errRange, o.Start, o.End)
	}
	return o, nil
}

// maxRead is the size of the largest file read into memory.
const maxRead = 1 << 30

// Read returns lines of a text file.
func (d *Folder) Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error) {
	opts, err := checkedRead(opts)
	if err != nil {
		return nil, err
	}
	if _, err := d.present(ctx); err != nil {
		return nil, err
	}
	p, err := d.Root.ResolveFold(path)
	if err != nil {
		return nil, err
	}
	if info, err := d.Root.Stat(p); err == nil && info.Size >= streamFrom {
		if t, err := d.readLarge(ctx, p, opts); !errors.Is(err, errWhole) {
			return t, err
		}
	}
	data, version, _, err := d.Root.ReadFile(p, maxRead)
	if err != nil {
		return nil, err
	}
	return readText(p.String(), data, version, opts)
}

// readText returns the requested lines of a file's content.
func readText(path string, data []byte, version rootfs.Version, opts *search.ReadOptions) (*search.Text, error) {
	doc, err := textfile.New(data)
	var binary *textfile.BinaryError
	if errors.As(err, &binary) {
		return nil, fmt.Errorf("%s: %w", fault.Printable(path), err)
	}
	if err != nil {
		return nil, err
	}
	t := &search.Text{
		Path: path, Total: doc.Lines().Count(), Version: version.String(),
		Encoding: doc.Encoding().String(), Ending: textfile.CountEndings(doc.Text()).String(),
	}
	fill(t, doc, opts)
	return t, nil
}

// fill adds the requested lines.
func fill(t *search.Text, doc *textfile.Document, opts *search.ReadOptions) {
	t.First = max(opts.Start, 1)
	last := t.Total
	if opts.End > 0 {
		last = min(last, opts.End)
	}
	size := 0
	for n, line := range doc.Lines().From(t.First) {
		if n > last {
			break
		}
		if !addLine(t, string(doc.Text()[line.Start:line.Content]), &size, opts) {
			break
		}
	}
}

// addLine adds a line within the limits and reports whether another may follow. size is
// the total size of the lines so far.
func addLine(t *search.Text, text string, size *int, opts *search.ReadOptions) bool {
	if opts.MaxLines > 0 && len(t.Lines) == opts.MaxLines {
		t.Cut = true
		return false
	}
	if opts.MaxBytes > 0 && *size+len(text)+1 > opts.MaxBytes {
		t.Cut = true
		if len(t.Lines) == 0 {
			t.Lines = append(t.Lines, strings.Clone(cutText(text, opts.MaxBytes)))
			t.CutLine = true
		}
		return false
	}
	*size += len(text) + 1
	t.Lines = append(t.Lines, text)
	return true
}

// cutText cuts s to at most the given number of bytes, between characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}

// ReadBytes returns the unmodified contents of any file. It refuses files larger than max
// bytes; 0 means 1 GiB.
func (d *Folder) ReadBytes(ctx context.Context, path string, max int64) ([]byte, error) {
	if _, err := d.present(ctx); err != nil {
		return nil, err
	}
	p, err := d.Root.ResolveFold(path)
	if err != nil {
		return nil, err
	}
	data, _, err := d.Root.ReadContent(p, max)
	return data, err
}
