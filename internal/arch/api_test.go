package arch

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxNames limits the types, functions and variables in the four packages for Go
// programs; constants are counted separately.
const maxNames = 140

// TestAPI keeps the public packages small and readable: every exported name has a doc
// comment, and none is an alias of an internal type, whose fields go doc does not show.
func TestAPI(t *testing.T) {
	names, constants := 0, 0
	for _, dir := range []string{".", "search", "change", "fault", "match", "tool", "toolset", "project"} {
		n, c := checkAPI(t, dir)
		if dir == "match" || strings.HasPrefix(dir, "tool") {
			continue
		}
		names, constants = names+n, constants+c
	}
	t.Logf("quarry, search, change and fault export %d types, functions and variables, and %d constants", names, constants)
	if names > maxNames {
		t.Errorf("%d exported names, at most %d wanted", names, maxNames)
	}
}

func checkAPI(t *testing.T, dir string) (names, constants int) {
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no files", dir)
	}
	pkg, err := doc.NewFromFiles(fset, files, dir)
	if err != nil {
		t.Fatal(err)
	}
	documented := func(name, text string) {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s.%s has no doc comment", pkg.Name, name)
		}
	}
	funcs := func(list []*doc.Func, of string) {
		for _, f := range list {
			if ast.IsExported(f.Name) && !standardMethod[f.Name] {
				documented(of+f.Name, f.Doc)
			}
		}
	}
	funcs(pkg.Funcs, "")
	names += len(pkg.Funcs)
	values := append(append([]*doc.Value(nil), pkg.Vars...), pkg.Consts...)
	for _, ty := range pkg.Types {
		names += 1 + len(ty.Funcs)
		documented(ty.Name, ty.Doc)
		funcs(ty.Funcs, "")
		funcs(ty.Methods, ty.Name+".")
		values = append(append(values, ty.Consts...), ty.Vars...)
		for _, spec := range ty.Decl.Specs {
			if ts := spec.(*ast.TypeSpec); ts.Assign.IsValid() && dir != "tool" {
				t.Errorf("%s.%s is an alias", pkg.Name, ty.Name)
			}
		}
	}
	for _, v := range values {
		for _, spec := range v.Decl.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				switch {
				case !name.IsExported():
				case v.Decl.Tok == token.CONST:
					constants++
				default:
					names++
					documented(name.Name, v.Doc+spec.(*ast.ValueSpec).Doc.Text())
				}
			}
		}
	}
	return names, constants
}

// standardMethod lists methods documented by their interface.
var standardMethod = map[string]bool{"Error": true, "String": true, "MarshalJSON": true, "UnmarshalJSON": true}

// TestRoot keeps the package at the module's root small: it is a facade.
func TestRoot(t *testing.T) {
	paths, err := filepath.Glob("../../*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines, files := 0, 0
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files++
		lines += strings.Count(string(data), "\n")
	}
	t.Logf("%d lines in %d files", lines, files)
	if files == 0 || files > 12 || lines > 1200 {
		t.Errorf("package quarry has %d lines in %d files; at most 1,200 in 12 are wanted", lines, files)
	}
}

// TestNoStoredContexts forbids contexts in fields. Code that has to end with a context
// uses context.AfterFunc.
func TestNoStoredContexts(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir("../..", func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				if sel, ok := field.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Context" {
					if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "context" {
						t.Errorf("%s stores a context", fset.Position(field.Pos()))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
