package structure

import (
	"slices"
	"strings"
	"testing"
)

func found(t *testing.T, path, pattern, code string) []string {
	t.Helper()
	sign := rune(0)
	if strings.Contains(pattern, "@") && strings.HasSuffix(path, ".php") {
		sign = '@'
	}
	p, err := Compile(pattern, sign)
	if err != nil {
		t.Fatalf("Compile(%q): %v", pattern, err)
	}
	list, complete := p.Find(NewText(nil, path, []byte(code)))
	if !complete {
		t.Errorf("%q in %q took too many steps", pattern, code)
	}
	var out []string
	for _, m := range list {
		s := code[m.Start:m.End]
		for _, h := range m.Holes {
			s += " " + h.Name + "=" + code[h.Start:h.End]
		}
		if m.Doubt != "" {
			s += " ?"
		}
		out = append(out, s)
	}
	return out
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		path, pattern, code string
		want                []string
	}{
		{"a.go", `foo($A, $B)`, "foo(1, f(2, 3))", []string{"foo(1, f(2, 3)) A=1 B=f(2, 3)"}},
		{"a.go", `foo($A)`, "foo(a, b)", nil},
		{"a.go", `foo($A)`, "x.foo(a); foo(b)", []string{"foo(b) A=b"}},
		{"a.go", `foo($A)`, "func foo(a int) {}", nil},
		{"a.go", `foo($A)`, "foo(\n\t// why\n\ta,\n)", []string{"foo(\n\t// why\n\ta,\n) A=a"}},
		{"a.go", `foo($A)`, `"foo(a)" // foo(b)`, nil},
		{"a.go", `foo($$A)`, "foo() + foo(1, 2)", []string{"foo() A=", "foo(1, 2) A=1, 2"}},
		{"a.go", `foo($A, $$B)`, "foo(1)", []string{"foo(1) A=1 B="}},
		{"a.go", `foo($A)`, "foo(foo(1))", []string{"foo(foo(1)) A=foo(1)", "foo(1) A=1"}},
		{"a.go", `$A == nil`, "a && b.c == nil || d", []string{"b.c == nil A=b.c"}},
		{"a.go", `$A * $B`, "a + b * c", []string{"b * c A=b B=c"}},
		{"a.go", `a + b`, "a + b * c; a + b - c", []string{"a + b"}},
		{"a.go", `$A.Close()`, "x.y(1).Close()", []string{"x.y(1).Close() A=x.y(1)"}},
		{"a.go", `$X = append($X, $Y)`, "a.b = append(a.b, 1); a = append(b, 1)", []string{"a.b = append(a.b, 1) X=a.b Y=1"}},
		{"a.go", `if err != nil { $$B }`, "if err != nil {\n\treturn err\n}\nif err != nil { a() } else { b() }", []string{"if err != nil {\n\treturn err\n} B=return err"}},
		{"a.go", `$A := $B`, "a := 1\nb, c := 2, 3\nd := func() int { return 1 }", []string{"a := 1 A=a B=1", "d := func() int { return 1 } A=d B=func() int { return 1 }"}},
		{"a.go", `return $A`, "return a, b\nreturn c", []string{"return c A=c"}},
		{"a.go", `[$$A, x, $$B]`, "[x, x]", []string{"[x, x] A= B=x ?", "[x, x] A=x B= ?"}},
		{"a.go", `"foo"`, `a("foo", "foob")`, []string{`"foo"`}},
		{"a.go", `"a $B c"`, `f("a x c", "a c")`, []string{`"a x c" B=x`}},
		{"a.go", `// TODO $$A`, "// TODO go on\n// no", []string{"// TODO go on A=go on"}},
		{"a.ts", `$A < $B`, "if (a < b) {}\nf(Map<K, V>(x))", []string{"a < b A=a B=b"}},
		{"a.ts", `useEffect(() => { $$B }, [])`, "useEffect(() => {\n  a();\n}, []);", []string{"useEffect(() => {\n  a();\n}, []) B=a();"}},
		{"a.ts", `$A ? $B : $C`, "x = a.b ? c : d ? e : f", []string{"a.b ? c : d ? e : f A=a.b B=c C=d ? e : f", "d ? e : f A=d B=e C=f"}},
		{"a.ts", `const $A = $B`, "const a = f(1)\nconst b = 2;", []string{"const a = f(1) A=a B=f(1)", "const b = 2 A=b B=2"}},
		{"a.py", `if $C: $$B`, "if a:\n    b()\n    c()\nd()", []string{"if a:\n    b()\n    c() C=a B=b()\n    c()"}},
		{"a.py", `if $C: $$B`, "if a:\n    b()\nelse:\n    c()", nil},
		{"a.py", `$A = $B`, "f(a=1)\nb = 2", []string{"b = 2 A=b B=2"}},
		{"a.py", `not $A`, "x = not a.b and c", []string{"not a.b A=a.b"}},
		{"a.c", `$A * $B`, "a * b;\nx = c * d;", []string{"a * b A=a B=b ?", "c * d A=c B=d"}},
		{"a.c", `if ($A) return $B;`, "if (a > 1) return f(2);", []string{"if (a > 1) return f(2); A=a > 1 B=f(2)"}},
		{"a.rs", `$A.unwrap()`, "let x = a.b()?.unwrap();", []string{"a.b()?.unwrap() A=a.b()?"}},
		{"a.java", `new $A($$B)`, "x = new Map<K, V>(1);", []string{"new Map<K, V>(1) A=Map<K, V> B=1"}},
		{"a.php", `foo(@A)`, "<?php foo($x); ", []string{"foo($x) A=$x"}},
		{"a.txt", `foo($A)`, "see foo(bar (baz)) there", nil},
		{"a.conf", `foo($A)`, "foo(bar (baz))", []string{"foo(bar (baz)) A=bar (baz)"}},
	} {
		if got := found(t, c.path, c.pattern, c.code); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s in %q\n got %q\nwant %q", c.path, c.pattern, c.code, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, expr := range []string{"", "  ", "$A", "foo(", "$A $$B", "a)"} {
		if _, err := Compile(expr, 0); err == nil {
			t.Errorf("Compile(%q) is accepted", expr)
		}
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		expr string
		want []string
	}{
		{`fmt.Sprintf($A)`, []string{"Sprintf", "fmt"}},
		{`$A == $B`, nil},
		{`foo // bar`, []string{"foo"}},
		{`x = "some words"`, []string{"words", "some", "x"}},
	} {
		p, err := Compile(c.expr, 0)
		if err != nil || !slices.Equal(p.Needs(), c.want) {
			t.Errorf("Needs(%q) = %q, %v, want %q", c.expr, p.Needs(), err, c.want)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		path, pattern, new, code, want string
		refused                        int
	}{
		{"a.go", `foo($A, $B)`, `bar($B, $A)`, "foo(1, foo(2, 3))", "bar(bar(3, 2), 1)", 0},
		{"a.go", `foo($A)`, `$A.foo()`, "foo(a + b)", "(a + b).foo()", 0},
		{"a.go", `foo($A)`, `$A + 1`, "foo(a) * 2", "(a + 1) * 2", 0},
		{"a.go", `foo($A)`, `bar($A)`, "foo(a + b)", "bar(a + b)", 0},
		{"a.go", `foo($A, $$B)`, `bar($A, $$B)`, "foo(1); foo(1, 2)", "bar(1); bar(1, 2)", 0},
		{"a.go", `if a { $$B }`, `f(func() { $$B })`, "{\n\tif a {\n\t\tx()\n\t\ty()\n\t}\n}", "{\n\tf(func() { x()\n\ty() })\n}", 0},
		{"a.go", `if a { $$B }`, "if b {\n\t$$B\n}", "{\n\tif a {\n\t\tx()\n\t\ty()\n\t}\n}", "{\n\tif b {\n\t\tx()\n\t\ty()\n\t}\n}", 0},
		{"a.c", `$A * $B`, `mul($A, $B)`, "a * b;\nx = c * d;", "a * b;\nx = mul(c, d);", 1},
		{"a.go", `[$$A, x, $$B]`, `[$$A]`, "[x, x]", "[x, x]", 1},
	} {
		p, err := Compile(c.pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		tmpl, err := p.Template(c.new, 0)
		if err != nil {
			t.Fatal(err)
		}
		edits, refused, _, _ := tmpl.Replace(NewText(nil, c.path, []byte(c.code)))
		got := c.code
		for _, e := range slices.Backward(edits) {
			got = got[:e.Start] + e.New + got[e.End:]
		}
		if got != c.want || len(refused) != c.refused {
			t.Errorf("%s → %s: %q\n got %q, %d refused\nwant %q, %d refused", c.pattern, c.new, c.code, got, len(refused), c.want, c.refused)
		}
	}
}
