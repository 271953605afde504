package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/render"
)

// chosen holds the flags that select changes from the log.
type chosen struct {
	file, since, client, session string
	mine, outside                bool
}

func (p *chosen) flags(fl *pflag.FlagSet) {
	fl.StringVar(&p.client, "client", "", "only changes by this `program`, as it introduced itself")
	fl.StringVar(&p.session, "session", "", "only changes of this `session` of a program, as quarry log names it")
}

// changes returns the selected changes, newest first.
func (p *chosen) changes(ctx context.Context, ws *quarry.Workspace, limit int) (*change.Log, error) {
	all := limit
	if *p != (chosen{}) {
		all = 0
	}
	log, err := ws.Changes(ctx, all)
	if err != nil || *p == (chosen{}) {
		return log, err
	}
	from, err := p.from(log)
	if err != nil {
		return nil, err
	}
	kept := log.Changes[:0]
	for _, ch := range log.Changes {
		if ch.Time.Before(from) || p.mine && ch.Outside || p.outside && !ch.Outside || p.client != "" && !strings.EqualFold(ch.Client.Name, p.client) || p.session != "" && !strings.EqualFold(ch.Client.Session, p.session) || p.file != "" && !touches(&ch, p.file) {
			continue
		}
		if kept = append(kept, ch); len(kept) == limit {
			break
		}
	}
	log.Changes = kept
	return log, nil
}

// touches reports whether a change affects path or a file below it.
func touches(ch *change.Change, path string) bool {
	return slices.ContainsFunc(ch.Paths, func(p string) bool { return p == path || strings.HasPrefix(p, path+"/") })
}

// from returns the time of --since: an age, a date, or the time of a change.
func (p *chosen) from(log *change.Log) (time.Time, error) {
	if p.since == "" {
		return time.Time{}, nil
	}
	for _, ch := range log.Changes {
		if strings.EqualFold(ch.ID, p.since) {
			return ch.Time, nil
		}
	}
	for _, point := range log.Points {
		if point.Name == p.since {
			return point.Time, nil
		}
	}
	if days, ok := strings.CutSuffix(p.since, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return time.Now().AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(p.since); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	for _, form := range []string{time.DateTime, "2006-01-02 15:04", time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(form, p.since, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid time %q: give the id of a change, a point, how long ago (90m, 2h, 3d) or a date (2026-01-31, 2026-01-31 15:04)", p.since), "")
}

func newLog(s env.Streams) *cobra.Command {
	c, which := &changer{s: s, recorded: true}, &chosen{}
	limit, diffs := 20, false
	cmd := command.New("log [FILE]", "List the changes made, newest first",
		`List the changes made in the workspace, newest first, or those of a file or
folder. The first word of a line is the id for quarry undo and quarry diff.`,
		`  quarry log
  quarry log main.go -p
  quarry log --since 2h --client claude-code`, command.Args(0, 1),
		func(cmd *cobra.Command, args []string) (err error) {
			if limit < 0 {
				return fmt.Errorf("--limit %d: the number can't be negative", limit)
			}
			if which.file, err = c.openLog(args); err != nil {
				return err
			}
			log, err := which.changes(cmd.Context(), c.ws, limit)
			if err == nil {
				err = c.showLog(cmd.Context(), log, which, diffs)
			}
			return c.run(render.Undoing, "", err)
		})
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "list at most `n`; 0 is all")
	cmd.Flags().BoolVarP(&diffs, "patch", "p", false, "show each as a diff")
	cmd.Flags().StringVar(&which.since, "since", "", "only changes since a `time`: an id, 90m, 2h, 3d or a date")
	cmd.Flags().BoolVar(&which.mine, "mine", false, "only changes made with quarry")
	cmd.Flags().BoolVar(&which.outside, "outside", false, "only changes of other programs, which were recorded")
	which.flags(cmd.Flags())
	c.commonFlags(cmd.Flags())
	return cmd
}

// openLog opens the workspace of a file or folder and returns the path relative to it; "" means the
// whole workspace.
func (c *changer) openLog(args []string) (string, error) {
	if len(args) == 0 {
		return "", c.open()
	}
	there, err := os.Stat(args[0])
	if err != nil || !there.IsDir() {
		return c.openFor(args[0]) // the file may have been deleted
	}
	dir, err := env.RealPath(args[0])
	if err != nil {
		return "", err
	}
	root := config.FindRoot(dir)
	if c.root != "" {
		if root, err = env.RootPath(c.root); err != nil {
			return "", err
		}
	}
	rel, inside := env.Below(root, dir)
	if !inside {
		return "", fmt.Errorf("%s is not in the workspace %s", render.Quote(args[0]), printing.Escape(root))
	}
	if rel = filepath.ToSlash(rel); rel == "." {
		rel = ""
	}
	return rel, c.openAt(root)
}

func (c *changer) showLog(ctx context.Context, log *change.Log, which *chosen, diffs bool) error {
	if c.json {
		return c.s.Encode(log)
	}
	var b strings.Builder
	paint := c.s.Paint()
	for _, ch := range log.Changes {
		by := ""
		switch during := strings.HasPrefix(ch.Did.Text, "during "); {
		case ch.Outside && during: // name the client whose command was running
		case ch.Outside && ch.Client.Name == "":
			by = ", by another program"
		case ch.Outside:
			by = ", by " + ch.Tool + " of " + ch.Client.String()
		case ch.Client.Name != "":
			by = " by " + ch.Client.String()
		}
		if ch.Client.Session != "" {
			by += " in session " + ch.Client.Session
		}
		rest := fmt.Sprintf("  %s  %s%s%s%s", ch.Time.Local().Format(time.DateTime), ch.Summary, tops(&ch), by, fate(&ch))
		b.WriteString(paint.In(printing.Good, c.s.Safe(ch.ID)) + c.s.Safe(rest) + "\n")
		if diffs {
			shown, err := c.ws.Diff(ctx, ch.ID, nil)
			if err != nil {
				return err
			}
			b.WriteString(paint.Diff(shown.Diffs, c.s.Safe) + "\n")
		}
	}
	if log.Dropped > 0 {
		fmt.Fprintf(&b, "%s up to %s no longer kept\n", fault.Count(log.Dropped, "older change"), log.DroppedTo.Local().Format(time.DateTime))
	}
	if log.Unrecorded != "" {
		fmt.Fprintf(&b, "changes of other programs may be missing: %s\n", c.s.Safe(log.Unrecorded))
	}
	if log.Damaged > 0 {
		fmt.Fprintf(&b, "%s of the journal can't be read\n", fault.Count(log.Damaged, "record"))
	}
	if log.Lost > 0 {
		fmt.Fprintf(&b, "%s missing: files of the journal were cut short or deleted\n", fault.Count(log.Lost, "change is", "changes are"))
	}
	if st, err := c.ws.Recording(ctx); err == nil && st != nil && st.On && !st.Since.IsZero() && !which.mine {
		b.WriteString("changes of other programs are recorded" + render.Since(st.Since) + "\n")
	}
	if err := c.s.Write(b.String()); err != nil {
		return err
	}
	if len(log.Changes) == 0 {
		switch {
		case which.since != "" || which.client != "" || which.session != "" || which.mine || which.outside:
			return c.s.Nothing("no change fits these flags\n  quarry log without them lists all")
		case which.file != "":
			return c.s.Nothing("no changes: " + printing.Escape(which.file) + " was not changed with quarry so far")
		}
		return c.s.Nothing("no changes: nothing was changed here with quarry so far")
	}
	return nil
}

// tops names up to three top-level folders and files affected by a change of several files, those
// with the most changed paths first.
func tops(ch *change.Change) string {
	several := ch.Did.Count > 1 && slices.Contains([]change.Verb{change.Outside, change.Applied, change.Undid, change.UndidPart}, ch.Did.Verb)
	if !several && ch.Did.Verb != change.WentBack {
		return ""
	}
	counts, folders := map[string]int{}, map[string]bool{}
	for _, p := range ch.Paths {
		top, _, below := strings.Cut(p, "/")
		counts[top]++
		folders[top] = folders[top] || below
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	more := ""
	if n := len(names) - 3; n > 0 {
		names, more = names[:3], fmt.Sprintf(" and %d more", n)
	}
	for i, name := range names {
		if names[i] = fault.Printable(name); folders[name] {
			names[i] += "/"
		}
	}
	return ": " + strings.Join(names, ", ") + more
}

// fate describes what happened to a change later, for example an undo.
func fate(ch *change.Change) string {
	switch {
	case ch.UndoneBy != "":
		return " (undone by " + ch.UndoneBy + ")"
	case len(ch.PartlyBy) > 0:
		return " (undone in part by " + strings.Join(ch.PartlyBy, ", ") + ")"
	case ch.Partly != nil:
		return fmt.Sprintf(" (half applied; %v; quarry undo %s brings the old files back)", ch.Partly, ch.ID)
	case ch.Pending:
		return " (in progress)"
	case ch.NoUndo != "":
		return " (can't be undone)"
	}
	return ""
}

func newUndo(s env.Streams) *cobra.Command {
	c, which := &changer{s: s, recorded: true}, &chosen{}
	to, by, all := "", "", false
	cmd := command.New("undo [ID [FILE[:LINE]]...]", "Undo a change, the last one unless an id is given",
		`Undo a change with all it did: an edit, a move with its links, a deletion.
Or only what it did to a file, or the hunk of quarry diff ID that shows a line
(FILE:LINE, as the change left the file).

Edits are undone beneath later ones: what was changed elsewhere in the file
since, with Quarry or without, stays. If something was changed in the same place
or next to it, the undo is refused, shows both, and changes nothing. With
--skip-conflicts such files are left as they are, and the others are undone.

An undo is a change too: undo its id to have the first change again. Contents,
modes, links and folders come back, times do not. Give an ID to undo one change
and keep what was done since; --to takes back everything since a point.

With --to the files become what they were at a point: right after a change (its
id), at a time, or at a point that quarry point has named. All changes since are
undone as one change, also those of other programs that were recorded. It lists
them by author first. At a terminal it asks; elsewhere it needs --all, or --by
with the name of one author: a client, "another program" or you.

With --all-since all changes since then are undone, the newest first, with an id
that change too; with --client those of one program, with --session those of one
session of it. The first that is refused ends it.`,
		`  # a script has just damaged many files: find its change, look, undo it
  quarry log
  quarry undo 2pm9tp00 --dry-run
  quarry undo 2pm9tp00

  quarry undo
  quarry undo 2pm9tp00 main.go:120
  quarry undo --to 10m --dry-run
  quarry undo --to before-refactoring --all
  quarry undo --all-since 1h --client codex
  quarry undo --session k3v9x2qa`,
		command.Args(0, command.Any), func(cmd *cobra.Command, args []string) error {
			if err := c.open(); err != nil {
				return err
			}
			if to == "" && (by != "" || all) {
				return c.run(render.Undoing, "", fault.New(fault.InvalidArgument, "--by and --all go with --to", ""))
			}
			if to != "" {
				if len(args) > 0 || *which != (chosen{}) {
					return c.run(render.Undoing, "", errors.New("--to goes with --by, --all and --dry-run, not with an id or other changes"))
				}
				return c.run(render.Undoing, "", c.undoTo(cmd.Context(), to, by, all))
			}
			if *which != (chosen{}) {
				if len(args) > 0 {
					return c.run(render.Undoing, "", errors.New("give an id, or --all-since, --client and --session, not both"))
				}
				return c.undoAll(cmd.Context(), which)
			}
			id := strings.Join(args[:min(len(args), 1)], "")
			o := c.options()
			o.SkipConflicts = c.skip
			for _, arg := range args[min(len(args), 1):] {
				part, err := c.part(arg)
				if err != nil {
					return c.run(render.Undoing, id, err)
				}
				o.Parts = append(o.Parts, part)
			}
			o.FullDiff, o.AllLines = c.diff, c.diff
			p := s.Progress(c.quiet, "undoing")
			ch, err := c.ws.Undo(p.Watch(cmd.Context()), id, &o)
			p.End()
			if fault.CodeOf(err) == fault.NotFound && len(args) > 1 {
				if _, found := c.ws.Diff(cmd.Context(), args[1], nil); found == nil {
					err = fault.New(fault.NotFound, err.Error(), "changes are undone one at a time: quarry undo "+args[1])
				} else {
					err = withoutLine(err, args[1:])
				}
			} else if id == "" && fault.CodeOf(err) == fault.NotFound && !c.json {
				fmt.Fprintln(s.Err, "quarry: there is nothing to undo")
				err = env.ErrNone
			} else if err == nil {
				c.again = c.whole("quarry undo", append([]string{cmp.Or(ch.Undoes, ch.PartOf)}, args[min(len(args), 1):]...))
				err = c.undone(ch)
			}
			return c.run(render.Undoing, id, err)
		})
	cmd.Flags().StringVar(&to, "to", "", "go back to a `point`: an id, a named point, 90m, 2h, 3d or a date")
	cmd.Flags().StringVar(&by, "by", "", "with --to: undo only the changes of this `author`")
	cmd.Flags().BoolVar(&all, "all", false, "with --to: undo the changes of all authors, without asking")
	cmd.Flags().StringVar(&which.since, "all-since", "", "undo all changes since a `time`: an id, 90m, 2h, 3d or a date")
	cmd.Flags().BoolVar(&c.skip, "skip-conflicts", false, "leave files that have changed since, and undo the others")
	which.flags(cmd.Flags())
	c.patientFlags(cmd.Flags())
	c.flags(cmd.Flags(), false)
	return cmd
}

// undone reports a completed undo.
func (c *changer) undone(ch *change.Change) error {
	if back := ch.Did.Back(true); ch.DryRun && back != "" {
		return c.tell(ch, "Dry run, nothing was changed. It "+c.s.Safe(back)+":\n", nil)
	}
	again := ""
	switch {
	case ch.DryRun || ch.Unchanged || ch.NoUndo != "" || ch.ID == "":
	case ch.Exact:
		again = fmt.Sprintf("All paths are as they were before it; quarry undo %s takes this back.", ch.ID)
	default:
		again = fmt.Sprintf("quarry undo %s takes this back.", ch.ID)
	}
	return c.report(ch, render.Undone(ch), again)
}

// whole returns the command that shows all diffs of a planned undo.
func (c *changer) whole(command string, args []string) string {
	for _, arg := range args {
		command += " " + render.ShellQuote(arg)
	}
	if c.skip {
		command += " --skip-conflicts"
	}
	return command + " --dry-run --diff"
}

// part parses the argument FILE or FILE:LINE.
func (c *changer) part(arg string) (part change.UndoPart, err error) {
	if i := strings.LastIndexByte(arg, ':'); i > 0 {
		if part.Line, err = strconv.Atoi(arg[i+1:]); err == nil && part.Line < 1 {
			return part, fmt.Errorf("invalid line in %s: lines count from 1", render.Quote(arg))
		} else if err == nil {
			arg = arg[:i]
		}
	}
	part.Path, err = c.also(arg)
	return part, err
}

// withoutLine extends the error of a refused undo if the text after a colon is not a line number,
// and was therefore taken for a part of the file's name.
func withoutLine(err error, parts []string) error {
	for _, arg := range parts {
		i := strings.LastIndexByte(arg, ':')
		if i <= 0 {
			continue
		}
		if _, bad := strconv.Atoi(arg[i+1:]); bad != nil {
			return fault.New(fault.NotFound, err.Error(), fmt.Sprintf("%s; in FILE:LINE the line is a number, and %s is not", fault.HintOf(err), render.Quote(arg[i+1:])))
		}
	}
	return err
}

// undoAll undoes the selected changes that are not undone yet, newest first.
func (c *changer) undoAll(ctx context.Context, which *chosen) error {
	log, err := which.changes(ctx, c.ws, 0)
	if err != nil {
		return c.run(render.Undoing, "", err)
	}
	var ids []string
	for _, ch := range log.Changes {
		undo := ch.Undoes != "" || ch.PartOf != "" || ch.Did.Verb == change.WentBack
		if ch.UndoneBy == "" && !undo && (!ch.Pending || ch.Partly != nil) {
			ids = append(ids, ch.ID)
		}
	}
	o := c.options()
	o.SkipConflicts = c.skip
	o.FullDiff, o.AllLines = c.diff, c.diff
	if o.DryRun && len(ids) > 1 {
		var flags []string
		for _, f := range [][2]string{{"--all-since", which.since}, {"--client", which.client}, {"--session", which.session}} {
			if f[1] != "" {
				flags = append(flags, f[:]...)
			}
		}
		c.again = c.whole("quarry undo", flags)
		return c.run(render.Undoing, "", c.planAll(ctx, ids, o))
	}
	n := 0
	for _, id := range ids {
		p := c.s.Progress(c.quiet, "undoing "+id)
		done, err := c.ws.Undo(p.Watch(ctx), id, &o)
		p.End()
		var conflict *change.UndoError
		if c.skip && errors.As(err, &conflict) {
			fmt.Fprintf(c.s.Err, "quarry: %v\n", err)
			continue // all its files were modified since
		}
		if err == nil {
			err = c.undone(done)
		}
		if err != nil {
			return c.run(render.Undoing, id, err)
		}
		n++
	}
	if n == 0 {
		return c.run(render.Undoing, "", c.s.Nothing("there is nothing to undo"))
	}
	return c.run(render.Undoing, "", nil)
}

// planAll shows the joint result of undoing the changes one after the other, up to the
// first that is refused. Each alone would be planned on files that still have the newer ones.
func (c *changer) planAll(ctx context.Context, ids []string, o change.Options) (err error) {
	var plan *change.Change
	refused := func(last int) bool {
		o.To = &change.Back{Only: ids[:last+1], Name: "before " + ids[last]}
		done, failed := c.ws.Undo(ctx, "", &o)
		if failed == nil {
			plan = done
			return false
		}
		if conflict, ok := errors.AsType[*change.UndoError](failed); ok {
			conflict.ID = ids[last]
		}
		err = failed
		return true
	}
	if refused(len(ids) - 1) {
		sort.Search(len(ids)-1, refused)
	}
	if plan == nil {
		return err
	}
	return errors.Join(c.undone(plan), err)
}

func newDiff(s env.Streams) *cobra.Command {
	c := &changer{s: s, recorded: true}
	since := ""
	cmd := command.New("diff [ID]", "Show what a change did",
		`Show a change as a unified diff, whatever became of its files since; without an
id the last one that was not undone. With --since all that happened after a
point as one diff.`, `  quarry diff
  quarry diff --since 1h`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			if err := c.open(); err != nil {
				return err
			}
			id := strings.Join(args, "")
			var ch *change.Change
			var err error
			if since != "" && id != "" {
				err = fault.New(fault.InvalidArgument, "give an id or --since, not both", "")
			} else if since != "" {
				if ch, err = c.diffSince(cmd.Context(), since); err == nil && len(ch.Diffs) == 0 && !c.json {
					fmt.Fprintln(s.Err, "quarry: nothing differs")
					err = env.ErrNone
				}
			} else {
				ch, err = c.ws.Diff(cmd.Context(), id, &change.Options{AllLines: true})
				if id == "" && fault.CodeOf(err) == fault.NotFound && !c.json {
					fmt.Fprintln(s.Err, "quarry: there is no change to show")
					err = env.ErrNone
				}
			}
			if err == nil {
				if c.json {
					err = c.s.Encode(ch)
				} else {
					err = c.s.Write(s.Paint().Diff(ch.Diffs, c.s.Safe))
				}
			}
			return c.run(render.Undoing, id, err)
		})
	cmd.Flags().StringVar(&since, "since", "", "all changes after a `point`: an id, a named point, 90m, 2h, 3d or a date")
	c.commonFlags(cmd.Flags())
	return cmd
}

func newTrash(s env.Streams) *cobra.Command {
	cmd := command.New("trash", "List, restore and empty what was deleted",
		"What was deleted from the workspace and is in the system's trash or its own.", "", command.Args(0, 0),
		func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(newTrashList(s), newTrashRestore(s), newTrashEmpty(s))
	return cmd
}

func newTrashList(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command.New("list", "List what was deleted", "List what was deleted, newest first.", "", command.Args(0, 0),
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
		return c.s.Encode(map[string]any{"items": append([]change.Trashed{}, items...), "problems": append([]string{}, problems...)})
	}
	var b strings.Builder
	for _, it := range items {
		when, path := strings.Repeat(" ", len(time.DateTime)), it.Path
		if !it.Deleted.IsZero() {
			when = it.Deleted.Local().Format(time.DateTime)
		}
		path = cmp.Or(path, it.ID)
		if it.Folder {
			path += "/"
		}
		fmt.Fprintf(&b, "%s  %-6s  %s\n", when, it.Kind, render.Plain(path))
	}
	if err := c.s.Print(b.String()); err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintf(c.s.Err, "quarry: %s\n", p)
	}
	if len(items) == 0 {
		return c.s.Nothing("the trash has nothing of this workspace")
	}
	return nil
}

func newTrashRestore(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command.New("restore PATH [DESTINATION]", "Bring back what was deleted",
		`Bring back what was deleted last at a path, or an item by the id that
quarry trash list --json shows.`, "", command.Args(1, 2),
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

func newTrashEmpty(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	var older time.Duration
	yes := false
	cmd := command.New("empty", "Delete for good what is in the trash",
		`Delete for good what was deleted from this workspace. What other folders put
into the system's trash stays. This can't be undone.`, "", command.Args(0, 0),
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
					err = c.s.Encode(map[string]int{"deleted": n})
				} else {
					err = c.s.Print(fmt.Sprintf("Deleted %s for good.\n", fault.Count(n, "item")))
				}
			}
			return c.run(render.Deleting, "", err)
		})
	command.AddDuration(cmd.Flags(), &older, "older-than", 0, "only what was deleted longer ago than this `time`, as 30d")
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	c.commonFlags(cmd.Flags())
	return cmd
}
