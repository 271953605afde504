package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quarry"
	"quarry/toolset"
)

// Pass the tools to a model in the form of model APIs, and execute its calls.
func Example() {
	dir, err := os.MkdirTemp("", "quarry-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	ws, err := quarry.Open(dir, &quarry.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	tools, err := toolset.New(ws, &toolset.Options{Tools: []string{"file_search", "get_file_info"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tools.Tools() {
		fmt.Println(t.Name)
	}
	definition, err := json.Marshal(tools.Lookup("get_file_info").Definition())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(definition))

	// The model has requested a call.
	result, err := tools.Call(context.Background(), "file_search", json.RawMessage(`{"query": "MAIN()"}`))
	if err != nil {
		log.Fatal(err) // unknown tool
	}
	fmt.Println(result.IsError)
	fmt.Println(result.Text)
	// Output:
	// file_search
	// get_file_info
	// {"name":"get_file_info","description":"Size and dates of a file or folder.","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"File or folder"}},"required":["path"]}}
	// false
	// Found 1 match for "MAIN()":
	//
	// - `main.go:3`: func main() {}
	// [all matches shown]
}

// An omitted tool can't be called, and the error isn't the model's.
func ExampleOptions_readOnly() {
	tools, err := toolset.New(nil, &toolset.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = tools.Call(context.Background(), "delete_file", json.RawMessage(`{"path": "main.go"}`))
	fmt.Println(err)
	// Output:
	// unknown tool "delete_file"
}
