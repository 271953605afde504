// Package arch holds the import rules of docs/ARCHITECTURE.md as a test.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers lists, for every package of the module, the module packages it may
// import. A package that is missing here fails the test: a new room is drawn
// on the plan first. "re/..." stands for every package below it.
var layers = map[string][]string{
	"cmd/quarry": {"internal/cli"},
	".": {
		"change", "search", "fault", "internal/backend", "internal/changer", "internal/owner", "internal/repos", "internal/review", "internal/rootfs", "internal/searcher",
		"internal/textfile",
	},
	"fault":   {},
	"change":  {"fault"},
	"match":   {"fault", "internal/re/..."},
	"search":  {"match", "fault"},
	"tool":    {"fault"},
	"toolset": {".", "tool", "internal/profile"},

	"examples/agent": {".", "tool", "toolset"}, // as a program outside would: nothing internal
	"examples/todo":  {"."},

	"packaging/bundle": {},
	"docs/picture":     {},
	"docs/screenshot":  {},

	"internal/rootfs":   {"fault", "internal/glob"},
	"internal/glob":     {"fault"},
	"internal/textfile": {"fault"},
	"internal/textedit": {"change", "fault", "internal/textfile"},
	"internal/trigram":  {"match", "internal/textfile"},

	"internal/re/hir":                  {"internal/re/ucd"},
	"internal/re/ucd":                  {},
	"internal/re/ucd/gen":              {},
	"internal/re/vec":                  {},
	"internal/re/syntax":               {"internal/re/hir"},
	"internal/re/syntax/rust":          {"internal/re/hir", "internal/re/syntax", "internal/re/ucd"},
	"internal/re/syntax/ecma":          {"internal/re/hir", "internal/re/syntax", "internal/re/ucd"},
	"internal/re/syntax/ecma/ecmatest": {},
	"internal/re/backref":              {"internal/re/hir", "internal/re/syntax", "internal/re/syntax/ecma"},
	"internal/re/nfa":                  {"internal/re/hir", "internal/re/ucd"},
	"internal/re/nfa/nfatest":          {"internal/re/hir"},
	"internal/re/pike":                 {"internal/re/nfa", "internal/re/hir"},
	"internal/re/backtrack":            {"internal/re/nfa", "internal/re/hir"},
	"internal/re/dfa":                  {"internal/re/nfa", "internal/re/hir", "internal/re/vec"},
	"internal/re/literal":              {"internal/re/hir", "internal/re/ucd"},

	"internal/ignore": {"internal/glob", "internal/rootfs"},
	"internal/walk":   {"internal/glob", "internal/ignore", "internal/rootfs"},
	"internal/watch":  {"internal/rootfs"},
	"internal/index": {
		"match", "internal/glob", "internal/ignore", "internal/rootfs", "internal/scan", "internal/textfile", "internal/trigram",
		"internal/walk",
	},
	"internal/backend": {
		"change", "fault", "search", "internal/changer", "internal/glob", "internal/ignore", "internal/owner", "internal/rootfs", "internal/searcher",
	},
	"internal/searcher": {
		"match", "search", "fault", "internal/glob", "internal/ignore", "internal/index", "internal/rank", "internal/repos", "internal/rootfs",
		"internal/scan", "internal/textfile", "internal/vault", "internal/walk",
	},
	"internal/owner": {
		"search", "internal/ignore", "internal/index", "internal/rootfs", "internal/walk", "internal/watch",
	},
	"internal/rank":    {"match", "internal/symbols"},
	"internal/symbols": {},
	"internal/scan":    {"match", "search", "internal/re/vec", "internal/textfile"},
	"internal/vault":   {"fault", "internal/rootfs"},

	"internal/changer": {
		"change", "fault", "match", "internal/journal", "internal/rootfs", "internal/textedit", "internal/textfile",
		"internal/trash", "internal/vault", "internal/walk",
	},
	"internal/patch":    {"change", "fault"},
	"internal/replacer": {"change", "fault", "match", "search", "internal/rootfs", "internal/textfile"},
	"internal/notes":    {"change", "fault", "internal/vault"},
	"internal/journal":  {"change", "fault", "internal/rootfs"},
	"internal/trash":    {"fault", "internal/rootfs"},

	"internal/repos": {
		"match", "internal/glob", "internal/ignore", "internal/rootfs", "internal/walk",
		"internal/zoekt",
	},
	"internal/zoekt":           {"internal/zoekt/wire"},
	"internal/zoekt/wire":      {},
	"internal/zoekt/zoekttest": {"internal/zoekt/wire"},

	"internal/mcpserver": {"tool"},

	"internal/config":  {},
	"internal/doctor":  {"internal/ignore", "internal/index", "internal/journal", "internal/owner", "internal/rootfs"},
	"internal/cli":     {"search", ".", "fault", "change", "match", "tool", "internal/config", "internal/doctor", "internal/mcpserver", "internal/notes", "internal/page", "internal/patch", "internal/render", "internal/replacer", "internal/review", "internal/profile"},
	"internal/page":    {".", "change", "match", "search", "internal/review"},
	"internal/review":  {"change", "fault", "internal/backend", "internal/rootfs", "internal/textedit", "internal/textfile"},
	"internal/render":  {".", "change"},
	"internal/profile": {"search", "fault", ".", "change", "match", "tool", "internal/notes", "internal/patch", "internal/render", "internal/replacer"},
	"internal/arch":    {},

	"internal/stress":       {},
	"internal/stress/run":   {},
	"internal/stress/tests": {},

	"internal/powercut": {"internal/rootfs"}, // for tests
}

// opensUserFiles are the only packages that may call os functions that take a
// path: everything else goes through rootfs, which keeps the sandbox.
var opensUserFiles = map[string]bool{
	"internal/rootfs":     true,
	"internal/powercut":   true,
	"internal/cli":        true,
	"internal/config":     true,
	"internal/owner":      true, // its own socket
	"internal/re/ucd/gen": true,
	"internal/stress/run": true, // the table of docs/RELIABILITY.md
	"cmd/quarry":          true,
	"examples/agent":      true, // its demonstration folder
	"packaging/bundle":    true, // what it ships
	"docs/picture":        true, // its demonstration folder and the picture
	"docs/screenshot":     true, // the same
}

// forbiddenNames are drawers, not rooms.
var forbiddenNames = []string{"util", "utils", "common", "helpers", "types", "errors", "misc"}

func TestImports(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); file != root && (strings.HasPrefix(n, ".") || n == "testdata" || n == "bench") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, _ := filepath.Rel(root, filepath.Dir(file))
		pkg := filepath.ToSlash(rel)
		seen[pkg] = true
		checkFile(t, pkg, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range seen {
		for _, bad := range forbiddenNames {
			if path.Base(pkg) == bad {
				t.Errorf("package %s: a package is named for what it holds, not %q", pkg, bad)
			}
		}
	}
	if !seen["internal/rootfs"] || !seen["internal/cli"] {
		t.Error("the walk missed packages that must exist")
	}
}

func checkFile(t *testing.T, pkg, file string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Error(err)
		return
	}
	allowed, known := layers[pkg]
	if !known {
		t.Errorf("package %s is not in the plan: add it to layers and to docs/ARCHITECTURE.md", pkg)
		return
	}
	for _, imp := range f.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		if target == "quarry" {
			target = "."
		} else if rest, ok := strings.CutPrefix(target, "quarry/"); ok {
			target = rest
		} else {
			continue
		}
		if !permitted(allowed, target) {
			t.Errorf("%s: %s may not import %s", fset.Position(imp.Pos()), pkg, target)
		}
	}
	if !opensUserFiles[pkg] && !isGenerator(f) {
		checkNoPathOpening(t, fset, f)
	}
}

// isGenerator reports a program run by go generate, not part of any package.
func isGenerator(f *ast.File) bool {
	return f.Name.Name == "main" && hasBuildIgnore(f)
}

func hasBuildIgnore(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Text == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

func permitted(allowed []string, target string) bool {
	for _, a := range allowed {
		if a == target {
			return true
		}
		if prefix, ok := strings.CutSuffix(a, "/..."); ok && strings.HasPrefix(target, prefix+"/") {
			return true
		}
	}
	return false
}
