package explain_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/explain"
	"quarry/match"
	"quarry/search"
)

func open(t *testing.T) *quarry.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".gitignore": "*.log\n", "src/store.go": "func OpenStore() {}\n// a.b(c)\n", "notes/todo.md": "milk  and bread\nred wine\n",
		"fs/netfs/a": "", "fs/ntfs3/a": "", "fs/ntfx/a": "", "x.log": "gamma\n", ".hidden": "delta\n", ".x.log": "epsilon\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func shown(list []explain.Finding) string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%d %q %s", f.Way, f.Text, strings.Join(f.Paths, " ")))
	}
	return strings.Join(out, "; ")
}

func TestText(t *testing.T) {
	ws := open(t)
	for _, c := range []struct {
		name string
		q    search.Query
		way  explain.Way
		text string
		path string
	}{
		{"each of two patterns", search.Query{Pattern: "OpenStore", Patterns: []string{"zzz"}, Each: true}, explain.AnyPattern, "", "src/store.go"},
		{"a glob", search.Query{Pattern: "milk", Scope: search.Scope{Globs: []string{"*.go"}}}, explain.NoFilter, "", "notes/todo.md"},
		{"a type", search.Query{Pattern: "milk", Scope: search.Scope{Types: []string{"*.go"}}}, explain.NoFilter, "", "notes/todo.md"},
		{"a depth", search.Query{Pattern: "milk", Scope: search.Scope{MaxDepth: 1}}, explain.NoFilter, "", "notes/todo.md"},
		{"a path", search.Query{Pattern: "milk", Scope: search.Scope{Paths: []string{"src"}}}, explain.NoPath, "", "notes/todo.md"},
		{"a path and a glob", search.Query{Pattern: "milk", Scope: search.Scope{Paths: []string{"src"}, Globs: []string{"*.go"}}}, explain.NoPathOrGlob, "", "notes/todo.md"},
		{"letter case", search.Query{Pattern: "openstore"}, explain.AnyCase, "", "src/store.go"},
		{"whole words", search.Query{Pattern: "Open", Match: match.Options{WholeWord: true}}, explain.InsideWords, "", "src/store.go"},
		{"plain text", search.Query{Pattern: "a.b(c)"}, explain.PlainText, "a.b(c)", "src/store.go"},
		{"a regular expression", search.Query{Pattern: `Open\w+`, Match: match.Options{Syntax: match.Literal}}, explain.Regex, `Open\w+`, "src/store.go"},
		{"two lines", search.Query{Pattern: `zzz\nred wine`, Match: match.Options{Syntax: match.Literal}}, explain.OneLine, "red wine", "notes/todo.md"},
		{"white space", search.Query{Pattern: "milk and bread"}, explain.OtherSpace, `milk\s+and\s+bread`, "notes/todo.md"},
		{"a call", search.Query{Pattern: `s.OpenStore(x)`, Match: match.Options{Syntax: match.Literal}}, explain.Alone, "OpenStore", "src/store.go"},
		{"another style", search.Query{Pattern: "open_store"}, explain.Style, "OpenStore", "src/store.go"},
		{"a letter wrong", search.Query{Pattern: "OpenStroe"}, explain.Near, "OpenStore", "src/store.go"},
		{"a file's name", search.Query{Pattern: "todo.md"}, explain.Name, "todo.md", "notes/todo.md"},
		{"hidden", search.Query{Pattern: "delta"}, explain.Hidden, "", ".hidden"},
		{"ignored", search.Query{Pattern: "gamma"}, explain.Ignored, "", "x.log"},
		{"hidden and ignored", search.Query{Pattern: "epsilon"}, explain.HiddenIgnored, "", ".x.log"},
	} {
		sum, err := ws.SearchEach(context.Background(), c.q, func(f *search.FileMatch) error { return fmt.Errorf("%s matches", f.Path) })
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := explain.After(ws, sum).Text(context.Background(), c.q, sum)
		if len(got) == 0 || got[0].Way != c.way || got[0].Text != c.text || got[0].Paths[0] != c.path {
			t.Errorf("%s: %s; want %d %q %s", c.name, shown(got), c.way, c.text, c.path)
		}
	}
	q := search.Query{Pattern: "nowhere at all"}
	if got := explain.After(ws, &search.Summary{}).Text(context.Background(), q, &search.Summary{}); len(got) != 0 {
		t.Errorf("what occurs nowhere: %s", shown(got))
	}
	// Files that the filter excludes aren't mentioned, least of all as ignored.
	q = search.Query{Pattern: "milk", Scope: search.Scope{Globs: []string{"!*.md"}}}
	for _, plan := range []search.PlanKind{search.PlanScan, search.PlanIndex} {
		sum := &search.Summary{Stats: search.Stats{Plan: search.Plan{Kind: plan}, IgnoredIndexed: true}}
		if got := explain.After(ws, sum).Text(context.Background(), q, sum); len(got) != 0 {
			t.Errorf("what the filter leaves out, by %s: %s", plan, shown(got))
		}
	}
}

func TestPaths(t *testing.T) {
	ws := open(t)
	for _, c := range []struct {
		glob string
		way  explain.Way
		text string
		path string
	}{
		{"STORE.go", explain.AnyCase, "", "src/store.go"},
		{"lib/store.go", explain.NearName, "", "src/store.go"},
		{"src/*.md", explain.AnyCase, "", ""},
		{`.*\.md$`, explain.Glob, "*.md", "notes/todo.md"},
		{"tod", explain.PartOfName, "tod", "notes/todo.md"},
		{"stroe.go", explain.NearName, "", "src/store.go"},
		{"x.log", explain.Ignored, "", "x.log"},
		{".hidden", explain.Hidden, "", ".hidden"},
	} {
		q := search.FindQuery{Scope: search.Scope{Globs: []string{c.glob}}}
		got := explain.After(ws, &search.Summary{}).Paths(context.Background(), q)
		if c.path == "" && len(got) == 0 {
			continue
		}
		if len(got) == 0 || got[0].Way != c.way || got[0].Text != c.text || got[0].Paths[0] != c.path {
			t.Errorf("%s: %s; want %d %q %s", c.glob, shown(got), c.way, c.text, c.path)
		}
	}
}

// Of many files with one name those in folders of the path come first.
func TestMissingNamesTheBest(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/index.ts", "b/index.ts", "c/index.ts", "web/client/src/index.ts", "z/src/index.ts"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	guess, paths, total := explain.Missing(context.Background(), ws, "packages/client/src/index.ts")
	if guess != explain.SameName || total != 5 || len(paths) != 3 || paths[0] != "web/client/src/index.ts" || paths[1] != "z/src/index.ts" {
		t.Errorf("%d %q of %d", guess, paths, total)
	}
}

func TestMissing(t *testing.T) {
	ws := open(t)
	for _, c := range []struct {
		given string
		guess explain.Guess
		path  string
	}{
		{"SRC/store.go", explain.OtherCase, "src/store.go"},
		{"src/store.go:12", explain.CopiedAlong, "src/store.go"},
		{"`src/store.go`", explain.CopiedAlong, "src/store.go"},
		{"src%2Fstore.go", explain.Encoded, "src/store.go"},
		{"scr/stor.go", explain.NearSpelling, "src/store.go"},
		{"fs/ntfs", explain.NearSpelling, "fs/ntfs3"},
		{"lib/deep/todo.md", explain.SameName, "notes/todo.md"},
		{"nothing.txt", explain.NoGuess, ""},
		{" ", explain.NoGuess, ""},
	} {
		guess, paths, total := explain.Missing(context.Background(), ws, c.given)
		if guess != c.guess || c.path != "" && (len(paths) != 1 || paths[0] != c.path || total != 1) {
			t.Errorf("Missing(%q) = %d %q %d, want %d %q", c.given, guess, paths, total, c.guess, c.path)
		}
	}
}
