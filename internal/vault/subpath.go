package vault

import (
	"context"
	"fmt"
	"strings"

	"quarry/fault"
)

// Obsidian treats punctuation and runs of blanks as one blank when it compares a heading
// with the subpath of a link, and when it writes a subpath.
var (
	headingMarks = strings.NewReplacer("!", " ", "\"", " ", "#", " ", "$", " ", "%", " ", "&", " ", "(", " ", ")", " ", "*", " ",
		"+", " ", ",", " ", ".", " ", ":", " ", ";", " ", "<", " ", "=", " ", ">", " ", "?", " ", "@", " ", "^", " ", "`", " ",
		"{", " ", "|", " ", "}", " ", "~", " ", "/", " ", "[", " ", "]", " ", "\\", " ", "\r", " ", "\n", " ")
	linkMarks = strings.NewReplacer(":", " ", "#", " ", "|", " ", "^", " ", "\\", " ", "\r", " ", "\n", " ", "%%", " ", "[[", " ", "]]", " ")
)

func headingKey(s string) string {
	return fold(strings.Join(strings.Fields(headingMarks.Replace(s)), " "))
}

// SameSubpath reports whether two subpaths of links end in the same heading or block.
func SameSubpath(a, b string) bool {
	a, b = a[strings.LastIndexByte(a, '#')+1:], b[strings.LastIndexByte(b, '#')+1:]
	return strings.HasPrefix(a, "^") == strings.HasPrefix(b, "^") && headingKey(a) == headingKey(b)
}

// HeadingSubpath returns the subpath by which a link names a heading.
func HeadingSubpath(heading string) string {
	return strings.Join(strings.Fields(linkMarks.Replace(heading)), " ")
}

// anchors are the headings that links can refer to, including those in quotes and lists.
type anchors struct {
	list []Section
	keys []string         // the headingKey of each heading
	by   map[string][]int // the indexes of the headings with a key
}

func (n *Note) anchors(text []byte) *anchors {
	all := *n
	all.Headings = append([]Heading(nil), n.Headings...)
	for i := range all.Headings {
		all.Headings[i].Nested = false
	}
	a := &anchors{list: all.Sections(text), by: map[string][]int{}}
	for i := range a.list {
		key := headingKey(a.list[i].Heading.Text)
		a.keys, a.by[key] = append(a.keys, key), append(a.by[key], i)
	}
	return a
}

// subpathParts splits "#a#b" into its headings. It returns nil for a block.
func subpathParts(subpath string) []string {
	if !strings.HasPrefix(subpath, "#") || strings.HasPrefix(subpath, "#^") {
		return nil
	}
	return strings.Split(subpath[1:], "#")
}

// find returns the index of the heading that a subpath refers to, or -1: the first whose
// text is the last part and which is below the headings of the other parts. on[i] is the
// heading of part i.
func (a *anchors) find(parts []string) (at int, on []int) {
	if len(parts) == 0 {
		return -1, nil
	}
	keys := make([]string, len(parts))
	for i, p := range parts {
		keys[i] = headingKey(p)
	}
	for _, i := range a.by[keys[len(keys)-1]] {
		on = make([]int, len(parts))
		k := len(parts) - 1
		for up := i; up >= 0 && k >= 0; up = a.list[up].Parent {
			if a.keys[up] == keys[k] {
				on[k] = up
				k--
			}
		}
		if k < 0 {
			return i, on
		}
	}
	return -1, nil
}

// Relink is the renaming of a heading or block id, including the links to it.
type Relink struct {
	Path  string // the note that contains it
	Own   Splice // the change of the heading's text or the id
	Links int    // number of links rewritten
	Files []FileEdit
	// Broken counts the links that can't express the new heading; BrokenIn lists their
	// files.
	Broken   int
	BrokenIn []string
	Already  int // number of formerly broken links that resolve to the new name
}

// RenameHeading plans to rename the heading of a section. sources are the files that may
// link to the note, including the note; resolve returns the file that a link resolves to.
// Links to the heading, or to one below it that name it, are rewritten. Their displayed
// text changes, too, if it is the old heading and keepTexts is not set.
func RenameHeading(ctx context.Context, path string, text []byte, section, to string, sources []string, read func(string) ([]byte, error), resolve func(source string, l *Link) (string, bool), keepTexts bool) (*Relink, error) {
	to = strings.TrimSpace(to)
	if to == "" || strings.ContainsAny(to, "\r\n") {
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid heading %q: it must be one line", fault.Clip(to, 60)), "")
	}
	n, err := Scan(ctx, text)
	if err != nil {
		return nil, err
	}
	sections := n.Sections(text)
	at, err := FindSection(sections, section)
	if err != nil {
		return nil, err
	}
	h := sections[at].Heading
	if rest := strings.TrimLeft(to, "#"); strings.HasPrefix(rest, " ") && len(to)-len(rest) <= 6 {
		if len(to)-len(rest) != h.Level {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid heading %q: a rename keeps the level %d", fault.Clip(to, 60), h.Level), "give the text without #")
		}
		to = strings.TrimSpace(rest)
	}
	r := &Relink{Path: path, Own: Splice{Span: h.TextSpan, New: to}}
	changed, err := ApplySplices(text, []Splice{r.Own})
	if err != nil {
		return nil, err
	}
	m, err := Scan(ctx, changed)
	if err != nil {
		return nil, err
	}
	before, after := n.anchors(text), m.anchors(changed)
	own := -1
	for i := range before.list {
		if before.list[i].Heading.Span.Start == h.Span.Start {
			own = i
		}
	}
	if len(after.list) != len(before.list) || own < 0 || after.list[own].Heading.Level != h.Level || after.list[own].Heading.Text != to {
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid heading %q: it would not read back as one", fault.Clip(to, 60)), "")
	}
	rename := func(subpath string) (string, bool, bool) {
		parts := subpathParts(subpath)
		target, on := before.find(parts)
		if target < 0 {
			if got, _ := after.find(parts); got == own {
				r.Already++
			}
			return "", false, true
		}
		touched := false
		for i, a := range on {
			if a == own {
				parts[i], touched = HeadingSubpath(to), true
			}
		}
		if got, _ := after.find(parts); got == target {
			return "#" + strings.Join(parts, "#"), touched, true
		}
		for up := after.list[on[0]].Parent; up >= 0; up = after.list[up].Parent { // add the next outer heading
			parts = append([]string{HeadingSubpath(after.list[up].Heading.Text)}, parts...)
			if got, _ := after.find(parts); got == target {
				return "#" + strings.Join(parts, "#"), true, true
			}
		}
		return "", true, false
	}
	return r, r.collect(ctx, path, sources, read, resolve, keepTexts, rename)
}

// RenameBlock plans to change the id of a block, like [RenameHeading].
func RenameBlock(ctx context.Context, path string, text []byte, id, to string, sources []string, read func(string) ([]byte, error), resolve func(source string, l *Link) (string, bool)) (*Relink, error) {
	to = strings.TrimPrefix(strings.TrimSpace(to), "^")
	for i := range len(to) {
		if !isAlnum(to[i]) && to[i] != '-' {
			to = ""
			break
		}
	}
	if to == "" {
		return nil, fault.New(fault.InvalidArgument, "invalid block id", "use letters, digits and - only")
	}
	n, err := Scan(ctx, text)
	if err != nil {
		return nil, err
	}
	p, err := n.FindBlock(text, id)
	if err != nil {
		return nil, err
	}
	if other, err := n.FindBlock(text, to); err == nil && other.ID.Span != p.ID.Span {
		return nil, fault.New(fault.AlreadyExists, fmt.Sprintf("the note has a block ^%s already", to), "")
	}
	r := &Relink{Path: path, Own: Splice{Span: Span{Start: p.ID.Span.Start + 1, End: p.ID.Span.End}, New: to}}
	rename := func(subpath string) (string, bool, bool) {
		old, ok := strings.CutPrefix(subpath, "#^")
		return "#^" + to, ok && strings.EqualFold(old, p.ID.ID), true
	}
	return r, r.collect(ctx, path, sources, read, resolve, false, rename)
}

// collect finds the links to rewrite. rename returns the new subpath of a link, whether
// it differs from the old one, and whether a link can express it.
func (r *Relink) collect(ctx context.Context, path string, sources []string, read func(string) ([]byte, error), resolve func(string, *Link) (string, bool), keepTexts bool, rename func(string) (string, bool, bool)) error {
	for _, source := range sources {
		text, err := read(source)
		if err != nil {
			return fmt.Errorf("links of %s: %w", source, err)
		}
		e := FileEdit{From: source, To: source}
		broken := 0
		links, err := ScanLinks(ctx, source, text)
		if err != nil {
			return err
		}
		for i, l := range links {
			if i%16 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if l.External || l.Subpath == "" {
				continue
			}
			if target, ok := resolve(source, &l); !ok || target != path {
				continue
			}
			to, touched, ok := rename(l.Subpath)
			if !ok {
				broken++
				continue
			}
			if !touched || to == l.Subpath {
				continue
			}
			splices, ok := l.subpathSplices(text, to)
			if !ok {
				broken++
				continue
			}
			if keepTexts {
				splices = splices[:1]
			}
			e.Splices = append(e.Splices, splices...)
			e.Links++
		}
		e.Texts = len(e.Splices) - e.Links // a link's second splice changes its displayed text
		if source == path {
			e.Splices = append(e.Splices, r.Own)
			r.dropInside(&e)
		}
		if broken > 0 {
			r.Broken += broken
			r.BrokenIn = append(r.BrokenIn, source)
		}
		r.Links += e.Links
		if len(e.Splices) > 0 {
			r.Files = append(r.Files, e)
		}
	}
	return nil
}

// dropInside drops the rewrites of links in the heading itself, since its text is
// replaced.
func (r *Relink) dropInside(e *FileEdit) {
	kept := e.Splices[:0]
	for _, s := range e.Splices {
		if s != r.Own && s.Start < r.Own.End && r.Own.Start < s.End {
			e.Links--
			continue
		}
		kept = append(kept, s)
	}
	e.Splices = kept
}

// subpathSplices writes another subpath into a link. If the displayed text is the old
// subpath, in Obsidian's form "note > heading", it changes, too.
func (l *Link) subpathSplices(text []byte, to string) ([]Splice, bool) {
	raw := to
	switch l.Kind {
	case Markdown, Reference:
		raw = "#" + encodeDestination(to[1:], l.angle, l.SubpathSpan.In(text))
		raw = strings.ReplaceAll(raw, "%23", "#") // # separates headings
		if strings.HasPrefix(to, "#^") {
			raw = to
		}
	case Wiki:
		if strings.ContainsAny(to, "[]|\n\r") {
			return nil, false
		}
	}
	quoted, ok := l.quote.encode(raw)
	if !ok {
		return nil, false
	}
	out := []Splice{{Span: l.SubpathSpan, New: quoted}}
	old := strings.TrimPrefix(l.Subpath, "#")
	if l.AliasSpan.Len() > 0 && old != "" && !strings.HasPrefix(old, "^") {
		for _, sep := range []string{" > ", "#"} {
			if strings.ReplaceAll(l.Alias, sep, "#") == old {
				alias, ok := l.quote.encode(strings.ReplaceAll(to[1:], "#", sep))
				if ok && strings.TrimSpace(string(l.AliasSpan.In(text))) == l.Alias {
					out = append(out, Splice{Span: l.AliasSpan, New: alias})
				}
				break
			}
		}
	}
	return out, true
}
