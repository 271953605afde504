// Command structure compares structural searches with ast-grep's in real source trees, and rewrites
// code in copies of these trees.
//
//	scripts/tool bench/structure -trees DIR -astgrep PROGRAM [-lang go] [-show 5]
//	scripts/tool bench/structure -trees DIR -rewrite [-lang go]
//	scripts/tool bench/structure -trees DIR -assembler 'gcc -Iinclude' [-n 1000]
//	scripts/tool bench/structure -speed TREE -lang c -astgrep PROGRAM -quarry PROGRAM
//
// DIR has a folder for each language (go, ts, python, rust, java, c, and js for rewrites), which
// contains a folder for each tree. The patterns are in patterns.go, in ast-grep's syntax, which
// both programs understand. A match is identified by the file and the offsets of its first and last
// byte. Matches that Quarry marks as doubtful are counted separately.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/search"
)

func main() {
	trees := flag.String("trees", "", "folder of trees")
	program := flag.String("astgrep", "ast-grep", "the program ast-grep")
	only := flag.String("lang", "", "only this language")
	find := flag.String("find", "", "only this pattern")
	show := flag.Int("show", 0, "differences to show of each pattern")
	rewrite := flag.Bool("rewrite", false, "rewrite code in copies instead")
	planted := flag.Bool("planted", false, "leave every seventh match out, or break every seventh rewrite: the comparison must fail")
	itself := flag.Bool("identity", false, "replace matches by the pattern itself instead: nothing may change")
	trip := flag.Bool("roundtrip", false, "make operators into calls and back instead: the program must be the same")
	assembler := flag.String("assembler", "", "rewrite C with this compiler, which must make the same assembler text from the result")
	n := flag.Int("n", 1000, "C files of each tree, for -assembler")
	npm := flag.String("npm", os.Getenv("QUARRY_NPM"), "the folder node_modules with acorn, for -roundtrip of JavaScript")
	tree := flag.String("speed", "", "compare processor time in this tree instead")
	ours := flag.String("quarry", "quarry", "the program quarry, for -speed")
	every := flag.Int("every", 5, "take every nth pattern, for -speed")
	runs := flag.Int("runs", 3, "runs of which the best counts, for -speed")
	flag.Parse()
	if _, err := exec.LookPath(*program); err != nil && !*rewrite && !*itself && !*trip && *assembler == "" {
		fmt.Println("skipped: ast-grep is not installed (npm install @ast-grep/cli); name it with -astgrep")
		return
	}
	ctx := context.Background()
	if abs, err := filepath.Abs(*program); err == nil && strings.Contains(*program, "/") {
		*program = abs // absolute, because it runs in the trees
	}
	run := comparing{program: *program, find: *find, show: *show, planted: *planted}
	var err error
	switch {
	case *tree != "":
		err = speed(ctx, *tree, *only, *find, *program, *ours, *every, *runs)
	case *trees == "":
		err = errors.New("-trees names no folder with trees")
	case *assembler != "":
		err = sameAssembler(ctx, *trees, *assembler, *n, *show, *planted)
	case *trip:
		err = roundTrip(*trees, *only, *find, *npm, *show, *planted)
	case *itself:
		err = identity(*trees, *only, *find, *show, *planted)
	case *rewrite:
		err = rewrites(ctx, *trees, *only, *find, *planted)
	default:
		err = run.all(ctx, *trees, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// treesOf lists the trees of a language.
func treesOf(trees, language string) ([]string, error) {
	dirs, err := filepath.Glob(filepath.Join(trees, language, "*"))
	if err == nil && len(dirs) == 0 {
		err = fmt.Errorf("no trees in %s", filepath.Join(trees, language))
	}
	return dirs, err
}

type place struct {
	file       string
	start, end int
}

type comparing struct {
	program      string
	find         string // if set, the only pattern to use
	show         int
	planted      bool
	ours, theirs time.Duration // total processor time of the searches
	files        map[string]*file
	classes      map[string]int // number of differences in each class, for one language
}

// tally counts the matches found by both programs or only one.
type tally struct {
	pairs, same, onlyOurs, onlyTheirs, doubtful, classed int
}

func (t *tally) add(o tally) {
	t.classed += o.classed
	t.pairs, t.same, t.onlyOurs, t.onlyTheirs, t.doubtful = t.pairs+o.pairs, t.same+o.same, t.onlyOurs+o.onlyOurs, t.onlyTheirs+o.onlyTheirs, t.doubtful+o.doubtful
}

// agreement returns the percentage of matches that both programs find.
func (t *tally) agreement() float64 {
	return 100 * float64(t.same) / float64(max(t.same+t.onlyOurs+t.onlyTheirs, 1))
}

// wanted is the minimum agreement for a language, in percent.
const wanted = 95

func (c *comparing) all(ctx context.Context, trees, only string) error {
	failed := false
	sum := tally{}
	for _, l := range languages {
		if only != "" && l.name != only {
			continue
		}
		dirs, err := treesOf(trees, l.name)
		if err != nil {
			return err
		}
		c.classes, c.files = map[string]int{}, nil
		total := tally{}
		type row struct {
			pattern string
			tally
		}
		var rows []row
		for _, p := range l.patterns {
			if c.find != "" && p != c.find {
				continue
			}
			one := tally{}
			for _, dir := range dirs {
				t, err := c.pair(ctx, dir, &l, p)
				if err != nil {
					return fmt.Errorf("%s in %s: %w", p, dir, err)
				}
				one.add(t)
			}
			rows = append(rows, row{p, one})
			total.add(one)
		}
		slices.SortFunc(rows, func(a, b row) int { return int(1000*a.agreement()) - int(1000*b.agreement()) })
		for _, r := range rows {
			if r.onlyOurs+r.onlyTheirs+r.doubtful > 0 {
				fmt.Printf("  %-45s same %6d  only ours %5d  only theirs %5d  doubtful %4d  classed %5d  %5.1f %%\n", r.pattern, r.same, r.onlyOurs, r.onlyTheirs, r.doubtful, r.classed, r.agreement())
			}
		}
		fmt.Printf("%-7s %d trees, %3d of %d pairs have a match, same %6d, only ours %5d, only theirs %5d, doubtful %4d, of a class %d %v: %.1f %%\n", l.name, len(dirs), total.pairs, len(dirs)*len(l.patterns), total.same, total.onlyOurs, total.onlyTheirs, total.doubtful, total.classed, c.classes, total.agreement())
		failed = failed || total.pairs == 0 || total.agreement() < wanted
		sum.add(total)
	}
	fmt.Printf("all     %4d pairs with a match, same %6d: %.1f %%; processor time %.1f s, ast-grep's %.1f s\n", sum.pairs, sum.same, sum.agreement(), c.ours.Seconds(), c.theirs.Seconds())
	if failed {
		return fmt.Errorf("a language has no match, or agrees in less than %d %%", wanted)
	}
	return nil
}

// pair compares the matches of one pattern in one tree.
func (c *comparing) pair(ctx context.Context, dir string, l *language, pattern string) (tally, error) {
	before := processor(false)
	ours, doubt, err := find(ctx, dir, l, pattern)
	if err != nil {
		return tally{}, err
	}
	c.ours += processor(false) - before
	before = processor(true)
	theirs, err := c.astGrep(ctx, dir, l, pattern)
	if err != nil {
		return tally{}, err
	}
	c.theirs += processor(true) - before
	if c.planted {
		n := 0
		for p := range ours {
			if n++; n%7 == 0 {
				delete(ours, p)
			}
		}
	}
	mine, others := map[place]bool{}, map[place]bool{}
	ourStarts, theirStarts := map[place]bool{}, map[place]bool{}
	for p := range ours {
		q := c.trimmed(dir, p)
		mine[q], ourStarts[place{q.file, q.start, 0}] = true, true
		doubt[q] = doubt[p]
	}
	for p := range theirs {
		q := c.trimmed(dir, p)
		others[q], theirStarts[place{q.file, q.start, 0}] = true, true
	}
	ours, theirs = mine, others
	t := tally{}
	if len(ours)+len(theirs) > 0 {
		t.pairs = 1
	}
	class := func(name string) bool {
		if name == "" {
			return false
		}
		c.classes[name]++
		t.classed++
		return true
	}
	shown := 0
	for p := range ours {
		switch {
		case theirs[p]:
			t.same++
		case doubt[p]:
			t.doubtful++
		case class(c.classOurs(dir, l, pattern, p, len(theirs), theirStarts)):
		default:
			t.onlyOurs++
			c.tell(dir, pattern, "only ours", p, &shown)
		}
	}
	shown = 0
	for p := range theirs {
		if _, ok := ours[p]; !ok && !class(c.classTheirs(dir, pattern, p, ourStarts)) {
			t.onlyTheirs++
			c.tell(dir, pattern, "only theirs", p, &shown)
		}
	}
	return t, nil
}

// tell prints a difference.
func (c *comparing) tell(dir, pattern, which string, p place, shown *int) {
	if *shown++; *shown > c.show {
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, p.file))
	if err != nil {
		return
	}
	from, to := max(0, p.start-40), min(len(text), p.end+25)
	clip := string(text[p.start:p.end])
	if len(clip) > 160 {
		clip = clip[:80] + " … " + clip[len(clip)-60:]
	}
	fmt.Printf("%s | %s | %s:%d | %q ⟦%s⟧ %q\n", pattern, which, filepath.Base(dir)+"/"+p.file, 1+bytes.Count(text[:p.start], []byte("\n")), text[from:p.start], strings.ReplaceAll(clip, "\n", "⏎"), text[p.end:to])
}

// find searches a tree with Quarry.
func find(ctx context.Context, dir string, l *language, pattern string) (found map[place]bool, doubt map[place]bool, err error) {
	ws, err := quarry.Open(dir, &quarry.Options{Trusted: true})
	if err != nil {
		return nil, nil, err
	}
	defer ws.Close()
	found, doubt = map[place]bool{}, map[place]bool{}
	q := search.Query{Structure: pattern, Scope: search.Scope{Globs: l.globs}}
	_, err = ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		for i := range f.Lines {
			line := &f.Lines[i]
			for k, s := range line.Whole {
				p := place{f.Path, int(line.Offset) + s.Start, int(line.Offset) + s.End}
				found[p] = true
				if line.Doubts != nil && line.Doubts[k] != "" {
					doubt[p] = true
				}
			}
		}
		return nil
	})
	return found, doubt, err
}

// astGrep searches a tree with ast-grep.
func (c *comparing) astGrep(ctx context.Context, dir string, l *language, pattern string) (map[place]bool, error) {
	args := []string{"run", "--pattern", pattern, "--lang", l.name, "--json=stream"}
	for _, g := range l.globs {
		args = append(args, "--globs", "**/"+g)
	}
	cmd := exec.CommandContext(ctx, c.program, append(args, ".")...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return nil, fmt.Errorf("ast-grep: %w", err)
	}
	found := map[place]bool{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var m struct {
			File  string `json:"file"`
			Range struct {
				ByteOffset struct{ Start, End int } `json:"byteOffset"`
			} `json:"range"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, err
		}
		found[place{filepath.ToSlash(filepath.Clean(m.File)), m.Range.ByteOffset.Start, m.Range.ByteOffset.End}] = true
	}
	return found, lines.Err()
}
