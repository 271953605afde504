package profile

import (
	"context"
	"fmt"

	"quarry"
	"quarry/internal/render"
	"quarry/tool"
)

// What read_file shows at most.
const (
	readLines = 2000
	readBytes = 100 << 10
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

const readSchema = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"},"end_line":{"type":"integer"},"total_lines":{"type":"integer"},"truncated":{"type":"boolean"},"version":{"type":"string"},"encoding":{"type":"string"},"line_ending":{"type":"string"},"lines":{"type":"array","items":{"type":"string"}},` + noteSchema + `},"required":["path","start_line","end_line","total_lines","version","lines"]}`

func readFile(e *env) *tool.Tool {
	return e.make(tool.Tool{
		Name: "read_file", Title: "Read a file",
		Description: e.words("Read a text file with line numbers, 2000 lines or 100 KB at a time.", "Read file contents from the vault with optional line range filtering."),
		Params: []tool.Param{
			required("path", e.words("File", "File path")),
			integer("start_line", e.words("First line", "First line to read, 1-indexed"), 1),
			integer("end_line", e.words("Last line", "Last line to read, 1-indexed"), 1),
		},
		OutputSchema: schema(readSchema), Hints: readOnly,
	}, read)
}

func read(ctx context.Context, c *call) (*answer, error) {
	path, err := c.givenPath(ctx, "path")
	if err != nil {
		return nil, err
	}
	start, end := c.Int("start_line"), c.Int("end_line")
	if end > 0 && start > end {
		return nil, invalid("The lines asked for end at %d, before they start at %d.", end, start)
	}
	t, err := c.ws.Read(ctx, path, &quarry.ReadOptions{Start: start, End: end, MaxLines: readLines, MaxBytes: readBytes})
	if err != nil {
		if quarry.CodeOf(err) == quarry.NotFound {
			return nil, &tool.Error{Code: tool.NotFound, Message: "File not found: " + quoted(clip(path, maxShown)), Hint: c.missing(ctx, path)}
		}
		if c.isFolder(ctx, path) {
			return nil, c.folderError(path)
		}
		return nil, err
	}
	if start > max(t.Total, 1) {
		return nil, &tool.Error{Code: tool.InvalidArgument, Message: (&quarry.LineError{Line: start, Count: t.Total}).Error()}
	}
	data := &readAnswer{
		foundPath: pathOf(t.Path), Start: t.First, End: t.First + len(t.Lines) - 1, Total: t.Total, Cut: t.Cut,
		Version: t.Version, Encoding: t.Encoding, Ending: t.Ending, Lines: append([]string{}, t.Lines...),
	}
	a := &answer{text: render.Lines(nil, t, start, end), data: data}
	a.receipt = []string{"version " + t.Version}
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

// jsonText is a path as an argument.
func jsonText(path string) string {
	if encoded := render.EncodedName(path); encoded != "" {
		path = encoded
	}
	b, err := marshal(path, "")
	if err != nil {
		return `""`
	}
	return string(b)
}
