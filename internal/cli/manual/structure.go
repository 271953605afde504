package manual

import (
	"fmt"
	"strings"
)

// Structure is an example of structural search: code with a match, and the result of a replacement.
type Structure struct {
	File, Find, Replace string
	Before, After       string
	about               string
}

// Structures are the examples in quarry help structure; a test runs each replacement.
var Structures = []Structure{
	{"a.go", `errors.Is($A, $B)`, `errors.Is($B, $A)`, "x := errors.Is(a.b(1), ErrX)\n", "x := errors.Is(ErrX, a.b(1))\n", "two pieces change places"},
	{"a.go", `if err != nil { return err }`, `check(err)`, "\tif err != nil {\n\t\treturn err\n\t}\n", "\tcheck(err)\n", "lines don't matter"},
	{"a.go", `log.Printf($FMT, $$ARGS)`, `slog.Info($FMT, $$ARGS)`, "log.Printf(\"a\")\nlog.Printf(\"b\", 1, f(2))\n", "slog.Info(\"a\")\nslog.Info(\"b\", 1, f(2))\n", "any number, none too"},
	{"a.go", `$X = append($X, $$Y)`, `$X.Add($$Y)`, "a.b = append(a.b, 1)\nc = append(d, 2)\n", "a.b.Add(1)\nc = append(d, 2)\n", "the same name, the same code"},
	{"a.ts", `useEffect(() => { $$BODY }, [])`, `onMount(() => { $$BODY })`, "useEffect(() => {\n  go();\n}, []);\n", "onMount(() => {\n  go();\n});\n", "a body"},
	{"a.ts", `$A == null`, `$A === null`, "if (a && b.c == null) f();\n", "if (a && b.c === null) f();\n", "operators bind as they do"},
	{"a.js", `@A.substr(0, @N)`, `@A.slice(0, @N)`, "$a.substr(0, 3)\n", "$a.slice(0, 3)\n", "--hole @"},
	{"a.py", `if not $C: $$BODY`, `unless($C)`, "if not a.b:\n    f()\n    g()\nh()\n", "unless(a.b)\nh()\n", "Python's blocks"},
	{"a.py", `assertEqual($A, $B)`, `assert $A == $B`, "assertEqual(x or y, 2)\n", "assert (x or y) == 2\n", "brackets where they are needed"},
	{"a.rs", `$A.unwrap()`, `$A?`, "let x = f(1).g().unwrap();\n", "let x = f(1).g()?;\n", "what a call is made on"},
	{"a.java", `new ArrayList<$T>()`, `new LinkedList<$T>()`, "x = new ArrayList<Map<K, V>>();\n", "x = new LinkedList<Map<K, V>>();\n", "type arguments"},
	{"a.c", `if ($C) { $$BODY }`, `WHEN($C) { $$BODY }`, "if (a > 1) {\n  f();\n}\nif (b) { g(); } else { h(); }\n", "WHEN(a > 1) {\n  f();\n}\nif (b) { g(); } else { h(); }\n", "whole statements only"},
}

func structureHelp() string {
	var b strings.Builder
	b.WriteString(`quarry search --structure and quarry replace --structure take code with holes.
It is compared token by token: white space and comments between tokens don't
matter, strings and comments are not looked into unless the pattern is one.

  $NAME    one balanced piece: an expression, a name, an argument, a type
  $$NAME   any number of pieces, none too: arguments, statements
  $_  $$   the same without a name

The same name twice stands for the same code twice. Names are upper case; where
$ is part of names, --hole @ makes holes @NAME. In the new text holes stand for
what they hold. Lines get the indentation of their new place, brackets are added
where operators need them, and what is alone in its brackets keeps its lines and
comments.

Quarry compares tokens; it does not parse. It knows the strings, comments,
operators and statement ends of 22 languages. In other files it knows words,
strings and brackets: they can be searched, but not replaced. Some code has two
meanings for it: a * b may be a product or declare b, a < b may begin type
arguments. A search lists such a place. A replacement leaves it unchanged and
counts it with the reason. The same goes for a place where the new text can't
stand, or where a comment or a line of the preprocessor would be lost.

`)
	for _, s := range Structures {
		fmt.Fprintf(&b, "  %s\n  -> %s\n      %s: %s\n", s.Find, s.Replace, strings.TrimPrefix(s.File, "a."), s.about)
	}
	b.WriteString(`
Tools for agents: the parameter structure of search_files and replace_in_files.
`)
	return trimLines(b.String())
}
