package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// PlanBack makes one plan that undoes several entries, given newest first. The result is
// the same as undoing them one after the other, but each file is written only once, with
// its final content. If some is set, there are entries between them that the plan does
// not undo. Operations with such changes in between are then kept even if the content
// before and after them is equal.
func (j *Journal) PlanBack(ctx context.Context, entries []Entry, some bool) (*Plan, error) {
	b := &backPlan{j: j, some: some, p: &Plan{j: j, src: &source{}, Change: Change{Tool: "undo"}}, at: map[rootfs.Path]int{}, modes: map[rootfs.Path]int{}, trashed: map[rootfs.Path]trashed{}, restored: map[rootfs.Path]int{}, removed: map[rootfs.Path]int{}, moved: map[rootfs.Path]int{}, on: map[rootfs.Path][]int{}, in: map[rootfs.Path][]int{}}
	for _, e := range entries {
		if err := b.undo(ctx, e); err != nil {
			return nil, errors.Join(fmt.Errorf("undo %s: %w", e.ID, err), b.p.Close())
		}
	}
	for k := range b.p.Change.Ops {
		op := &b.p.Change.Ops[k]
		b.dead[k] = b.dead[k] || !(b.some && b.p.groups[k].apart) && (op.Kind == Replace && op.Old == op.New || op.Kind == Chmod && op.Mode == op.NewMode)
	}
	b.dropEmpty()
	b.p.drop(b.dead)
	return b.p, nil
}

// backPlan collects the operations. Its maps are keyed by the path that a file has at
// that point of the plan. The values are indexes of operations.
type backPlan struct {
	j     *Journal
	p     *Plan
	some  bool                // there are entries in between that are not undone
	of    Done                // the operation whose inverse is added now
	dead  []bool              // operations that were dropped again
	at    map[rootfs.Path]int // the operation that wrote, made or restored the file at a path
	modes map[rootfs.Path]int // the Chmod of the file at a path
	// trashed has the paths that the plan moves to the trash. If an older entry would
	// restore such a path, both operations are dropped.
	trashed map[rootfs.Path]trashed
	// restored has the paths that the plan restores from the trash. If an older entry
	// would delete such a path, it stays in the trash.
	restored map[rootfs.Path]int
	// removed has the entries that the plan removes. If an older entry makes the same one
	// again, both operations are dropped.
	removed map[rootfs.Path]int
	// moved has the renames, by new path. If an older entry reverses one, both are
	// dropped.
	moved map[rootfs.Path]int
	// on has the indexes of each path's operations, in has for each folder the indexes of the
	// operations inside it at any depth. Both are ascending. A rename counts at both its paths.
	on, in map[rootfs.Path][]int
}

// trashed is a Trash operation of the plan, and the earlier operations of the plan at its
// path.
type trashed struct {
	op                 int
	at, mode, restored int // -1 means none
}

func (b *backPlan) undo(ctx context.Context, e Entry) error {
	if _, err := b.j.redone(&e); err != nil {
		return err
	}
	sub, err := b.j.planOf(ctx, e)
	if err != nil {
		return err
	}
	b.p.parts = append(b.p.parts, sub.src)
	for k, op := range sub.Change.Ops {
		target := sub.target[k]
		target.src = sub.src
		op.Nodes = slices.Clone(op.Nodes)
		for n := range op.Nodes {
			op.Nodes[n].at.src = sub.src
		}
		b.of = Done{e, sub.of[k]}
		if err := b.step(op, target, sub.back[k]); err != nil {
			return fmt.Errorf("%s: %w", fault.Printable(op.Path.String()), err)
		}
	}
	return nil
}

func (b *backPlan) put(op Op, target ref, back []rootfs.Edit) int {
	b.p.Change.Ops, b.dead = append(b.p.Change.Ops, op), append(b.dead, false)
	k := len(b.dead) - 1
	b.p.of, b.p.target, b.p.back = append(b.p.of, k), append(b.p.target, target), append(b.p.back, back)
	b.p.groups = append(b.p.groups, group{done: []Done{b.of}})
	paths := []rootfs.Path{op.Path}
	if op.Kind == Rename {
		paths = append(paths, op.To)
	}
	for _, p := range paths {
		b.on[p] = append(b.on[p], k)
		for dir := p; !dir.IsRoot(); {
			dir = dir.Dir()
			b.in[dir] = append(b.in[dir], k)
		}
	}
	return k
}

// join adds b.of to the operations that the plan's k-th operation undoes. same tells
// whether b.of left the state that the next newer one started from.
func (b *backPlan) join(k int, same bool) {
	g := &b.p.groups[k]
	g.done, g.apart = append(g.done, b.of), g.apart || !same
}

var errLargeTwice = fault.New(fault.InvalidArgument, "a large file was edited several times", "undo its changes one by one, the newest first")

func (b *backPlan) step(op Op, target ref, back []rootfs.Edit) error {
	ops := b.p.Change.Ops
	k, made := b.at[op.Path]
	switch op.Kind {
	case Replace:
		op.OldData = nil
		switch {
		case made && (back != nil || b.p.back[k] != nil):
			return errLargeTwice
		case made && ops[k].Kind == Replace:
			b.join(k, ops[k].New == op.Old)
			ops[k].New, ops[k].Edits, b.p.target[k] = op.New, nil, target
			return nil
		case made && ops[k].Kind == Create:
			n := &ops[k].Nodes[0]
			b.join(k, n.Version == op.Old)
			n.Version, n.Size, n.at, ops[k].New = op.New, target.size, target, op.New
			return nil
		case made: // restored from a trash, so its content is not on disk yet
			data, err := b.j.After(b.of.Entry, b.of.Op)
			if err != nil {
				return err
			}
			op.OldData = data
		}
		b.at[op.Path] = b.put(op, target, back)
	case Create:
		if k, ok := b.removed[op.Path]; ok && len(op.Nodes) == 1 && ops[k].Nodes[0].same(&op.Nodes[0]) {
			if delete(b.removed, op.Path); b.quietSince(k, true, op.Path) {
				b.dead[k] = true
				return nil
			}
		}
		b.leave(op.Path)
		k := b.put(op, target, back)
		if len(op.Nodes) == 1 {
			b.at[op.Path] = k
		}
	case Remove:
		if from, restored := b.restored[op.Path]; len(op.Nodes) == 1 && (restored || made && ops[k].Kind == Create) {
			if !restored {
				from = k
			}
			if !op.onlyFolder() || b.quietSince(from, false, op.Path) { // otherwise an entry was moved through the folder
				b.leave(op.Path)
				return b.forget(from)
			}
		}
		apart, whole := false, len(op.Nodes) == 1 // whole: op describes the entry completely
		for n := range op.Nodes {
			p, err := join(op.Path, op.Nodes[n].Rel)
			if err != nil {
				return err
			}
			if k, ok := b.at[p]; ok && ops[k].Kind == Replace && ops[k].OldData == nil {
				apart = apart || b.p.groups[k].apart || ops[k].New != op.Nodes[n].Version
				op.Nodes[n].Version, b.dead[k] = ops[k].Old, true
			}
			if k, ok := b.modes[p]; ok {
				b.dead[k], whole = true, false
			}
			b.leave(p)
		}
		k := b.put(op, target, back)
		if b.p.groups[k].apart = apart; whole && !apart {
			b.removed[op.Path] = k
		}
	case Rename:
		if made && len(op.Nodes) == 1 {
			op.Nodes[0].Version = rootfs.Version{} // the Replace before it may be dropped later
		}
		if k, ok := b.moved[op.Path]; ok && ops[k].Path == op.To && b.quietSince(k, true, op.Path, op.To) {
			b.dead[k] = true
		} else {
			b.moved[op.To] = b.put(op, target, back)
		}
		for _, known := range []map[rootfs.Path]int{b.at, b.modes, b.restored} {
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
			b.join(m, ops[m].NewMode == op.Mode)
			ops[m].NewMode = op.NewMode
		} else if made && ops[k].Kind == Create {
			b.join(k, ops[k].Nodes[0].Mode.Perm() == op.Mode.Perm())
			ops[k].Nodes[0].Mode = op.NewMode
		} else {
			b.modes[op.Path] = b.put(op, target, back)
		}
	case Restore:
		if b.dropTrash(op.Path) {
			return nil
		}
		k := b.put(op, target, back)
		b.at[op.Path], b.restored[op.Path] = k, k
	case Trash:
		index := func(known map[rootfs.Path]int) int {
			if k, ok := known[op.Path]; ok {
				return k
			}
			return -1
		}
		b.trashed[op.Path] = trashed{b.put(op, target, back), index(b.at), index(b.modes), index(b.restored)}
		b.leave(op.Path)
	}
	return nil
}

// same reports whether two nodes are equal except for their times and, for folders, their
// modes.
func (n *Node) same(o *Node) bool {
	return n.Type == o.Type && (n.Type == rootfs.TypeDir || n.Version == o.Version && n.Mode.Perm() == o.Mode.Perm() && n.Target == o.Target)
}

// dropTrash drops the Trash of a path that would be restored next, unless a later
// operation affects the path. It reports whether it dropped one.
func (b *backPlan) dropTrash(p rootfs.Path) bool {
	was, ok := b.trashed[p]
	if !ok {
		return false
	}
	delete(b.trashed, p)
	if !b.quietSince(was.op, true, p) {
		return false
	}
	b.dead[was.op] = true
	for _, known := range []struct {
		by map[rootfs.Path]int
		k  int
	}{{b.at, was.at}, {b.modes, was.mode}, {b.restored, was.restored}} {
		if known.k >= 0 {
			known.by[p] = known.k
		}
	}
	return true
}

// dropEmpty drops folders that the plan makes and removes without using them, because the
// moves through them were dropped.
func (b *backPlan) dropEmpty() {
	made := map[rootfs.Path]int{}
	for k := range b.dead {
		op := &b.p.Change.Ops[k]
		if b.dead[k] || !op.onlyFolder() {
			continue
		}
		if n, ok := made[op.Path]; ok && op.Kind == Remove && b.quietBetween(n, k, false, op.Path) {
			b.dead[n], b.dead[k] = true, true
		} else if op.Kind == Create {
			made[op.Path] = k
		}
	}
}

// quietSince reports whether no operation after the k-th affects entries below the paths
// or, with all set, the paths themselves or their parents.
func (b *backPlan) quietSince(k int, all bool, paths ...rootfs.Path) bool {
	return b.quietBetween(k, len(b.dead), all, paths...)
}

func (b *backPlan) quietBetween(k, end int, all bool, paths ...rootfs.Path) bool {
	busy := func(list []int) bool {
		for _, n := range slices.Backward(list) {
			if n <= k {
				break
			}
			if n < end && !b.dead[n] {
				return true
			}
		}
		return false
	}
	for _, p := range paths {
		if busy(b.in[p]) || all && busy(b.on[p]) {
			return false
		}
		for dir := p; all && !dir.IsRoot(); {
			dir = dir.Dir()
			if busy(b.on[dir]) {
				return false
			}
		}
	}
	return true
}

// forget drops the k-th operation, and later ones that affect the entry it makes.
func (b *backPlan) forget(k int) (err error) {
	at := b.p.Change.Ops[k].Path
	for n := k; n < len(b.dead) && err == nil; n++ {
		switch op := &b.p.Change.Ops[n]; {
		case b.dead[n]:
		case op.Path == at:
			if b.dead[n] = true; op.Kind == Rename {
				at = op.To
			}
		case op.Kind == Rename && at.Beneath(op.Path):
			at, err = Rebase(at, op.Path, op.To)
		}
	}
	return err
}

// leave forgets the operations at p, because another entry may be made there.
func (b *backPlan) leave(p rootfs.Path) {
	delete(b.at, p)
	delete(b.modes, p)
	delete(b.restored, p)
}
