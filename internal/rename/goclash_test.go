package rename_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"quarry/internal/rename"
	"quarry/internal/stress"
)

// A new name is refused, with the place, if a local name, an import or an embedded type
// would hide it, or if it would hide another name. Accepted renames keep the meaning of
// all code.
func TestRefusedClashes(t *testing.T) {
	const gomod = "module m\n\ngo 1.22\n"
	for _, c := range []struct {
		name, old, new, want string
		files                map[string]string
	}{
		{"a parameter hides it", "old", "fresh", "a.go:5: the place would mean the local name of line 5",
			map[string]string{"a.go": "package m\n\nfunc old() int { return 1 }\n\nfunc use(fresh int) int { return old() + fresh }\n"}},
		{"a variable hides it", "old", "fresh", "a.go:7: the place would mean the local name of line 6",
			map[string]string{"a.go": "package m\n\nvar old = 1\n\nfunc use() int {\n\tfresh := 2\n\treturn old + fresh\n}\n"}},
		{"a variable is declared after it", "old", "fresh", "",
			map[string]string{"a.go": "package m\n\nvar old = 1\n\nfunc use() int {\n\tx := old\n\tfresh := 2\n\treturn x + fresh\n}\n"}},
		{"in another function", "old", "fresh", "",
			map[string]string{"a.go": "package m\n\nvar old = 1\n\nfunc use() int { return old }\n\nfunc other(fresh int) int { return fresh }\n"}},
		{"a receiver hides it", "old", "t", "the local name of line 7",
			map[string]string{"a.go": "package m\n\ntype T struct{}\n\nfunc old() {}\n\nfunc (t T) use() { old() }\n"}},
		{"a label has it", "old", "fresh", "",
			map[string]string{"a.go": "package m\n\nfunc old() {}\n\nfunc use() {\nfresh:\n\tfor {\n\t\told()\n\t\tbreak fresh\n\t}\n}\n"}},
		{"a type parameter hides it", "old", "T", "the local name of line 5",
			map[string]string{"a.go": "package m\n\ntype old int\n\nfunc use[T any](a T) old { return 0 }\n"}},
		{"a type switch hides it", "old", "fresh", "a.go:8: the place would mean the local name of line 6",
			map[string]string{"a.go": "package m\n\nfunc old() {}\n\nfunc use(x any) {\n\tswitch fresh := x.(type) {\n\tcase int:\n\t\told()\n\t\t_ = fresh\n\t}\n}\n"}},
		{"it hides what is built in", "size", "len", "a.go:5: it means what Go has built in, and would mean the renamed one",
			map[string]string{"a.go": "package m\n\nfunc size(s []int) int { return 1 }\n\nfunc use(s []int) int { return len(s) + size(s) }\n"}},
		{"built in and not used", "size", "len", "",
			map[string]string{"a.go": "package m\n\nfunc size(s []int) int { return 1 }\n", "b/b.go": "package b\n\nvar x = len(\"a\")\n"}},
		{"it hides what is built in, in another file", "num", "string", "b.go:3: it means what Go has built in",
			map[string]string{"a.go": "package m\n\ntype num int\n", "b.go": "package m\n\nvar x string\n"}},
		{"an import of another file has it", "old", "os", "b.go:3: an import has it",
			map[string]string{"a.go": "package m\n\nfunc old() {}\n", "b.go": "package m\n\nimport \"os\"\n\nvar x = os.Args\n"}},
		{"an import by another name has it", "old", "fresh", "b.go:3: an import has it",
			map[string]string{"a.go": "package m\n\nfunc old() {}\n", "b.go": "package m\n\nimport fresh \"os\"\n\nvar x = fresh.Args\n"}},
		{"an import of another package has it", "old", "os", "",
			map[string]string{"a.go": "package m\n\nfunc old() {}\n", "b/b.go": "package b\n\nimport \"os\"\n\nvar x = os.Args\n"}},
		{"an embedded field has it", "T.old", "Base", "T has a member of that name",
			map[string]string{"a.go": "package m\n\ntype Base struct{}\n\ntype T struct{ Base }\n\nfunc (T) old() {}\n"}},
		{"a member of an embedded type", "T.old", "fresh", "a.go:12: it means the definition of line 5, and would mean the renamed one",
			map[string]string{"a.go": "package m\n\ntype Base struct{}\n\nfunc (Base) fresh() {}\n\ntype T struct {\n\tBase\n\told int\n}\n\nfunc use(t T) { t.fresh() }\n"}},
		{"the type that embeds it has one", "Base.old", "fresh", "a.go:7: the place would mean the definition of line 5",
			map[string]string{"a.go": "package m\n\ntype Base struct{ old int }\n\ntype T struct{ Base; fresh int }\n\nfunc use(t T) int { return t.old }\n"}},
		{"two embedded types have one", "Base.old", "fresh", "a.go:9: ",
			map[string]string{"a.go": "package m\n\ntype Base struct{ old int }\n\ntype Other struct{ fresh int }\n\ntype T struct { Base; Other }\n\nfunc use(t T) int { return t.fresh }\n"}},
		{"an embedded type in another package", "Base.Old", "Fresh", "b/b.go:7: ",
			map[string]string{"a.go": "package m\n\ntype Base struct{ Old int }\n", "b/b.go": "package b\n\nimport \"m\"\n\ntype T struct { m.Base; Fresh int }\n\nfunc use(t T) int { return t.Old }\n"}},
		{"another package can't see it", "Old", "fresh", "b/b.go:5: the place is in another package, where fresh can't be seen",
			map[string]string{"a.go": "package m\n\nfunc Old() {}\n", "b/b.go": "package b\n\nimport \"m\"\n\nfunc use() { m.Old() }\n"}},
		{"a test beside it can't see it", "T.Old", "fresh", "a_test.go:5: the place is in another package",
			map[string]string{"a.go": "package m\n\ntype T struct{ Old int }\n", "a_test.go": "package m_test\n\nimport \"m\"\n\nvar x = m.T{}.Old\n"}},
		{"nobody else needs to see it", "Old", "fresh", "",
			map[string]string{"a.go": "package m\n\nfunc Old() {}\n\nfunc use() { Old() }\n"}},
		{"an import without a name", "Old", "Fresh", "b/b.go:7: it means the definition of line 5, and would mean the renamed one",
			map[string]string{"a.go": "package m\n\nvar Old = 1\n\nvar Other = 2\n", "b/b.go": "package b\n\nimport . \"m\"\n\nvar Fresh = Other\n\nvar x = Fresh\n"}},
		{"no name of Go", "old", "a$b", "Go can't have it", map[string]string{"a.go": "package m\n\nfunc old() {}\n"}},
		{"no name at all", "old", "_", "Go can't have it", map[string]string{"a.go": "package m\n\nfunc old() {}\n"}},
		{"Go would call it", "old", "init", "by their names", map[string]string{"a.go": "package m\n\nfunc old() {}\n"}},
		{"Go calls it", "main", "old", "by their names", map[string]string{"a.go": "package main\n\nfunc main() {}\n"}},
		{"a method may be called so", "T.old", "init", "", map[string]string{"a.go": "package m\n\ntype T struct{}\n\nfunc (T) old() {}\n"}},
	} {
		c.files["go.mod"] = gomod
		ws := open(t, c.files)
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: c.old, New: c.new})
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case c.want == "" && (err != nil || len(plan.Sure) == 0 || len(plan.Doubtful) > 0):
			t.Errorf("%s: %v, %+v", c.name, err, plan)
		}
	}
}

// Outside Go, a place is doubtful if the function that contains it declares the new name.
// Without a go.mod, predeclared names are refused.
func TestClashesByTokens(t *testing.T) {
	ws := open(t, map[string]string{
		"a.go": "package m\n\nfunc old() int { return 1 }\n\nfunc use(fresh int) int { return old() + fresh }\n\nfunc other() int { return old() }\n",
		"b.js": "function older() {}\nfunction use(fresh) { older() }\nfunction other() { older() }\nfunction own(a, older) { return older() }\n",
		"c.py": "def oldest(): pass\ndef use(a, fresh=1): oldest()\ndef other(): oldest()\ndef own(oldest): return oldest()\n",
	})
	for _, c := range []struct{ old, sure, doubtful string }{
		{"older", "b.js:1 b.js:3", "b.js:2 b.js:4 b.js:4"},
		{"oldest", "c.py:1 c.py:3", "c.py:2 c.py:4 c.py:4"},
	} {
		plan, err := rename.Find(t.Context(), ws, rename.Query{Old: c.old, New: "fresh"})
		if err != nil || lines(plan.Sure) != c.sure || lines(plan.Doubtful) != c.doubtful {
			t.Errorf("%s: %v\nsure     %s\ndoubtful %s", c.old, err, lines(plan.Sure), lines(plan.Doubtful))
		}
	}
	if _, err := rename.Find(t.Context(), ws, rename.Query{Old: "old", New: "fresh"}); err == nil || !strings.Contains(err.Error(), "a.go:5: the place would mean the local name") {
		t.Errorf("fresh: %v", err)
	}
	if _, err := rename.Find(t.Context(), ws, rename.Query{Old: "old", New: "len"}); err == nil || !strings.Contains(err.Error(), "built into Go") {
		t.Errorf("len: %v", err)
	}
}

// ending cancels a call when a certain file is read.
type ending struct {
	rename.Source
	at     string
	cancel context.CancelFunc
}

func (e *ending) ReadBytes(ctx context.Context, p string, limit int64) ([]byte, error) {
	data, err := e.Source.ReadBytes(ctx, p, limit)
	if p == e.at {
		e.cancel()
	}
	return data, err
}

// A call that is canceled during type checking ends soon, even in a large package. The
// cancellation occurs when the checker asks for an import.
func TestCancelTypes(t *testing.T) {
	stress.SkipTiny(t)
	var body strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&body, "func f%d(a, b int) int {\n\tfor i := 0; i < 10; i++ {\n\t\ta += b*2 + i\n\t}\n\treturn old(a) + b\n}\n\n", i)
	}
	ws := open(t, map[string]string{
		"go.mod":   "module m\n",
		"dep/d.go": "package dep\n\nvar X = 1\n",
		"big/a.go": "package big\n\nimport \"m/dep\"\n\nfunc old(a int) int { return dep.X }\n\n" + body.String(),
	})
	spent := map[bool]float64{}
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		from := &ending{Source: ws, cancel: cancel}
		if cancelled {
			from.at = "dep/d.go"
		}
		began := stress.CPU()
		_, err := rename.Find(ctx, from, rename.Query{Old: "old", New: "fresh"})
		if spent[cancelled] = (stress.CPU() - began).Seconds(); (err != nil) != cancelled {
			t.Fatalf("cancelled %v: %v", cancelled, err)
		}
	}
	t.Logf("%.2f s, cancelled %.2f s", spent[false], spent[true])
	if spent[true] > spent[false]/2 {
		t.Errorf("cancelled it took %.2f s of processor time, otherwise %.2f s", spent[true], spent[false])
	}
}
