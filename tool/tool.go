// Package tool describes tools that a language model can call, and calls them.
//
// It has no transport. A Tool has a name, a description and a schema; it takes JSON
// arguments, decoded leniently and validated once, and returns a Result. A program that talks
// to a model passes [Tool.Definition] to the model and the model's calls to [Registry.Call];
// the MCP server does the same.
//
// A Tool and a Registry are immutable once made and safe for concurrent use.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"quarry/fault"
)

// Tool is something a model can call.
type Tool struct {
	Name        string
	Title       string // for people
	Description string // for models: its effect, and when to use it
	Params      []Param

	// OutputSchema is the JSON schema of Result.Structured, nil if there is none. It does
	// not cover the structure of errors.
	OutputSchema json.RawMessage

	Hints Hints

	// Run does the work. An *Error becomes an error result with its code; any other error
	// one with the code IO_ERROR.
	Run func(ctx context.Context, args Args) (*Result, error)

	// ErrorText words an error; nil means its message, and its hint on a separate line.
	// badArguments says that Run was not called, because the arguments are invalid. The text
	// must begin with "Error: ".
	ErrorText func(e *Error, badArguments bool) string
}

// Hints tell a client the possible effects of a call. They must be true.
type Hints struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may overwrite or remove something
	Idempotent  bool // repeating a call has no further effect
}

// Result is the answer to a call.
type Result struct {
	// Text is the whole answer for the model.
	Text string
	// Structured is the same answer as a value that marshals to JSON, with all of its texts,
	// or nil. A reader of only one of the two misses nothing.
	Structured any
	// Images are pictures of the answer; Structured contains them too.
	Images []Image
	// IsError says that the call failed; Text then begins with "Error: ".
	IsError bool
	// Code is the code of a failed call, otherwise "".
	Code fault.Code
}

// Image is a picture for the model to look at.
type Image struct {
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data"` // base64 in JSON
}

// Error is an error that a model can act on.
type Error struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`        // the problem
	Hint    string     `json:"hint,omitempty"` // the next step
}

func (e *Error) Error() string { return e.Message }

// Text returns the error as a result: "Error: " and the message, then the hint on a separate
// line.
func (e *Error) Text() string {
	if e.Hint == "" {
		return "Error: " + e.Message
	}
	return "Error: " + e.Message + "\n" + e.Hint
}

// ErrorSchema is the JSON schema of an error result's structure.
const ErrorSchema = `{"type":"object","properties":{"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},"required":["code","message"]}},"required":["error"]}`

// Errorf makes an Error without a hint.
func Errorf(code fault.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errorResult words an error for the model.
func (t *Tool) errorResult(err error, badArguments bool) *Result {
	var e *Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.DeadlineExceeded):
		e = &Error{Code: fault.Timeout, Message: "the call took too long", Hint: "Narrow the path or the pattern and try again."}
	case errors.Is(err, context.Canceled):
		e = &Error{Code: fault.Timeout, Message: "the call was cancelled"}
	default:
		e = &Error{Code: fault.CodeOf(err), Message: err.Error(), Hint: fault.HintOf(err)}
	}
	e = &Error{Code: e.Code, Message: cutLines(e.Message), Hint: cutLines(e.Hint)}
	word := t.ErrorText
	if word == nil {
		word = func(e *Error, _ bool) string { return e.Text() }
	}
	return &Result{Text: word(e, badArguments), Structured: map[string]*Error{"error": e}, IsError: true, Code: e.Code}
}

// maxErrorLine limits a line of an error, in bytes. Many errors quote an argument, which may
// be longer than a whole answer.
const maxErrorLine = 2000

// cutLines shortens the middle of lines that are too long.
func cutLines(text string) string {
	if len(text) <= maxErrorLine {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if len(l) > maxErrorLine {
			const tail = 300
			end := len(l) - tail
			lines[i] = fmt.Sprintf("%s… [%d bytes cut] …%s", strings.ToValidUTF8(l[:maxErrorLine-tail], ""), end-(maxErrorLine-tail), strings.ToValidUTF8(l[end:], ""))
		}
	}
	return strings.Join(lines, "\n")
}

// Execute calls the tool with JSON arguments. It always returns a Result: an invalid argument,
// an error and a panic become error results.
func (t *Tool) Execute(ctx context.Context, raw json.RawMessage) *Result {
	return t.execute(ctx, raw, nil)
}

func (t *Tool) execute(ctx context.Context, raw json.RawMessage, panicked func(string, any, []byte)) (res *Result) {
	defer func() {
		if p := recover(); p != nil {
			if panicked != nil {
				stack := debug.Stack()
				if other, ok := p.(interface{ Stack() []byte }); ok { // of a goroutine that worked for this call
					stack = other.Stack()
				}
				panicked(t.Name, p, stack)
			}
			res = t.errorResult(&Error{
				Code: fault.IOError, Message: fmt.Sprintf("%s failed unexpectedly: %v", t.Name, p),
				Hint: "This is a bug of the tool. Other calls are not affected.",
			}, false)
		}
	}()
	args, err := t.decode(raw)
	if err != nil {
		return t.errorResult(err, true)
	}
	res, runErr := t.Run(ctx, args)
	if runErr != nil {
		return t.errorResult(runErr, false)
	}
	if res == nil {
		res = &Result{}
	}
	return res
}

// Definition is a tool in the form of model APIs.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Definition returns the data a model needs to call the tool.
func (t *Tool) Definition() Definition {
	return Definition{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema()}
}

// Registry is a set of tools with distinct names, in a fixed order.
type Registry struct {
	// Panicked, if set before the first call, is called with a tool's panic and its stack,
	// for logging. The tool's caller gets an error result.
	Panicked func(tool string, value any, stack []byte)
	// Also, if set before the first call, returns a line to append to the answer of any
	// tool; "" appends nothing.
	Also func(ctx context.Context) string

	tools  []*Tool
	byName map[string]*Tool
}

// NewRegistry makes a registry. It refuses duplicate names, and tools without a name or a
// Run.
func NewRegistry(tools ...*Tool) (*Registry, error) {
	r := &Registry{byName: make(map[string]*Tool, len(tools))}
	for _, t := range tools {
		if t == nil || t.Name == "" || t.Run == nil {
			return nil, errors.New("a tool has no name or does nothing")
		}
		if r.byName[t.Name] != nil {
			return nil, fmt.Errorf("two tools are called %s", t.Name)
		}
		r.byName[t.Name] = t
		r.tools = append(r.tools, t)
	}
	return r, nil
}

// Tools lists the tools.
func (r *Registry) Tools() []*Tool { return slices.Clone(r.tools) }

// Lookup returns the tool with a name, or nil.
func (r *Registry) Lookup(name string) *Tool { return r.byName[name] }

// ErrUnknown reports a call to an unknown tool. It is the only failure that Call returns as an
// error rather than a result.
var ErrUnknown = errors.New("unknown tool")

// UnknownError is ErrUnknown with the called name and the nearest existing one, "" if none is
// near.
type UnknownError struct{ Name, Near string }

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("%v %q", ErrUnknown, e.Name)
	if e.Near != "" {
		s += "; did you mean " + e.Near + "?"
	}
	return s
}

// Unwrap returns ErrUnknown.
func (e *UnknownError) Unwrap() error { return ErrUnknown }

// Call calls a tool by name.
func (r *Registry) Call(ctx context.Context, name string, args json.RawMessage) (*Result, error) {
	t := r.byName[name]
	if t == nil {
		names := make([]string, len(r.tools))
		for i, t := range r.tools {
			names[i] = t.Name
		}
		if near := nearest(name, names); near != "" {
			return nil, &UnknownError{Name: name, Near: near}
		}
		return nil, &UnknownError{Name: name}
	}
	res := t.execute(ctx, args, r.Panicked)
	if r.Also != nil {
		if line := r.Also(ctx); line != "" {
			also := *res
			also.Text = strings.TrimSuffix(res.Text, "\n") + "\n\n[" + line + "]"
			res = &also
		}
	}
	return res, nil
}
