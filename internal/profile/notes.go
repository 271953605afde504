package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/notes"
	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// notesAnswer is the answer of search_notes.
type notesAnswer struct {
	Results []foundNote `json:"results"`
	Total   int         `json:"total"`
	Columns []string    `json:"columns,omitempty"` // of a table
	received
	remark
}

type foundNote struct {
	foundPath
	Excerpt string  `json:"excerpt"`
	Content *string `json:"content,omitempty"`
	// Cells are the values in the columns of a table.
	Cells []string `json:"cells,omitempty"`
}

const notesSchema = `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"excerpt":{"type":"string"},"content":{"type":"string"}},"required":["path","excerpt"]}},"total":{"type":"integer"},"receipt":` + receiptSchema + `,` + noteSchema + `},"required":["results","total","receipt"]}`

var searchNotes = action{notesSchema, readOnly, findNotes}

func findNotes(ctx context.Context, c *call) (*answer, error) {
	switch c.String("show") {
	case "table":
		return c.showTable(ctx, c.String("query"))
	case "tasks":
		return c.showTasks(ctx, c.String("query"))
	}
	content := c.Bool("read_content")
	q := notebook.Query{Query: c.String("query"), Content: content, Loose: c.d.anyForm}
	q.Scope = c.where()
	q.Dialect, q.Globs = search.Plain, []string{"**/*.md"}
	q.Time = c.o.Time
	r, err := notebook.Open(c.ws).Search(ctx, q)
	if errors.Is(err, search.ErrNoWords) {
		return nil, invalid("query is required and must be a non-empty string.")
	}
	if err != nil {
		return nil, err
	}
	data := &notesAnswer{Results: []foundNote{}, Total: r.Total}
	partial := c.unfinished(&r.Summary)
	if r.Total == 0 && partial != "" {
		return &answer{text: []byte("No notes found matching your search query.\n\n" + partial), data: data, sum: &r.Summary}, nil
	}
	if r.Total == 0 {
		text := []byte("No notes found matching your search query.")
		if s := c.skipped(&r.Summary); s != "" && !c.d.receipts {
			// An empty answer must not hide that some notes were not searched.
			text = append(text, "\n\nNotes "+s+"."...)
		}
		return &answer{text: text, data: data, sum: &r.Summary, receipt: c.zeroNotes(ctx, q, &r.Summary)}, nil
	}
	if c.String("show") == "count" {
		return &answer{data: data, sum: &r.Summary, cut: cutBy(partial, false), text: []byte(fault.Count(r.Total, "note")), receipt: c.unsearched(&r.Summary, partial)}, nil
	}
	if r.Listed && !content {
		return c.listNotes(ctx, r, partial), nil
	}
	text := fmt.Appendf(nil, "Found %d matching note(s):", r.Total)
	text, fit, short := render.Notes(text, r.Notes, content, c.d.numbersNotes, c.limits())
	for _, n := range r.Notes[:fit] {
		out := foundNote{foundPath: pathOf(n.Path), Excerpt: strings.Join(n.Excerpts, " ")}
		if content {
			out.Content = &n.Content
		}
		data.Results = append(data.Results, out)
	}
	a := &answer{data: data, sum: &r.Summary}
	cut := ""
	if fit < r.Total {
		text = fmt.Appendf(text, "\n\nShowing the best %d of %d notes. Use more words to narrow the search.", fit, r.Total)
		cut = "notes"
		a.receipt = append(a.receipt, fmt.Sprintf("the best %d of %d notes", fit, r.Total))
	} else {
		a.receipt = append(a.receipt, "all notes shown")
	}
	if short > 0 {
		text = fmt.Appendf(text, "\n\n%s shown as excerpts for want of room.%s", fault.Count(short, "note is", "notes are"), c.hint("read_file", " Use read_file for the text."))
		cut = "bytes"
	}
	if s := c.skipped(&r.Summary); s != "" {
		a.receipt = append(a.receipt, s)
	}
	if r.Stopped = ""; partial != "" {
		text, cut = append(text, "\n\n"+partial...), "time"
	}
	a.cut, a.text = cut, text
	return a, nil
}

// listNotes answers a query that has only filters. Without words there are no excerpts.
func (c *call) listNotes(ctx context.Context, r *notebook.Result, partial string) *answer {
	data := &notesAnswer{Results: []foundNote{}, Total: r.Total}
	paths := make([]string, len(r.Notes))
	for i, n := range r.Notes {
		paths[i] = n.Path
		data.Results = append(data.Results, foundNote{foundPath: pathOf(n.Path)})
	}
	a := &answer{data: data, text: render.PathList(nil, paths, r.Total, "note", "notes", c.limits()), sum: &r.Summary, cut: cutBy(partial, len(paths) < r.Total)}
	a.receipt = c.unsearched(&r.Summary, partial)
	return a
}

// cutBy returns why a list of notes is incomplete, for the structured result.
func cutBy(partial string, more bool) string {
	switch {
	case partial != "":
		return "time"
	case more:
		return "notes"
	}
	return ""
}

// unsearched reports that a search ended early, or which notes it omitted.
func (c *call) unsearched(s *search.Summary, partial string) []string {
	if partial != "" {
		return []string{partial}
	}
	if skip := c.skipped(s); skip != "" {
		return []string{skip}
	}
	return nil
}

var createNote = action{changeSchema, tool.Hints{}, addNote}

func addNote(ctx context.Context, c *call) (*answer, error) {
	note := notes.New{Content: c.String("content"), Path: c.path(ctx, "path"), Title: c.String("title")}
	if p, err := c.newPath(ctx, "path"); err == nil {
		note.Path = p
	}
	if err := c.namedRoot(&note.Path); err != nil {
		return nil, err
	}
	change, err := c.applyOne(ctx, notes.Create(note), "")
	if err != nil {
		var path *fault.PathError
		if fault.CodeOf(err) == fault.AlreadyExists && errors.As(err, &path) {
			return nil, &tool.Error{Code: fault.AlreadyExists, Message: "A note already exists at " + quoted(path.Path) + ". Use modify_note to update it."}
		}
		return nil, err
	}
	return c.changed(change, render.CreatedNote(change)), nil
}

var modifyNote = action{changeSchema, tool.Hints{Destructive: true}, reviseNote}

func reviseNote(ctx context.Context, c *call) (*answer, error) {
	path, err := c.givenPath(ctx, "path")
	if err != nil {
		return nil, err
	}
	op := notes.Operation(c.String("operation"))
	if op == notes.Replace && c.String("search") == "" {
		return nil, invalid("To replace text, give the text to find as search.")
	}
	edit := notes.Edit{Operation: op, Content: c.String("content"), Search: c.String("search")}
	change, err := c.changeNote(ctx, notes.Path(path), edit)
	if isTextMissing(err) {
		path = notes.Path(path)
	}
	if err != nil {
		return nil, c.noteError(err, path, c.String("search"))
	}
	done := map[notes.Operation]string{
		notes.Append: "appended content to", notes.Prepend: "prepended content to", notes.Replace: "replaced content in",
	}[op]
	a := c.changed(change, "Successfully "+done+" "+quoted(change.Paths[0])+".")
	c.remaining(a, change)
	return a, nil
}

func (c *call) changeNote(ctx context.Context, path string, e notes.Edit) (*change.Change, error) {
	return notes.Modify(ctx, c.ws, path, e, func(op change.Op, summary string) (*change.Change, error) {
		return c.applyOne(ctx, op, summary)
	})
}

// applyOne applies a single operation.
func (c *call) applyOne(ctx context.Context, op change.Op, summary string) (*change.Change, error) {
	o := c.changing()
	o.Summary = cmp.Or(o.Summary, summary)
	do := c.ws.Apply
	if o.DryRun {
		do = c.ws.Plan
	}
	done, err := do(ctx, o.Set(c.tool.Name, op))
	if done != nil {
		done.Files, done.Digest = nil, ""
	}
	return done, err
}

func isTextMissing(err error) bool {
	var missing *change.NotFoundError
	return errors.As(err, &missing)
}

func (c *call) noteError(err error, path, search string) error {
	if isTextMissing(err) {
		return textMissing(err, search, path)
	}
	if fault.CodeOf(err) == fault.NotFound {
		return &tool.Error{Code: fault.NotFound, Message: "There is no note at " + quoted(path), Hint: c.hint("search_notes", "Find notes with search_notes, or make one with create_note.")}
	}
	return err
}

var organizeNote = action{changeSchema, tool.Hints{Destructive: true}, moveNote}

func moveNote(ctx context.Context, c *call) (*answer, error) {
	return c.move(ctx, true)
}

// namedRoot checks that the path of a new note begins with a root's name if there are
// several roots. A path that is only a root's name leaves the choice of the note's name
// to the caller.
func (c *call) namedRoot(path *string) error {
	names := RootNames(c.ws)
	first, _, below := strings.Cut(strings.TrimLeft(*path, "/"), "/")
	if names == nil || below {
		return nil
	}
	for _, name := range names {
		if strings.EqualFold(name, first) {
			*path = name + "/"
			return nil
		}
	}
	return &fault.RootError{Path: *path, Names: names}
}
