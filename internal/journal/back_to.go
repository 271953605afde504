package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// PlanBack makes one plan that undoes several entries, given newest first. It has the effect of undoing them
// one after the other, but touches each file once: a file that several steps write is written only in its
// last state.
func (j *Journal) PlanBack(ctx context.Context, entries []Entry) (*Plan, error) {
	b := &backPlan{j: j, p: &Plan{j: j, src: &source{}, Change: Change{Tool: "undo"}}, at: map[rootfs.Path]int{}, modes: map[rootfs.Path]int{}}
	for _, e := range entries {
		if _, err := j.redone(&e); err == nil {
			sub, err := j.planOf(ctx, e)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("undo %s: %w", e.ID, err), b.p.Close())
			}
			b.p.parts = append(b.p.parts, sub.src)
			if err := b.add(e, sub); err != nil {
				return nil, errors.Join(fmt.Errorf("undo %s: %w", e.ID, err), b.p.Close())
			}
		} else {
			return nil, errors.Join(err, b.p.Close())
		}
	}
	for k := range b.p.Change.Ops {
		op := &b.p.Change.Ops[k]
		b.dead[k] = b.dead[k] || op.Kind == Replace && op.Old == op.New || op.Kind == Chmod && op.Mode == op.NewMode
	}
	b.p.drop(b.dead)
	return b.p, nil
}

// backPlan collects the operations. A file is known by its path at that point of the
// plan.
type backPlan struct {
	j     *Journal
	p     *Plan
	dead  []bool              // operations that nothing is left of
	at    map[rootfs.Path]int // the operation that has given a path its content, or made or restored it
	modes map[rootfs.Path]int // the Chmod of a path
}

func (b *backPlan) add(e Entry, sub *Plan) error {
	for k, op := range sub.Change.Ops {
		target := sub.target[k]
		target.src = sub.src
		op.Nodes = slices.Clone(op.Nodes)
		for n := range op.Nodes {
			op.Nodes[n].at.src = sub.src
		}
		if err := b.step(e, sub.of[k], op, target, sub.back[k]); err != nil {
			return fmt.Errorf("%s: %w", fault.Printable(op.Path.String()), err)
		}
	}
	return nil
}

func (b *backPlan) put(op Op, target ref, back []rootfs.Edit) int {
	b.p.Change.Ops, b.dead = append(b.p.Change.Ops, op), append(b.dead, false)
	b.p.of, b.p.target, b.p.back = append(b.p.of, -1), append(b.p.target, target), append(b.p.back, back)
	return len(b.dead) - 1
}

var errLargeTwice = fault.New(fault.InvalidArgument, "a large file was edited several times", "undo its changes one by one, the newest first")

func (b *backPlan) step(e Entry, i int, op Op, target ref, back []rootfs.Edit) error {
	ops := b.p.Change.Ops
	k, made := b.at[op.Path]
	switch op.Kind {
	case Replace:
		op.OldData = nil
		switch {
		case made && (back != nil || b.p.back[k] != nil):
			return errLargeTwice
		case made && ops[k].Kind == Replace:
			ops[k].New, ops[k].Edits, b.p.target[k] = op.New, nil, target
			return nil
		case made && ops[k].Kind == Create:
			n := &ops[k].Nodes[0]
			n.Version, n.Size, n.at, ops[k].New = op.New, target.size, target, op.New
			return nil
		case made: // restored from a trash: what it has then is not on disk yet
			data, err := b.j.After(e, i)
			if err != nil {
				return err
			}
			op.OldData = data
		}
		b.at[op.Path] = b.put(op, target, back)
	case Create:
		b.leave(op.Path)
		k := b.put(op, target, back)
		if len(op.Nodes) == 1 {
			b.at[op.Path] = k
		}
	case Remove:
		if made && ops[k].Kind == Create && len(op.Nodes) == 1 {
			b.dead[k] = true
			b.leave(op.Path)
			return nil
		}
		for n := range op.Nodes {
			p, err := join(op.Path, op.Nodes[n].Rel)
			if err != nil {
				return err
			}
			if k, ok := b.at[p]; ok && ops[k].Kind == Replace && ops[k].OldData == nil {
				op.Nodes[n].Version, b.dead[k] = ops[k].Old, true
			}
			if k, ok := b.modes[p]; ok {
				b.dead[k] = true
			}
			b.leave(p)
		}
		b.put(op, target, back)
	case Rename:
		b.put(op, target, back)
		for _, known := range []map[rootfs.Path]int{b.at, b.modes} {
			moved := map[rootfs.Path]int{}
			for p, k := range known {
				if p.Beneath(op.Path) {
					to, err := Rebase(p, op.Path, op.To)
					if err != nil {
						return err
					}
					moved[to] = k
					delete(known, p)
				}
			}
			for p, k := range moved {
				known[p] = k
			}
		}
	case Chmod:
		if m, ok := b.modes[op.Path]; ok {
			ops[m].NewMode = op.NewMode
		} else if made && ops[k].Kind == Create {
			ops[k].Nodes[0].Mode = op.NewMode
		} else {
			b.modes[op.Path] = b.put(op, target, back)
		}
	case Restore:
		b.at[op.Path] = b.put(op, target, back)
	case Trash:
		b.put(op, target, back)
		b.leave(op.Path)
	}
	return nil
}

// leave forgets a path: something else may come there.
func (b *backPlan) leave(p rootfs.Path) {
	delete(b.at, p)
	delete(b.modes, p)
}
