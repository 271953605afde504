package vault

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quarry/fault"
)

// PathSeparator separates the headings of a path, which begins with the outermost one.
const PathSeparator = "::"

// Section is a heading and the text under it.
type Section struct {
	Heading Heading
	Path    []string // the headings of the enclosing sections, and its own
	Line    int      // of the heading, starting at 1
	Parent  int      // index of the enclosing section, -1 if there is none
	// Span consists of whole lines, from the heading up to the next heading of the same
	// or a higher level. Body is Span without the heading.
	Span, Body Span
}

// Name returns the section's path in the notation of a target.
func (s *Section) Name() string { return strings.Join(s.Path, PathSeparator) }

// Sections returns the sections of a note in order. Headings in quotes and lists don't
// begin sections.
func (n *Note) Sections(text []byte) []Section {
	var out []Section
	var open []int // indexes of the sections that contain the current line
	line, at := 1, 0
	for _, h := range n.Headings {
		if h.Nested {
			continue
		}
		start := lineStart(text, h.Span.Start)
		for len(open) > 0 && out[open[len(open)-1]].Heading.Level >= h.Level {
			out[open[len(open)-1]].end(start)
			open = open[:len(open)-1]
		}
		line += bytes.Count(text[at:start], []byte("\n"))
		at = start
		_, next := lineEnd(text, h.Span.End)
		s := Section{Heading: h, Line: line, Parent: -1, Span: Span{Start: start, End: len(text)}, Body: Span{Start: next, End: len(text)}}
		if len(open) > 0 {
			s.Parent = open[len(open)-1]
			s.Path = slices.Clone(out[s.Parent].Path)
		}
		s.Path = append(s.Path, h.Text)
		open = append(open, len(out))
		out = append(out, s)
	}
	return out
}

func (s *Section) end(at int) { s.Span.End, s.Body.End = at, at }

// lineStart returns the start of the line that contains an offset.
func lineStart(text []byte, at int) int {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	if start == 0 && bytes.HasPrefix(text, []byte(bom)) {
		start = min(at, len(bom))
	}
	return start
}

// NoPartError reports that a note lacks a part. Have lists the parts it has.
type NoPartError struct {
	Kind string // heading, block or property
	Want string
	Have []string
}

func (e *NoPartError) Error() string {
	return fmt.Sprintf("the note has no %s %q", e.Kind, fault.Clip(e.Want, 100))
}

func (e *NoPartError) Unwrap() error { return fault.NotFound }

// Hint lists the existing parts.
func (e *NoPartError) Hint() string {
	const most = 20
	switch {
	case len(e.Have) == 0:
		return "it has no " + e.Kind + " at all"
	case len(e.Have) > most:
		return fmt.Sprintf("it has %s and %d more", strings.Join(e.Have[:most], ", "), len(e.Have)-most)
	}
	return "it has " + strings.Join(e.Have, ", ")
}

// AmbiguousPartError reports that several sections match a name.
type AmbiguousPartError struct {
	Want  string
	Names []string // their full paths
	Lines []int
}

func (e *AmbiguousPartError) Error() string {
	return fmt.Sprintf("%d headings are called %q", len(e.Names), fault.Clip(e.Want, 100))
}

func (e *AmbiguousPartError) Unwrap() error { return fault.InvalidArgument }

// Hint says how to choose one of the sections.
func (e *AmbiguousPartError) Hint() string {
	total, seen := map[string]int{}, map[string]int{}
	how := "name the headings above it too, joined by " + PathSeparator
	for _, name := range e.Names {
		if total[name]++; total[name] == 2 {
			how = "name it with its headings and, of several alike, its number in brackets"
		}
	}
	var places []string
	for i, name := range e.Names {
		if seen[name]++; total[name] > 1 {
			name = fmt.Sprintf("%s[%d]", name, seen[name])
		}
		places = append(places, fmt.Sprintf("%s (line %d)", name, e.Lines[i]))
	}
	return how + ": " + strings.Join(places, ", ")
}

// FindSection returns the index of the section with a path. Outer headings may be
// omitted. A path that matches several sections is an error, unless it is the complete
// path of exactly one. Headings are compared literally or, if none matches, ignoring case
// and markup. "Log[2]" means the second section with the path "Log", unless a heading has
// the text "Log[2]".
func FindSection(sections []Section, path string) (int, error) {
	found := findSections(sections, path)
	if len(found) == 0 {
		if name, n, ok := numbered(path); ok {
			if alike := findSections(sections, name); len(alike) >= n {
				return alike[n-1], nil
			}
		}
	}
	switch len(found) {
	case 0:
		e := &NoPartError{Kind: "heading", Want: path}
		for i := range sections {
			e.Have = append(e.Have, sections[i].Name())
		}
		return 0, e
	case 1:
		return found[0], nil
	}
	e := &AmbiguousPartError{Want: path}
	for _, i := range found {
		e.Names, e.Lines = append(e.Names, sections[i].Name()), append(e.Lines, sections[i].Line)
	}
	return 0, e
}

// numbered splits off a number in brackets from the end of a path.
func numbered(path string) (name string, n int, ok bool) {
	name, ok = strings.CutSuffix(strings.TrimSpace(path), "]")
	i := strings.LastIndexByte(name, '[')
	if !ok || i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	return name[:i], n, err == nil && n > 0
}

// findSections returns the sections that match a path by the strictest comparison that
// finds any.
func findSections(sections []Section, path string) []int {
	have := make([][]string, len(sections))
	for i := range sections {
		have[i] = sections[i].Path
	}
	var plain [][]string // have, each heading normalized
	known := map[string]string{}
	for _, want := range targetPaths(path) {
		if found := fitting(have, want); len(found) > 0 {
			return found
		}
		if plain == nil {
			for _, p := range have {
				plain = append(plain, plainHeadings(p, known))
			}
		}
		if found := fitting(plain, plainHeadings(want, known)); len(found) > 0 {
			return found
		}
	}
	return nil
}

// plainHeadings normalizes the headings of a path. It keeps them in known, because the headings of
// one section begin the paths of those below it.
func plainHeadings(path []string, known map[string]string) []string {
	out := make([]string, len(path))
	for i, s := range path {
		if _, ok := known[s]; !ok {
			known[s] = plainHeading(s)
		}
		out[i] = known[s]
	}
	return out
}

// fitting returns the indexes of the paths in have that match want by the strictest comparison
// that finds any.
func fitting(have [][]string, want []string) (found []int) {
	for _, fits := range []func(have, want []string) bool{slices.Equal[[]string], fitsEnd, fitsWithin} {
		for i := range have {
			if fits(have[i], want) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// targetPaths returns the ways to read a path: as a single heading, which may contain the
// separator, and split at the separators. Both are tried with and without #s, which
// callers may have copied.
func targetPaths(path string) [][]string {
	split := splitPath(path)
	out := [][]string{{strings.TrimSpace(path)}}
	if len(split) > 1 {
		out = append(out, split)
	}
	bare := make([]string, len(split))
	for i, s := range split {
		if n := countByte([]byte(s), '#'); n > 0 && n <= 6 && n < len(s) && s[n] == ' ' {
			s = strings.TrimSpace(s[n:])
		}
		bare[i] = s
	}
	if !slices.Equal(bare, split) {
		out = append(out, bare)
	}
	return out
}

func splitPath(path string) []string {
	var out []string
	for _, s := range strings.Split(path, PathSeparator) {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

func fitsEnd(have, want []string) bool {
	return len(have) >= len(want) && slices.Equal(have[len(have)-len(want):], want)
}

// fitsWithin reports whether have and want end in the same heading and the other headings
// of want occur in have in the same order.
func fitsWithin(have, want []string) bool {
	if have[len(have)-1] != want[len(want)-1] {
		return false
	}
	want = want[:len(want)-1]
	for _, h := range have[:len(have)-1] {
		if len(want) > 0 && h == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// plainHeading normalizes a heading: it folds case, replaces links by their text, and
// removes emphasis, code ticks and escapes.
func plainHeading(s string) string {
	text := []byte(s)
	var note Note
	scan := inlineScanner{p: text, note: &note}
	scan.run(context.Background()) // one line, so no context is needed
	sortLinks(note.Links)
	var b strings.Builder
	at := 0
	for _, l := range note.Links {
		if l.Span.Start < at || l.Kind == Autolink {
			continue
		}
		b.Write(text[at:l.Span.Start])
		switch {
		case l.Alias != "":
			b.WriteString(l.Alias)
		default:
			b.WriteString(l.Path)
		}
		at = l.Span.End
	}
	b.Write(text[at:])
	out := strings.NewReplacer("**", "", "__", "", "==", "", "~~", "", "*", "", "`", "", "\\", "").Replace(b.String())
	return fold(strings.Join(strings.Fields(out), " "))
}

// Part is a block with an id.
type Part struct {
	ID      BlockID
	Kind    BlockKind
	Span    Span // includes the id if that is inside the block
	Content Span // excludes the id
	Alone   bool // the id is on its own line after the block
}

// FindBlock returns the block with an id. As in Obsidian, case is ignored.
func (n *Note) FindBlock(text []byte, id string) (Part, error) {
	id = strings.TrimPrefix(strings.TrimSpace(id), "^")
	e := &NoPartError{Kind: "block", Want: id}
	for _, b := range n.BlockIDs {
		if !strings.EqualFold(b.ID, id) {
			e.Have = append(e.Have, "^"+b.ID)
			continue
		}
		if p, ok := n.part(text, b); ok {
			return p, nil
		}
	}
	return Part{}, e
}

// Parts returns the blocks with ids, in order. If an id is repeated, only its first block
// counts.
func (n *Note) Parts(text []byte) []Part {
	var out []Part
	first := map[string]int{} // index in out, plus 1
	for _, b := range n.BlockIDs {
		id := strings.ToLower(b.ID)
		if at := first[id]; at > 0 {
			again := out[at-1]
			again.ID.ID = b.ID
			out = append(out, again)
		} else if p, ok := n.part(text, b); ok {
			out = append(out, p)
			first[id] = len(out)
		}
	}
	return out
}

// lastBefore returns the index of the last span that begins at or before an offset, or -1.
// The list must be sorted and its spans disjoint, as they are for blocks and for items.
func lastBefore[T any](list []T, at int, span func(*T) Span) int {
	i, _ := slices.BinarySearchFunc(list, at, func(t T, at int) int {
		if span(&t).Start <= at {
			return -1
		}
		return 1
	})
	return i - 1
}

// part finds the block that an id belongs to: the list item or outermost block that
// contains it or, if the id is alone on its line, the preceding block.
func (n *Note) part(text []byte, id BlockID) (Part, bool) {
	at := lastBefore(n.Blocks, id.Span.Start, func(b *Block) Span { return b.Span })
	if at < 0 || n.Blocks[at].Span.End < id.Span.End {
		return Part{}, false
	}
	b := n.Blocks[at]
	whole, inner := Span{}, Span{Start: lineStart(text, id.Span.Start), End: id.Span.End}
	whole.Start, whole.End = trim(text, b.Span.Start, b.Span.End)
	if whole == id.Span { // the id is alone on its line
		if at == 0 {
			return Part{}, false
		}
		before := n.Blocks[at-1]
		p := Part{ID: id, Kind: before.Kind, Alone: true, Span: before.Span, Content: before.Span}
		return p, before.Kind != BlockHeading
	}
	if b.Kind == BlockTable && len(bytes.TrimSpace(text[inner.Start:id.Span.Start])) == 0 {
		end := lineStart(text, id.Span.Start) - 1
		if end > 0 && text[end-1] == '\r' {
			end--
		}
		return Part{ID: id, Kind: b.Kind, Alone: true, Span: Span{Start: b.Span.Start, End: end}, Content: Span{Start: b.Span.Start, End: end}}, true
	}
	span := b.Span
	kind := b.Kind
	if i := lastBefore(n.Items, id.Span.Start, func(it *Item) Span { return it.Span }); i >= 0 && id.Span.End <= n.Items[i].Span.End {
		span = n.Items[i].Span
	}
	content := Span{Start: span.Start, End: id.Span.Start}
	_, content.End = trim(text, content.Start, content.End)
	return Part{ID: id, Kind: kind, Span: span, Content: content}, true
}
