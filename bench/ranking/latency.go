package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/search"
)

// questionsAsked is how many sentences and names the latency is measured with.
const questionsAsked = 300

// latency measures ranked searches and look-ups of names in one tree by its index:
// the first sentences of comments that document functions, and those names.
// dir is where the index is kept; "" is a temporary folder.
func latency(tree, dir string) error {
	sentences, names, err := documented(tree)
	if err != nil {
		return err
	}
	if len(sentences) < questionsAsked {
		return fmt.Errorf("%s has only %d documented functions, %d are needed", tree, len(sentences), questionsAsked)
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ranking"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	ws, err := quarry.Open(tree, &quarry.Options{Index: &quarry.IndexOptions{Dir: dir}})
	if err != nil {
		return err
	}
	defer ws.Close()
	ctx := context.Background()
	if err := ws.Index().Wait(ctx); err != nil {
		return err
	}
	debug.FreeOSMemory()
	first := time.Now()
	if _, err := ws.SearchCode(ctx, search.CodeQuery{Query: "warm up"}); err != nil {
		return err
	}
	fmt.Printf("first question: %s\n", time.Since(first).Round(time.Millisecond))
	found := 0
	if err := measure("sentences", sentences, func(s string) error {
		r, err := ws.SearchCode(ctx, search.CodeQuery{Query: s, Limit: 10})
		if err == nil && !r.Stats.Plan.Indexed() {
			err = fmt.Errorf("%q was not answered by the index: %s", s, r.Stats.Plan.Kind)
		}
		if err == nil && len(r.Chunks) > 0 {
			found++
		}
		return err
	}); err != nil {
		return err
	}
	fmt.Printf("%19s %d of %d have an answer\n", "", found, questionsAsked)
	if found == 0 {
		return fmt.Errorf("no sentence has an answer in %s", tree)
	}
	if err := measure("names, ranked", names, func(s string) error {
		_, err := ws.SearchCode(ctx, search.CodeQuery{Query: s, Limit: 10})
		return err
	}); err != nil {
		return err
	}
	if names, err = frequencies(tree); err != nil {
		return err
	}
	for _, way := range ways300() {
		found, third := 0, 0
		if err := measure(way.name, names, func(s string) error {
			r, err := ws.Symbols(ctx, search.SymbolQuery{Name: way.typed(s), Fuzzy: way.fuzzy})
			if err == nil && len(r.Symbols) > 0 {
				found++
			}
			if err == nil && slices.ContainsFunc(r.Symbols[:min(3, len(r.Symbols))], func(d search.Symbol) bool { return d.Name == s }) {
				third++
			}
			return err
		}); err != nil {
			return err
		}
		fmt.Printf("%19s %d of %d have an answer, %d the name among the first three\n", "", found, questionsAsked, third)
	}
	if err := outline(ctx, ws, tree); err != nil {
		return err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory taken from the system %d MB, heap %d MB\n", (m.Sys-m.HeapReleased)>>20, m.HeapAlloc>>20)
	return nil
}

// spelling is how a name is typed.
type spelling struct {
	name  string
	fuzzy bool
	typed func(string) string
}

// ways300 are exact names, and names misspelt at a random place. A name that has no
// separator is typed as it is where those are left out.
func ways300() []spelling {
	r := rand.New(rand.NewPCG(3, 9))
	at := func(s string, from int) int { return from + r.IntN(len(s)-from) }
	return []spelling{
		{"definitions", false, func(s string) string { return s }},
		{"similar names", true, func(s string) string { return s }},
		{"a letter missing", true, func(s string) string { i := at(s, 0); return s[:i] + s[i+1:] }},
		{"a letter doubled", true, func(s string) string { i := at(s, 0); return s[:i+1] + s[i:] }},
		{"letters swapped", true, func(s string) string { i := at(s, 1); return s[:i-1] + s[i:i+1] + s[i-1:i] + s[i+1:] }},
		{"no separators", true, func(s string) string { return strings.ReplaceAll(s, "_", "") }},
		{"another style", true, func(s string) string {
			if !strings.Contains(s, "_") {
				return strings.ToUpper(s[:1]) + s[1:]
			}
			var out strings.Builder
			for _, part := range strings.Split(s, "_") {
				if part != "" {
					out.WriteString(strings.ToUpper(part[:1]) + part[1:])
				}
			}
			return out.String()
		}},
	}
}

// outline times the outline of the folder that has nearest to 1,000 files, by the index
// and by reading them.
func outline(ctx context.Context, ws *quarry.Workspace, tree string) error {
	folders := map[string]int{}
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (filepath.Ext(p) == ".c" || filepath.Ext(p) == ".h") {
			for dir := filepath.Dir(p); len(dir) > len(tree); dir = filepath.Dir(dir) {
				folders[dir]++
			}
		}
		return err
	})
	if err != nil || len(folders) == 0 {
		return cmp.Or(err, errors.New("no folders to outline"))
	}
	off := func(dir string) int { return max(folders[dir]-1000, 1000-folders[dir]) }
	dir := slices.MinFunc(slices.Sorted(maps.Keys(folders)), func(a, b string) int { return off(a) - off(b) })
	rel, err := filepath.Rel(tree, dir)
	if err != nil {
		return err
	}
	scan, err := quarry.Open(tree, nil)
	if err != nil {
		return err
	}
	defer scan.Close()
	totals := map[int]bool{}
	for _, by := range []struct {
		name string
		ws   *quarry.Workspace
	}{{"by the index", ws}, {"by reading", scan}} {
		var used []time.Duration
		total := 0
		for range 9 {
			cpu := processorTime()
			r, err := by.ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Paths: []string{filepath.ToSlash(rel)}}, Limit: 100})
			if err != nil {
				return err
			}
			used, total = append(used, processorTime()-cpu), r.Total
		}
		slices.Sort(used)
		totals[total] = true
		fmt.Printf("outline of %s (%d files of C), %s: %d definitions, the first 100 shown; processor time: median %s, worst %s\n", filepath.ToSlash(rel), folders[dir],
			by.name, total, used[4].Round(100*time.Microsecond), used[8].Round(100*time.Microsecond))
	}
	if len(totals) != 1 {
		return errors.New("the index and the files have different numbers of definitions")
	}
	return nil
}

// frequencies are identifiers of the tree from the most frequent one to those that
// occur once: each is as much rarer than the one before as the others are.
func frequencies(tree string) ([]string, error) {
	counts, files := map[string]int{}, 0
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(p) != ".c" {
			return err
		}
		if files++; files%20 != 0 {
			return nil
		}
		text, err := os.ReadFile(p)
		for _, name := range definedFunction.FindAllSubmatch(text, -1) {
			counts[string(name[1])] += 0
		}
		for _, name := range identifier.FindAll(text, -1) {
			if _, ok := counts[string(name)]; ok {
				counts[string(name)]++
			}
		}
		return err
	})
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	if len(names) < questionsAsked {
		return nil, fmt.Errorf("%s has only %d functions in the sample: %w", tree, len(names), cmp.Or(err, errors.New("too few")))
	}
	var out []string
	for i := range questionsAsked {
		at := int(math.Pow(float64(len(names)), float64(i)/questionsAsked))
		out = append(out, names[min(max(at-1, i), len(names)-1)])
	}
	return out, err
}

var (
	definedFunction = regexp.MustCompile(`(?m)^[a-z][\w *]*?(\w{4,})\([^;]*$`)
	identifier      = regexp.MustCompile(`[A-Za-z_]\w{3,}`)
)

func measure(what string, questions []string, ask func(string) error) error {
	var times, used []time.Duration
	slowest, which := time.Duration(0), ""
	for i := range questionsAsked {
		q := questions[i*len(questions)/questionsAsked]
		started, cpu := time.Now(), processorTime()
		if err := ask(q); err != nil {
			return err
		}
		took := processorTime() - cpu
		times, used = append(times, time.Since(started)), append(used, took)
		if took > slowest {
			slowest, which = took, q
		}
	}
	slices.Sort(times)
	slices.Sort(used)
	n := len(times)
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	fmt.Printf("%-19s processor time: median %s, 95%% %s, worst %s (%s); by the clock: median %s, 95%% %s\n", what+":", round(used[n/2]),
		round(used[n*95/100]), round(slowest), which, round(times[n/2]), round(times[n*95/100]))
	return nil
}

var documentedFunction = regexp.MustCompile(`^ \* (\w+)\(\) - (.+)$`)

// documented lists the sentences and names of comments like
// "name() - what it does", as the Linux kernel has them.
func documented(tree string) (sentences, names []string, err error) {
	err = filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(p) != ".c" {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(text, []byte("() - ")) {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if m := documentedFunction.FindStringSubmatch(lines.Text()); m != nil && strings.Contains(strings.TrimSpace(m[2]), " ") {
				sentences, names = append(sentences, m[2]), append(names, m[1])
			}
		}
		return nil
	})
	return sentences, names, err
}
