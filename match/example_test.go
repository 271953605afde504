package match_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"quarry/match"
)

func ExampleCompile() {
	p := match.MustCompile(`func (\w+)\(`, match.Options{})
	m := p.NewMatcher()
	text := []byte("package x\nfunc Open(dir string) {\nfunc Close() {\n")
	m.Lines(text, func(start, end int) bool {
		fmt.Printf("%s\n", text[start:end])
		return true
	})
	// Output:
	// func Open(dir string) {
	// func Close() {
}

func ExampleMatcher_Find() {
	p := match.MustCompile("straße", match.Options{Syntax: match.Literal, Case: match.Insensitive})
	text := []byte("Lange STRAßE, kurze straße")
	m := p.NewMatcher()
	for from := 0; ; {
		start, end, ok := m.Find(text, from)
		if !ok {
			break
		}
		fmt.Println(start, string(text[start:end]))
		from = end
	}
	// Output:
	// 6 STRAßE
	// 21 straße
}

func ExampleMatcher_Captures() {
	p := match.MustCompile(`(?<year>\d{4})-(?<month>\d\d)`, match.Options{})
	line := []byte("released 2026-11")
	slots, ok := p.NewMatcher().Captures(line, 0, nil)
	if !ok {
		return
	}
	for i, name := range p.GroupNames() {
		fmt.Printf("%d %q %s\n", i, name, line[slots[2*i]:slots[2*i+1]])
	}
	// Output:
	// 0 "" 2026-11
	// 1 "year" 2026
	// 2 "month" 11
}

func ExampleOptions_javaScript() {
	p := match.MustCompile(`(?<=TODO\()\w+(?=\))`, match.Options{Syntax: match.ECMAScript})
	line := []byte("// TODO(anna): rename")
	start, end, _ := p.NewMatcher().Find(line, 0)
	fmt.Printf("%s\n", line[start:end])
	// Output: anna
}

func ExampleError() {
	_, err := match.Compile(`(?<=foo)bar`, match.Options{})
	var e *match.Error
	if errors.As(err, &e) {
		fmt.Println(e.Offset, e.Reason)
		fmt.Println(e.Hint)
	}
	// Output:
	// 0 look-around isn't supported in Rust syntax
	// Use the JavaScript syntax for this pattern, or search without the look-around and filter.
}

func ExamplePattern_Need() {
	p := match.MustCompile(`foo\w*bar|baz`, match.Options{})
	need := p.Need()
	fmt.Println(need.Op == match.NeedEither, need.Subs[0].Op == match.NeedAll)
	fmt.Println(need.Subs[0].Subs[0].Texts[0].Text, need.Subs[0].Subs[1].Texts[0].Text, need.Subs[1].Texts[0].Text)
	// Output:
	// true true
	// foo bar baz
}

// Matchers of one search run in parallel and stop together.
func ExampleSearch() {
	p := match.MustCompile("needle", match.Options{})
	search := p.NewSearch()
	defer search.StopWith(context.Background())()
	texts := [][]byte{[]byte("hay\n"), []byte("a needle\n"), []byte("needle\nneedle\n")}
	counts := make([]int, len(texts))
	var wg sync.WaitGroup
	for i, text := range texts {
		wg.Go(func() {
			search.NewMatcher().Lines(text, func(int, int) bool { counts[i]++; return true })
		})
	}
	wg.Wait()
	fmt.Println(counts)
	// Output: [0 1 2]
}
