package profile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// readAnswer is the answer of read_file.
type readAnswer struct {
	foundPath
	Start    int      `json:"start_line"`
	End      int      `json:"end_line"`
	Total    int      `json:"total_lines"`
	Cut      bool     `json:"truncated,omitempty"`
	Version  string   `json:"version"`
	Encoding string   `json:"encoding"`
	Ending   string   `json:"line_ending"`
	Lines    []string `json:"lines"`
	remark
}

const readSchema = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"},"end_line":{"type":"integer"},"total_lines":{"type":"integer"},"truncated":{"type":"boolean"},"version":{"type":"string"},"encoding":{"type":"string"},"line_ending":{"type":"string"},"lines":{"type":"array","items":{"type":"string"}},"image":{"type":"object"},"files":{"type":"array","items":{"type":"object"}},"not_read":{"type":"array","items":{"type":"string"}},` + noteSchema + `}}`

var readFile = action{readSchema, readOnly, read}

func read(ctx context.Context, c *call) (*answer, error) {
	if c.Given("paths") {
		return c.readMany(ctx)
	}
	path, err := c.givenPath(ctx, "path")
	if err != nil {
		if c.takes("paths") {
			err = invalid("path or paths is required and must be a non-empty string or list.")
		}
		return nil, err
	}
	return c.readOne(ctx, path, c.d.limits.readBytes)
}

// readOne reads a file, with so many bytes of text at most.
func (c *call) readOne(ctx context.Context, path string, most int) (*answer, error) {
	start, end := c.Int("start_line"), c.Int("end_line")
	if end > 0 && start > end {
		return nil, invalid("The lines asked for end at %d, before they start at %d.", end, start)
	}
	if c.Given("tail") && (start > 0 || end > 0) {
		return nil, invalid("tail can't be used together with start_line and end_line.")
	}
	if name := c.String("symbol"); name != "" {
		if start > 0 || end > 0 || c.Given("tail") {
			return nil, invalid("Give a symbol or lines, not both.")
		}
		if _, err := c.ws.Stat(ctx, path); err == nil {
			if start, end, err = c.symbolLinesOf(ctx, path, name); err != nil {
				return nil, err
			}
		}
	}
	t, err := c.readText(ctx, path, start, end, most)
	if err != nil {
		return c.unread(ctx, err, path)
	}
	if start > max(t.Total, 1) {
		return nil, &tool.Error{Code: tool.InvalidArgument, Message: (&change.LineError{Line: start, Count: t.Total}).Error()}
	}
	data := &readAnswer{
		foundPath: pathOf(t.Path), Start: t.First, End: t.First + len(t.Lines) - 1, Total: t.Total, Cut: t.Cut,
		Version: t.Version, Encoding: t.Encoding, Ending: t.Ending, Lines: append([]string{}, t.Lines...),
	}
	a := &answer{text: render.Lines(nil, t, start, end), data: data}
	a.receipt = []string{"version " + render.Version(t.Version)}
	if t.Encoding != "utf-8" {
		a.receipt = append(a.receipt, t.Encoding)
	}
	if t.Ending == "crlf" || t.Ending == "mixed" {
		a.receipt = append(a.receipt, "line endings "+t.Ending)
	}
	switch {
	case t.CutLine:
		a.receipt = append(a.receipt, fmt.Sprintf("line %d is longer than what is shown", t.First))
	case t.Cut:
		rest := ""
		if end > 0 {
			rest = fmt.Sprintf(",\"end_line\":%d", end)
		}
		a.receipt = append(a.receipt, fmt.Sprintf("next: read_file {\"path\":%s,\"start_line\":%d%s}", jsonText(t.Path), data.End+1, rest))
	}
	return a, nil
}

// readText reads lines, for tail the last ones. The number of lines is known
// only after the file was read. A file that changes meanwhile is read again.
func (c *call) readText(ctx context.Context, path string, start, end, most int) (*search.Text, error) {
	opts := &search.ReadOptions{Start: start, End: end, MaxLines: c.d.limits.readLines, MaxBytes: most}
	tail := c.Int("tail")
	if tail == 0 {
		return c.ws.Read(ctx, path, opts)
	}
	all, err := c.ws.Read(ctx, path, &search.ReadOptions{Start: 1, End: 1, MaxLines: 1, MaxBytes: 1})
	for range 3 {
		if err != nil {
			return nil, err
		}
		opts.Start = max(all.Total-min(tail, c.d.limits.readLines)+1, 1)
		version := all.Version
		if all, err = c.ws.Read(ctx, path, opts); err == nil && all.Version == version {
			break
		}
	}
	return all, err
}

// unread is the answer for a file without text: its picture, or an error.
func (c *call) unread(ctx context.Context, err error, path string) (*answer, error) {
	var binary *fault.BinaryError
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, &tool.Error{Code: tool.NotFound, Message: "File not found: " + quoted(render.Clip(path, maxShown)), Hint: c.missing(ctx, path)}
	case c.isFolder(ctx, path):
		return nil, c.folderError(path)
	case errors.As(err, &binary) && c.d.images:
		if a := c.image(ctx, path); a != nil {
			return a, nil
		}
	}
	return nil, err
}

// maxImage is the largest picture that is shown: what models take.
const maxImage = 3 << 20

// imageAnswer is the answer of read_file for a picture.
type imageAnswer struct {
	foundPath
	Image tool.Image `json:"image"`
	remark
}

// image shows a file as the picture it is, or is nil.
func (c *call) image(ctx context.Context, path string) *answer {
	data, err := c.ws.ReadBytes(ctx, path, maxImage)
	if err != nil {
		return nil
	}
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil
	}
	img := tool.Image{MIMEType: kind, Data: data}
	return &answer{
		text: []byte("Image " + render.Path(path) + " (" + kind + ", " + render.Size(int64(len(data))) + ")."),
		data: &imageAnswer{foundPath: pathOf(path), Image: img}, images: []tool.Image{img},
	}
}

// maxPaths is how many files one call reads.
const maxPaths = 50

// manyAnswer is the answer of read_file for several files. A file that can't be
// read has an error instead of a text.
type manyAnswer struct {
	Files   []any    `json:"files"`
	NotRead []string `json:"not_read,omitempty"`
	remark
}

// readMany reads several files under one budget.
func (c *call) readMany(ctx context.Context) (*answer, error) {
	paths := c.Strings("paths")
	switch {
	case c.Given("path"), c.Given("start_line"), c.Given("end_line"):
		return nil, invalid("paths can't be used together with path, start_line and end_line.")
	case len(paths) == 0:
		return nil, invalid("paths must name at least one file.")
	case len(paths) > maxPaths:
		return nil, invalid("paths must be at most %d files, not %d", maxPaths, len(paths))
	}
	data, most := &manyAnswer{Files: []any{}}, c.d.limits.readBytes
	a := &answer{data: data}
	for i, p := range paths {
		if len(a.text) >= most {
			data.NotRead = paths[i:]
			break
		}
		if i > 0 {
			a.text = append(a.text, "\n\n"...)
		}
		p = c.clean(ctx, p)
		a.text = fmt.Appendf(a.text, "## %s\n", render.Path(p))
		one, err := c.readOne(ctx, p, most-len(a.text))
		if err != nil {
			var known *tool.Error
			if !errors.As(c.problem(ctx, err), &known) {
				return nil, err
			}
			a.text = append(a.text, strings.TrimRight(known.Text(), "\n")...)
			data.Files = append(data.Files, map[string]any{"path": render.Path(p), "error": known})
			continue
		}
		a.text = append(a.text, one.text...)
		if len(one.receipt) > 0 {
			a.text = append(a.text, "\n["+strings.Join(one.receipt, "; ")+"]"...)
		}
		a.images = append(a.images, one.images...)
		data.Files = append(data.Files, one.data)
	}
	if len(data.NotRead) > 0 {
		rest, err := marshal(data.NotRead, "")
		if err != nil {
			return nil, err
		}
		a.receipt = append(a.receipt, fmt.Sprintf("cut at %d KB; next: read_file {\"paths\":%s}", most>>10, rest))
	}
	return a, nil
}

// jsonText is a path as an argument.
func jsonText(path string) string {
	b, err := marshal(render.Path(path), "")
	if err != nil {
		return `""`
	}
	return string(b)
}
