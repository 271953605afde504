package vault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Graph holds the files of a vault and their links. With it, a move reads only the notes
// that it may affect: those that mention the old or the new name of a file. A Graph
// stores no text. It takes about 120 bytes for each distinct link.
//
// Several goroutines may read a Graph at once. A change requires exclusive access.
type Graph struct {
	index   *Index
	sources map[string]*source
	// refs maps a nameKey to the sources that contain such a link. The values are slices,
	// although removing an element requires a search: for 100,000 notes with five links
	// each, sets would take 12 MB more.
	refs map[string][]*source
}

type source struct {
	path    string
	targets []target
	self    int // links to headings and blocks of the same note, which have no file name
}

// target is one distinct link path of a source.
type target struct {
	path  string
	key   string // nameKey(path)
	kind  Kind   // Wiki, unless the kind decides how the path is resolved
	count int
}

// NewGraph reads every note and canvas of a vault; plain is for [Index.Plain]. An
// unreadable file is kept without links and named in the error. The graph is usable
// nevertheless, unless ctx has ended.
func NewGraph(ctx context.Context, files Files, plain func(source string) bool) (*Graph, error) {
	paths := files.Paths()
	g := &Graph{index: NewIndex(paths), sources: make(map[string]*source), refs: make(map[string][]*source)}
	g.index.Plain = plain
	var failed []error
	for _, p := range paths {
		if !HasLinks(p) {
			continue
		}
		text, err := files.Read(p)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		links, err := ScanLinks(ctx, p, text)
		if err != nil {
			return nil, err
		}
		g.setLinks(p, links)
	}
	if len(failed) > 0 {
		return g, fmt.Errorf("links of %d file(s) are unknown: %w", len(failed), failed[0])
	}
	return g, nil
}

// Backlinks returns the files that link to path, in path order.
func (g *Graph) Backlinks(path string) []string {
	var out []string
	v := view{base: g.index}
	for _, s := range g.refs[nameKey(path)] {
		if slices.ContainsFunc(s.targets, func(t target) bool {
			p, ok := v.resolveTarget(s.path, t.path, t.kind)
			return ok && p == path
		}) {
			out = append(out, s.path)
		}
	}
	slices.Sort(out)
	return out
}

// Ref is a link in a file and how often it occurs there.
type Ref struct {
	Source string
	Link   string // the path as written, "" for a link to the file itself
	Target string // the file that the link resolves to, "" if there is none
	Count  int
}

// Outgoing returns the links of a file, in the order of their first occurrence.
func (g *Graph) Outgoing(path string) []Ref {
	s := g.sources[path]
	if s == nil {
		return nil
	}
	var out []Ref
	v := view{base: g.index}
	if s.self > 0 {
		out = append(out, Ref{Source: path, Target: path, Count: s.self})
	}
	for _, t := range s.targets {
		p, _ := v.resolveTarget(path, t.path, t.kind)
		out = append(out, Ref{Source: path, Link: t.path, Target: p, Count: t.count})
	}
	return out
}

// ResolveLink returns the file that a link in source resolves to.
func (ix *Index) ResolveLink(source string, l *Link) (string, bool) {
	if l.External {
		return "", false
	}
	return view{base: ix}.resolveTarget(source, l.Path, l.Kind)
}

// NameKey returns the key shared by a file and every link that could mean it.
func NameKey(path string) string { return nameKey(path) }

// nameKey returns the key shared by a file and every link that could resolve to it: the
// folded name without ".md". Spellings of a link with and without ".md" have the same
// key.
func nameKey(path string) string {
	name := fold(base(path))
	for strings.HasSuffix(name, ".md") {
		name = name[:len(name)-3]
	}
	return name
}

func (g *Graph) setLinks(path string, links []Link) {
	if s := g.sources[path]; s != nil {
		for _, t := range s.targets {
			g.dropRef(t.key, s)
		}
		delete(g.sources, path)
	}
	s := &source{path: path}
	seen := map[target]int{}
	for _, l := range links {
		if l.External || l.Path == "" {
			if !l.External && l.Subpath != "" {
				s.self++
			}
			continue
		}
		t := target{path: l.Path}
		if l.Kind == CanvasFile || g.index.Plain != nil {
			t.kind = l.Kind
		}
		if at, ok := seen[t]; ok {
			s.targets[at].count++
			continue
		}
		seen[t] = len(s.targets)
		t.count = 1
		t.path = strings.Clone(t.path) // a copy, so that the note's text can be freed
		s.targets = append(s.targets, t)
	}
	s.targets = slices.Clone(s.targets) // without unused capacity
	for i := range s.targets {
		t := &s.targets[i]
		t.key = nameKey(t.path)
		if list := g.refs[t.key]; len(list) == 0 || list[len(list)-1] != s {
			g.refs[t.key] = append(list, s)
		}
	}
	if len(s.targets) > 0 || s.self > 0 {
		g.sources[path] = s
	}
}

// dropRef removes a source from the list of a name. The source may already be missing,
// because two links of a source can have the same name.
func (g *Graph) dropRef(key string, s *source) {
	list := g.refs[key]
	at := slices.Index(list, s)
	if at < 0 {
		return
	}
	last := len(list) - 1
	list[at], list[last] = list[last], nil
	if g.refs[key] = list[:last]; last == 0 {
		delete(g.refs, key)
	}
}

// resolveTarget resolves a link, or the file of a canvas node.
func (v view) resolveTarget(source, link string, kind Kind) (string, bool) {
	switch {
	case kind == CanvasFile:
		return v.exact(link)
	case link != "" && v.isPlain(source, kind):
		return v.plain(source, link)
	}
	return v.resolve(source, link)
}

// concerned returns the sources that a set of moves may affect, in path order.
func (g *Graph) concerned(moves []Move) []*source {
	set := map[*source]struct{}{}
	for _, m := range moves {
		for _, key := range []string{nameKey(m.From), nameKey(m.To)} {
			for _, s := range g.refs[key] {
				set[s] = struct{}{}
			}
		}
		if s := g.sources[m.From]; s != nil {
			set[s] = struct{}{}
		}
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b *source) int { return strings.Compare(a.path, b.path) })
}
