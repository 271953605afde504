package arch

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// pathOpeners are the os functions that look a path up. A file handle's own
// methods are fine: someone who may open has opened it.
var pathOpeners = map[string]bool{
	"Open": true, "OpenFile": true, "Create": true, "CreateTemp": true, "MkdirTemp": true,
	"ReadFile": true, "WriteFile": true, "ReadDir": true, "Remove": true, "RemoveAll": true,
	"Rename": true, "Mkdir": true, "MkdirAll": true, "Stat": true, "Lstat": true, "Readlink": true,
	"Symlink": true, "Link": true, "Chmod": true, "Chown": true, "Lchown": true, "Chtimes": true,
	"Truncate": true, "DirFS": true, "OpenRoot": true, "OpenInRoot": true,
}

func checkNoPathOpening(t *testing.T, fset *token.FileSet, f *ast.File) {
	t.Helper()
	for _, pos := range pathOpenings(f) {
		t.Errorf("%s: only rootfs and the edges open paths", fset.Position(pos))
	}
}

func pathOpenings(f *ast.File) []token.Pos {
	if !imports(f, "os") {
		return nil
	}
	var found []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && pathOpeners[sel.Sel.Name] {
			found = append(found, sel.Pos())
		}
		return true
	})
	return found
}

func imports(f *ast.File, path string) bool {
	for _, imp := range f.Imports {
		if strings.Trim(imp.Path.Value, `"`) == path {
			return true
		}
	}
	return false
}
