package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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

// Register the tools with a server of the official MCP SDK.
func Example_mcp() {
	ws, err := quarry.Open(".", &quarry.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	tools, err := toolset.New(ws, &toolset.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	for _, t := range tools.Tools() {
		server.AddTool(&mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.Hints.ReadOnly, DestructiveHint: &t.Hints.Destructive, IdempotentHint: t.Hints.Idempotent},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res := t.Execute(ctx, req.Params.Arguments)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Text}}, IsError: res.IsError}, nil
		})
	}

	// A client calls one.
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, here, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, there, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	res, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "search_by_path", Arguments: map[string]any{"pattern": "toolset.go"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	// Output:
	// {
	//   "matches": [
	//     "toolset.go"
	//   ],
	//   "totalMatches": 1
	// }
	// [all paths shown]
}
