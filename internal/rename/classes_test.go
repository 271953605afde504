package rename_test

import (
	"cmp"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/quarrytest"
	"quarry/internal/rename"
)

// Constructors and destructors are renamed with their class. A member that another type
// may share by inheritance is doubtful. Imports determine the meaning of a name that
// another file defines.
func TestFindInClasses(t *testing.T) {
	ws := open(t, map[string]string{
		"j/a/Foo.java":  "package a;\npublic class Foo extends Base {\n  private int n;\n  public Foo(int n) { this.n = n; }\n  public int get() { return n; }\n  static Foo make() { return new Foo(1); }\n  int twice() { return make().n + get(); }\n  Runnable r() { return new Runnable() { public void run() { get(); } }; }\n}\n",
		"j/a/Bar.java":  "package a;\nclass Bar extends Foo { Bar() { super(1); } public int get() { return 2; } int up() { return get(); } }\n",
		"j/b/Use.java":  "package b;\nimport a.Foo;\nclass Use { a.Foo f = Foo.make(); int Foo() { return f.get(); } }\n",
		"j/b/Own.java":  "package b;\nimport c.Foo;\nclass Own { Foo f; }\n",
		"j/c/Foo.java":  "package c;\npublic class Foo { public Foo() {} }\n",
		"n/k.cs":        "namespace N { class Kit { public Kit() {} ~Kit() {} Kit Next() { return new Kit(); } } }\n",
		"x/v.h":         "namespace ns {\nclass Vec : public Any { public: Vec(); ~Vec(); virtual int len(); int at(); };\n}\n",
		"x/v.cpp":       "#include \"v.h\"\nnamespace ns {\nVec::Vec() {}\nVec::~Vec() {}\nint Vec::len() { return at(); }\nint Vec::at() { return 0; }\n}\nns::Vec* mk() { return new ns::Vec(); }\n",
		"s/types.ts":    "export type AnyFunc = (...a: any[]) => any;\n",
		"s/index.ts":    "export { AnyFunc } from './types';\n",
		"s/use.ts":      "import { AnyFunc } from '.';\nexport function f<R extends AnyFunc>(r: R) { const g = <Q extends AnyFunc>(q: Q) => q; return g(r as AnyFunc); }\n",
		"s/own.ts":      "import { AnyFunc } from 'lib';\nlet x: AnyFunc;\nlet y = { AnyFunc: 1 };\n",
		"s/keys.ts":     "function keys(o) { o({ next: () => 1 }); }\n",
		"p/mod.py":      "class Shape(object):\n    def area(self):\n        return area(self.area)\n\n\ndef area(x):\n    return x\n",
		"p/__init__.py": "from .mod import Shape\n",
		"use.py":        "from p import Shape\nfrom q import area\n\n\nclass Square(Shape):\n    def area(self):\n        return area(Shape=1)\n",
	})
	for _, c := range []struct{ old, sure, doubtful string }{
		{"a.Foo", "j/a/Bar.java:2 j/a/Foo.java:2 j/a/Foo.java:4 j/a/Foo.java:6 j/a/Foo.java:6 j/b/Use.java:2 j/b/Use.java:3 j/b/Use.java:3", ""},
		{"j/a/Foo.java#Foo.get", "j/a/Foo.java:7", "j/a/Bar.java:2 j/a/Bar.java:2 j/a/Foo.java:5 j/a/Foo.java:8 j/b/Use.java:3"},
		{"j/a/Foo.java#Foo.n", "j/a/Foo.java:3 j/a/Foo.java:4 j/a/Foo.java:5", "j/a/Foo.java:7"},
		{"j/a/Foo.java#Foo.make", "j/a/Foo.java:6 j/a/Foo.java:7 j/b/Use.java:3", ""},
		{"N.Kit", "n/k.cs:1 n/k.cs:1 n/k.cs:1 n/k.cs:1 n/k.cs:1", ""},
		{"ns.Vec", "x/v.cpp:3 x/v.cpp:3 x/v.cpp:4 x/v.cpp:4 x/v.cpp:5 x/v.cpp:6 x/v.cpp:8 x/v.cpp:8 x/v.h:2 x/v.h:2 x/v.h:2", ""},
		{"ns.Vec.len", "", "x/v.cpp:5 x/v.h:2"},
		{"AnyFunc", "s/index.ts:1 s/types.ts:1 s/use.ts:1 s/use.ts:2 s/use.ts:2 s/use.ts:2", "s/own.ts:1 s/own.ts:2"},
		{"Shape", "p/__init__.py:1 p/mod.py:1 use.py:1 use.py:5", ""},
		{"p/mod.py#Shape.area", "p/mod.py:2 p/mod.py:3", "use.py:6"},
		{"s/keys.ts#keys.next", "", "s/keys.ts:1"},
		{"p/mod.py#area", "p/mod.py:3 p/mod.py:6", ""},
	} {
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: c.old, New: "Fresh"})
		if err != nil {
			t.Errorf("%s: %v", c.old, err)
		} else if lines(plan.Sure) != c.sure || lines(plan.Doubtful) != c.doubtful {
			t.Errorf("%s:\nsure     %s\nwant     %s\ndoubtful %s\nwant     %s", c.old, lines(plan.Sure), c.sure, lines(plan.Doubtful), c.doubtful)
		}
	}
}

// Nested modules are not type-checked, so places in them are doubtful.
func TestFindInNestedModule(t *testing.T) {
	ws := open(t, map[string]string{
		"go.mod":        "module example.com/m\n",
		"a.go":          "package m\n\nfunc Open() {}\n",
		"sub/go.mod":    "module example.com/m/sub\n",
		"sub/sub.go":    "package sub\n\nimport \"example.com/m\"\n\nfunc use() { m.Open() }\n",
		"sub/other.go":  "package sub\n\nfunc other() { os.Open() }\n",
		"sub/hidden.go": "package sub\n\nfunc open() {}\n",
	})
	plan, err := rename.Find(t.Context(), ws, rename.Query{Old: "Open", New: "Begin"})
	if err != nil || lines(plan.Sure) != "a.go:3" || lines(plan.Doubtful) != "sub/sub.go:5" || lines(plan.Left) != "sub/other.go:3" {
		t.Errorf("%v\nsure %s\ndoubtful %s\nleft %s", err, lines(plan.Sure), lines(plan.Doubtful), lines(plan.Left))
	}
}

// Renaming a public Java class renames its file, and undo restores both.
func TestRenameMovesFileOfJava(t *testing.T) {
	ws := quarrytest.Changeable(t, map[string]string{"a/Foo.java": "package a;\npublic class Foo { Foo() {} }\n"}, nil)
	q := rename.Query{Old: "Foo", New: "Bar"}
	plan, err := rename.Find(t.Context(), ws, q)
	if err != nil {
		t.Fatal(err)
	}
	done := quarrytest.Must(t)(ws.Apply(t.Context(), change.Set{Ops: plan.Ops}))
	if got := quarrytest.Content(t, ws, "a/Bar.java"); got != "package a;\npublic class Bar { Bar() {} }\n" {
		t.Errorf("%q", got)
	}
	quarrytest.Must(t)(ws.Undo(t.Context(), done.ID, nil))
	if got := quarrytest.Content(t, ws, "a/Foo.java"); !strings.Contains(got, "class Foo") {
		t.Errorf("%q", got)
	}
}

// Doubtful places prevent a rename unless the query says how to treat them.
func TestUndecided(t *testing.T) {
	ws := open(t, map[string]string{"a.py": "class A:\n    def f(self): pass\n\ndef g(a): a.f()\n"})
	for _, c := range []struct {
		q    rename.Query
		stop bool
	}{
		{rename.Query{}, true}, {rename.Query{Doubtful: true}, false}, {rename.Query{Sure: true}, false},
	} {
		c.q.Old, c.q.New = "A.f", "h"
		plan, err := rename.Find(t.Context(), ws, c.q)
		if err != nil {
			t.Fatal(err)
		}
		err = plan.Undecided(&c.q, 5, "say so")
		if c.stop != (err != nil) || err != nil && !strings.Contains(err.Error(), "a.py:4: def g(a): a.f() (a member of a)") {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
}

// If a file changes after the plan was made, the plan is made again: new uses are
// renamed, too, and a new doubtful place prevents the rename.
func TestPlannedAgain(t *testing.T) {
	for _, c := range []struct{ name, meanwhile, want string }{
		{"a new use", "class A:\n    def f(self): pass\n\n    def g(self): self.f(); self.f()\n", "class A:\n    def h(self): pass\n\n    def g(self): self.h(); self.h()\n"},
		{"a doubtful place", "class A:\n    def f(self): pass\n\ndef g(a): a.f()\n", ""},
	} {
		ws := quarrytest.Changeable(t, map[string]string{"a.py": "class A:\n    def f(self): pass\n\n    def g(self): self.f()\n"}, nil)
		q := rename.Query{Old: "A.f", New: "h"}
		plan, err := rename.Find(t.Context(), ws, q)
		if err != nil {
			t.Fatal(err)
		}
		set := plan.Set(ws, q, "decide")
		quarrytest.Put(t, ws, "a.py", c.meanwhile)
		_, err = ws.Apply(t.Context(), set)
		if got := quarrytest.Content(t, ws, "a.py"); (err != nil) != (c.want == "") || got != cmp.Or(c.want, c.meanwhile) {
			t.Errorf("%s: %v, %q", c.name, err, got)
		}
	}
}
