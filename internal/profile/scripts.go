package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/internal/render"
	"quarry/internal/script"
	"quarry/internal/script/host"
	"quarry/tool"
)

// maxScript bounds the text of a script.
const maxScript = 128 << 10

// lookSpec and changeSpec are the tools that run scripts. A registry has them only
// if it was given a worker.
var lookSpec = spec{
	name: "look", title: "Look with a script",
	about: `Answer several questions in one call with a Starlark script (Python's look; no imports, no f-strings, no try). Only what it prints comes back. Functions give values; show(x) prints any of them tersely, definitions in full.
search(regex, path=, glob=, exclude=, literal=, ignore_case=, multiline=, limit=1000) → hits: .path .line .text .symbol (the definition around)
definition("Store.Open") → .path .start .end .text .others; symbols(name or path=, kind=) → definitions; references(name), callers(name, path=, exclude="*_test.go") → uses in code: .path .line .text .symbol .test
rank("words", k=10) → relevant pieces; files("*.go", path=) → paths; read(path, start, end, symbol=) → text; lines(…) → numbered lines; findall(regex, text)
Notes: links(path), backlinks(path), tags(path), tagged(tag), properties(path)
help("search") says more. Example: for h in search("Deprecated", glob="*.go"): show(definition(h.symbol))`,
	params: []tool.Param{need(str("script", "Starlark"))},
	action: action{anySchema, readOnly, runLook},
}

var changeSpec = spec{
	name: "change", title: "Change with a script",
	about: `Change any number of files with a Starlark script, as one change that is made whole or not at all: an error changes nothing. Has look's functions, which see what the script changed before, and
replace(path, old, new, count=1, within="Store.Open"): the text must occur exactly count times; sub(regex, new, path=, glob=, count=) in all files, $1 is a group; insert(path, text, after=line); write(path, text); move(path, to); delete(path)
Notes: add_tag(path, tag), set_property(path, name, value), rename_heading(path, old, new)
Shows the changed lines. Example: for u in references("OldName"): …; sub(r"\bOldName\b", "NewName", glob="*.go")`,
	params: []tool.Param{need(str("script", "Starlark")), paramDryRun},
	action: action{setSchema, tool.Hints{Destructive: true}, runChange},
}

// runScript runs the script of a call and says what went wrong in it.
func (c *call) runScript(ctx context.Context, changes bool) (*host.Host, script.Outcome, error) {
	text := c.String("script")
	if strings.TrimSpace(text) == "" {
		return nil, script.Outcome{}, &tool.Error{Code: tool.InvalidArgument, Message: "The script is empty", Hint: `help() prints the functions.`}
	}
	if len(text) > maxScript {
		return nil, script.Outcome{}, &tool.Error{Code: tool.TooLarge, Message: fmt.Sprintf("The script has %s, more than %s", render.Size(int64(len(text))), render.Size(maxScript)), Hint: "Write large texts with write_file."}
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
		hint = strings.TrimSpace(hint + "\nIt had printed:\n" + clip(out.Text, 2000))
	}
	code := tool.Code(e.Code)
	if code == "" {
		code = tool.InvalidArgument
	}
	return &tool.Error{Code: code, Message: message, Hint: hint}
}

// printed is what a script printed, as an answer.
func (c *call) printed(h *host.Host, out script.Outcome) *answer {
	a := &answer{text: []byte(out.Text), receipt: h.NotSearched(), data: &scriptAnswer{Printed: out.Text}}
	if out.Cut > 0 {
		a.receipt = append([]string{fmt.Sprintf("cut after %s; %s more were printed: print less", render.Size(int64(len(out.Text))), render.Size(int64(out.Cut)))}, a.receipt...)
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
	o := c.changing()
	set.Tool, set.Client = o.Tool, o.Client
	do := c.ws.Apply
	if o.DryRun {
		do = c.ws.Plan
	}
	done, err := do(ctx, set)
	if err != nil {
		return nil, c.setError(ctx, err)
	}
	if out.Text != "" {
		a.text = append(a.text, '\n')
	}
	a.text = append(a.text, setText(done)...)
	told := *done
	told.Version = ""
	a.receipt = append(c.changed(&told, "").receipt, a.receipt...)
	if done.DryRun && done.NoPlan == "" && done.Digest != "" {
		a.receipt = append([]string{"digest " + done.Digest + " applies it with apply_changes"}, a.receipt...)
	}
	a.data = &scriptAnswer{Printed: out.Text, Change: changeData(done)}
	return a, nil
}

// shownHunks is how much of the changed lines an answer shows.
const shownHunks = 3 << 10

// setText shows what a set changed: its hunks while they are few, then a line a
// file, and files that changed alike summed up.
func setText(c *change.Change) string {
	if c.Unchanged {
		return "Nothing had to be changed."
	}
	var b strings.Builder
	word := "Changed"
	if c.DryRun {
		word = "Dry run, nothing was changed. It would change"
	}
	files := make([]change.File, 0, len(c.Files))
	added, removed := 0, 0
	for _, f := range c.Files {
		if f.Hunks == 0 && f.To == "" && f.Did == change.Edited {
			continue // only its version was checked
		}
		files = append(files, f)
		added, removed = added+f.Added, removed+f.Removed
	}
	fmt.Fprintf(&b, "%s %s, +%d -%d", word, render.Plural(len(files), "file", "files"), added, removed)
	left := shownHunks
	var rest []change.File
	for _, f := range files {
		f.Version = "" // no call needs it
		text := "\n# " + render.SetFile(f)
		for i := range c.Diffs {
			if d := &c.Diffs[i]; d.New == f.Path || d.Old == f.Path || f.To != "" && d.New == f.To {
				text += hunks(d)
			}
		}
		if len(text) > left {
			rest = append(rest, f)
			continue
		}
		left -= len(text)
		b.WriteString(text)
	}
	b.WriteString(alike(rest))
	return b.String()
}

// hunks shows what changed in a file, with one line of context, each hunk under
// "@@" and the number of its first line.
func hunks(d *change.PathDiff) string {
	var b strings.Builder
	number := 0
	lines := strings.Split(strings.TrimSuffix(d.Hunks, "\n"), "\n")
	changes := func(i int) bool { // a line that is not context
		return i >= 0 && i < len(lines) && lines[i] != "" && lines[i][0] != ' ' && !strings.HasPrefix(lines[i], "@@")
	}
	shown := false
	for i, l := range lines {
		if strings.HasPrefix(l, "@@") {
			fmt.Sscanf(l[max(strings.IndexByte(l, '+'), 0):], "+%d", &number)
			shown = false
			continue
		}
		keep := changes(i) || changes(i-1) || changes(i+1)
		if keep {
			if !shown {
				fmt.Fprintf(&b, "\n@@ %d", number)
			}
			b.WriteString("\n" + l)
		}
		shown = keep
		if l == "" || l[0] == ' ' || l[0] == '+' {
			number++
		}
	}
	if d.Hunks == "" {
		return ""
	}
	return b.String()
}

// maxAlike is how many files are listed that changed like no other.
const maxAlike = 40

// alike lists files in a line each, those with the same counts in one.
func alike(files []change.File) string {
	type kind struct {
		did            change.Verb
		added, removed int
		moved          bool
	}
	groups := map[kind][]change.File{}
	var order []kind
	for _, f := range files {
		k := kind{f.Did, f.Added, f.Removed, f.To != ""}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], f)
	}
	var b strings.Builder
	lines := 0
	for _, k := range order {
		g := groups[k]
		if len(g) > 3 {
			fmt.Fprintf(&b, "\n# %d more files, +%d -%d each, as %s", len(g), k.added, k.removed, render.Path(g[0].Path))
			continue
		}
		for _, f := range g {
			if lines++; lines <= maxAlike {
				b.WriteString("\n# " + render.SetFile(f))
			}
		}
	}
	if lines > maxAlike {
		fmt.Fprintf(&b, "\n# and %d more", lines-maxAlike)
	}
	return b.String()
}
