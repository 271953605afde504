package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// kept lists rewrites of C after which a compiler must make the same assembler text without
// optimization. A rewrite that has an inverse is made and then reversed.
var kept = [][3]string{
	{`if ($A) $B;`, `if ($A) { $B; }`}, {`else $B;`, `else { $B; }`}, {`while ($A) $B;`, `while ($A) { $B; }`}, {`for ($A; $B; $C) $D;`, `for ($A; $B; $C) { $D; }`}, {`do $A; while ($B);`, `do { $A; } while ($B);`},
	{`return $A;`, `return ($A);`}, {`$A->$B`, `(*$A).$B`}, {`$A && $B`, `($A) && ($B)`}, {`$A ? $B : $C`, `($A) ? ($B) : ($C)`}, {`!$A`, `!($A)`}, {`switch ($A) { $$B }`, `switch (($A)) { $$B }`}, {`case $A:`, `case ($A):`},
	{`if ($A) { $$B }`, `if (q1q($A)) { $$B }`, `if ($A) { $$B }`}, {`if ($A) $B;`, `if (q1q($A)) $B;`, `if ($A) $B;`}, {`while ($A) { $$B }`, `while (q1q($A)) { $$B }`, `while ($A) { $$B }`},
	{`if ($A) $B; else $C;`, `q1q($A) { $B; } other { $C; }`, `if ($A) $B; else $C;`}, {`for ($A; $B; $C) { $$D }`, `for (q1q; $A; $B; $C) { $$D }`, `for ($A; $B; $C) { $$D }`}, {`return $A;`, `q1q($A);`, `return $A;`},
	{`$A == $B`, `q1q($A, $B)`, `$A == $B`}, {`$A != $B`, `q1q($A, $B)`, `$A != $B`}, {`$A < $B`, `q1q($A, $B)`, `$A < $B`}, {`$A >= $B`, `q1q($A, $B)`, `$A >= $B`}, {`$A && $B`, `q1q($A, $B)`, `$A && $B`}, {`$A || $B`, `q1q($A, $B)`, `$A || $B`},
	{`!$A`, `q1q($A)`, `!$A`}, {`-$A`, `q1q($A)`, `-$A`}, {`~$A`, `q1q($A)`, `~$A`}, {`&$A`, `q1q($A)`, `&$A`}, {`*$A`, `q1q($A)`, `*$A`}, {`$A + $B`, `q1q($A, $B)`, `$A + $B`}, {`$A - $B`, `q1q($A, $B)`, `$A - $B`}, {`$A * $B`, `q1q($A, $B)`, `$A * $B`},
	{`$A % $B`, `q1q($A, $B)`, `$A % $B`}, {`$A << $B`, `q1q($A, $B)`, `$A << $B`}, {`$A & $B`, `q1q($A, $B)`, `$A & $B`}, {`$A | $B`, `q1q($A, $B)`, `$A | $B`}, {`$A[$B]`, `q1q($A, $B)`, `$A[$B]`}, {`$A->$B`, `q1q($A, $B)`, `$A->$B`}, {`$A.$B`, `q1q($A, $B)`, `$A.$B`},
	{`$A ? $B : $C`, `q1q($A, $B, $C)`, `$A ? $B : $C`}, {`$A = $B`, `q1q($A, $B)`, `$A = $B`}, {`$A += $B`, `q1q($A, $B)`, `$A += $B`}, {`$A++`, `q1q($A)`, `$A++`}, {`sizeof $A`, `q1q($A)`, `sizeof $A`}, {`$A, $B`, `q1q($A, $B)`, `$A, $B`},
}

// sameAssembler makes all rewrites in n files of each tree, one after the other, and compares the
// assembler text of the original with the result. Only files that the compiler accepts are counted. The
// command compiles standard input and runs in the tree.
func sameAssembler(ctx context.Context, trees, command string, n, show int, planted bool) error {
	dirs, err := treesOf(trees, "c")
	if err != nil {
		return err
	}
	total := assembling{}
	for _, dir := range dirs {
		var paths []string
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && filepath.Ext(path) == ".c" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return err
		}
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		a := &assembling{dir: dir, command: command, show: show, planted: planted, failures: map[string]int{}}
		next := make(chan string)
		var all sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			all.Go(func() {
				for path := range next {
					if err := a.file(ctx, path); err != nil {
						a.mu.Lock()
						a.err = cmp.Or(a.err, fmt.Errorf("%s: %w", path, err))
						a.mu.Unlock()
					}
				}
			})
		}
		for _, path := range paths {
			a.mu.Lock()
			enough := a.files >= n || a.err != nil
			a.mu.Unlock()
			if enough {
				break
			}
			next <- path
		}
		close(next)
		if all.Wait(); a.err != nil {
			return a.err
		}
		fmt.Printf("%-10s %d C files that compile (%d don't), %d rewrites of a file, %d places, %d rewrites not all of them back, %d places refused; assembler differs in %d files\n", filepath.Base(dir), a.files, a.skipped, a.rewrites, a.places, a.lost, a.refused, a.differ)
		for pattern, k := range a.failures {
			fmt.Printf("  %4d files: %s\n", k, pattern)
		}
		total.rewrites, total.differ = total.rewrites+a.rewrites, total.differ+a.differ
	}
	if total.rewrites == 0 || total.differ > 0 {
		return errors.New("a program changed, or nothing was rewritten")
	}
	return nil
}

type assembling struct {
	dir, command string
	show         int
	planted      bool // for testing, omit the first negation of every result

	mu                                                      sync.Mutex // guards the fields below
	err                                                     error
	files, skipped, rewrites, places, lost, refused, differ int
	failures                                                map[string]int // files that differ, by pattern
}

func (a *assembling) file(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil || len(text) > 200_000 || bytes.Contains(text, []byte("q1q")) {
		return err
	}
	before, ok := a.compile(ctx, path, text)
	if !ok {
		a.mu.Lock()
		a.skipped++
		a.mu.Unlock()
		return nil
	}
	after := text
	var made, places, lost, refused int
	for _, r := range kept {
		next, n, no, err := rewriteC(path, after, r)
		if err != nil {
			return err
		}
		refused += no
		if n < 0 {
			lost++
		} else if n > 0 {
			after, made, places = next, made+1, places+n
		}
	}
	if a.planted {
		after = bytes.Replace(after, []byte("!"), nil, 1)
	}
	found, ok := a.compile(ctx, path, after)
	var guilty []string
	if !ok || found != before {
		for _, r := range kept {
			next, n, _, err := rewriteC(path, text, r)
			if err != nil {
				return err
			}
			if n <= 0 {
				continue
			}
			if found, ok := a.compile(ctx, path, next); !ok || found != before {
				guilty = append(guilty, strings.Join(r[:2], "  ⇄  "))
			}
		}
		if guilty == nil {
			guilty = []string{"only several rewrites together"}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files, a.rewrites, a.places, a.lost, a.refused = a.files+1, a.rewrites+made, a.places+places, a.lost+lost, a.refused+refused
	if a.files%100 == 0 {
		fmt.Printf("%d files: %d rewrites, %d places, %d differ\n", a.files, a.rewrites, a.places, a.differ)
	}
	if guilty != nil {
		a.differ++
		for _, g := range guilty {
			a.failures[g]++
		}
		if a.show--; a.show >= 0 {
			fmt.Printf("%s: %s\n", path, strings.Join(guilty, "; "))
			if !ok {
				fmt.Print(found[:min(len(found), 500)])
			}
		}
	}
	return nil
}

// rewriteC makes one rewrite, and its way back if it has one. It returns the number of places, or -1 if
// not all were rewritten back.
func rewriteC(path string, text []byte, r [3]string) (after []byte, n, refused int, err error) {
	after, n, refused, err = rewriteText(path, text, r[0], r[1])
	if err != nil || n == 0 || r[2] == "" {
		return after, n, refused, err
	}
	after, back, _, err := rewriteText(path, after, r[1], r[2])
	if back != n {
		n = -1
	}
	return after, n, refused, err
}

// lineMarker matches the line numbers beside asm statements, which a rewrite may change.
var lineMarker = regexp.MustCompile(`(?m)^# \d+ "<stdin>".*\n`)

// compile returns the assembler text without line numbers, or the compiler's complaints and false.
func (a *assembling) compile(ctx context.Context, path string, text []byte) (string, bool) {
	cmd := exec.CommandContext(ctx, "sh", "-c", a.command+` -iquote "$1" -w -O0 -S -x c -o - -`, "sh", filepath.Dir(path))
	cmd.Dir, cmd.Stdin = a.dir, bytes.NewReader(text)
	var bad bytes.Buffer
	cmd.Stderr = &bad
	out, err := cmd.Output()
	if err != nil {
		return bad.String(), false
	}
	return lineMarker.ReplaceAllString(string(out), ""), true
}
