package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
)

func newLog(s Streams) *cobra.Command {
	c := &changer{s: s}
	limit := 20
	cmd := command("log", "List the changes made, newest first",
		`List the changes made in the workspace, newest first. The first word of a line
is the id that quarry undo and quarry diff take.`, "", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			if err := c.open(); err != nil {
				return err
			}
			log, err := c.ws.Changes(cmd.Context(), limit)
			if err == nil {
				err = c.showLog(log)
			}
			return c.run(render.Undoing, "", err)
		})
	cmd.Flags().IntVar(&limit, "limit", 20, "list at most this many; 0 is all")
	c.commonFlags(cmd.Flags())
	return cmd
}

// countAre is "1 change is" or "3 changes are".
func countAre(n int, thing string) string {
	if n == 1 {
		return render.Count(n, thing) + " is"
	}
	return render.Count(n, thing) + " are"
}

func (c *changer) showLog(log *change.Log) error {
	if c.json {
		return c.encode(log)
	}
	var b strings.Builder
	paint := c.s.paint()
	for _, ch := range log.Changes {
		rest := fmt.Sprintf("  %s  %s%s", ch.Time.Local().Format(time.DateTime), ch.Summary, fate(&ch))
		b.WriteString(paint.in(cGood, c.safe(ch.ID)) + c.safe(rest) + "\n")
	}
	if log.Dropped > 0 {
		fmt.Fprintf(&b, "%s up to %s no longer kept\n", render.Count(log.Dropped, "older change"), log.DroppedTo.Local().Format(time.DateTime))
	}
	if log.Damaged > 0 {
		fmt.Fprintf(&b, "%s of the journal can't be read\n", render.Count(log.Damaged, "record"))
	}
	if log.Lost > 0 {
		fmt.Fprintf(&b, "%s missing: files of the journal were cut short or deleted\n", countAre(log.Lost, "change"))
	}
	if err := c.write(b.String()); err != nil {
		return err
	}
	if len(log.Changes) == 0 {
		return c.s.nothing("no changes: nothing was changed here with quarry so far")
	}
	return nil
}

// fate tells what became of a change.
func fate(ch *change.Change) string {
	switch {
	case ch.UndoneBy != "":
		return " (taken back by " + ch.UndoneBy + ")"
	case ch.Pending:
		return " (not finished)"
	case ch.NoUndo != "":
		return " (can't be undone)"
	}
	return ""
}

func newUndo(s Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command("undo [ID]", "Take back a change, the last one unless an id is given",
		`Take back a change with all it did: an edit, a move with its links, a deletion.
It is refused, and nothing is changed, when a file is not what the change left.
An undo is a change too: undo its id to have the first change again.`, "",
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			if err := c.open(); err != nil {
				return err
			}
			id := strings.Join(args, "")
			o := c.options()
			p := newProgress(s, c.quiet, "taking back")
			ch, err := c.ws.Undo(cmd.Context(), id, &o)
			p.end()
			if id == "" && fault.CodeOf(err) == fault.NotFound && !c.json {
				fmt.Fprintln(s.Err, "quarry: there is nothing to undo")
				err = errNone
			} else if err == nil {
				err = c.report(ch, render.Undone(ch))
			}
			return c.run(render.Undoing, id, err)
		})
	c.patientFlags(cmd.Flags())
	c.flags(cmd.Flags(), false)
	return cmd
}

func newDiff(s Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command("diff ID", "Show what a change did",
		"Show a change as a unified diff, whatever became of its files since.", "",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			if err := c.open(); err != nil {
				return err
			}
			ch, err := c.ws.Diff(cmd.Context(), args[0])
			if err == nil {
				if c.json {
					err = c.encode(ch)
				} else {
					err = c.write(s.paint().diff(ch.Diffs, c.safe))
				}
			}
			return c.run(render.Undoing, args[0], err)
		})
	c.commonFlags(cmd.Flags())
	return cmd
}

func newTrash(s Streams) *cobra.Command {
	cmd := command("trash", "List, restore and empty what was deleted",
		"What was deleted from the workspace and is in the system's trash or its own.", "", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(newTrashList(s), newTrashRestore(s), newTrashEmpty(s))
	return cmd
}

func newTrashList(s Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command("list", "List what was deleted", "List what was deleted, newest first.", "", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			if err := c.open(); err != nil {
				return err
			}
			items, problems, err := c.ws.Trashed(cmd.Context())
			if err == nil {
				err = c.showTrash(items, problems)
			}
			return c.run(render.Reading, "", err)
		})
	c.commonFlags(cmd.Flags())
	return cmd
}

func (c *changer) showTrash(items []change.Trashed, problems []string) error {
	if c.json {
		return c.encode(map[string]any{"items": items, "problems": problems})
	}
	var b strings.Builder
	for _, it := range items {
		when, path := strings.Repeat(" ", len(time.DateTime)), it.Path
		if !it.Deleted.IsZero() {
			when = it.Deleted.Local().Format(time.DateTime)
		}
		if path == "" {
			path = it.ID
		}
		if it.Folder {
			path += "/"
		}
		fmt.Fprintf(&b, "%s  %-6s  %s\n", when, it.Kind, render.Plain(path))
	}
	if err := c.print(b.String()); err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintf(c.s.Err, "quarry: %s\n", p)
	}
	if len(items) == 0 {
		return c.s.nothing("the trash has nothing of this workspace")
	}
	return nil
}

func newTrashRestore(s Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command("restore PATH [DESTINATION]", "Bring back what was deleted",
		`Bring back what was deleted last at a path, or an item by the id that
quarry trash list --json shows.`, "", cobra.RangeArgs(1, 2),
		func(cmd *cobra.Command, args []string) error {
			what, err := c.openFor(args[0])
			if err != nil {
				return err
			}
			to := ""
			if len(args) == 2 {
				to, err = c.also(args[1])
			}
			if err == nil {
				var ch *change.Change
				o := c.options()
				ch, err = c.ws.RestoreTrashed(cmd.Context(), args[0], to, &o)
				if errors.Is(err, change.ErrNotTrashed) {
					ch, err = c.ws.RestoreTrashed(cmd.Context(), what, to, &o)
				}
				if err == nil {
					err = c.report(ch, fmt.Sprintf("Restored %s.", render.Quote(ch.Paths[0])))
				}
			}
			return c.run(render.Writing, what, err)
		})
	c.flags(cmd.Flags(), false)
	return cmd
}

func newTrashEmpty(s Streams) *cobra.Command {
	c := &changer{s: s}
	var older time.Duration
	yes := false
	cmd := command("empty", "Delete for good what is in the trash",
		`Delete for good what was deleted from this workspace. What other folders put
into the system's trash stays. This can't be undone.`, "", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			if !yes {
				return errors.New("this deletes for good: say --yes")
			}
			if err := c.open(); err != nil {
				return err
			}
			before := time.Time{}
			if older > 0 {
				before = time.Now().Add(-older)
			}
			n, err := c.ws.EmptyTrash(cmd.Context(), before)
			if err == nil {
				if c.json {
					err = c.encode(map[string]int{"deleted": n})
				} else {
					err = c.print(fmt.Sprintf("Deleted %s for good.\n", render.Count(n, "item")))
				}
			}
			return c.run(render.Deleting, "", err)
		})
	addDuration(cmd.Flags(), &older, "older-than", 0, "only what was deleted longer ago than this `time`, as 30d")
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	c.commonFlags(cmd.Flags())
	return cmd
}
