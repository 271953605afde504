package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
)

// Plan is the undo of a change. Its Change has the inverse operations in order, each with
// the version that it expects. The caller checks the plan, begins it with Undo, carries
// out the operations, with Tx.Apply where possible, and commits. A Plan holds open files
// and must be closed.
type Plan struct {
	Of     Entry
	Change Change
	// Beneath, if set, rolls back the k-th operation, a replacement, in a file that
	// another program has changed since.
	Beneath func(k int) error

	j   *Journal
	src *source
	// parts are the sources of a plan of several entries; refs point to them.
	parts  []*source
	groups []group // of a plan of several entries
	// These have one element for each operation of Change.
	of     []int           // the operation it undoes, as an index in Of.Ops, or an index in groups, or -1
	target []ref           // where the content restored by a Replace is stored
	back   [][]rootfs.Edit // the edits that restore it, if it is stored as edits
}

// group has the operations that one operation of a plan of several entries undoes.
type group struct {
	done  []Done // newest first
	apart bool
}

// Undone returns the operations that the k-th operation of a plan of several entries
// undoes, newest first. apart is set if other changes of the same file or mode were made
// between them.
func (p *Plan) Undone(k int) (done []Done, apart bool) {
	if p.of[k] < 0 {
		return nil, false
	}
	g := p.groups[p.of[k]]
	return g.done, g.apart
}

// Origin returns the path that the file of the k-th operation has before the plan.
func (p *Plan) Origin(k int) (at rootfs.Path, err error) {
	at = p.Change.Ops[k].Path
	for _, op := range slices.Backward(p.Change.Ops[:k]) {
		if op.Kind == Rename && at.Beneath(op.To) && err == nil {
			at, err = Rebase(at, op.To, op.Path)
		}
	}
	return at, err
}

// Undoes returns the index in Of.Ops of the operation that the plan's k-th operation
// undoes, or -1 if that makes a missing folder.
func (p *Plan) Undoes(k int) int { return p.of[k] }

var (
	// ErrUndone means that the change was already undone.
	ErrUndone = fault.New(fault.Conflict, "the change was undone already", "to make the change again, undo the undo")
	// ErrUnfinished means that the change is in progress or was interrupted.
	ErrUnfinished = fault.New(fault.Conflict, "the change is not finished", "")
)

// Plan returns the plan to undo an entry. It verifies that all required content is
// readable.
func (j *Journal) Plan(ctx context.Context, id ID) (*Plan, error) {
	e, err := j.Get(id)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Status == Damaged:
		return nil, fmt.Errorf("undo %s: %w", id, ErrDamaged)
	case e.Status == Pending:
		return nil, fmt.Errorf("undo %s: %w", id, ErrUnfinished)
	case e.UndoneBy != "":
		return nil, fmt.Errorf("undo %s: %w by %s", id, ErrUndone, e.UndoneBy)
	}
	if _, err := j.redone(&e); err != nil {
		return nil, fmt.Errorf("undo %s: %w", id, err)
	}
	p, err := j.planOf(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("undo %s: %w", id, err)
	}
	p.Change.Did = change.Action{Verb: change.Undid, ID: string(id), Of: &e.Did}
	return p, nil
}

// redone updates e with the present names of its files in the trash. If e was undone and
// redone, alone or with other entries, the redo moved the files to the trash again, maybe
// under other names. last is the newest entry that moved them.
func (j *Journal) redone(e *Entry) (last ID, err error) {
	last = e.ID
	if !slices.ContainsFunc(e.Ops, func(op Op) bool { return op.Kind == Trash }) {
		return last, nil
	}
	var later []Entry // newest first
	err = j.each(func(x Entry) bool {
		if (x.Undoes != "" || x.Reverts != nil) && x.Status == Committed {
			later = append(later, x)
		}
		return x.ID != e.ID
	})
	related := map[ID]bool{e.ID: true}
	for _, x := range slices.Backward(later) {
		if !related[x.Undoes] && !slices.ContainsFunc(x.Reverts, func(id ID) bool { return related[id] }) {
			continue
		}
		related[x.ID] = true
		ops := slices.Clone(e.Ops)
		for i := range ops {
			if ops[i].movedBy(x.Ops) {
				e.Ops, last = ops, x.ID
			}
		}
	}
	return last, err
}

// Relocate records the present names in the trash of the files that the entry deleted. It
// is used after an undo restored them, failed, and moved them back to the trash, with a
// new date and maybe a new name.
func (j *Journal) Relocate(id ID, now map[rootfs.Path]Result) error {
	e, err := j.Get(id)
	if err != nil {
		return err
	}
	last, err := j.redone(&e)
	if err != nil {
		return err
	}
	if e, err = j.Get(last); err != nil {
		return err
	}
	var results []Result
	for i, op := range e.Ops {
		r := Result{New: op.New, Where: op.Where}
		if moved, ok := now[op.Path]; ok && op.Kind == Trash {
			r = moved
		}
		r.Op = i
		results = append(results, r)
	}
	return j.Settle(last, len(e.Ops), results...)
}

// movedBy updates op if one of ops, from a later change, moved the same file to the
// trash. It reports whether one did.
func (op *Op) movedBy(ops []Op) (moved bool) {
	for _, o := range ops {
		if op.Kind == Trash && o.Kind == Trash && o.Path == op.Path {
			op.Where, op.New, moved = o.Where, o.New, true
		}
	}
	return moved
}

// planOf returns the plan that undoes e.Ops.
func (j *Journal) planOf(ctx context.Context, e Entry) (*Plan, error) {
	p := &Plan{Of: e, j: j, Change: Change{Tool: "undo", Undoes: e.ID}}
	src, err := j.source(e)
	if err != nil {
		return nil, err
	}
	p.src = src
	if err := p.invert(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// invert adds the inverse operations to the plan, and reads every content that they need.
func (p *Plan) invert(ctx context.Context) error {
	j, e, watch := p.j, p.Of, progress.Of(ctx)
	for i, op := range slices.Backward(e.Ops) {
		if err := checkCtx(ctx); err != nil {
			return err
		}
		inv, target, err := op.inverse()
		var back []rootfs.Edit
		if err == nil && target.place == asEdits {
			_, back, err = j.back(e, i)
			inv.Edits = back
		} else if err == nil && op.Kind == Replace && op.hasDiff {
			// backSpans verifies the content too. The undo records the edits.
			if inv.Edits, err = j.backSpans(p.src, e, i); err != nil {
				inv.Edits, err = nil, p.verify(ctx, &inv, target)
			}
		} else if err == nil {
			err = p.verify(ctx, &inv, target)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", fault.Printable(op.Path.String()), err)
		}
		p.Change.Ops = append(p.Change.Ops, inv)
		p.of, p.target, p.back = append(p.of, i), append(p.target, target), append(p.back, back)
		watch.Step()
	}
	return nil
}

var errNewUnknown = errors.New("the result of the change was not recorded")

func (op Op) inverse() (inv Op, target ref, err error) {
	if op.Lost != "" && (op.Kind == Replace || op.Kind == Remove) {
		return Op{}, ref{}, fmt.Errorf("%w: %s", ErrNotKept, op.Lost)
	}
	inv = Op{Path: op.Path, Old: op.New, New: op.Old, Nodes: op.Nodes, Where: op.Where}
	switch op.Kind {
	case Create:
		inv.Kind, inv.New = Remove, rootfs.Version{}
		for _, n := range op.Nodes {
			if n.Type == rootfs.TypeFile && n.Version.IsZero() {
				return Op{}, ref{}, errNewUnknown
			}
		}
	case Replace:
		if op.New.IsZero() {
			return Op{}, ref{}, errNewUnknown
		}
		inv.Kind, target = Replace, op.old
	case Rename:
		inv.Kind, inv.Path, inv.To = Rename, op.To, op.Path
	case Remove:
		inv.Kind = Create
	case Trash:
		inv.Kind = Restore
	case Restore:
		inv.Kind, inv.New = Trash, rootfs.Version{} // set when the file is moved to the trash
	case Chmod:
		inv.Kind, inv.Mode, inv.NewMode = Chmod, op.NewMode, op.Mode
	}
	return inv, target, nil
}

// verify reads and verifies the contents that an operation of the plan restores.
func (p *Plan) verify(ctx context.Context, op *Op, target ref) error {
	check := func(r ref, v rootfs.Version) error {
		if err := checkCtx(ctx); err != nil {
			return err
		}
		in, err := p.src.open(r, v)
		if err == nil {
			_, err = io.Copy(io.Discard, in)
		}
		return err
	}
	switch op.Kind {
	case Replace:
		return check(target, op.New)
	case Create:
		for _, n := range op.Nodes {
			if n.Type == rootfs.TypeFile {
				if err := check(n.at, n.Version); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Brings returns the content after the plan's k-th operation, which creates a file or
// replaces the content old.
func (p *Plan) Brings(k int, old []byte, limit int64) ([]byte, error) {
	op := &p.Change.Ops[k]
	switch {
	case op.Kind == Create && len(op.Nodes) == 1:
		return p.src.read(op.Nodes[0].at, op.Nodes[0].Version, limit)
	case op.Kind != Replace:
		return nil, ErrNotKept
	case p.back[k] != nil:
		return spliced(old, p.back[k])
	}
	return p.src.read(p.target[k], op.New, limit)
}

// Close closes the plan's files.
func (p *Plan) Close() error {
	err := p.src.close()
	for _, s := range p.parts {
		err = errors.Join(err, s.close())
	}
	return err
}

// Conflict is a path whose entry is not the one that the plan expects.
type Conflict struct {
	Path   rootfs.Path
	Reason change.Reason
	Found  rootfs.Type // set for change.IsOther
}

// maxHeld limits the contents of edited files that a plan keeps in memory until it is
// carried out.
const maxHeld = 64 << 20

// Check compares the workspace with the entries that the plan expects, and changes
// nothing. Without conflicts the plan can be carried out.
func (p *Plan) Check(ws *rootfs.Root) ([]Conflict, error) {
	x, err := expect(p.Change.Ops)
	if err != nil {
		return nil, err
	}
	d := newDisk(ws)
	d.room = maxHeld
	var found []Conflict
	for path, want := range x.first {
		if have := d.at(path); !want.accepts(have) {
			found = append(found, compare(path, want, have))
		}
	}
	for i := range p.Change.Ops {
		op := &p.Change.Ops[i]
		if first, known := x.first[op.Path]; op.Kind == Replace && !(known && first == absent) { // unless the plan itself restores the file first
			if op.OldData = nil; len(x.moves) == 0 && d.seen[op.Path].version == op.Old {
				op.OldData = d.held[op.Path]
			}
		}
	}
	for _, op := range p.Change.Ops {
		if op.Kind != Remove {
			continue
		}
		extra, err := x.extra(ws, op)
		if err != nil {
			d.errs = append(d.errs, err)
		}
		found = append(found, extra...)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Path.Compare(found[j].Path) < 0 })
	return found, errors.Join(d.errs...)
}

func compare(p rootfs.Path, want, have cell) Conflict {
	c := Conflict{Path: p, Reason: change.IsOther, Found: have.typ}
	switch {
	case have == absent:
		c.Reason = change.IsGone
	case want == absent:
		c.Reason = change.IsThere
	case have.typ == rootfs.TypeFile && want.typ == rootfs.TypeFile:
		c.Reason = change.ContentChanged
		if want.version.IsZero() || want.version == have.version {
			c.Reason = change.ModeChanged
		}
	}
	return c
}

// extra finds entries in folders to be removed that the change did not make.
func (x *expectation) extra(ws *rootfs.Root, op Op) ([]Conflict, error) {
	var found []Conflict
	for _, n := range op.Nodes {
		if n.Type != rootfs.TypeDir {
			continue
		}
		dir, err := join(op.Path, n.Rel)
		if err == nil {
			dir, err = x.origin(dir)
		}
		if err != nil {
			return nil, err
		}
		if first, known := x.first[dir]; known && first == absent {
			continue // made by the plan
		}
		entries, err := ws.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			child, err := dir.Child(e.Name)
			if err != nil {
				return nil, err
			}
			if c, known := x.first[child]; !known || c == absent {
				found = append(found, Conflict{Path: child, Reason: change.AddedSince})
			}
		}
	}
	return found, nil
}

// Undo begins the plan's change. Tx.Apply carries out its operations.
func (j *Journal) Undo(ctx context.Context, ws *rootfs.Root, p *Plan) (*Tx, error) {
	tx, err := j.Begin(ctx, ws, p.Change)
	if err != nil {
		return nil, err
	}
	tx.plan = p
	return tx, nil
}
