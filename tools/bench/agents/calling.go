package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// call runs a tool call of an agent in the arms quarry and hooks. The arguments are RUN TASK TOOL with the
// tool's arguments on standard input, or RUN TASK with several calls there.
func (t trial) call(args []string, in io.Reader, out io.Writer) error {
	r, err := t.open(args[0])
	if err != nil {
		return err
	}
	if r.Arm != "quarry" && r.Arm != "hooks" {
		return fmt.Errorf("run %s is of the arm %s", r.Name, r.Arm)
	}
	if err := r.has(args[1]); err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	e := entry{Start: time.Now(), Task: args[1]}
	calls, bad := parseCalls(args[2:], text)
	switch {
	case bad != nil: // a client would tell its model that it can't send the call
		e.Calls = []logged{{Tool: "invalid", Arguments: string(text), Sent: len(text), Text: bad.Error(), Received: len(bad.Error()), Failed: true}}
	default:
		answers, err := t.ask(r, request{Task: args[1], Calls: calls})
		if err != nil {
			return err
		}
		for i, c := range calls {
			a := answers.Results[i]
			e.Calls = append(e.Calls, logged{Tool: c.Tool, Arguments: string(c.Arguments), Sent: len(c.Tool) + len(c.Arguments), Received: len(a.Text), Failed: a.Failed, Millis: a.Millis, Text: a.Text})
		}
	}
	e.End = time.Now()
	if err := r.append(e); err != nil {
		return err
	}
	for i, c := range e.Calls {
		if len(e.Calls) > 1 {
			fmt.Fprintf(out, "=== %d %s\n", i+1, c.Tool)
		}
		fmt.Fprintln(out, c.Text)
	}
	return nil
}

// escapeControls escapes tabs and line ends in JSON strings. A client does that for its model, but
// here the model writes the JSON itself.
func escapeControls(text []byte) []byte {
	out := make([]byte, 0, len(text))
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			inString = !inString
		case inString && c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
			continue
		}
		out = append(out, c)
	}
	return out
}

// parseCalls parses the arguments of one tool, or a sequence of calls.
func parseCalls(tool []string, text []byte) ([]toolCall, error) {
	text = escapeControls(text)
	if len(tool) == 1 {
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte("{}")
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			return nil, fmt.Errorf("invalid JSON: %w", err)
		}
		return []toolCall{{Tool: tool[0], Arguments: compact.Bytes()}}, nil
	}
	var calls []toolCall
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var c toolCall
		err := d.Decode(&c)
		switch {
		case errors.Is(err, io.EOF) && len(calls) > 0:
			return calls, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New(`no call: write {"tool": "NAME", "arguments": {…}} for each`)
		case err != nil:
			return nil, fmt.Errorf("invalid JSON in call %d: %w", len(calls)+1, err)
		case c.Tool == "":
			return nil, fmt.Errorf(`call %d has no "tool"`, len(calls)+1)
		}
		if len(c.Arguments) == 0 {
			c.Arguments = json.RawMessage("{}")
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, c.Arguments); err != nil {
			return nil, err
		}
		c.Arguments = compact.Bytes()
		calls = append(calls, c)
	}
}

// shellCut is the length to which clients cut the output of a shell (Claude Code's Bash: 30,000).
const shellCut = 30_000

// shell runs a command of an agent in all arms but quarry.
func (t trial) shell(run, task string, in io.Reader, out io.Writer) error {
	r, err := t.open(run)
	if err != nil {
		return err
	}
	if r.Arm == "quarry" {
		return fmt.Errorf("run %s is of the arm %s", r.Name, r.Arm)
	}
	if err := r.has(task); err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	e := entry{Start: time.Now(), Task: task}
	answer, failed, err := t.hooked(r, task, string(text))
	if err != nil {
		return err
	}
	e.End = time.Now()
	e.Calls = []logged{{Tool: "sh", Arguments: string(text), Sent: len(text), Received: len(answer), Failed: failed, Millis: e.End.Sub(e.Start).Milliseconds(), Text: answer}}
	if err := r.append(e); err != nil {
		return err
	}
	fmt.Fprintln(out, answer)
	return nil
}

// hooked runs a command. In the arm hooks, it also runs the program's hooks before and after it, as
// a client does, and adds what they say.
func (t trial) hooked(r *runRecord, task, text string) (answer string, failed bool, err error) {
	tree, env := r.tree(task), os.Environ()
	if r.Program != "" {
		env = r.environment()
	}
	if r.Arm == "skill" {
		env = append(env, "PATH="+filepath.Dir(r.Program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if r.Arm != "hooks" {
		answer, failed = runShell(tree, text, env)
		return answer, failed, nil
	}
	if _, err := t.ask(r, request{Task: task}); err != nil { // a client starts its server first
		return "", false, err
	}
	if tree, err = filepath.EvalSymlinks(tree); err != nil {
		return "", false, err
	}
	hook := func(event, name string) (string, error) {
		in, err := json.Marshal(map[string]any{"session_id": r.Name, "cwd": tree, "hook_event_name": name, "tool_name": "Bash", "tool_input": map[string]string{"command": text}, "tool_response": map[string]string{"stdout": answer}})
		if err != nil {
			return "", err
		}
		c := exec.Command(r.Program, "hook", event)
		c.Dir, c.Env, c.Stdin = tree, env, bytes.NewReader(in)
		out, err := c.Output()
		if err != nil || len(out) == 0 {
			return "", err
		}
		var said struct {
			HookSpecificOutput struct{ AdditionalContext string }
		}
		err = json.Unmarshal(out, &said)
		return said.HookSpecificOutput.AdditionalContext, err
	}
	before, err := hook("before-tool", "PreToolUse")
	if err != nil {
		return "", false, err
	}
	answer, failed = runShell(tree, text, env)
	after, err := hook("after-tool", "PostToolUse")
	for _, said := range []string{before, after} {
		if said != "" {
			answer += "\n" + said
		}
	}
	return answer, failed, err
}

func runShell(tree, text string, env []string) (answer string, failed bool) {
	c := exec.Command("bash", "-c", text)
	c.Dir, c.Env = tree, env
	data, err := c.CombinedOutput()
	answer = string(bytes.TrimSuffix(data, []byte("\n")))
	if len(answer) > shellCut {
		answer = answer[:shellCut] + fmt.Sprintf("\n[cut: %d of %d characters]", shellCut, len(answer))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return answer, exit.ExitCode() > 1 // rg also uses 1 for no matches
	}
	if err != nil {
		return err.Error(), true
	}
	return answer, false
}

func (r *runRecord) has(task string) error {
	k, err := readKind(r.Kind)
	if err != nil {
		return err
	}
	_, err = k.task(task)
	return err
}

// answer stores an answer or remark of the agent. It does not count as a turn.
func (t trial) answer(run, task string, in io.Reader, out io.Writer) error {
	r, err := t.open(run)
	if err != nil {
		return err
	}
	if task != "words" {
		if err := r.has(task); err != nil {
			return err
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "answers"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, "answers", task+".txt"), text, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, "noted")
	return nil
}
