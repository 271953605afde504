package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
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
	found := 0
	err = measure("names, definitions", names, func(s string) error {
		r, err := ws.Symbols(ctx, search.SymbolQuery{Name: s})
		if err == nil && len(r.Symbols) > 0 {
			found++
		}
		return err
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%d of %d names have a definition; memory taken from the system %d MB\n", found, questionsAsked, (m.Sys-m.HeapReleased)>>20)
	return err
}

func measure(what string, questions []string, ask func(string) error) error {
	var times []time.Duration
	slowest, which := time.Duration(0), ""
	cpu := processorTime()
	for i := range questionsAsked {
		q := questions[i*len(questions)/questionsAsked]
		started := time.Now()
		if err := ask(q); err != nil {
			return err
		}
		took := time.Since(started)
		times = append(times, took)
		if took > slowest {
			slowest, which = took, q
		}
	}
	cpu = processorTime() - cpu
	slices.Sort(times)
	n := len(times)
	fmt.Printf("%-19s median %s, 95%% %s, worst %s (%s); processor time %s each\n", what+":", times[n/2].Round(100*time.Microsecond),
		times[n*95/100].Round(100*time.Microsecond), slowest.Round(time.Millisecond), which, (cpu / time.Duration(n)).Round(100*time.Microsecond))
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
