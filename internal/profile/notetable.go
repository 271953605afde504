package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/search"
)

// showTable answers search_notes with a table of property values of the notes that
// filters select.
func (c *call) showTable(ctx context.Context, query string) (*answer, error) {
	q := notebook.TableQuery{Query: query, Columns: c.names("columns"), Sort: c.names("sort"), Group: c.String("group")}
	t, err := notebook.Open(c.ws).Table(ctx, q)
	if err != nil {
		return nil, err
	}
	text, fit := render.NoteTable(nil, t, c.limits())
	if len(t.Rows) == 0 {
		text = c.withUnmet(ctx, text, query)
	}
	data := &notesAnswer{Results: []foundNote{}, Total: len(t.Rows), Columns: t.Columns}
	for _, r := range t.Rows[:fit] {
		data.Results = append(data.Results, foundNote{foundPath: pathOf(r.Path), Cells: r.Cells})
	}
	a := &answer{text: text, data: data, cut: cutBy("", fit < len(t.Rows))}
	if len(t.Unsupported) > 0 {
		a.receipt = append(a.receipt, "not followed: "+strings.Join(t.Unsupported, ", "))
	}
	if len(t.Empty) > 0 {
		a.receipt = append(a.receipt, "no note here has a value of "+strings.Join(t.Empty, ", "))
	}
	return a, nil
}

// withUnmet adds to an empty answer the values that the properties in its filters do
// have.
func (c *call) withUnmet(ctx context.Context, text []byte, query string) []byte {
	for _, why := range notebook.Open(c.ws).Unmet(ctx, query) {
		text = append(append(append(text, ' '), why...), '.')
	}
	return text
}

// names reads a list of names, which may also be a comma-separated string.
func (c *call) names(param string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.Join(c.Strings(param), ","), ", ", ","), func(r rune) bool { return r == ',' })
}

// showTasks answers search_notes with the tasks in the notes that filters select.
func (c *call) showTasks(ctx context.Context, query string) (*answer, error) {
	tasks, err := notebook.Open(c.ws).Tasks(ctx, query)
	if err != nil {
		return nil, err
	}
	var files []search.FileMatch
	for _, t := range tasks {
		if n := len(files); n == 0 || files[n-1].Path != t.Path {
			files = append(files, search.FileMatch{Path: t.Path})
		}
		f := &files[len(files)-1]
		f.Lines = append(f.Lines, search.Line{Number: t.Line, Text: []byte(t.Text), Hit: true})
	}
	data := &notesAnswer{Results: []foundNote{}, Total: len(tasks)}
	if len(tasks) == 0 {
		return &answer{text: c.withUnmet(ctx, []byte("No tasks."), query), data: data}, nil
	}
	text := fmt.Appendf(nil, "%s in %s", fault.Count(len(tasks), "task"), fault.Count(len(files), "note"))
	text, shown := linesText(text, files, 0, c.limits())
	for i := range shown.Files {
		f := &shown.Files[i]
		lines := make([]string, len(f.Lines))
		for k, l := range f.Lines {
			lines[k] = fmt.Sprintf("%d: %s", l.Number, l.Text)
		}
		data.Results = append(data.Results, foundNote{foundPath: pathOf(f.Path), Excerpt: strings.Join(lines, "\n")})
	}
	a := &answer{text: text, data: data}
	if left := len(tasks) - shown.Results; left > 0 {
		a.cut = "notes"
		a.receipt = append(a.receipt, fault.Count(left, "task")+" not shown; narrow the filters")
	}
	return a, nil
}
