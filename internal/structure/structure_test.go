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
		{"a.go", `switch $A { $$B }`, "switch x := y.(type) {}\nswitch y.(type) {}\nswitch y.(T) {}", []string{"switch y.(T) {} A=y.(T) B="}},
		{"a.go", `*$A`, "func f(*T) (*p.T, error) { *a = *b; c.(*T) }", []string{"*a A=a", "*b A=b"}},
		{"a.go", `$A[$B]`, "func (l *List[T]) f(a List[T]) { b[c] = map[string]int{} }", []string{"b[c] A=b B=c"}},
		{"a.go", `[]T{$$A}`, "var a = []T{1}\nvar b = [][]T{{1}}\nfunc f() []T {}\nfunc g() *[]T {}", []string{"[]T{1} A=1"}},
		{"a.go", `*$A`, "var m map[*p.T]int\nvar c = New[string, *p.T](*d)", []string{"*d A=d"}},
		{"a.go", `$A[$B]`, "var x *p.Q[T]\nfunc f() *S[T] { return a[b] }\nvar (\n\ty *S[T]\n)", []string{"a[b] A=a B=b"}},
		{"a.go", `$A.($B)`, "switch x := a.(type) { case b.(T): }", []string{"b.(T) A=b B=T"}},
		{"a.js", `[$A]`, "a[0]; [1]; f()[2]; return [3]", []string{"[1] A=1", "[3] A=3"}},
		{"a.go", `if $A; $B { $$C }`, "if a := b(); a { c }", []string{"if a := b(); a { c } A=a := b() B=a C=c"}},
		{"a.go", `func() { $$A }`, "var a = []func(){}\nvar b = func() {}", []string{"func() {} A="}},
		{"a.go", `*$A`, "*c.n++", []string{"*c.n A=c.n"}},
		{"a.go", `$A++`, "*c.n++\nd++", []string{"*c.n++ A=*c.n", "d++ A=d"}},
		{"a.go", `$A[$B]`, "func f() <-chan [][32]byte { x[1]++ }", []string{"x[1] A=x B=1"}},
		{"a.go", `return $A`, "return a, b\nreturn c", []string{"return c A=c"}},
		{"a.go", `[$$A, x, $$B]`, "[x, x]", []string{"[x, x] A= B=x ?", "[x, x] A=x B= ?"}},
		{"a.go", `"foo"`, `a("foo", "foob")`, []string{`"foo"`}},
		{"a.go", `"a $B c"`, `f("a x c", "a c")`, []string{`"a x c" B=x`}},
		{"a.go", `// TODO $$A`, "// TODO go on\n// no", []string{"// TODO go on A=go on"}},
		{"a.ts", `$A < $B`, "if (a < b) {}\nf(Map<K, V>(x))", []string{"a < b A=a B=b"}},
		{"a.ts", `useEffect(() => { $$B }, [])`, "useEffect(() => {\n  a();\n}, []);", []string{"useEffect(() => {\n  a();\n}, []) B=a();"}},
		{"a.ts", `$A in $B`, "for (x in y) z in w", []string{"z in w A=z B=w"}},
		{"a.ts", `$A = $B`, "x = async (a) => { b }\ny = c => d || e\nz = (a: T): U => b", []string{"x = async (a) => { b } A=x B=async (a) => { b }", "y = c => d || e A=y B=c => d || e", "z = (a: T): U => b A=z B=(a: T): U => b"}},
		{"a.js", `$A * $B`, "import * as a from 'b'\nexport * from 'c'\nd * e", []string{"d * e A=d B=e"}},
		{"a.js", `return;`, "return; if (a) return !b; return\nreturn c", []string{"return", "return"}},
		{"a.js", `($$A) => { $$B }`, "async (a) => {}; (b) => {}", []string{"(b) => {} A=b B="}},
		{"a.js", `return $A`, "return a ? b ? c : d : e", []string{"return a ? b ? c : d : e A=a ? b ? c : d : e"}},
		{"a.js", `throw $A`, "x = { throw(...a) { b } }; throw c", []string{"throw c A=c"}},
		{"a.js", `$A - $B`, "1e-9 - 0xe-2", []string{"1e-9 - 0xe-2 A=1e-9 - 0xe B=2", "1e-9 - 0xe A=1e-9 B=0xe"}},
		{"a.c", `$A - $B`, "a = 0x1.8p-3f - 0X1.P-3 - 1.e-3f", []string{"0x1.8p-3f - 0X1.P-3 - 1.e-3f A=0x1.8p-3f - 0X1.P-3 B=1.e-3f", "0x1.8p-3f - 0X1.P-3 A=0x1.8p-3f B=0X1.P-3"}},
		{"a.go", `$A - $B`, "a := 0x1p-3 - 0xe-2", []string{"0x1p-3 - 0xe-2 A=0x1p-3 - 0xe B=2", "0x1p-3 - 0xe A=0x1p-3 B=0xe"}},
		{"a.c", `$A.$B`, "a = 1.f + 2.e5 + b.c + 3.L + 0x1.fp3 + 0x1.f8p-3f", []string{"b.c A=b B=c"}},
		{"a.py", `$A * $B`, "f(lambda *a: a)", nil},
		{"a.js", `$A += $B`, "a ? b += c : d += e", []string{"b += c A=b B=c", "d += e A=d B=e"}},
		{"a.js", `$A++`, "if (a) ++b; c++", []string{"c++ A=c"}},
		{"a.ts", `() => $A`, "f(1, () => a, { b: () => c })\nd = async () => e", []string{"() => a A=a", "() => c A=c"}},
		{"a.ts", `const $A = $B`, "const a = <T>(b: T): T => b\nconst c = 1 as const\nconst d = (e >>> 1) >> 2\nconst f = /g/i\nconst h = i as\n  | J\n  | K\nconst l = 2", []string{"const a = <T>(b: T): T => b A=a B=<T>(b: T): T => b", "const c = 1 as const A=c B=1 as const", "const d = (e >>> 1) >> 2 A=d B=(e >>> 1) >> 2", "const f = /g/i A=f B=/g/i", "const h = i as\n  | J\n  | K A=h B=i as\n  | J\n  | K", "const l = 2 A=l B=2"}},
		{"a.ts", `await $A`, "f({ a: await b, c })\nfor await (d of e) {}\n!await g", []string{"await b A=b", "await g A=g"}},
		{"a.ts", `!$A`, "!!a", []string{"!!a A=!a", "!a A=a"}},
		{"a.ts", `import $A from $B`, "import * as a from 'b'\nimport c from 'd'", []string{"import * as a from 'b' A=* as a B='b'", "import c from 'd' A=c B='d'"}},
		{"a.ts", `if ($A) return $B`, "if (a)\n  return b\nelse\n  return c", nil},
		{"a.ts", `if ($A) return $B`, "if (a)\n  return b\nc", []string{"if (a)\n  return b A=a B=b"}},
		{"a.ts", `$A ? $B : $C`, "x = a.b ? c : d ? e : f", []string{"a.b ? c : d ? e : f A=a.b B=c C=d ? e : f", "d ? e : f A=d B=e C=f"}},
		{"a.ts", `const $A = $B`, "const a = f(1)\nconst b = 2;", []string{"const a = f(1) A=a B=f(1)", "const b = 2 A=b B=2"}},
		{"a.ts", `$A = $B`, "const a: T = b; x = y; class C { p: I = q }\nfunction f(a: T = 1, b: { c: D } = e) { c ? d = e : g = h }\nfunction i<J extends K[] = [], L = M>(n) { switch (o) { case p: q = r } }", []string{"x = y A=x B=y", "d = e A=d B=e", "g = h A=g B=h", "q = r A=q B=r"}},
		{"a.js", `$A = $B`, "({ a: b = c } = d)", []string{"{ a: b = c } = d A={ a: b = c } B=d", "b = c A=b B=c"}},
		{"a.py", `if $C: $$B`, "if a:\n    b()\n    c()\nd()", []string{"if a:\n    b()\n    c() C=a B=b()\n    c()"}},
		{"a.py", `if $C: $$B`, "if a:\n    b()\nelse:\n    c()", nil},
		{"a.py", `$A = $B`, "f(a=1)\nb = 2", []string{"b = 2 A=b B=2"}},
		{"a.py", `$A.b`, "import a.b\nfrom c.b import d.b\nx = a.b", []string{"a.b A=a"}},
		{"a.py", `yield $A`, "yield a\nyield from b", []string{"yield a A=a"}},
		{"a.py", `with $A as $B: $$C`, "with open(a) as f:\n    g()", []string{"with open(a) as f:\n    g() A=open(a) B=f C=g()"}},
		{"a.py", `$A in $B`, "[x for x in y if x in z]\nfor a in b: pass\n{k: v for k, v in d}", []string{"x in z A=x B=z"}},
		{"a.py", `$A if $B else $C`, "for c in a if b else d: pass", []string{"a if b else d A=a B=b C=d"}},
		{"a.py", `if $A: $$B`, "for c in a if b else d: pass\nasync def f(): pass", nil},
		{"a.py", `not $A`, "x = not a.b and c", []string{"not a.b A=a.b"}},
		{"a.c", `$A * $B`, "a * b;\nx = c * d;", []string{"a * b A=a B=b ?", "c * d A=c B=d"}},
		{"a.c", `$A = $B`, "*c = (T)(a - b);\nT *d = e;\ncase 1: f = g;", []string{"*c = (T)(a - b) A=*c B=(T)(a - b)", "f = g A=f B=g"}},
		{"a.c", `$A++`, "*((*a)++); if (b) { c } ++d;", []string{"(*a)++ A=(*a)"}},
		{"a.c", `$A && $B`, "new && a == 1.", []string{"new && a == 1. A=new B=a == 1."}},
		{"a.c", `sizeof($A)`, "x > (int)sizeof(y)", []string{"sizeof(y) A=y"}},
		{"a.c", `$A - $B`, "(a) - b; (int) - c; (T *) - d", []string{"(a) - b A=(a) B=b"}},
		{"a.c", `if ($A) return $B;`, "if (a > 1) return f(2);", []string{"if (a > 1) return f(2); A=a > 1 B=f(2)"}},
		// A hole ends with a block, and contains whole statements.
		{"a.c", `if ($A) $B;`, "if (n) { g(); } *p = 3;", nil},
		{"a.c", `if ($A) $B;`, "if (n) { g(); } (*f)(); if (m) { h(); } ++p; if (q) { i(); } -r;", nil},
		{"a.c", `if ($A) $B;`, "if (n) while (x) { g(); } *p = 3;", nil},
		{"a.c", `if ($A) $B;`, "if (n) for_each(x, y) { g(); } *p = 3;", nil},
		{"a.c", `if ($A) $B;`, "if (n) { g(); } while (x) y;", nil},
		{"a.c", `if ($A) $B;`, "if (n) { g(); };", []string{"if (n) { g(); }; A=n B={ g(); }"}},
		{"a.c", `if ($A) $B;`, "if (n) do { g(); } while (x);", []string{"if (n) do { g(); } while (x); A=n B=do { g(); } while (x)"}},
		{"a.c", `if ($A) $B;`, "if (n) x = (T){1};", []string{"if (n) x = (T){1}; A=n B=x = (T){1}"}},
		{"a.c", `if ($A) $B;`, "if (n)\n\tFOO(x)\n\tbar();", []string{"if (n)\n\tFOO(x)\n\tbar(); A=n B=FOO(x)\n\tbar() ?"}},
		{"a.c", `else $B;`, "if (n) x; else if (m) y; else z;", []string{"else z; B=z"}},
		{"a.c", `else if ($A) $B;`, "if (n) x; else if (m) y; else z;", nil},
		{"a.c", `if ($A) $B; else $C;`, "if (n) if (m) x; else y;", []string{"if (m) x; else y; A=m B=x C=y"}},
		{"a.c", `f(); $B;`, "f(); if (m) x; else y;", nil},
		{"a.c", `case $A: $B;`, "switch (q) { case 1: if (m) x; else y; }", nil},
		{"a.java", `if ($A) $B;`, "if (n) synchronized (x) { g(); } ++p;", nil},
		{"a.java", `if ($A) $B;`, "if (n) x = new T() { int a() { return 1; } };", []string{"if (n) x = new T() { int a() { return 1; } }; A=n B=x = new T() { int a() { return 1; } }"}},
		{"a.rs", `f(); $B;`, "f(); if a { g(); } *p = 3;", nil},
		{"a.rs", `let $A = $B;`, "let x = if a { 1 } else { 2 };", []string{"let x = if a { 1 } else { 2 }; A=x B=if a { 1 } else { 2 }"}},
		{"a.js", `if ($A) $B`, "if (n) { g() } (a)()", nil},
		{"a.rs", `$A.unwrap()`, "let x = a.b()?.unwrap();", []string{"a.b()?.unwrap() A=a.b()?"}},
		{"a.java", `new $A($$B)`, "x = new Map<K, V>(1);", []string{"new Map<K, V>(1) A=Map<K, V> B=1"}},
		{"a.java", `$A instanceof $B`, "if (type instanceof T || object instanceof U<?>) {}", []string{"type instanceof T A=type B=T", "object instanceof U<?> A=object B=U<?>"}},
		{"a.ts", `import $A from $B`, "import type { a } from 'b'\nimport type c from 'd'\nimport type from 'e'\nimport { type f } from 'g'", []string{"import type from 'e' A=type B='e'", "import { type f } from 'g' A={ type f } B='g'"}},
		{"a.ts", `import type $A from $B`, "import type { a } from 'b'\nimport c from 'd'", []string{"import type { a } from 'b' A={ a } B='b'"}},
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
