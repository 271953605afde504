package quarry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/match"
	"quarry/search"
)

// exampleDir makes a folder to show the examples on, and one for what undo
// needs. A program would take folders that last.
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

// Some files only, in JavaScript's syntax, in any case, with where the matches
// are.
func ExampleQuery() {
	dir, _, remove := exampleDir(greeter)
	defer remove()

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

// An edit rests on the version that was read, so nobody's work is overwritten,
// and it can be undone.
func ExampleWorkspace_Edit() {
	dir, state, remove := exampleDir(greeter)
	defer remove()
	ctx := context.Background()

	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	text, err := ws.Read(ctx, "readme.md", nil)
	if err != nil {
		log.Fatal(err)
	}
	done, err := ws.Edit(ctx, "readme.md", []change.Edit{
		{Old: "TODO: write", New: "It greets."},
		{Verb: change.InsertAfter, First: 1, New: "\nFor the polite."},
	}, &change.Options{ExpectedVersion: text.Version})
	if err != nil {
		log.Fatal(err)
	}
	after, err := ws.Read(ctx, "readme.md", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", after.Lines)

	// The version is another one now: the same edit is refused.
	_, err = ws.Edit(ctx, "readme.md", []change.Edit{
		{Old: "greets", New: "waves"},
	}, &change.Options{ExpectedVersion: text.Version})
	fmt.Println(fault.CodeOf(err))

	if _, err := ws.Undo(ctx, done.ID, nil); err != nil {
		log.Fatal(err)
	}
	again, err := ws.Read(ctx, "readme.md", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("as it was:", again.Version == text.Version)
	// Output:
	// ["# Greeter" "" "For the polite." "" "It greets."]
	// CONFLICT
	// as it was: true
}

// In an Obsidian vault the links follow a note, in the same change.
func ExampleWorkspace_Move() {
	dir, state, remove := exampleDir(map[string]string{
		".obsidian/app.json": "{}",
		"Inbox/Idea.md":      "# Idea\n",
		"Index.md":           "Read [[Inbox/Idea|the idea]] and [it again](Inbox/Idea.md).\n",
	})
	defer remove()
	ctx := context.Background()

	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	change, err := ws.Move(ctx, "Inbox/Idea.md", "Projects/Greeter.md", &change.MoveOptions{Links: change.LinksUpdate})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(change.Links.Updated, "links in", change.Links.Files)
	index, err := ws.Read(ctx, "Index.md", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(index.Lines[0])
	// Output:
	// 2 links in [Index.md]
	// Read [[Projects/Greeter|the idea]] and [it again](Projects/Greeter.md).
}

// A path can't leave the folder, and some of its files are closed.
func ExampleCodeOf() {
	dir, _, remove := exampleDir(map[string]string{".env": "TOKEN=secret\n"})
	defer remove()

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	for _, path := range []string{"../state", ".env", "missing.txt"} {
		_, err := ws.Read(context.Background(), path, nil)
		fmt.Println(fault.CodeOf(err))
	}
	// Output:
	// OUTSIDE_ROOT
	// PROTECTED_PATH
	// NOT_FOUND
}

// Join makes one workspace of several folders; each has its name in paths.
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
	defer both.Close() // and with it the roots
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

// An index makes searches fast and never changes their answer.
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
