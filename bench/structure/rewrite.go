package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/internal/replacer"
)

// rewrite is a replacement whose result must still be code.
type rewrite struct{ ext, find, new string }

var rewriting = []rewrite{
	{".go", `fmt.Sprintf($A, $$B)`, `text.Format($A, $$B)`}, {".go", `errors.New($A)`, `failure($A)`}, {".go", `len($A) == 0`, `isEmpty($A)`}, {".go", `len($A) > 0`, `!isEmpty($A)`},
	{".go", `$A == nil`, `isNil($A)`}, {".go", `$A != nil`, `!isNil($A)`}, {".go", `if err != nil { return err }`, `check(err)`}, {".go", `if err != nil { $$B }`, `onError(func() { $$B })`},
	{".go", `append($A, $$B)`, `add($A, $$B)`}, {".go", `$A.Close()`, `shut($A)`}, {".go", `defer $A.Unlock()`, `defer release($A)`}, {".go", `strings.Contains($A, $B)`, `strings.Index($A, $B) >= 0`},
	{".go", `strings.HasPrefix($A, $B)`, `$A.StartsWith($B)`}, {".go", `$A && $B`, `and($A, $B)`}, {".go", `$A || $B`, `or($A, $B)`}, {".go", `!$A`, `not($A)`},
	{".go", `$A := $B`, `var $A = $B`}, {".go", `$X = append($X, $$Y)`, `$X.Add($$Y)`}, {".go", `for $A, $B := range $C { $$D }`, `$C.Each(func($A, $B any) { $$D })`}, {".go", `if $A { $$B }`, `when($A, func() { $$B })`},
	{".go", `return $A`, `return wrap($A)`}, {".go", `go func() { $$A }()`, `start(func() { $$A })`}, {".go", `func $A($$B) { $$C }`, `func New$A($$B) { begin(); $$C }`}, {".go", `make($A, $B)`, `make($A, $B, $B)`},
	{".go", `t.Fatal($A)`, `check.Fail(t, $A)`}, {".go", `fmt.Errorf($$A)`, `wrapf($$A)`}, {".go", `$A.Error()`, `text($A)`}, {".go", `$A + $B`, `sum($A, $B)`}, {".go", `string($A)`, `$A.String()`}, {".go", `$A[$B]`, `$A.At($B)`},
	{".py", `len($A)`, `size($A)`}, {".py", `isinstance($A, $B)`, `$A.kind() is $B`}, {".py", `$A is None`, `none($A)`}, {".py", `$A is not None`, `not none($A)`},
	{".py", `not $A`, `neg($A)`}, {".py", `$A.append($B)`, `push($A, $B)`}, {".py", `$A.get($B)`, `$A[$B]`}, {".py", `str($A)`, `"%s" % $A`},
	{".py", `$A and $B`, `both($A, $B)`}, {".py", `$A or $B`, `any([$A, $B])`}, {".py", `return $A`, `return wrap($A)`}, {".py", `self.$A = $A`, `set(self, $A)`},
	{".py", `assert $A == $B`, `assert same($A, $B)`}, {".py", `raise $A`, `raise wrap($A)`}, {".py", `if not $C: $$BODY`, `if neg($C): $$BODY`}, {".py", `$A.items()`, `items($A)`},
	{".py", `getattr($A, $B, $C)`, `lookup($A, $B) or $C`}, {".py", `$A == $B`, `eq($A, $B)`}, {".py", `print($$A)`, `log($$A)`}, {".py", `$A in $B`, `$B.has($A)`},
	{".py", `$A.join($B)`, `join($B, $A)`}, {".py", `super().__init__($$A)`, `Base.__init__(self, $$A)`}, {".py", `$A.format($$B)`, `fmt($A, $$B)`}, {".py", `$A = $B`, `$A = keep($B)`},
	{".js", `console.log($$A)`, `log($$A)`}, {".js", `require($A)`, `load($A)`}, {".js", `$A === $B`, `same($A, $B)`}, {".js", `$A !== $B`, `!same($A, $B)`},
	{".js", `$A.map($B)`, `map($A, $B)`}, {".js", `!$A`, `not($A)`}, {".js", `$A && $B`, `and($A, $B)`}, {".js", `$A || $B`, `or($A, $B)`},
	{".js", `if ($A) { $$B }`, `when($A, () => { $$B })`}, {".js", `return $A`, `return wrap($A)`}, {".js", `new $A($$B)`, `make($A, $$B)`}, {".js", `$A ? $B : $C`, `choose($A, $B, $C)`},
	{".js", `$A.length`, `size($A)`}, {".js", `typeof $A`, `kind($A)`}, {".js", `const $A = $B`, `let $A = keep($B)`}, {".js", `() => $A`, `() => wrap($A)`}, {".js", `$A.push($B)`, `push($A, $B)`}, {".js", `$A.length === 0`, `!$A.length`},
}

var parsers = map[string]func(paths []string) []byte{
	".go": func(paths []string) []byte {
		out, _ := exec.Command("gofmt", append([]string{"-l", "-e"}, paths...)...).CombinedOutput()
		var bad []byte
		for line := range bytes.Lines(out) {
			if bytes.Contains(line, []byte(".go:")) {
				bad = append(bad, line...)
			}
		}
		return bad
	},
	".py": func(paths []string) []byte {
		out, err := exec.Command("python3", append([]string{"-c", "import ast,sys\nfor p in sys.argv[1:]:\n  try: ast.parse(open(p,'rb').read())\n  except SyntaxError as e: print(p,e)"}, paths...)...).CombinedOutput()
		if err != nil && len(out) == 0 {
			out = []byte(err.Error())
		}
		return out
	},
	".js": func(paths []string) []byte {
		var bad []byte
		for _, p := range paths {
			if out, err := exec.Command("node", "--check", p).CombinedOutput(); err != nil {
				bad = append(bad, p+": "+string(bytes.SplitN(out, []byte("\n"), 6)[0])+" "+string(out[:min(len(out), 300)])+"\n"...)
			}
		}
		return bad
	},
}

// rewrites makes every rewrite in a copy of every tree: files that parsed before
// must parse after it, and undo must give the bytes of before.
func rewrites(ctx context.Context, dirs []string) error {
	made, places, refused, broken, faulty := 0, 0, map[string]int{}, 0, 0
	for _, dir := range dirs {
		copied, err := os.MkdirTemp("", "rewrites")
		if err != nil {
			return err
		}
		defer os.RemoveAll(copied)
		tree, state := filepath.Join(copied, "tree"), filepath.Join(copied, "state")
		if err := errors.Join(os.CopyFS(tree, os.DirFS(dir)), os.Mkdir(state, 0o700)); err != nil {
			return err
		}
		ws, err := quarry.Open(tree, &quarry.Options{StateDir: state})
		if err != nil {
			return err
		}
		for _, r := range rewriting {
			q := replacer.Query{Replacement: r.new}
			q.Structure, q.Globs = r.find, []string{"*" + r.ext}
			found, err := replacer.Find(ctx, ws, q)
			if found != nil {
				for why, n := range found.Refused {
					refused[why] += n
				}
			}
			if err != nil {
				var none *replacer.RefusedError
				if errors.Is(err, replacer.ErrNone) || errors.As(err, &none) {
					continue
				}
				return fmt.Errorf("%s in %s: %w", r.find, dir, err)
			}
			made++
			places += found.Matches
			bad, same, err := once(ctx, ws, tree, r, found)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", r.find, dir, err)
			}
			if len(bad) > 0 {
				broken++
				fmt.Printf("%s → %s in %s: %d places, %d lines of complaints:\n%s\n", r.find, r.new, filepath.Base(dir), found.Matches, bytes.Count(bad, []byte("\n")), bad[:min(len(bad), 1500)])
			}
			if !same {
				faulty++
				fmt.Printf("%s in %s: undo gave other bytes\n", r.find, filepath.Base(dir))
			}
		}
		ws.Close()
	}
	n := 0
	for _, k := range refused {
		n += k
	}
	fmt.Printf("%d rewrites of %d places; refused %d places (%.2f %%) %v; %d don't parse; %d not undone\n", made, places, n, 100*float64(n)/float64(max(places+n, 1)), refused, broken, faulty)
	if made == 0 || broken > 0 || faulty > 0 {
		return errors.New("the rewrites failed")
	}
	return nil
}

// once makes a rewrite, lets the language's own parser read the files, and undoes it.
func once(ctx context.Context, ws *quarry.Workspace, tree string, r rewrite, found *replacer.Found) (bad []byte, same bool, err error) {
	before := map[string][]byte{}
	var paths []string
	for _, op := range found.Ops {
		p := filepath.Join(tree, op.Path)
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, false, err
		}
		if len(parsers[r.ext]([]string{p})) == 0 {
			paths = append(paths, p)
		}
		before[p] = data
	}
	done, err := ws.Apply(ctx, change.Set{Ops: found.Ops, Tool: "rewrite"})
	if err != nil {
		return nil, false, err
	}
	if len(paths) > 0 {
		bad = []byte(strings.ReplaceAll(string(parsers[r.ext](paths)), tree+"/", ""))
	}
	if _, err := ws.Undo(ctx, done.ID, nil); err != nil {
		return bad, false, err
	}
	same = true
	for p, data := range before {
		now, err := os.ReadFile(p)
		same = same && err == nil && bytes.Equal(now, data)
	}
	return bad, same, nil
}
