package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
)

// Recovery is the tool name of changes that roll back an interrupted change after other
// programs have changed files.
const Recovery = "recovery"

// State compares a path of an interrupted change with the change.
type State uint8

const (
	Foreign State = iota // neither the old nor the new state
	Old                  // as before the change
	New                  // as after the change
	Between              // as between two operations of the change
	Unknown              // unreadable
)

func (s State) String() string {
	return [...]string{"foreign", "old", "new", "between", "unknown"}[min(s, Unknown)]
}

// PathState is the state of one path.
type PathState struct {
	Path  rootfs.Path
	State State
}

// Unfinished is a change whose process died before completing it.
type Unfinished struct {
	Entry
	// Done is how many operations were completed, judging by the files. It is -1 if that
	// is unknown because other programs have changed files since.
	Done int
	// Begun is set if Ops[Done], an operation on a tree, was carried out in part.
	Begun bool
	Paths []PathState
}

// Partly returns which files have the new state and which the old. A file for which only
// some of several operations were carried out, such as an edit before a move, counts as
// new.
func (u *Unfinished) Partly() *change.Partly {
	p := &change.Partly{}
	for _, s := range u.Paths {
		list := &p.Other
		switch s.State {
		case New, Between:
			list = &p.New
		case Old:
			list = &p.Old
		case Unknown:
			list = &p.Unknown
		}
		*list = append(*list, s.Path.String())
	}
	return p
}

// Unfinished finds the interrupted changes, oldest first, and determines from the files
// in ws how far each got. The caller completes them or rolls them back with Rollback, and
// then calls Settle. Changes of running processes are not included.
func (j *Journal) Unfinished(ws *rootfs.Root) ([]Unfinished, error) {
	entries, err := j.orphans()
	if err != nil {
		return nil, err
	}
	var list []Unfinished
	for _, e := range entries {
		u, err := resolve(ws, e)
		if err != nil {
			return nil, fmt.Errorf("unfinished change %s: %w", e.ID, err)
		}
		list = append(list, u)
	}
	return list, nil
}

// orphans returns the entries without an end record whose processes are dead.
func (j *Journal) orphans() ([]Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []Entry
	err := j.locked(false, func() error {
		open, err := j.openEntries()
		if err != nil {
			return err
		}
		found, err := j.listSegments()
		if err != nil {
			return err
		}
		for _, o := range open {
			e, err := j.entryIn(found, o)
			if err != nil {
				return err
			}
			if e == nil || j.running[e.ID] != nil {
				continue
			}
			if e.owner != j.owner || j.owner == "" {
				if alive, err := j.alive(e.owner); alive || err != nil {
					if err != nil {
						return err
					}
					continue
				}
			}
			list = append(list, *e)
		}
		return nil
	})
	return list, err
}

func (j *Journal) entryIn(found []segmentFile, o openEntry) (*Entry, error) {
	for _, f := range found {
		if f.num != o.seg {
			continue
		}
		s, err := j.load(f)
		if err != nil {
			return nil, err
		}
		for _, e := range s.entries {
			if e.ID == o.id {
				return e, nil
			}
		}
	}
	return nil, nil // dropped or damaged
}

// Progress determines how many operations of an entry were carried out, as Unfinished
// does for entries of dead processes. For a partly committed entry it considers all
// planned operations. If the workspace can't be read completely, Paths has the paths that
// could be read.
func (j *Journal) Progress(ws *rootfs.Root, e Entry) (Unfinished, error) {
	if e.Planned != nil {
		e.Ops = e.Planned
	}
	return resolve(ws, e)
}

// Interrupted returns the ids of the changes that Unfinished would return, oldest first,
// without reading the workspace.
func (j *Journal) Interrupted() ([]ID, error) {
	entries, err := j.orphans()
	var ids []ID
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids, err
}

// RolledBack reports whether the journal has a record that the change was rolled back.
func (j *Journal) RolledBack(id ID) (bool, error) {
	found := false
	err := j.eachSegment(func(s *segment) (bool, error) {
		found = s.aborts[id]
		return !found, nil
	})
	return found, err
}

// resolve finds how many operations of e, carried out in order, lead to the present state
// of the files. If several numbers do, it uses the largest.
func resolve(ws *rootfs.Root, e Entry) (Unfinished, error) {
	u := Unfinished{Entry: e, Done: -1}
	x, err := expect(e.Ops)
	if err != nil {
		return u, err
	}
	d := newDisk(ws)
	end := x.cells
	y := x.replay()
	wrong := map[rootfs.Path]bool{}
	y.changed = func(p rootfs.Path) {
		delete(wrong, p)
		if c, ok := y.cells[p]; ok && !c.accepts(d.at(p)) {
			wrong[p] = true
		}
	}
	for p := range y.cells {
		y.changed(p)
	}
	for k := 0; ; k++ {
		if len(wrong) == 0 {
			u.Done, u.Begun = k, false
		} else if k < len(e.Ops) && len(e.Ops[k].Nodes) > 1 && partly(e.Ops[k], wrong, d) {
			u.Done, u.Begun = k, true
		}
		if k == len(e.Ops) {
			break
		}
		if err := y.step(&e.Ops[k]); err != nil {
			return u, err
		}
	}
	u.Paths = states(e, x.first, end, d, u.Done)
	return u, errors.Join(d.errs...)
}

// partly reports whether op, carried out in part, explains all differences from the state
// before it.
func partly(op Op, wrong map[rootfs.Path]bool, d *disk) bool {
	if op.Kind != Create && op.Kind != Remove {
		return false
	}
	after := map[rootfs.Path]cell{}
	for _, n := range op.Nodes {
		p, err := join(op.Path, n.Rel)
		if err != nil {
			return false
		}
		after[p] = absent
		if op.Kind == Create {
			after[p] = cellOf(n)
		}
	}
	for p := range wrong {
		if c, ok := after[p]; !ok || !c.accepts(d.at(p)) {
			return false
		}
	}
	if op.Kind == Create {
		for p, c := range after {
			if have := d.at(p); have != absent && !c.accepts(have) {
				return false
			}
		}
	}
	return true
}

func states(e Entry, first, last map[rootfs.Path]cell, d *disk, done int) []PathState {
	var list []PathState
	for _, p := range e.Paths() {
		have := d.at(p)
		before, inFirst := first[p]
		for q := p; !inFirst && !q.IsRoot(); q = q.Dir() {
			c, ok := first[q]
			inFirst = ok && c == absent // then nothing was below q
		}
		after, inLast := last[p]
		s := Foreign
		switch {
		case d.failed[p]:
			s = Unknown
		case inLast && after.accepts(have):
			s = New
		case inFirst && before.accepts(have):
			s = Old
		case done >= 0:
			s = Between
		}
		list = append(list, PathState{p, s})
	}
	return list
}

// Rollback plans the rollback of an unfinished change. The rollback gets no log entry.
// Call Plan.Check, then Plan.TakeBack with a function for operations on the trash, and
// then Settle with 0.
func (j *Journal) Rollback(ctx context.Context, ws *rootfs.Root, u Unfinished) (*Plan, error) {
	if u.Done < 0 {
		return nil, fmt.Errorf("roll back %s: %w", u.ID, errMovedOn)
	}
	e := u.Entry
	e.Ops = append([]Op(nil), e.Ops[:u.Done]...)
	if u.Begun {
		parts, err := partsDone(ws, u.Entry.Ops[u.Done])
		if err != nil {
			return nil, err
		}
		e.Ops = append(e.Ops, parts...)
	}
	p, err := j.planOf(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("roll back %s: %w", u.ID, err)
	}
	return p, nil
}

// partsDone returns the completed part of an operation on a tree, as one operation for
// each complete subtree. Parents come before their children in Nodes.
func partsDone(ws *rootfs.Root, op Op) ([]Op, error) {
	var parts []Op
	root := ""
	for _, n := range op.Nodes {
		p, err := join(op.Path, n.Rel)
		if err != nil {
			return nil, err
		}
		have, err := look(ws, p)
		if err != nil {
			return nil, err
		}
		if (have == absent) != (op.Kind == Remove) {
			continue
		}
		if inner, ok := strings.CutPrefix(n.Rel, root+"/"); ok && len(parts) > 0 && root != "" {
			n.Rel = inner
		} else if len(parts) == 0 || root != "" {
			root = n.Rel
			part := op
			part.Path, part.Nodes, n.Rel = p, nil, ""
			parts = append(parts, part)
		}
		last := &parts[len(parts)-1]
		last.Nodes = append(last.Nodes, n)
	}
	return parts, nil
}

// TakeBackError means that TakeBack failed half-way.
type TakeBackError struct {
	Done []Op // the rollback operations that were carried out
	Left []Op // the remaining ones, the first of which failed
	Err  error
}

func (e *TakeBackError) Error() string {
	return fmt.Sprintf("%v; rolled back: %s; not rolled back: %s", e.Err, opList(e.Done), opList(e.Left))
}

func (e *TakeBackError) Unwrap() error { return e.Err }

// opList names the files of operations, or the first few if there are many.
func opList(ops []Op) string {
	if len(ops) == 0 {
		return "nothing"
	}
	var names []string
	for i, op := range ops {
		if i == 5 {
			names = append(names, fmt.Sprintf("and %d more", len(ops)-i))
			break
		}
		names = append(names, fault.Printable(op.Path.String()))
	}
	return strings.Join(names, ", ")
}

// TakeBack carries out the operations of a Rollback. It calls trash for operations on the
// trash; trash may be nil if there are none. All errors are TakeBackErrors.
func (p *Plan) TakeBack(ctx context.Context, ws *rootfs.Root, trash func(context.Context, Op) error) error {
	tx, watch := &Tx{j: p.j, plan: p, over: true}, progress.Of(ctx)
	for i, op := range p.Change.Ops {
		var err error
		if trash != nil && (op.Kind == Trash || op.Kind == Restore) {
			err = trash(ctx, op)
		} else {
			err = tx.Apply(ctx, ws, i)
		}
		if p.Beneath != nil && op.Kind == Replace && errors.Is(err, fault.Conflict) {
			err = p.Beneath(i)
		}
		if err != nil {
			return &TakeBackError{Done: p.Change.Ops[:i], Left: p.Change.Ops[i:], Err: err}
		}
		watch.Step()
	}
	return nil
}

// Settle ends an unfinished change. Its first done operations remain and can be undone
// later; 0 means that it was rolled back.
func (j *Journal) Settle(id ID, done int, results ...Result) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if done > 0 {
		err = j.settle(commit{id, done, results})
	} else {
		err = j.abandon(id)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

var errMovedOn = fault.New(fault.Conflict, "changed by someone else", "")
