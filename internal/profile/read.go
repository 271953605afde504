package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/internal/value"
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

const readSchema = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"},"end_line":{"type":"integer"},"total_lines":{"type":"integer"},"truncated":{"type":"boolean"},"version":{"type":"string"},"encoding":{"type":"string"},"line_ending":{"type":"string"},"lines":{"type":"array","items":{"type":"string"}},"image":{"type":"object"},"files":{"type":"array","items":{"type":"object"}},` + noteSchema + `}}`

var readFile = action{readSchema, readOnly, read}

// part selects what to read of a file: all of it, a range of lines, the last lines, or a
// definition.
type part struct {
	path       string
	start, end int
	line       int // the only line named: start and end are its context
	tail       int
	symbol     string
	listed     bool // one of several parts; its heading gives the lines
}

func (p *part) whole() bool { return p.start == 0 && p.end == 0 && p.tail == 0 && p.symbol == "" }

// name returns the part in the notation that callers use.
func (p *part) name() string {
	switch {
	case p.symbol != "":
		return p.path + "#" + p.symbol
	case p.end > 0:
		return fmt.Sprintf("%s:%d-%d", p.path, max(p.start, 1), p.end)
	case p.start > 0:
		return fmt.Sprintf("%s:%d-", p.path, p.start)
	}
	return p.path
}

func read(ctx context.Context, c *call) (*answer, error) {
	if !c.takes("paths") {
		path, err := c.givenFile(ctx, "path")
		if err != nil {
			return nil, err
		}
		return c.readOne(ctx, part{path: path, start: c.Int("start_line"), end: c.Int("end_line")}, c.d.limits.readBytes)
	}
	given := c.Strings("paths")
	if c.Given("path") {
		given = append([]string{c.String("path")}, given...)
	}
	var parts []part
	for _, g := range given {
		if strings.TrimSpace(g) != "" {
			parts = append(parts, c.partsOf(ctx, g)...)
		}
	}
	most := c.readBudget()
	switch {
	case len(parts) == 0:
		return nil, invalid("path or paths is required and must be a non-empty string or list.")
	case len(parts) > maxPaths:
		return nil, invalid("paths must be at most %d files, not %d", maxPaths, len(parts))
	case len(parts) == 1:
		p, err := c.narrowed(parts[0])
		if err != nil {
			return nil, err
		}
		return c.readOne(ctx, p, most)
	case c.Given("start_line"), c.Given("end_line"), c.Given("tail"), c.Given("symbol"), c.Given("lines"):
		return nil, &tool.Error{
			Code: fault.InvalidArgument, Message: "lines of several files are written with their paths.",
			Hint: `Write "a.go:10-40" or "a.go#Name" in paths.`,
		}
	}
	return c.readMany(ctx, parts, most)
}

// readBudget returns how many bytes a read may show.
func (c *call) readBudget() int {
	most := c.d.limits.readBytes
	if c.Given("budget") {
		most = c.Int("budget") * tokenBytes
	}
	if room := c.clientRoom(); room > 0 {
		most = min(most, room)
	}
	return most
}

// narrowed restricts a part by the call's line parameters.
func (c *call) narrowed(p part) (part, error) {
	start, end, tail := c.Int("start_line"), c.Int("end_line"), c.Int("tail")
	if n := c.Int("lines"); n > 0 && end == 0 && tail == 0 { // another tool's name for a limit
		end = max(start, 1) + n - 1
	}
	symbol := c.String("symbol")
	if (start > 0 || end > 0 || tail > 0 || symbol != "") && !p.whole() {
		return p, invalid("Give lines in the path or as parameters, not both.")
	}
	if symbol != "" && (start > 0 || end > 0 || tail > 0) {
		return p, invalid("Give a symbol or lines, not both.")
	}
	if tail > 0 && (start > 0 || end > 0) {
		return p, invalid("tail can't be used together with start_line and end_line.")
	}
	if !p.whole() {
		return p, nil
	}
	p.start, p.end, p.tail, p.symbol = start, end, tail, symbol
	return p, nil
}

// partForm matches the suffix of a path: :10-40,80-95 or :12, #L10-L20, #Name,Other.
var partForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)(?::(\d+(?:-\d*)?(?:,\d+(?:-\d*)?)*)|#L(\d+(?:-L?\d+)?)|#([^#/\\]+))$`)
})

// linesBefore and linesAfter are the context read around a single line. The line is
// usually a match, and the lines after it tell more than those before it.
const linesBefore, linesAfter = 5, 35

// partsOf splits a path argument into the file and the parts named after it. A file whose
// name is exactly the argument takes precedence.
func (c *call) partsOf(ctx context.Context, given string) []part {
	path := c.existing(c.clean(ctx, given))
	m := partForm().FindStringSubmatch(path)
	if m == nil {
		// Keys may contain characters that definition names can't: dependencies.@types/node.
		if file, at, ok := strings.Cut(path, "#"); ok && value.FormatOf(file) != value.None {
			if _, err := c.ws.Stat(ctx, path); err != nil {
				return []part{{path: c.existing(file), symbol: at}}
			}
		}
		return []part{{path: path}}
	}
	path = c.noteFor(ctx, path)
	if _, err := c.ws.Stat(ctx, path); err == nil {
		return []part{{path: path}}
	}
	m[1] = c.existing(m[1])
	var parts []part
	if m[4] != "" {
		for name := range strings.SplitSeq(m[4], ",") {
			if name = strings.TrimSpace(name); name != "" {
				parts = append(parts, part{path: m[1], symbol: name})
			}
		}
		return parts
	}
	for _, lines := range strings.Split(m[2]+strings.ReplaceAll(m[3], "L", ""), ",") {
		first, last, ranged := strings.Cut(lines, "-")
		p := part{path: m[1]}
		p.start, _ = strconv.Atoi(first)
		switch {
		case last != "":
			p.end, _ = strconv.Atoi(last)
		case !ranged:
			p.line, p.start, p.end = p.start, max(p.start-linesBefore, 1), p.start+linesAfter
		}
		parts = append(parts, p)
	}
	return parts
}

// readOne reads a part of a file. The text has no more than most bytes.
func (c *call) readOne(ctx context.Context, p part, most int) (*answer, error) {
	path, start, end := p.path, p.start, p.end
	if end > 0 && start > end {
		return nil, invalid("The lines asked for end at %d, before they start at %d.", end, start)
	}
	if p.symbol != "" {
		if _, err := c.ws.Stat(ctx, path); err == nil {
			if start, end, err = c.partLines(ctx, path, p.symbol); err != nil {
				return nil, err
			}
		}
	}
	if c.folding(&p) {
		if a, err := c.folded(ctx, path, most); a != nil || err != nil {
			return a, err
		}
	}
	plain := c.d.plain && !c.Bool("numbers")
	t, err := c.readText(ctx, path, start, end, p.tail, most)
	if c.d.plain && !plain && err == nil && !t.CutLine {
		// The size includes line numbers.
		size, text := len(numbered(t.Lines, t.First)), 0
		for _, line := range t.Lines {
			text += len(line) + 1
		}
		if size > most {
			t, err = c.readText(ctx, path, start, end, p.tail, max(text*most/size, 1))
		}
	}
	if err != nil {
		return c.unread(ctx, err, path)
	}
	if start > max(t.Total, 1) {
		return nil, &tool.Error{Code: fault.InvalidArgument, Message: (&change.LineError{Line: cmp.Or(p.line, start), Count: t.Total}).Error()}
	}
	if c.d.folds && p.whole() && !t.CutLine && !c.unfolded() && (t.Cut || plain && c.isLong(t)) {
		if a, err := c.folded(ctx, path, most); a != nil || err != nil {
			return a, err
		}
	}
	data := &readAnswer{
		foundPath: pathOf(t.Path), Start: t.First, End: t.First + len(t.Lines) - 1, Total: t.Total, Cut: t.Cut,
		Version: t.Version, Encoding: t.Encoding, Ending: t.Ending, Lines: append([]string{}, t.Lines...),
	}
	a := &answer{data: data}
	switch {
	case !c.d.plain:
		a.text = render.Lines(nil, t, start, end)
	case plain:
		a.text = plainText(t, p.whole())
	default:
		a.text = []byte(strings.TrimPrefix(numbered(t.Lines, t.First), "\n"))
	}
	if c.d.plain && !p.listed && (p.line > 0 || t.First != p.start || data.End != p.end) && (t.First > 1 || data.End < t.Total) {
		a.receipt = []string{fmt.Sprintf("lines %d-%d of %d", t.First, data.End, t.Total)}
	}
	if !plain {
		a.receipt = append(a.receipt, "version "+render.Version(t.Version))
	}
	if plain && t.Total == 0 {
		a.receipt = append(a.receipt, "the file is empty")
	}
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

// unfolded reports whether the caller asked for unfolded text, whatever the size.
func (c *call) unfolded() bool { return c.Given("fold") && !c.Bool("fold") }

// longFile is the size in bytes above which a file is shown folded by default. In trials
// a file of 11 KB was read whole for 4 KB of it.
const longFile = 8 << 10

// isLong reports whether a whole file should be shown folded by default.
func (c *call) isLong(t *search.Text) bool {
	if c.Given("fold") || c.Given("budget") {
		return false
	}
	size := 0
	for _, line := range t.Lines {
		size += len(line) + 1
	}
	return size > longFile
}

// plainText returns text without line numbers. If it is a whole file, the license is
// omitted.
func plainText(t *search.Text, whole bool) []byte {
	lines := t.Lines
	head := ""
	if whole {
		if n := licence(commentLines(t.Path, lines), lines); n > 0 {
			head, lines = fmt.Sprintf("[lines 1-%d: licence]\n", n), lines[n:]
		}
	}
	return []byte(head + strings.Join(lines, "\n"))
}

// readText reads a range of lines, or the last tail lines. For the latter, the file is
// read once to count the lines, and again for the text. If the file changes in between, it
// retries.
func (c *call) readText(ctx context.Context, path string, start, end, tail, most int) (*search.Text, error) {
	opts := &search.ReadOptions{Start: start, End: end, MaxLines: c.d.limits.readLines, MaxBytes: most}
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

// unread answers for a file that has no text: with its picture, or an error.
func (c *call) unread(ctx context.Context, err error, path string) (*answer, error) {
	var binary *fault.BinaryError
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, &tool.Error{Code: fault.NotFound, Message: "File not found: " + quoted(fault.Clip(path, maxShown)), Hint: c.missing(ctx, path)}
	case c.isFolder(ctx, path):
		return nil, c.folderError(path)
	case errors.As(err, &binary) && c.d.images:
		if a := c.image(ctx, path); a != nil {
			return a, nil
		}
	}
	return nil, err
}

// maxImage is the size of the largest picture shown, in bytes. Models accept no larger
// ones.
const maxImage = 3 << 20

// imageAnswer is the answer of read_file for a picture.
type imageAnswer struct {
	foundPath
	Image tool.Image `json:"image"`
	remark
}

// image returns a file as a picture, or nil.
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

// maxPaths limits the files that one call reads.
const maxPaths = 50

// manyAnswer is the answer of read_file for several files. A file that can't be read has
// an error instead of text.
type manyAnswer struct {
	Files []any `json:"files"`
	remark
}

// readMany reads several parts under one budget, shared fairly: room that small parts
// don't need goes to larger ones.
func (c *call) readMany(ctx context.Context, parts []part, most int) (*answer, error) {
	got := make([]*answer, len(parts))
	errs := make([]error, len(parts))
	sizes := make([]int, len(parts))
	for i := range parts {
		p := &parts[i]
		p.listed = true
		got[i], errs[i] = c.readOne(ctx, *p, most)
		if isNotFound(errs[i]) {
			p.path = c.noteFor(ctx, p.path)
			got[i], errs[i] = c.readOne(ctx, *p, most)
		}
		if got[i] != nil {
			sizes[i] = len(got[i].text)
		}
	}
	data := &manyAnswer{Files: []any{}}
	a := &answer{data: data}
	for i, room := range shares(sizes, most) {
		p := &parts[i]
		if i > 0 {
			a.text = append(a.text, "\n\n"...)
		}
		if sizes[i] > room && errs[i] == nil {
			got[i], errs[i] = c.readOne(ctx, *p, room)
		}
		a.text = fmt.Appendf(a.text, "## %s\n", c.heading(p, got[i]))
		if errs[i] != nil {
			var known *tool.Error
			if !errors.As(c.problem(ctx, errs[i]), &known) {
				return nil, errs[i]
			}
			a.text = append(a.text, strings.TrimRight(known.Text(), "\n")...)
			data.Files = append(data.Files, map[string]any{"path": render.Path(p.path), "error": known})
			continue
		}
		a.text = append(a.text, got[i].text...)
		if len(got[i].receipt) > 0 {
			a.text = append(a.text, "\n["+strings.Join(got[i].receipt, "; ")+"]"...)
		}
		a.images = append(a.images, got[i].images...)
		data.Files = append(data.Files, got[i].data)
	}
	return a, nil
}

// heading returns the heading of a part: its file and, if needed, its lines.
func (c *call) heading(p *part, got *answer) string {
	if !c.d.plain || got == nil || p.whole() {
		return render.Path(p.name())
	}
	text, ok := got.data.(*readAnswer)
	if !ok {
		return render.Path(p.name())
	}
	at := passage{path: render.Path(p.path), start: text.Start, end: text.End, name: p.symbol}
	return at.place()
}

// shares divides a budget among texts of the given sizes. Each gets its full size or, if
// that is smaller, an equal share of the rest.
func shares(sizes []int, budget int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	out := make([]int, len(sizes))
	for k, i := range order {
		out[i] = max(min(sizes[i], budget/(len(order)-k)), 1)
		budget -= min(out[i], sizes[i])
	}
	return out
}

// jsonText formats a path as a JSON argument.
func jsonText(path string) string {
	b, err := marshal(render.Path(path), "")
	if err != nil {
		return `""`
	}
	return string(b)
}
