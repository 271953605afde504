// Package hook answers hooks of agents' clients, which run before and after tool calls and at the
// start of a session.
//
// A hook must never disturb its client. On any failure (an unknown event, bad JSON, a panic, an
// owner that does not answer) it writes nothing and exits successfully, because clients treat exit
// code 2 as a refusal.
package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/check"
	"quarry/internal/cli/env"
	"quarry/internal/config"
	"quarry/internal/patch"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// Events maps the accepted names of events, including the clients' own names, to events.
var Events = map[string]string{
	"before-tool": "", "after-tool": "", "session-start": "",
	"PreToolUse": "before-tool", "BeforeTool": "before-tool", "PostToolUse": "after-tool", "AfterTool": "after-tool", "SessionStart": "session-start",
}

const (
	maxInput = 16 << 20
	maxTime  = time.Second           // limit for a whole hook
	markTime = 40 * time.Millisecond // limit for the owner's answer
)

// Answer answers the hook for an event.
func Answer(args []string, s env.Streams) {
	answers := make(chan []byte, 1)
	go func() {
		var out []byte
		defer func() {
			if recover() != nil {
				out = nil
			}
			answers <- out
		}()
		out = answer(args, s)
	}()
	select {
	case out := <-answers:
		s.Out.Write(out) // if the client has closed the pipe, it does not want the answer
	case <-time.After(maxTime):
	}
}

// event is a hook's input. Codex, Claude Code and Gemini CLI use the same format.
type event struct {
	Session  string          `json:"session_id"`
	Turn     string          `json:"turn_id"` // only from Codex
	Cwd      string          `json:"cwd"`
	Name     string          `json:"hook_event_name"`
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	ID       string          `json:"tool_use_id"`

	root string
}

// answer is a variable so that a test can plant a panic.
var answer = func(args []string, s env.Streams) []byte {
	kind := args[0]
	if other, known := Events[kind]; !known {
		return nil
	} else if other != "" {
		kind = other
	}
	data, err := io.ReadAll(io.LimitReader(s.In, maxInput+1))
	var e event
	if err != nil || len(data) > maxInput || json.Unmarshal(data, &e) != nil || !filepath.IsAbs(e.Cwd) {
		return nil
	}
	if e.root, err = env.RealPath(config.FindRoot(e.Cwd)); err != nil {
		return nil
	}
	var said string
	switch kind {
	case "session-start":
		said = e.welcome(slices.Contains(args, "--start"))
	case "before-tool":
		if strings.Contains(e.Tool, "quarry") {
			tellPlace(s.Env(), e.root)
		}
		e.mark(false)
	case "after-tool":
		lines := e.broken(s)
		if marked := e.mark(true); marked != nil {
			for _, b := range marked.Broken {
				if line := b.String(); !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		said = strings.Join(lines, "\n")
	}
	if said == "" {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": e.Name, "additionalContext": said}}) != nil {
		return nil
	}
	return out.Bytes()
}

// welcome returns the three lines of text for a new session. If start is set and no recording
// process is running, it starts one.
func (e *event) welcome(start bool) string {
	const intro = `Quarry is installed here: as tools of an MCP server if you have them, and at the shell as quarry.
It is best at ranked search (quarry rank WORDS), definitions and uses (quarry refs NAME), renames (quarry rename) and changes of many files at once.
`
	if marked := e.send(change.Mark{End: true}); marked != nil && marked.Recording || start && e.serve() == nil {
		return intro + "What any program changes here is recorded: quarry log lists it, quarry undo undoes it, quarry undo --to goes back to a point."
	}
	return intro + "Every change made with it can be undone: quarry undo. No process records what other programs change at the moment; quarry serve --record does."
}

// serve starts the recording process, detached from the client.
func (e *event) serve() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "serve", "--quiet", "--root", e.root)
	detach(cmd)
	if err = cmd.Start(); err == nil {
		err = cmd.Process.Release()
	}
	return err
}

// client identifies the client by fields that only it sends.
func (e *event) client() string {
	switch {
	case e.Turn != "":
		return "codex"
	case strings.HasPrefix(e.Name, "Before") || strings.HasPrefix(e.Name, "After"):
		return "gemini"
	}
	return "claude-code"
}

// input decodes those fields of a tool's input that concern changed files or commands.
func (e *event) input() (in struct {
	FilePath     string `json:"file_path"`
	NotebookPath string `json:"notebook_path"`
	Command      string `json:"command"`
}) {
	if json.Unmarshal(e.Input, &in) != nil {
		in.Command = "" // a command of another type than string
	}
	in.FilePath = cmp.Or(in.FilePath, in.NotebookPath)
	return in
}

var (
	fileTools  = []string{"Edit", "Write", "MultiEdit", "NotebookEdit", "replace", "write_file", "apply_patch"}
	shellTools = []string{"Bash", "run_shell_command", "PowerShell"}
)

// mark tells the index owner that a tool starts or has ended. It returns nil if the owner does not
// answer in time.
func (e *event) mark(end bool) *change.Marked {
	in := e.input()
	m := change.Mark{End: end, ID: e.ID, Client: change.Client{Name: e.client(), Session: e.Session}, Tool: e.Tool}
	switch {
	case slices.Contains(shellTools, e.Tool) && in.Command != "":
		m.Command = in.Command
	case slices.Contains(fileTools, e.Tool):
		if m.Paths = e.paths(); len(m.Paths) == 0 {
			return nil
		}
	default:
		return nil
	}
	return e.send(m)
}

// send sends a mark to the index owner. It returns nil if the owner does not answer in time.
func (e *event) send(m change.Mark) *change.Marked {
	place, err := env.IndexPlace(e.root)
	if err != nil || !env.Exists(place.Socket) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), markTime)
	defer cancel()
	answers := make(chan *change.Marked, 1)
	go func() {
		defer func() { _ = recover() }() // a panic counts as no answer
		if marked, err := quarry.SendMark(ctx, place, m); err == nil {
			answers <- marked
		}
	}()
	select {
	case marked := <-answers:
		return marked
	case <-ctx.Done():
		return nil
	}
}

// paths returns the files named in a tool's input.
func (e *event) paths() (list []string) {
	in := e.input()
	if in.FilePath != "" {
		return []string{in.FilePath}
	}
	ops, err := patch.Parse(in.Command, -1)
	if err != nil {
		return nil
	}
	for _, op := range ops {
		list = append(list, e.absolute(op.Path))
		if op.To != "" {
			list = append(list, e.absolute(op.To))
		}
	}
	return list
}

func (e *event) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Cwd, filepath.FromSlash(name))
}

// broken returns a line for each file that no longer parses after the tool's change.
func (e *event) broken(s env.Streams) (lines []string) {
	if !slices.Contains(fileTools, e.Tool) {
		return nil
	}
	ws, err := e.open(s)
	if err != nil {
		return nil
	}
	defer ws.Close()
	for _, f := range e.changed() {
		name, inside := ws.Inside(f.path)
		if !inside {
			continue
		}
		after, err := ws.ReadBytes(context.Background(), name, check.MaxSize)
		if err != nil {
			continue
		}
		doc, err := textfile.New(after)
		if err != nil {
			continue
		}
		if line, problem := check.Broken(name, f.before(doc), doc.Text()); problem != "" {
			lines = append(lines, change.Broken{Path: name, Line: line, Problem: problem}.String())
		}
	}
	return lines
}

// open opens the workspace with the view that agents have.
func (e *event) open(s env.Streams) (*quarry.Workspace, error) {
	file, err := config.Load(s.Env())
	if err != nil {
		return nil, err
	}
	deny, err := file.Get(s.Env(), e.root, "mcp.deny")
	if err != nil {
		return nil, err
	}
	return quarry.Open(e.root, &quarry.Options{ReadOnly: true, Deny: deny.List})
}

// changedFile is a file that a tool changed. before returns the file's previous content, which may
// be derived from its new content.
type changedFile struct {
	path   string
	before func(after *textfile.Document) []byte
}

// changed returns the changed files whose previous content is known. Claude Code and Gemini CLI
// send that content. Codex sends the patch, which is reversed.
func (e *event) changed() (list []changedFile) {
	in := e.input()
	if in.FilePath != "" {
		var r struct {
			Original string `json:"originalFile"`
			Display  struct {
				Original string `json:"originalContent"`
			} `json:"returnDisplay"`
		}
		if json.Unmarshal(e.Response, &r) != nil {
			return nil
		}
		old := []byte(r.Original + r.Display.Original) // only one client's field is set
		return []changedFile{{e.absolute(in.FilePath), func(*textfile.Document) []byte { return old }}}
	}
	ops, err := patch.Parse(turned(in.Command), -1)
	if err != nil {
		return nil
	}
	for _, op := range ops {
		if op.Verb != change.EditFile {
			continue
		}
		list = append(list, changedFile{e.absolute(op.Path), func(after *textfile.Document) []byte {
			if back, err := textedit.Apply(after, op.Edits...); err == nil {
				return back.Bytes()
			}
			return nil
		}})
	}
	return list
}

// turned reverses a patch by exchanging its added and removed lines.
func turned(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "+"):
			lines[i] = "-" + l[1:]
		case strings.HasPrefix(l, "-"):
			lines[i] = "+" + l[1:]
		}
	}
	return strings.Join(lines, "\n")
}
