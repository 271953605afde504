package rename

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/symbols"
	"quarry/search"
)

// target finds the definition to rename.
func (f *finder) target(ctx context.Context, from Source) error {
	file, name, given := strings.Cut(f.q.Old, "#")
	if !given {
		file, name = "", f.q.Old
	}
	name, call := strings.CutSuffix(name, "()")
	name = strings.ReplaceAll(strings.ReplaceAll(name, "::", "."), "->", ".")
	f.container, f.name = "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		f.container, f.name = name[:i], name[i+1:]
	}
	if f.name == f.q.New {
		return fault.New(fault.InvalidArgument, "the old and the new name are the same", "")
	}
	r, err := from.Symbols(ctx, search.SymbolQuery{Name: f.name, Limit: 5000})
	if err != nil {
		return err
	}
	groups := map[string][]search.Symbol{}
	for _, s := range r.Symbols {
		if s.Name != f.name || s.Kind == "heading" || constructs(symbols.Language(s.Path, nil), s.Name, s.Container, s.Kind) {
			continue
		}
		f.same = append(f.same, s)
		if given && s.Path != file && fmt.Sprintf("%s:%d", s.Path, s.Line) != file || call && s.Kind != "method" && s.Kind != "function" && s.Kind != "prototype" {
			continue
		}
		if f.container != "" && s.Container != f.container && !strings.HasSuffix(s.Container, "."+f.container) && path.Base(path.Dir(s.Path)) != f.container {
			continue
		}
		groups[group(&s)] = append(groups[group(&s)], s)
	}
	if given && f.container == "" && len(groups) > 1 { // prefer the definition at the top level of the file
		maps.DeleteFunc(groups, func(_ string, g []search.Symbol) bool { return g[0].Container != "" })
	}
	switch len(groups) {
	case 0:
		return fault.New(fault.NotFound, fmt.Sprintf("no definition of %s", f.q.Old), "similar names: find_symbol with fuzzy, on the command line quarry symbols --name; a file is renamed by move_file or quarry mv")
	case 1:
	default:
		var list []string
		for _, g := range groups {
			at := g[0].Path
			if given || slices.ContainsFunc(slices.Collect(maps.Values(groups)), func(o []search.Symbol) bool {
				return o[0].Path == at && o[0].Line != g[0].Line && o[0].Container == g[0].Container
			}) {
				at = fmt.Sprintf("%s:%d", at, g[0].Line)
			}
			list = append(list, at+"#"+qualified(&g[0]))
		}
		slices.Sort(list)
		return fault.New(fault.InvalidArgument, fmt.Sprintf("there are %d definitions of %s: %s", len(groups), f.q.Old, strings.Join(list[:min(len(list), 10)], ", ")), "name one of them like that")
	}
	for key := range groups {
		for _, s := range f.same { // all definitions in the group
			if group(&s) == key {
				f.targets = append(f.targets, s)
			}
		}
	}
	if i := slices.IndexFunc(f.targets, func(s search.Symbol) bool { return strings.HasPrefix(path.Ext(s.Path), ".h") }); i > 0 {
		f.targets[0], f.targets[i] = f.targets[i], f.targets[0] // begin with the declaration in the header
	}
	d := &f.targets[0]
	f.out.Definition, f.container, f.kind, f.at = *d, d.Container, d.Kind, path.Dir(d.Path)
	f.lang, f.home = symbols.Language(d.Path, nil), d.Path
	f.alone = !slices.ContainsFunc(f.same, func(s search.Symbol) bool {
		lang := symbols.Language(s.Path, nil)
		return !slices.Contains(f.targets, s) && (lang == f.lang || related(lang, f.lang))
	})
	if f.lang == "Go" {
		return nil
	}
	return f.surroundings(ctx, from)
}

// surroundings determines the definition's context.
func (f *finder) surroundings(ctx context.Context, from Source) error {
	texts := f.out.Texts
	c, _, err := f.take(ctx, from, f.home)
	if f.out.Texts = texts; c == nil {
		return err
	}
	f.lang, f.pkg = c.Language, c.packageOf()
	for k := range c.defs {
		d := &c.defs[k]
		if d.Name != f.name || d.Container != f.container {
			continue
		}
		if t := c.typeAt(d.NameAt); (t == nil || t.Name != last(f.container)) && (f.kind == "method" || f.kind == "field") && (c.lang == "JavaScript" || c.lang == "TypeScript") {
			f.member, f.keyed = true, true
		} else if t != nil && t.Name == last(f.container) {
			f.member, f.bare = true, c.basesLack(ctx, from, t, map[string]bool{})
		} else if in := c.outermost(d.NameAt - 1); in != nil && in.NameAt != d.NameAt && f.container != "" && (in.Name == last(f.container) || strings.Contains(f.container, in.Name)) {
			f.local = in
		}
	}
	if strings.Contains(f.container, ".") && !f.member && f.local == nil || c.lang == "C++" && f.container != "" && !f.member && f.kind != "function" && f.kind != "prototype" && !f.isType() {
		f.member = true // its class is in another file
	}
	f.carriers = map[string]bool{}
	for _, d := range f.targets {
		f.carriers[stem(d.Path)] = true
	}
	if f.container == "" {
		return nil
	}
	r, err := from.Symbols(ctx, search.SymbolQuery{Name: last(f.container), Limit: 5000})
	if err != nil {
		return err
	}
	for _, s := range r.Symbols {
		whole := qualified(&s)
		f.rivals = f.rivals || s.Name == last(f.container) && isType(s.Kind) && whole != f.container
	}
	return nil
}

func qualified(s *search.Symbol) string {
	if s.Container != "" {
		return s.Container + "." + s.Name
	}
	return s.Name
}

// group returns a key. Definitions with the same key are renamed together. In Go it is the
// package and the container, since a function may be defined in a file per operating
// system.
func group(s *search.Symbol) string {
	if symbols.Language(s.Path, nil) == "Go" {
		return path.Dir(s.Path) + " " + s.Container
	}
	switch symbols.Language(s.Path, nil) {
	case "C", "C++": // declared in a header, defined in a source file
		return stem(path.Base(s.Path)) + " " + s.Container
	case "Java": // a field and a method may share a name
		return s.Path + " " + s.Container + " " + s.Kind
	}
	return s.Path + " " + s.Container
}
