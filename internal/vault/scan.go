package vault

import (
	"bytes"
	"context"
	"slices"
	"sort"
)

// Kind is the syntax of a link.
type Kind uint8

const (
	// Wiki is [[target#heading|alias]] or its embed.
	Wiki Kind = iota
	// Markdown is [text](destination "title") or its image.
	Markdown
	// Reference is a definition, [label]: destination "title".
	Reference
	// Autolink is <https://…> or a bare URL. It is always external.
	Autolink
	// CanvasFile is the file of a canvas node, as an exact vault path.
	CanvasFile
)

// quoting is the way a link's text is encoded in the file.
type quoting uint8

const (
	unquoted   quoting = iota
	yamlPlain          // plain scalar in front matter
	yamlSingle         // 'it''s'
	yamlDouble         // "a \"b\""
	jsonString         // string in a canvas
)

// Link is a link with the spans of its parts, which are byte offsets in the scanned text.
// A missing part has an empty span where it would be. The strings are decoded: without
// percent-encoding, escapes and surrounding space.
type Link struct {
	Kind     Kind
	Embed    bool // ![[…]] or ![…](…)
	External bool // has a scheme, such as https:

	Span        Span // the whole link, including !
	PathSpan    Span // the target without subpath and angle brackets
	SubpathSpan Span // "#heading#sub" or "#^block", including #
	AliasSpan   Span // the text after | or between [ and ]

	Path    string
	Subpath string
	Alias   string

	quote quoting
	angle bool // the destination is in < >
	aside bool // in the text of an HTML block or a comment
	table bool // the alias follows \| instead of |
}

// Heading is an ATX or setext heading.
type Heading struct {
	Level    int // 1 to 6
	Text     string
	Span     Span // all its lines, without the last line ending
	TextSpan Span // without # or underline
	Setext   bool // underlined
	Nested   bool // inside a quote or a list, so it does not begin a section
}

// BlockKind is the kind of an outermost block.
type BlockKind uint8

// The kinds of outermost blocks.
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

// Block is an outermost block. Its span excludes the last line ending.
type Block struct {
	Kind BlockKind
	Span Span
}

// Item is a list item. Its span ends before any nested item.
type Item struct {
	Level int // 0 for items of an outermost list
	Span  Span

	closed bool // a nested item has begun
}

// Tag is an inline #tag. Name excludes the #.
type Tag struct {
	Name string
	Span Span
}

// BlockID is the ^id at the end of a block. ID excludes the ^.
type BlockID struct {
	ID   string
	Span Span
}

// Use is a reference link, [text][label], [label][] or [label], whose label is defined in
// the note. The destination is in the definition, a [Link] of kind [Reference].
type Use struct {
	Span  Span
	Label string
	Image bool
	Path  string // path of the definition, as in Link
}

// Note holds the parts of a note's text, in order of appearance. HTML comments and math
// are skipped. Code is listed but not scanned. Links and tags in %%comments%% are
// included, as in Obsidian.
type Note struct {
	FrontMatter FrontMatter
	Headings    []Heading
	Links       []Link
	Uses        []Use
	Tags        []Tag
	BlockIDs    []BlockID
	Code        []Span // code spans including backticks, and lines of code blocks
	Blocks      []Block
	Items       []Item
}

// Title returns the text of the first level 1 heading, or "".
func (n *Note) Title() string {
	for _, h := range n.Headings {
		if h.Level == 1 {
			return h.Text
		}
	}
	return ""
}

// Scan scans a note. It accepts any bytes and takes linear time. It fails only if ctx has
// ended.
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

// scanBody scans the Markdown in text[start:].
func (n *Note) scanBody(ctx context.Context, text []byte, start int) error {
	b := blockScanner{text: text, note: n}
	b.run(ctx, start)
	b.inlines(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(n.Code, func(a, b Span) int { return a.Start - b.Start }) // code blocks were added before code spans
	// Links are in order of their end, so a link comes after the links in its text.
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

// ScanLinks returns the links of a note or canvas, depending on the path's extension.
// Other files have none, and neither has a canvas that isn't JSON, as Obsidian can't open
// it. ScanLinks fails only if ctx has ended.
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

// dropTagsInLinks removes tags inside link texts, such as [see #a](b). Both lists are
// sorted.
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
