package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/tool"
)

const clientGo = `package client

// retries is how often a request is tried.
const retries = 2

// Timeout of one try, in seconds.
const timeout = 30
`

// demoFolders makes a small project, and a folder for what undo needs.
func demoFolders() (dir, state string, remove func(), err error) {
	top, err := os.MkdirTemp("", "quarry-agent")
	if err != nil {
		return "", "", nil, err
	}
	dir, state = filepath.Join(top, "project"), filepath.Join(top, "state")
	remove = func() { os.RemoveAll(top) }
	err = errors.Join(
		os.MkdirAll(filepath.Join(dir, "client"), 0o755),
		os.Mkdir(state, 0o700),
		os.WriteFile(filepath.Join(dir, "client", "client.go"), []byte(clientGo), 0o644),
		os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Client\n\nIt tries a request twice: see retries.\n"), 0o644),
	)
	if err != nil {
		remove()
		return "", "", nil, err
	}
	return dir, state, remove, nil
}

// step is one turn of the scripted model: what it says and the call it makes,
// with the version it read last in place of VERSION. meanwhile happens before
// the call, by someone else's hand, and returns what to say about it.
type step struct {
	say       string
	name      string
	input     map[string]any
	meanwhile func() (string, error)
}

// scripted is a model that follows a script. It can do one thing of its own:
// remember the version of what it read.
func scripted(dir string, out io.Writer) Model {
	file := "client/client.go"
	edit := map[string]any{
		"path": file, "old_text": "retries = 2", "new_text": "retries = 5", "expected_version": "VERSION",
	}
	steps := []step{
		{say: "I look for where that is set.", name: "search_files", input: map[string]any{"regex": `\bretries\b`, "context_lines": 0}},
		{name: "read_file", input: map[string]any{"path": file}},
		{say: "I raise it.", name: "edit_file", input: edit, meanwhile: func() (string, error) {
			path := filepath.Join(dir, filepath.FromSlash(file))
			text := strings.Replace(clientGo, "timeout = 30", "timeout = 10", 1)
			return "someone sets the timeout to 10", os.WriteFile(path, []byte(text), 0o644)
		}},
		{say: "Nothing was overwritten. I read what is there now.", name: "read_file", input: map[string]any{"path": file}},
		{say: "My edit still makes sense.", name: "edit_file", input: edit},
		{say: "On second thought the request is not safe to repeat: I undo it.", name: "undo_change", input: map[string]any{}},
		{name: "file_search", input: map[string]any{"query": "const"}},
		{say: "The retries are as they were, and the person's timeout has stayed."},
	}
	next := 0
	return func(_ context.Context, tools []tool.Definition, history []Message) (Message, error) {
		if next == len(steps) {
			return Message{}, errors.New("the script is over")
		}
		s := steps[next]
		next++
		reply := Message{Role: "assistant", Text: s.say}
		if s.name == "" {
			return reply, nil
		}
		if !slices.ContainsFunc(tools, func(d tool.Definition) bool { return d.Name == s.name }) {
			return Message{}, fmt.Errorf("the script needs the tool %s, which there is not", s.name)
		}
		if s.meanwhile != nil {
			what, err := s.meanwhile()
			if err != nil {
				return Message{}, err
			}
			fmt.Fprintf(out, "(meanwhile %s)\n", what)
		}
		input, err := fill(s.input, history)
		if err != nil {
			return Message{}, err
		}
		reply.Calls = []Call{{ID: fmt.Sprintf("call-%d", next), Name: s.name, Input: input}}
		return reply, nil
	}
}

var versionInText = regexp.MustCompile(`version (\w+)`)

// fill makes the arguments of a call, with the version that was read last.
func fill(input map[string]any, history []Message) (json.RawMessage, error) {
	filled := map[string]any{}
	for k, v := range input {
		if v == "VERSION" {
			for _, m := range history {
				for _, r := range m.Results {
					if found := versionInText.FindStringSubmatch(r.Text); found != nil {
						v = found[1]
					}
				}
			}
		}
		filled[k] = v
	}
	return json.Marshal(filled)
}
