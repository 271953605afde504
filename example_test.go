package quarry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/search"
)

// exampleDir makes a folder for an example and another for undo data. Programs should use permanent
// folders.
func exampleDir(files map[string]string) (dir, state string, remove func()) {
	top, err := os.MkdirTemp("", "quarry-example")
	if err != nil {
		log.Fatal(err)
	}
	dir, state = filepath.Join(top, "project"), filepath.Join(top, "state")
	err = errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(state, 0o700))
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	if err != nil {
		log.Fatal(err)
	}
	return dir, state, func() { os.RemoveAll(top) }
}

var greeter = map[string]string{
	"main.go":        "package main\n\n// TODO: greet\nfunc main() {}\n",
	"readme.md":      "# Greeter\n\nTODO: write\n",
	"build/main.go":  "// TODO: generated\n",
	".gitignore":     "build/\n",
	"docs/design.md": "# Design\n\nA greeting is polite.\n",
}

func ExampleWorkspace_Search() {
	dir, _, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	res, err := ws.Search(context.Background(), search.Query{Pattern: `TODO: \w+`})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Files {
		for _, line := range f.Lines {
			fmt.Printf("%s:%d: %s\n", f.Path, line.Number, line.Text)
		}
	}
	fmt.Println("complete:", res.Stopped == "", "ignored:", res.SkippedCount[search.Ignored])
	// Output:
	// main.go:3: // TODO: greet
	// readme.md:3: TODO: write
	// complete: true ignored: 1
}

// A workspace for searching needs only a folder; changing files also needs a folder for
// undo data.
func ExampleOpen() {
	dir, state, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state, Deny: []string{"docs/**"}})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	_, err = ws.Read(context.Background(), "docs/design.md", nil)
	fmt.Println(err)
	// Output:
	// resolve docs/design.md: protected: design.md
}

func ExampleWorkspace_Read() {
	dir, _, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	text, err := ws.Read(context.Background(), "main.go", &search.ReadOptions{Start: 3, MaxLines: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("line %d of %d: %s\n", text.First, text.Total, text.Lines[0])
	fmt.Println(text.Encoding, text.Ending, "more:", text.Cut)
	// Output:
	// line 3 of 4: // TODO: greet
	// utf-8 lf more: true
}

// EachText counts something in every file, using all processors.
func ExampleWorkspace_EachText() {
	dir, _, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	sum, err := ws.EachText(context.Background(), search.TextQuery{}, func(_ string, text []byte) any {
		return bytes.Count(text, []byte("\n"))
	}, func(path string, lines any) {
		fmt.Println(path, lines)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("complete:", sum.Exact)
	// Output:
	// docs/design.md 3
	// main.go 4
	// readme.md 3
	// complete: true
}

// Rank pieces of code and text by relevance to some words.
func ExampleWorkspace_SearchCode() {
	dir, _, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	res, err := ws.SearchCode(context.Background(), search.CodeQuery{Query: "polite"})
	if err != nil {
		log.Fatal(err)
	}
	best := res.Chunks[0]
	fmt.Printf("%s:%d-%d\n%s\n", best.Path, best.StartLine, best.EndLine, best.Text)
	// Output:
	// docs/design.md:1-3
	// # Design
	//
	// A greeting is polite.
}

func ExampleWorkspace_Find() {
	dir, _, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	found, err := ws.Find(context.Background(), search.FindQuery{
		Scope: search.Scope{Globs: []string{"*.{go,md}"}},
		Stat:  true,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range found.Entries {
		fmt.Println(e.Path, e.Size)
	}
	// Output:
	// docs/design.md 32
	// main.go 44
	// readme.md 23
}

// Join makes one workspace of several folders; paths begin with the folder's name.
func ExampleJoin() {
	app, _, removeApp := exampleDir(map[string]string{"main.go": "package main // TODO: app\n"})
	defer removeApp()
	lib, _, removeLib := exampleDir(map[string]string{"lib.go": "package lib // TODO: lib\n"})
	defer removeLib()

	var roots []quarry.Root
	for name, dir := range map[string]string{"app": app, "lib": lib} {
		ws, err := quarry.Open(dir, nil)
		if err != nil {
			log.Fatal(err)
		}
		roots = append(roots, quarry.Root{Name: name, Workspace: ws})
	}
	slices.SortFunc(roots, func(a, b quarry.Root) int { return strings.Compare(a.Name, b.Name) })
	both, err := quarry.Join(roots...)
	if err != nil {
		log.Fatal(err)
	}
	defer both.Close() // also closes the roots
	res, err := both.Search(context.Background(), search.Query{Pattern: "TODO"})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Files {
		fmt.Println(f.Path)
	}
	// Output:
	// app/main.go
	// lib/lib.go
}

// An index makes searches fast and never changes their results.
func ExampleWorkspace_Index() {
	dir, state, remove := exampleDir(greeter)
	defer remove()

	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: state}})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	ctx := context.Background()
	if err := ws.Index().Wait(ctx); err != nil { // until it is built
		log.Fatal(err)
	}
	status, err := ws.Index().Status(ctx)
	if err != nil {
		log.Fatal(err)
	}
	res, err := ws.Search(ctx, search.Query{Pattern: "TODO"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Files, "files indexed")
	fmt.Println(len(res.Files), "match")
	// Output:
	// 5 files indexed
	// 2 match
}
