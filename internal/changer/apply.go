package changer

import (
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/trash"
)

// step is one operation of a change: what the journal records, and how it is
// carried out. How it is rolled back, the journal knows: a failure, a crash and
// an undo take the same way.
type step struct {
	op journal.Op
	do func(*journal.Tx) error
	// result, if set, tells after do what the journal could not know before.
	result func() journal.Result
	// shared is set for a folder made on the way to a file: that another
	// process made it first is no failure of the change, only of the plan.
	shared bool
}

// errReplan says that the plan no longer fits the disk and can be made again.
var errReplan = errors.New("the folder was made by someone else meanwhile")

// maxPlans is how often a change is planned anew.
const maxPlans = 8

// carryOut makes a change: it is recorded with all that is needed to take it
// back, then its steps are done in order. If one fails, those before it are
// rolled back. c gets the id, and warnings.
func (w *Changer) carryOut(ctx context.Context, c *change.Change, steps []step) error {
	record := journal.Change{Tool: c.Tool, Client: c.Client, Did: c.Did, Ops: make([]journal.Op, len(steps))}
	for i := range steps {
		record.Ops[i] = steps[i].op
	}
	tx, err := w.begin(ctx, c, record)
	if err != nil {
		return err
	}
	defer w.touched(record.Ops)
	var results []journal.Result
	for i := range steps {
		if err := steps[i].do(tx); err != nil {
			err = w.rollBack(ctx, tx, i, err)
			if steps[i].shared && errors.Is(err, rootfs.AlreadyExists) && !partial(err) {
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
		// The files are changed and that is durable, and so is what takes it
		// back. The next start will see that nothing is missing.
		w.log.Warn("change not closed in the journal", "id", c.ID, "err", err)
		c.Warnings = append(c.Warnings, "the change is done, but the journal could not be completed: "+err.Error())
	}
	return nil
}

// touched tells the index what this process has changed, or may have. Events
// would tell it too, where the file system has them.
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

// settled is a change that was made, or none.
func settled(c *change.Change, err error) (*change.Change, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// begin records the change. Old content that is too large to keep makes the
// change one that can't be undone, and it says so.
func (w *Changer) begin(ctx context.Context, c *change.Change, record journal.Change) (*journal.Tx, error) {
	tx, err := w.state.journal.Begin(ctx, w.root, record)
	var large *journal.TooLargeError
	if !errors.As(err, &large) {
		return tx, err
	}
	if len(c.Files) > 1 {
		return nil, large // a set that can't be undone is not begun
	}
	c.NoUndo = large.Error()
	record.Ops = withoutOld(record.Ops, c.NoUndo)
	return w.state.journal.Begin(ctx, w.root, record)
}

// withoutOld are operations whose old content is not kept, for a reason.
func withoutOld(ops []journal.Op, why string) []journal.Op {
	ops = slices.Clone(ops)
	for i := range ops {
		if k := ops[i].Kind; k == journal.Replace || k == journal.Remove {
			ops[i].Lost = why
		}
	}
	return ops
}

// partial tells that some of a failed change stays.
func partial(err error) bool {
	var e *change.PartialError
	return errors.As(err, &e)
}

// bySystem tells a failure of the system from a refusal, which leaves nothing.
func bySystem(cause error) bool {
	if errors.Is(cause, trash.ErrNotFound) {
		return false
	}
	switch rootfs.KindOf(cause) {
	case rootfs.IO, rootfs.ReadOnly, rootfs.Permission:
		return true
	}
	return false
}

// folderStep makes a folder on the way to something. That another process made
// it first is no failure of the change, only of the plan.
func (w *Changer) folderStep(dir rootfs.Path) step {
	return step{
		op:     journal.Op{Kind: journal.Create, Path: dir, Nodes: []journal.Node{{Type: rootfs.TypeDir}}},
		do:     func(*journal.Tx) error { return w.root.Mkdir(dir) },
		shared: true,
	}
}

// folderSteps make the folder p and those above it that are missing.
func (w *Changer) folderSteps(p rootfs.Path) ([]step, error) {
	missing, err := w.missing(p)
	steps := make([]step, 0, len(missing)+1)
	for _, dir := range missing {
		steps = append(steps, w.folderStep(dir))
	}
	return steps, err
}

// missing lists the folders that have to be made for p to be one, outermost
// first.
func (w *Changer) missing(p rootfs.Path) ([]rootfs.Path, error) {
	var list []rootfs.Path
	for ; !p.IsRoot(); p = p.Dir() {
		info, err := w.root.Stat(p)
		if err == nil {
			if info.Type == rootfs.TypeDir {
				break
			}
			return nil, &rootfs.Error{Op: "mkdir", Path: p.String(), Kind: rootfs.NotFolder}
		}
		// A file on the way is found where the loop reaches it.
		if k := rootfs.KindOf(err); k != rootfs.NotFound && k != rootfs.NotFolder {
			return nil, err
		}
		list = append(list, p)
	}
	slices.Reverse(list)
	return list, nil
}

// createStep makes a new file.
func (w *Changer) createStep(p rootfs.Path, data []byte, executable *bool) step {
	var opts *rootfs.CreateOptions
	if executable != nil && *executable {
		opts = &rootfs.CreateOptions{Mode: 0o755}
	}
	if data == nil {
		data = []byte{} // nil says to the journal that it is not told
	}
	return step{
		op: journal.Op{Kind: journal.Create, Path: p, NewData: data},
		do: func(*journal.Tx) error {
			_, _, err := w.root.Create(p, data, opts)
			return err
		},
	}
}

// names returns paths as they are printed.
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
