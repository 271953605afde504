// Package arch checks the rules of docs/ARCHITECTURE.md: the layers, the packages with
// restricted importers, and the packages that may open files.
package arch

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is one layer of the architecture.
type layer struct {
	name, what string
	packages   []pkg
}

type pkg struct {
	path string // "." is the module's root
	job  string
}

// forbiddenNames are names of packages that collect unrelated code.
var forbiddenNames = []string{"util", "utils", "common", "helpers", "types", "errors", "misc"}

// noteWords must not occur below the notes layers, in code or comments. The exception
// .vault-token holds a credential of another program.
var noteWords = regexp.MustCompile(`(?i)vault([^-]|$)|obsidian|wikilink|front[ -]?matter`)

var update = flag.Bool("update", false, "write the layers into docs/ARCHITECTURE.md")

// layerOf returns the index of a package's layer, or -1.
func layerOf(name string) int {
	return slices.IndexFunc(layers, func(l layer) bool {
		return slices.ContainsFunc(l.packages, func(p pkg) bool { return p.path == name })
	})
}

func layerNamed(name string) int {
	return slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
}

// covers reports whether a package matches a pattern of roads.
func covers(pattern, name string) bool {
	prefix, tree := strings.CutSuffix(pattern, "/...")
	return pattern == name || tree && strings.HasPrefix(name, prefix+"/")
}

// wrong lists the violations of a package and its imports.
func wrong(name string, imports []string) (out []string) {
	at := layerOf(name)
	if at < 0 {
		return []string{fmt.Sprintf("package %s is in no layer: add it to layers_test.go, then go test ./internal/arch -update", name)}
	}
	if slices.Contains(forbiddenNames, path.Base(name)) {
		out = append(out, fmt.Sprintf("package %s: a package is named for what it holds", name))
	}
	tests := layerNamed("tests") // and above them tools
	for _, target := range imports {
		to := layerOf(target)
		if to >= 0 && to < at {
			out = append(out, fmt.Sprintf("%s (%s) imports %s (%s): calls go down", name, layers[at].name, target, layers[to].name))
		}
		if at <= tests {
			continue
		}
		for pattern, allowed := range roads {
			if covers(pattern, target) && !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, name) }) {
				out = append(out, fmt.Sprintf("%s imports %s, which only %s may", name, target, strings.Join(allowed, ", ")))
			}
		}
		if layers[at].name == "contracts" && strings.HasPrefix(target, "internal/") && !(name == "match" && covers("internal/re/...", target)) {
			out = append(out, fmt.Sprintf("%s imports %s: contracts import nothing internal", name, target))
		}
	}
	return out
}

// source is a file of the module, without tests.
type source struct {
	pkg, file string // as the layers and docs name them
	text      []byte
	parsed    *ast.File
	fset      *token.FileSet
}

// sources parses all files, including the module in tools/.
func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var all []source
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); file != root && (strings.HasPrefix(n, ".") || n == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, _ := filepath.Rel(root, file)
		s := source{file: filepath.ToSlash(rel), fset: token.NewFileSet()}
		s.pkg = path.Dir(s.file)
		if s.text, err = os.ReadFile(file); err != nil {
			return err
		}
		if s.parsed, err = parser.ParseFile(s.fset, file, s.text, parser.SkipObjectResolution|parser.ParseComments); err != nil {
			return err
		}
		if !isGenerator(s.parsed) {
			all = append(all, s)
		}
		return nil
	})
	if err != nil || len(all) < 500 {
		t.Fatalf("%d files: %v", len(all), err)
	}
	return all
}

// imported returns the packages of the module that a file imports.
func (s *source) imported(module string) (out []string) {
	for _, imp := range s.parsed.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		if target == module {
			out = append(out, ".")
		} else if rest, ok := strings.CutPrefix(target, module+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

// TestLayers checks every package against the layers, the roads and the permission to
// open files.
func TestLayers(t *testing.T) {
	imports := map[string][]string{"internal/arch": nil} // it has only tests
	notes, tools, mod := layerNamed("notes"), layerNamed("tools"), module(t)
	for _, s := range sources(t) {
		for _, target := range append(s.imported(mod), imports[s.pkg]...) {
			if !slices.Contains(imports[s.pkg], target) {
				imports[s.pkg] = append(imports[s.pkg], target)
			}
		}
		if imports[s.pkg] == nil {
			imports[s.pkg] = []string{}
		}
		if !opensUserFiles[s.pkg] && layerOf(s.pkg) != tools {
			checkNoPathOpening(t, s.fset, s.parsed)
		}
		checkNoReading(t, s.fset, s.parsed, s.file)
		word := noteWords.Find(s.text)
		if word != nil && layerOf(s.pkg) > notes {
			t.Errorf("%s says %q: what is below notes knows files and texts only", s.file, word)
		}
	}
	for name, list := range imports {
		for _, problem := range wrong(name, list) {
			t.Error(problem)
		}
	}
	for _, l := range layers {
		for _, p := range l.packages {
			if imports[p.path] == nil && p.path != "internal/arch" {
				t.Errorf("%s is in layer %s and does not exist", p.path, l.name)
			}
		}
	}
}

// TestRulesCatchOffenders checks that the rules can fail.
func TestRulesCatchOffenders(t *testing.T) {
	for _, c := range []struct{ name, imports, problem string }{
		{"internal/changer", "internal/rootfs change", ""},
		{"internal/changer", "internal/vault", "calls go down"},
		{"internal/searcher", "internal/notebook", "calls go down"},
		{"internal/rootfs", "internal/walk", "calls go down"},
		{"internal/profile", "internal/changer", "which only"},
		{"internal/doctor", "internal/cli/printing", "which only"},
		{"internal/cli/agents", "internal/cli/env", ""},
		{"search", "internal/rootfs", "calls go down"},
		{"match", "internal/re/nfa", ""},
		{"change", "internal/re/nfa", "nothing internal"},
		{"internal/index", "internal/stress", "calls go down"},
		{"internal/stress", "tools/stress/run", "calls go down"},
		{"cmd/quarry", "tools/picture", "calls go down"},
		{"tools/bench", "internal/stress internal/changer", ""},
		{"internal/stress", "internal/index .", ""},
		{"internal/notekeeper", "internal/vault", "in no layer"},
	} {
		got := strings.Join(wrong(c.name, strings.Fields(c.imports)), "\n")
		if (got == "") != (c.problem == "") || !strings.Contains(got, c.problem) {
			t.Errorf("%s with %s: %q, want %q", c.name, c.imports, got, c.problem)
		}
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package x\nimport \"os\"\nfunc f() { os.Open(\"a\"); os.Getpid() }", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(pathOpenings(f)); got != 1 {
		t.Errorf("pathOpenings found %d, want 1", got)
	}
	if got := len(callsOf(f, fileReaders)); got != 1 || mayRead("internal/githead/file.go") || !mayRead("internal/rootfs/outside/read.go") {
		t.Errorf("callsOf found %d readers, want 1, outside of rootfs", got)
	}
	for text, want := range map[string]bool{"func vaultRules()": true, "// YAML front matter": true, "notice, denote": false, `".vault-token"`: false} {
		if noteWords.MatchString(text) != want {
			t.Errorf("noteWords in %q: %v", text, !want)
		}
	}
}

// module returns the path in go.mod, which differs in a published copy.
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

const planStart, planEnd = "<!-- the layers: go test ./internal/arch -update -->\n", "<!-- end of the layers -->"

// TestDocument compares docs/ARCHITECTURE.md with the layers, or writes them.
func TestDocument(t *testing.T) {
	const name = "../../docs/ARCHITECTURE.md"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), planStart)
	was, after, ends := strings.Cut(rest, planEnd)
	if !ok || !ends {
		t.Fatalf("%s has no place for the layers", name)
	}
	want := layersText()
	switch {
	case was == want:
	case *update:
		if err := os.WriteFile(name, []byte(before+planStart+want+planEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not show the layers; go test ./internal/arch -update writes them", name)
	}
}

// layersText returns the list in the form of the document.
func layersText() string {
	var b strings.Builder
	b.WriteString("| package | job |\n|---|---|\n")
	for _, l := range slices.Concat(layers[2:], layers[:2]) {
		fmt.Fprintf(&b, "| **%s** | %s |\n", l.name, l.what)
		for _, p := range l.packages {
			name := p.path
			if name == "." {
				name = "quarry"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, p.job)
		}
	}
	return b.String()
}

// isGenerator recognizes a program run by go generate, which belongs to no package.
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
