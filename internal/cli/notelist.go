package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/notebook"
	"quarry/internal/render"
)

func newNoteList(s env.Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var q notebook.TableQuery
	tasks := false
	cmd := command.New("list FILTERS", "List notes with their values, or their tasks",
		`List the notes that filters select, each with the values of columns, between
tabs: properties, inline fields, tags, links, tasks, folder, name, modified and
created. A property of the note comes before the file's: file.size and file.mtime
are always the file's. --tasks lists the tasks that filters select.`,
		`  quarry note list 'tag:book has:author' --columns author,rating --sort -rating
  quarry note list 'task:todo task:due<today path:Projects' --tasks`,
		command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
			if _, err := c.openNote(""); err != nil {
				return err
			}
			if tasks {
				list, err := c.book.Tasks(cmd.Context(), args[0])
				return c.run(render.Reading, args[0], showList(c, "no tasks", func(t notebook.TaskLine) string {
					return fmt.Sprintf("%s:%d:%s", t.Path, t.Line, t.Text)
				})(list, err))
			}
			q.Query = args[0]
			t, err := c.book.Table(cmd.Context(), q)
			if err != nil {
				return c.run(render.Reading, args[0], err)
			}
			if len(t.Unsupported) > 0 {
				fmt.Fprintln(s.Err, s.Safe("quarry: not followed: "+strings.Join(t.Unsupported, ", ")))
			}
			if len(t.Empty) > 0 {
				fmt.Fprintln(s.Err, s.Safe("quarry: no note here has a value of "+strings.Join(t.Empty, ", ")))
			}
			return c.run(render.Reading, args[0], showList(c, "no notes", func(r notebook.Row) string {
				if t.Group != "" {
					r.Cells = append([]string{r.Group}, r.Cells...)
				}
				line := r.Path
				for _, cell := range r.Cells {
					line += "\t" + inCell(cell)
				}
				return line
			})(t.Rows, nil))
		})
	fl := cmd.Flags()
	fl.StringSliceVar(&q.Columns, "columns", nil, "`names` of columns, with commas between")
	fl.StringSliceVar(&q.Sort, "sort", nil, "`columns` to sort by; -due descends")
	fl.StringVar(&q.Group, "group", "", "`column` to group by, shown first")
	fl.BoolVar(&tasks, "tasks", false, "list tasks")
	c.commonFlags(fl)
	return cmd
}

// inCell quotes a value that has tabs or line feeds.
func inCell(s string) string {
	if strings.ContainsAny(s, "\t\r\n") {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

func newNoteTask(s env.Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	line, open := 0, false
	cmd := command.New("task PATH TEXT", "Mark a task as done",
		`Mark the task with this text as done, or with --open as open. Nothing else of the
note changes.`,
		`  quarry note task Plan.md 'call Ann' --line 12`,
		command.Args(2, 2), func(cmd *cobra.Command, args []string) error {
			path, err := c.openNote(args[0])
			if err != nil {
				return err
			}
			return c.run(render.Editing, path, c.changed(c.book.CheckTask(cmd.Context(), path, args[1], line, !open, c.noteOptions())))
		})
	cmd.Flags().IntVar(&line, "line", 0, "`number` of its line, if several have the text")
	cmd.Flags().BoolVar(&open, "open", false, "mark it as open")
	c.flags(cmd.Flags(), true)
	return cmd
}
