package notebook

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// Target selects a part of a note. One of its fields is set.
type Target struct {
	Heading  string // path of headings, separated by ::
	Block    string // id, with or without ^
	Property string
	// Whole selects the note without its front matter.
	Whole bool
}

// String describes the target.
func (t Target) String() string {
	switch {
	case t.Heading != "":
		return fmt.Sprintf("section %q", t.Heading)
	case t.Block != "":
		return "block ^" + strings.TrimPrefix(t.Block, "^")
	case t.Property != "":
		return "property " + t.Property
	}
	return "the note"
}

func (t Target) check() error {
	n := 0
	for _, given := range []bool{t.Heading != "", t.Block != "", t.Property != "", t.Whole} {
		if given {
			n++
		}
	}
	if n != 1 {
		return fault.New(fault.InvalidArgument, "name one part of the note", "give heading, block or property")
	}
	return nil
}

// Part is the current text of a part of a note.
type Part struct {
	Path    string
	Version string
	First   int // number of its first line, starting at 1
	Lines   []string
	Total   int // number of lines in the note
	// Encoding and Ending are the file's encoding and line ending.
	Encoding, Ending string
}

// ReadPart returns the lines of a section with its heading, of a block, or of a property.
func (b *Book) ReadPart(ctx context.Context, path string, t Target) (*Part, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	var span vault.Span
	switch {
	case t.Property != "":
		span, err = vault.PropertySpan(ctx, n.Text, t.Property)
	case t.Block != "":
		span, err = vault.ReadPart(ctx, n.Text, "^"+strings.TrimPrefix(t.Block, "^"))
	case t.Whole:
		span = vault.Span{Start: vault.FindFrontMatter(n.Text).Body, End: len(n.Text)}
	default:
		span, err = vault.ReadPart(ctx, n.Text, t.Heading)
	}
	if err != nil {
		return nil, err
	}
	p := &Part{Path: n.Path, Version: n.Version, Encoding: n.Encoding, Ending: n.Ending, First: 1 + bytes.Count(n.Text[:span.Start], []byte("\n"))}
	p.Lines = splitLines(span.In(n.Text))
	p.Total = len(splitLines(n.Text))
	return p, nil
}

// splitLines returns the lines of a text without their endings.
func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// Outline lists the parts of a note that a Target can select.
type Outline struct {
	Path       string    `json:"-"` // the caller knows it
	Version    string    `json:"version"`
	Lines      int       `json:"total_lines"`
	Properties []string  `json:"properties,omitempty"`
	Tags       []string  `json:"tags,omitempty"`
	Headings   []Heading `json:"headings,omitempty"`
	Blocks     []Block   `json:"blocks,omitempty"`
}

// Heading is a section in an outline.
type Heading struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
	Line  int    `json:"line"` // first line of the section
	Last  int    `json:"last"`
}

// Block is a block with an id in an outline.
type Block struct {
	ID   string `json:"id"`
	Line int    `json:"line"`
}

// Outline lists the parts of a note. Properties that can't be parsed are omitted.
func (b *Book) Outline(ctx context.Context, path string) (*Outline, error) {
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	scan, err := vault.Scan(ctx, n.Text)
	if err != nil {
		return nil, err
	}
	o := &Outline{Path: n.Path, Version: n.Version, Lines: len(splitLines(n.Text))}
	head := vault.ReadHead(ctx, n.Text)
	o.Properties, _ = head.Names()
	o.Tags = distinct(scan.AllTags(head))
	for _, s := range scan.Sections(n.Text) {
		last := s.Line + len(splitLines(s.Span.In(n.Text))) - 1
		o.Headings = append(o.Headings, Heading{s.Heading.Level, s.Heading.Text, s.Line, last})
	}
	for _, p := range scan.Parts(n.Text) {
		o.Blocks = append(o.Blocks, Block{p.ID.ID, n.lineAt(p.Span.Start)})
	}
	return o, nil
}

// distinct removes repetitions, ignoring case.
func distinct(list []string) []string {
	if len(list) < 2 {
		return list
	}
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if key := strings.ToLower(s); !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// Edit is a change to a part of a note.
type Edit struct {
	Operation vault.Operation
	Content   string
	Value     any  // value of a property; nil means Content
	Create    bool // create a missing heading or property
}

// EditPart changes a part of a note. Bytes outside the part stay unchanged.
func (b *Book) EditPart(ctx context.Context, path string, t Target, e Edit, o Options) (*change.Change, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := n.expect(o); err != nil {
		return nil, err
	}
	part := vault.PartEdit{Operation: e.Operation, Content: e.Content, Create: e.Create}
	var splices []vault.Splice
	switch {
	case t.Property != "":
		splices, err = editProperty(ctx, n.Text, t.Property, e)
	case t.Block != "":
		splices, err = vault.EditBlock(ctx, n.Text, t.Block, part)
	default:
		splices, err = vault.EditSection(ctx, n.Text, t.Heading, part)
	}
	if err != nil {
		return nil, err
	}
	done := map[vault.Operation]string{vault.OpAppend: "appended to", vault.OpPrepend: "prepended to", vault.OpReplace: "replaced", vault.OpBefore: "inserted before", vault.OpAfter: "inserted after"}[e.Operation]
	return b.apply(ctx, fmt.Sprintf("%s %s of %s", done, t, fault.Printable(n.Path)), o, n.edit(splices))
}

func editProperty(ctx context.Context, text []byte, key string, e Edit) ([]vault.Splice, error) {
	value := e.Value
	if value == nil {
		value = e.Content
	}
	if names, err := vault.ReadHead(ctx, text).Names(); err != nil {
		return nil, err
	} else if !e.Create && !slices.Contains(names, vault.PropertyName(names, key)) {
		return nil, &vault.NoPartError{Kind: "property", Want: key, Have: names}
	}
	switch e.Operation {
	case vault.OpReplace:
		return vault.SetProperty(text, key, value)
	case vault.OpAppend, vault.OpPrepend:
		return vault.AddToProperty(text, key, value, e.Operation == vault.OpPrepend)
	}
	return nil, fault.New(fault.InvalidArgument, "invalid operation for a property", "use append, prepend or replace")
}
