package notebook

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/notefields"
	"quarry/internal/vault"
)

// TaskLine is a task and its line.
type TaskLine struct {
	Path string
	Line int
	Text string // the whole line
}

// Tasks lists the tasks that filters select, by note. Filters for notes apply to all
// tasks of a note, and filters for tasks to each task: task:todo lists only open ones.
func (b *Book) Tasks(ctx context.Context, query string) (out []TaskLine, err error) {
	return out, b.eachTasks(ctx, query, func(n *Note, _ *vault.Note, tasks []vault.Task) error {
		for _, t := range tasks {
			out = append(out, TaskLine{n.Path, n.lineAt(t.Mark.Start), n.lineText(t.Mark.Start)})
		}
		return nil
	})
}

// eachTasks calls f with the tasks of each note that filters select.
func (b *Book) eachTasks(ctx context.Context, query string, f func(n *Note, scan *vault.Note, tasks []vault.Task) error) error {
	expr, err := onlyFilters(query)
	if err != nil {
		return err
	}
	filter, err := b.filter(ctx, expr)
	if err != nil {
		return filterError(err)
	}
	var paths []string
	err = b.eachFact(ctx, factQuery{globs: onlyNotes, want: filter.want | notefields.Tasks, look: func(path string, f *notefields.Facts, _ []byte) any {
		found := false
		f.EachTask(ctx, func(t *vault.Task) bool {
			found = filter.admits(ctx, path, f.Only(t))
			return !found
		})
		if found {
			return true
		}
		return nil
	}}, func(path string, _ any) { paths = append(paths, path) })
	if err != nil {
		return err
	}
	return b.eachNote(ctx, paths, func(n *Note) error {
		facts := notefields.Of(n.Path, n.Text)
		tasks := facts.Scanned(ctx).Tasks(n.Text)
		tasks = slices.DeleteFunc(tasks, func(t vault.Task) bool { return !filter.admits(ctx, n.Path, facts.Only(&t)) })
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(n, facts.Scanned(ctx), tasks)
	})
}

// lineText returns the line that contains an offset, without surrounding blanks.
func (n *Note) lineText(at int) string {
	from := bytes.LastIndexByte(n.Text[:at], '\n') + 1
	line, _, _ := bytes.Cut(n.Text[from:], []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// CheckTask marks a task as done, or as open again, which changes one byte. The task is
// selected by its text, with or without its mark. If several tasks have this text, line
// is needed, too.
func (b *Book) CheckTask(ctx context.Context, path, text string, line int, done bool, o Options) (*change.Change, error) {
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := n.expect(o); err != nil {
		return nil, err
	}
	scan, err := vault.Scan(ctx, n.Text)
	if err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	var found []vault.Task
	var lines []string
	there, near := "no task", "list the tasks of the note"
	for _, t := range scan.Tasks(n.Text) {
		at := n.lineAt(t.Mark.Start)
		if at == line {
			there = n.lineText(t.Mark.Start)
		}
		if len(text) > 2 && strings.Contains(strings.ToLower(t.Text), strings.ToLower(text)) {
			near = fmt.Sprintf("line %d has %q: give the whole text", at, fault.Clip(t.Text, 120))
		}
		if (t.Text == text || n.lineText(t.Mark.Start) == text) && (line == 0 || at == line) {
			found, lines = append(found, t), append(lines, fmt.Sprint(at))
		}
	}
	switch {
	case text == "":
		return nil, fault.New(fault.InvalidArgument, "name the task by its text", "")
	case len(found) == 0 && line > 0:
		return nil, fault.New(fault.Conflict, fmt.Sprintf("line %d of %s has %s", line, fault.Printable(n.Path), fault.Clip(there, 120)), "list the tasks again")
	case len(found) == 0:
		return nil, fault.New(fault.NotFound, fmt.Sprintf("%s has no task %q", fault.Printable(n.Path), fault.Clip(text, 120)), near)
	case len(found) > 1:
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("%s has this task on lines %s", fault.Printable(n.Path), strings.Join(lines, ", ")), "give the line")
	}
	mark, state := " ", "open"
	if done {
		mark, state = "x", "done"
	}
	if t := found[0]; done && t.Done || !done && string(t.Mark.In(n.Text)) == " " {
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("the task on line %s is %s already", lines[0], state), "")
	}
	summary := fmt.Sprintf("marked the task on line %s of %s as %s", lines[0], fault.Printable(n.Path), state)
	return b.apply(ctx, summary, o, n.edit([]vault.Splice{{Span: found[0].Mark, New: mark}}))
}
