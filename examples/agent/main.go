// Command agent is a small agent loop around the tools of Quarry.
//
// The model is a script, so the example needs no network and prints the same
// transcript each time. The script looks for a text, edits the file it is in, gets a
// conflict because the file has changed meanwhile, reads it again, edits it, and
// undoes the change. To talk to a real model, write a function of type Model that sends the definitions and
// the history to its API.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"quarry"
	"quarry/tool"
	"quarry/toolset"
)

// Message is one turn: text, calls of tools, or their results.
type Message struct {
	Role    string
	Text    string
	Calls   []Call
	Results []Result
}

// Call is a model's wish to have a tool called.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// Result is the answer to a Call.
type Result struct {
	CallID  string
	Text    string
	IsError bool
}

// Model gives the next turn. It is told all that was said.
type Model func(ctx context.Context, tools []tool.Definition, history []Message) (Message, error)

// maxTurns ends a conversation that goes nowhere.
const maxTurns = 50

// Run works on a task until the model calls no more tools.
func Run(ctx context.Context, out io.Writer, tools *tool.Registry, model Model, task string) error {
	var definitions []tool.Definition
	for _, t := range tools.Tools() {
		definitions = append(definitions, t.Definition())
	}
	history := []Message{{Role: "user", Text: task}}
	fmt.Fprintf(out, "user: %s\n", task)
	for range maxTurns {
		reply, err := model(ctx, definitions, history)
		if err != nil {
			return err
		}
		history = append(history, reply)
		if reply.Text != "" {
			fmt.Fprintf(out, "model: %s\n", reply.Text)
		}
		if len(reply.Calls) == 0 {
			return nil
		}
		answer := Message{Role: "user"}
		for _, c := range reply.Calls {
			fmt.Fprintf(out, "\n→ %s %s\n", c.Name, c.Input)
			r := call(ctx, tools, c)
			fmt.Fprintf(out, "%s\n\n", r.Text)
			answer.Results = append(answer.Results, r)
		}
		history = append(history, answer)
	}
	return fmt.Errorf("no end after %d turns", maxTurns)
}

// call makes one call. Whatever goes wrong is told to the model, which can do
// something about it: a bad argument, a conflict, even a tool that isn't there.
func call(ctx context.Context, tools *tool.Registry, c Call) Result {
	r, err := tools.Call(ctx, c.Name, c.Input)
	if err != nil {
		return Result{CallID: c.ID, Text: "Error: " + err.Error(), IsError: true}
	}
	return Result{CallID: c.ID, Text: r.Text, IsError: r.IsError}
}

func main() {
	log.SetFlags(0)
	if err := demo(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// demo runs the script on a folder that is made for it.
func demo(ctx context.Context, out io.Writer) error {
	dir, state, remove, err := demoFolders()
	if err != nil {
		return err
	}
	defer remove()
	// The state folder keeps what undo needs. A program for people would take
	// one below os.UserConfigDir, and keep it.
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		return err
	}
	defer ws.Close()
	tools, err := toolset.New(ws, nil)
	if err != nil {
		return err
	}
	return Run(ctx, out, tools, scripted(dir, out), "Clients give up too early. Let them try five times.")
}
