package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/fault"
)

// Operation is a way to change a part of a note.
type Operation string

// The operations.
const (
	OpAppend  Operation = "append"  // at the part's end
	OpPrepend Operation = "prepend" // at the part's beginning
	OpReplace Operation = "replace" // the part's content
	OpBefore  Operation = "before"  // insert lines before the part
	OpAfter   Operation = "after"   // insert lines after the part
)

// PartEdit is a change of one part of a note.
type PartEdit struct {
	Operation Operation
	Content   string // lines end in \n, which is converted to the note's line ending
	Create    bool   // create a missing heading
}

var (
	// ErrOperation is returned if the operation is not one of the five.
	ErrOperation = fault.New(fault.InvalidArgument, "invalid operation", "use append, prepend, replace, before or after")
	// ErrStructure is returned if the content would change the meaning of text outside
	// the part, for example by an open code fence, a comment, or a line of ==== after
	// text.
	ErrStructure = fault.New(fault.InvalidArgument, "the content would change text outside the part",
		"close what it opens: a code fence, a comment, an HTML block; or edit the text of the file")
)

// EditSection returns the splices that change the section named by path; "" is the whole
// note without its front matter. Content is inserted as separate lines. The heading
// stays, and so do the blank lines before the next heading. A replacement may repeat the
// heading. If the section is missing and e.Create is set, the missing headings are added
// at the end of the innermost existing section.
func EditSection(ctx context.Context, text []byte, path string, e PartEdit) ([]Splice, error) {
	n, err := Scan(ctx, text)
	if err != nil {
		return nil, err
	}
	sections := n.Sections(text)
	if strings.TrimSpace(path) == "" {
		whole := Section{Span: Span{Start: n.FrontMatter.Body, End: len(text)}, Body: Span{Start: n.FrontMatter.Body, End: len(text)}, Parent: -1}
		return editSection(ctx, text, n, &whole, e)
	}
	at, err := FindSection(sections, path)
	if err == nil {
		return editSection(ctx, text, n, &sections[at], e)
	}
	var missing *NoPartError
	if !errors.As(err, &missing) || !e.Create || e.Operation == OpBefore || e.Operation == OpAfter {
		return nil, err
	}
	return createSection(ctx, text, n, sections, path, e)
}

// createSection adds the missing headings of a path, each one level below the previous
// one.
func createSection(ctx context.Context, text []byte, n *Note, sections []Section, path string, e PartEdit) ([]Splice, error) {
	names := splitPath(path)
	parent := Section{Span: Span{Start: n.FrontMatter.Body, End: len(text)}, Body: Span{Start: n.FrontMatter.Body, End: len(text)}, Parent: -1}
	level, known := 0, 0
	for i := len(names) - 1; i > 0; i-- {
		if at, err := FindSection(sections, strings.Join(names[:i], PathSeparator)); err == nil {
			parent, level, known = sections[at], sections[at].Heading.Level, i
			break
		}
	}
	var b strings.Builder
	for _, name := range names[known:] {
		if level++; level > 6 {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("a heading can't be deeper than level 6: %q", name), "")
		}
		if name == "" || strings.ContainsAny(name, "\r\n") {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid heading %q", name), "")
		}
		fmt.Fprintf(&b, "%s %s\n", strings.Repeat("#", level), name)
	}
	return editSection(ctx, text, n, &parent, PartEdit{Operation: OpAppend, Content: b.String() + e.Content})
}

// editSection first tries to insert the content as it is. If its lines would merge with
// their neighbors, blank lines are added around them.
func editSection(ctx context.Context, text []byte, n *Note, s *Section, e PartEdit) ([]Splice, error) {
	splice, err := sectionSplice(ctx, text, n, s, e)
	if err != nil {
		return nil, err
	}
	eol := lineEnding(text)
	for _, try := range []string{splice.New, splice.New + eol, eol + splice.New, eol + splice.New + eol} {
		splice.New = try
		if keeps, err := keepsHeadings(ctx, text, n, splice); err != nil {
			return nil, err
		} else if keeps {
			return []Splice{splice}, nil
		}
	}
	return nil, ErrStructure
}

func sectionSplice(ctx context.Context, text []byte, n *Note, s *Section, e PartEdit) (Splice, error) {
	content := e.Content
	last := lastTextEnd(text, s) // the end of the last line that isn't blank
	switch e.Operation {
	case OpAppend:
		blank := last < s.Span.End && s.Span.End < len(text) && !continues(text, n, last, content) && last > s.Body.Start
		if blank {
			content = "\n" + strings.TrimLeft(content, "\r\n")
		}
		return lines(text, Span{Start: last, End: last}, content), nil
	case OpPrepend:
		return lines(text, Span{Start: s.Body.Start, End: s.Body.Start}, content), nil
	case OpReplace:
		content, err := dropHeading(ctx, content, s)
		if err != nil {
			return Splice{}, err
		}
		from := s.Body.Start
		if trimmed := strings.TrimRight(content, "\r\n"); trimmed != "" {
			content = trimmed + "\n"
			for from < last && !strings.HasPrefix(content, "\n") {
				end, next := lineEnd(text, from)
				if len(bytes.TrimSpace(text[from:end])) > 0 {
					break
				}
				from = next // keep the blank lines after the heading
			}
		} else {
			content = ""
		}
		return lines(text, Span{Start: min(from, last), End: last}, content), nil
	case OpBefore:
		return lines(text, Span{Start: s.Span.Start, End: s.Span.Start}, content), nil
	case OpAfter:
		return lines(text, Span{Start: s.Span.End, End: s.Span.End}, content), nil
	}
	return Splice{}, ErrOperation
}

// dropHeading removes the section's heading from the start of a replacement.
func dropHeading(ctx context.Context, content string, s *Section) (string, error) {
	if s.Heading.Level == 0 {
		return content, nil
	}
	c := []byte(content)
	n, err := Scan(ctx, c)
	if err != nil || len(n.Headings) == 0 || len(n.Blocks) == 0 || n.Blocks[0].Kind != BlockHeading {
		return content, err
	}
	h := n.Headings[0]
	if h.Level != s.Heading.Level || plainHeading(h.Text) != plainHeading(s.Heading.Text) {
		return content, nil
	}
	_, next := lineEnd(c, h.Span.End)
	return content[next:], nil
}

// lastTextEnd returns the offset after the section's last line that isn't blank,
// including its line ending.
func lastTextEnd(text []byte, s *Section) int {
	start, end := trim(text, s.Body.Start, s.Body.End)
	if start == end {
		return s.Body.Start
	}
	_, next := lineEnd(text, end)
	return next
}

// continues reports whether content continues the list or table at the end of a section.
func continues(text []byte, n *Note, end int, content string) bool {
	first := strings.TrimLeft(content, " \t")
	if first == "" {
		return true
	}
	for i := len(n.Blocks) - 1; i >= 0; i-- {
		b := n.Blocks[i]
		if b.Span.Start >= end {
			continue
		}
		switch b.Kind {
		case BlockList:
			return listMarker([]byte(first), false) > 0
		case BlockTable:
			return first[0] == '|'
		}
		return false
	}
	return false
}

// lines makes a splice that inserts content as whole lines, at the start of a line or at
// the end of the text. If the text has no final line ending, it doesn't get one.
func lines(text []byte, at Span, content string) Splice {
	eol := lineEnding(text)
	content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", eol)
	switch {
	case content == "":
	case at.Start == len(text) && at.Start > 0 && text[at.Start-1] != '\n':
		content = eol + strings.TrimSuffix(content, eol)
	case at.End == len(text) && at.Len() > 0 && text[at.End-1] != '\n':
		content = strings.TrimSuffix(content, eol)
	case !strings.HasSuffix(content, eol):
		content += eol
	}
	return Splice{Span: at, New: content}
}

// keepsHeadings reports whether a splice leaves the headings outside it unchanged.
func keepsHeadings(ctx context.Context, text []byte, n *Note, s Splice) (bool, error) {
	out, err := ApplySplices(text, []Splice{s})
	if err != nil {
		return false, nil
	}
	after, err := Scan(ctx, out)
	if err != nil {
		return false, err
	}
	return sameHeadings(n, after, s), nil
}

// sameHeadings compares the headings of two texts outside a splice.
func sameHeadings(n, after *Note, s Splice) bool {
	if after.FrontMatter.Span != n.FrontMatter.Span {
		return false
	}
	shift := len(s.New) - s.Len()
	before := 0
	for before < len(n.Headings) && n.Headings[before].Span.End <= s.Start {
		before++
	}
	rest := before
	for rest < len(n.Headings) && n.Headings[rest].Span.Start < s.End {
		rest++
	}
	tail := len(n.Headings) - rest
	if len(after.Headings) < before+tail {
		return false
	}
	for i := range before {
		if n.Headings[i] != after.Headings[i] {
			return false
		}
	}
	off := len(after.Headings) - len(n.Headings)
	for i := rest; i < len(n.Headings); i++ {
		h := n.Headings[i]
		h.Span = Span{Start: h.Span.Start + shift, End: h.Span.End + shift}
		h.TextSpan = Span{Start: h.TextSpan.Start + shift, End: h.TextSpan.End + shift}
		if h != after.Headings[i+off] {
			return false
		}
	}
	return true
}

// EditBlock returns the splices that change the block with an id. The id stays. Content is
// added directly to the text of a paragraph or list item. It is inserted as separate lines
// if the id is on its own line, or if the content goes before or after the block. Rows for
// a table go below its header.
func EditBlock(ctx context.Context, text []byte, id string, e PartEdit) ([]Splice, error) {
	n, err := Scan(ctx, text)
	if err != nil {
		return nil, err
	}
	p, err := n.FindBlock(text, id)
	if err != nil {
		return nil, err
	}
	splice, err := blockSplice(text, p, e)
	if err != nil {
		return nil, err
	}
	if keeps, err := keepsHeadings(ctx, text, n, splice); err != nil {
		return nil, err
	} else if !keeps {
		return nil, ErrStructure
	}
	out, err := ApplySplices(text, []Splice{splice})
	if err != nil {
		return nil, err
	}
	after, err := Scan(ctx, out)
	if err != nil {
		return nil, err
	}
	if _, err := after.FindBlock(out, p.ID.ID); err != nil {
		return nil, fmt.Errorf("%w: the block would lose its id", ErrStructure)
	}
	return []Splice{splice}, nil
}

func blockSplice(text []byte, p Part, e PartEdit) (Splice, error) {
	content := e.Content
	if p.Alone || p.Kind == BlockTable {
		content = strings.Trim(content, "\r\n")
	}
	inline := strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", lineEnding(text))
	switch e.Operation {
	case OpAppend:
		if p.Alone {
			return Splice{Span: Span{Start: p.Content.End, End: p.Content.End}, New: lineEnding(text) + inline}, nil
		}
		return Splice{Span: Span{Start: p.Content.End, End: p.Content.End}, New: inline}, nil
	case OpPrepend:
		at := p.Content.Start
		if p.Kind == BlockTable {
			at = tableRows(text, p.Content)
		}
		if p.Alone {
			return lines(text, Span{Start: at, End: at}, content), nil
		}
		return Splice{Span: Span{Start: at, End: at}, New: inline}, nil
	case OpReplace:
		span := p.Content
		if p.Kind == BlockTable && !hasTableHead(content) {
			span.Start = min(tableRows(text, p.Content), span.End)
		}
		return Splice{Span: span, New: strings.TrimRight(inline, "\r\n")}, nil
	case OpBefore:
		at := lineStart(text, p.Span.Start)
		return lines(text, Span{Start: at, End: at}, content), nil
	case OpAfter:
		_, at := lineEnd(text, max(p.Span.End, p.ID.Span.End))
		return lines(text, Span{Start: at, End: at}, content), nil
	}
	return Splice{}, ErrOperation
}

// tableRows returns the offset of a table's first row after the header.
func tableRows(text []byte, table Span) int {
	_, next := lineEnd(text, table.Start)
	_, next = lineEnd(text, next)
	return next
}

func hasTableHead(content string) bool {
	rows := strings.SplitN(content, "\n", 3)
	return len(rows) > 1 && isDelimiterRow([]byte(rows[1]))
}

// ReadPart returns the span of the part named by target: a section with its heading, or a
// block if target is an id that starts with "^".
func ReadPart(ctx context.Context, text []byte, target string) (Span, error) {
	n, err := Scan(ctx, text)
	if err != nil {
		return Span{}, err
	}
	if strings.HasPrefix(target, "^") {
		p, err := n.FindBlock(text, target)
		return p.Span, err
	}
	sections := n.Sections(text)
	at, err := FindSection(sections, target)
	if err != nil {
		return Span{}, err
	}
	return sections[at].Span, nil
}
