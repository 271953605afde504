package changer

import (
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// endPartly ends a change that failed and could not be rolled back: as far as the caller
// knows, the first left operations remain. The disk decides the report. If all of the
// change is there, its entry is closed as complete. If someone has changed files since,
// those are left alone and the others are rolled back. Otherwise the change is half
// applied, or can't be read: its entry remains open, so that the log says so, and undo,
// the next change and the next start roll it back.
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
		return errors.Join(cause, tx.Abort()) // it was done, but not durably
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

// leaveOthers ends a failed change some of whose files were changed by others since. Files
// that are still as the change left them are rolled back.
func (w *Changer) leaveOthers(ctx context.Context, tx *journal.Tx, left int, trashed []journal.Result, cause, stuck error) error {
	e := tx.Entry()
	// Operations already rolled back are at the end.
	err := tx.CommitPart(left, trashed...)
	if err == nil {
		e.Ops = e.Ops[:min(left, len(e.Ops))]
		err = w.undoRest(ctx, e, true, "rolled back change "+string(e.ID)+", which failed; files that were changed since are left as they are")
	}
	u, failed := w.state.journal.Progress(w.root, tx.Entry())
	return &change.PartialError{ID: string(e.ID), Partly: *u.Partly(), Cause: cause, Stuck: errors.Join(stuck, err, failed)}
}

// undoRest undoes the files that are still as a change left them, or that can be undone
// beneath later changes.
func (w *Changer) undoRest(ctx context.Context, e journal.Entry, beneath bool, summary string) error {
	_, err := w.undoUnlocked(ctx, e, change.Options{Tool: journal.Recovery, SkipConflicts: true, Summary: summary}, beneath)
	var nothing *change.UndoError
	if errors.As(err, &nothing) || errors.Is(err, errNothingLeft) {
		return nil // no file has a part of the change that can be undone
	}
	return err
}

// partly describes the files of an entry that was left half-way; nil if it is complete, in
// progress, or undone.
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

// repairLeft tries again to roll back a change that this process left half-way, before it
// makes another. If that fails, the log still says so.
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

// undoInterrupted undoes a half-applied change by rolling it back. Without an id that is
// the last change if nothing was made after it. If the start of this process has already
// rolled it back, the answer says so: otherwise the undo would apply to the change before
// it. The Change is nil if id means another change.
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
		return nil, nil // the caller reports it
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

// whyStuck tries to settle one change and returns why that fails.
func (w *Changer) whyStuck(ctx context.Context, id journal.ID) error {
	list, err := w.state.journal.Unfinished(w.root)
	for _, u := range list {
		if u.ID == id {
			return errors.Join(err, w.settle(ctx, u))
		}
	}
	return err
}

// rolledBack returns the answer to an undo of a half-applied change. The undo has no entry
// of its own: the change is as if it had never begun.
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
