package search_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"quarry"
	"quarry/match"
	"quarry/search"
)

// The search covers some files only, uses JavaScript's syntax, ignores case, and returns
// the positions of matches.
func ExampleQuery() {
	dir, err := os.MkdirTemp("", "quarry-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	if err := os.CopyFS(dir, fstest.MapFS{
		"main.go":        {Data: []byte("package main // a greeting\n")},
		"docs/design.md": {Data: []byte("# Design\n\nA greeting is polite.\n")},
	}); err != nil {
		log.Fatal(err)
	}

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	q := search.Query{
		Pattern: `(?<=a )greet\w+`,
		Match:   match.Options{Syntax: match.ECMAScript, Case: match.Insensitive},
		Scope:   search.Scope{Globs: []string{"*.md"}},
		Spans:   true,
		Limits:  search.Limits{Lines: 100},
	}
	res, err := ws.Search(context.Background(), q)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Files {
		line := f.Lines[0]
		for _, s := range line.Spans {
			fmt.Printf("%s:%d: %s\n", f.Path, line.Number, line.Text[s.Start:s.End])
		}
	}
	// Output:
	// docs/design.md:3: greeting
}
