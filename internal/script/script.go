// Package script runs the scripts of look and change: Starlark, with functions
// that search, read and change files.
//
// It holds no file and opens none. Every function is asked of a server (Asker),
// which has the policy, the budgets and the journal; values come back, not text.
// A script is deterministic: no imports, no clock, no network. Steps and printed
// characters are bounded here; time, memory and processor by the process that
// runs it (package worker).
package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"quarry/fault"
)

// Job is a script and its bounds.
type Job struct {
	Script string `json:"script"`
	Change bool   `json:"change"` // the functions that change files are there
	Steps  uint64 `json:"steps"`  // of the interpreter
	Output int    `json:"output"` // bytes that may be printed
}

// Outcome is how a script ended.
type Outcome struct {
	Text  string `json:"text"`            // what it printed
	Cut   int    `json:"cut,omitempty"`   // bytes of it that are missing
	Error *Error `json:"error,omitempty"` // nothing may be changed then
}

// Error is what went wrong in a script, for its author.
type Error struct {
	Line    int    `json:"line,omitempty"`
	Source  string `json:"source,omitempty"` // that line
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Code    string `json:"code,omitempty"` // of the function that failed
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Asker answers a call of a function from a script. args is a JSON object with the
// arguments by name. If the error is an *Error, the script's author is told its text.
type Asker func(name string, args json.RawMessage) (json.RawMessage, error)

// Run runs a script.
func Run(job Job, ask Asker) Outcome {
	out := &output{limit: job.Output}
	r := &runner{job: job, ask: ask, out: out}
	err := r.run()
	return Outcome{Text: strings.TrimSuffix(out.text.String(), "\n"), Cut: out.cut, Error: err}
}

type runner struct {
	job  Job
	ask  Asker
	out  *output
	last *Error // of the last function that failed
}

// dialect is Starlark as models expect it: statements at the top, while and set.
// Steps are bounded, so a loop needs no other bound.
var dialect = &syntax.FileOptions{TopLevelControl: true, GlobalReassign: true, While: true, Set: true}

func (r *runner) run() *Error {
	thread := &starlark.Thread{Name: "script", Print: func(_ *starlark.Thread, msg string) { r.out.line(msg) }}
	thread.SetMaxExecutionSteps(r.job.Steps)
	_, err := starlark.ExecFileOptions(dialect, thread, "script", r.job.Script, r.names())
	if err == nil {
		return nil
	}
	return r.explain(err)
}

// names are the functions of a script.
func (r *runner) names() starlark.StringDict {
	names := starlark.StringDict{
		"show": starlark.NewBuiltin("show", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			for _, v := range args {
				r.out.line(shown(v))
			}
			return starlark.None, nil
		}),
		"print": starlark.NewBuiltin("print", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			sep := " "
			for _, kv := range kwargs {
				if s, ok := starlark.AsString(kv[1]); ok && kv[0] == starlark.String("sep") {
					sep = s
				}
			}
			parts := make([]string, len(args))
			for i, v := range args {
				parts[i] = plain(v)
			}
			r.out.line(strings.Join(parts, sep))
			return starlark.None, nil
		}),
		"help": starlark.NewBuiltin("help", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			name := ""
			if len(args) > 0 {
				name = strings.TrimSuffix(plain(args[0]), "()")
				if b, ok := args[0].(*starlark.Builtin); ok {
					name = b.Name()
				}
			}
			r.out.line(helpText(name, r.job.Change))
			return starlark.None, nil
		}),
	}
	for i := range Functions {
		f := &Functions[i]
		names[f.Name] = starlark.NewBuiltin(f.Name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return r.call(f, args, kwargs)
		})
	}
	return names
}

// call asks the server for a function.
func (r *runner) call(f *Function, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if f.Changes && !r.job.Change {
		return nil, r.fail(&Error{Message: f.Name + "() changes files and look does not", Hint: "Use the tool change for this script."})
	}
	given, err := f.bind(args, kwargs)
	if err != nil {
		return nil, r.fail(&Error{Message: err.Error(), Hint: f.signature()})
	}
	data, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	answer, err := r.ask(f.Name, data)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, r.fail(e)
		}
		return nil, err
	}
	return fromJSON(answer)
}

func (r *runner) fail(e *Error) error {
	r.last = e
	return e
}

// bind gives arguments their names.
func (f *Function) bind(args starlark.Tuple, kwargs []starlark.Tuple) (map[string]any, error) {
	given := map[string]any{}
	set := func(p *Param, v starlark.Value) error {
		if _, twice := given[p.Name]; twice {
			return fmt.Errorf("%s() got %s twice", f.Name, p.Name)
		}
		value, err := p.check(v)
		if err != nil {
			return fmt.Errorf("%s(): %s %w", f.Name, p.Name, err)
		}
		if value != nil || p.Kind == Any {
			given[p.Name] = value
		}
		return nil
	}
	if len(args) > len(f.Params) {
		return nil, fmt.Errorf("%s() takes at most %d arguments, not %d", f.Name, len(f.Params), len(args))
	}
	for i, v := range args {
		if err := set(&f.Params[i], v); err != nil {
			return nil, err
		}
	}
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		p := f.param(name)
		if p == nil {
			return nil, fmt.Errorf("%s() has no parameter %s%s", f.Name, name, nearest(name, f.paramNames()))
		}
		if err := set(p, kv[1]); err != nil {
			return nil, err
		}
	}
	for _, p := range f.Params {
		if _, ok := given[p.Name]; p.Required && !ok {
			return nil, fmt.Errorf("%s() needs %s", f.Name, p.Name)
		}
	}
	return given, nil
}

func (f *Function) param(name string) *Param {
	for i := range f.Params {
		if f.Params[i].Name == name {
			return &f.Params[i]
		}
	}
	for i := range f.Params {
		for _, also := range f.Params[i].Also {
			if also == name {
				return &f.Params[i]
			}
		}
	}
	return nil
}

func (f *Function) paramNames() []string {
	var names []string
	for _, p := range f.Params {
		names = append(names, p.Name)
	}
	return names
}

// check reads a value leniently, as arguments of tools are read.
func (p *Param) check(v starlark.Value) (any, error) {
	value, err := toJSON(v)
	if err != nil || value == nil || p.Kind == Any {
		return value, err
	}
	switch p.Kind {
	case Number:
		if b, ok := value.(bool); ok {
			return nil, fmt.Errorf("is a number, not %v", b)
		}
		if n, ok := value.(int64); ok {
			return n, nil
		}
	case Flag:
		if b, ok := value.(bool); ok {
			return b, nil
		}
	case Text:
		switch value := value.(type) {
		case string:
			return value, nil
		case []any: // several globs or paths
			for _, one := range value {
				if _, ok := one.(string); !ok {
					return nil, fmt.Errorf("is a text or a list of texts")
				}
			}
			return value, nil
		}
	}
	return nil, fmt.Errorf("is a %s, not a %s", [...]string{"text", "number", "flag", "value"}[p.Kind], v.Type())
}

// explain words an error of the interpreter, with the line it is about.
func (r *runner) explain(err error) *Error {
	e := &Error{Message: err.Error()}
	if s, ok := errors.AsType[syntax.Error](err); ok {
		e.Line, e.Message = int(s.Pos.Line), s.Msg
	}
	if list, ok := errors.AsType[resolve.ErrorList](err); ok && len(list) > 0 {
		e.Line, e.Message = int(list[0].Pos.Line), list[0].Msg
	}
	if ev, ok := errors.AsType[*starlark.EvalError](err); ok {
		e.Message = ev.Msg
		for i := len(ev.CallStack) - 1; i >= 0; i-- { // the innermost place in the script
			if pos := ev.CallStack[i].Pos; pos.Filename() == "script" {
				e.Line = int(pos.Line)
				break
			}
		}
		if cause, ok := errors.AsType[*Error](err); ok && cause == r.last {
			e.Message, e.Hint, e.Code = cause.Message, cause.Hint, cause.Code
		}
	}
	if strings.Contains(e.Message, "too many steps") {
		// A loop that calls nothing has no line of its own in the interpreter's table.
		e.Line, e.Message, e.Hint = 0, fmt.Sprintf("the script took more than %d steps", r.job.Steps), "Let the functions do the work: a narrower search instead of a loop over all lines."
	}
	if lines := strings.Split(r.job.Script, "\n"); e.Line > 0 && e.Line <= len(lines) {
		e.Source = strings.TrimSpace(fault.Clip(lines[e.Line-1], 200))
	}
	if e.Hint == "" {
		e.Hint = habit(e)
	}
	return e
}
