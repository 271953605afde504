package profile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/internal/gitdir"
	"quarry/internal/progress"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

// env holds the state that the tools of one profile share.
type env struct {
	ws    *quarry.Workspace
	d     *dialect
	o     Options
	names []string  // of the available tools
	conn  connState // shared by calls without a session
}

// limits returns the limits of an answer's text. They leave some room for the lines after
// the body: the omissions and the receipt.
func (c *call) limits() render.Limits {
	budget := c.room()
	if c.o.Structured && !c.d.json {
		budget /= 2 // a line of code doubles in size as JSON
	}
	return render.Limits{Budget: max(budget-receiptRoom, min(budget, receiptRoom)/4)}
}

const receiptRoom = 1 << 10

// graceTime is the time that a call may take in addition to its search, to write the
// answer.
const graceTime = 5 * time.Second

// limitsUnless returns the limits of an answer. If the caller set the parameter named
// number and the dialect always shows that many results, there are no limits.
func (c *call) limitsUnless(number string) render.Limits {
	if c.d.limits.countedWhole && c.Given(number) {
		return render.Limits{}
	}
	return c.limits()
}

// call is one call of a tool, with the facts collected for its receipt.
type call struct {
	*env
	tool.Args
	tool    *tool.Tool
	client  tool.Client // the caller
	narrow  float64     // share of the client's room to use; 0 means all
	sharing int         // number of searches that share the room; 0 means one
	watch   progress.Count
	last    bool // no further call continues the answer
	// overlay reports that the answer relies on events of an overlay.
	overlay bool
	told    bool // the receipt already counts the files not searched
	sampled bool // the answer shows samples of the replaced texts
	exact   bool // the request states each old and new text literally
	conn    *connState

	tried   []string          // paths that may be names of notes
	asNotes map[string]string // paths resolved to notes
}

// answer is a tool's answer before its text and receipt are joined.
type answer struct {
	text    []byte
	receipt []string // parts of the line in brackets, if the dialect has one
	data    any      // the structured result
	// sum is the search's summary; cut is the limit that shortened the text. The receipt
	// in data is made of both.
	sum    *search.Summary
	cut    string
	images []tool.Image
	reads  bool // set if a tool that can change files only read them
}

func (e *env) make(s *spec) *tool.Tool {
	out := &tool.Tool{Name: s.name, Title: s.title, Description: s.about, Params: s.params, OutputSchema: schema(s.output), Hints: s.hints}
	if e.d.spellings {
		out.Params = respelled(s.params, true)
		if !s.hints.ReadOnly && !hasParam(out.Params, "summary") {
			out.Params = append(out.Params, unlisted(paramSummary)) // every change accepts a summary
		}
		if s.hints.ReadOnly && !hasParam(out.Params, "budget") {
			out.Params = append(out.Params, unlisted(paramBudget)) // every answer can be limited
		}
	}
	out.ErrorText = e.errorText
	out.Run = func(ctx context.Context, args tool.Args) (*tool.Result, error) {
		if e.ws == nil {
			return nil, errors.New("the tools were made without a workspace")
		}
		c := &call{env: e, Args: args, tool: out, client: tool.ClientOf(ctx), conn: e.connOf(ctx)}
		if !out.Hints.ReadOnly && e.o.MayChange != nil {
			if err := e.o.MayChange(ctx); err != nil {
				return nil, err
			}
		}
		defer e.tellBuilding(ctx)()
		ctx = match.OneCall(progress.With(ctx, &c.watch))
		if out.Hints.ReadOnly {
			var cancel context.CancelFunc
			// Text searches end by themselves before this and return partial results.
			ctx, cancel = context.WithTimeout(ctx, e.o.Time+graceTime)
			defer cancel()
		}
		defer e.tellSearched(ctx, &c.watch)()
		a, err := s.run(ctx, c)
		if isNotFound(err) && c.runAgain(ctx) {
			a, err = s.run(ctx, c)
		}
		for tries := 0; err == nil && tries < 3 && (a.reads || out.Hints.ReadOnly); tries++ {
			share, cut := c.tooLong(a)
			if !cut {
				break
			}
			shorter := &call{env: e, Args: args, tool: out, client: c.client, conn: c.conn, asNotes: c.asNotes, narrow: share}
			if a, err = s.run(progress.With(ctx, &shorter.watch), shorter); err == nil {
				c = shorter
			}
		}
		if err != nil {
			return nil, c.changedMeanwhile(ctx, c.replaced(c.problem(ctx, err)))
		}
		c.tellOthers(ctx, a)
		c.tellTrash(ctx, a)
		return c.result(ctx, a)
	}
	return out
}

// madeChange reports whether the call may have changed files.
func (c *call) madeChange(a *answer) bool {
	return !c.tool.Hints.ReadOnly && !a.reads && !c.Bool("dry_run")
}

// checkouts names the roots and their branches: a client may be working in another
// checkout than its user thinks.
func (c *call) checkouts() (list []string) {
	for _, r := range c.ws.Roots() {
		dir := r.Workspace.Dir()
		if dir == "" {
			continue
		}
		text := "root " + render.Path(dir)
		if branch := gitdir.Branch(dir); branch != "" {
			text += " on branch " + render.Path(branch)
		}
		list = append(list, text)
	}
	return list
}

// errorText words an error, as JSON in dialects that answer in JSON.
func (e *env) errorText(err *tool.Error, badArguments bool) string {
	if e.o.Structured {
		if text, bad := marshal(map[string]*tool.Error{"error": err}, ""); bad == nil {
			return string(text)
		}
	}
	return e.d.errorText(err, badArguments)
}

// result joins text and receipt.
func (c *call) result(ctx context.Context, a *answer) (*tool.Result, error) {
	text := a.text
	said := a.receipt
	if a.sum != nil {
		if r, ok := a.data.(interface{ receive(receipt) }); ok {
			r.receive(c.sumUp(ctx, a.sum, a.cut))
		}
		if n := a.sum.SkippedCount[search.Unreadable]; n > 0 && !c.told {
			said = append(said, fmt.Sprintf("not searched: %d unreadable", n))
		}
	}
	if c.watch.Replaced.Load() {
		said = append(said, folderReplaced)
	}
	var at []string
	if c.madeChange(a) && c.conn != &c.env.conn && !c.conn.said("root") {
		at = c.checkouts()
	}
	if c.overlay && (c.conn == &c.env.conn || !c.conn.said(onOverlay)) {
		said = append(said, onOverlay)
	}
	if r, ok := a.data.(interface{ add([]string) }); ok && c.d.receipts && len(said)+len(at) > 0 {
		r.add(slices.Concat(said, at))
	}
	if c.o.Structured && !c.d.json {
		var err error
		if text, err = marshal(a.data, ""); err != nil {
			return nil, err
		}
	} else if c.d.receipts {
		for _, list := range [][]string{said, at} { // agents and people look for "[change ID]"
			if len(list) > 0 {
				text = fmt.Appendf(text, "\n[%s]", strings.Join(list, "; "))
			}
		}
	}
	return &tool.Result{Text: strings.ToValidUTF8(string(text), "\uFFFD"), Structured: a.data, Images: a.images}, nil
}

// marshal writes readable JSON: <, > and & are not escaped.
func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// globs returns the globs of the named argument, a single glob or a list. If the dialect
// has local globs, a leading ./ means the searched folder base, and an absolute glob
// inside the root is made relative to base.
func (c *call) globs(ctx context.Context, name, base string) []string {
	list := slices.Clone(c.Strings(name))
	if c.d.localGlobs {
		if len(list) == 1 {
			list = commaList(list[0])
		}
		list = apart(list)
		// The last matching glob decides, but agents mean an exclusion to apply wherever it
		// is in the list.
		exclude := func(g string) int { return strings.Count(g[:min(1, len(g))], "!") }
		slices.SortStableFunc(list, func(a, b string) int { return exclude(a) - exclude(b) })
	}
	for i := range list {
		list[i] = c.localGlob(ctx, list[i], base)
	}
	return list
}

// apart splits a glob that is a single pair of braces into a list. In "!{*.go,doc/**}"
// the slash would otherwise anchor *.go to the searched folder, too.
func apart(globs []string) (out []string) {
	for _, g := range globs {
		rest, not := strings.CutPrefix(g, "!")
		inside, ok := strings.CutPrefix(rest, "{")
		inside, closed := strings.CutSuffix(inside, "}")
		if !ok || !closed || !strings.Contains(inside, "/") || strings.ContainsAny(inside, `{}\[`) {
			out = append(out, g)
			continue
		}
		for part := range strings.SplitSeq(inside, ",") {
			if not {
				part = "!" + part
			}
			out = append(out, part)
		}
	}
	return out
}

// commaList splits a text of several globs separated by ", ", as some agents write them. A
// comma in braces is part of a glob. A part without wildcards suggests that the comma
// belongs to a file name, such as "Meeting, March.md"; the text is then not split.
func commaList(text string) (out []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 && strings.HasPrefix(text[i:], ", ") {
				out, from = append(out, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	out = append(out, strings.TrimSpace(text[from:]))
	for _, glob := range out {
		if !strings.ContainsAny(glob, "*?[{") && !strings.HasPrefix(glob, "!") {
			return []string{text}
		}
	}
	return out
}

func (c *call) localGlob(ctx context.Context, g, base string) string {
	if !c.d.localGlobs {
		return g
	}
	g, not := strings.CutPrefix(g, "!")
	rest, here := strings.CutPrefix(g, "./")
	if here {
		g = "/" + strings.TrimLeft(rest, "/")
	} else if base = strings.Trim(base, "./"); base == "" {
		if rel, inside := c.ws.Inside(g); inside {
			g = "/" + rel
		}
	} else if below, ok := strings.CutPrefix(g, base+"/"); ok && c.d.rootedGlobs && !c.isFolder(ctx, base+"/"+base) {
		g = "/" + below // the glob repeats the path argument
	}
	if not {
		g = "!" + g
	}
	return g
}

// next returns the call that continues this one at offset, with its name and arguments,
// for the receipt.
func (c *call) next(offset int) string {
	args := make([]string, 0, 8)
	for i := range c.tool.Params {
		p := &c.tool.Params[i]
		if !c.Given(p.Name) || p.Name == "offset" {
			continue
		}
		var v any
		switch p.Kind {
		case tool.Integer:
			v = c.Int(p.Name)
		case tool.Boolean:
			v = c.Bool(p.Name)
		case tool.Strings:
			v = c.Strings(p.Name)
		default:
			v = c.String(p.Name)
			if list := c.Strings(p.Name); len(list) > 1 {
				v = list
			}
		}
		if text, err := marshal(v, ""); err == nil {
			args = append(args, `"`+p.Name+`":`+string(text))
		}
	}
	if offset > 0 {
		args = append(args, `"offset":`+itoa(offset))
	}
	return c.tool.Name + " {" + strings.Join(args, ",") + "}"
}

// lists reports whether the tool shows the named parameter in its schema.
func (c *call) lists(name string) bool {
	return slices.ContainsFunc(c.tool.Params, func(p tool.Param) bool { return p.Name == name && !p.Unlisted })
}

// takes reports whether the tool accepts the named parameter.
func (c *call) takes(name string) bool { return hasParam(c.tool.Params, name) }

func hasParam(params []tool.Param, name string) bool {
	return slices.ContainsFunc(params, func(p tool.Param) bool { return p.Name == name })
}
