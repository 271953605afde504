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

// questionsAsked is the number of sentences, and of names, used to measure latency.
const questionsAsked = 300

// latency measures the time of ranked searches and symbol lookups in one tree with an index. It
// searches for the first sentences of comments on functions, and for the functions' names. dir is
// the folder of the index; "" means a temporary folder. only selects "sentences", "names" or
// "outline"; "" means all.
func latency(tree, dir, only string, misses bool) error {
	functions, err := documented(tree)
	if err != nil {
		return err
	}
	if len(functions) < questionsAsked {
		return fmt.Errorf("%s has only %d documented functions, %d are needed", tree, len(functions), questionsAsked)
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
	heap := func(when string) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Printf("%s: memory taken from the system %d MB, heap %.1f MB\n", when, (m.Sys-m.HeapReleased)>>20, float64(m.HeapAlloc)/(1<<20))
	}
	if only == "" || only == "sentences" {
		if err := sentences(ctx, ws, functions); err != nil {
			return err
		}
	}
	functions = nil
	heap("the owner of the index after the first questions")
	if only == "" || only == "names" {
		if err := spellings(ctx, ws, tree, misses); err != nil {
			return err
		}
	}
	if only == "" || only == "outline" {
		if err := outline(ctx, ws, tree); err != nil {
			return err
		}
	}
	heap("after all questions")
	return nil
}

// sentences searches for functions by the first sentence of their documentation and by their names.
func sentences(ctx context.Context, ws *quarry.Workspace, functions []function) error {
	var found, first, ten int
	if err := measure("sentences", functions, func(f function) string { return f.sentence }, func(s string, f function) error {
		r, err := ws.SearchCode(ctx, search.CodeQuery{Query: s, Limit: 10})
		if err == nil && !r.Stats.Plan.Indexed() {
			err = fmt.Errorf("%q was not answered by the index: %s", s, r.Stats.Plan.Kind)
		}
		if err != nil {
			return err
		}
		if len(r.Chunks) > 0 {
			found++
		}
		switch at := slices.IndexFunc(r.Chunks, func(c search.Chunk) bool { return c.Path == f.path }); {
		case at == 0:
			first++
			ten++
		case at > 0:
			ten++
		}
		return nil
	}); err != nil {
		return err
	}
	fmt.Printf("%19s %d of %d have an answer, %d the file first, %d among ten\n", "", found, questionsAsked, first, ten)
	if found == 0 {
		return errors.New("no sentence has an answer")
	}
	return measure("names, ranked", functions, func(f function) string { return f.name }, func(s string, _ function) error {
		_, err := ws.SearchCode(ctx, search.CodeQuery{Query: s, Limit: 10})
		return err
	})
}

// spellings looks up names, both exact and misspelt.
func spellings(ctx context.Context, ws *quarry.Workspace, tree string, misses bool) error {
	names, err := frequencies(tree, func(name string) (bool, error) {
		r, err := ws.Symbols(ctx, search.SymbolQuery{Name: name, Limit: 1})
		return err == nil && r.Total > 0, err
	})
	if err != nil {
		return err
	}
	for _, way := range ways300() {
		found, third := 0, 0
		if err := measure(way.name, names, way.typed, func(typed, name string) error {
			r, err := ws.Symbols(ctx, search.SymbolQuery{Name: typed, Fuzzy: way.fuzzy})
			if err != nil {
				return err
			}
			if len(r.Symbols) > 0 {
				found++
			}
			if slices.ContainsFunc(r.Symbols[:min(3, len(r.Symbols))], func(d search.Symbol) bool { return d.Name == name }) {
				third++
			} else if misses {
				var got []string
				for _, d := range r.Symbols[:min(3, len(r.Symbols))] {
					got = append(got, fmt.Sprintf("%s (%s)", d.Name, d.Kind))
				}
				fmt.Printf("  %s for %s gives %s\n", typed, name, strings.Join(got, ", "))
			}
			return nil
		}); err != nil {
			return err
		}
		fmt.Printf("%19s %d of %d have an answer, %d the name among the first three\n", "", found, questionsAsked, third)
	}
	return nil
}

// spelling is one way to type a name.
type spelling struct {
	name  string
	fuzzy bool
	typed func(string) string
}

// ways300 returns the spellings: exact, and misspelt at a random position. The spelling without
// separators leaves some names unchanged.
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

// outline measures the outline of a folder, with the index and by reading the files. It uses the
// folder whose number of files is closest to 1,000.
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

// frequencies returns identifiers of the tree, from the most frequent to those that occur once, at
// equal ratios of frequency. It excludes identifiers that look like function names but are not
// defined.
func frequencies(tree string, defined func(name string) (bool, error)) ([]string, error) {
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
	for next := 0; len(out) < questionsAsked && err == nil; {
		at := int(math.Pow(float64(len(names)), float64(len(out))/questionsAsked))
		if next = max(at-1, next); next >= len(names) {
			return nil, fmt.Errorf("%s has only %d functions in the sample", tree, len(out))
		}
		var ok bool
		if ok, err = defined(names[next]); ok {
			out = append(out, names[next])
		}
		next++
	}
	return out, err
}

var (
	definedFunction = regexp.MustCompile(`(?m)^[a-z][\w *]*?(\w{4,})\([^;]*$`)
	identifier      = regexp.MustCompile(`[A-Za-z_]\w{3,}`)
)

// measure asks questions about a sample of list and prints the times.
func measure[T any](what string, list []T, question func(T) string, ask func(string, T) error) error {
	var times, used []time.Duration
	slowest, which := time.Duration(0), ""
	for i := range questionsAsked {
		of := list[i*len(list)/questionsAsked]
		q := question(of)
		started, cpu := time.Now(), processorTime()
		if err := ask(q, of); err != nil {
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

// function is a function with the first sentence of its comment.
type function struct{ path, name, sentence string }

// documented returns the functions whose comments have the Linux kernel's form "name() -
// description".
func documented(tree string) (out []function, err error) {
	err = filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(p) != ".c" {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(text, []byte("() - ")) {
			return err
		}
		rel, err := filepath.Rel(tree, p)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if m := documentedFunction.FindStringSubmatch(lines.Text()); m != nil && strings.Contains(strings.TrimSpace(m[2]), " ") {
				out = append(out, function{filepath.ToSlash(rel), m[1], m[2]})
			}
		}
		return nil
	})
	return out, err
}
