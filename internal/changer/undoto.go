package changer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
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
	some := o.To.By != "" || o.To.Only != nil
	plan, err := w.state.journal.PlanBack(ctx, entries, some)
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
	kept, err := w.fitBack(ctx, plan)
	if !some {
		for _, p := range kept {
			c.Warnings = append(c.Warnings, fault.Printable(p)+" also has changes that were not recorded: they stay")
		}
	}
	var omitted []string
	if err != nil {
		if !o.SkipConflicts {
			return nil, err
		}
		omitted = names(journal.Entry{Change: plan.Change}.Paths())
		skipped, err := w.skipConflicts(plan, err)
		if err != nil {
			return nil, err
		}
		c.Warnings = append(c.Warnings, skipped...)
		rest := names(journal.Entry{Change: plan.Change}.Paths())
		omitted = slices.DeleteFunc(omitted, func(p string) bool { return slices.Contains(rest, p) })
	}
	if len(plan.Change.Ops) == 0 {
		c.Unchanged = true
		record(c, change.Action{Verb: change.Noted, Text: "all files are as they were then"}, "", o.Client)
		return c, nil
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
	_, did.Files, back, did.Broken = countAffected(plan.Change.Ops)
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

// fitBack is fitPlan for going back. In files that others have changed too, without the
// plan undoing it, it undoes only the plan's edits. It returns the paths of these files.
func (w *Changer) fitBack(ctx context.Context, plan *journal.Plan) (kept []string, err error) {
	cause := w.fitPlan(plan)
	refused := &change.UndoError{}
	if cause != nil && !errors.As(cause, &refused) {
		return nil, cause
	}
	found := map[string]*change.Conflict{} // nil means that there is nothing left to undo
	for i := range refused.Paths {
		found[refused.Paths[i].Path] = &refused.Paths[i]
	}
	deeds, nothing := map[journal.ID]deed{}, map[int]bool{}
	var left []change.Conflict
	for k := range plan.Change.Ops {
		op := &plan.Change.Ops[k]
		_, apart := plan.Undone(k)
		if !apart && len(found) == 0 {
			continue
		}
		at, err := plan.Origin(k)
		if err != nil {
			return nil, err
		}
		conflict := found[at.String()]
		switch {
		case op.Kind == journal.Replace && (apart || conflict != nil):
			if conflict, err = w.carryBack(ctx, plan, k, at, nothing, deeds); err != nil {
				return nil, err
			}
			kept = append(kept, at.String())
		case apart:
			conflict = &change.Conflict{Path: at.String(), Reason: change.ContentChanged}
		default:
			continue
		}
		if found[at.String()] = conflict; conflict != nil {
			left = append(left, *conflict)
		}
	}
	if cause == nil && len(kept)+len(left) == 0 {
		return nil, nil // the usual case: nothing was adapted, so the first check holds
	}
	plan.Drop(nothing)
	if cause = w.fitPlan(plan); cause != nil && !errors.As(cause, &refused) {
		return nil, cause
	}
	if cause != nil {
		for _, c := range refused.Paths {
			if !slices.ContainsFunc(left, func(o change.Conflict) bool { return o.Path == c.Path }) {
				left = append(left, c)
			}
		}
	}
	kept = slices.DeleteFunc(kept, func(p string) bool { return found[p] != nil })
	if len(left) == 0 {
		return kept, nil
	}
	sort.Slice(left, func(i, j int) bool { return left[i].Path < left[j].Path })
	return kept, &change.UndoError{Paths: left}
}

// carryBack adapts the k-th operation of a plan to the file's present content. at is the
// file's path before the plan. Operations that are not needed are added to nothing.
func (w *Changer) carryBack(ctx context.Context, plan *journal.Plan, k int, at rootfs.Path, nothing map[int]bool, deeds map[journal.ID]deed) (*change.Conflict, error) {
	done, _ := plan.Undone(k)
	first, to := done[len(done)-1], plan.Change.Ops[k].Path
	all, err := w.state.journal.Since(first.Entry, []int{first.Op})
	if err != nil {
		return nil, err
	}
	since := all[first.Op]
	gone := &change.Conflict{Path: at.String(), Reason: change.IsGone}
	if since.Gone || since.Now != at && to != at {
		return gone, nil
	}
	if since.Now != at { // others have moved it; the newer changes are those of another operation
		to = since.Now
		for j, op := range plan.Change.Ops {
			if newer, _ := plan.Undone(j); op.Kind == journal.Replace && op.Path == to {
				nothing[plan.Undoes(k)] = true
				k, done = j, slices.Concat(newer, done)
			}
		}
	}
	c, conflict, err := w.carry(ctx, done, since, nil, deeds)
	if kind := rootfs.KindOf(err); kind == fault.NotFound || kind == fault.NotFolder || kind == fault.NotRegular {
		return gone, nil
	}
	if err != nil || conflict != nil {
		return conflict, err
	}
	nothing[plan.Undoes(k)] = len(c.edits) == 0
	plan.Carry(k, to, c.edits, c.old, c.new)
	return nil, nil
}

// after lists the entries that must be undone to go back to a point, newest first. For a
// single author it omits undos and changes that are already undone.
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
		if to.After == "" && !e.Time.After(to.Since) || to.Upto != "" && e.ID > journal.ID(to.Upto) ||
			to.Only != nil && !slices.Contains(to.Only, string(e.ID)) {
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
