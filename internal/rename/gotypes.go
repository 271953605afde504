package rename

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"quarry/internal/symbols"
)

// spot is the position of a name in a file.
type spot struct {
	path string
	at   int
}

// verdict is the classification of a name, based on types.
type verdict struct {
	class
	why string
}

// checked judges the names in a Go module by their types. Packages are checked several
// times, for example with and without tests, and each time have different objects. So a
// definition is identified by the position of its name.
type checked struct {
	*packages
	f        *finder
	ours     map[spot]bool // renamed definitions, and fields that embed them
	verdicts map[spot]verdict
	// Other methods with the name, and whether an interface declares it. If one does, all
	// of them may have to be renamed together.
	methods  map[spot]bool
	declared bool
}

// checkTypes judges the occurrences of the name in the definition's module. Those in
// unreadable files get no verdict.
func (f *finder) checkTypes(ctx context.Context, from Source, paths []string) error {
	if f.lang != "Go" {
		return nil
	}
	list, err := f.packages(ctx, from)
	if err != nil {
		return err
	}
	c := &checked{packages: list, f: f, ours: map[spot]bool{}, verdicts: map[spot]verdict{}, methods: map[spot]bool{}}
	f.ours = c.ours
	for _, d := range f.targets {
		text, err := from.ReadBytes(ctx, d.Path, maxText)
		if err != nil {
			return err
		}
		for _, s := range symbols.Of(d.Path, text) {
			if s.Name == d.Name && s.Line == d.Line && s.Container == d.Container {
				c.ours[spot{d.Path, s.NameAt}] = true
			}
		}
	}
	dirs := c.dirs(paths)
	// A field that embeds the type has the same name, and may be used anywhere.
	if f.isType() {
		for known := -1; known != len(c.ours); {
			known = len(c.ours)
			if err := c.each(ctx, dirs, c.embedded); err != nil {
				return err
			}
		}
	}
	if err := c.each(ctx, dirs, c.judge); err != nil {
		return err
	}
	for at := range c.methods {
		if c.declared {
			c.verdicts[at] = verdict{doubtful, "may be the same method of an interface"}
		}
	}
	f.types = c.verdicts
	return nil
}

// dirs returns the folders of those files that belong to the module.
func (c *checked) dirs(paths []string) (dirs []string) {
	for _, p := range paths {
		if dir := path.Dir(p); slices.Contains(c.files[dir], p) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// checkedFile is a file of a type-checked package.
type checkedFile struct {
	*goFile
	pkg   *types.Package
	info  *types.Info
	guess bool // the file is not built for any of the platforms
}

// each type-checks the packages in folders. It calls look once for each file, with its
// types on the first platform that the file is built for. Verdicts for files that aren't
// built for any platform are only guesses.
func (c *checked) each(ctx context.Context, dirs []string, look func(*checkedFile)) error {
	for _, dir := range dirs {
		byName := map[string][]*goFile{}
		var names []string
		for _, p := range c.files[dir] {
			if f := c.parse(ctx, p); f != nil {
				name := f.ast.Name.Name
				if byName[name] == nil {
					names = append(names, name)
				}
				byName[name] = append(byName[name], f)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		slices.Sort(names) // so that a package comes before its tests
		with := map[string]*types.Package{}
		for _, name := range names {
			c.variants(ctx, dir, name, byName[name], with, look)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// variants type-checks the files of one package for each platform.
func (c *checked) variants(ctx context.Context, dir, name string, files []*goFile, with map[string]*types.Package, look func(*checkedFile)) {
	imported := c.importPath(dir)
	own, pkg := imported, (*types.Package)(nil)
	if tested, ok := strings.CutSuffix(name, "_test"); ok { // package x_test imports x with its internal tests
		pkg = with[tested]
		imported += "_test"
	}
	from := func(name string) (*types.Package, error) {
		if name == own && pkg != nil {
			return pkg, nil
		}
		return c.load(ctx, name)
	}
	rest := files
	for i := 0; i <= len(platforms) && len(rest) > 0 && ctx.Err() == nil; i++ {
		var list, fresh []*goFile
		guess := i == len(platforms)
		for _, f := range files {
			if fits := guess || f.fits(platforms[i]); fits {
				list = append(list, f)
				if slices.Contains(rest, f) {
					fresh = append(fresh, f)
				}
			}
		}
		if len(fresh) == 0 {
			continue
		}
		rest = slices.DeleteFunc(slices.Clone(rest), func(f *goFile) bool { return slices.Contains(fresh, f) })
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{}}
		pkg := c.check(ctx, imported, list, from, info)
		if pkg == nil {
			continue
		}
		if with[name] == nil {
			with[name] = pkg
		}
		for _, f := range fresh {
			look(&checkedFile{f, pkg, info, guess})
		}
	}
}

// spotOf returns the spot of a position.
func (c *checked) spotOf(at token.Pos) spot {
	if !at.IsValid() {
		return spot{}
	}
	p := c.set.PositionFor(at, false)
	return spot{p.Filename, p.Offset}
}

// embedded adds struct fields that embed one of our types, which gives them its name.
func (c *checked) embedded(f *checkedFile) {
	info := f.info
	ast.Inspect(f.ast, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range s.Fields.List {
			if len(field.Names) > 0 {
				continue
			}
			if id := embeddedName(field.Type); id != nil && id.Name == c.f.name && info.Uses[id] != nil && c.ours[c.spotOf(info.Uses[id].Pos())] {
				c.ours[c.spotOf(id.Pos())] = true
			}
		}
		return true
	})
}

// embeddedName returns the identifier in an embedded field's type that is the field's
// name.
func embeddedName(t ast.Expr) *ast.Ident {
	switch t := t.(type) {
	case *ast.Ident:
		return t
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	case *ast.IndexExpr:
		return embeddedName(t.X)
	case *ast.IndexListExpr:
		return embeddedName(t.X)
	}
	return nil
}

// judge records a verdict for each occurrence of the name in a file.
func (c *checked) judge(f *checkedFile) {
	selected := map[*ast.Ident]*ast.SelectorExpr{}
	keys := map[*ast.Ident]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			selected[n.Sel] = n
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				keys[id] = true
			}
		case *ast.Ident:
			if n.Name != c.f.name {
				return true
			}
			v := c.name(n, f, selected[n], keys[n])
			if f.guess && v.class == sure {
				v = verdict{doubtful, "the file has tags of its own"}
			}
			c.verdicts[c.spotOf(n.Pos())] = v
		}
		return true
	})
}

// name judges one occurrence of the name.
func (c *checked) name(id *ast.Ident, f *checkedFile, in *ast.SelectorExpr, key bool) verdict {
	info := f.info
	at := c.spotOf(id.Pos())
	obj, defines := info.Defs[id]
	if obj == nil {
		if use := info.Uses[id]; use != nil {
			obj = use
		} else if defines { // a package name, or the variable of a type switch
			return verdict{left, "a local name"}
		}
	}
	if obj == nil {
		return c.unresolved(f, in, key)
	}
	if ofInterface(obj) {
		c.declared = true
	}
	if c.ours[at] || c.ours[c.spotOf(obj.Pos())] {
		if c.ours[at] && path.Dir(f.path) == c.f.at && c.f.pkgName == "" {
			c.f.pkgName = f.pkg.Name()
		}
		if in != nil && info.Selections[in] != nil && uncertain(info.Selections[in]) {
			return verdict{doubtful, "an embedded type is not known"}
		}
		if fn, ok := obj.(*types.Func); ok && defines && !ofInterface(fn) && mayBeCalled(fn) {
			return verdict{doubtful, "Go's library may ask for a method of this name"}
		}
		return verdict{sure, ""}
	}
	if fn, ok := obj.(*types.Func); ok && c.f.container != "" && fn.Signature().Recv() != nil {
		c.methods[at] = true
	}
	if defines {
		return verdict{left, "defines another"}
	}
	return verdict{left, "another definition"}
}

// ofInterface reports whether an object is a method declared by an interface.
func ofInterface(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type())
}

// unresolved judges a name whose object is unknown. If the checker doesn't know x, it
// skips T in x.(p.T); in this case the scope tells whether p is our package.
func (c *checked) unresolved(f *checkedFile, in *ast.SelectorExpr, key bool) verdict {
	info := f.info
	own := path.Dir(f.path) == c.f.at
	member := c.f.container != ""
	if in != nil {
		if x, ok := in.X.(*ast.Ident); ok {
			use := info.Uses[x]
			if use == nil {
				if scope := f.pkg.Scope().Innermost(x.Pos()); scope != nil {
					_, use = scope.LookupParent(x.Name, x.Pos())
				}
			}
			if pkg, ok := use.(*types.PkgName); ok {
				switch found := pkg.Imported().Scope().Lookup(in.Sel.Name); {
				case member || pkg.Imported().Path() != c.importPath(c.f.at):
					return verdict{left, "of package " + pkg.Name()}
				case found != nil && c.ours[c.spotOf(found.Pos())]:
					return verdict{sure, ""}
				}
				return verdict{doubtful, "not found in the package"}
			}
		}
		switch {
		case !c.f.exported() && !own:
			return verdict{left, "of another package"}
		case !member && !c.f.isType():
			return verdict{left, "a member"}
		}
		return verdict{doubtful, fmt.Sprintf("the type of %s is not known", shown(in.X))}
	}
	switch {
	case key && member && (own || c.f.exported()):
		return verdict{doubtful, "may be the key of another type"}
	case !member && own:
		return verdict{doubtful, "not resolved"}
	}
	return verdict{left, "of another package"}
}

// shown describes the expression before a dot.
func shown(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.CallExpr:
		return shown(x.Fun) + "()"
	}
	return "an expression"
}

// uncertain reports whether a member is found through embedded fields, one of which has a
// sibling of unknown type. The sibling may have the member, too, at a smaller depth.
func uncertain(s *types.Selection) bool {
	return len(s.Index()) > 1 && embedsUnknown(s.Recv(), len(s.Index()))
}

func embedsUnknown(t types.Type, depth int) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth == 0 {
		return false
	}
	for field := range s.Fields() {
		if !field.Embedded() {
			continue
		}
		of := field.Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		if of.Underlying() == types.Typ[types.Invalid] || embedsUnknown(of, depth-1) {
			return true
		}
	}
	return false
}
