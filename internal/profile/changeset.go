package profile

import (
	"bytes"
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
	"quarry/internal/replacer"
	"quarry/match"
	"quarry/search"
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

// changeOp reads one entry of changes: exactly one kind of change.
func (c *call) changeOp(ctx context.Context, one tool.Args) (change.Op, error) {
	op := change.Op{Path: c.clean(ctx, one.String("path")), Version: one.String("expected_version")}
	if one.String("at") != "" || one.Given("value") && string(one.JSON("value")) != "null" {
		e, err := valueEdit(one)
		op.Path, op.Edits = c.existing(op.Path), []change.Edit{e}
		return op, err
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

// valueEdit reads a change of a value by its path.
func valueEdit(one tool.Args) (change.Edit, error) {
	e := change.Edit{At: one.String("at")}
	kinds := 0
	others := one.Bool("delete") || one.Given("move_to")
	if one.Given("value") && !(others && string(one.JSON("value")) == "null") { // of models that fill in everything
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

// changeEdit reads old_text, or a range of lines with the version they were
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

var replaceInFiles = action{setSchema, tool.Hints{Destructive: true}, runReplace}

func runReplace(ctx context.Context, c *call) (*answer, error) {
	if c.String("digest") != "" {
		return c.applySet(ctx, nil) // a dry run of before
	}
	q := replacer.Query{Replacement: c.String("replacement"), Expected: c.Int("expected_count")}
	switch {
	case !c.Given("replacement"):
		return nil, invalid("replacement is required and must be a string.")
	case c.String("symbol") != "" && c.Given("lacking"):
		return nil, invalid("lacking can't be used together with symbol.")
	case c.String("symbol") != "":
		return c.renameSymbol(ctx)
	case c.String("structure") != "" && c.String("regex") == "" && c.String("text") == "":
		q.Structure = c.String("structure")
	case c.String("regex") != "" && c.String("text") != "", c.String("regex") == "" && c.String("text") == "", c.String("structure") != "":
		if c.takes("structure") {
			return nil, invalid("Give one of regex, text and structure.")
		}
		return nil, invalid("Give either regex or text.")
	case c.String("text") != "":
		q.Pattern, q.Literal, q.Match.Syntax = c.String("text"), true, match.Literal
	default:
		q.Pattern = c.String("regex")
	}
	if c.Bool("ignore_case") {
		q.Match.Case = match.Insensitive
	}
	if c.Bool("multiline") {
		q.Match.Mode = match.Multiline
	}
	if q.Lacking = c.Strings("lacking"); len(q.Lacking) > 0 && q.Structure != "" {
		return nil, invalid("lacking can't be used together with structure.")
	}
	c.readAsPCRE(&q.Query)
	if p := c.file(ctx, "path"); p != "" {
		q.Paths = []string{p}
	}
	filter := "file_pattern"
	if c.takes("glob") {
		filter = "glob"
	}
	if globs := c.globs(ctx, filter, c.path(ctx, "path")); len(globs) > 0 {
		q.Globs, q.Dialect = globs, search.Gitignore
	}
	expected := q.Expected
	if c.Bool("dry_run") {
		q.Expected = 0 // the preview says how many there are
	}
	found, err := replacer.Find(ctx, c.ws, q)
	if err != nil {
		return nil, c.unreplaced(ctx, &q.Query, found, filter, err)
	}
	summary := fmt.Sprintf("replaced %s by %s: %s in %s", fault.Clip(render.Quote(c.String("regex")+c.String("text")+q.Structure), 60), fault.Clip(render.Quote(q.Replacement), 60),
		fault.Count(found.Matches, "match", "matches"), fault.Count(len(found.Ops), "file"))
	c.sampled = len(found.Samples) > 0 && c.d.shows && (!c.Bool("dry_run") || c.d.terse && !c.Bool("diff"))
	a, err := c.applySummed(ctx, found.Ops, summary)
	if err != nil {
		return nil, err
	}
	made, _ := a.data.(*change.Change)
	if n := found.Matches; c.d.shows && (made == nil || made.Reviewed == nil) {
		count := fmt.Sprintf("%s in %s. ", fault.Count(n, "match", "matches"), fault.Count(len(found.Ops), "file"))
		if q.Expected != expected && n != expected {
			count = fmt.Sprintf("expected_count is %d, but there are %s", expected, count)
		}
		a.text = append([]byte(count), a.text...)
		if c.sampled && !c.quiet() && !bytes.Contains(a.text, []byte("\n@@ ")) {
			for _, s := range found.Samples {
				a.text = fmt.Appendf(a.text, "\n%d like %s → %s", s.Count, render.Quote(fault.Clip(s.Old, sampleText)), render.Quote(fault.Clip(s.New, sampleText)))
			}
			if more := found.Forms - len(found.Samples); more > 0 {
				a.text = fmt.Appendf(a.text, "\nand %s", fault.Count(more, "other form"))
			}
		}
	}
	if refused := replacer.RefusedText(found.Refused, found.Places); refused != "" {
		a.receipt = append(a.receipt, refused)
	}
	if hidden := c.hiddenToo(ctx, q.Query, found.Counts); hidden != "" {
		a.receipt = append(a.receipt, hidden)
	}
	if omitted := c.omittedByLacking(ctx, q.Query, found.Counts); omitted != "" {
		a.receipt = append(a.receipt, omitted)
	}
	c.tellMissed(a, found.Summary)
	return a, nil
}

// omittedByLacking counts what would have been replaced without lacking: agents of the
// trials searched for it after each such replacement.
func (c *call) omittedByLacking(ctx context.Context, q search.Query, replaced []replacer.FileCount) string {
	if !c.d.shows || len(q.Lacking) == 0 {
		return ""
	}
	q.Lacking, q.Detail, q.CountMatches, q.Limits, q.Offset = nil, search.Counts, true, search.Limits{Time: c.o.Time}, 0
	var first []string
	files, matches := 0, 0
	if _, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if slices.ContainsFunc(replaced, func(r replacer.FileCount) bool { return r.Path == f.Path }) {
			return nil
		}
		matches += f.Matches
		if files++; files <= maxOmitted {
			first = append(first, fmt.Sprintf("%s %d", render.Path(f.Path), f.Matches))
		}
		return nil
	}); err != nil || files == 0 {
		return "" // the change is made; this is a remark
	}
	if files > maxOmitted {
		first = append(first, fmt.Sprintf("%d more", files-maxOmitted))
	}
	return fmt.Sprintf("lacking leaves %s in %s: %s", fault.Count(matches, "match", "matches"), fault.Count(files, "file"), strings.Join(first, ", "))
}

// maxOmitted is how many files such a remark names.
const maxOmitted = 8

// hiddenToo names hidden files that match too: "everywhere" would not be true without
// a word of them. Agents of the trials searched for them after each replacement.
func (c *call) hiddenToo(ctx context.Context, q search.Query, replaced []replacer.FileCount) string {
	if !c.d.shows || q.IncludeHidden || q.Structure != "" {
		return ""
	}
	q.IncludeHidden, q.Detail, q.Limits, q.Offset = true, search.Files, search.Limits{Time: c.o.Time}, 0
	var first []string
	n := 0
	if _, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if hiddenPath(f.Path) && !slices.ContainsFunc(replaced, func(r replacer.FileCount) bool { return r.Path == f.Path }) {
			if n++; n <= maxHidden {
				first = append(first, render.Path(f.Path))
			}
		}
		return nil
	}); err != nil || n == 0 {
		return "" // the change is made; this is a remark
	}
	if n > maxHidden {
		first = append(first, fmt.Sprintf("%d more", n-maxHidden))
	}
	return "hidden files match too and are left alone: " + strings.Join(first, ", ") + "; name one as path"
}

// maxHidden is how many hidden files a remark names.
const maxHidden = 3

// unreplaced says why nothing was replaced: what an empty search says, or which files
// have how many matches.
func (c *call) unreplaced(ctx context.Context, q *search.Query, found *replacer.Found, filter string, err error) error {
	if count := (*replacer.CountError)(nil); errors.As(err, &count) && c.d.terse {
		var paths []string
		var counts []int
		for _, f := range count.Files {
			paths, counts = append(paths, f.Path), append(counts, f.Matches)
		}
		text, _ := render.Paths([]byte(sentence(count.Error())), paths, render.Limits{Budget: countBytes}, counts)
		return &tool.Error{Code: fault.Conflict, Message: string(text), Hint: "Correct the pattern or the number."}
	}
	if !errors.Is(err, replacer.ErrNone) {
		return err
	}
	message := "Nothing matches, so nothing was changed"
	hint := "Search for it with search_files first."
	if found.Summary.Denied > 0 {
		message += "; not searched: " + c.protected(found.Summary)
	}
	if c.d.terse && q.Structure == "" {
		if why := c.whyEmpty(ctx, *q, found.Summary, filter); len(why) > 0 {
			hint = sentence(strings.Join(why, "; "))
		}
	}
	return &tool.Error{Code: fault.NotFound, Message: message, Hint: hint}
}

// sampleText is how many characters of a sample are shown.
const sampleText = 120

// countBytes is the room for the files of a replacement that was not made: with their
// numbers of matches where another number was expected, or of a dry run.
const countBytes = 1000

func (c *call) applySet(ctx context.Context, ops []change.Op) (*answer, error) {
	return c.applySummed(ctx, ops, "")
}

// applySummed makes or plans a set and reports each file.
func (c *call) applySummed(ctx context.Context, ops []change.Op, summary string) (*answer, error) {
	o := c.changing()
	set := change.Set{Ops: ops, Summary: c.String("summary"), Tool: o.Tool, Client: o.Client, Digest: c.String("digest")}
	set.Summary = cmp.Or(set.Summary, summary)
	do := c.ws.Apply
	if o.DryRun {
		do, set.FullDiff = c.ws.Plan, c.d.shows // so that every rewrite is counted
	}
	done, err := do(ctx, set)
	if err != nil {
		return nil, c.setError(ctx, err)
	}
	whole := *done
	whole.Version, whole.DryRun = "", false // each file has its own
	said := c.setText(done)
	a := c.changed(&whole, said)
	a.data = done
	if done.DryRun {
		a.text = append([]byte("Dry run, nothing was changed. "), said...)
		c.preview(a, done)
		if done.NoPlan != "" {
			a.receipt = append(a.receipt, done.NoPlan)
		} else {
			applies := "digest " + done.Digest
			if c.d.terse { // which lists no such parameter
				applies = `{"digest": "` + done.Digest + `"}`
			}
			a.receipt = append(a.receipt, applies+" applies it")
		}
	}
	return a, nil
}

// maxFileLines is how many files of a set have a line each in an answer, and
// fewFileLines in a terse one.
const maxFileLines, fewFileLines = 20, 8

// withoutVersions is a change whose files have no versions: edits by text need none.
func withoutVersions(done *change.Change) *change.Change {
	out := *done
	out.Files = slices.Clone(done.Files)
	for i := range out.Files {
		out.Files[i].Version = ""
	}
	return &out
}

// setText says what a set did: a line for each file, of many files numbers, and
// lines for those that differ from most.
func (c *call) setText(done *change.Change) string {
	lines := maxFileLines
	// Who said how many matches there are knows the files, too.
	quiet := c.quiet()
	if c.d.terse {
		lines, quiet = fewFileLines, quiet || c.Given("expected_count") && !done.DryRun
		done = withoutVersions(done)
	}
	text := render.Set(done)
	if !c.d.shows || done.Unchanged || !quiet && len(done.Files) <= lines && len(text) <= render.HunkBytes {
		return text
	}
	added, removed := 0, 0
	count := map[[2]int]int{}
	most := [2]int{}
	for _, f := range done.Files {
		added, removed = added+f.Added, removed+f.Removed
		lines := [2]int{f.Added, f.Removed}
		if count[lines]++; count[lines] > count[most] {
			most = lines
		}
	}
	text = "Changed " + fault.Count(len(done.Files), "file")
	if done.DryRun {
		text = fault.Count(len(done.Files), "file") + " would change"
	}
	if done.DryRun && c.d.terse && !quiet { // so that nobody searches for what would be touched
		var paths []string
		for _, f := range done.Files {
			paths = append(paths, f.Path)
		}
		list, fit := render.Paths(fmt.Appendf(nil, "%s: +%d -%d.", text, added, removed), paths, render.Limits{Budget: countBytes}, nil)
		if more := len(paths) - fit; more > 0 {
			list = fmt.Appendf(list, "\nand %d more", more)
		}
		return string(list)
	}
	odd := len(done.Files) - count[most]
	if quiet || odd > maxFileLines/2 {
		return fmt.Sprintf("%s: +%d -%d.", text, added, removed)
	}
	if odd > 0 {
		text += fmt.Sprintf(", %d of them", count[most])
	}
	text += fmt.Sprintf(": +%d -%d each.", most[0], most[1])
	for _, f := range done.Files {
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
