package fuzzy

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A kind is a way in which people and models remember paths.
type kind struct {
	name string
	make func(path string, rng *rand.Rand) string // "" if the path has no such query
}

func stemOf(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}

func folderOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2]
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-_. ", r) })
}

var kinds = []kind{
	{"name", func(p string, _ *rand.Rand) string { return p[strings.LastIndexByte(p, '/')+1:] }},
	{"stem", func(p string, _ *rand.Rand) string { return stemOf(p) }},
	{"folder/name", func(p string, _ *rand.Rand) string {
		if folderOf(p) == "" {
			return ""
		}
		return folderOf(p) + "/" + p[strings.LastIndexByte(p, '/')+1:]
	}},
	{"folder/stem", func(p string, _ *rand.Rand) string {
		if folderOf(p) == "" {
			return ""
		}
		return folderOf(p) + "/" + stemOf(p)
	}},
	{"words in any order", func(p string, rng *rand.Rand) string {
		words := append(wordsOf(folderOf(p)), wordsOf(stemOf(p))...)
		if len(words) < 3 {
			return ""
		}
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return strings.Join(words, " ")
	}},
	{"prefix", func(p string, _ *rand.Rand) string {
		stem := stemOf(p)
		if len(stem) < 7 {
			return ""
		}
		return stem[:(len(stem)*7+9)/10]
	}},
	{"initials", func(p string, _ *rand.Rand) string {
		words := wordsOf(stemOf(p))
		if len(words) < 4 {
			return ""
		}
		s := ""
		for _, w := range words {
			s += w[:1]
		}
		return s
	}},
	{"one typo", func(p string, rng *rand.Rand) string { return typo(stemOf(p), rng) }},
	{"glued", func(p string, rng *rand.Rand) string { // kernschcore
		parts := strings.Split(p, "/")
		if len(parts) < 3 {
			return ""
		}
		s := ""
		for _, dir := range parts[len(parts)-3 : len(parts)-1] {
			s += dir[:min(len(dir), 3+rng.IntN(2))]
		}
		return s + stemOf(p)
	}},
	{"abbreviated", func(p string, _ *rand.Rand) string { // ker/sch/core
		parts := strings.Split(p, "/")
		if len(parts) < 3 {
			return ""
		}
		for i, part := range parts {
			parts[i] = part[:min(len(part), 3)]
		}
		parts[len(parts)-1] = stemOf(p)
		return strings.Join(parts[len(parts)-3:], "/")
	}},
	{"half typed", func(p string, rng *rand.Rand) string { // sched/cor
		parts := strings.Split(p, "/")
		stem := stemOf(p)
		if len(parts) < 2 || len(stem) < 5 {
			return ""
		}
		return parts[len(parts)-2] + "/" + stem[:len(stem)/2+1+rng.IntN(2)]
	}},
	{"_ for -", func(p string, _ *rand.Rand) string {
		stem := stemOf(p)
		other := strings.Map(func(r rune) rune {
			switch r {
			case '-':
				return '_'
			case '_':
				return '-'
			}
			return r
		}, stem)
		if other == stem {
			return ""
		}
		return other
	}},
}

func typo(s string, rng *rand.Rand) string {
	if len(s) < 6 {
		return ""
	}
	i := 1 + rng.IntN(len(s)-2)
	letter := string(rune('a' + rng.IntN(26)))
	switch rng.IntN(4) {
	case 0:
		return s[:i] + letter + s[i+1:]
	case 1:
		return s[:i] + letter + s[i:]
	case 2:
		return s[:i] + s[i+1:]
	}
	return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
}

// listTree lists the files of a folder, except hidden ones.
func listTree(t testing.TB, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, p)
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// ask is one query and the path it was made from.
type ask struct{ query, want string }

// asks makes queries from paths with a unique stem, so that most queries have one right answer.
func asks(k kind, paths []string, n int) []ask {
	rng := rand.New(rand.NewPCG(22, uint64(len(k.name))))
	stems := map[string]int{}
	for _, p := range paths {
		stems[stemOf(p)]++
	}
	var list []ask
	for tries := 0; len(list) < n && tries < 1000*n; tries++ {
		p := paths[rng.IntN(len(paths))]
		if stems[stemOf(p)] > 1 {
			continue
		}
		if q := k.make(p, rng); q != "" {
			list = append(list, ask{q, p})
		}
	}
	return list
}

// rankOf returns the position of a path in a list, counted from 1, or 0 if it is missing.
func rankOf(list []string, want string) int { return slices.Index(list, want) + 1 }

func ours(t testing.TB, query string, paths []string) []string {
	t.Helper()
	q, err := Compile(query)
	if err != nil {
		return nil // too many words: not found
	}
	list, _ := q.Rank(paths, 0, 0, 0)
	var out []string
	for _, m := range list[:min(10, len(list))] {
		out = append(out, paths[m.Index])
	}
	return out
}

func fzf(t testing.TB, program, query string, input []byte) []string {
	t.Helper()
	cmd := exec.Command(program, "--filter", query, "--scheme=path")
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(out), "\n", 11)
	return lines[:min(10, len(lines))]
}

// TestReport prints how often the path that a query was made from is ranked first, here and by
// fzf. It uses the tree QUARRY_BENCH_TREE, on which the weights were tuned, and all folders of
// QUARRY_FUZZY_TREES, on which they were not. QUARRY_FUZZY_KIND selects one kind. The test
// fails where fzf is better.
func TestReport(t *testing.T) {
	if os.Getenv("QUARRY_FUZZY_REPORT") == "" {
		t.Skip("takes minutes: make fuzzy")
	}
	program, err := exec.LookPath("fzf")
	if err != nil {
		t.Skip("fzf is not installed (Debian: fzf)")
	}
	ran := false
	if dir := os.Getenv("QUARRY_BENCH_TREE"); dir != "" {
		ran = true
		compareTrees(t, program, 100, listTree(t, dir))
	}
	if dir := os.Getenv("QUARRY_FUZZY_TREES"); dir != "" {
		ran = true
		folders, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var trees [][]string
		for _, f := range folders {
			if paths := listTree(t, filepath.Join(dir, f.Name())); len(paths) >= 100 {
				trees = append(trees, paths)
			}
		}
		fmt.Println("\nTrees that no weight was chosen on:")
		compareTrees(t, program, 25, trees...)
	}
	if !ran {
		t.Skip("needs a tree named by QUARRY_BENCH_TREE, or a folder of trees by QUARRY_FUZZY_TREES")
	}
}

// compareTrees runs at most n queries of each kind in each tree.
func compareTrees(t *testing.T, program string, n int, trees ...[]string) {
	total := 0
	inputs := make([][]byte, len(trees))
	for i, paths := range trees {
		total += len(paths)
		inputs[i] = []byte(strings.Join(paths, "\n") + "\n")
	}
	fmt.Printf("%d paths in %d trees, at most %d queries of each kind in each: %% where the path meant is first, among the first ten\n\n", total, len(trees), n)
	fmt.Printf("| %-18s | queries | quarry | fzf | quarry, 10 | fzf, 10 |\n|---|---|---|---|---|---|\n", "kind")
	var all, found int
	for _, k := range kinds {
		if only := os.Getenv("QUARRY_FUZZY_KIND"); only != "" && only != k.name {
			continue
		}
		var mine, theirs tally
		for i, paths := range trees {
			for _, a := range asks(k, paths, n) {
				rank, other := rankOf(ours(t, a.query, paths), a.want), rankOf(fzf(t, program, a.query, inputs[i]), a.want)
				if testing.Verbose() && rank != 1 && other == 1 {
					t.Logf("%s %q: ours %d for %s, first %v", k.name, a.query, rank, a.want, ours(t, a.query, paths)[:1])
				}
				mine.add(rank)
				theirs.add(other)
			}
		}
		fmt.Printf("| %-18s | %d | %.1f | %.1f | %.1f | %.1f |\n", k.name, mine.asked, mine.share(mine.first), theirs.share(theirs.first), mine.share(mine.ten), theirs.share(theirs.ten))
		all, found = all+theirs.asked, found+theirs.ten
		if mine.first < theirs.first || len(trees) == 1 && mine.ten < theirs.ten {
			t.Errorf("%s: fzf is better: first %d and %d, among ten %d and %d of %d", k.name, mine.first, theirs.first, mine.ten, theirs.ten, mine.asked)
		}
	}
	t.Logf("%d of %d queries have the path meant among fzf's first ten", found, all)
	if found < all/4 {
		t.Error("fzf finds next to nothing: are its paths ours?")
	}
}

// tally counts how often the wanted path is first, or among the first ten.
type tally struct{ asked, first, ten int }

func (c *tally) add(rank int) {
	c.asked++
	if rank == 1 {
		c.first++
	}
	if rank > 0 {
		c.ten++
	}
}

func (c *tally) share(n int) float64 { return 100 * float64(n) / float64(max(c.asked, 1)) }
