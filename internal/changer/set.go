package changer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// Apply applies all operations of a set, or none.
func (w *Changer) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	return w.run(ctx, set, false)
}

// Plan computes the result of Apply without changing files. It stores the plan under the
// digest in its answer. A Set with only this digest applies exactly that plan, or is
// refused.
func (w *Changer) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return w.run(ctx, set, true)
}

func (w *Changer) run(ctx context.Context, set change.Set, dry bool) (_ *change.Change, err error) {
	leave, err := w.enter(verbName(&set))
	if err != nil {
		return nil, err
	}
	defer leave()
	defer func() { err = unbegun(ctx, err) }()
	if len(set.Ops) == 0 && set.Digest != "" {
		if set, err = w.loadPlan(set); err != nil {
			return nil, err
		}
	}
	if len(set.Ops) == 0 {
		return nil, ErrNoEdits
	}
	if !dry {
		w.repairLeft(ctx)
	}
	tasks, err := w.resolve(&set)
	if err != nil {
		return nil, err
	}
	if !dry {
		done, err := w.state.journal.Turn(ctx, len(tasks) > 1)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	var also []rootfs.Path // further paths to be locked from the start
	var busy *lockError
	retry := &retry{}
	for i := 0; i < maxPlans; i++ {
		c, err := w.once(ctx, &set, tasks, also, dry)
		busy = nil
		switch {
		case errors.As(err, &busy):
			if also = append(also, busy.paths...); i > 1 {
				also = []rootfs.Path{{}} // lock all paths, so that no other change of this process can interfere
			}
		case errors.Is(err, errReplan):
		case mayReplan(&set) && retry.after(ctx, err):
			i-- // retries have their own limit
			if set.Again == nil {
				continue
			}
			again, err := set.Again(ctx)
			if err == nil {
				set.Ops, set.Summary = again.Ops, again.Summary
				tasks, err = w.resolve(&set)
			}
			if err != nil || len(tasks) == 0 {
				return nil, cmp.Or(err, error(ErrNoEdits))
			}
		default:
			return settled(c, err)
		}
	}
	last := tasks[len(tasks)-1]
	if busy != nil {
		return nil, &fault.PathError{Op: "move", Path: last.path.String(), Kind: fault.Conflict, Err: busy}
	}
	return nil, &fault.PathError{Op: "mkdir", Path: last.target().Dir().String(), Kind: fault.Conflict, Err: errReplan}
}

// If another program changes files between reading and writing, the change is computed
// again on the present files, within these limits. Each attempt means that the other
// program made progress.
const (
	maxConflicts = 64
	maxRetrying  = 30 * time.Second
)

type retry struct {
	conflicts int
	began     time.Time
}

// after reports whether a change may be computed again after it failed with err.
func (r *retry) after(ctx context.Context, err error) bool {
	if r.began.IsZero() {
		r.began = time.Now()
	}
	r.conflicts++
	return errors.Is(err, fault.Conflict) && !partial(err) && ctx.Err() == nil && r.conflicts <= maxConflicts && time.Since(r.began) < maxRetrying
}

// mayReplan reports whether a set may be planned again on files that have changed. A
// caller that specified a version or a plan wants exactly that content to be changed.
// Overwriting or deleting a file just written by another program would lose the new
// content.
func mayReplan(set *change.Set) bool {
	return set.Digest == "" && (set.Again != nil || !slices.ContainsFunc(set.Ops, func(op change.Op) bool {
		return op.Version != "" || op.Verb == change.WriteFile || op.Verb == change.DeletePath
	}))
}

// verbName returns the operation's name for errors about the whole workspace.
func verbName(set *change.Set) string {
	if len(set.Ops) == 0 {
		return "change"
	}
	return opNames[set.Ops[0].Verb]
}

var opNames = map[change.OpVerb]string{
	change.EditFile: "edit", change.WriteFile: "write", change.CreateFile: "create",
	change.DeletePath: "delete", change.MovePath: "move", change.MakeFolder: "mkdir",
}

// task is an operation with its paths resolved. All edits of one file become one task,
// even if they come from several operations.
type task struct {
	change.Op
	index    int // index of the first operation
	path, to rootfs.Path
	trash    change.TrashKind
	from     []int // for each edit, the index of its operation
	ops      []int // indices of all its operations

	// Set for text that overwrites a file: the text in the file's encoding, and the
	// properties kept from the file (see Change.Kept).
	encoded []byte
	kept    string
}

// target returns the file's path after the task.
func (t *task) target() rootfs.Path {
	if t.Verb == change.MovePath {
		return t.to
	}
	return t.path
}

// resolve resolves the paths of all operations. No file is read before that, so one path
// outside the sandbox refuses the set.
func (w *Changer) resolve(set *change.Set) ([]*task, error) {
	f := failures{set: set}
	var tasks []*task
	edits := map[rootfs.Path]*task{}
	for i, op := range set.Ops {
		t := &task{Op: op, index: i, ops: []int{i}}
		if err := w.resolveOne(t); err != nil {
			f.add(i, err)
			continue
		}
		for range op.Edits {
			t.from = append(t.from, i)
		}
		if op.Verb == change.EditFile {
			if first := edits[t.path]; first != nil && sameVersion(first, t) {
				first.Edits = append(first.Edits[:len(first.Edits):len(first.Edits)], op.Edits...)
				first.from = append(first.from, t.from...)
				first.ops = append(first.ops, i)
				if op.Executable != nil {
					first.Executable = op.Executable
				}
				continue
			}
			edits[t.path] = t
		}
		tasks = append(tasks, t)
	}
	f.check(tasks)
	return tasks, f.err()
}

func sameVersion(a, b *task) bool {
	a.Version = cmp.Or(a.Version, b.Version)
	// Either may be abbreviated.
	return b.Version == "" || strings.HasPrefix(a.Version, b.Version) || strings.HasPrefix(b.Version, a.Version)
}

func (w *Changer) resolveOne(t *task) (err error) {
	rooted := func(kind fault.Code) error {
		return &fault.PathError{Op: opNames[t.Verb], Path: t.Path, Kind: kind, Err: errRootFolder}
	}
	switch t.Verb {
	case change.EditFile:
		if len(t.Edits) == 0 && t.Executable == nil {
			return fmt.Errorf("edit %s: %w", fault.Printable(t.Path), ErrNoEdits)
		}
		t.path, err = w.root.Resolve(t.Path)
		return err
	case change.WriteFile, change.CreateFile, change.MakeFolder:
		if t.Verb != change.MakeFolder && strings.HasSuffix(t.Path, "/") {
			return &fault.PathError{Op: "write", Path: t.Path, Kind: fault.InvalidArgument, Err: errSlash}
		}
		if t.path, err = w.root.Resolve(t.Path); err != nil || !t.path.IsRoot() {
			return err
		}
		if t.Verb == change.MakeFolder {
			return rooted(fault.InvalidArgument)
		}
		return &fault.PathError{Op: "write", Path: t.Path, Kind: fault.NotRegular}
	case change.DeletePath:
		if t.trash, err = w.trashKind(t.Trash); err != nil {
			return err
		}
		if t.path, err = w.root.ResolveEntry(t.Path); err == nil && t.path.IsRoot() {
			return rooted(fault.InvalidArgument)
		}
		return err
	case change.MovePath:
		return w.resolveMove(t)
	}
	return fault.New(fault.InvalidArgument, fmt.Sprintf("unknown operation %d", t.Verb), "")
}

// failures collects the errors of a set.
type failures struct {
	set    *change.Set
	failed []*change.OpError
}

func (f *failures) add(i int, err error) {
	op := &f.set.Ops[i]
	f.failed = append(f.failed, &change.OpError{Index: i, Origin: op.Origin, Path: op.Path, Err: err})
}

// err returns the error that refuses the set. For a single operation it is that
// operation's error.
func (f *failures) err() error {
	switch {
	case len(f.failed) == 0:
		return nil
	case len(f.failed) == 1 && len(f.set.Ops) == 1 && f.set.Ops[0].Origin == "":
		return f.failed[0].Err
	}
	// Moves are planned before the others.
	slices.SortStableFunc(f.failed, func(a, b *change.OpError) int { return cmp.Compare(a.Index, b.Index) })
	total := 0
	for i := range f.set.Ops {
		total += max(1, len(f.set.Ops[i].Edits)) // each edit may fail
	}
	return &change.SetError{Failed: f.failed, Total: total}
}

// check refuses operations that affect each other, because each is planned on the files
// on disk, not on the result of another operation.
func (f *failures) check(tasks []*task) {
	if len(tasks) < 2 {
		return
	}
	named, trees := map[rootfs.Path]*task{}, map[rootfs.Path]*task{}
	each := func(t *task, g func(rootfs.Path)) {
		g(t.path)
		if t.Verb == change.MovePath {
			g(t.to)
		}
	}
	for _, t := range tasks {
		each(t, func(p rootfs.Path) {
			if named[p] != nil && named[p] != t {
				f.add(t.index, errTwice)
			}
			named[p] = t
			if t.Verb != change.MakeFolder {
				trees[p] = t
			}
		})
	}
	for _, t := range tasks {
		each(t, func(p rootfs.Path) {
			for up := p.Dir(); !up.IsRoot(); up = up.Dir() {
				if trees[up] != nil && trees[up] != t {
					f.add(t.index, errTwice)
					return
				}
			}
		})
	}
}

// once plans the set on the present files, with the additional paths also locked, and
// carries it out unless dry is set.
func (w *Changer) once(ctx context.Context, set *change.Set, tasks []*task, also []rootfs.Path, dry bool) (*change.Change, error) {
	done, err := w.moveTurn(ctx, slices.ContainsFunc(tasks, func(t *task) bool { return t.Verb == change.MovePath }))
	if err != nil {
		return nil, err
	}
	defer done()
	hold, err := w.lockAll(ctx, tasks, also)
	if err != nil {
		return nil, err
	}
	defer hold.unlock()
	p := newPlanner(w, set, dry)
	p.hold = hold
	defer p.close()
	if err := p.planAll(ctx, tasks); err != nil {
		return nil, err
	}
	if err := w.guarded(ctx, opsOf(p.steps())); err != nil {
		return nil, err
	}
	c := p.c
	c.Broken = broken(opsOf(p.steps()))
	digest := p.digest()
	if dry && textOf(set) > maxPlan {
		c.Digest, c.NoPlan = digest, fmt.Sprintf("the plan has over %d MB of text and is not kept; to apply it, give the changes again", maxPlan>>20)
		return c, nil
	}
	if dry {
		c.Digest = digest
		return c, w.storePlan(set, p.versions, digest)
	}
	if set.Digest != "" && set.Digest != digest {
		return nil, &planError{Digest: set.Digest, Now: digest}
	}
	if c.Unchanged {
		return c, nil
	}
	return c, w.carryOut(ctx, c, p.steps())
}

// lockAll locks the paths of all tasks, including the folders that they create.
func (w *Changer) lockAll(ctx context.Context, tasks []*task, also []rootfs.Path) (*pathHold, error) {
	for {
		tops := w.tops(tasks)
		hold, err := w.state.locks.hold(ctx, append(also[:len(also):len(also)], tops...)...)
		if err != nil {
			return nil, err
		}
		// A parent folder may have been deleted before the lock was granted.
		if held := func() bool {
			for i, p := range w.tops(tasks) {
				if !p.Beneath(tops[i]) {
					return false
				}
			}
			return true
		}(); held {
			return hold, nil
		}
		hold.unlock()
	}
}

// tops returns the path to lock for each task. For a new file that is its first missing
// parent folder, if any.
func (w *Changer) tops(tasks []*task) []rootfs.Path {
	var tops []rootfs.Path
	for _, t := range tasks {
		top := t.target()
		// Errors about parent folders are reported by the plan.
		if missing, err := w.missing(top.Dir()); err == nil && len(missing) > 0 {
			top = missing[0]
		}
		tops = append(tops, top)
		if t.Verb == change.MovePath {
			tops = append(tops, t.path)
		}
	}
	return tops
}

// digest identifies the effect of the plan: all steps, with the versions before and
// after.
func (p *planner) digest() string {
	h := sha256.New()
	for _, s := range p.steps() {
		op := &s.op
		fmt.Fprintf(h, "%d %q %q %v %v %q\n", op.Kind, op.Path.String(), op.To.String(), op.Old, op.New, op.Where)
		if op.Kind == journal.Chmod {
			fmt.Fprintf(h, "%o %o\n", op.Mode, op.NewMode)
		}
		if op.NewData != nil {
			fmt.Fprintf(h, "%v\n", version.Of(op.NewData))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
