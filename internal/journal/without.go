package journal

import (
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/rootfs"
)

// Without removes all operations on the given paths from the plan. The rename of a file
// is removed together with its edits, and operations on parent folders are removed too.
// The remaining plan is a change of its own that undoes the entry only in part. Without
// reports whether any operation remains.
func (p *Plan) Without(paths []rootfs.Path) bool {
	left := &pathSet{map[rootfs.Path]bool{}, map[rootfs.Path]bool{}}
	for _, p := range paths {
		left.add(p)
	}
	drop := make([]bool, len(p.Change.Ops))
	for more := true; more; {
		more = false
		for i := range p.Change.Ops {
			op := &p.Change.Ops[i]
			if drop[i] || !op.about(left) {
				continue
			}
			drop[i], more = true, true
			if op.onlyFolder() {
				continue // the plan may still remove other entries of the folder
			}
			left.add(op.Path)
			if op.Kind == Rename {
				left.add(op.To)
			}
		}
	}
	rest := p.drop(drop)
	p.InPart()
	return rest
}

// Only removes from the plan the operations for which keep returns false, and returns
// true. The plan is then a change of its own, as after Without. If those operations only
// make or remove folders, Only returns false and does not change the plan.
func (p *Plan) Only(keep func(k int) bool) (less bool) {
	drop := make([]bool, len(p.Change.Ops))
	for k := range drop {
		drop[k] = !keep(k)
		less = less || drop[k] && !p.Change.Ops[k].onlyFolder()
	}
	if less {
		p.drop(drop)
		p.InPart()
	}
	return less
}

// InPart turns the plan into a change of its own that undoes a part of the entry.
func (p *Plan) InPart() {
	p.Change.Undoes, p.Change.PartOf, p.Change.Did.Verb = "", p.Of.ID, change.UndidPart
}

// Drop removes the operations that undo an operation in nothing, whose effect is already
// gone. It reports whether others remain.
func (p *Plan) Drop(nothing map[int]bool) bool {
	drop := make([]bool, len(p.Change.Ops))
	for k, i := range p.of {
		drop[k] = nothing[i]
	}
	return p.drop(drop)
}

// DropFolders removes the operations that make a folder that already exists, according to
// found. It reports whether there were any.
func (p *Plan) DropFolders(found []Conflict) bool {
	drop, any := make([]bool, len(p.Change.Ops)), false
	for k := range p.Change.Ops {
		op := &p.Change.Ops[k]
		drop[k] = op.Kind == Create && op.onlyFolder() && slices.ContainsFunc(found, func(c Conflict) bool {
			return c.Path == op.Path && c.Reason == change.IsThere && c.Found == rootfs.TypeDir
		})
		any = any || drop[k]
	}
	if any {
		p.drop(drop)
	}
	return any
}

// DropDone removes the operations on files and symlinks that already are as the plan
// would leave them.
func (p *Plan) DropDone(ws *rootfs.Root) error {
	x, err := expect(p.Change.Ops)
	if err != nil || len(x.moves) > 0 {
		return err
	}
	d := newDisk(ws)
	drop := make([]bool, len(p.Change.Ops))
	for k, op := range p.Change.Ops {
		if len(op.Nodes) > 1 || op.onlyFolder() {
			continue
		}
		have := d.at(op.Path)
		drop[k] = !x.first[op.Path].accepts(have) && x.cells[op.Path].accepts(have)
	}
	p.drop(drop)
	return errors.Join(d.errs...)
}

// drop removes the marked operations. It reports whether operations other than on folders
// remain.
func (p *Plan) drop(drop []bool) (rest bool) {
	var ops []Op
	var of []int
	var target []ref
	var back [][]rootfs.Edit
	for i, op := range p.Change.Ops {
		if drop[i] {
			continue
		}
		ops, of, target, back = append(ops, op), append(of, p.of[i]), append(target, p.target[i]), append(back, p.back[i])
		rest = rest || !op.onlyFolder()
	}
	p.Change.Ops, p.of, p.target, p.back = ops, of, target, back
	return rest
}

// onlyFolder reports whether op makes or removes an empty folder.
func (op *Op) onlyFolder() bool {
	return (op.Kind == Create || op.Kind == Remove) && len(op.Nodes) == 1 && op.Nodes[0].Type == rootfs.TypeDir
}

// pathSet is a set of paths and of their parent folders.
type pathSet struct{ in, above map[rootfs.Path]bool }

func (s *pathSet) add(p rootfs.Path) {
	s.in[p] = true
	for up := p; !s.above[up]; up = up.Dir() {
		s.above[up] = true
	}
}

// about reports whether op affects one of the paths, or an entry below or above one.
func (op *Op) about(paths *pathSet) bool {
	meets := func(p rootfs.Path) bool {
		if paths.above[p] {
			return !p.IsRoot()
		}
		for ; !op.onlyFolder() && !p.IsRoot(); p = p.Dir() {
			if paths.in[p] {
				return true
			}
		}
		return false
	}
	return meets(op.Path) || op.Kind == Rename && meets(op.To)
}
