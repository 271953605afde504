package arch

import (
	"go/ast"
	"testing"
)

// startGoroutines lists the files of the search and change engines that may start
// goroutines, with the reason. All others use internal/crew: a panic on a plain goroutine
// ends the program and every other request it serves.
var startGoroutines = map[string]string{
	"internal/backend/asked.go":         "queries of other processes, which recover",
	"internal/journal/keep.go":          "calculates a hash",
	"internal/owner/owned.go":           "the owner's own life",
	"internal/owner/owner.go":           "connections, whose requests recover",
	"internal/watch/changes_windows.go": "reads events",
	"internal/watch/inotify_linux.go":   "reads events",
}

func TestGoroutinesOfTheEngineAreCrews(t *testing.T) {
	engines := map[int]bool{layerNamed("notes"): true, layerNamed("engine"): true, layerNamed("middle"): true}
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !engines[layerOf(s.pkg)] {
			continue
		}
		ast.Inspect(s.parsed, func(n ast.Node) bool {
			starts := false
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				starts = ok && x.Name == "sync" && n.Sel.Name == "WaitGroup"
			}
			if starts && startGoroutines[s.file] == "" {
				t.Errorf("%s: a panic here ends the program: take internal/crew", s.fset.Position(n.Pos()))
			}
			used[s.file] = used[s.file] || starts
			return true
		})
	}
	for file := range startGoroutines {
		if !used[file] {
			t.Errorf("%s starts no goroutine: take it from the list", file)
		}
	}
}
