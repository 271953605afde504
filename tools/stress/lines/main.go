// Command lines prints random comments, messages and help lines from the source for review. Each
// should be clear at the first reading.
//
//	scripts/tool stress/lines -seed 1 -n 40
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	seed := flag.Uint64("seed", 1, "the draw")
	n := flag.Int("n", 40, "how many")
	flag.Parse()
	lines, err := collect(".")
	if err != nil {
		log.Fatal("lines: ", err)
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	for i, at := range r.Perm(len(lines))[:min(*n, len(lines))] {
		fmt.Printf("%2d. %s\n", i+1, lines[at])
	}
}

// collect returns the comments and texts of all files except tests, in path order. Each begins with
// its position.
func collect(root string) ([]string, error) {
	var lines []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		add := func(pos token.Pos, text string) {
			if text = strings.Join(strings.Fields(text), " "); strings.Count(text, " ") >= 3 {
				lines = append(lines, fmt.Sprintf("%s:%d: %s", path, fset.Position(pos).Line, text))
			}
		}
		for _, c := range f.Comments {
			add(c.Pos(), c.Text())
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					add(lit.Pos(), text)
				}
			}
			return true
		})
		return nil
	})
	return lines, err
}
