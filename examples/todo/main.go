// Command todo lists the TODOs of a folder.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"quarry"
	"quarry/search"
)

func main() {
	ws, err := quarry.Open(os.Args[1], nil) // nothing outside this folder
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	res, err := ws.Search(context.Background(), search.Query{Pattern: `\bTODO\b`})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Files {
		for _, l := range f.Lines {
			fmt.Printf("%s:%d: %s\n", f.Path, l.Number, l.Text)
		}
	}
	fmt.Println(res.SkippedCount) // what was not searched, and why
}
