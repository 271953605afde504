package profile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/internal/textfile"
	"quarry/internal/value"
	"quarry/internal/vault"
	"quarry/search"
	"quarry/tool"
)

// symbolsAnswer is the answer of outline and find_symbol.
type symbolsAnswer struct {
	Symbols []foundSymbol `json:"symbols"`
	Total   int           `json:"total"`
	Similar bool          `json:"similar,omitempty"` // nothing has exactly this name
	Uses    []foundUse    `json:"references,omitempty"`
	received
	remark
}

type foundSymbol struct {
	foundPath
	Name      string `json:"name"`
	Container string `json:"container,omitempty"`
	Kind      string `json:"kind"`
	Line      int    `json:"line"`
	Start     int    `json:"start_line"`
	End       int    `json:"end_line"`
	Signature string `json:"signature"`
	Text      string `json:"text,omitempty"`
}

const symbolsSchema = `{"type":"object","properties":{"symbols":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"name":{"type":"string"},"container":{"type":"string"},"kind":{"type":"string"},"line":{"type":"integer"},"start_line":{"type":"integer"},"end_line":{"type":"integer"},"signature":{"type":"string"},"text":{"type":"string"}},"required":["path","name","kind","line","start_line","end_line"]}},"total":{"type":"integer"},"similar":{"type":"boolean"},"references":{"type":"array"},` + noteSchema + `},"required":["symbols","total"]}`

var outline = action{symbolsSchema, readOnly, outlineOf}

var findSymbol = action{symbolsSchema, readOnly, findDefinition}

// outlined lists the kinds shown in an outline: those by which readers navigate. Fields
// and values are shown only if there is nothing else, or if they are requested.
var outlined = []string{
	"function", "method", "class", "struct", "interface", "enum", "type", "module", "macro", "impl", "test", "table", "heading", "constant",
}

// outlineLimit is the maximum number of definitions, more than fit in an answer of 60 KB.
const outlineLimit = 5000

var errUnread = fault.New(fault.IOError, "the file could not be read", "try again")

func outlineOf(ctx context.Context, c *call) (*answer, error) {
	path, err := c.givenFile(ctx, "path")
	if err != nil {
		return nil, err
	}
	info, err := c.ws.Stat(ctx, path)
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return nil, &tool.Error{Code: fault.NotFound, Message: "File not found: " + quoted(fault.Clip(path, maxShown)), Hint: c.missing(ctx, path)}
		}
		return nil, err
	}
	q := search.SymbolQuery{Kind: c.String("kind"), Scope: search.Scope{Paths: []string{path}}, Limit: outlineLimit}
	if path == "" || path == "." {
		q.Paths = nil
	}
	if q.Kind == "" {
		q.Kinds = outlined
		if info.Folder {
			q.Kinds = slices.DeleteFunc(slices.Clone(outlined), func(k string) bool { return k == "constant" || k == "test" })
		}
	}
	r, err := c.ws.Symbols(ctx, q)
	if err == nil && r.Total == 0 && len(q.Kinds) > 0 {
		q.Kinds = nil
		r, err = c.ws.Symbols(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	if !info.Folder && r.SkippedCount[search.Unreadable] > 0 {
		if _, err := c.ws.ReadBytes(ctx, path, 0); err != nil {
			return nil, err
		}
		return nil, errUnread
	}
	list := r.Symbols
	data := &symbolsAnswer{Symbols: []foundSymbol{}, Total: r.Total}
	text, shown := outlineText(list, c.limitsUnless(""))
	for i := range list[:shown] {
		data.Symbols = append(data.Symbols, symbolData(&list[i]))
	}
	a := &answer{text: text, data: data, sum: &r.Summary}
	switch {
	case len(list) == 0:
		a.text = []byte("No definitions found in " + quoted(fault.Clip(path, maxShown)) + ".")
		a.receipt = []string{"definitions are known of C, C++, C#, Java, Kotlin, Scala, Swift, Go, Rust, Zig, Python, Ruby, PHP, Perl, JavaScript, TypeScript, Elixir, Haskell, Lua, shell, SQL and Markdown"}
	case shown < r.Total:
		a.receipt = []string{fmt.Sprintf("the first %d of %d definitions, as many as an answer holds; give a narrower path or a kind", shown, r.Total)}
	}
	a.tellPartly(&r.Summary)
	c.tellMissed(a, &r.Summary)
	return a, nil
}

// outlineText lists definitions by file, indented by nesting, until a limit is reached.
// shown is the number listed.
func outlineText(list []search.Symbol, limits render.Limits) (text []byte, shown int) {
	file := ""
	for i := range list {
		s := &list[i]
		before := len(text)
		if s.Path != file {
			if file != "" {
				text = append(text, '\n')
			}
			text = append(append(text, "# "...), render.Path(s.Path)...)
			text = append(text, '\n')
		}
		depth := s.Level
		if s.Kind == "heading" {
			depth--
		}
		text = fmt.Appendf(text, "%s%s %s\n", strings.Repeat("  ", min(max(depth, 0), 6)), lineRange(s), signature(s))
		if limits.Full(len(text)) && i > 0 {
			return bytes.TrimRight(text[:before], "\n"), i
		}
		file = s.Path
	}
	return bytes.TrimRight(text, "\n"), len(list)
}

func lineRange(s *search.Symbol) string {
	if s.EndLine > s.Line {
		return itoa(s.Line) + "-" + itoa(s.EndLine)
	}
	return itoa(s.Line)
}

// signature returns the line that defines a symbol. The kind is added if the line does
// not contain it.
func signature(s *search.Symbol) string {
	line := strings.ToValidUTF8(s.Signature, "\uFFFD")
	if s.Kind == "heading" {
		return s.Name
	}
	if line == "" || !strings.Contains(line, s.Name) {
		return s.Kind + " " + s.Name
	}
	return line
}

func symbolData(s *search.Symbol) foundSymbol {
	return foundSymbol{
		foundPath: pathOf(s.Path), Name: s.Name, Container: s.Container, Kind: s.Kind, Line: s.Line,
		Start: s.StartLine, End: s.EndLine, Signature: s.Signature, Text: s.Text,
	}
}

const (
	// symbolsShown is how many definitions find_symbol lists; symbolLines is how many lines
	// it shows of the first.
	symbolsShown = 10
	symbolLines  = 80
	// sharedLines is the minimum number of lines shown for each of several names. When it
	// was 10, agents asked again for the end of functions of 24 lines.
	sharedLines = 30
)

func findDefinition(ctx context.Context, c *call) (*answer, error) {
	names := c.Strings("names")
	if c.Given("name") {
		names = append([]string{c.String("name")}, names...)
	}
	switch {
	case len(names) == 0:
		return nil, invalid("name is required and must be a non-empty string.")
	case len(names) > maxNames:
		return nil, invalid("names must be at most %d, not %d", maxNames, len(names))
	case len(names) == 1:
		return c.definitionOf(ctx, names[0], c.linesEach(1))
	}
	all := &symbolsAnswer{Symbols: []foundSymbol{}}
	a := &answer{data: all}
	for i, name := range names {
		one, err := c.definitionOf(ctx, name, c.linesEach(len(names)))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			a.text = append(a.text, "\n\n"...)
		}
		a.text = append(a.text, one.text...)
		found := one.data.(*symbolsAnswer)
		all.Symbols, all.Total, a.sum = append(all.Symbols, found.Symbols...), all.Total+found.Total, one.sum
		all.Uses = append(all.Uses, found.Uses...)
		for _, part := range one.receipt {
			if !slices.Contains(a.receipt, part) {
				a.receipt = append(a.receipt, part)
			}
		}
	}
	return a, nil
}

// linesEach returns how many lines to show of each of several definitions: an equal share
// of a given budget, or else enough for most definitions. If uses are requested, they
// take precedence.
func (c *call) linesEach(names int) int {
	switch {
	case c.Bool("references") && c.d.limits.besideUses == 0:
		return 0
	case c.Given("budget"):
		return max(c.room()/names/lineBytes, keptDoc)
	case names > c.d.limits.wholeNames:
		return 0
	case names > 1:
		return max(symbolLines/names, sharedLines)
	}
	return symbolLines
}

// lineBytes is the approximate size of a line of code.
const lineBytes = 40

// maxNames limits the names that one call looks up.
const maxNames = 20

// definitionOf looks up one name and shows at most lines lines of its likeliest
// definition.
func (c *call) definitionOf(ctx context.Context, name string, lines int) (*answer, error) {
	name = strings.TrimSpace(name)
	q := search.SymbolQuery{Name: name, Kind: c.String("kind"), Fuzzy: c.Bool("fuzzy"), Limit: symbolsShown, Text: true}
	if p := c.file(ctx, "path"); p != "" && p != "." {
		q.Paths = []string{p}
	}
	r, err := c.ws.Symbols(ctx, q)
	if err != nil {
		return nil, err
	}
	similar := false
	if len(r.Symbols) == 0 && !q.Fuzzy {
		q.Fuzzy, similar = true, true
		q.Limit = c.d.limits.similar
		if r, err = c.ws.Symbols(ctx, q); err != nil {
			return nil, err
		}
		similar = len(r.Symbols) > 0
	}
	data := &symbolsAnswer{Symbols: []foundSymbol{}, Total: r.Total, Similar: similar}
	for i := range r.Symbols {
		data.Symbols = append(data.Symbols, symbolData(&r.Symbols[i]))
	}
	a := &answer{text: c.definitionText(ctx, name, r, similar, lines), data: data, sum: &r.Summary}
	switch {
	case r.Total == 0:
		if nothing := c.allIgnored(ctx, q.Scope, &r.Summary); nothing != "" {
			a.receipt = []string{nothing}
			break
		}
		files := "no file in scope"
		if r.SkippedCount[search.Unreadable] > 0 {
			files += " that could be searched"
		}
		a.receipt = []string{files + " defines it or a similar name; search_code looks for words instead"}
	case similar && c.d.plain:
	case r.Total > len(r.Symbols):
		a.receipt = []string{fmt.Sprintf("the likeliest %d of %d; give a kind, a path or the container, as Store.Open", len(r.Symbols), r.Total)}
	}
	if len(q.Paths) > 0 && (similar || r.Total == 0) {
		if other, err := c.elsewhere(ctx, q); err != nil {
			return nil, err
		} else if other != "" {
			a.receipt = []string{other}
		}
	}
	if r.Total == 0 || !c.d.saysOnce || c.conn == &c.env.conn || !c.conn.said("incomplete definitions") {
		a.tellPartly(&r.Summary)
	}
	c.tellMissed(a, &r.Summary)
	if c.Bool("references") {
		return a, c.references(ctx, a, name)
	}
	return a, nil
}

// elsewhere reports where a name is defined if it isn't in the given path: agents took
// "no definition" to apply to the whole workspace.
func (c *call) elsewhere(ctx context.Context, q search.SymbolQuery) (string, error) {
	q.Paths, q.Fuzzy, q.Text, q.Limit = nil, false, false, 3
	r, err := c.ws.Symbols(ctx, q)
	if err != nil || r.Total == 0 {
		return "", err
	}
	var places []string
	for _, s := range r.Symbols {
		places = append(places, fmt.Sprintf("%s:%d", render.Path(s.Path), s.Line))
	}
	text := "outside of path it is defined at " + strings.Join(places, ", ")
	if more := r.Total - len(places); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text, nil
}

// definitionText shows the likeliest definition in full and the others by
// their signatures.
func (c *call) definitionText(ctx context.Context, name string, r *search.SymbolResult, similar bool, most int) []byte {
	var text []byte
	switch {
	case r.Total == 0:
		return []byte("No definition of " + quoted(name) + " found.")
	case similar:
		text = fmt.Appendf(text, "No definition of %s found. Similar:\n", quoted(name))
	case !c.d.plain:
		text = fmt.Appendf(text, "Found %s of %s:\n", fault.Count(r.Total, "definition"), quoted(name))
	}
	for i := range r.Symbols {
		s := &r.Symbols[i]
		qualified := qualified(s)
		if i > 0 || similar || most == 0 {
			text = fmt.Appendf(text, "\n- %s:%s %s", render.Path(s.Path), lineRange(s), signature(s))
			continue
		}
		if c.d.plain {
			p := definitionPassage(s, s.Text)
			text = append(text, p.text(most, strings.ToLower(s.Name))...)
			text = append(text, c.membersOf(ctx, s)...)
			continue
		}
		text = fmt.Appendf(text, "\n## %s:%d-%d %s %s", render.Path(s.Path), s.StartLine, s.EndLine, s.Kind, qualified)
		lines := strings.Split(s.Text, "\n")
		if len(lines) <= most+most/4 { // cutting them would cost another call to read the rest
			most = len(lines)
		}
		for n, line := range lines[:min(len(lines), most)] {
			text = fmt.Appendf(text, "\n%3d | %s", s.StartLine+n, aroundWord(line, []string{strings.ToLower(s.Name)}))
		}
		if len(lines) > most {
			text = fmt.Appendf(text, "\n... %d more lines: read_file with path %s", len(lines)-most, quoted(s.Path+"#"+qualified))
		}
		text = append(text, '\n')
	}
	return bytes.Trim(text, "\n")
}

// membersShown limits the methods listed for a type.
const membersShown = 40

// membersOf lists the methods of a type with their lines, from all files of its folder:
// "Methods: Open 10-18, Close 20-24". It returns "" if there are none or if the type's
// text contains them.
func (c *call) membersOf(ctx context.Context, s *search.Symbol) string {
	switch s.Kind {
	case "function", "method", "test", "constant", "variable", "field", "member", "macro", "heading", "module":
		return ""
	}
	dir := path.Dir(s.Path)
	r, err := c.ws.Symbols(ctx, search.SymbolQuery{Kinds: []string{"method", "function"}, Limit: outlineLimit, Scope: search.Scope{Paths: []string{dir}, MaxDepth: 1, IncludeHidden: true, IncludeIgnored: true}})
	if err != nil {
		return ""
	}
	text, file, n := "", s.Path, 0
	for i := range r.Symbols {
		m := &r.Symbols[i]
		if m.Container != qualified(s) || m.Path == s.Path && m.StartLine >= s.StartLine && m.EndLine <= s.EndLine {
			continue
		}
		if n++; n > membersShown {
			continue
		}
		if n > 1 {
			text += ", "
		}
		if m.Path != file {
			file = m.Path
			text += render.Path(path.Base(file)) + ": "
		}
		text += m.Name + " " + lineRange(m)
	}
	switch {
	case n == 0:
		return ""
	case n > membersShown:
		text += fmt.Sprintf(" and %d more", n-membersShown)
	}
	return "\nMethods: " + text
}

// partLines returns the lines of the part named after #: a value in a configuration file,
// or a definition. In Markdown, headings take precedence over values.
func (c *call) partLines(ctx context.Context, path, name string) (start, end int, err error) {
	format := value.FormatOf(path)
	if format != value.None && format != value.Header {
		if start, end, err = c.valueLines(ctx, format, path, name); err == nil {
			return start, end, nil
		}
	}
	var several *vault.AmbiguousPartError
	if format == value.Header {
		if start, end, err = c.noteLines(ctx, path, name); err == nil || errors.As(err, &several) && c.has("edit_section") {
			return start, end, err
		}
	}
	start, end, symbolErr := c.symbolLinesOf(ctx, path, name)
	switch {
	case symbolErr == nil:
		return start, end, nil
	case format == value.Header:
		if start, end, err := c.valueLines(ctx, format, path, name); err == nil {
			return start, end, nil
		}
	case format != value.None:
		return 0, 0, err // the error lists the existing keys
	}
	return 0, 0, symbolErr
}

// noteLines returns the lines of a section or a block of a note, named as in edit_section.
func (c *call) noteLines(ctx context.Context, path, name string) (start, end int, err error) {
	text, err := c.partText(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	span, err := vault.ReadPart(ctx, text, name)
	start = 1 + bytes.Count(text[:span.Start], []byte("\n"))
	return start, start + bytes.Count(bytes.TrimSpace(span.In(text)), []byte("\n")), err
}

// partText returns the decoded text of a file with parts.
func (c *call) partText(ctx context.Context, path string) ([]byte, error) {
	data, err := c.ws.ReadBytes(ctx, path, value.MaxSize)
	if err != nil {
		return nil, err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return nil, err
	}
	return doc.Text(), nil
}

// valueLines returns the lines of the value with the given path in a file.
func (c *call) valueLines(ctx context.Context, format value.Format, path, name string) (start, end int, err error) {
	at, err := value.ParsePath(name)
	if err != nil {
		return 0, 0, invalid("%v", err)
	}
	text, err := c.partText(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	d, err := value.ParseUntil(func() bool { return ctx.Err() != nil }, format, text)
	if ctx.Err() != nil {
		return 0, 0, context.Cause(ctx)
	} else if err != nil {
		return 0, 0, err
	}
	return d.Lines(at)
}

// symbolLinesOf returns the lines of a symbol in a file.
func (c *call) symbolLinesOf(ctx context.Context, path, name string) (start, end int, err error) {
	q := search.SymbolQuery{Name: name, Scope: search.Scope{Paths: []string{path}, IncludeHidden: true, IncludeIgnored: true}, Limit: 1}
	r, err := c.ws.Symbols(ctx, q)
	if err != nil {
		return 0, 0, err
	}
	if len(r.Symbols) > 0 {
		return r.Symbols[0].StartLine, r.Symbols[0].EndLine, nil
	}
	q.Fuzzy, q.Limit = true, 5
	hint := c.hint("outline", "outline lists what the file defines.")
	hint = cmp.Or(hint, "fold: true lists what the file defines.")
	if r, err := c.ws.Symbols(ctx, q); err == nil && len(r.Symbols) > 0 {
		var names []string
		for _, s := range r.Symbols {
			names = append(names, s.Name)
		}
		hint = "Similar names: " + strings.Join(names, ", ") + ". " + hint
	}
	return 0, 0, &tool.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s defines no %s", fault.Clip(path, maxShown), quoted(name)), Hint: hint}
}
