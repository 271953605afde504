// Package arch holds the import rules of docs/ARCHITECTURE.md as a test.
package arch

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is a part of the plan, in the order of the document.
type layer struct {
	name     string
	packages []pkg
}

// pkg is a package of the plan.
type pkg struct {
	path    string // "." is the module's root
	job     string
	imports string // packages of the module, by path; "x/..." is some below x
}

// opensUserFiles are the only packages that may call os functions that take a
// path: everything else goes through rootfs, which keeps the sandbox.
var opensUserFiles = map[string]bool{
	"internal/rootfs":         true,
	"internal/powercut":       true,
	"internal/cli":            true,
	"internal/cli/agents":     true, // tokens, the page's address
	"internal/cli/clients":    true, // settings of clients
	"internal/cli/env":        true, // folders that a person names, and its own
	"internal/cli/manual":     true, // the pages it writes
	"internal/cli/servers":    true, // credentials
	"internal/config":         true,
	"internal/githead":        true, // git's own folder
	"internal/doctor":         true, // folders and settings it examines
	"internal/owner":          true, // its own socket
	"internal/re/ucd/gen":     true,
	"internal/stress":         true, // tries whether symlinks can be made
	"internal/stress/hostile": true, // its workspace, and the table of docs/FIGURES.md
	"internal/stress/run":     true, // the table of docs/FIGURES.md
	"cmd/quarry":              true,
	"examples/agent":          true, // its demonstration folder
	"packaging/bundle":        true, // what it ships
	"packaging/publish":       true, // the source it rewrites
	"docs/picture":            true, // its demonstration folders and the pictures
}

// forbiddenNames are drawers, not rooms.
var forbiddenNames = []string{"util", "utils", "common", "helpers", "types", "errors", "misc"}

var update = flag.Bool("update", false, "write the plan into docs/ARCHITECTURE.md")

// TestImports compares every package with the plan.
func TestImports(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	actual := map[string]map[string]bool{} // imports by package
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
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		rel, _ := filepath.Rel(root, filepath.Dir(file))
		name := filepath.ToSlash(rel)
		if strings.HasSuffix(file, "_test.go") {
			if name == "internal/arch" {
				actual[name] = map[string]bool{}
			}
			return nil
		}
		if actual[name] == nil {
			actual[name] = map[string]bool{}
		}
		addImports(t, name, file, actual[name])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	planned := map[string]bool{}
	for _, l := range plan {
		for _, p := range l.packages {
			planned[p.path] = true
			if actual[p.path] == nil {
				t.Errorf("%s is on the plan and does not exist", p.path)
				continue
			}
			if missing, extra := differences(strings.Fields(p.imports), actual[p.path]); len(missing)+len(extra) > 0 {
				t.Errorf("%s: the plan lacks %q and has %q too many; it imports\n\t%q", p.path, missing, extra, strings.Join(slices.Sorted(maps.Keys(actual[p.path])), " "))
			}
		}
	}
	for name := range actual {
		if !planned[name] {
			t.Errorf("package %s is not on the plan: add it to plan_test.go, then go test ./internal/arch -update", name)
		}
		if slices.Contains(forbiddenNames, path.Base(name)) {
			t.Errorf("package %s: a package is named for what it holds", name)
		}
	}
}

// differences compares the imports of a plan with those of a package.
func differences(planned []string, actual map[string]bool) (missing, extra []string) {
	used := map[string]bool{}
	for _, target := range slices.Sorted(maps.Keys(actual)) {
		found := false
		for _, p := range planned {
			prefix, tree := strings.CutSuffix(p, "/...")
			if p == target || tree && strings.HasPrefix(target, prefix+"/") {
				found, used[p] = true, true
			}
		}
		if !found {
			missing = append(missing, target)
		}
	}
	for _, p := range planned {
		if !used[p] {
			extra = append(extra, p)
		}
	}
	return missing, extra
}

// module is the path in go.mod; a published copy has another than ours.
func module(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../go.mod")
	first, _, _ := strings.Cut(string(data), "\n")
	path, ok := strings.CutPrefix(first, "module ")
	if err != nil || !ok {
		t.Fatalf("go.mod begins with %q: %v", first, err)
	}
	return path
}

// addImports adds the module's packages that a file imports.
func addImports(t *testing.T, name, file string, to map[string]bool) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Error(err)
		return
	}
	if isGenerator(f) {
		return
	}
	for _, imp := range f.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		if target == module(t) {
			to["."] = true
		} else if rest, ok := strings.CutPrefix(target, module(t)+"/"); ok {
			to[rest] = true
		}
	}
	if !opensUserFiles[name] {
		checkNoPathOpening(t, fset, f)
	}
}

const planStart, planEnd = "<!-- the plan: go test ./internal/arch -update -->\n", "<!-- end of the plan -->"

// TestDocument compares docs/ARCHITECTURE.md with the plan, or writes it.
func TestDocument(t *testing.T) {
	const name = "../../docs/ARCHITECTURE.md"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), planStart)
	was, after, ends := strings.Cut(rest, planEnd)
	if !ok || !ends {
		t.Fatalf("%s has no place for the plan", name)
	}
	want := planText()
	switch {
	case was == want:
	case *update:
		if err := os.WriteFile(name, []byte(before+planStart+want+planEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not the plan; go test ./internal/arch -update writes it", name)
	}
}

// planText is the plan as the document shows it.
func planText() string {
	var b strings.Builder
	b.WriteString("| package | job | imports |\n|---|---|---|\n")
	for _, l := range plan {
		fmt.Fprintf(&b, "| **%s** | | |\n", l.name)
		for _, p := range l.packages {
			name := p.path
			if name == "." {
				name = "quarry"
			}
			imports := strings.Fields(p.imports)
			for i, imp := range imports {
				if imports[i] = strings.TrimPrefix(imp, "internal/"); imp == "." {
					imports[i] = "quarry"
				}
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, p.job, strings.Join(imports, ", "))
		}
	}
	return b.String()
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
