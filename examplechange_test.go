package quarry_test

import (
	"context"
	"fmt"
	"log"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/search"
)

// Search, edit at the matches unless the file was changed since, and undo that.
func Example() {
	dir, state, remove := exampleDir(greeter)
	defer remove()
	ctx := context.Background()

	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	found, err := ws.Search(ctx, search.Query{Pattern: `TODO: (\w+)`, Spans: true, Versions: true})
	if err != nil {
		log.Fatal(err)
	}
	var set change.Set // all edits, or none
	for _, f := range found.Files {
		op := change.Op{Verb: change.EditFile, Path: f.Path, Version: f.Version}
		for _, line := range f.Lines {
			for _, s := range line.Spans {
				at := int(line.Offset) + line.CutBefore
				op.Edits = append(op.Edits, change.Edit{Verb: change.ReplaceSpan, Start: at + s.Start, End: at + s.End, New: "Done"})
			}
		}
		set.Ops = append(set.Ops, op)
	}
	done, err := ws.Apply(ctx, set)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Summary)
	if _, err := ws.Undo(ctx, done.ID, nil); err != nil {
		log.Fatal(err)
	}
	again, err := ws.Search(ctx, search.Query{Pattern: "TODO"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(again.Files), "files have it again")
	// Output:
	// changed 2 files
	// 2 files have it again
}

// An edit is based on the version that was read, so it can't overwrite others' work, and
// it can be undone.
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

	// The version has changed: the same edit is refused.
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

// A set changes several files at once. Its plan shows the effect; applying the plan by its
// digest does exactly that, or nothing.
func ExampleWorkspace_Apply() {
	dir, state, remove := exampleDir(greeter)
	defer remove()
	ctx := context.Background()

	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	plan, err := ws.Plan(ctx, change.Set{Ops: []change.Op{
		{Verb: change.EditFile, Path: "main.go", Edits: []change.Edit{{Old: "// TODO: greet\n", New: ""}}},
		{Verb: change.MovePath, Path: "readme.md", To: "docs/readme.md"},
		{Verb: change.CreateFile, Path: "greet.go", Content: []byte("package main\n")},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range plan.Files {
		fmt.Println(f.Did, f.Path)
	}
	done, err := ws.Apply(ctx, change.Set{Digest: plan.Digest})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Summary)
	// Output:
	// edit main.go
	// move readme.md
	// create greet.go
	// changed 3 files
}

// Undo without an id undoes the last change. An undo is also a change, so it can be
// undone.
func ExampleWorkspace_Undo() {
	dir, state, remove := exampleDir(greeter)
	defer remove()
	ctx := context.Background()

	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	if _, err := ws.Delete(ctx, "docs", &change.DeleteOptions{Trash: change.TrashNone}); err != nil {
		log.Fatal(err)
	}
	undone, err := ws.Undo(ctx, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	text, err := ws.Read(ctx, "docs/design.md", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text.Lines[0])
	if _, err := ws.Undo(ctx, undone.ID, nil); err != nil {
		log.Fatal(err)
	}
	_, err = ws.Read(ctx, "docs/design.md", nil)
	fmt.Println(fault.CodeOf(err))
	// Output:
	// # Design
	// NOT_FOUND
}

// In an Obsidian vault links to a moved note are updated in the same change.
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

// A value of a configuration file is changed by its path; all other bytes stay the same.
func ExampleWorkspace_Edit_value() {
	dir, state, remove := exampleDir(map[string]string{
		"ci.yml": "# nightly\njobs:\n  build:\n    runs-on: ubuntu # cheap\n    steps: [checkout]\n",
	})
	defer remove()
	ctx := context.Background()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	_, err = ws.Edit(ctx, "ci.yml", []change.Edit{
		{Verb: change.SetValue, At: "jobs.build.runs-on", New: `"macos"`},
		{Verb: change.SetValue, At: "jobs.build.steps[+]", New: `"test"`},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	after, err := ws.Read(ctx, "ci.yml", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range after.Lines {
		fmt.Println(line)
	}
	// Output:
	// # nightly
	// jobs:
	//   build:
	//     runs-on: macos # cheap
	//     steps: [checkout, test]
}
