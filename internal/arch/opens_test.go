package arch

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// pathOpeners are the os functions that look up a path. Methods of a file handle are
// fine: the file was opened with permission.
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

func pathOpenings(f *ast.File) []token.Pos { return callsOf(f, pathOpeners) }

func callsOf(f *ast.File, functions map[string]bool) []token.Pos {
	if !imports(f, "os") {
		return nil
	}
	var found []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && functions[sel.Sel.Name] {
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

// fileReaders open a path for reading, which may be a FIFO, a device or 20 GB. Everything
// else uses rootfs: a Root for a user's tree, outside.Read for files that a person names.
var fileReaders = map[string]bool{"Open": true, "ReadFile": true, "OpenFile": true, "DirFS": true, "OpenRoot": true, "OpenInRoot": true}

// readsByPath lists the files, or folders with all of their files, that may call
// fileReaders, with the reason.
var readsByPath = map[string]string{
	"internal/rootfs/":                  "the door",
	"internal/powercut/":                "a model of a disk, for tests",
	"internal/stress/":                  "tests",
	"internal/quarrytest/":              "tests",
	"internal/re/":                      "generators",
	"internal/config/write.go":          "makes a file that must not exist",
	"internal/cli/agents/ui.go":         "makes the page's address file",
	"internal/cli/sets.go":              "a patch that a person names, which may be a pipe",
	"internal/cli/content.go":           "rules that a person names, which may be a pipe",
	"internal/cli/query.go":             "patterns that a person names, which may be a pipe",
	"internal/cli/search.go":            "a pipe that a person names",
	"internal/doctor/checks.go":         "the kernel's limits in /proc",
	"internal/cli/hook/parent_linux.go": "a process in /proc",
	"examples/":                         "its demonstration folder",
	"tools/":                            "sources, corpora and what they ship",
}

func mayRead(file string) bool {
	for at := range readsByPath {
		if file == at || strings.HasSuffix(at, "/") && strings.HasPrefix(file, at) {
			return true
		}
	}
	return false
}

func checkNoReading(t *testing.T, fset *token.FileSet, f *ast.File, file string) {
	t.Helper()
	if mayRead(file) {
		return
	}
	for _, pos := range callsOf(f, fileReaders) {
		t.Errorf("%s: files are read through rootfs, or the file is listed in readsByPath with a reason", fset.Position(pos))
	}
}
