package rename

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"runtime"
	"slices"
	"strings"

	"quarry/search"
)

const (
	// maxChecked limits the text that is type-checked, because parsing 64 MB takes about
	// four seconds. Names in further packages are judged by their tokens.
	maxChecked = 64 << 20
	// maxNested limits the nesting of expressions. The type checker is recursive: a sum
	// of a million terms would overflow its stack, which terminates the process.
	maxNested = 5000
)

// packages are the packages of one Go module, read by Go's own parser and type checker.
// Packages of other modules and of Go's library are not read, so expressions of their
// types have no type here, and names in them are doubtful.
type packages struct {
	from     Source
	mod, dir string              // the module's path and folder
	files    map[string][]string // Go files by folder
	set      *token.FileSet
	imported map[string]*types.Package // by folder; nil while a package is being read
	read     int
	renamed  map[spot]bool // names to treat as the new name
	fresh    string
}

// packages lists the Go files of the definition's module, without nested modules. If
// there is no go.mod, it lists the files of the definition's folder.
func (f *finder) packages(ctx context.Context, from Source) (*packages, error) {
	mod, dir := f.mod, cmp.Or(f.modDir, f.at)
	q := search.FindQuery{Scope: search.Scope{Globs: []string{"*.go", "go.mod"}}}
	if dir != "." {
		q.Paths = []string{dir}
	}
	found, err := from.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	p := &packages{from: from, mod: mod, dir: dir, files: map[string][]string{}, set: token.NewFileSet(), imported: map[string]*types.Package{}}
	other := map[string]bool{}
	for _, e := range found.Entries {
		if at, name := path.Split(e.Path); name == "go.mod" && path.Clean(at) != dir {
			other[path.Clean(at)] = true
		}
	}
	for _, e := range found.Entries {
		if at := path.Dir(e.Path); strings.HasSuffix(e.Path, ".go") && !p.foreign(at, other) && (mod != "" || at == dir) {
			p.files[at] = append(p.files[at], e.Path)
		}
	}
	return p, nil
}

// foreign reports whether a folder belongs to another module, because it is in a nested
// module or below vendor.
func (p *packages) foreign(at string, other map[string]bool) bool {
	for ; at != p.dir && at != "." && at != "/"; at = path.Dir(at) {
		if other[at] || path.Base(at) == "vendor" {
			return true
		}
	}
	return false
}

// importPath returns the import path of a folder of the module.
func (p *packages) importPath(dir string) string {
	switch {
	case dir == p.dir:
		return p.mod
	case p.dir == ".":
		return p.mod + "/" + dir
	}
	return p.mod + strings.TrimPrefix(dir, p.dir)
}

// folder returns the folder of an import path, or "" if the package isn't in the module.
func (p *packages) folder(imported string) string {
	if imported == p.mod {
		return p.dir
	}
	if rel, ok := strings.CutPrefix(imported, p.mod+"/"); ok {
		return path.Join(p.dir, rel)
	}
	return ""
}

var errNotRead = errors.New("the package is not read")

// importer is a types.Importer.
type importer func(imported string) (*types.Package, error)

func (i importer) Import(imported string) (*types.Package, error) { return i(imported) }

// load returns a package as importers see it: without tests and function bodies, for
// Linux.
func (p *packages) load(ctx context.Context, imported string) (*types.Package, error) {
	dir := p.folder(imported)
	if dir == "" || ctx.Err() != nil {
		return nil, errNotRead
	}
	if pkg, ok := p.imported[dir]; ok {
		if pkg == nil {
			return nil, errNotRead // an import cycle
		}
		return pkg, nil
	}
	p.imported[dir] = nil
	var list []*goFile
	for _, name := range p.files[dir] {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if f := p.parse(ctx, name); f != nil && f.fits(platforms[0]) && f.ast.Name.Name != "main" {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					fn.Body = nil
				}
			}
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil, errNotRead
	}
	list = slices.DeleteFunc(list, func(f *goFile) bool { return f.ast.Name.Name != list[0].ast.Name.Name })
	pkg := p.check(ctx, imported, list, func(name string) (*types.Package, error) { return p.load(ctx, name) }, &types.Info{})
	p.imported[dir] = pkg
	if pkg == nil {
		return nil, errNotRead
	}
	return pkg, nil
}

// goFile is a parsed file.
type goFile struct {
	path string
	ast  *ast.File
	when constraint.Expr // of its //go:build line, or nil
}

// parse reads a file. It returns nil if the file is too large or not valid Go.
func (p *packages) parse(ctx context.Context, name string) *goFile {
	if ctx.Err() != nil || p.read > maxChecked {
		return nil
	}
	text, err := p.from.ReadBytes(ctx, name, maxText)
	if err != nil {
		return nil
	}
	p.read += len(text)
	if nested(text) > maxNested {
		return nil
	}
	parsed, err := parser.ParseFile(p.set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	if len(p.renamed) > 0 {
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && p.renamed[spot{name, p.set.PositionFor(id.Pos(), false).Offset}] {
				id.Name = p.fresh
			}
			return true
		})
	}
	f := &goFile{path: name, ast: parsed}
	for line := range strings.Lines(string(text[:parsed.Package-parsed.FileStart])) {
		if constraint.IsGoBuild(line) {
			f.when, _ = constraint.Parse(strings.TrimSpace(line))
		}
	}
	// Remove operators in constants: one that doubles a string sixty times would use up
	// all memory. The values don't affect the meaning of names, and & of strings has no
	// value.
	ast.Inspect(parsed, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			ast.Inspect(d, func(n ast.Node) bool {
				if sum, ok := n.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
					sum.Op = token.AND
				}
				return true
			})
			return false
		}
		return true
	})
	return f
}

// nested returns an upper bound for the nesting of a text's expressions and blocks: the
// number of terms since the last comma or semicolon, summed over all open brackets.
func nested(text []byte) int {
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile("", -1, len(text)), text, nil, 0)
	open := []int{0}
	sum, deepest := 0, 0
	for {
		_, tok, _ := s.Scan()
		top := len(open) - 1
		switch tok {
		case token.EOF:
			return deepest
		case token.COMMA, token.SEMICOLON:
			sum -= open[top]
			open[top] = 0
			continue
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if sum -= open[top]; top > 0 {
				open = open[:top]
			} else {
				open[0] = 0
			}
			continue
		}
		open[top]++
		sum++
		deepest = max(deepest, sum)
		if tok == token.LPAREN || tok == token.LBRACE || tok == token.LBRACK {
			open = append(open, 0)
		}
	}
}

// sizes replaces the checker's computation of type sizes, which takes 2ⁿ steps for n
// structs that each have two fields of the previous one. The checker can't be stopped
// otherwise, so sizes and the error handler stop it when the context is done. It asks for
// sizes at most constants, and reports an error at most names of other modules.
type sizes struct{ look func() }

func (s sizes) Alignof(types.Type) int64 { return 8 }
func (s sizes) Sizeof(types.Type) int64  { s.look(); return 8 }
func (s sizes) Offsetsof(fields []*types.Var) []int64 {
	return make([]int64, len(fields))
}

// check type-checks a package. Errors are expected, since not all imports are read. The
// result is nil if the checker gives up or is stopped.
func (p *packages) check(ctx context.Context, imported string, files []*goFile, from importer, info *types.Info) (pkg *types.Package) {
	stop := func() {
		if ctx.Err() != nil {
			runtime.Goexit() // like a panic, but the checker would print a panic
		}
	}
	conf := types.Config{Importer: from, Error: func(error) { stop() }, FakeImportC: true, DisableUnusedImportCheck: true, Sizes: sizes{stop}}
	var list []*ast.File
	for _, f := range files {
		list = append(list, f.ast)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if recover() != nil {
				pkg = nil
			}
		}()
		pkg, _ = conf.Check(imported, p.set, list, info)
	}()
	<-done
	return pkg
}

// platform is an operating system and a processor.
type platform struct{ system, processor string }

var platforms = []platform{{"linux", "amd64"}, {"windows", "amd64"}, {"darwin", "arm64"}, {"freebsd", "amd64"}, {"js", "wasm"}, {"plan9", "amd64"}, {"linux", "arm64"}, {"linux", "386"}}

var (
	systems    = strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos")
	processors = strings.Fields("386 amd64 arm arm64 loong64 mips mipsle mips64 mips64le ppc64 ppc64le riscv64 s390x sparc64 wasm")
	unlikeUnix = strings.Fields("js nacl plan9 wasip1 windows zos")
)

// fits reports whether a file is built for a platform, according to its //go:build line
// and the suffix of its name.
func (f *goFile) fits(on platform) bool {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test"), "_")
	if n := len(parts); n > 1 {
		last := parts[n-1]
		if slices.Contains(processors, last) {
			if last != on.processor || n > 2 && slices.Contains(systems, parts[n-2]) && parts[n-2] != on.system {
				return false
			}
		} else if slices.Contains(systems, last) && last != on.system {
			return false
		}
	}
	return f.when == nil || f.when.Eval(func(tag string) bool {
		return tag == on.system || tag == on.processor || tag == "unix" && !slices.Contains(unlikeUnix, on.system) || tag == "gc" || tag == "cgo" || strings.HasPrefix(tag, "go1.")
	})
}
