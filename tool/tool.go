// Package tool describes tools that a language model can call, and calls them.
//
// It has no transport. A Tool has a name, a description and a schema. It takes JSON arguments,
// which are decoded leniently and validated once, and returns a Result. A program that talks to a
// model passes [Tool.Definition] to the model, and the model's calls to [Registry.Call]; the MCP
// server does the same.
//
// Once made, a Tool and a Registry must not be modified. They are safe for concurrent use.
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

// Tool is a function that a model can call.
type Tool struct {
	Name        string
	Title       string // for people
	Description string // for models: its effect and when to use it
	Params      []Param

	// OutputSchema is the JSON schema of Result.Structured; nil if a Result has none. Results that
	// are errors have another schema, ErrorSchema.
	OutputSchema json.RawMessage

	Hints Hints

	// Run does the work. If it returns an *Error, the call's result is an error with its code; for
	// any other error the code is IO_ERROR.
	Run func(ctx context.Context, args Args) (*Result, error)

	// ErrorText returns the text of an error result, which must begin with "Error: ". If it is nil,
	// the text is the error's message, with its hint on a separate line. badArguments is set if Run
	// was not called because the arguments are invalid.
	ErrorText func(e *Error, badArguments bool) string
}

// Hints tell a client which effects a call may have. Clients rely on them.
type Hints struct {
	ReadOnly    bool // doesn't change anything
	Destructive bool // may overwrite or remove something
	Idempotent  bool // repeating a call has no further effect
}

// Result is the result of a call.
type Result struct {
	// Text is the complete result as text, for the model.
	Text string
	// Structured is the same result, including all texts, as a value that marshals to JSON; nil if
	// there is none. So a client that reads only Text or only Structured misses nothing.
	Structured any
	// Images are the result's images, which Structured contains too.
	Images []Image
	// IsError is set if the call failed; Text then begins with "Error: ".
	IsError bool
	// Code is the error code of a failed call; otherwise "".
	Code fault.Code
}

// Image is an image for the model.
type Image struct {
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data"` // base64 in JSON
}

// Error is an error that a model can respond to.
type Error struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`        // the problem
	Hint    string     `json:"hint,omitempty"` // the next step
}

func (e *Error) Error() string { return e.Message }

// Text returns the text of an error result: "Error: " and the message, then the hint on a separate
// line.
func (e *Error) Text() string {
	if e.Hint == "" {
		return "Error: " + e.Message
	}
	return "Error: " + e.Message + "\n" + e.Hint
}

// ErrorSchema is the JSON schema of Result.Structured for errors.
const ErrorSchema = `{"type":"object","properties":{"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},"required":["code","message"]}},"required":["error"]}`

// Errorf returns an Error without a hint.
func Errorf(code fault.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errorResult converts an error into a result for the model.
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

// maxErrorLine limits the bytes in one line of an error. Many errors quote an argument, which may
// be longer than any answer should be.
const maxErrorLine = 2000

// cutLines removes the middle of lines that are too long.
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

// Execute calls the tool with JSON arguments. It always returns a Result; invalid arguments, errors
// and panics become error results.
func (t *Tool) Execute(ctx context.Context, raw json.RawMessage) *Result {
	return t.execute(ctx, raw, nil)
}

func (t *Tool) execute(ctx context.Context, raw json.RawMessage, panicked func(string, any, []byte)) (res *Result) {
	defer func() {
		if p := recover(); p != nil {
			if panicked != nil {
				stack := debug.Stack()
				if other, ok := p.(interface{ Stack() []byte }); ok { // panic of another goroutine that worked for this call
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

// Definition describes a tool in the format of model APIs.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Definition returns what a model has to know to call the tool.
func (t *Tool) Definition() Definition {
	return Definition{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema()}
}

// Registry is a set of tools with distinct names, in a fixed order.
type Registry struct {
	// Panicked, if set, is called when a tool panics, with the value and stack of the panic, so
	// that it can be logged. The caller of the tool gets an error result. Panicked must be set
	// before the first call.
	Panicked func(tool string, value any, stack []byte)
	// Also, if set, returns a line that is appended to the answer of any tool; "" appends nothing.
	// It must be set before the first call.
	Also func(ctx context.Context) string

	tools  []*Tool
	byName map[string]*Tool
}

// NewRegistry returns a registry of tools. It refuses duplicate names and tools without a name or a
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

// Tools returns the tools in their order.
func (r *Registry) Tools() []*Tool { return slices.Clone(r.tools) }

// Lookup returns the tool called name, or nil.
func (r *Registry) Lookup(name string) *Tool { return r.byName[name] }

// ErrUnknown is the error for a call to an unknown tool. Call returns all other failures as
// results.
var ErrUnknown = errors.New("unknown tool")

// UnknownError wraps ErrUnknown. Name is the unknown name; Near is the most similar name of a tool,
// or "".
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

// Call calls the tool with the given name.
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
