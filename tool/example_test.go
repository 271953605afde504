package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/tool"
)

// A program that talks to a model passes the definitions to the model, and the model's calls
// to the registry.
func Example() {
	greet := &tool.Tool{
		Name:        "greet",
		Description: "Greets someone by name.",
		Params:      []tool.Param{{Name: "name", Kind: tool.String, Required: true, Description: "Whom to greet"}},
		Hints:       tool.Hints{ReadOnly: true},
		Run: func(_ context.Context, args tool.Args) (*tool.Result, error) {
			return &tool.Result{Text: "Hello, " + args.String("name") + "!"}, nil
		},
	}
	registry, err := tool.NewRegistry(greet)
	if err != nil {
		panic(err)
	}
	for _, t := range registry.Tools() {
		definition, _ := json.Marshal(t.Definition())
		fmt.Println(string(definition))
	}
	// The model answers with a call.
	result, err := registry.Call(context.Background(), "greet", json.RawMessage(`{"name": "Ada"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text)
	// Output:
	// {"name":"greet","description":"Greets someone by name.","input_schema":{"type":"object","properties":{"name":{"type":"string","description":"Whom to greet"}},"required":["name"]}}
	// Hello, Ada!
}
