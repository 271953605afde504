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
	if err := measure("sentences", sentences, func(s string) error {
		r, err := ws.SearchCode(ctx, search.CodeQuery{Query: s, Limit: 10})
		if err == nil && !r.Stats.Plan.Indexed() {
			err = fmt.Errorf("%q was not answered by the index: %s", s, r.Stats.Plan.Kind)
		}
		return err
	}); err != nil {
		return err
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
	for _, way := range []struct {
		name  string
		fuzzy bool
		typed func(string) string
	}{
		{"definitions", false, func(s string) string { return s }},
		{"similar names", true, func(s string) string { return s }},
		{"a letter missing", true, func(s string) string { return s[:len(s)/2] + s[len(s)/2+1:] }},
		{"letters swapped", true, func(s string) string {
			at := len(s) / 2
			return s[:at-1] + s[at:at+1] + s[at-1:at] + s[at+1:]
		}},
	} {
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
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory taken from the system %d MB, heap %d MB\n", (m.Sys-m.HeapReleased)>>20, m.HeapAlloc>>20)
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
