package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/notes"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

// changing returns the options of a change.
func (c *call) changing() *change.Options {
	return &change.Options{ExpectedVersion: c.String("expected_version"), DryRun: c.Bool("dry_run"), Summary: c.String("summary"), Tool: c.tool.Name, Client: change.Client(c.client)}
}

// broken appends a line for each file that no longer parses.
func (a *answer) broken(list []change.Broken) {
	for _, b := range list {
		a.text = append(append(a.text, '\n'), b.String()...)
	}
}

// changed makes the answer to a change: the dialect's sentence and, for a dry run, a
// preview.
func (c *call) changed(change *change.Change, sentence string) *answer {
	if change.Reviewed != nil {
		sentence = render.Reviewed(change.Reviewed)
	}
	data := &changeAnswer{Change: changeData(change)}
	a := &answer{text: []byte(sentence), data: data}
	if change.DryRun {
		a.text = append([]byte("Dry run, nothing was changed. It would say: "), sentence...)
		c.preview(a, change)
	} else if c.d.shows && !c.quiet() && !c.repeats(change) {
		named := len(change.Diffs) > 1 || len(change.Diffs) == 1 && !strings.Contains(sentence, render.Path(change.Diffs[0].New))
		if data.Hunks = render.ChangedLines(change, named); data.Hunks == "" && !c.sampled {
			data.Hunks = render.Rewrites(change)
		}
		a.text = append(a.text, data.Hunks...)
	} else if c.d.shows && len(change.Edits) > 0 && change.Reviewed == nil {
		a.text = append(a.text, render.Extent(change)...)
	}
	if !c.d.shows {
		data.Broken = nil // not in the documented answers of these dialects
	}
	a.broken(data.Broken)
	if change.ID != "" {
		a.receipt = append(a.receipt, "change "+change.ID)
		if change.Undoes == "" && change.PartOf == "" {
			c.conn.add(change.ID)
		}
	}
	if change.Unchanged {
		a.receipt = append(a.receipt, "nothing had to be changed")
	}
	if change.Kept != "" {
		a.receipt = append(a.receipt, change.Kept+" kept")
	}
	if change.Version != "" && !change.DryRun && !c.d.hidesVersions {
		a.receipt = append(a.receipt, "version "+render.Version(change.Version))
	}
	if s := strings.TrimSuffix(render.Links(change), "."); s != "" {
		a.receipt = append(a.receipt, strings.ToLower(s[:1])+s[1:])
	}
	if change.NoUndo != "" {
		a.receipt = append(a.receipt, "can't be undone: "+change.NoUndo)
	}
	a.receipt = append(a.receipt, change.Warnings...)
	return a
}

// quiet reports whether an answer only counts changes: because the caller asked for it,
// or because a dry run already showed the changes.
func (c *call) quiet() bool { return c.Bool("quiet") || c.d.omitsKnown && c.String("digest") != "" }

// repeats reports whether the lines of a change would only repeat the request: every edit
// gave the old and the new text, and each old text matched exactly. For 20 of 22 such
// edits in trials, agents set quiet.
func (c *call) repeats(change *change.Change) bool {
	return c.d.omitsKnown && c.exact && !c.Given("quiet") && !c.Bool("diff") && change.Reviewed == nil && len(change.Warnings) == 0
}

// byText reports whether all edits replace one text by another.
func byText(edits []change.Edit) bool {
	return !slices.ContainsFunc(edits, func(e change.Edit) bool { return e.Verb != change.ReplaceText })
}

// preview adds the planned changes to a dry run. In dialects that show changes, a rewrite
// of many lines is listed by its distinct rewrites unless the diff is asked for.
func (c *call) preview(a *answer, change *change.Change) {
	if change.Diff == "" {
		return
	}
	if change.MoreDiffs > 0 {
		a.receipt = append(a.receipt, fault.Count(change.MoreDiffs, "more file")+" not shown")
	}
	text := strings.TrimSuffix(change.Diff, "\n")
	if c.d.shows && !c.Bool("diff") && len(text) > render.HunkBytes {
		if c.sampled { // the answer already shows samples of the replaced texts
			a.receipt = append(a.receipt, "diff: true shows every line")
			return
		}
		if short := render.Rewrites(change); short != "" {
			a.text = append(a.text, short...)
			a.receipt = append(a.receipt, "diff: true shows every line")
			return
		}
	}
	a.text = append(append(a.text, '\n'), c.cutLines(text)...)
}

// maxDiffLines limits the lines of a diff in an answer.
const maxDiffLines = 400

// cutLines cuts a diff to the answer's limit and says how many lines are omitted.
func (c *call) cutLines(diff string) string {
	end, budget := 0, c.limits().Budget
	for n := range maxDiffLines {
		next := strings.IndexByte(diff[end:], '\n')
		if next < 0 {
			return diff
		}
		if end+next > budget && n > 0 {
			break
		}
		end += next + 1
	}
	return diff[:end] + fmt.Sprintf("[... %s more]", fault.Count(strings.Count(diff[end:], "\n")+1, "line", "lines"))
}

// changeAnswer is a change as structured data.
type changeAnswer struct {
	*change.Change
	Hunks string `json:"hunks,omitempty"` // changed lines, as the text shows them
	remark
}

// changeData returns a change without the fields that models don't need. Only a dry run
// keeps its diff, as in the text; after a real change it would repeat the call's own
// arguments.
func changeData(change *change.Change) *change.Change {
	data := *change
	data.Paths = names(change.Paths)
	if !data.DryRun {
		data.Diff = ""
	}
	return &data
}

var editFile = action{changeSchema, tool.Hints{Destructive: true}, edit}

func edit(ctx context.Context, c *call) (*answer, error) {
	if c.replacesNamed(c.Args) {
		path, e, version, ok, err := c.namedEdit(ctx, c.String("path"), c.String("new_text"))
		if err != nil {
			return nil, err
		}
		if ok {
			o := c.changing()
			o.ExpectedVersion = cmp.Or(o.ExpectedVersion, version)
			done, err := c.ws.Edit(ctx, path, []change.Edit{e}, o)
			if err != nil {
				return nil, c.editError(ctx, err, path)
			}
			return c.changed(done, "Replaced the definition in "+quoted(path)+"."), nil
		}
	}
	path, err := c.givenFile(ctx, "path")
	if err != nil {
		return nil, err
	}
	edits, err := c.edits()
	if err != nil {
		return nil, err
	}
	c.readLeniently(edits)
	c.exact = byText(edits) && !c.Given("line")
	done, err := c.ws.Edit(ctx, path, edits, c.changing())
	var ambiguous *change.AmbiguousError
	if line := c.Int("line"); line > 0 && len(edits) == 1 && errors.As(err, &ambiguous) {
		if i := slices.Index(ambiguous.Lines, line); i >= 0 {
			edits[0].Occurrence = i + 1
			done, err = c.ws.Edit(ctx, path, edits, c.changing())
		}
	}
	var several *change.SetError
	if errors.As(err, &several) {
		return nil, c.setError(ctx, err)
	}
	if err != nil {
		return nil, c.editError(ctx, err, path)
	}
	a := c.changed(done, render.Edited(done))
	c.remaining(a, done)
	return a, nil
}

// readLeniently allows inexact old texts, as models write them, if the dialect does.
func (c *call) readLeniently(edits []change.Edit) {
	for i := range edits {
		edits[i].Lenient = c.d.lenient
	}
}

// edits reads the requested edits: a list or a single one.
func (c *call) edits() ([]change.Edit, error) {
	list := c.Objects("edits")
	if len(list) == 0 && !c.Given("start_line") {
		one, err := c.oneEdit()
		return []change.Edit{one}, err
	}
	for _, name := range []string{"old_text", "insert_after_line", "insert_before_line", "delete_lines", "content"} {
		if c.Given(name) {
			return nil, invalid("Give %s, or edits, or start_line, not several of them.", name)
		}
	}
	if len(list) == 0 {
		e, _, err := changeEdit(c.Args)
		if err != nil {
			return nil, invalid("%v.", err)
		}
		return []change.Edit{e}, nil
	}
	var edits []change.Edit
	for i, one := range list {
		e, ok, err := changeEdit(one)
		if err != nil || !ok {
			return nil, invalid("edits[%d]: give old_text and new_text.", i)
		}
		edits = append(edits, e)
	}
	return edits, nil
}

func (c *call) oneEdit() (change.Edit, error) {
	var none change.Edit
	replacing := c.Given("old_text") || c.Given("new_text") || c.Bool("replace_all")
	deleting, hasDelete := c.Object("delete_lines")
	ops := 0
	for _, given := range []bool{c.Given("insert_after_line"), c.Given("insert_before_line"), hasDelete} {
		if given {
			ops++
		}
	}
	switch {
	case replacing && (ops > 0 || c.Given("content")):
		return none, invalid("Cannot mix search/replace parameters with line-based parameters.")
	case ops > 1:
		return none, invalid("Only one line operation can be specified at a time (insert_after_line, insert_before_line or delete_lines).")
	case replacing && c.String("old_text") == "":
		return none, invalid("old_text is required and must be a non-empty string.")
	case replacing && !c.Given("new_text"):
		return none, invalid("new_text is required and must be a string.")
	case replacing:
		occurrence := change.First
		if c.d.onceOnly {
			occurrence = change.Only
		}
		if c.Bool("replace_all") {
			occurrence = change.All
		}
		return change.Edit{Old: c.String("old_text"), New: c.String("new_text"), Occurrence: occurrence}, nil
	case hasDelete && c.String("content") != "":
		return none, &tool.Error{
			Code: fault.InvalidArgument, Message: "delete_lines takes no content.",
			Hint: "To replace lines, give their text as old_text and the new one as new_text.",
		}
	case hasDelete:
		first, last := deleting.Int("start"), deleting.Int("end")
		if last < first {
			return none, invalid("The lines to delete end at %d, before they start at %d.", last, first)
		}
		return change.Edit{Verb: change.DeleteLines, First: first, Last: last}, nil
	case ops == 1 && !c.Given("content"):
		return none, invalid("content is required for insert operations.")
	case c.Given("insert_after_line"):
		return change.Edit{Verb: change.InsertAfter, First: c.Int("insert_after_line"), New: c.String("content")}, nil
	case c.Given("insert_before_line"):
		return change.Edit{Verb: change.InsertBefore, First: c.Int("insert_before_line"), New: c.String("content")}, nil
	}
	return none, invalid("Give old_text and new_text, or one line operation: insert_after_line, insert_before_line or delete_lines.")
}

// editError words the failure of an edit.
func (c *call) editError(ctx context.Context, err error, path string) error {
	var line *change.LineError
	switch {
	case isTextMissing(err):
		return c.oneOf(err, textMissing(err, c.oldText(err), path))
	case errors.As(err, &line):
		return &tool.Error{Code: fault.InvalidArgument, Message: line.Error(), Hint: "Read the file again: lines are counted from 1."}
	case fault.CodeOf(err) == fault.NotFound:
		hint := c.missing(ctx, path)
		if hint == c.lookAround() {
			hint = strings.TrimSpace("Paths of changes are exact. " + c.hint("write_file", "To make a new file use write_file."))
		}
		return &tool.Error{Code: fault.NotFound, Message: "File not found: " + quoted(fault.Clip(path, maxShown)), Hint: hint}
	case fault.CodeOf(err) == fault.InvalidArgument && c.isFolder(ctx, path):
		return c.folderError(path)
	}
	return err
}

// oldText returns the old text of the failed edit.
func (c *call) oldText(err error) string {
	var missing *change.NotFoundError
	if old := c.String("old_text"); old != "" || !errors.As(err, &missing) {
		return old
	}
	return missing.Old
}

// oneOf adds to an error which of several edits failed.
func (c *call) oneOf(err, worded error) error {
	var edit *change.EditError
	var e *tool.Error
	if c.String("old_text") == "" && errors.As(err, &edit) && errors.As(worded, &e) {
		e.Message = fmt.Sprintf("Edit %d: %s", edit.Index+1, e.Message)
	}
	return worded
}

// textMissing reports that a text isn't in a file; the hint shows the closest text.
func textMissing(err error, old, path string) error {
	return &tool.Error{
		Code:    fault.NotFound,
		Message: fmt.Sprintf("Text '%s' not found in %s", fault.Clip(old, 200), render.Name(path)),
		Hint:    sentence(fault.HintOf(err)),
	}
}

// remaining adds that the replaced text also occurs in other places.
func (c *call) remaining(a *answer, change *change.Change) {
	if s := render.Remaining(change); s != "" && c.d.remaining {
		a.text = append(append(a.text, '\n'), s...)
	}
}

var writeFile = action{changeSchema, tool.Hints{Destructive: true, Idempotent: true}, write}

func write(ctx context.Context, c *call) (*answer, error) {
	path, err := c.newPath(ctx, "path")
	if err != nil {
		return nil, err
	}
	opts := c.changing()
	opts.Text = true
	change, err := c.ws.Write(ctx, path, []byte(c.String("content")), opts)
	if err != nil {
		return nil, c.writeError(ctx, err, path)
	}
	return c.changed(change, render.Written(change)), nil
}

// writeError words a failed write as the dialect's documents do. Errors that already have
// their own wording keep it.
func (c *call) writeError(ctx context.Context, err error, path string) error {
	var known *tool.Error
	if !errors.As(c.problem(ctx, err), &known) || rootProblem(err) != nil {
		return err
	}
	switch known.Code {
	case fault.IOError, fault.InvalidArgument, fault.TooLarge, fault.NotFound:
		e := *known
		why := e.Message
		var at *fault.PathError
		switch {
		case c.isFolder(ctx, path):
			why = "it is a folder"
		case errors.As(err, &at) && known.Code != fault.NotFound && !saysItself(at, fault.CodeOf(err)):
			why = pathReason(at, fault.CodeOf(err))
		}
		e.Message = "Failed to write file " + quoted(fault.Clip(path, maxShown)) + ": " + why
		return &e
	}
	return err
}

// folderError refuses a folder if a file is needed.
func (c *call) folderError(path string) error {
	return &tool.Error{Code: fault.InvalidArgument, Message: quoted(path) + " is a folder, not a file", Hint: c.hint("list_files", "Use list_files to see what is in it.")}
}

func (c *call) isFolder(ctx context.Context, path string) bool {
	info, err := c.ws.Stat(ctx, path)
	return err == nil && info.Folder
}

var createFolder = action{changeSchema, tool.Hints{Idempotent: true}, makeFolder}

func makeFolder(ctx context.Context, c *call) (*answer, error) {
	folder := c.path(ctx, "path")
	if rel, inside := c.ws.Inside(folder); inside {
		folder = rel
	} else {
		folder = strings.TrimLeft(folder, `/\`) // a leading slash is the top of the vault
	}
	if strings.TrimSpace(folder) == "" || path.Clean(strings.ReplaceAll(folder, `\`, "/")) == "." {
		return nil, invalid("path cannot be empty or root.")
	}
	change, err := c.ws.Mkdir(ctx, folder, c.changing())
	if err != nil {
		return nil, err
	}
	return c.changed(change, render.MadeFolder(change)), nil
}

var moveFile = action{changeSchema, tool.Hints{Destructive: true}, movePath}

func movePath(ctx context.Context, c *call) (*answer, error) {
	return c.move(ctx, false)
}

func (c *call) move(ctx context.Context, note bool) (*answer, error) {
	from, err := c.givenPath(ctx, "source")
	if err != nil {
		return nil, err
	}
	to, err := c.newPath(ctx, "destination")
	if err != nil {
		return nil, err
	}
	if note := c.existing(from); isNote(into(to, note)) {
		from = note // a name without .md means the note only if the destination is a note
	}
	to = into(to, strings.TrimRight(from, `/\`))
	opts := &change.MoveOptions{Options: *c.changing()}
	source, destination := from, to
	if note {
		source, destination = notes.Path(from), notes.Path(to)
	}
	switch {
	case c.Given("update_links") && !c.Bool("update_links"):
		opts.Links = change.LinksLeave
	case c.Given("update_links") || c.d.noteNames: // the profile notes documents that it updates links
		opts.Links = change.LinksUpdate
	}
	if c.Bool("keep_texts") && opts.Links != change.LinksLeave {
		opts.Links = change.LinksKeepTexts
	}
	if a, err := c.moveAttached(ctx, source, destination, opts.Links); a != nil || err != nil {
		return a, err
	}
	moved, err := c.ws.Move(ctx, source, destination, opts)
	var between *change.AcrossError
	if errors.As(err, &between) {
		err = &change.AcrossError{From: from, To: to} // paths as the caller gave them
	}
	if err != nil {
		return nil, c.moveError(ctx, err, from, note)
	}
	if note && !moved.Unchanged {
		return c.changed(moved, "Successfully moved note from "+quoted(moved.Paths[0])+" to "+quoted(moved.Paths[1])+"."), nil
	}
	a := c.changed(moved, render.Moved(moved))
	if c.d.oldNames && !moved.DryRun && !moved.Unchanged {
		a.receipt = append(a.receipt, c.stillNamed(ctx, a, moved.Paths[0], moved.Paths[1])...)
	}
	return a, nil
}

// stillNamed shows or counts the lines that still contain the old name of a renamed file.
// Links are updated but other mentions are not, and in trials agents searched for them
// each time.
func (c *call) stillNamed(ctx context.Context, a *answer, from, to string) []string {
	name := strings.TrimSuffix(path.Base(from), path.Ext(from))
	if utf8.RuneCountInString(name) < 4 || name == strings.TrimSuffix(path.Base(to), path.Ext(to)) {
		return nil
	}
	q := search.Query{
		Pattern: name, Patterns: []string{url.PathEscape(name)}, Match: match.Options{Syntax: match.Literal}, Scope: c.where(),
		Limits: search.Limits{Time: c.o.Time, LineBytes: shownLine},
	}
	r, err := c.ws.Search(ctx, q)
	if err != nil {
		return nil // the move succeeded, so this error is ignored
	}
	if c.Bool("keep_texts") {
		withoutTexts(r, name)
	}
	if len(r.Files) == 0 {
		return nil
	}
	text := fmt.Sprintf("the old name still stands in %s of %s", fault.Count(r.LinesMatched, "line"), fault.Count(len(r.Files), "file"))
	if r.LinesMatched > stillShown {
		return []string{text}
	}
	lines, _ := linesText(nil, r.Files, 0, c.limits())
	a.text = append(append(a.text, "\nThe old name still stands in:"...), lines...)
	return nil
}

// withoutTexts drops lines in which name occurs only as the displayed text of a link: the
// caller asked to keep these texts.
func withoutTexts(r *search.Result, name string) {
	texts := strings.NewReplacer("|"+name+"]]", "", "["+name+"](", "", `\|`+name+"]]", "")
	r.LinesMatched = 0
	for i := range r.Files {
		r.Files[i].Lines = slices.DeleteFunc(r.Files[i].Lines, func(l search.Line) bool { return !strings.Contains(texts.Replace(string(l.Text)), name) })
		r.LinesMatched += len(r.Files[i].Lines)
	}
	r.Files = slices.DeleteFunc(r.Files, func(f search.FileMatch) bool { return len(f.Lines) == 0 })
}

// stillShown limits the lines shown with the old name of a file.
const stillShown = 5

// moveError words a failed move and names the invalid path.
func (c *call) moveError(ctx context.Context, err error, from string, note bool) error {
	var which *change.MoveError
	if !errors.As(err, &which) {
		return err
	}
	path := quoted(which.Path)
	switch code := fault.CodeOf(err); {
	case code == fault.NotFound && which.Source && note:
		return &tool.Error{Code: fault.NotFound, Message: "There is no note at " + path, Hint: c.hint("search_notes", "Find notes with search_notes.")}
	case code == fault.NotFound && which.Source:
		return &tool.Error{Code: fault.NotFound, Message: "Source not found: " + path, Hint: c.missing(ctx, from)}
	case code == fault.AlreadyExists && note:
		return &tool.Error{Code: fault.AlreadyExists, Message: "A note already exists at " + path + ". Nothing is overwritten.", Hint: "Choose another name, or delete what is there."}
	case code == fault.AlreadyExists && c.isFolder(ctx, which.Path):
		into := quoted(which.Path + "/" + baseName(from))
		return &tool.Error{Code: fault.AlreadyExists, Message: "Destination already exists: " + path, Hint: "It is a folder. To move into it, give " + into + "."}
	case code == fault.AlreadyExists:
		return &tool.Error{Code: fault.AlreadyExists, Message: "Destination already exists: " + path, Hint: sentence(fault.HintOf(err))}
	}
	return err
}

// baseName returns the last element of a path, with / or \ as separator.
func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

var deleteFile = action{changeSchema, tool.Hints{Destructive: true}, deletePath}

func deletePath(ctx context.Context, c *call) (*answer, error) {
	path, err := c.givenPath(ctx, "path")
	if err != nil {
		return nil, err
	}
	change, err := c.ws.Delete(ctx, path, &change.DeleteOptions{Options: *c.changing()})
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return nil, &tool.Error{Code: fault.NotFound, Message: "File or folder not found: " + quoted(fault.Clip(path, maxShown)), Hint: c.missing(ctx, path)}
		}
		return nil, err
	}
	return c.changed(change, render.Deleted(change)), nil
}
