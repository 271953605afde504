package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// there rewrites operators and statements as calls, which can be rewritten back. Operands and
// arguments have different precedence, so brackets must be added and removed.
var there = []struct {
	name, ext string
	pairs     [][2]string
}{
	{"python", ".py", [][2]string{
		{`$A == $B`, `q1q($A, $B)`}, {`$A != $B`, `q1q($A, $B)`}, {`$A < $B`, `q1q($A, $B)`}, {`$A is None`, `q1q($A)`}, {`$A is not $B`, `q1q($A, $B)`}, {`$A in $B`, `q1q($A, $B)`}, {`$A not in $B`, `q1q($A, $B)`},
		{`$A and $B`, `q1q($A, $B)`}, {`$A or $B`, `q1q($A, $B)`}, {`not $A`, `q1q($A)`}, {`$A + $B`, `q1q($A, $B)`}, {`$A - $B`, `q1q($A, $B)`}, {`$A * $B`, `q1q($A, $B)`}, {`$A % $B`, `q1q($A, $B)`}, {`$A ** $B`, `q1q($A, $B)`},
		{`-$A`, `q1q($A)`}, {`$A if $B else $C`, `q1q($A, $B, $C)`}, {`$A[$B]`, `q1q($A, $B)`}, {`lambda: $A`, `q1q($A)`}, {`await $A`, `q1q($A)`}, {`$A.get($$B)`, `q1q($A)($$B)`}, {`$A | $B`, `q1q($A, $B)`}, {`return $A`, `q1q($A)`}, {`raise $A`, `q1q($A)`},
	}},
	{"go", ".go", [][2]string{
		{`$A == $B`, `q1q($A, $B)`}, {`$A != $B`, `q1q($A, $B)`}, {`$A < $B`, `q1q($A, $B)`}, {`$A && $B`, `q1q($A, $B)`}, {`$A || $B`, `q1q($A, $B)`}, {`!$A`, `q1q($A)`}, {`$A + $B`, `q1q($A, $B)`}, {`$A - $B`, `q1q($A, $B)`},
		{`$A * $B`, `q1q($A, $B)`}, {`$A % $B`, `q1q($A, $B)`}, {`-$A`, `q1q($A)`}, {`&$A`, `q1q($A)`}, {`*$A`, `q1q($A)`}, {`$A[$B]`, `q1q($A, $B)`}, {`$A.($B)`, `q1q($A, $B)`}, {`<-$A`, `q1q($A)`}, {`$A & $B`, `q1q($A, $B)`}, {`return $A`, `q1q($A)`}, {`defer $A`, `q1q($A)`},
		{`$A = $B`, `q1q($A, $B)`}, {`$A := $B`, `q1q($A, $B)`},
	}},
	{"js", ".js", [][2]string{
		{`$A === $B`, `q1q($A, $B)`}, {`$A !== $B`, `q1q($A, $B)`}, {`$A < $B`, `q1q($A, $B)`}, {`$A && $B`, `q1q($A, $B)`}, {`$A || $B`, `q1q($A, $B)`}, {`!$A`, `q1q($A)`}, {`$A + $B`, `q1q($A, $B)`}, {`$A - $B`, `q1q($A, $B)`}, {`$A * $B`, `q1q($A, $B)`},
		{`-$A`, `q1q($A)`}, {`typeof $A`, `q1q($A)`}, {`$A ? $B : $C`, `q1q($A, $B, $C)`}, {`$A[$B]`, `q1q($A, $B)`}, {`new $A($$B)`, `q1q($A)($$B)`}, {`() => $A`, `q1q($A)`}, {`$A instanceof $B`, `q1q($A, $B)`}, {`$A in $B`, `q1q($A, $B)`}, {`$A = $B`, `q1q($A, $B)`},
		{`return $A`, `q1q($A)`}, {`throw $A`, `q1q($A)`}, {`await $A`, `q1q($A)`}, {`$A?.$B`, `q1q($A, $B)`}, {`$A ?? $B`, `q1q($A, $B)`}, {`$A, $B`, `q1q($A, $B)`},
	}},
}

// roundTrip makes every rewrite and then its inverse. According to the language's own parser, the
// result must be the original program, apart from brackets.
func roundTrip(trees, only, find, npm string, show int, planted bool) error {
	cases, failed := 0, 0
	for _, l := range there {
		if only != "" && l.name != only {
			continue
		}
		dirs, err := treesOf(trees, l.name)
		if err != nil {
			return err
		}
		t := &trips{ext: l.ext, npm: npm, show: show, planted: planted}
		for _, dir := range dirs {
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || filepath.Ext(path) != l.ext {
					return err
				}
				text, err := os.ReadFile(path)
				if err != nil || len(text) > 200_000 {
					return err
				}
				for _, pair := range l.pairs {
					if find != "" && pair[0] != find {
						continue
					}
					if err := t.file(path, text, pair); err != nil {
						return fmt.Errorf("%s: %s: %w", path, pair[0], err)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := t.judge(); err != nil {
			return err
		}
		fmt.Printf("%-7s %d trees: %d files of a rewrite there and back, %d places, %d not all of them back; %d mean something else\n", l.name, len(dirs), len(t.list), t.places, t.lost, t.failed)
		cases, failed = cases+len(t.list), failed+t.failed
	}
	if cases == 0 || failed > 0 {
		return errors.New("a program changed, or nothing was rewritten")
	}
	return nil
}

type trip struct {
	Path, Pattern, Before, After string
}

type trips struct {
	ext, npm             string
	show                 int
	planted              bool // for testing, add a variable to every seventh program
	list                 []trip
	places, lost, failed int
}

func (t *trips) file(path string, text []byte, pair [2]string) error {
	mid, n, _, err := rewriteText(path, text, pair[0], pair[1])
	if err != nil || n == 0 || bytes.Contains(text, []byte("q1q")) {
		return err
	}
	after, back, _, err := rewriteText(path, mid, pair[1], pair[0])
	if err != nil {
		return err
	}
	t.places += n
	if back != n {
		t.lost++ // the way back was refused, because the argument needs its brackets
		return nil
	}
	if t.planted && len(t.list)%7 == 0 {
		after = append(after, map[string]string{".go": "\nvar q1q = 1\n", ".py": "\nq1q = 1\n", ".js": "\nq1q = 1\n"}[t.ext]...)
	}
	t.list = append(t.list, trip{path, pair[0], string(text), string(after)})
	return nil
}

// judge asks the parser which pairs of programs are equal.
func (t *trips) judge() error {
	if t.ext == ".go" {
		for _, one := range t.list {
			if a, b := shape(one.Before), shape(one.After); a != "" && a != b {
				t.tell(one, a, b)
			}
		}
		return nil
	}
	cmd := exec.Command("python3", "-c", `import ast, json, sys
def shape(s):
    try: return ast.dump(ast.parse(s))
    except (SyntaxError, ValueError) as e: return 'error ' + str(e)
for line in sys.stdin:
    d = json.loads(line); a = shape(d['Before']); b = shape(d['After'])
    print(json.dumps(None if a == b or a.startswith('error') else [a, b]), flush=True)`)
	if t.ext == ".js" {
		cmd = exec.Command("node", "-e", `const acorn = require(process.argv[1] + '/acorn');
const bare = (k, v) => k === 'start' || k === 'end' || k === 'raw' ? undefined : typeof v === 'bigint' ? String(v) : v;
function shape(s) {
  for (const sourceType of ['script', 'module']) try { return JSON.stringify(acorn.parse(s, { ecmaVersion: 'latest', sourceType, allowHashBang: true, allowReturnOutsideFunction: true }), bare) } catch (e) { var bad = e }
  return 'error ' + bad;
}
require('readline').createInterface({ input: process.stdin }).on('line', l => { const d = JSON.parse(l), a = shape(d.Before), b = shape(d.After); console.log(JSON.stringify(a === b || a.startsWith('error') ? null : [a, b])) });`, t.npm)
	}
	var in bytes.Buffer
	for _, one := range t.list {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		in.Write(append(line, '\n'))
	}
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(t.list) > 0 && len(lines) != len(t.list) {
		return fmt.Errorf("the parser answered %d of %d times", len(lines), len(t.list))
	}
	for i, one := range t.list {
		var differ []string
		if err := json.Unmarshal([]byte(lines[i]), &differ); err != nil {
			return err
		}
		if differ != nil {
			t.tell(one, differ[0], differ[1])
		}
	}
	return nil
}

func (t *trips) tell(one trip, a, b string) {
	t.failed++
	if t.show--; t.show < 0 {
		return
	}
	x, y := strings.Split(one.Before, "\n"), strings.Split(one.After, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] && strings.NewReplacer("(", "", ")", "", " ", "").Replace(x[i]) != strings.NewReplacer("(", "", ")", "", " ", "").Replace(y[i]) {
			fmt.Printf("%s: %s:%d\n  %s\n  %s\n", one.Pattern, one.Path, i+1, x[i], y[min(i, len(y)-1)])
			return
		}
	}
	k := 0
	for k < len(a) && k < len(b) && a[k] == b[k] {
		k++
	}
	fmt.Printf("%s: %s\n  %s\n  %s\n", one.Pattern, one.Path, a[max(0, k-60):min(len(a), k+100)], b[max(0, k-60):min(len(b), k+100)])
}

// shape returns the syntax tree of a Go file, ignoring brackets. It returns "" if the file can't be
// parsed.
func shape(text string) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	var b strings.Builder
	var open []bool
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			if last := len(open) - 1; last >= 0 {
				if open[last] {
					b.WriteByte(')')
				}
				open = open[:last]
			}
			return true
		}
		_, bracket := n.(*ast.ParenExpr)
		open = append(open, !bracket)
		if bracket {
			return true
		}
		fmt.Fprintf(&b, "(%T", n)
		switch n := n.(type) {
		case *ast.Ident:
			b.WriteString(" " + n.Name)
		case *ast.BasicLit:
			b.WriteString(" " + n.Value)
		case *ast.BinaryExpr:
			b.WriteString(" " + n.Op.String())
		case *ast.UnaryExpr:
			b.WriteString(" " + n.Op.String())
		case *ast.AssignStmt:
			b.WriteString(" " + n.Tok.String())
		}
		return true
	})
	return b.String()
}
