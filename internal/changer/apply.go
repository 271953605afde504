package changer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/trash"
)

// step is one operation of a change: its journal record, and the function that carries it
// out. A failed step, a crash and an undo are all rolled back from the journal record.
type step struct {
	op journal.Op
	do func(*journal.Tx) error
	// result, if set, is called after do. It returns facts that were unknown when the
	// operation was journaled.
	result func() journal.Result
	// shared is set for a missing parent folder. If another process makes it first, the
	// change is planned again.
	shared bool
}

// errReplan means that the plan no longer fits the disk and has to be made again.
var errReplan = errors.New("the folder was made by someone else meanwhile")

// maxPlans bounds how often a change is planned again.
const maxPlans = 8

// carryOut records everything needed to undo c, and then carries out the steps in order.
// If a step fails, the earlier ones are rolled back. It sets c.ID and adds warnings to c.
func (w *Changer) carryOut(ctx context.Context, c *change.Change, steps []step) error {
	record := journal.Change{Tool: c.Tool, Client: c.Client, Proposal: acceptedBy(c), Did: c.Did, Ops: opsOf(steps)}
	tx, err := w.begin(ctx, c, record)
	if err != nil {
		return err
	}
	defer w.touched(record.Ops)
	var results []journal.Result
	watch := progress.Of(ctx)
	for i := range steps {
		if ctx.Err() != nil {
			return w.cancelled(ctx, tx, i)
		}
		watch.Step()
		if err := steps[i].do(tx); err != nil {
			err = w.rollBack(ctx, tx, i, err)
			if steps[i].shared && errors.Is(err, fault.AlreadyExists) && !partial(err) {
				return errReplan
			}
			return err
		}
		if steps[i].result != nil {
			r := steps[i].result()
			r.Op = i
			results = append(results, r)
		}
	}
	c.ID, c.Time = string(tx.ID()), tx.Entry().Time
	if err := tx.Commit(results...); err != nil {
		// The change and its undo data are durable. The next Open will mark it as
		// complete.
		w.log.Warn("change not closed in the journal", "id", c.ID, "err", err)
		c.Warnings = append(c.Warnings, "the change is done, but the journal could not be completed: "+err.Error())
	}
	return nil
}

// cancelled rolls back the first done operations of a change after its context was
// cancelled.
func (w *Changer) cancelled(ctx context.Context, tx *journal.Tx, done int) error {
	cause := context.Cause(ctx)
	if err := w.rollBack(ctx, tx, done, cause); partial(err) {
		return err
	}
	return fmt.Errorf("%w (%w)", change.ErrRolledBack, cause)
}

// unbegun wraps the error of a change that was cancelled before its first operation in
// ErrRolledBack, which tells the caller that nothing was changed.
func unbegun(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) || partial(err) || errors.Is(err, change.ErrRolledBack) {
		return err
	}
	return fmt.Errorf("%w (%w)", change.ErrRolledBack, err)
}

func opsOf(steps []step) []journal.Op {
	ops := make([]journal.Op, len(steps))
	for i := range steps {
		ops[i] = steps[i].op
	}
	return ops
}

// touched tells the index which paths ops have changed or may have changed. Some file
// systems don't send file events.
func (w *Changer) touched(ops []journal.Op) {
	var files, trees []rootfs.Path
	for _, op := range ops {
		paths := []rootfs.Path{op.Path}
		if op.Kind == journal.Rename {
			paths = append(paths, op.To)
		}
		if len(op.Nodes) > 0 && op.Nodes[0].Type == rootfs.TypeDir {
			trees = append(trees, paths...)
		} else {
			files = append(files, paths...)
		}
	}
	if w.opts.Touched != nil {
		w.opts.Touched(files, trees)
	}
}

// settled returns c, or nil and err if err is set.
func settled(c *change.Change, err error) (*change.Change, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// begin records the change in the journal. If old content is too large to keep, it marks
// the change as one that can't be undone.
func (w *Changer) begin(ctx context.Context, c *change.Change, record journal.Change) (*journal.Tx, error) {
	tx, err := w.state.journal.Begin(ctx, w.root, record)
	var large *journal.TooLargeError
	if !errors.As(err, &large) {
		return tx, err
	}
	if len(c.Files) > 1 {
		return nil, large // a set must be undoable as a whole
	}
	c.NoUndo = large.Error()
	record.Ops = withoutOld(record.Ops, c.NoUndo)
	return w.state.journal.Begin(ctx, w.root, record)
}

// withoutOld returns a copy of ops, marked to say why the old contents are not kept.
func withoutOld(ops []journal.Op, why string) []journal.Op {
	ops = slices.Clone(ops)
	for i := range ops {
		if k := ops[i].Kind; k == journal.Replace || k == journal.Remove {
			ops[i].Lost = why
		}
	}
	return ops
}

// partial reports whether err means that a failed change could not be rolled back
// completely.
func partial(err error) bool {
	var e *change.PartialError
	return errors.As(err, &e)
}

// bySystem reports whether cause is a system failure. All other errors are refusals,
// after which nothing has changed.
func bySystem(cause error) bool {
	if errors.Is(cause, trash.ErrNotFound) {
		return false
	}
	switch rootfs.KindOf(cause) {
	case fault.IOError, fault.ReadOnly, fault.Permission:
		return true
	}
	return false
}

// folderStep makes a missing parent folder. If another process makes it first, the change
// is planned again.
func (w *Changer) folderStep(dir rootfs.Path) step {
	return step{
		op:     journal.Op{Kind: journal.Create, Path: dir, Nodes: []journal.Node{{Type: rootfs.TypeDir}}},
		do:     func(*journal.Tx) error { return w.root.Mkdir(dir) },
		shared: true,
	}
}

// folderSteps returns the steps that make the folder p and its missing parents.
func (w *Changer) folderSteps(p rootfs.Path) ([]step, error) {
	missing, err := w.missing(p)
	steps := make([]step, 0, len(missing)+1)
	for _, dir := range missing {
		steps = append(steps, w.folderStep(dir))
	}
	return steps, err
}

// missing lists p and its parents that don't exist, outermost first.
func (w *Changer) missing(p rootfs.Path) ([]rootfs.Path, error) {
	var list []rootfs.Path
	for ; !p.IsRoot(); p = p.Dir() {
		info, err := w.root.Stat(p)
		if err == nil {
			if info.Type == rootfs.TypeDir {
				break
			}
			return nil, &fault.PathError{Op: "mkdir", Path: p.String(), Kind: fault.NotFolder}
		}
		// If a parent is a file, a later iteration reports it.
		if k := rootfs.KindOf(err); k != fault.NotFound && k != fault.NotFolder {
			return nil, err
		}
		list = append(list, p)
	}
	slices.Reverse(list)
	return list, nil
}

// createStep returns the step that makes a new file.
func (w *Changer) createStep(p rootfs.Path, data []byte, executable *bool) step {
	var opts *rootfs.CreateOptions
	if executable != nil && *executable {
		opts = &rootfs.CreateOptions{Mode: 0o755}
	}
	if data == nil {
		data = []byte{} // nil would mean that the content is not journaled
	}
	return step{
		op: journal.Op{Kind: journal.Create, Path: p, NewData: data},
		do: func(*journal.Tx) error {
			_, _, err := w.root.Create(p, data, opts)
			return err
		},
	}
}

// names returns the paths as strings.
func names(paths []rootfs.Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, p.String())
	}
	return out
}

// madeFolders lists the folders that steps make.
func madeFolders(steps []step) []string {
	var out []string
	for _, s := range steps {
		if s.shared {
			out = append(out, s.op.Path.String())
		}
	}
	return out
}
