package vault

import (
	"bytes"
	"context"
	"slices"
	"sort"
)

// Kind is how a link is written.
type Kind uint8

const (
	// Wiki is [[target#heading|alias]] or its embed.
	Wiki Kind = iota
	// Markdown is [text](destination "title") or its image.
	Markdown
	// Reference is a definition, [label]: destination "title".
	Reference
	// Autolink is <https://…> or a bare URL; always external.
	Autolink
	// CanvasFile is the file of a canvas node, an exact vault path.
	CanvasFile
)

// quoting says how the text of a link is encoded in the file.
type quoting uint8

const (
	unquoted   quoting = iota
	yamlPlain          // a plain scalar of the front matter
	yamlSingle         // 'it''s'
	yamlDouble         // "a \"b\""
	jsonString         // a string of a canvas
)

// Link is one link with the spans of its parts, as byte offsets in the scanned text; a
// missing part has an empty span at its would-be position. The strings are decoded:
// without percent-encoding, escapes and surrounding space.
type Link struct {
	Kind     Kind
	Embed    bool // ![[…]] or ![…](…)
	External bool // has a scheme, such as https:

	Span        Span // all of it, the ! included
	PathSpan    Span // the target without subpath; inside < > if present
	SubpathSpan Span // "#heading#sub" or "#^block", the # included
	AliasSpan   Span // the text after | or between [ and ]

	Path    string
	Subpath string
	Alias   string

	quote quoting
	angle bool // the destination is in < >
	aside bool // in the text of an HTML block or a comment
	table bool // the alias is set off by \|
}

// Heading is an ATX or setext heading.
type Heading struct {
	Level    int // 1 to 6
	Text     string
	Span     Span // its lines, without the last line ending
	TextSpan Span // without the marks
	Setext   bool // underlined
	Nested   bool // inside a quote or a list: it does not begin a section
}

// BlockKind is the kind of an outermost block.
type BlockKind uint8

// The kinds of blocks.
const (
	BlockParagraph BlockKind = iota
	BlockHeading
	BlockCode
	BlockList
	BlockQuote
	BlockHTML
	BlockTable
	BlockMath
	BlockComment
	BlockBreak
	BlockFootnote
)

// Block is an outermost block: its lines, without the last line ending.
type Block struct {
	Kind BlockKind
	Span Span
}

// Item is a list item from its marker up to the items within it.
type Item struct {
	Level int // 0 for an item of an outermost list
	Span  Span

	closed bool // an item within it has begun
}

// Tag is an inline #tag, Name without the #.
type Tag struct {
	Name string
	Span Span
}

// BlockID is the ^id at the end of a block, ID without the ^.
type BlockID struct {
	ID   string
	Span Span
}

// Use is a link by reference, [text][label], [label][] or [label], whose label
// is defined in the note. The definition, a [Link] of kind [Reference], has the
// destination.
type Use struct {
	Span  Span
	Label string
	Image bool
	Path  string // of the definition, as in Link
}

// Note holds the parts of a note's text, in order of appearance. HTML comments and math
// are skipped. Code is listed, but its content is not scanned. The links and tags in
// %%comments%% count, as they do in Obsidian.
type Note struct {
	FrontMatter FrontMatter
	Headings    []Heading
	Links       []Link
	Uses        []Use
	Tags        []Tag
	BlockIDs    []BlockID
	Code        []Span // code spans with their ticks, the lines of code blocks
	Blocks      []Block
	Items       []Item
}

// Title is the text of the first level 1 heading, "" for none.
func (n *Note) Title() string {
	for _, h := range n.Headings {
		if h.Level == 1 {
			return h.Text
		}
	}
	return ""
}

// Scan scans a note. It accepts any bytes and takes time linear in their number. Its only
// error is that ctx has ended.
func Scan(ctx context.Context, text []byte) (*Note, error) {
	n := &Note{FrontMatter: FindFrontMatter(text)}
	start := n.FrontMatter.Body
	if n.FrontMatter.Found && bytes.Contains(n.FrontMatter.YAML.In(text), []byte("[[")) {
		n.Links = frontMatterLinks(text, n.FrontMatter)
	}
	if err := n.scanBody(ctx, text, start); err != nil {
		return nil, err
	}
	return n, nil
}

// scanBody scans the markdown of text from an offset on.
func (n *Note) scanBody(ctx context.Context, text []byte, start int) error {
	b := blockScanner{text: text, note: n}
	b.run(ctx, start)
	b.inlines(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(n.Code, func(a, b Span) int { return a.Start - b.Start }) // blocks came first
	// A link ends after the links in its text, but starts before them.
	sortLinks(n.Links)
	n.dropTagsInLinks()
	return nil
}

func sortLinks(links []Link) {
	before := func(i, j int) bool { return links[i].Span.Start < links[j].Span.Start }
	if !sort.SliceIsSorted(links, before) {
		sort.SliceStable(links, before)
	}
}

// ScanLinks returns the links of a note or canvas, selected by the path's extension; other
// files have none. A canvas that is not JSON has none either, as Obsidian can't open it.
// Its only error is that ctx has ended.
func ScanLinks(ctx context.Context, path string, text []byte) ([]Link, error) {
	switch {
	case isNote(path):
		n, err := Scan(ctx, text)
		if err != nil {
			return nil, err
		}
		return n.Links, nil
	case isCanvas(path):
		links, err := ScanCanvas(ctx, text)
		if err != nil {
			return nil, ctx.Err()
		}
		return links, nil
	}
	return nil, nil
}

// dropTagsInLinks removes tags in link text, such as [see #a](b). Both lists are in order.
func (n *Note) dropTagsInLinks() {
	if len(n.Tags) == 0 || len(n.Links) == 0 {
		return
	}
	kept := n.Tags[:0]
	li, reach := 0, 0
	for _, t := range n.Tags {
		for li < len(n.Links) && n.Links[li].Span.Start <= t.Span.Start {
			reach = max(reach, n.Links[li].Span.End)
			li++
		}
		if t.Span.Start >= reach {
			kept = append(kept, t)
		}
	}
	n.Tags = kept
}
