package changer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
)

// Undo undoes the change id, completely or only the parts selected by the options. If id
// is "", it undoes the last change that is not yet undone. Edits can be undone even if
// the file was edited later. In any other case where a file is not as the change left it,
// Undo refuses and changes nothing. An undo is a change too: undoing it repeats the first
// change.
func (w *Changer) Undo(ctx context.Context, id string, o change.Options) (_ *change.Change, err error) {
	leave, err := w.enter("undo")
	if err != nil {
		return nil, err
	}
	defer leave()
	defer func() { err = unbegun(ctx, err) }()
	if o.To != nil {
		return w.undoTo(ctx, o)
	}
	if c, err := w.undoInterrupted(ctx, id, o); c != nil || err != nil {
		return c, err
	}
	entry, err := w.entry(id)
	if err != nil {
		return nil, err
	}
	if !o.DryRun {
		done, err := w.state.journal.Turn(ctx, len(entry.Ops) > 1)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	c, err := w.undoEntry(ctx, entry, o)
	for again := (&retry{}); changedMeanwhile(err) && again.after(ctx, err); {
		c, err = w.undoEntry(ctx, entry, o)
	}
	if c != nil && id == "" {
		c.Warnings = append(c.Warnings, w.maybeNotLast()...)
	}
	return c, err
}

// changedMeanwhile reports whether err means that a file was changed between reading and writing
// it.
func changedMeanwhile(err error) bool {
	var at *fault.PathError
	var refused *change.UndoError
	return errors.As(err, &at) && at.Kind == fault.Conflict && !errors.As(err, &refused)
}

// undoEntry undoes an entry. The caller has checked that this is allowed.
func (w *Changer) undoEntry(ctx context.Context, entry journal.Entry, o change.Options) (*change.Change, error) {
	done, err := w.moveTurn(ctx, slices.ContainsFunc(entry.Ops, func(op journal.Op) bool { return op.Kind == journal.Rename }))
	if err != nil {
		return nil, err
	}
	defer done()
	unlock, err := w.state.locks.lock(ctx, entry.Paths()...)
	if err != nil {
		return nil, err
	}
	defer unlock()
	progress.Of(ctx).Expect(3*len(entry.Ops), false) // each operation is read, journaled and carried out
	return w.undoUnlocked(ctx, entry, o, true)
}

// undoUnlocked is undoEntry without locks: the caller has locked the paths, or is still
// opening the workspace. Unless beneath is set, files that were changed since are not
// touched.
func (w *Changer) undoUnlocked(ctx context.Context, entry journal.Entry, o change.Options, beneath bool) (*change.Change, error) {
	plan, err := w.state.journal.Plan(ctx, entry.ID)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	var warnings []string
	fits := &fitted{}
	if !beneath {
		err = w.fitPlan(plan)
	} else {
		fits, err = w.fit(ctx, plan, o)
	}
	if err != nil {
		if !o.SkipConflicts || fits == nil {
			return nil, err
		}
		if warnings, err = w.skipConflicts(plan, err); err != nil {
			return nil, err
		}
	}
	if o.Tool != journal.Recovery {
		if err := w.undoKeepsClosed(ctx, plan.Change.Ops); err != nil {
			return nil, err
		}
		if err := w.guarded(ctx, plan.Change.Ops); err != nil {
			return nil, err
		}
	}
	c := &change.Change{
		Tool: toolOf(o.Tool, "undo"), Paths: names(journal.Entry{Change: plan.Change}.Paths()), DryRun: o.DryRun,
		Undoes: string(plan.Change.Undoes), PartOf: string(plan.Change.PartOf), Warnings: warnings,
	}
	if did := &plan.Change.Did; ofSeveral(did.Of) {
		did.Path, did.Count, did.Files, did.Broken = countAffected(plan.Change.Ops)
	}
	record(c, plan.Change.Did, o.Summary, o.Client)
	c.Proposal, c.Rule = o.Proposal, o.Rule
	c.Exact = warnings == nil && len(o.Parts) == 0 && fits.whole(plan)
	limits, most := diffLimits(), maxDiffLines
	if o.FullDiff && o.DryRun {
		limits, most = fullDiff(o.AllLines), math.MaxInt // a rule may examine the diffs
	}
	diffs, more, err := w.undoDiff(plan.Of, fits, limits, most)
	if err != nil {
		c.Warnings = append(c.Warnings, "no diff: "+err.Error())
	}
	if warnings != nil {
		diffs = slices.DeleteFunc(diffs, func(d change.PathDiff) bool {
			return !slices.Contains(c.Paths, d.Old) && !slices.Contains(c.Paths, d.New)
		})
	}
	showDiff(c, diffs...)
	c.MoreDiffs = more
	if ops := plan.Change.Ops; len(ops) == 1 && ops[0].Kind == journal.Replace {
		c.Version = ops[0].New.String()
		if len(diffs) == 1 {
			ops[0].Shown = diffs[0].Hunks
		}
	}
	if o.DryRun {
		return c, nil
	}
	plan.Change.Tool, plan.Change.Client, plan.Change.Proposal, plan.Change.Did = c.Tool, c.Client, acceptedBy(c), c.Did
	if err := w.undo(ctx, c, plan); err != nil {
		return nil, err
	}
	return c, nil
}

// maybeNotLast returns a warning if the last change in the log may not be the last one
// made.
func (w *Changer) maybeNotLast() []string {
	var warnings []string
	if lost, err := w.state.journal.Lost(); err == nil && lost > 0 {
		warnings = append(warnings, fmt.Sprintf("the undo log has lost %d of its changes; this is the last one that is known", lost))
	}
	if damaged, err := w.state.journal.Damage(); err == nil && damaged > 0 {
		warnings = append(warnings, fmt.Sprintf("%d records of the undo log can't be read; this is the last change that is known", damaged))
	}
	return warnings
}

// entry returns the change with an id, or the last one if id is "".
func (w *Changer) entry(id string) (journal.Entry, error) {
	e, err := w.anyEntry(id)
	if err != nil || w.root.Policy() == nil {
		return e, err
	}
	entries, err := w.state.journal.From(e.ID)
	if last := len(entries) - 1; err == nil && w.hidden(entries, last)[last] {
		err = errHidden
	}
	return e, err
}

func (w *Changer) anyEntry(id string) (journal.Entry, error) {
	if id == "" {
		return w.state.journal.Latest()
	}
	known, err := journal.ParseID(id)
	if err != nil {
		return journal.Entry{}, fmt.Errorf("%w: %w", change.ErrBadID, err)
	}
	return w.state.journal.Get(known)
}

// fitPlan adapts an undo plan to the disk. Folders that the change created only as
// parents of a file are kept if they are now used for something else. Parent folders that
// were removed since are made again, unless they already exist again.
func (w *Changer) fitPlan(plan *journal.Plan) error {
	if gone := w.missingInTrash(plan.Change.Ops); len(gone) > 0 {
		return &change.UndoError{ID: string(plan.Of.ID), Paths: gone}
	}
	inTheWay, err := plan.MakeFolders(w.root)
	if err != nil {
		return err
	}
	for {
		found, err := plan.Check(w.root)
		if err != nil {
			return err
		}
		if plan.DropFolders(found) {
			continue
		}
		if found = append(found, inTheWay...); len(found) == 0 {
			return nil
		}
		cut, ok := inUse(plan, found)
		if !ok {
			e := &change.UndoError{ID: string(plan.Of.ID)}
			for _, f := range found {
				e.Paths = append(e.Paths, change.Conflict{Path: f.Path.String(), Reason: f.Reason, Found: f.Found.String()})
			}
			return e
		}
		plan.Change.Ops = plan.Change.Ops[:cut]
	}
}

// skipConflicts removes the files with conflicts from a plan and returns a warning for
// each. If nothing remains of the plan, it returns the cause.
func (w *Changer) skipConflicts(plan *journal.Plan, cause error) (warnings []string, err error) {
	for {
		var conflict *change.UndoError
		if !errors.As(cause, &conflict) {
			return nil, cause
		}
		var paths []rootfs.Path
		for _, c := range conflict.Paths {
			p, err := w.root.Known(c.Path)
			if err != nil {
				return nil, err
			}
			paths = append(paths, p)
			warnings = append(warnings, "left as it is: "+fault.Printable(c.Path)+" "+c.Words())
		}
		before := len(plan.Change.Ops)
		if !plan.Without(paths) || len(plan.Change.Ops) == before {
			return nil, cause
		}
		if cause = w.fitPlan(plan); cause == nil {
			return warnings, nil
		}
	}
}

// inUse examines the folders that the plan removes last. cut is the first operation that
// removes a folder now used by others. ok is false if there are other conflicts.
func inUse(plan *journal.Plan, found []journal.Conflict) (cut int, ok bool) {
	ops := plan.Change.Ops
	tail := len(ops)
	for tail > 0 && ops[tail-1].Kind == journal.Remove && len(ops[tail-1].Nodes) == 1 && ops[tail-1].Nodes[0].Type == rootfs.TypeDir {
		tail--
	}
	if tail == 0 {
		return 0, false // the change only made folders
	}
	cut = len(ops)
	for _, f := range found {
		at := slices.IndexFunc(ops[tail:], func(op journal.Op) bool { return f.Path != op.Path && f.Path.Dir() == op.Path })
		if at < 0 || f.Reason != change.AddedSince {
			return 0, false
		}
		cut = min(cut, tail+at)
	}
	return cut, cut < len(ops)
}

// undo carries out a plan.
func (w *Changer) undo(ctx context.Context, c *change.Change, plan *journal.Plan) error {
	tx, err := w.state.journal.Undo(ctx, w.root, plan)
	var large *journal.TooLargeError
	if errors.As(err, &large) {
		c.NoUndo = large.Error()
		plan.Change.Ops = withoutOld(plan.Change.Ops, c.NoUndo)
		tx, err = w.state.journal.Undo(ctx, w.root, plan)
	}
	if err != nil {
		return err
	}
	defer w.touched(plan.Change.Ops)
	var results []journal.Result
	watch := progress.Of(ctx)
	for i, op := range plan.Change.Ops {
		if ctx.Err() != nil {
			return w.cancelled(ctx, tx, i)
		}
		watch.Step()
		var err error
		switch op.Kind {
		case journal.Trash, journal.Restore:
			var went journal.Result
			if went, err = w.applyTrash(ctx, op); went.Where != "" {
				went.Op = i
				results = append(results, went)
			}
		default:
			err = tx.Apply(ctx, w.root, i)
		}
		if err != nil {
			return w.rollBack(ctx, tx, i, err)
		}
	}
	c.ID, c.Time = string(tx.ID()), tx.Entry().Time
	if err := tx.Commit(results...); err != nil {
		c.Warnings = append(c.Warnings, "the change is undone, but the journal could not be completed: "+err.Error())
	}
	return nil
}

// rollBack rolls back the first done operations of a change, and the next one, which
// failed with cause, as far as that was carried out.
func (w *Changer) rollBack(ctx context.Context, tx *journal.Tx, done int, cause error) error {
	ctx = context.WithoutCancel(ctx)
	e := tx.Entry()
	if done == 0 && !bySystem(cause) && e.Ops[0].Kind != journal.Remove {
		return errors.Join(cause, tx.Abort()) // the operation was refused, so nothing was done
	}
	// The failed operation may have been carried out partly, or completely but not
	// durably. Only the disk tells.
	u, err := w.state.journal.Progress(w.root, e)
	if err != nil {
		return w.endPartly(ctx, tx, len(e.Ops), cause, err)
	}
	var torn *rootfs.StuckError
	switch {
	case u.Done < 0 && errors.As(cause, &torn): // a file has neither the old nor the new content
		return w.endPartly(ctx, tx, 0, cause, cause)
	case u.Done < 0, u.Done > done && !bySystem(cause): // another program has changed the files
		u.Done, u.Begun = done, false
	}
	if left, err := w.revert(ctx, u); err != nil {
		return w.endPartly(ctx, tx, left, cause, err)
	}
	return errors.Join(cause, tx.Abort())
}

// revert rolls back the completed operations of a change, last first. If it fails, the
// first left operations probably remain.
func (w *Changer) revert(ctx context.Context, u journal.Unfinished) (left int, err error) {
	left = len(u.Ops)
	if u.Done == 0 && !u.Begun {
		return 0, nil
	}
	if err := w.locateTrashed(&u); err != nil {
		return left, err
	}
	progress.Of(ctx).Expect(2*u.Done, true) // each operation is read and carried out
	plan, err := w.state.journal.Rollback(ctx, w.root, u)
	if err != nil {
		return left, err
	}
	defer plan.Close()
	plan.Beneath = func(k int) error { return w.revertBeneath(ctx, plan, k) }
	again := map[rootfs.Path]journal.Result{} // new ids in the trash
	err = plan.TakeBack(ctx, w.root, func(ctx context.Context, op journal.Op) error {
		went, err := w.applyTrash(ctx, op)
		if went.Where != "" {
			again[op.Path] = went
		}
		return err
	})
	if len(again) > 0 && u.Undoes != "" {
		if e := w.state.journal.Relocate(u.Undoes, again); e != nil {
			w.log.Error("what an undo put back into the trash is not noted", "id", u.Undoes, "err", e)
		}
	}
	var stopped *journal.TakeBackError
	if errors.As(err, &stopped) && !u.Begun {
		left = len(stopped.Left)
	}
	return left, err
}

// maxDiff limits the size of diffs with all lines, because they are kept in memory.
// Beyond it, each file shows at most 2,000 lines.
const maxDiff = 64 << 20

// Diff shows a change as a unified diff. It uses the contents kept by the journal, so the
// files' present state doesn't matter.
func (w *Changer) Diff(id string, o *change.Options) (*change.Change, error) {
	if err := w.belongs(); err != nil {
		return nil, err
	}
	e, err := w.entry(id)
	if err != nil {
		return nil, err
	}
	c := changeOf(e)
	if c.Partly, err = w.partly(e); err != nil {
		return nil, err
	}
	var diffs []change.PathDiff
	size := 0
	for i := range e.Ops {
		opts := &textedit.DiffOptions{}
		if o != nil && o.AllLines && size < maxDiff {
			if opts = fullDiff(true); w.large(e, i) {
				opts = &textedit.DiffOptions{MaxLines: maxFullLines} // the diff may have gigabytes
			} else if o.FullDiff {
				opts.Context = 1 << 24
			}
		}
		d, err := w.stepDiff(e, i, false, opts)
		if err != nil {
			return nil, err
		}
		size += len(d.Hunks)
		diffs = append(diffs, d)
	}
	showDiff(&c, diffs...)
	return &c, nil
}

// undoDiff shows the effect of an undo, up to about the given number of lines. more is
// the number of omitted files. For a file that was changed later, it shows the undo in
// the present content.
func (w *Changer) undoDiff(e journal.Entry, fits *fitted, opts *textedit.DiffOptions, lines int) (diffs []change.PathDiff, more int, err error) {
	seen := map[rootfs.Path]bool{}
	for i := range e.Ops {
		if fits.left[i] {
			continue
		}
		again := seen[e.Ops[i].Path]
		seen[e.Ops[i].Path] = true
		if lines <= 0 {
			if !again {
				more++
			}
			continue
		}
		var d change.PathDiff
		if c := fits.carried[i]; c != nil {
			d = c.diff(opts)
		} else if d, err = w.stepDiff(e, i, true, opts); err != nil {
			return nil, 0, err
		}
		diffs = append(diffs, d)
		lines -= strings.Count(d.Hunks, "\n") + 2
	}
	return diffs, more, nil
}

// ofSeveral reports whether an action affects several files or was made by another
// program, or is the undo of such an action.
func ofSeveral(a *change.Action) bool {
	for a != nil && a.Of != nil {
		a = a.Of
	}
	return a != nil && (a.Verb == change.Outside || a.Verb == change.Applied)
}

// countAffected counts the files affected by operations, and how many of them are restored and
// removed. It also returns the path of the first.
func countAffected(ops []journal.Op) (first string, all, back, removed int) {
	var kinds [2]map[rootfs.Path]bool // made, removed
	for i := range kinds {
		kinds[i] = map[rootfs.Path]bool{}
	}
	for _, op := range ops {
		switch op.Kind {
		case journal.Create, journal.Restore:
			kinds[0][op.Path] = true
		case journal.Remove, journal.Trash:
			kinds[1][op.Path] = true
		}
	}
	paths := journal.Entry{Change: journal.Change{Ops: ops}}.Paths()
	for _, p := range paths {
		if first == "" || p.String() < first {
			first = p.String()
		}
		switch made, gone := kinds[0][p], kinds[1][p]; {
		case made && !gone:
			back++
		case gone && !made:
			removed++
		}
	}
	return first, len(paths), back, removed
}

// stepDiff shows one operation of an entry, or its undo if reverse is set.
func (w *Changer) stepDiff(e journal.Entry, i int, reverse bool, opts *textedit.DiffOptions) (change.PathDiff, error) {
	op := e.Ops[i]
	d := change.PathDiff{Old: op.Path.String(), New: op.Path.String()}
	switch op.Kind {
	case journal.Rename:
		d.Kind, d.New = change.DiffRenamed, op.To.String()
		if reverse {
			d.Old, d.New = d.New, d.Old
		}
	case journal.Chmod:
		d.Kind, d.Modes = change.DiffMode, [2]fs.FileMode{op.Mode, op.NewMode}
		if reverse {
			d.Modes = [2]fs.FileMode{op.NewMode, op.Mode}
		}
	case journal.Trash, journal.Restore:
		if d.Kind = change.DiffTrashed; (op.Kind == journal.Restore) != reverse {
			d.Kind = change.DiffRestored
		}
		if op.Kind == journal.Trash && !reverse {
			gone := diffOf(d.Old, "", w.binned(op), nil, opts)
			d.Hunks, d.Cut = gone.Hunks, gone.Cut
		}
	default:
		return w.opDiff(e, i, reverse, opts)
	}
	return d, nil
}

// opDiff returns the diff of an operation on contents.
func (w *Changer) opDiff(e journal.Entry, i int, reverse bool, opts *textedit.DiffOptions) (change.PathDiff, error) {
	op := e.Ops[i]
	name := op.Path.String()
	whole := change.PathDiff{Old: name, New: name}
	if op.Kind != journal.Replace && len(op.Nodes) > 0 && op.Nodes[0].Type != rootfs.TypeFile {
		whole.Kind, whole.Entry = change.DiffMade, op.Nodes[0].Type.String()
		if op.Nodes[0].Type == rootfs.TypeDir {
			whole.Entry = "folder"
		}
		if (op.Kind == journal.Remove) != reverse {
			whole.Kind = change.DiffDeleted
		}
		return whole, nil
	}
	before, after := name, name
	if op.Kind == journal.Create {
		before = ""
	} else if op.Kind == journal.Remove {
		after = ""
	}
	if reverse {
		before, after = after, before
	}
	if w.large(e, i) {
		return w.largeDiff(e, i, change.PathDiff{Old: before, New: after}, reverse, opts)
	}
	old, data, err := w.contents(e, i)
	if err == nil {
		if reverse {
			old, data = data, old
		}
		return diffOf(before, after, old, data, opts), nil
	}
	if !errors.Is(err, journal.ErrNotKept) {
		return whole, err
	}
	if !reverse {
		if whole.Hunks, err = w.state.journal.Shown(e, i); whole.Hunks != "" || err != nil {
			return whole, err
		}
	}
	whole.Kind = change.DiffNotKept
	return whole, nil
}

// contents returns the contents before and after an operation. If the journal lacks one
// of them, it uses the file itself if that has the right version.
func (w *Changer) contents(e journal.Entry, i int) (old, data []byte, err error) {
	j, op := w.state.journal, e.Ops[i]
	old, errOld := j.Before(e, i)
	if errOld == nil {
		if data, err = j.After(e, i); err == nil {
			return old, data, nil
		}
	} else {
		err = errOld
	}
	if !errors.Is(err, journal.ErrNotKept) {
		return nil, nil, err
	}
	now, version, _, readErr := w.root.ReadFile(op.Path, maxRead)
	if readErr != nil {
		return nil, nil, err
	}
	if errOld == nil && version == op.New {
		return old, now, nil
	}
	return j.Around(e, i, now, version)
}
