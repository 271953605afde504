package changer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/trash"
)

// state is the undo data, stored outside the workspace folder.
type state struct {
	root    *rootfs.Root
	journal *journal.Journal
	locks   pathLocks
	moves   pathLocks   // used with the root path only; see moveTurn
	claimed atomic.Bool // the folder's identity was recorded
	left    atomic.Bool // this process left a change half applied
	outside outside

	mu         sync.Mutex
	rolledBack journal.ID // guarded by mu: the newest change rolled back by Open; "" after an undo has reported it
}

func openState(opts *Options, files *rootfs.Root) (*state, error) {
	root, err := rootfs.Open(opts.StateDir, &rootfs.Options{Trusted: true, AllowAny: true, Private: opts.Layer == nil, Layer: opts.Layer})
	if err != nil {
		return nil, fmt.Errorf("open state folder: %w", err)
	}
	s := &state{root: root, outside: outside{state: root, files: files}}
	s.journal, err = journal.Open(root, &journal.Options{MaxBytes: opts.KeepBytes, MaxAge: opts.KeepAge, Beside: s.outside.log})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("undo log in %s: %w", opts.StateDir, err), root.Close())
	}
	return s, nil
}

func (s *state) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.journal.Close(), s.outside.close(), s.root.Close())
}

// renewState begins a new log if the state folder was deleted or replaced. It must not be
// called while a change is in progress.
func (w *Changer) renewState() error {
	s := w.state
	moved, err := s.root.Renew()
	if err != nil {
		return fault.New(fault.IOError, fmt.Sprintf("the folder of the undo log was deleted and can't be made again, so nothing can be changed (%v)", err),
			"make it possible to write to "+w.opts.StateDir)
	}
	if !moved {
		return nil
	}
	w.log.Warn("the undo log was deleted while in use; a new one begins", "folder", w.opts.StateDir)
	s.claimed.Store(false)
	s.left.Store(false)
	return errors.Join(s.outside.close(), s.journal.Renew(), w.belongs())
}

// changeable returns an error with the reason if nothing can be changed.
func (w *Changer) changeable(op string) error {
	if w.root.ReadOnly() {
		return &fault.PathError{Op: op, Path: ".", Kind: fault.ReadOnly, Err: errOwner}
	}
	if w.state == nil {
		return change.ErrNoState
	}
	if err := w.root.InPlace(); errors.Is(err, rootfs.ErrClosed) {
		return rootfs.ErrClosed
	} else if errors.Is(err, fs.ErrNotExist) {
		return errGone
	} else if err != nil {
		return errReplaced
	}
	return nil
}

var errGone = fault.New(fault.IOError, "the workspace's folder is not there any more",
	"it was moved or deleted; put it back or open another one")

// errReplaced is returned for a change if the workspace's folder was replaced by another
// one at the same path since the last answer. After a search or a read in the new folder,
// changes are allowed.
var errReplaced = fault.New(fault.Conflict, "the workspace's folder was replaced since it was last read",
	"search or read it again, then repeat the change if it is still right")

var errOwner = errors.New("the workspace is open for reading only")

// recoverChanges settles unfinished changes of dead processes. A complete one is recorded
// as done, any other is rolled back. Files that other programs have changed since are not
// touched.
//
// If there are none, it only reads the journal. Otherwise it first removes temporary
// files from the affected folders, which may restore a file's old content. It also does
// this for the last changes before the machine was restarted, because their removals may
// not have reached the disk.
func (w *Changer) recoverChanges(ctx context.Context) error {
	j := w.state.journal
	cut, err := j.Unfinished(w.root)
	if err != nil {
		return err
	}
	last, err := j.Restarted()
	if err != nil || len(cut)+len(last) == 0 {
		return err
	}
	// Only one process at a time: two would roll back the same steps.
	lock, err := w.state.root.Hold("recovery", true)
	if err != nil {
		return err
	}
	defer lock.Close()
	for _, u := range cut {
		last = append(last, u.Entry)
	}
	w.cleanAround(ctx, last)
	if cut, err = j.Unfinished(w.root); err != nil {
		return err
	}
	// Newest first: a later change may depend on an earlier one.
	for _, u := range slices.Backward(cut) {
		if err := w.settle(ctx, u); err != nil {
			// The change remains unfinished and is tried again at the next Open. A full
			// disk must not prevent opening the workspace.
			w.log.Error("unfinished change not settled", "id", u.ID, "err", err)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return j.Tidied()
}

// cleanAround removes leftover temporary files from the folders of changes.
func (w *Changer) cleanAround(ctx context.Context, changes []journal.Entry) {
	dirs, trashes := map[rootfs.Path]bool{}, map[change.TrashKind]bool{}
	for _, e := range changes {
		for _, dir := range e.Folders() {
			dirs[dir] = true
		}
		for _, op := range e.Ops {
			if op.Kind == journal.Trash || op.Kind == journal.Restore {
				trashes[kindOf(op.Where)] = true
			}
		}
	}
	for dir := range dirs {
		res, err := w.root.CleanFolder(ctx, dir)
		w.logCleaned(dir.String(), res, err)
	}
	for kind := range trashes {
		w.cleanTrash(ctx, kind)
	}
}

// cleanTrash removes leftovers of an interrupted deletion from a trash.
func (w *Changer) cleanTrash(ctx context.Context, kind change.TrashKind) {
	bin, err := w.bin(kind)
	if err == nil {
		var res rootfs.Cleaned
		res, err = bin.Clean(ctx)
		w.logCleaned("trash", res, nil)
	}
	if err != nil && !errors.Is(err, trash.ErrUnsupported) {
		w.log.Warn("temporary files not cleaned", "folder", "trash", "err", err)
	}
}

func (w *Changer) logCleaned(dir string, res rootfs.Cleaned, err error) {
	if err != nil && rootfs.KindOf(err) != fault.NotFound && rootfs.KindOf(err) != fault.NotFolder {
		w.log.Warn("temporary files not cleaned", "folder", dir, "err", err)
	}
	for _, err := range res.Errors {
		w.log.Warn("temporary files not cleaned", "folder", dir, "err", err)
	}
	for _, p := range res.Kept {
		w.log.Warn("content another program wrote during a crash was kept", "path", p.String())
	}
}

// settle completes or rolls back one interrupted change.
func (w *Changer) settle(ctx context.Context, u journal.Unfinished) error {
	j := w.state.journal
	switch {
	case u.Done == len(u.Ops):
		results, err := w.findTrashed(u)
		if err != nil {
			return err
		}
		w.log.Info("change was complete", "id", u.ID)
		return j.Settle(u.ID, len(u.Ops), results...)
	case u.Done == 0 && !u.Begun:
		return j.Settle(u.ID, 0)
	case u.Done < 0:
		return w.settleChanged(ctx, u)
	}
	if _, err := w.revert(ctx, u); err != nil {
		return err
	}
	w.log.Info("unfinished change rolled back", "id", u.ID)
	w.state.mu.Lock()
	w.state.rolledBack = max(w.state.rolledBack, u.ID)
	w.state.mu.Unlock()
	return j.Settle(u.ID, 0)
}

// settleChanged settles an interrupted change if the files match neither its start nor
// its end: a move to another file system left both copies, or other programs have changed
// files since. Those files are not touched. The others are rolled back by an undo, which
// is logged.
func (w *Changer) settleChanged(ctx context.Context, u journal.Unfinished) error {
	j := w.state.journal
	dropped := false
	for _, op := range u.Ops {
		if op.Kind == journal.Rename {
			was, err := w.root.DropCopy(op.Path, op.To)
			if err != nil {
				return err
			}
			dropped = dropped || was
		}
	}
	if dropped {
		again, err := j.Progress(w.root, u.Entry)
		if err != nil {
			return err
		}
		return w.settle(ctx, again)
	}
	w.log.Warn("files of an unfinished change were changed since", "id", u.ID)
	done, foreign := reached(u)
	if err := j.Settle(u.ID, done); err != nil {
		return err
	}
	u.Entry.Ops = u.Entry.Ops[:done]
	return w.undoRest(ctx, u.Entry, false, fmt.Sprintf("rolled back change %s, which was cut short; left as they are, changed since: %d", u.ID, foreign))
}

// reached returns how many operations of a change were begun, judging by the files, and
// how many files other programs have changed since.
func reached(u journal.Unfinished) (done, foreign int) {
	state := map[rootfs.Path]journal.State{}
	for _, p := range u.Paths {
		state[p.Path] = p.State
		if p.State == journal.Foreign {
			foreign++
		}
	}
	for i, op := range u.Ops {
		if state[op.Path] == journal.New {
			done = i + 1
		}
	}
	for i, op := range u.Ops {
		// The next operation may have begun. If no file is as the change left it, the old
		// contents in the journal must not be lost.
		if state[op.Path] == journal.Foreign && (i == done || done == 0) {
			return i + 1, foreign
		}
	}
	return done, foreign
}

// Clean removes temporary files of dead processes from the whole workspace and settles
// their changes. Open does so only in folders named by the journal.
func (w *Changer) Clean(ctx context.Context) (*change.Cleaned, error) {
	leave, err := w.enter("clean")
	if err != nil {
		return nil, err
	}
	defer leave()
	res, err := w.root.CleanTemps(ctx, rootfs.Path{})
	out := &change.Cleaned{Removed: res.Removed, Restored: names(res.Restored), Kept: names(res.Kept)}
	if err == nil {
		err = errors.Join(res.Errors...)
	}
	w.cleanTrash(ctx, change.TrashLocal)
	w.cleanTrash(ctx, change.TrashSystem)
	if err == nil {
		err = w.recoverChanges(ctx)
	}
	return out, err
}

// Log lists the newest changes, newest first. A limit of 0 means all.
func (w *Changer) Log(limit int) (*change.Log, error) {
	if err := w.belongs(); err != nil {
		return nil, err
	}
	entries, err := w.state.journal.List(limit)
	if err != nil {
		return nil, err
	}
	log := &change.Log{Changes: []change.Change{}}
	hidden := w.hidden(entries, 0)
	for i, e := range entries {
		c := changeOf(e)
		if c.Partly, err = w.partly(e); err != nil {
			return nil, err
		}
		if hidden[i] {
			c = masked(c)
		}
		log.Changes = append(log.Changes, c)
	}
	if log.Dropped, log.DroppedTo, err = w.state.journal.Dropped(); err != nil {
		return nil, err
	}
	if log.Damaged, err = w.state.journal.Damage(); err != nil {
		return nil, err
	}
	if log.Points, err = w.points(); err != nil {
		return nil, err
	}
	log.Lost, err = w.state.journal.Lost()
	return log, err
}

// masked returns a change of hidden files with little more than its id and time.
func masked(c change.Change) change.Change {
	m := change.Change{
		ID: c.ID, Time: c.Time, Tool: c.Tool, Proposal: c.Proposal, Rule: c.Rule, Paths: []string{}, Undoes: c.Undoes, UndoneBy: c.UndoneBy, Pending: c.Pending,
		Did: change.Action{Verb: change.Noted, Text: "changed files that are not shown here"}, NoUndo: errHidden.Error(),
	}
	m.Summary = m.Did.String()
	return m
}

// ruleMark is a prefix in the journal's field for a proposal's id. It means that the
// change was accepted by the named rule. No proposal id begins with it.
const ruleMark = "rule: "

// acceptedBy returns the proposal or rule that led to a change, as stored in the journal.
func acceptedBy(c *change.Change) string {
	if c.Proposal == "" && c.Rule != "" {
		return ruleMark + c.Rule
	}
	return c.Proposal
}

// changeOf converts a journal entry to a Change, without a diff.
func changeOf(e journal.Entry) change.Change {
	c := change.Change{
		ID: string(e.ID), Time: e.Time, Tool: e.Tool, Client: e.Client, Did: e.Did, Paths: names(e.Paths()),
		Undoes: string(e.Undoes), UndoneBy: string(e.UndoneBy), PartOf: string(e.PartOf), Pending: e.Status == journal.Pending,
	}
	if rule, by := strings.CutPrefix(e.Proposal, ruleMark); by {
		c.Rule = rule
	} else {
		c.Proposal = e.Proposal
	}
	for _, id := range e.PartlyBy {
		c.PartlyBy = append(c.PartlyBy, string(id))
	}
	switch {
	case e.Status == journal.Damaged:
		c.Did = change.Action{Verb: change.Noted, Text: "the journal's record of this change is damaged"}
		c.NoUndo = journal.ErrDamaged.Error()
	case e.ID.Outside():
		c.Outside = true
	}
	c.Summary = c.Did.String()
	for _, op := range e.Ops {
		if op.Lost != "" {
			c.NoUndo = op.Lost
		}
	}
	return c
}
