// Command renames compares quarry rename with gopls rename in Go source trees, or runs a compiler
// after each rename in a tree of any language.
//
//	scripts/tool bench/renames -gopls PROGRAM [-n 50] TREE...
//	scripts/tool bench/renames -check 'javac -d /tmp/out $(find src -name "*.java")' [-n 200] [-kinds class,method] TREE...
//
// With gopls:
//
// It takes definitions of each tree at equal distances, asks both programs to rename them, and
// compares the renamed places in code. If Quarry is sure of a place that gopls doesn't rename, the
// place is wrong and the comparison fails. It also fails if less than 80 % of the places are sure.
// Then it renames the sure places, and the doubtful ones that gopls renames. The tree must still
// build, including its tests. If a place is in a file that is not built on this system, the tree
// must also build for Windows.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/internal/rename"
	"quarry/search"
)

func main() {
	program := flag.String("gopls", "gopls", "the program gopls")
	n := flag.Int("n", 50, "renames of each tree")
	show := flag.Bool("show", false, "show places that differ")
	build := flag.Bool("build", true, "build after each rename")
	planted := flag.Bool("planted", false, "call every place that has the name sure: the comparison must fail")
	command := flag.String("check", "", "run this command in a copy of each tree after each rename, and no gopls")
	kinds := flag.String("kinds", "class,method", "kinds of definitions for -check")
	globs := flag.String("globs", "", "and in which files they are, with spaces")
	doubtful := flag.Bool("doubtful", false, "with -check: rename doubtful places too")
	weigh := flag.Bool("weigh", false, "with -check: make refused renames too, with and without the doubtful places")
	seed := flag.Uint64("seed", 0, "with -check: draw definitions by this seed, instead of equal distances")
	flag.Parse()
	check := &checking{command: *command, n: *n, seed: *seed, kinds: strings.Split(*kinds, ","), globs: strings.Fields(*globs), doubtful: *doubtful, weigh: *weigh, show: *show}
	for _, tree := range flag.Args() {
		if *command == "" {
			break
		}
		if err := check.tree(context.Background(), tree); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if *command != "" {
		return
	}
	if _, err := exec.LookPath(*program); err != nil {
		fmt.Println("skipped: gopls is not installed (go install golang.org/x/tools/gopls@latest); name it with -gopls")
		return
	}
	if flag.NArg() == 0 {
		fmt.Println("skipped: no tree is named")
		return
	}
	total := tally{}
	for _, tree := range flag.Args() {
		c := &comparison{n: *n, show: *show, build: *build, planted: *planted}
		t, err := c.tree(context.Background(), *program, tree)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		t.print(filepath.Base(tree))
		total.add(t)
	}
	total.print("all")
	if total.renames == 0 || total.wrong > 0 || total.broken > 0 || total.sure*100 < 80*total.theirs {
		fmt.Fprintln(os.Stderr, "a place was renamed wrongly, a tree does not build, or less than 80 % are sure")
		os.Exit(1)
	}
}

type comparison struct {
	gopls                *server
	dir                  string
	n                    int
	show, build, planted bool
	unseen               map[string]bool // files that gopls does not read, for other systems or with build tags
}

type tally struct {
	renames, refused int // renames made and refused by gopls
	whole            int // renames with only sure places
	built, broken    int

	theirs, sure, doubtful, missed, wrong, unseen int // numbers of places
}

func (t *tally) add(o tally) {
	for _, n := range []struct{ to, from *int }{
		{&t.renames, &o.renames}, {&t.refused, &o.refused}, {&t.whole, &o.whole}, {&t.built, &o.built}, {&t.broken, &o.broken},
		{&t.theirs, &o.theirs}, {&t.sure, &o.sure}, {&t.doubtful, &o.doubtful}, {&t.missed, &o.missed}, {&t.wrong, &o.wrong}, {&t.unseen, &o.unseen},
	} {
		*n.to += *n.from
	}
}

func (t *tally) print(name string) {
	fmt.Printf("%-10s %3d renames with a place (gopls refused %d), %d sure as a whole: of %d places sure and right %d (%.1f %%), doubtful %d, left %d; wrongly sure %d; sure in files that gopls does not read %d; built %d, not %d\n",
		name, t.renames, t.refused, t.whole, t.theirs, t.sure, 100*float64(t.sure)/float64(max(t.theirs, 1)), t.doubtful, t.missed, t.wrong, t.unseen, t.built, t.broken)
}

// place is an occurrence of a name in a file.
type place struct {
	file string
	at   int
}

// tree compares n renames in a tree. It divides the definitions into n groups of equal size and
// uses the first definition in each group that gopls can rename.
func (c *comparison) tree(ctx context.Context, program, dir string) (t tally, err error) {
	if c.dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	if c.gopls, err = start(program, c.dir); err != nil {
		return t, err
	}
	defer c.gopls.stop()
	ws, err := quarry.Open(c.dir, &quarry.Options{Trusted: true})
	if err != nil {
		return t, err
	}
	defer ws.Close()
	all, err := ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Globs: []string{"*.go", "!*_test.go"}}, Limit: 20000,
		Kinds: []string{"function", "method", "struct", "interface", "type", "constant", "variable", "field"}})
	if err != nil {
		return t, err
	}
	if said, err := complaints(ctx, c.dir, nil, "", "", true); err != nil || said != "" && c.build {
		return t, fmt.Errorf("%s does not build: %w\n%s", dir, err, said)
	}
	if c.unseen, err = unseen(ctx, c.dir); err != nil {
		return t, err
	}
	list := slices.DeleteFunc(all.Symbols, func(s search.Symbol) bool { return c.unseen[s.Path] })
	slices.SortStableFunc(list, func(a, b search.Symbol) int { return strings.Compare(a.Path, b.Path) })
	for k := range c.n {
		for i := k * len(list) / c.n; i < (k+1)*len(list)/c.n; i++ {
			taken, err := c.one(ctx, ws, &list[i], &t)
			if err != nil {
				return t, err
			}
			if taken {
				break
			}
		}
	}
	return t, nil
}

// one compares one rename. It returns false if gopls doesn't make it.
func (c *comparison) one(ctx context.Context, ws *quarry.Workspace, s *search.Symbol, t *tally) (bool, error) {
	if s.Name == "_" || s.Name == "main" || s.Name == "init" {
		return false, nil
	}
	at, err := c.nameAt(s)
	if err != nil {
		return false, err
	}
	fresh := s.Name + "Zz9"
	theirs, err := c.gopls.rename(s.Path, at, fresh)
	if r := (*refusal)(nil); errors.As(err, &r) || err == nil && len(theirs) == 0 {
		if c.show {
			fmt.Printf("  gopls on %s#%s: %v\n", s.Path, s.Name, err)
		}
		t.refused++
		return false, nil
	}
	if err != nil {
		return false, err
	}
	old := s.Path + "#" + s.Name
	if s.Container != "" {
		old = s.Path + "#" + s.Container + "." + s.Name
	}
	plan, err := rename.Find(ctx, ws, rename.Query{Old: old, New: fresh})
	if err != nil {
		return false, fmt.Errorf("%s: %w", old, err)
	}
	if c.planted {
		plan.Sure = append(append(plan.Sure, plan.Doubtful...), plan.Left...)
	}
	t.renames++
	unseen := t.unseen
	accepted := c.compare(old, theirs, plan, t)
	if !c.build {
		return true, nil
	}
	// In a file that gopls does not read, a doubtful place can't be confirmed.
	open := slices.ContainsFunc(plan.Doubtful, func(p rename.Place) bool { return c.unseen[p.Path] })
	said, err := complaints(ctx, c.dir, accepted, s.Name, fresh, t.unseen > unseen && !open)
	if err != nil {
		return false, err
	}
	if said == "" {
		t.built++
		return true, nil
	}
	t.broken++
	fmt.Printf("  does not build after %s:\n%s\n", old, said)
	return true, nil
}

// compare counts places in t. It returns the places to rename: those that are sure, and doubtful
// ones that gopls renames.
func (c *comparison) compare(old string, theirs map[place]bool, plan *rename.Plan, t *tally) map[place]bool {
	accepted, before := map[place]bool{}, t.sure
	for _, p := range plan.Sure {
		at := place{p.Path, p.Start}
		accepted[at] = true
		switch {
		case theirs[at]:
			t.sure++
			continue
		case c.unseen[p.Path]:
			t.unseen++
			continue
		}
		t.wrong++
		fmt.Printf("  wrong: %s at %s:%d: %s\n", old, p.Path, p.Line, p.Text)
	}
	for _, p := range plan.Doubtful {
		if at := (place{p.Path, p.Start}); theirs[at] && !accepted[at] {
			t.doubtful++
			accepted[at] = true
			if c.show {
				fmt.Printf("  doubtful: %s at %s:%d: %s (%s)\n", old, p.Path, p.Line, p.Text, p.Why)
			}
		}
	}
	left := map[place]*rename.Place{}
	for i, p := range plan.Left {
		left[place{p.Path, p.Start}] = &plan.Left[i]
	}
	for at := range theirs {
		if accepted[at] {
			continue
		}
		t.missed++
		if p := left[at]; c.show && p != nil {
			fmt.Printf("  left: %s at %s:%d: %s (%s)\n", old, at.file, p.Line, p.Text, p.Why)
		} else if c.show {
			fmt.Printf("  left: %s in %s, byte %d\n", old, at.file, at.at)
		}
	}
	t.theirs += len(theirs)
	if t.sure-before == len(theirs) {
		t.whole++
	}
	return accepted
}

// nameAt returns the offset of the name in a definition's line.
func (c *comparison) nameAt(s *search.Symbol) (int, error) {
	names, text, err := identifiers(filepath.Join(c.dir, s.Path))
	if err != nil {
		return 0, err
	}
	at := offset(text, s.Line-1, 0)
	for ; at < len(text) && text[at] != '\n'; at++ {
		if names[at] && bytes.HasPrefix(text[at:], []byte(s.Name)) && !isWord(text, at+len(s.Name)) && text[max(at-1, 0)] != '.' {
			return at, nil
		}
	}
	return 0, fmt.Errorf("%s is not in line %d of %s", s.Name, s.Line, s.Path)
}

func isWord(text []byte, at int) bool {
	return at < len(text) && (text[at] == '_' || text[at] >= 0x80 || text[at] >= '0' && text[at] <= '9' || text[at]|0x20 >= 'a' && text[at]|0x20 <= 'z')
}

// replaced returns a text with a new name at the given offsets.
func replaced(text []byte, at []int, old, fresh string) []byte {
	slices.Sort(at)
	var out []byte
	from := 0
	for _, p := range at {
		out = append(append(out, text[from:p]...), fresh...)
		from = p + len(old)
	}
	return append(out, text[from:]...)
}
