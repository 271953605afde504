package journal

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// cell describes the actual or expected entry at one path.
type cell struct {
	typ     rootfs.Type    // TypeUnknown: nothing exists, unless any is set
	any     bool           // something exists, of any type
	version rootfs.Version // of a file; zero: any content
	target  string         // of a symlink; "": any
	mode    perm           // of a file; zero: any
}

// perm is a file's permissions. If known is false, any are accepted.
type perm struct {
	known bool
	bits  fs.FileMode
}

func permOf(m fs.FileMode) perm { return perm{true, m.Perm()} }

var (
	absent  = cell{}
	present = cell{any: true}
)

func cellOf(n Node) cell { return cell{typ: n.Type, version: n.Version, target: n.Target} }

// accepts reports whether found is an entry that c allows.
func (c cell) accepts(found cell) bool {
	switch {
	case c.any:
		return found.typ != rootfs.TypeUnknown
	case c.typ != found.typ:
		return false
	case c.typ == rootfs.TypeFile:
		return (c.version.IsZero() || c.version == found.version) && (!c.mode.known || c.mode == found.mode)
	case c.typ == rootfs.TypeSymlink:
		return c.target == "" || c.target == found.target
	}
	return true
}

// with fills in the version and the mode of a file, where c lacks them, from more.
func (c cell) with(more cell) cell {
	if c.typ != rootfs.TypeFile || more.typ != rootfs.TypeFile || c.any {
		return c
	}
	if c.version.IsZero() {
		c.version = more.version
	}
	if !c.mode.known {
		c.mode = more.mode
	}
	return c
}

// top returns the known facts about the entry that an operation moves.
func (op *Op) top() cell {
	if len(op.Nodes) > 0 {
		return cellOf(op.Nodes[0])
	}
	return present
}

// expectation follows a sequence of operations. It computes which entry must be at each
// path before the first one, and which entry is there after each.
type expectation struct {
	first map[rootfs.Path]cell // before the first operation
	cells map[rootfs.Path]cell // after the operations so far
	moves [][2]rootfs.Path     // renames so far
	// changed is called with every path whose cell is set or deleted.
	changed func(p rootfs.Path)
}

// expect computes the entries that must be on disk before ops.
func expect(ops []Op) (*expectation, error) {
	x := &expectation{first: map[rootfs.Path]cell{}, cells: map[rootfs.Path]cell{}}
	for i := range ops {
		if err := x.require(&ops[i]); err != nil {
			return nil, err
		}
		if err := x.step(&ops[i]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// replay returns an expectation before the first operation, with x.first already known.
func (x *expectation) replay() *expectation {
	y := &expectation{first: x.first, cells: map[rootfs.Path]cell{}}
	for p, c := range x.first {
		y.cells[p] = c
	}
	return y
}

// require records which entry op needs, unless an earlier operation determines it.
func (x *expectation) require(op *Op) error {
	need := func(p rootfs.Path, c cell) error {
		o, err := x.origin(p)
		if err != nil {
			return err
		}
		if have, ok := x.cells[p]; ok {
			// An operation knows either the content or the mode.
			x.cells[p] = have.with(c)
			if first, ok := x.first[o]; ok {
				x.first[o] = first.with(c)
			}
			return nil
		}
		x.cells[p] = c
		if _, ok := x.first[o]; !ok {
			x.first[o] = c
		}
		return nil
	}
	switch op.Kind {
	case Create, Restore:
		return need(op.Path, absent)
	case Replace:
		return need(op.Path, cell{typ: rootfs.TypeFile, version: op.Old})
	case Rename:
		return errors.Join(need(op.Path, op.top()), need(op.To, absent))
	case Chmod:
		return need(op.Path, cell{typ: rootfs.TypeFile, mode: permOf(op.Mode)})
	case Trash:
		return need(op.Path, op.top())
	case Remove:
		for _, n := range op.Nodes {
			p, err := join(op.Path, n.Rel)
			if err != nil {
				return err
			}
			if err := need(p, cellOf(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// origin returns the path that the entry now at p had before the first operation.
func (x *expectation) origin(p rootfs.Path) (rootfs.Path, error) {
	for _, m := range slices.Backward(x.moves) {
		if p.Beneath(m[1]) {
			var err error
			if p, err = Rebase(p, m[1], m[0]); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// Rebase returns the path that p has after from was moved to to.
func Rebase(p, from, to rootfs.Path) (rootfs.Path, error) {
	if p == from {
		return to, nil
	}
	return join(to, strings.TrimPrefix(p.String(), from.String()+"/"))
}

// step updates the cells for op.
func (x *expectation) step(op *Op) error {
	switch op.Kind {
	case Create:
		for _, n := range op.Nodes {
			p, err := join(op.Path, n.Rel)
			if err != nil {
				return err
			}
			x.set(p, cellOf(n))
		}
	case Restore:
		x.set(op.Path, op.top())
	case Replace:
		x.set(op.Path, cell{typ: rootfs.TypeFile, version: op.New, mode: x.cells[op.Path].mode})
	case Chmod:
		c := x.cells[op.Path]
		c.mode = permOf(op.NewMode)
		x.set(op.Path, c)
	case Remove, Trash:
		x.forgetBeneath(op.Path)
		x.set(op.Path, absent)
	case Rename:
		return x.move(op)
	}
	return nil
}

func (x *expectation) move(op *Op) error {
	moved := map[rootfs.Path]cell{}
	for p, c := range x.cells {
		if p.Beneath(op.Path) {
			q, err := Rebase(p, op.Path, op.To)
			if err != nil {
				return err
			}
			moved[q] = c
		}
	}
	x.forgetBeneath(op.Path)
	x.set(op.Path, absent)
	for p, c := range moved {
		x.set(p, c)
	}
	x.moves = append(x.moves, [2]rootfs.Path{op.Path, op.To})
	return nil
}

func (x *expectation) set(p rootfs.Path, c cell) {
	x.cells[p] = c
	if x.changed != nil {
		x.changed(p)
	}
}

func (x *expectation) forgetBeneath(dir rootfs.Path) {
	for p := range x.cells {
		if p != dir && p.Beneath(dir) {
			delete(x.cells, p)
			if x.changed != nil {
				x.changed(p)
			}
		}
	}
}

// disk reads entries of the workspace, each path at most once.
type disk struct {
	ws   *rootfs.Root
	seen map[rootfs.Path]cell
	// failed has the unreadable paths, and errs the reasons.
	failed map[rootfs.Path]bool
	errs   []error
	// held has the contents of small files, up to a total of room bytes.
	held map[rootfs.Path][]byte
	room int
}

func newDisk(ws *rootfs.Root) *disk {
	return &disk{ws: ws, seen: map[rootfs.Path]cell{}, failed: map[rootfs.Path]bool{}, held: map[rootfs.Path][]byte{}}
}

func (d *disk) at(p rootfs.Path) cell {
	if c, ok := d.seen[p]; ok {
		return c
	}
	c, err := d.look(p)
	if err != nil {
		d.errs = append(d.errs, err)
		d.failed[p] = true
	}
	d.seen[p] = c
	return c
}

func look(ws *rootfs.Root, p rootfs.Path) (cell, error) { return newDisk(ws).look(p) }

func (d *disk) look(p rootfs.Path) (cell, error) {
	ws := d.ws
	info, err := ws.Stat(p)
	if k := rootfs.KindOf(err); err != nil && (k == fault.NotFound || k == fault.NotFolder) {
		return absent, nil
	}
	if err != nil {
		return absent, err
	}
	c := cell{typ: info.Type}
	switch info.Type {
	case rootfs.TypeFile:
		c.mode = permOf(info.Mode)
		if info.Size <= int64(min(d.room, maxInline)) {
			if data, v, _, err := ws.ReadFile(p, maxInline); err == nil {
				d.held[p], c.version = data, v
				d.room -= len(data)
				return c, nil
			}
		}
		c.version, err = hashFile(ws, p)
	case rootfs.TypeSymlink:
		c.target, err = ws.Readlink(p)
	}
	return c, err
}

func hashFile(ws *rootfs.Root, p rootfs.Path) (rootfs.Version, error) {
	f, err := ws.OpenFile(p)
	if err != nil {
		return rootfs.Version{}, err
	}
	defer f.Close()
	h := version.NewHash()
	if _, err := io.Copy(h, f); err != nil {
		return rootfs.Version{}, err
	}
	return h.Version(), nil
}
