package changer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// undoTo undoes all changes after a point as one change, including changes by other
// programs.
func (w *Changer) undoTo(ctx context.Context, o change.Options) (*change.Change, error) {
	entries, err := w.after(o.To)
	if err != nil {
		return nil, err
	}
	c := &change.Change{Tool: toolOf(o.Tool, "undo"), DryRun: o.DryRun, Paths: []string{}}
	c.Authors = authorsOf(entries)
	if len(entries) == 0 {
		c.Unchanged = true
		record(c, change.Action{Verb: change.Noted, Text: "nothing was changed since"}, "", o.Client)
		return c, nil
	}
	done, err := w.moveTurn(ctx, true)
	if err != nil {
		return nil, err
	}
	defer done()
	plan, err := w.state.journal.PlanBack(ctx, entries)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	unlock, err := w.state.locks.lock(ctx, journal.Entry{Change: plan.Change}.Paths()...)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := plan.DropDone(w.root); err != nil {
		return nil, err
	}
	if len(plan.Change.Ops) == 0 {
		c.Unchanged = true
		record(c, change.Action{Verb: change.Noted, Text: "all files are as they were then"}, "", o.Client)
		return c, nil
	}
	var omitted []string
	if err := w.fitPlan(plan); err != nil {
		if !o.SkipConflicts {
			return nil, err
		}
		omitted = names(journal.Entry{Change: plan.Change}.Paths())
		if c.Warnings, err = w.skipConflicts(plan, err); err != nil {
			return nil, err
		}
		rest := names(journal.Entry{Change: plan.Change}.Paths())
		omitted = slices.DeleteFunc(omitted, func(p string) bool { return slices.Contains(rest, p) })
	}
	if err := w.undoKeepsClosed(ctx, plan.Change.Ops); err != nil {
		return nil, err
	}
	if err := w.guarded(ctx, plan.Change.Ops); err != nil {
		return nil, err
	}
	c.Paths = names(journal.Entry{Change: plan.Change}.Paths())
	if slices.ContainsFunc(entries, func(e journal.Entry) bool { return strings.HasPrefix(e.Did.Text, change.GitMoved) }) {
		c.Warnings = append(c.Warnings, "git checked out another commit since: the files are as they were, git's HEAD and its index stay")
	}
	did := change.Action{Verb: change.WentBack, Count: len(entries), Text: o.To.Name}
	var back int
	_, did.Files, back, did.Broken = brings(plan.Change.Ops)
	did.Updated = did.Files - back - did.Broken
	record(c, did, o.Summary, o.Client)
	c.Proposal, c.Rule = o.Proposal, o.Rule
	if o.DryRun {
		diffs, more, err := w.planDiff(plan, o)
		c.MoreDiffs = more
		if err != nil {
			c.Warnings = append(c.Warnings, "no diff: "+err.Error())
		}
		showDiff(c, diffs...)
		return c, nil
	}
	plan.Change.Tool, plan.Change.Client, plan.Change.Proposal, plan.Change.Did = c.Tool, c.Client, acceptedBy(c), c.Did
	plan.Change.Reverts = undoneBy(entries, omitted)
	return c, w.undo(ctx, c, plan)
}

// after lists the entries that must be undone to go back to a point, newest first. If
// only one author's changes are undone, these are the ones in effect, and undos are not
// undone.
func (w *Changer) after(to *change.Back) ([]journal.Entry, error) {
	var list []journal.Entry
	all, err := w.state.journal.List(0)
	if err != nil {
		return nil, err
	}
	hidden := w.hidden(all, 0)
	for i, e := range all {
		if to.After != "" && e.ID <= journal.ID(to.After) {
			break // ids are ordered by time
		}
		if to.After == "" && !e.Time.After(to.Since) {
			continue
		}
		switch {
		case e.Status == journal.Damaged:
			return nil, fmt.Errorf("change %s: %w", e.ID, journal.ErrDamaged)
		case e.Status == journal.Pending:
			return nil, fmt.Errorf("change %s: %w", e.ID, journal.ErrUnfinished)
		case hidden[i]:
			return nil, errHidden
		}
		undo := e.Undoes != "" || e.PartOf != "" || e.Reverts != nil
		if to.By == "" || strings.EqualFold(to.By, authorOf(e)) && e.UndoneBy == "" && !undo {
			list = append(list, e)
		}
	}
	return list, nil
}

// undoneBy returns the ids of the entries that affect none of the omitted files.
func undoneBy(entries []journal.Entry, omitted []string) (ids []journal.ID) {
	for _, e := range entries {
		if !slices.ContainsFunc(e.Paths(), func(p rootfs.Path) bool { return slices.Contains(omitted, p.String()) }) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func authorOf(e journal.Entry) string {
	return (&change.Change{Client: e.Client, Outside: e.ID.Outside()}).Author()
}

func authorsOf(entries []journal.Entry) []change.Author {
	var list []change.Author
	for _, e := range entries {
		name := authorOf(e)
		i := slices.IndexFunc(list, func(a change.Author) bool { return a.Name == name })
		if i < 0 {
			i, list = len(list), append(list, change.Author{Name: name})
		}
		list[i].Changes++
		for _, p := range e.Paths() {
			if !slices.Contains(list[i].Files, p.String()) {
				list[i].Files = append(list[i].Files, p.String())
			}
		}
	}
	return list
}

// Purge removes the recorded changes of other programs to a path and below, or to all
// paths if user is "". No process may be recording.
func (w *Changer) Purge(ctx context.Context, user string) error {
	if w.state == nil {
		return change.ErrNoState
	}
	if user != "" {
		p, err := w.root.Known(user)
		if err != nil {
			return err
		}
		user = p.String()
	}
	if err := w.state.outside.close(); err != nil {
		return err
	}
	return journal.PurgeOutside(ctx, w.state.root, user, &journal.Options{})
}

const pointsFile = "points"

// Point names the present state, so that undo can go back to it later.
func (w *Changer) Point(name string) error {
	if w.state == nil {
		return change.ErrNoState
	}
	if name = change.OneLine(name, change.MaxName); name == "" || strings.Contains(name, "\t") {
		return fault.New(fault.InvalidArgument, "a point needs a name", "")
	}
	newest, err := w.state.journal.List(1)
	if err != nil {
		return err
	}
	id := ""
	for _, e := range newest {
		id = string(e.ID)
	}
	log, err := w.state.root.OpenLog(w.state.root.Own(pointsFile), true)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Lock(true); err != nil {
		return err
	}
	size, err := log.Size()
	if err != nil {
		return err
	}
	return log.Append(fmt.Appendf(nil, "%s\t%s\t%d\n", name, id, time.Now().UnixNano()), size)
}

// points returns the named points, newest first.
func (w *Changer) points() ([]change.Point, error) {
	log, err := w.state.root.OpenLog(w.state.root.Own(pointsFile), false)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	text := make([]byte, min(size, 1<<20))
	if _, err := log.ReadAt(text, size-int64(len(text))); err != nil && err != io.EOF {
		return nil, err
	}
	var list []change.Point
	seen := map[string]bool{}
	for _, line := range slices.Backward(bytes.Split(text, []byte("\n"))) {
		part := strings.Split(string(line), "\t")
		if len(part) != 3 || seen[part[0]] {
			continue
		}
		seen[part[0]] = true
		at, _ := strconv.ParseInt(part[2], 10, 64)
		list = append(list, change.Point{Name: part[0], After: part[1], Time: time.Unix(0, at)})
	}
	return list, nil
}
