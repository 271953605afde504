package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/patch"
	"quarry/internal/render"
	"quarry/tool"
)

const setSchema = `{"type":"object","properties":{"id":{"type":"string"},"digest":{"type":"string"},"summary":{"type":"string"},"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"to":{"type":"string"},"did":{"type":"string"},"hunks":{"type":"integer"},"added":{"type":"integer"},"removed":{"type":"integer"},"version":{"type":"string"},"executable":{"type":"boolean"}},"required":["path","did"]}},"diff":{"type":"string"}},"required":["summary"]}`

var applyChanges = action{setSchema, tool.Hints{Destructive: true}, applyList}

func applyList(ctx context.Context, c *call) (*answer, error) {
	var ops []change.Op
	for i, one := range c.Objects("changes") {
		op, err := c.changeOp(ctx, one)
		if err != nil {
			return nil, invalid("changes[%d]: %v", i, err)
		}
		op.Origin = fmt.Sprintf("changes[%d]", i)
		ops = append(ops, op)
	}
	c.exact = !slices.ContainsFunc(ops, func(op change.Op) bool { return !byText(op.Edits) })
	if len(ops) == 0 && c.String("digest") == "" {
		return nil, invalid("changes is empty: give at least one.")
	}
	return c.applySet(ctx, ops)
}

// changeOp reads one entry of the parameter changes, which holds exactly one kind of
// change.
func (c *call) changeOp(ctx context.Context, one tool.Args) (change.Op, error) {
	op := change.Op{Path: c.clean(ctx, one.String("path")), Version: one.String("expected_version")}
	if one.String("at") != "" || one.Given("value") && string(one.JSON("value")) != "null" {
		e, err := valueEdit(one)
		op.Path, op.Edits = c.existing(op.Path), []change.Edit{e}
		return op, err
	}
	if c.replacesNamed(one) {
		path, e, version, ok, err := c.namedEdit(ctx, one.String("path"), one.String("new_text"))
		if ok || err != nil {
			op.Path, op.Version, op.Edits = path, cmp.Or(op.Version, version), []change.Edit{e}
			return op, err
		}
	}
	edit, hasEdit, err := changeEdit(one)
	if err != nil {
		return op, err
	}
	kinds := 0
	for _, given := range []bool{hasEdit && !one.Given("move_to"), one.Given("content"), one.Bool("delete"), one.Given("move_to")} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		return op, errors.New("give exactly one of old_text, start_line, at, content, delete and move_to (move_to may have old_text)")
	}
	if hasEdit {
		op.Edits = []change.Edit{edit}
		c.readLeniently(op.Edits)
	}
	if kinds == 1 && hasEdit && !one.Given("move_to") {
		op.Path = c.existing(op.Path)
	}
	switch {
	case one.Given("content"):
		op.Verb, op.Content, op.Text = change.WriteFile, []byte(one.String("content")), true
	case one.Bool("delete"):
		op.Verb = change.DeletePath
	case one.Given("move_to"):
		op.Verb, op.To = change.MovePath, c.clean(ctx, one.String("move_to"))
	}
	return op, nil
}

// valueEdit reads an edit of a value in a structured file, which is given by its path.
func valueEdit(one tool.Args) (change.Edit, error) {
	e := change.Edit{At: one.String("at")}
	kinds := 0
	others := one.Bool("delete") || one.Given("move_to")
	if one.Given("value") && !(others && string(one.JSON("value")) == "null") { // models that fill in every parameter
		e.Verb, e.New, kinds = change.SetValue, string(one.JSON("value")), kinds+1
	}
	if one.Bool("delete") {
		e.Verb, kinds = change.DeleteValue, kinds+1
	}
	if one.Given("move_to") {
		e.Verb, e.New, kinds = change.RenameKey, one.String("move_to"), kinds+1
	}
	for _, other := range []string{"old_text", "new_text", "content", "start_line", "end_line", "replace_all"} {
		if one.Given(other) {
			return e, fmt.Errorf("%s can't be given together with at; make it a change of its own", other)
		}
	}
	if e.At == "" || kinds != 1 {
		return e, errors.New("give at, the path of a value, and exactly one of value, delete and move_to, its new key")
	}
	return e, nil
}

// changeEdit reads an edit by old_text, or by a range of lines and the version they were
// read from.
func changeEdit(one tool.Args) (change.Edit, bool, error) {
	lines := one.Given("start_line")
	switch {
	case lines && one.Given("old_text"):
		return change.Edit{}, false, errors.New("give old_text or start_line, not both")
	case lines && one.String("expected_version") == "":
		return change.Edit{}, false, errors.New("start_line needs expected_version, as read_file prints it")
	case lines:
		last := one.Int("end_line")
		if !one.Given("end_line") {
			last = one.Int("start_line")
		}
		return change.Edit{Verb: change.ReplaceLines, First: one.Int("start_line"), Last: last, New: one.String("new_text")}, true, nil
	case one.Given("end_line"):
		return change.Edit{}, false, errors.New("end_line needs start_line")
	case one.String("old_text") == "":
		if one.Given("new_text") || one.Bool("replace_all") || one.Given("old_text") {
			return change.Edit{}, false, errors.New("old_text is missing")
		}
		return change.Edit{}, false, nil
	}
	e := change.Edit{Old: one.String("old_text"), New: one.String("new_text")}
	if one.Bool("replace_all") {
		e.Occurrence = change.All
	}
	return e, true, nil
}

var applyPatch = action{setSchema, tool.Hints{Destructive: true}, applyText}

func applyText(ctx context.Context, c *call) (*answer, error) {
	ops, err := patch.Parse(c.String("patch"), -1)
	if err != nil {
		return nil, err
	}
	for i := range ops {
		c.readLeniently(ops[i].Edits)
		ops[i].Path = c.clean(ctx, ops[i].Path)
		if ops[i].Verb == change.EditFile {
			ops[i].Path = c.existing(ops[i].Path)
		}
		if ops[i].To != "" {
			ops[i].To = c.clean(ctx, ops[i].To)
		}
	}
	return c.applySet(ctx, ops)
}

func (c *call) applySet(ctx context.Context, ops []change.Op) (*answer, error) {
	return c.applySummed(ctx, change.Set{Ops: ops})
}

// applySummed applies a set of changes, or plans it for a dry run, and reports each file.
func (c *call) applySummed(ctx context.Context, set change.Set) (*answer, error) {
	o := c.changing()
	set.Tool, set.Client, set.Digest = o.Tool, o.Client, c.String("digest")
	set.Summary = cmp.Or(c.String("summary"), set.Summary)
	if again := set.Again; again != nil {
		set.Again = func(ctx context.Context) (change.Set, error) {
			next, err := again(ctx)
			next.Summary = cmp.Or(c.String("summary"), next.Summary)
			return next, err
		}
	}
	do := c.ws.Apply
	if o.DryRun {
		do, set.FullDiff = c.ws.Plan, c.d.shows // count every rewrite
	}
	done, err := do(ctx, set)
	if err != nil {
		return nil, c.setError(ctx, err)
	}
	whole := *done
	whole.Version, whole.DryRun = "", false // each file has its own version
	said := c.setText(done)
	a := c.changed(&whole, said)
	a.data = done
	if done.DryRun {
		a.text = append([]byte("Dry run, nothing was changed. "), said...)
		c.preview(a, done)
		if c.d.shows {
			a.broken(done.Broken)
		}
		if done.NoPlan != "" {
			a.receipt = append(a.receipt, done.NoPlan)
		} else {
			applies := "digest " + done.Digest
			if !c.lists("digest") {
				applies = `{"digest": "` + done.Digest + `"}`
			}
			a.receipt = append(a.receipt, applies+" applies it")
		}
	}
	return a, nil
}

// maxFileLines limits the files of a set that get their own line in the answer.
const maxFileLines = 20

// withoutVersions removes the file versions from a change: edits by text don't need them.
func withoutVersions(done *change.Change) *change.Change {
	out := *done
	out.Files = slices.Clone(done.Files)
	for i := range out.Files {
		out.Files[i].Version = ""
	}
	return &out
}

// setText words the result of a set, with a line for each file. For many files it gives
// totals, and lines only for files that differ from the majority.
func (c *call) setText(done *change.Change) string {
	lines := c.d.limits.fileLines
	// A caller that stated the number of matches already knows the files.
	quiet := c.quiet()
	quiet = quiet || c.d.omitsKnown && c.Given("expected_count") && !done.DryRun
	if c.d.hidesVersions {
		done = withoutVersions(done)
	}
	text := render.Set(done)
	if !c.d.shows || done.Unchanged || !quiet && len(done.Files) <= lines && len(text) <= render.HunkBytes {
		return text
	}
	// An edit may have left a file as it was.
	files := slices.DeleteFunc(slices.Clone(done.Files), func(f change.File) bool {
		return f.Did == change.Edited && f.Hunks == 0 && f.Executable == nil
	})
	added, removed := 0, 0
	count := map[[2]int]int{}
	most := [2]int{}
	for _, f := range files {
		added, removed = added+f.Added, removed+f.Removed
		lines := [2]int{f.Added, f.Removed}
		if count[lines]++; count[lines] > count[most] {
			most = lines
		}
	}
	text = "Changed " + fault.Count(len(files), "file")
	if done.DryRun {
		text = fault.Count(len(files), "file") + " would change"
	}
	if done.DryRun && c.d.limits.dryBytes > 0 && !quiet { // saves a search for the affected lines
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		list, fit := render.Paths(fmt.Appendf(nil, "%s: +%d -%d.", text, added, removed), paths, render.Limits{Budget: c.d.limits.dryBytes}, nil)
		if more := len(paths) - fit; more > 0 {
			list = fmt.Appendf(list, "\nand %d more", more)
		}
		return string(list)
	}
	odd := len(files) - count[most]
	if quiet || odd > maxFileLines/2 {
		return fmt.Sprintf("%s: +%d -%d.", text, added, removed)
	}
	if odd > 0 {
		text += fmt.Sprintf(", %d of them", count[most])
	}
	text += fmt.Sprintf(": +%d -%d each.", most[0], most[1])
	for _, f := range files {
		if [2]int{f.Added, f.Removed} != most {
			text += "\n" + render.SetFile(f)
		}
	}
	return text
}

// setError lists all changes that can't be made.
func (c *call) setError(ctx context.Context, err error) error {
	var set *change.SetError
	if !errors.As(err, &set) {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s can't be made, so nothing was changed:", len(set.Failed), fault.Count(set.Total, "change"))
	for i, f := range set.Failed {
		if i == change.MaxListed {
			fmt.Fprintf(&b, "\nand %d more", len(set.Failed)-i)
			break
		}
		var worded *tool.Error
		text, hint := f.Err.Error(), fault.HintOf(f.Err)
		if errors.As(c.problem(ctx, f.Err), &worded) {
			text = worded.Message
		}
		origin := f.Origin
		if edit := (*change.EditError)(nil); origin == "" && errors.As(f.Err, &edit) {
			origin = fmt.Sprintf("edit %d", edit.Index+1)
		}
		if origin != "" {
			origin += ", "
		}
		fmt.Fprintf(&b, "\n%s%s: %s", origin, render.Path(f.Path), strings.TrimSuffix(text, "."))
		if hint != "" {
			b.WriteString("\n  " + strings.ReplaceAll(strings.TrimSuffix(sentence(hint), "\n"), "\n", "\n  "))
		}
	}
	return &tool.Error{Code: fault.CodeOf(set), Message: b.String()}
}
