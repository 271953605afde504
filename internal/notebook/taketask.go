package notebook

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// TakeTasks moves the tasks that filters select from other notes to the end of a section,
// or of the note, as one change. Lines and tasks nested in a task move with it. A task
// stays if the move would change its meaning or that of a link to it. The change's warnings
// list such tasks, and nested tasks that moved although the filters don't select them.
func (b *Book) TakeTasks(ctx context.Context, path string, t Target, where string, create bool, o Options) (*change.Change, error) {
	if t.Block != "" || t.Property != "" {
		return nil, fault.New(fault.InvalidArgument, "tasks move to a section or to the end of a note", "give heading, or only the note")
	}
	to, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := to.expect(o); err != nil {
		return nil, err
	}
	if to.Path, err = b.resolve(ctx, to.Path); err != nil {
		return nil, err
	}
	paths, err := b.paths(ctx, false)
	if err != nil {
		return nil, err
	}
	ix := b.index(paths)
	ix.Add(to.Path)
	left := map[string][]string{} // the tasks that stay, by reason
	var along []string            // tasks that move only because they are nested in others
	var ops []change.Op
	var content strings.Builder
	moved := 0
	err = b.eachTasks(ctx, where, func(n *Note, scan *vault.Note, tasks []vault.Task) error {
		var cuts []vault.Splice
		var names []string
		for _, task := range tasks {
			if last := len(cuts) - 1; last >= 0 && task.Mark.Start < cuts[last].End {
				continue // nested in the previous one
			}
			name := fmt.Sprintf("%s:%d", n.Path, n.lineAt(task.Mark.Start))
			lines, reason := movable(n, scan, task, to.Path, ix)
			if reason != "" {
				left[reason] = append(left[reason], name)
				continue
			}
			cuts, names = append(cuts, vault.Splice{Span: lines}), append(names, name)
		}
		if len(cuts) == 0 {
			return nil
		}
		if same, err := vault.SameHeadings(ctx, n.Text, scan, cuts); err != nil {
			return err
		} else if !same { // for example, a line --- after a task could turn the text before it into a heading
			left["headings would change"] = append(left["headings would change"], names...)
			return nil
		}
		all := scan.Tasks(n.Text)
		for _, cut := range cuts {
			content.WriteString(vault.Outdented(cut.In(n.Text)))
			for _, task := range all {
				at := task.Mark.Start
				if cut.Start <= at && at < cut.End && !slices.ContainsFunc(tasks, func(t vault.Task) bool { return t.Mark.Start == at }) {
					along = append(along, fmt.Sprintf("%s:%d", n.Path, n.lineAt(at)))
				}
			}
		}
		ops, moved = append(ops, n.edit(cuts)), moved+len(cuts)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var stay []string
	if len(along) > 0 {
		stay = []string{fmt.Sprintf("%s that the filters don't select moved with those they are nested in: %s", fault.Count(len(along), "task"), fewOf(along))}
	}
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		stay = append(stay, fmt.Sprintf("%s not moved (%s): %s", fault.Count(len(left[reason]), "task"), reason, fewOf(left[reason])))
	}
	if moved == 0 {
		return nil, fault.New(fault.NotFound, strings.Join(append([]string{"no task to move"}, stay...), ": "), "list the tasks with the same filters")
	}
	splices, err := vault.EditSection(ctx, to.Text, t.Heading, vault.PartEdit{Operation: vault.OpAppend, Content: content.String(), Create: create})
	if err != nil {
		return nil, err
	}
	at := fault.Printable(to.Path)
	if t.Heading != "" {
		at = t.String() + " of " + at
	}
	summary := fmt.Sprintf("moved %s from %s to %s", fault.Count(moved, "task"), fault.Count(len(ops), "note"), at)
	c, err := b.apply(ctx, summary, o, append(ops, to.edit(splices))...)
	if c != nil {
		c.Warnings = append(c.Warnings, stay...)
	}
	return c, err
}

// movable returns the lines of a task, or the reason why they can't move to another note.
func movable(n *Note, scan *vault.Note, task vault.Task, to string, ix *vault.Index) (lines vault.Span, reason string) {
	lines, ok := scan.TaskLines(n.Text, task)
	inside := func(s vault.Span) bool { return lines.Start <= s.Start && s.End <= lines.End }
	switch {
	case n.Path == to:
		return lines, "in the note already"
	case !ok:
		return lines, "in a quote"
	case slices.ContainsFunc(scan.BlockIDs, func(id vault.BlockID) bool { return inside(id.Span) }):
		return lines, "links may name its block id"
	case slices.ContainsFunc(scan.Uses, func(u vault.Use) bool { return inside(u.Span) }) || bytes.Contains(lines.In(n.Text), []byte("[^")):
		return lines, "it refers to lines elsewhere in its note"
	case slices.ContainsFunc(scan.Links, func(l vault.Link) bool {
		here, _ := ix.ResolveLink(n.Path, &l)
		there, _ := ix.ResolveLink(to, &l)
		return inside(l.Span) && !l.External && here != there
	}):
		return lines, "a link in it would lead elsewhere"
	}
	return lines, ""
}
