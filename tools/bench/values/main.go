// Values changes values in real configuration files by path, and checks the results with readers
// from other projects. These are jq for JSON, npm's jsonc-parser for JSON with comments, npm's yaml
// and smol-toml, and Python's configparser. A second check uses Python's json, tomllib and PyYAML,
// which has YAML 1.1's scalars.
//
//	scripts/tool bench/values -repos A:B:C [-n 2000] [-seed 1] [-npm node_modules] [-show]
//
// A repository may be bare. Each file is changed in five ways: a value of the same kind, a text
// that needs quotes, a deletion, an addition, and another key. The reader must see the right value
// and no other difference, and the bytes around the value must be unchanged. The same change in a
// workspace must give the same bytes, and undoing it the original ones. If the check doesn't notice
// results that are damaged on purpose, nothing is reported. After every 200 files a line of figures
// is printed.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"quarry/internal/value"
)

func main() {
	repos := flag.String("repos", os.Getenv("QUARRY_GIT_REPOS"), "git repositories, with : between them")
	n := flag.Int("n", 2000, "files")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	npm := flag.String("npm", os.Getenv("QUARRY_NPM"), "the folder node_modules with yaml, smol-toml and jsonc-parser")
	show := flag.Bool("show", false, "print each refusal")
	flag.Parse()
	if err := run(strings.Split(*repos, ":"), *npm, *n, *seed, *show); err != nil {
		fmt.Fprintln(os.Stderr, "values:", err)
		os.Exit(1)
	}
}

// tally counts the results of one format's changes.
type tally struct {
	files, changes, made int
	empty                int // changes that did not change the text
	refused              map[value.Reason]int
	wrong, outside       int
	second               int // also checked by the second reader
}

func run(repos []string, npm string, n int, seed uint64, show bool) error {
	o, err := startReaders(npm)
	if err != nil {
		fmt.Println("skipped:", err)
		return nil
	}
	defer o.close()
	if err := noticesDamage(o); err != nil {
		return err
	}
	files, err := collect(repos, n, seed)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no configuration files: name repositories with -repos")
	}
	ws, err := openWorkspace()
	if err != nil {
		return err
	}
	defer ws.close()
	tallies := map[value.Format]*tally{}
	skipped := 0
	for i, f := range files {
		t := tallies[f.format]
		if t == nil {
			t = &tally{refused: map[value.Reason]int{}}
			tallies[f.format] = t
		}
		if i > 0 && i%200 == 0 {
			all := sum(tallies)
			fmt.Printf("%d files: %d changes, %d made, %d wrong, %d outside; %d files skipped\n", i, all.changes, all.made, all.wrong, all.outside, skipped)
		}
		before, err := o.read(f.format, f.text)
		if isGone(err) {
			return err
		} else if err != nil {
			skipped++ // the first reader can't read the file
			continue
		}
		t.files++
		trial := &trial{o: o, f: f, before: before, ws: ws, rng: rand.New(rand.NewPCG(seed, uint64(i))), t: t, show: show}
		if other, err := o.second(f.format, f.text); isGone(err) {
			return err
		} else if err == nil {
			trial.other = other
		}
		if err := trial.run(); err != nil {
			return err
		}
	}
	return report(tallies, skipped)
}

// no returns the number of refused changes; share returns their percentage.
func (t *tally) no() (n int) {
	for _, k := range t.refused {
		n += k
	}
	return n
}

func (t *tally) share() float64 { return 100 * float64(t.no()) / float64(max(t.changes, 1)) }

func sum(tallies map[value.Format]*tally) *tally {
	all := &tally{refused: map[value.Reason]int{}}
	for _, t := range tallies {
		all.files, all.changes, all.made, all.empty = all.files+t.files, all.changes+t.changes, all.made+t.made, all.empty+t.empty
		all.wrong, all.outside, all.second = all.wrong+t.wrong, all.outside+t.outside, all.second+t.second
		for r, k := range t.refused {
			all.refused[r] += k
		}
	}
	return all
}

func report(tallies map[value.Format]*tally, skipped int) error {
	fmt.Println("| format | files | changes | made | refused | wrong value | bytes outside |")
	fmt.Println("|---|---|---|---|---|---|---|")
	all := sum(tallies)
	row := func(name string, t *tally) {
		fmt.Printf("| %s | %d | %d | %d | %d (%.1f %%) | %d | %d |\n", name, t.files, t.changes, t.made, t.no(), t.share(), t.wrong, t.outside)
	}
	for _, f := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[f]
		row(f.String(), t)
	}
	row("all", all)
	for _, r := range slices.Sorted(maps.Keys(all.refused)) {
		fmt.Printf("refused, %s: %d\n", r, all.refused[r])
	}
	fmt.Printf("%d of the changes are not empty; %d files were skipped: the outside reader can't read them; %d changes were judged by two readers, and all were undone\n", all.made-all.empty, skipped, all.second)
	if all.wrong+all.outside > 0 {
		return fmt.Errorf("%d values are wrong, %d changes touched other bytes", all.wrong, all.outside)
	}
	if all.share() > 5 {
		return fmt.Errorf("%.1f %% of the changes are refused; at most 5 are allowed", all.share())
	}
	if all.made == all.empty {
		return fmt.Errorf("no change was made")
	}
	return nil
}
