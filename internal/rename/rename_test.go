package rename_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/rename"
	"quarry/internal/stress"
)

func open(t *testing.T, files map[string]string) *quarry.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func lines(list []rename.Place) string {
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s:%d", p.Path, p.Line))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Every occurrence of the name is classified by package, import, container and the
// declarations in its function.
func TestFind(t *testing.T) {
	files := map[string]string{
		"go.mod":     "module example.com/m\n",
		"a/a.go":     "package a\n\n// Open opens. // Open of os is another.\nfunc Open() {}\n\ntype Store struct{ name string }\n\nfunc (s *Store) Close() { s.name = \"Open\"; Open() }\n\nfunc f(Open int) int { return Open }\n\nvar s = Store{name: \"x\"}\n",
		"b/b.go":     "package b\n\nimport \"example.com/m/a\"\n\nfunc g(s *a.Store, c closer) {\n\ta.Open()\n\ts.Close()\n\tc.Close()\n\tos.Open()\n}\n",
		"c/c.go":     "package c\n\nimport \"os\"\n\nfunc Open() { os.Open() }\n",
		"d/d.py":     "class Store:\n    def close(self):\n        self.close()\n\ndef use(s):\n    s.close()\n",
		"readme.txt": "Open it\n",
	}
	ws := open(t, files)
	for _, c := range []struct{ old, sure, doubtful, left string }{
		{"a/a.go#Open", "a/a.go:4 a/a.go:8 b/b.go:6", "", "a/a.go:10 a/a.go:10 b/b.go:9 c/c.go:5 c/c.go:5"},
		{"Store.name", "a/a.go:12 a/a.go:6 a/a.go:8", "", ""},
		{"Store.Close", "a/a.go:8 b/b.go:7", "b/b.go:8", ""},
		{"d/d.py#Store.close", "d/d.py:2 d/d.py:3", "d/d.py:6", ""},
	} {
		plan, err := rename.Find(context.Background(), ws, rename.Query{Old: c.old, New: "Fresh"})
		if err != nil {
			t.Errorf("%s: %v", c.old, err)
			continue
		}
		if lines(plan.Sure) != c.sure || lines(plan.Doubtful) != c.doubtful || lines(plan.Left) != c.left {
			t.Errorf("%s:\nsure     %s, want %s\ndoubtful %s, want %s\nleft     %s, want %s", c.old, lines(plan.Sure), c.sure, lines(plan.Doubtful), c.doubtful, lines(plan.Left), c.left)
		}
		edits := 0
		for _, op := range plan.Ops {
			edits += len(op.Edits)
		}
		if edits != len(plan.Sure)+plan.Docs {
			t.Errorf("%s: %d edits for %d sure places and %d doc comments", c.old, edits, len(plan.Sure), plan.Docs)
		}
	}
	plan, err := rename.Find(context.Background(), ws, rename.Query{Old: "a/a.go#Open", New: "Begin", Comments: true, Doubtful: true})
	if err != nil || plan.Docs != 1 || plan.Comments != 1 || plan.Strings != 1 || plan.Texts != 1 {
		t.Errorf("%v, %+v", err, plan)
	}
	for _, c := range []struct{ old, new, want string }{
		{"Open", "x", "2 definitions of Open"}, {"Nothing", "x", "no definition"}, {"Store", "a b", "invalid name"}, {"Store", "Store", "the same"},
	} {
		if _, err := rename.Find(context.Background(), ws, rename.Query{Old: c.old, New: c.new}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s: %v, want %s", c.old, c.new, err, c.want)
		}
	}
}

// A field or method of an anonymous type differs from a function of the same name.
func TestFindInTypes(t *testing.T) {
	ws := open(t, map[string]string{
		"go.mod": "module m\n",
		"one.go": `package m

func wrap() {}

func f(u interface{ wrap() }) { u.wrap(); wrap() }

type named interface { wrap() }

type both struct{ unwrap, wrap int; x int }

var v = struct { a int; wrap func() }{}

func g() {
	wrap()
	if true { wrap() }
	go func() { wrap() }()
}
`,
	})
	plan, err := rename.Find(t.Context(), ws, rename.Query{Old: "one.go#wrap", New: "fold"})
	if err != nil || lines(plan.Sure) != "one.go:14 one.go:15 one.go:16 one.go:3 one.go:5" || lines(plan.Doubtful) != "" || lines(plan.Left) != "one.go:11 one.go:5 one.go:5 one.go:7 one.go:9" {
		t.Errorf("%v\nsure %s\ndoubtful %s\nleft %s", err, lines(plan.Sure), lines(plan.Doubtful), lines(plan.Left))
	}
}

// A rename includes every place or fails: if a file can't be searched or parsed, the
// error names it.
func TestFindIsComplete(t *testing.T) {
	stress.SkipTiny(t)
	for _, c := range []struct{ name, text, want string }{
		{"long.js", strings.Repeat("x ", 9<<20) + "fetchAll()", "long.js"},
		{"deep.java", strings.Repeat("a<b<", 1<<18) + "\nfetchAll();\n", "deep.java"},
	} {
		ws := open(t, map[string]string{"a.js": "function fetchAll() {}\n", c.name: c.text})
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: "a.js#fetchAll", New: "fetchSome"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v", c.name, err, plan)
		}
	}
}

// The time for a file with the name on every line is proportional to the number of lines.
func TestManyPlaces(t *testing.T) {
	stress.SkipTiny(t)
	stress.SkipRace(t)
	const n = 50_000
	ws := open(t, map[string]string{"a.js": "function fetchAll() {}\n" + strings.Repeat("function f() { fetchAll() }\n", 1000) + strings.Repeat("  x = fetchAll() + 1\n", n)})
	began := stress.CPU()
	plan, err := rename.Find(t.Context(), ws, rename.Query{Old: "fetchAll", New: "fetchSome"})
	if took := stress.CPU() - began; err != nil || len(plan.Sure) != n+1001 || plan.Sure[n+1000].Line != n+1001 || took > 2*time.Second {
		t.Errorf("%v, %d places, %v", err, len(plan.Sure), took)
	}
}
