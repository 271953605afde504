package journal

import (
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/rootfs"
)

// Without removes from the plan all operations on the given paths: the rename of a file together with its
// content, and the folders above remain, too. The rest is a change of its own and not the undo of the entry,
// which is undone only in part. Without reports whether any operation remains.
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
				continue // other entries in it may go
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

// Only reduces the plan to the operations that keep accepts, without the folders that it would
// remove with the others. It reports whether that is less than before: then it is a change of
// its own, as with Without.
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

// InPart makes the plan a change of its own that undoes a part of the entry.
func (p *Plan) InPart() {
	p.Change.Undoes, p.Change.PartOf, p.Change.Did.Verb = "", p.Of.ID, change.UndidPart
}

// Drop removes the operations of the plan that undo operations of the entry with nothing left
// to undo. It reports whether others remain.
func (p *Plan) Drop(nothing map[int]bool) bool {
	drop := make([]bool, len(p.Change.Ops))
	for k, i := range p.of {
		drop[k] = nothing[i]
	}
	return p.drop(drop)
}

// DropFolders removes the operations that make a folder that the check has found to exist. It
// reports whether there were any.
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

// DropDone removes the operations on files and symlinks that are already as the plan would
// leave them.
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

// drop removes operations. It reports whether other than folder operations remain.
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

// pathSet is a set of paths, and the folders above them.
type pathSet struct{ in, above map[rootfs.Path]bool }

func (s *pathSet) add(p rootfs.Path) {
	s.in[p] = true
	for up := p; !s.above[up]; up = up.Dir() {
		s.above[up] = true
	}
}

// about reports whether op touches one of the paths, or something beneath or
// above one.
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
