package profile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNoToolAsksForItsProfile checks that no code compares with a profile's name:
// profiles differ only in the fields of their dialects.
func TestNoToolAsksForItsProfile(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var list []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				list = []ast.Expr{n.X, n.Y}
			case *ast.CaseClause:
				list = n.List
			case *ast.IndexExpr:
				list = []ast.Expr{n.Index}
			}
			for _, e := range list {
				lit, ok := e.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				compared++
				if s, _ := strconv.Unquote(lit.Value); slices.Contains(Names(), s) {
					t.Errorf("%s asks for the profile %q: make it a field of dialect", set.Position(lit.Pos()), s)
				}
			}
			return true
		})
	}
	t.Logf("%d strings are compared with", compared)
	if compared < 50 {
		t.Fatal("the test looks at nothing")
	}
}
