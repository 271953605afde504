package quarry_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quarry"
)

// A folder to show the examples on.
func exampleDir() string {
	dir, err := os.MkdirTemp("", "quarry-example")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{
		"main.go":   "package main\n\n// TODO: greet\nfunc main() {}\n",
		"readme.md": "# Greeter\n\nTODO: write\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

func ExampleWorkspace_Search() {
	dir := exampleDir()
	defer os.RemoveAll(dir)

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	res, err := ws.Search(context.Background(), quarry.Query{Pattern: `TODO: \w+`})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Files {
		for _, line := range f.Lines {
			fmt.Printf("%s:%d: %s\n", f.Path, line.Number, line.Text)
		}
	}
	// Output:
	// main.go:3: // TODO: greet
	// readme.md:3: TODO: write
}
