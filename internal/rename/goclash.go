package rename

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"

	"quarry/fault"
	"quarry/search"
)

// clash refuses a new name that would change the meaning of Go code: if a local name would
// hide it, if it would hide an outer name, or if an import already has it.
func (f *finder) clash(ctx context.Context, from Source) error {
	if f.lang != "Go" {
		return nil
	}
	if f.crossing != nil && token.IsExported(f.name) && !token.IsExported(f.q.New) {
		return f.refuse(f.crossing.Path, f.crossing.Line, fmt.Sprintf("the place is in another package, where %s can't be seen", f.q.New))
	}
	paths, err := f.wordsOf(ctx, from, f.q.New)
	if err != nil || len(paths) == 0 {
		return err
	}
	renamed := map[spot]bool{}
	for _, p := range f.out.Sure {
		renamed[spot{p.Path, p.Start}] = true
		paths = append(paths, p.Path)
	}
	if f.q.Doubtful {
		for _, p := range f.out.Doubtful {
			renamed[spot{p.Path, p.Start}] = true
			paths = append(paths, p.Path)
		}
	}
	before, err := f.meanings(ctx, from, paths, nil)
	if err != nil {
		return err
	}
	after, err := f.meanings(ctx, from, paths, renamed)
	if err != nil {
		return err
	}
	return f.compared(ctx, from, before, after, renamed)
}

// refuse returns the error for a new name that conflicts at a line of file p. why is the
// reason.
func (f *finder) refuse(p string, line int, why string) error {
	return fault.New(fault.InvalidArgument, fmt.Sprintf("the new name %s: %s:%d: %s", f.q.New, fault.Printable(p), line, why), "nothing was changed; choose another name")
}

// wordsOf lists the Go files of the module that contain a word.
func (f *finder) wordsOf(ctx context.Context, from Source, word string) (paths []string, err error) {
	q := search.Query{Pattern: `\b` + regexp.QuoteMeta(word) + `\b`, Scope: search.Scope{Globs: []string{"*.go"}}, Detail: search.Files}
	if dir := cmp.Or(f.modDir, f.at); dir != "." {
		q.Paths = []string{dir}
	}
	_, err = from.SearchEach(ctx, q, func(m *search.FileMatch) error {
		paths = append(paths, m.Path)
		return nil
	})
	return paths, err
}

// meaning is the object that an occurrence of a name refers to.
type meaning struct {
	at   spot   // position of its definition; zero for predeclared and unknown objects
	what string // a description
}

// meanings holds the meanings of all occurrences of the new name, before or after the
// rename.
type meanings struct {
	*checked
	of       map[spot]meaning
	imported map[string]int // line of the import, by file of the definition's package that imports the name
	member   bool           // the definition's type has a member with the new name
}

// meanings type-checks the packages of some files. It treats the renamed places as if
// they had the new name.
func (f *finder) meanings(ctx context.Context, from Source, paths []string, renamed map[spot]bool) (*meanings, error) {
	list, err := f.packages(ctx, from)
	if err != nil {
		return nil, err
	}
	list.renamed, list.fresh = renamed, f.q.New
	m := &meanings{checked: &checked{packages: list, f: f, ours: f.ours}, of: map[spot]meaning{}, imported: map[string]int{}}
	return m, m.each(ctx, m.dirs(paths), m.look)
}

// look records the meanings of the new name in a file.
func (m *meanings) look(s *checkedFile) {
	name := m.f.q.New
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			m.of[m.spotOf(id.Pos())] = m.meaning(id, s)
		}
		return true
	})
	if path.Dir(s.path) != m.f.at || s.pkg.Name() != m.f.pkgName {
		return
	}
	if m.f.container == "" {
		if scope := s.info.Scopes[s.ast]; scope != nil && scope.Lookup(name) != nil {
			m.imported[s.path] = m.set.PositionFor(scope.Lookup(name).Pos(), false).Line
		}
		return
	}
	if t := s.pkg.Scope().Lookup(m.f.container); t != nil {
		m.member = m.member || hasMember(t.Type(), name)
	}
}

// hasMember reports whether a type has a member of its own, not one of an embedded type.
func hasMember(t types.Type, name string) bool {
	if named, ok := t.(*types.Named); ok {
		for method := range named.Methods() {
			if method.Name() == name {
				return true
			}
		}
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			if field.Name() == name {
				return true
			}
		}
	}
	return false
}

func (m *meanings) meaning(id *ast.Ident, s *checkedFile) meaning {
	obj := s.info.Defs[id]
	if obj == nil {
		obj = s.info.Uses[id]
	}
	switch {
	case obj == nil:
		return meaning{}
	case !obj.Pos().IsValid():
		return meaning{what: "what Go has built in"}
	}
	p := m.set.PositionFor(obj.Pos(), false)
	at := spot{p.Filename, p.Offset}
	what := "the definition of line"
	if _, ok := obj.(*types.PkgName); ok {
		what = "the import of line"
	} else if obj.Parent() != nil && obj.Pkg() != nil && obj.Parent() != obj.Pkg().Scope() {
		what = "the local name of line"
	}
	what = fmt.Sprintf("%s %d", what, p.Line)
	if p.Filename != s.path {
		what += " of " + fault.Printable(p.Filename)
	}
	return meaning{at, what}
}

// compared returns an error if the new name changes the meaning of a place.
func (f *finder) compared(ctx context.Context, from Source, before, after *meanings, renamed map[spot]bool) error {
	for p, line := range before.imported {
		return f.refuse(p, line, "an import has it, and a package can't have the same name")
	}
	if before.member {
		d := &f.targets[0]
		return f.refuse(d.Path, d.Line, f.container+" has a member of that name")
	}
	places := make([]spot, 0, len(after.of)+len(before.of))
	for at := range after.of {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b spot) int {
		if a.path != b.path {
			return bytes.Compare([]byte(a.path), []byte(b.path))
		}
		return a.at - b.at
	})
	for _, at := range places {
		now := after.of[at]
		why := ""
		switch was := before.of[at]; {
		case renamed[at] && f.types[at].class != sure: // its meaning is unknown
		case renamed[at] && f.ours[now.at]:
		case renamed[at] && now.what == "":
			why = "the meaning of the place would be unknown"
		case renamed[at]:
			why = "the place would mean " + now.what
		case was.at == now.at && was.what == now.what:
		case was.what == "":
			why = "a name that is not known here would mean " + now.what
		default:
			why = fmt.Sprintf("it means %s, and would mean the renamed one", was.what)
			if !f.ours[now.at] {
				why = fmt.Sprintf("it means %s, and would no longer", was.what)
			}
		}
		if why != "" {
			return f.refuse(at.path, f.lineOf(ctx, from, at), why)
		}
	}
	return nil
}

func (f *finder) lineOf(ctx context.Context, from Source, at spot) int {
	text, err := from.ReadBytes(ctx, at.path, maxText)
	if err != nil {
		return 1
	}
	return 1 + bytes.Count(text[:min(at.at, len(text))], []byte{'\n'})
}
