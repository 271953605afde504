package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// prompt is a task that a person starts by name.
type prompt struct {
	name, title, description string
	args                     []promptArg
	text                     func(args map[string]string) string
}

type promptArg struct {
	name, description string
	required          bool
}

func (p *prompt) definition() *mcp.Prompt {
	d := &mcp.Prompt{Name: p.name, Title: p.title, Description: p.description}
	for _, a := range p.args {
		d.Arguments = append(d.Arguments, &mcp.PromptArgument{Name: a.name, Description: a.description, Required: a.required})
	}
	return d
}

func (p *prompt) get(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	for _, a := range p.args {
		if a.required && strings.TrimSpace(req.Params.Arguments[a.name]) == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s needs the argument %s", p.name, a.name)}
		}
	}
	return &mcp.GetPromptResult{
		Description: p.description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: p.text(req.Params.Arguments)}}},
	}, nil
}

// promptsFor returns the prompts that the tools at hand can carry out.
func promptsFor(tools *tool.Registry) []*prompt {
	var list []*prompt
	if search := present(tools, "search_code", "search_files", "file_search", "search_notes", "search_by_path"); len(search) > 0 {
		list = append(list, investigate(search, present(tools, "read_file")))
	}
	if tools.Lookup("list_changes") != nil && tools.Lookup("undo_change") != nil {
		list = append(list, reviewChanges())
	}
	return list
}

func present(tools *tool.Registry, names ...string) []string {
	var have []string
	for _, n := range names {
		if tools.Lookup(n) != nil {
			have = append(have, n)
		}
	}
	return have
}

// purposes say when to use a search tool.
var purposes = map[string]string{
	"search_code":    "search_code ranks passages by words when you don't know the exact text",
	"search_files":   "search_files finds every line that matches a pattern",
	"file_search":    "file_search finds every line that has a text",
	"search_notes":   "search_notes finds notes that have all the words",
	"search_by_path": "search_by_path finds files by their path",
}

func investigate(search, read []string) *prompt {
	return &prompt{
		name: "investigate", title: "Answer a question about the workspace",
		description: "Search the workspace for the answer to a question, and answer with the places that show it.",
		args: []promptArg{
			{"question", "What you want to know.", true},
			{"path", "Look only below this folder or in this file.", false},
		},
		text: func(args map[string]string) string {
			var b strings.Builder
			fmt.Fprintf(&b, "Answer this question about the workspace: %s\n\n", strings.TrimSpace(args["question"]))
			if p := strings.TrimSpace(args["path"]); p != "" {
				fmt.Fprintf(&b, "Look only in %s.\n\n", p)
			}
			b.WriteString("Search before you answer:\n")
			for _, name := range search {
				fmt.Fprintf(&b, "- %s.\n", purposes[name])
			}
			if len(read) > 0 {
				b.WriteString("Then read the lines around the best hits with read_file.\n")
			}
			b.WriteString("\nTry at least two different searches before you conclude that something isn't there. " +
				"Give the answer first, then the evidence as path:line, and say what you could not find out. Change nothing.")
			return b.String()
		},
	}
}

func reviewChanges() *prompt {
	return &prompt{
		name: "review_changes", title: "Review what was changed",
		description: "List the changes made through this server, explain them, and offer to take some back.",
		text: func(map[string]string) string {
			return "Call list_changes. For each change say in one line what it did and why it may have been made; " +
				"group those that belong together. Point out any that look unintended. " +
				"Then ask me which to undo, and use undo_change only for the ones I name."
		},
	}
}
