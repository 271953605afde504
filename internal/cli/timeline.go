package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/render"
)

// back resolves a point given by the user, which is a change, a named point or a time.
func (c *changer) back(ctx context.Context, point string) (*change.Back, *change.Log, error) {
	log, err := c.ws.Changes(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	to := &change.Back{Name: point}
	for _, ch := range log.Changes {
		if strings.EqualFold(ch.ID, point) {
			to.After = ch.ID
			return to, log, nil
		}
	}
	for _, p := range log.Points {
		if p.Name == point {
			to.After, to.Since = p.After, p.Time
			return to, log, nil
		}
	}
	to.Since, err = (&chosen{since: point}).from(log)
	return to, log, err
}

// undoTo undoes all changes after a point. It first lists them by author.
func (c *changer) undoTo(ctx context.Context, point, by string, all bool) error {
	to, _, err := c.back(ctx, point)
	if err != nil {
		return err
	}
	to.By = by
	o := c.options()
	o.To, o.SkipConflicts, o.DryRun, o.FullDiff = to, c.skip, true, c.diff
	o.AllLines = c.diff
	plan, err := c.ws.Undo(ctx, "", &o)
	if err != nil {
		return err
	}
	if by != "" && len(plan.Authors) == 0 {
		return fmt.Errorf("%q made no changes after %s; quarry undo --to %s --dry-run lists the authors", by, point, render.ShellQuote(point))
	}
	if plan.Unchanged {
		return c.s.Nothing("there is nothing to undo: " + plan.Summary)
	}
	if !c.json {
		if err := c.s.Print(authors(plan)); err != nil {
			return err
		}
	}
	if c.dryRun {
		rest := []string{point}
		if by != "" {
			rest = append(rest, "--by", by)
		}
		c.again = c.whole("quarry undo --to", rest)
		return c.undone(plan)
	}
	others := slices.ContainsFunc(plan.Authors, func(a change.Author) bool { return a.Name != change.Yourself })
	if others && !all && by == "" {
		if err := c.agree(); err != nil {
			return err
		}
	}
	o.DryRun = false
	done, err := c.ws.Undo(ctx, "", &o)
	if err != nil {
		return err
	}
	if c.diff {
		done.Diffs, done.Diff = plan.Diffs, plan.Diff
	}
	return c.undone(done)
}

// authors lists the authors of the undone changes.
func authors(plan *change.Change) string {
	var b strings.Builder
	for _, a := range plan.Authors {
		shown := a.Files
		if len(shown) > 5 {
			shown = append(slices.Clone(shown[:5]), fmt.Sprintf("%d more", len(a.Files)-5))
		}
		fmt.Fprintf(&b, "%s: %s, %s: %s\n", fault.Printable(a.Name), fault.Count(a.Changes, "change"), fault.Count(len(a.Files), "file"), fault.Printable(strings.Join(shown, ", ")))
	}
	return b.String()
}

var errOthers = fault.New(fault.InvalidArgument, "changes of other authors would be undone, and nothing was", "say --all for all of them, or --by AUTHOR for those of one; --dry-run shows what they did")

// agree asks the user for confirmation on a terminal.
func (c *changer) agree() error {
	in, ok := c.s.In.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(in.Fd())) || !c.s.ErrTerminal() {
		return errOthers
	}
	fmt.Fprint(c.s.Err, "Undo all of them? [y/N] ")
	line, _ := bufio.NewReader(c.s.In).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return nil
	}
	return errors.New("nothing was undone")
}

// diffSince combines all changes after a point into one.
func (c *changer) diffSince(ctx context.Context, point string) (*change.Change, error) {
	to, log, err := c.back(ctx, point)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, ch := range log.Changes {
		if to.After != "" && ch.ID > to.After || to.After == "" && ch.Time.After(to.Since) {
			ids = append(ids, ch.ID)
		}
	}
	return c.ws.DiffAll(ctx, ids)
}

func newPoint(s env.Streams) *cobra.Command {
	c := &changer{s: s, recorded: true}
	cmd := command.New("point [NAME]", "Name the present, to go back to it",
		`Give the present a name: quarry undo --to NAME goes back to it, quarry diff --since
NAME shows what happened after it. Without a name, list the points.`,
		`  quarry point before-refactoring
  quarry undo --to before-refactoring --dry-run`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			if err := c.open(); err != nil {
				return err
			}
			if len(args) == 1 {
				if _, err := (&chosen{since: args[0]}).from(&change.Log{}); err == nil {
					return c.run(render.Writing, "", fmt.Errorf("%q can't be the name of a point: it is a time", args[0]))
				}
				return c.run(render.Writing, "", c.ws.Point(cmd.Context(), args[0]))
			}
			log, err := c.ws.Changes(cmd.Context(), 1)
			if err == nil {
				err = c.showPoints(log.Points)
			}
			return c.run(render.Reading, "", err)
		})
	c.commonFlags(cmd.Flags())
	return cmd
}

func (c *changer) showPoints(list []change.Point) error {
	if c.json {
		return c.s.Encode(map[string]any{"points": append([]change.Point{}, list...)})
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%s  %s\n", p.Time.Local().Format("2006-01-02 15:04:05"), c.s.Safe(p.Name))
	}
	if len(list) == 0 {
		return c.s.Nothing("no points: quarry point NAME makes one")
	}
	return c.s.Write(b.String())
}

func newRecord(s env.Streams) *cobra.Command {
	cmd := command.New("record", "Show or remove what was recorded of other programs",
		"What other programs change is recorded by quarry ui, and by quarry serve and\nquarry mcp with --record; quarry log lists it.", "", command.Args(0, 0),
		func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(newRecordStatus(s), newRecordPurge(s))
	return cmd
}

func newRecordStatus(s env.Streams) *cobra.Command {
	c := &changer{s: s, recorded: true}
	cmd := command.New("status", "Show whether and how much is recorded", "Show whether changes of other programs are recorded, and what is not covered.", "", command.Args(0, 0),
		func(cmd *cobra.Command, _ []string) error {
			if err := c.open(); err != nil {
				return err
			}
			st, err := c.ws.Recording(cmd.Context())
			if st == nil {
				st = &change.Recording{}
			}
			if err == nil && c.json {
				err = c.s.Encode(st)
			} else if err == nil {
				err = c.s.Write(render.Recording(st))
			}
			return c.run(render.Reading, "", err)
		})
	c.commonFlags(cmd.Flags())
	return cmd
}

func newRecordPurge(s env.Streams) *cobra.Command {
	c := &changer{s: s, recorded: true}
	all := false
	cmd := command.New("purge [PATH]", "Remove what was recorded of a path",
		`Remove from the recorded changes of other programs what they have of a file or
folder, or everything with --all. Quarry's own undo log stays. This can't be undone.`, "", command.Args(0, 1),
		func(cmd *cobra.Command, args []string) (err error) {
			if (len(args) == 1) == all {
				return errors.New("name a path, or say --all")
			}
			path := ""
			if len(args) == 1 {
				path, err = c.openFor(args[0])
			} else {
				err = c.open()
			}
			var log *change.Log
			if err == nil {
				log, err = c.ws.Changes(cmd.Context(), 0)
			}
			if err == nil {
				err = c.ws.PurgeRecord(cmd.Context(), path)
			}
			if err == nil && !slices.ContainsFunc(log.Changes, func(ch change.Change) bool { return ch.Outside && (all || path == "." || touches(&ch, path)) }) {
				fmt.Fprintf(s.Err, "quarry: no change of %s was recorded\n", cmp.Or(render.Plain(path), "another program"))
				err = env.ErrNone
			}
			return c.run(render.Deleting, path, err)
		})
	cmd.Flags().BoolVar(&all, "all", false, "remove everything that was recorded")
	c.commonFlags(cmd.Flags())
	return cmd
}
