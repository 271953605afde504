package rename_test

import (
	"strings"
	"testing"

	"quarry/internal/rename"
	"quarry/internal/stress"
)

// In Go, places are classified by types: of function results, fields, elements, embedded
// types, in files for other systems, and in internal and external tests.
func TestFindByTypes(t *testing.T) {
	ws := open(t, map[string]string{
		"go.mod": "module example.com/m\n",
		"a/a.go": `package a

import "io"

type Store struct{ Name string }

func New() *Store { return &Store{} }

func (s *Store) Close() error { return nil }

type Other struct{ Name string }

func (o Other) Open() {}

func (o Other) Close() error { return nil }

func all(list []Store, m map[string]*Store, w io.Closer) {
	New().Close()
	for _, s := range list {
		s.Close()
	}
	m["x"].Close()
	Other{}.Close()
	w.Close()
	func() { s := New(); defer s.Close() }()
}
`,
		"a/a_test.go":    "package a\n\nvar Shared = New()\n\nfunc test() { Shared.Close() }\n",
		"a/out_test.go":  "package a_test\n\nimport \"example.com/m/a\"\n\nfunc test() { a.Shared.Close() }\n",
		"a/a_windows.go": "package a\n\nfunc system() { New().Close() }\n",
		"a/tagged.go":    "//go:build mine\n\npackage a\n\nfunc tagged() { New().Close() }\n",
		"b/b.go":         "package b\n\nimport \"example.com/m/a\"\n\ntype Deep struct{ *a.Store }\n\nfunc use(d Deep) { d.Close(); d.Store.Close(); _ = a.Store{Name: \"x\"} }\n",
		"c/c.go":         "package c\n\nimport (\n\t\"example.com/m/b\"\n\t\"os\"\n)\n\ntype File struct {\n\t*os.File\n\tb.Deep\n}\n\nfunc use(f File, d *b.Deep) { f.Close(); d.Store = nil }\n",
		"vendor/v/v.go":  "package v\n\nfunc Store() {}\n",
		"d/d.go":         "package d\n\ntype Node struct{}\n\nfunc (n *Node) Node() *Node { return n.Node() }\n\ntype Tx struct{ root Node }\n\nfunc (t Tx) Node() *Node { return t.root.Node() }\n",
	})
	for _, c := range []struct{ old, sure, doubtful, left string }{
		{"Store.Close",
			"a/a.go:18 a/a.go:20 a/a.go:22 a/a.go:25 a/a_test.go:5 a/a_windows.go:3 a/out_test.go:5 b/b.go:7 b/b.go:7",
			"a/a.go:24 a/a.go:9 a/tagged.go:5 c/c.go:13", "a/a.go:15 a/a.go:23"},
		{"a/a.go#Store",
			"a/a.go:17 a/a.go:17 a/a.go:5 a/a.go:7 a/a.go:7 a/a.go:9 b/b.go:5 b/b.go:7 b/b.go:7 c/c.go:13",
			"", "vendor/v/v.go:3"},
		{"Store.Name", "a/a.go:5 b/b.go:7", "", "a/a.go:11"},
		{"Node.Node", "d/d.go:5 d/d.go:5 d/d.go:9", "", "d/d.go:3 d/d.go:5 d/d.go:5 d/d.go:7 d/d.go:9 d/d.go:9"},
		{"d/d.go#Node", "d/d.go:3 d/d.go:5 d/d.go:5 d/d.go:7 d/d.go:9", "", "d/d.go:5 d/d.go:5 d/d.go:9 d/d.go:9"},
	} {
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: c.old, New: "Fresh"})
		if err != nil || lines(plan.Sure) != c.sure || lines(plan.Doubtful) != c.doubtful || lines(plan.Left) != c.left {
			t.Errorf("%s: %v\nsure     %s\nwant     %s\ndoubtful %s\nwant     %s\nleft     %s\nwant     %s", c.old, err, lines(plan.Sure), c.sure, lines(plan.Doubtful), c.doubtful, lines(plan.Left), c.left)
		}
	}
}

// If an interface of the module declares a method, all methods of that name may have to be
// renamed with it, so they are doubtful.
func TestFindMethodOfInterface(t *testing.T) {
	ws := open(t, map[string]string{
		"go.mod": "module m\n",
		"a.go":   "package m\n\ntype shape interface{ area() int }\n\ntype square struct{}\n\nfunc (square) area() int { return 1 }\n\nfunc f(s shape, q square) int { return s.area() + q.area() }\n",
	})
	for _, c := range []struct{ old, sure, doubtful string }{
		{"shape.area", "a.go:3 a.go:9", "a.go:7 a.go:9"},
		{"square.area", "a.go:7 a.go:9", "a.go:3 a.go:9"},
	} {
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: c.old, New: "size"})
		if err != nil || lines(plan.Sure) != c.sure || lines(plan.Doubtful) != c.doubtful || len(plan.Left) > 0 {
			t.Errorf("%s: %v\nsure     %s\ndoubtful %s\nleft     %s", c.old, err, lines(plan.Sure), lines(plan.Doubtful), lines(plan.Left))
		}
	}
}

// If a text would make the type checker recurse too deeply, or use up memory or time,
// places in it are doubtful.
func TestHostileTypes(t *testing.T) {
	stress.SkipTiny(t)
	doubled := "const s0 = `xxxxxxxxxxxxxxxx`\n"
	structs := "type t0 struct{ a int }\n"
	for i := range 60 {
		n, m := string(rune('A'+i/26))+string(rune('A'+i%26)), string(rune('A'+(i-1)/26))+string(rune('A'+(i-1+26)%26))
		if i == 0 {
			doubled += "const sAA = s0 + s0\n"
			structs += "type tAA struct{ a, b t0 }\n"
			continue
		}
		doubled += "const s" + n + " = s" + m + " + s" + m + "\n"
		structs += "type t" + n + " struct{ a, b t" + m + " }\n"
	}
	for _, c := range []struct{ name, text string }{
		{"sum", "var x = 1" + strings.Repeat("+1", 1<<18)},
		{"calls", "var x = f" + strings.Repeat("()", 1<<18)},
		{"brackets", "var x = " + strings.Repeat("(", 1<<18) + strings.Repeat(")", 1<<18)},
		{"dots", "var x = a" + strings.Repeat(".a", 1<<18)},
		{"blocks", "func x() " + strings.Repeat("{", 1<<18) + strings.Repeat("}", 1<<18)},
		{"doubled", doubled + "var x [len(sCH)]int\n"},
		{"structs", "import \"unsafe\"\n" + structs + "var x [unsafe.Sizeof(tCH{})]int\nvar y = tCH{} == tCH{}\nvar z any = tCH{}\nvar w = map[tCH]tCH{}\n"},
		{"generics", "type G[T any] struct{ a *G[G[T]] }\nvar x G[int]\nfunc g[T any](t T) { g(&t) }\n"},
		{"cycles", "type A [len(x)]A\nvar x A\ntype B interface{ B }\ntype C = D\ntype D = C\n"},
		{"cut", "func x() { open("},
	} {
		ws := open(t, map[string]string{"go.mod": "module m\n", "a.go": "package m\n\nfunc opened() {}\n", "b.go": "package m\n\nfunc use() { opened() }\n" + c.text})
		began := stress.CPU()
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: "opened", New: "begun"})
		if took := stress.CPU() - began; err != nil || len(plan.Sure)+len(plan.Doubtful) != 2 || took.Seconds() > 5 {
			t.Errorf("%s: %v, %v, %+v", c.name, err, took, plan)
		}
	}
}

// A new name is refused if it is a keyword of Go, or if the package or the type already
// has it.
func TestRefusedNames(t *testing.T) {
	ws := open(t, map[string]string{"go.mod": "module m\n", "a.go": "package m\n\ntype T struct{ x int }\n\nfunc (T) do() {}\n\nfunc f() {}\n", "b/b.go": "package b\n\nfunc g() {}\n", "a.py": "def h(): pass\n"})
	for _, c := range []struct{ old, new, want string }{
		{"f", "func", "a word of Go"}, {"f", "T", "a.go:3"}, {"T.do", "x", "a.go:3"}, {"T.x", "do", "a.go:5"},
		{"f", "g", ""}, {"f", "x", ""}, {"T.x", "f", ""}, {"h", "func", ""},
	} {
		_, err := rename.Find(t.Context(), ws, rename.Query{Old: c.old, New: c.new})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s → %s: %v, want %q", c.old, c.new, err, c.want)
		}
	}
}

// A method that Go's library may call through an interface is doubtful. It is not
// doubtful with other parameters or results.
func TestMethodsTheLibraryAsksFor(t *testing.T) {
	ws := open(t, map[string]string{
		"go.mod": "module m\n\ngo 1.24\n",
		"a.go": `package m

import "sort"

type list []int

func (l list) Len() int           { return len(l) }
func (l list) Less(i, j int) bool { return l[i] < l[j] }
func (l list) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

type other struct{}

func (other) Less(o other) bool { return false }
func (other) Len(n int) int     { return n }

func f(l list) { sort.Sort(l) }
`,
	})
	for old, doubtful := range map[string]int{"list.Len": 1, "list.Less": 1, "list.Swap": 1, "other.Less": 0, "other.Len": 0} {
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: old, New: "Fresh"})
		if err != nil || len(plan.Doubtful) != doubtful {
			t.Errorf("%s: %v, %d doubtful, want %d", old, err, len(plan.Doubtful), doubtful)
		}
	}
}
