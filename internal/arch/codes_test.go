package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestCodesAgree checks that errors.Is finds an error by its code: a type with a method
// Code also has a method Is. Most unwrap to their code, which has both.
func TestCodesAgree(t *testing.T) {
	coded, is := map[string]token.Position{}, map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Is" && (f.Name.Name != "Code" || f.Type.Params.NumFields() > 0) {
				continue
			}
			typ := f.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			name, ok := typ.(*ast.Ident)
			if !ok {
				continue
			}
			key := filepath.Dir(path) + "." + name.Name
			if f.Name.Name == "Is" {
				is[key] = true
			} else if key != filepath.Join("..", "..", "fault")+".Code" { // unwraps to the code
				coded[key] = files.Position(f.Pos())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(coded) < 2 {
		t.Fatalf("found %d types with a code", len(coded))
	}
	for key, at := range coded {
		if !is[key] {
			t.Errorf("%s: %s has a method Code and no method Is: errors.Is doesn't find its code", at, key)
		}
	}
}
