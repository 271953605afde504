package changer

import (
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// endPartly ends a failed change that could not be rolled back. The caller assumes that
// its first left operations remain; endPartly compares the files. If the change is
// complete, its entry is closed. If other programs have changed files since, those files
// are not touched and the others are rolled back. Otherwise the change is half applied,
// or the files can't be read. Then its entry remains open, so that the log shows it, and
// undo, the next change and the next Open try to roll it back.
func (w *Changer) endPartly(ctx context.Context, tx *journal.Tx, left int, cause, stuck error) error {
	e := tx.Entry()
	w.log.Error("change not rolled back", "id", e.ID, "cause", cause, "err", stuck)
	u, err := w.state.journal.Progress(w.root, e)
	var trashed []journal.Result
	if err == nil {
		trashed, err = w.findTrashed(u)
	}
	var torn *rootfs.StuckError
	switch {
	case err == nil && u.Done == 0 && !u.Begun:
		return errors.Join(cause, tx.Abort()) // the change was applied, but not durably
	case err == nil && u.Done == len(e.Ops):
		err = tx.Commit(trashed...)
	case err == nil && u.Done < 0 && !errors.As(errors.Join(cause, stuck), &torn):
		return w.leaveOthers(ctx, tx, left, trashed, cause, stuck)
	default:
		w.state.left.Store(true)
		err = errors.Join(err, tx.Leave())
	}
	return &change.PartialError{ID: string(e.ID), Partly: *u.Partly(), Cause: cause, Stuck: errors.Join(stuck, err)}
}

// leaveOthers ends a failed change if other programs have changed some of its files
// since. The files that are still as the change left them are rolled back.
func (w *Changer) leaveOthers(ctx context.Context, tx *journal.Tx, left int, trashed []journal.Result, cause, stuck error) error {
	e := tx.Entry()
	// The last operations were already rolled back.
	err := tx.CommitPart(left, trashed...)
	if err == nil {
		e.Ops = e.Ops[:min(left, len(e.Ops))]
		err = w.undoRest(ctx, e, true, "rolled back change "+string(e.ID)+", which failed; files that were changed since are left as they are")
	}
	u, failed := w.state.journal.Progress(w.root, tx.Entry())
	return &change.PartialError{ID: string(e.ID), Partly: *u.Partly(), Cause: cause, Stuck: errors.Join(stuck, err, failed)}
}

// undoRest undoes a change in the files that are unmodified since. If beneath is set, it
// also undoes it in files with later changes, where possible.
func (w *Changer) undoRest(ctx context.Context, e journal.Entry, beneath bool, summary string) error {
	_, err := w.undoUnlocked(ctx, e, change.Options{Tool: journal.Recovery, SkipConflicts: true, Summary: summary}, beneath)
	var nothing *change.UndoError
	if errors.As(err, &nothing) || errors.Is(err, errNothingLeft) {
		return nil // there is nothing that can be undone
	}
	return err
}

// partly describes the files of an entry that was half applied. It returns nil if the
// entry is complete, in progress, or undone.
func (w *Changer) partly(e journal.Entry) (*change.Partly, error) {
	switch {
	case e.Status == journal.Committed && e.Planned != nil && e.UndoneBy == "":
	case e.Status == journal.Pending:
		cut, err := w.state.journal.Interrupted()
		if err != nil || !slices.Contains(cut, e.ID) {
			return nil, err
		}
	default:
		return nil, nil
	}
	u, err := w.state.journal.Progress(w.root, e)
	if err != nil {
		w.log.Warn("files of an unfinished change can't be read", "id", e.ID, "err", err)
	}
	return u.Partly(), nil
}

// repairLeft is called before a change. It tries again to roll back an earlier change
// that this process left half applied. If that fails, the log still shows it.
func (w *Changer) repairLeft(ctx context.Context) {
	if !w.state.left.Load() {
		return
	}
	if err := w.recoverChanges(ctx); err != nil {
		w.log.Error("change left half-way not rolled back", "err", err)
		return
	}
	if cut, err := w.state.journal.Interrupted(); err == nil && len(cut) == 0 {
		w.state.left.Store(false)
	}
}

// undoInterrupted rolls back a half-applied change. Without an id, that is the last
// change, if it is half applied. If Open has already rolled back that change, the answer
// says so: otherwise the undo would apply to the change before it. The returned Change is
// nil if id names another change.
func (w *Changer) undoInterrupted(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	j := w.state.journal
	cut, err := j.Interrupted()
	if err != nil {
		return nil, err
	}
	s := w.state
	s.mu.Lock()
	done := s.rolledBack
	s.mu.Unlock()
	if len(cut) == 0 && done == "" && id == "" {
		return nil, nil
	}
	last := journal.ID("")
	if id == "" {
		if e, err := j.Latest(); err == nil {
			last = e.ID
		}
	}
	switch {
	case id == "" && len(cut) > 0 && cut[len(cut)-1] > last:
		id = string(cut[len(cut)-1])
	case id == "" && done > last && !o.DryRun:
		s.mu.Lock()
		s.rolledBack = ""
		s.mu.Unlock()
		return rolledBack(string(done), nil, o), nil
	case id == "":
		return nil, nil
	}
	known, err := journal.ParseID(id)
	if err != nil {
		return nil, nil // the caller reports the error
	}
	if !slices.Contains(cut, known) {
		if was, err := j.RolledBack(known); err != nil || !was {
			return nil, err
		}
		return rolledBack(id, nil, o), nil
	}
	e, err := w.entry(id)
	if err != nil {
		return nil, err
	}
	before, err := w.partly(e)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return rolledBack(id, before, o), nil
	}
	if err := w.recoverChanges(ctx); err != nil {
		return nil, err
	}
	if cut, err = j.Interrupted(); err != nil {
		return nil, err
	}
	if slices.Contains(cut, known) {
		now, err := w.partly(e)
		if err != nil || now == nil {
			return nil, err
		}
		return nil, &change.PartialError{ID: id, Partly: *now, Cause: errStillHalf, Stuck: w.whyStuck(ctx, known)}
	}
	w.touched(e.Ops)
	s.mu.Lock()
	s.rolledBack = ""
	s.mu.Unlock()
	return rolledBack(id, before, o), nil
}

var errStillHalf = errors.New("the undo failed")

// whyStuck tries again to settle one change and returns the error.
func (w *Changer) whyStuck(ctx context.Context, id journal.ID) error {
	list, err := w.state.journal.Unfinished(w.root)
	for _, u := range list {
		if u.ID == id {
			return errors.Join(err, w.settle(ctx, u))
		}
	}
	return err
}

// rolledBack returns the answer to an undo of a half-applied change. This undo has no log
// entry: the change counts as not begun.
func rolledBack(id string, before *change.Partly, o change.Options) *change.Change {
	c := &change.Change{Tool: toolOf(o.Tool, "undo"), Undoes: id, DryRun: o.DryRun, Paths: []string{}, Client: o.Client.OneLine()}
	c.Did = change.Action{Verb: change.RolledBack, ID: id}
	if before != nil {
		c.Paths = append(c.Paths, before.New...)
		c.Did.Count = len(before.New)
	}
	c.Unchanged = before == nil
	c.Summary = c.Did.String()
	return c
}
