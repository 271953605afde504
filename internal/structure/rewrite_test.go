package structure

import (
	"slices"
	"testing"
)

func replaced(t *testing.T, path, pattern, new, code string) (string, []Refusal) {
	t.Helper()
	p, err := Compile(pattern, 0)
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := p.Template(new, 0)
	if err != nil {
		t.Fatal(err)
	}
	edits, refused, _, _ := tmpl.Replace(NewText(nil, path, []byte(code)))
	for _, e := range slices.Backward(edits) {
		code = code[:e.Start] + e.New + code[e.End:]
	}
	return code, refused
}

func TestReplace(t *testing.T) {
	for _, c := range []struct{ path, pattern, new, code, want string }{
		{"a.go", `foo($A, $B)`, `bar($B, $A)`, "foo(1, foo(2, 3))", "bar(bar(3, 2), 1)"},
		{"a.go", `foo($A)`, `bar($A)`, "foo(a + b)", "bar(a + b)"},
		{"a.go", `foo($A, $$B)`, `bar($A, $$B)`, "foo(1); foo(1, 2)", "bar(1); bar(1, 2)"},
		{"a.c", `f($A);`, `g($A);`, "f(a\n#if X\n + b\n#else\n + c\n#endif\n + d);", "g(a\n#if X\n + b\n#else\n + c\n#endif\n + d);"},

		// A hole alone in its brackets keeps its lines and comments.
		{"a.go", `if a { $$B }`, `f(func() { $$B })`, "{\n\tif a { // why\n\t\tx()\n\t\ty()\n\t}\n}", "{\n\tf(func() { // why\n\t\tx()\n\t\ty()\n\t})\n}"},
		{"a.go", `if a { $$B }`, "if b {\n\t$$B\n}", "{\n\tif a {\n\t\tx()\n\t\ty()\n\t}\n}", "{\n\tif b {\n\t\tx()\n\t\ty()\n\t}\n}"},
		{"a.go", `foo($$A)`, `bar($$A)`, "foo(\n\ta, // one\n\tb,\n)", "bar(\n\ta, // one\n\tb,\n)"},
		{"a.go", `if a { $$B }`, "if b {\n\tif a {\n\t\t$$B\n\t}\n}", "if a {\n\tx()\n}", "if b {\n\tif a {\n\t\tx()\n\t}\n}"},
		{"a.go", `[]string{$$A}`, `list($$A)`, "[]string{\n\ta,\n\tb,\n}", "list(a,\nb)"},
		{"a.py", `if not $C: $$B`, `if neg($C): $$B`, "if x:\n    if not a:  # why\n        b()\n        c()\n", "if x:\n    if neg(a):  # why\n        b()\n        c()\n"},
		{"a.py", `if not $C: $$B`, "if x:\n    if neg($C):\n        $$B", "if not a:\n  b()\n  c()\n", "if x:\n    if neg(a):\n        b()\n        c()\n"},

		// Brackets around a piece, and around the whole replacement.
		{"a.go", `foo($A)`, `$A.foo()`, "foo(a + b)", "(a + b).foo()"},
		{"a.go", `foo($A)`, `$A.foo()`, "foo(1)", "(1).foo()"},
		{"a.go", `foo($A)`, `$A + 1`, "foo(a) * 2", "(a + 1) * 2"},
		{"a.go", `foo($A)`, `$A.n`, "if foo(T{1}) {\n}\nx = foo(T{1})", "if (T{1}).n {\n}\nx = T{1}.n"},
		{"a.js", `$A - $B`, `$A + -$B`, "a - -b", "a + -(-b)"},
		{"a.js", `f($A)`, `$A ? 1 : 2`, "f(a ? b : c)", "(a ? b : c) ? 1 : 2"},
		{"a.js", `f($A)`, `$A.g`, "f(function () {})\nx = f({})\nf({})", "(function () {}).g\nx = {}.g\n;({}).g"},
		{"a.js", `f($A)`, `$A.g`, "a = b\nf(c + d)", "a = b\n;(c + d).g"},
		{"a.py", `f($A, $B)`, `g($B, $A)`, "f(a, (x for x in y))", "g((x for x in y), a)"},
		{"a.py", `f($A)`, `g($A, 1)`, "f(x for x in y)", "g((x for x in y), 1)"},
		{"a.py", `$A.f($$B)`, `g($A, $$B)`, "a.f(x for x in y)", "g(a, (x for x in y))"},
		{"a.py", `f($A)`, `$A is 1`, "f(a) == b", "(a is 1) == b"},
		{"a.py", `f($A)`, `$A.g`, "f(a\n  .b)", "(a\n  .b).g"},
		{"a.py", `f($A)`, `$A.g`, "f(lambda: a)", "(lambda: a).g"},

		// A following line that begins with an operator is a separate statement.
		{"a.go", `q($A, $B)`, `$A := $B`, "{\n\tq(f, g())\n\t*h = i\n}", "{\n\tf := g()\n\t*h = i\n}"},
		{"a.py", `q($A)`, `return $A`, "class C:\n    def f(self):\n        q(a or b)\n\n    @property\n    def g(self): pass\n", "class C:\n    def f(self):\n        return a or b\n\n    @property\n    def g(self): pass\n"},
		{"a.js", `$A.n`, `n($A)`, "a.n\n++b", "n(a)\n++b"},

		// No brackets where a piece has the same neighbours as before.
		{"a.ts", `const $A = $B`, `let $A = $B`, "const f = (a) => b\nconst g = <T>(x: T) => x as U", "let f = (a) => b\nlet g = <T>(x: T) => x as U"},
		{"a.rs", `let $A = $B;`, `let mut $A = $B;`, "let x = if a { b } else { c };", "let mut x = if a { b } else { c };"},
		{"a.go", `!$A`, `-$A`, "!!a", "-(-a)"},
		{"a.go", `!$A`, `^$A`, "!*a", "^*a"},
		{"a.py", `if $A: $$$B`, "if $A:\n    go()\n    $$$B", "if a := b():\n    c()\n", "if a := b():\n    go()\n    c()\n"},
		{"a.rs", `&$A`, `& $A`, "f(&mut a, &b)", "f(& mut a, & b)"},

		// No brackets around statements and parameters.
		{"a.go", `for $A, $B := range $C { $$D }`, `$C.Each(func($A, $B any) { $$D })`, "for _, v := range c.d {\n\tx = append(x, v)\n}", "c.d.Each(func(_, v any) {\n\tx = append(x, v)\n})"},
		{"a.go", `func $A($$B) { $$C }`, `func New$A($$B) { begin(); $$C }`, "func f(t *testing.T, a string) { x() }", "func Newf(t *testing.T, a string) { begin(); x() }"},

		// After else Go requires a block.
		{"a.go", `if $A { $$B }`, `when($A, func() { $$B })`, "if a {\n\tb()\n} else if c {\n\td()\n}", "if a {\n\tb()\n} else { when(c, func() {\n\td()\n}) }"},
		{"a.js", `if ($A) { $$B }`, `when($A, () => { $$B })`, "if (a) {} else if (c) {}", "if (a) {} else when(c, () => {})"},
	} {
		if got, refused := replaced(t, c.path, c.pattern, c.new, c.code); got != c.want || len(refused) > 0 {
			t.Errorf("%s → %s: %q\n got %q, refused %v\nwant %q", c.pattern, c.new, c.code, got, refused, c.want)
		}
	}
}

// Matches that can't be replaced are unchanged, with a reason.
func TestReplaceRefuses(t *testing.T) {
	for _, c := range []struct {
		path, pattern, new, code, want string
		why                            Doubt
	}{
		{"a.c", `$A * $B`, `mul($A, $B)`, "a * b;\nx = c * d;", "a * b;\nx = mul(c, d);", Declares},
		{"a.c", `if ($A) $B;`, `if ($A) { $B; }`, "if (a)\n#ifdef X\n b;\n#else\n c;\n#endif\nif (d) e;", "if (a)\n#ifdef X\n b;\n#else\n c;\n#endif\nif (d) { e; }", Directive},
		{"a.c", `a = $B;`, `set($B);`, "a = b\n#ifdef X\n + c;\n#else\n + d;\n#endif\na = e;", "a = b\n#ifdef X\n + c;\n#else\n + d;\n#endif\nset(e);", Directive},
		{"a.c", `if ($A) $B;`, `if ($A) { $B; }`, "if (a)\n\tFOO(x)\n\tb();", "if (a)\n\tFOO(x)\n\tb();", Macro},
		{"a.conf", `foo($A)`, `bar($A)`, "foo(a)", "foo(a)", Unknown},
		{"a.go", `[$$A, x, $$B]`, `[$$A]`, "[x, x]", "[x, x]", Readings},
		{"a.go", `foo($A)`, `bar()`, "foo(/* a */ b); foo(c)", "foo(/* a */ b); bar()", Comment},
		{"a.go", `if a { return b }`, `c()`, "if a {\n\treturn b // why\n}", "if a {\n\treturn b // why\n}", Comment},
		{"a.go", `$A := $B`, `var $A = $B`, "if a := b; a {\n\tc := d\n}", "if a := b; a {\n\tvar c = d\n}", Statement},
		{"a.js", `$A = $B`, `let $A = $B`, "for (a = 1; b; c) d = 2;", "for (a = 1; b; c) let d = 2;", Statement},
		{"a.js", `$A.length`, `size($A)`, "a.length = b.length", "a.length = size(b)", Assigned},
		{"a.js", `$A.length`, `size($A)`, "a.length++; ++b", "a.length++; ++b", Assigned},
		{"a.py", `$A.x`, `x($A)`, "a.x, b = c.x", "a.x, b = x(c)", Assigned},
		{"a.py", `$A.x`, `x($A)`, "a.x: int = f(b.x, k=1)", "a.x: int = f(x(b), k=1)", Assigned},
		{"a.py", `str($A)`, `"%s" % $A`, "str(*a); str(b)", "str(*a); \"%s\" % b", NotExpression},
		{"a.py", `str($A)`, `$A.s`, "str(k=1)", "str(k=1)", NotExpression},
		{"a.py", `$A.join($B)`, `join($B, $A)`, "a.join(k=1)", "a.join(k=1)", NotExpression},
		{"a.py", `$A = $B`, `$A = keep($B)`, "a.x = b.x = c", "a.x = b.x = keep(c)", NotExpression},
		{"a.py", `$A.get($B)`, `$A[$B]`, "a.get(k=1)", "a.get(k=1)", NotExpression},
		{"a.py", `with $A: $$B`, `with f($A): $$B`, "with (a as b, c):\n  d()\n", "with (a as b, c):\n  d()\n", NotExpression},
		{"a.rs", `&$A`, `by_ref($A)`, "f(&mut a, &b)", "f(&mut a, by_ref(b))", NotExpression},
		{"a.rs", `&$A`, `by_ref($A)`, "fn f(a: &'a str) {}", "fn f(a: &'a str) {}", NotExpression},
		{"a.py", `$A == $B`, `eq($A, $B)`, "x = a == b == c\nd == e", "x = a == b == c\neq(d, e)", Readings},
		{"a.py", `$A < $B`, `lt($A, $B)`, "if 1 < a < 3: pass\nif b < c: pass", "if 1 < a < 3: pass\nif lt(b, c): pass", Readings},
		{"a.py", `$A is not $B`, `f($A, $B)`, "a is not b == c\nd is not e\nnot g is not h", "a is not b == c\nf(d, e)\nnot f(g, h)", Readings},
		{"a.py", `$A in $B`, `has($B, $A)`, "a in b == c\nd in e", "a in b == c\nhas(e, d)", Readings},
		{"a.js", `() => $A`, `f($A)`, "() => { a() }; () => b", "() => { a() }; f(b)", NotExpression},
		{"a.js", `$A.b()`, `b($A)`, "super.b(); c.b()", "super.b(); b(c)", NotExpression},
	} {
		got, refused := replaced(t, c.path, c.pattern, c.new, c.code)
		if got != c.want || len(refused) != 1 && c.why != Readings || refused[0].Why != c.why {
			t.Errorf("%s → %s: %q\n got %q, refused %v\nwant %q, refused for %q", c.pattern, c.new, c.code, got, refused, c.want, c.why)
		}
	}
}
