package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/internal/script"
	"quarry/internal/script/host"
	"quarry/tool"
)

// maxScript bounds the text of a script.
const maxScript = 128 << 10

// lookSpec and changeSpec are the tools that run scripts. A registry has them only
// if it was given a worker.
func lookSpec() spec {
	return spec{
		name: "look", title: "Look with a script",
		about: `Answer several questions in one call with a Starlark script (Python's look; no imports, no f-strings, no try). Only what it prints comes back. Functions give values; show(x) prints any of them tersely, definitions in full.
search(regex, path=, glob=, exclude=, literal=, ignore_case=, multiline=, limit=1000) → hits: .path .line .text .symbol (the definition around)
definition("Store.Open") → .path .start .end .text .others; symbols(name or path=, kind=) → definitions; references(name), callers(name, path=, exclude="*_test.go") → uses in code: .path .line .text .symbol .test
rank("words", k=10) → relevant pieces; files("*.go", path=) → paths; exists(path); read(path, start, end, symbol=) → text; lines(…) → numbered lines; findall(regex, text); value("ci.yml", "jobs.build.steps[2].run") of JSON, YAML, TOML, ini
Notes: links(path), backlinks(path), tags(path), tagged(tag), properties(path)
help("search") says more. Example: for h in search("Deprecated", glob="*.go"): show(definition(h.symbol))`,
		params: []tool.Param{need(str("script", "Starlark"))},
		action: action{anySchema, readOnly, runLook},
	}
}

func changeSpec() spec {
	return spec{
		name: "change", title: "Change with a script",
		about: `Change any number of files with a Starlark script, as one change that is made whole or not at all: an error changes nothing. Has look's functions, which see what the script changed before, and
replace(path, old, new, count=1, within="Store.Open"): the text must occur exactly count times; sub(regex, new, path=, glob=, count=) in all files, $1 is a group; insert(path, text, after=line); set_value(path, at, value, delete=); rename(name, new, doubtful=); write(path, text); move(path, to); delete(path)
Notes: add_tag(path, tag), set_property(path, name, value), rename_heading(path, old, new)
Shows the changed lines. Example: for u in references("OldName"): …; sub(r"\bOldName\b", "NewName", glob="*.go")`,
		params: []tool.Param{need(str("script", "Starlark")), paramDryRun},
		action: action{setSchema, tool.Hints{Destructive: true}, runChange},
	}
}

// runScript runs the script of a call and says what went wrong in it.
func (c *call) runScript(ctx context.Context, changes bool) (*host.Host, script.Outcome, error) {
	text := c.String("script")
	if strings.TrimSpace(text) == "" {
		return nil, script.Outcome{}, &tool.Error{Code: fault.InvalidArgument, Message: "The script is empty", Hint: `help() prints the functions.`}
	}
	if len(text) > maxScript {
		return nil, script.Outcome{}, &tool.Error{Code: fault.TooLarge, Message: fmt.Sprintf("The script has %s, more than %s", render.Size(int64(len(text))), render.Size(maxScript)), Hint: "Write large texts with " + c.writer() + "."}
	}
	h := host.New(c.ws, changes)
	out, err := c.scripts.Run(ctx, text, changes, func(ctx context.Context, name string, args json.RawMessage) (any, error) {
		value, err := h.Answer(ctx, name, args)
		return value, c.scriptProblem(ctx, err)
	})
	if err == nil && out.Error != nil {
		err = out.Error
	}
	if err != nil {
		return nil, out, c.scriptError(err, out)
	}
	return h, out, nil
}

// writer is the tool that writes whole files.
func (c *call) writer() string {
	if slices.Contains(c.names, "write_file") {
		return "write_file"
	}
	return "apply_changes"
}

// scriptProblem words an error of a function for the script's author.
func (c *call) scriptProblem(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*script.Error](err); ok {
		return e
	}
	var worded *tool.Error
	if errors.As(c.problem(ctx, err), &worded) {
		return &script.Error{Message: worded.Message, Hint: worded.Hint, Code: string(worded.Code)}
	}
	return err
}

// scriptError words how a script failed: what, in which line, what to do, and what
// it had printed.
func (c *call) scriptError(err error, out script.Outcome) error {
	e, ok := errors.AsType[*script.Error](err)
	if !ok {
		return err
	}
	message := e.Message
	if e.Line > 0 {
		message = fmt.Sprintf("line %d: %s", e.Line, e.Message)
		if e.Source != "" {
			message += "\n  " + e.Source
		}
	}
	hint := e.Hint
	if out.Text != "" {
		hint = strings.TrimSpace(hint + "\nIt had printed:\n" + fault.Clip(out.Text, 2000))
	}
	code := fault.Code(e.Code)
	code = cmp.Or(code, fault.InvalidArgument)
	return &tool.Error{Code: code, Message: message, Hint: hint}
}

// printed is what a script printed, as an answer.
func (c *call) printed(h *host.Host, out script.Outcome) *answer {
	a := &answer{text: []byte(out.Text), receipt: h.NotSearched(), data: &scriptAnswer{Printed: out.Text}}
	if s, ok := c.clientShows(); ok {
		a.text = s.fitting(a.text)
		out.Cut += len(out.Text) - len(a.text)
	}
	if out.Cut > 0 {
		a.receipt = append([]string{fmt.Sprintf("cut after %s; %s more were printed: print less", render.Size(int64(len(a.text))), render.Size(int64(out.Cut)))}, a.receipt...)
	}
	return a
}

type scriptAnswer struct {
	Printed string         `json:"printed"`
	Change  *change.Change `json:"change,omitempty"`
	remark
}

func runLook(ctx context.Context, c *call) (*answer, error) {
	h, out, err := c.runScript(ctx, false)
	if err != nil {
		return nil, err
	}
	a := c.printed(h, out)
	if out.Text == "" {
		a.text = []byte("The script printed nothing: show(x) or print(x) what you want to see.")
	}
	return a, nil
}

func runChange(ctx context.Context, c *call) (*answer, error) {
	h, out, err := c.runScript(ctx, true)
	if err != nil {
		return nil, err
	}
	set, err := h.Set()
	if err != nil {
		return nil, err
	}
	a := c.printed(h, out)
	if len(set.Ops) == 0 {
		if out.Text != "" {
			a.text = append(a.text, '\n')
		}
		a.text = append(a.text, "Nothing was changed."...)
		return a, nil
	}
	done, err := c.applySet(ctx, set.Ops)
	if err != nil {
		return nil, err
	}
	if out.Text != "" {
		a.text = append(a.text, '\n')
	}
	a.text = append(a.text, done.text...)
	a.receipt = append(done.receipt, a.receipt...)
	if made, ok := done.data.(*change.Change); ok {
		a.data = &scriptAnswer{Printed: out.Text, Change: made}
	}
	return a, nil
}
