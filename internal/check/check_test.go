package check

import (
	"strings"
	"testing"
	"time"
)

func TestBroken(t *testing.T) {
	for _, c := range []struct{ name, file, before, after, want string }{
		{"Go", "a.go", "package a\n\nfunc f() {\n}\n", "package a\n\nfunc f() {\n", "3: expected '}'"},
		{"Go that did not parse before", "a.go", "package a\n\nfunc {\n", "package a\n\nfunc f() {\n", ""},
		{"Go that parses", "a.go", "package a\n", "package b\n", ""},
		{"a new file", "a.go", "", "package", ""},
		{"JSON", "a.json", "{\"a\": 1}\n", "{\"a\": 1,}\n", "1: invalid character '}'"},
		{"JSON with new comments", "a.json", "{\"a\": 1}\n", "{\"a\": 1} // one\n", ""},
		{"a comma in a file that may have it", "tsconfig.json", "{\"a\": 1}\n", "{\"a\": 1,}\n", ""},
		{"a notebook", "n.ipynb", "{\"cells\": []}", "{\"cells\": [}", "1: invalid character '}'"},
		{"YAML", "a.yml", "a: [1, 2]\n", "a: [1, 2\n", "did not find expected"},
		{"TOML", "a.toml", "a = 1\n", "a = \n", "1: "},
		{"an unclosed bracket of Python", "a.py", "x = f(1)\n", "x = f(1\n", "1: '(' is not closed"},
		{"a string of Python", "a.py", "x = 'a'\n", "x = 'a\n", "1: unclosed string"},
		{"no colon", "a.py", "if a:\n    b\n", "if a\n    b\n", "1: expected ':'"},
		{"no block", "a.py", "def f():\n    pass\n\nx = 1\n", "def f():\n\nx = 1\n", "3: expected an indented block"},
		{"a block at the end", "a.py", "def f():\n    pass\n", "def f():\n", "1: expected an indented block"},
		{"an indent", "a.py", "a = 1\nb = 2\n", "a = 1\n  b = 2\n", "2: unexpected indent"},
		{"an outer indent", "a.py", "if a:\n    if b:\n        c\n    d\n", "if a:\n    if b:\n        c\n  d\n", "4: unindent does not match"},
		{"a line in brackets", "a.py", "x = [1]\n", "x = [\n        1,\n  2]\ny = (lambda: 1)\n", ""},
		{"tabs and spaces", "a.py", "if a:\n\tb\n", "if a:\n\tb\n        c\n", ""},
		{"a colon in brackets", "a.py", "a = 1\n", "for x in y[1:2]: print(x)\nelse: pass\n", ""},
		{"JavaScript", "a.js", "f(() => { g() })\n", "f(() => { g() )\n", "1: expected '}', found ')'"},
		{"a template", "a.ts", "let a = `x${b}`\n", "let a = `x${b}\n", "1: unclosed string or comment"},
		{"a pattern with a bracket", "a.js", "a = 1\n", "a = b.match(/[(\"]/)\n", ""},
		{"an apostrophe of markup", "a.tsx", "f()\n", "return <p>Don't {x} :)</p>\n", ""},
		{"a brace of markup", "a.tsx", "return <p>{x}</p>\n", "return <p>{x</p>\n", "1: '{' is not closed"},
		{"Java", "A.java", "class A { int f() { return 1; } }\n", "class A { int f() { return 1; }\n", "1: '{' is not closed"},
		{"a lifetime of Rust", "a.rs", "fn f() {}\n", "fn f<'a>(x: &'a str) { let c = '('; }\n", ""},
		{"Rust", "a.rs", "fn f() {}\n", "fn f() {{}\n", "1: '{' is not closed"},
		{"branches of C", "a.c", "int f() {}\n", "#if A\nint f() {\n#else\nint f(int a) {\n#endif\n}\n", ""},
		{"the rest of a macro", "a.c", "int a;\n", "#define X(a) /* b\n*/ \\\n  }\n", ""},
		{"a comment of C", "a.c", "int a; /* b */\n", "int a; /* b\n", "1: unclosed string or comment"},
		{"a list of regexes of Ruby", "a.rb", "a = 1\n", "a = f(\n  /b/x,\n  /[(\n" + strings.Repeat("    (?:[0-9A-F]{1,4}:) # one\n", 9) + "  ]/x)\nb = %w['(]\n", ""},
		{"a sigil of Elixir with its delimiter", "a.ex", "a = 1\n", "a = [~s|b #{c[:d] || :e}|, ~r/f[(]/]\n", ""},
		{"no language", "a.txt", "(a)", "(a", ""},
	} {
		line, problem := Broken(c.file, []byte(c.before), []byte(c.after))
		got := ""
		if problem != "" {
			got = string(rune('0'+line)) + ": " + problem
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Checking 100 KB takes at most 5 ms on an idle machine; the limit here allows for a busy one.
func TestTime(t *testing.T) {
	for file, line := range map[string]string{
		"a.go": "func f() { g(1, \"a\", x.y) }\n", "a.py": "x = f(1, 'a', [y.z])\n", "a.js": "x = f(1, 'a', [y.z]);\n", "a.json": "1,\n", "a.c": "int x = f(1, 'a');\n",
	} {
		text := strings.Repeat(line, 100<<10/len(line))
		switch file {
		case "a.go":
			text = "package a\n" + text
		case "a.json":
			text = "[" + text + "1]"
		}
		best := time.Hour
		for range 5 {
			began := time.Now()
			if _, problem := Syntax(file, []byte(text)); problem != "" {
				t.Fatalf("%s: %s", file, problem)
			}
			best = min(best, time.Since(began))
		}
		if t.Logf("%s: %v", file, best); best > 50*time.Millisecond {
			t.Errorf("%s: 100 KB took %v", file, best)
		}
	}
}
