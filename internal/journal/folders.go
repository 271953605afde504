package journal

import (
	"slices"

	"quarry/internal/rootfs"
)

// MakeFolders adds operations at the start of the plan that make missing folders, so that
// a move can be undone although its old folder was removed since. Undoing the undo
// removes them again. If another entry is at a folder's path, that is a conflict.
func (p *Plan) MakeFolders(ws *rootfs.Root) ([]Conflict, error) {
	x, err := expect(p.Change.Ops)
	if err != nil {
		return nil, err
	}
	x = x.replay()
	var found []Conflict
	var ops []Op
	seen := map[rootfs.Path]bool{}
	for i := range p.Change.Ops {
		op := &p.Change.Ops[i]
		for _, dir := range op.parents() {
			if _, known := x.cells[dir]; known {
				continue // an earlier operation determines the entry there
			}
			at, err := x.origin(dir)
			if err != nil {
				return nil, err
			}
			if seen[at] {
				continue
			}
			seen[at] = true
			have, err := look(ws, at)
			switch {
			case err != nil:
				return nil, err
			case have == absent:
				ops = append(ops, Op{Kind: Create, Path: at, Nodes: []Node{{Type: rootfs.TypeDir}}})
			case have.typ != rootfs.TypeDir:
				found = append(found, compare(at, cell{typ: rootfs.TypeDir}, have))
			}
		}
		if err := x.step(op); err != nil {
			return nil, err
		}
	}
	p.Change.Ops = append(ops, p.Change.Ops...)
	p.of = append(slices.Repeat([]int{-1}, len(ops)), p.of...)
	p.target = append(make([]ref, len(ops)), p.target...)
	p.back = append(make([][]rootfs.Edit, len(ops)), p.back...)
	return found, nil
}

// parents lists the parent folders of the paths that op creates, outermost first.
func (op *Op) parents() []rootfs.Path {
	p := op.Path
	switch op.Kind {
	case Create, Restore:
	case Rename:
		p = op.To
	default:
		return nil
	}
	var list []rootfs.Path
	for p = p.Dir(); !p.IsRoot(); p = p.Dir() {
		list = append([]rootfs.Path{p}, list...)
	}
	return list
}
