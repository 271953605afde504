package changer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
)

// fitted records how an undo plan was adapted to the disk. Both maps are by index of the
// operation in the undone entry.
type fitted struct {
	carried map[int]*carried // operations on files that were changed later
	left    map[int]bool     // operations that the plan doesn't undo
	deeds   map[journal.ID]deed
	// recovery is set if the change was interrupted or failed.
	recovery bool
}

// whole reports whether a plan undoes every operation, in files without later changes.
func (f *fitted) whole(plan *journal.Plan) bool {
	n := 0
	for k := range plan.Change.Ops {
		if plan.Undoes(k) >= 0 {
			n++
		}
	}
	return len(f.carried) == 0 && n == len(plan.Of.Ops)
}

// fit adapts a plan to the disk. In files that were changed later, it undoes only the
// change's own edits, where that is possible.
func (w *Changer) fit(ctx context.Context, plan *journal.Plan, o change.Options) (*fitted, error) {
	f := &fitted{carried: map[int]*carried{}, left: map[int]bool{}, deeds: map[journal.ID]deed{}, recovery: o.Tool == journal.Recovery}
	if err := w.dropUndone(plan, f); err != nil {
		return nil, err
	}
	if len(o.Parts) > 0 {
		if err := w.pick(ctx, plan, o.Parts, f); err != nil {
			return nil, err
		}
	}
	cause := w.fitPlan(plan)
	var conflict *change.UndoError
	if !errors.As(cause, &conflict) {
		return f, cause
	}
	changed := map[string]bool{}
	for _, c := range conflict.Paths {
		changed[c.Path] = c.Reason == change.ContentChanged || c.Reason == change.IsGone
	}
	var ops []int // indices in the entry
	at := map[int]int{}
	for k, op := range plan.Change.Ops {
		i := plan.Undoes(k)
		if op.Kind != journal.Replace || i < 0 || f.carried[i] != nil {
			continue
		}
		left, err := plan.Of.LeftAt(i)
		if err != nil {
			return nil, err
		}
		if changed[left.String()] {
			ops, at[i] = append(ops, i), k
		}
	}
	if len(ops) == 0 {
		return f, cause
	}
	since, err := w.state.journal.Since(plan.Of, ops)
	if err != nil {
		return nil, err
	}
	found := map[string]*change.Conflict{}
	for _, i := range ops {
		c, err := w.carryOp(ctx, plan, at[i], since[i], nil, f)
		if err != nil {
			return nil, err
		}
		if c != nil {
			found[since[i].Left.String()] = c
		}
	}
	if plan.Drop(f.left); len(plan.Change.Ops) == 0 {
		return nil, errNothingLeft
	}
	cause = w.fitPlan(plan)
	if errors.As(cause, &conflict) {
		for k, c := range conflict.Paths {
			if better := found[c.Path]; better != nil {
				conflict.Paths[k] = *better
			}
		}
	}
	return f, cause
}

// dropUndone removes from a plan what earlier partial undos have already undone. For
// edited files these are only undos of the whole operation; carryOp finds undone hunks.
func (w *Changer) dropUndone(plan *journal.Plan, f *fitted) error {
	for _, id := range plan.Of.PartlyBy {
		part, err := w.state.journal.Get(id)
		if err != nil {
			return err
		}
		type deed struct {
			kind     journal.Kind
			path, to rootfs.Path
			new      rootfs.Version
		}
		did := func(op *journal.Op) deed {
			if op.Kind != journal.Replace {
				return deed{op.Kind, op.Path, op.To, rootfs.Version{}}
			}
			return deed{op.Kind, op.Path, op.To, op.New}
		}
		undone := map[deed]bool{}
		for i := range part.Ops {
			undone[did(&part.Ops[i])] = true
		}
		for k := range plan.Change.Ops {
			if undone[did(&plan.Change.Ops[k])] {
				f.left[plan.Undoes(k)] = true
			}
		}
	}
	if len(f.left) > 0 && !plan.Drop(f.left) {
		return errNothingLeft
	}
	return nil
}

var errNothingLeft = fault.New(fault.Conflict, "nothing of it is left to undo: it was undone in part before, or by hand", "the log has the changes since")

// carryOp adapts the k-th operation of a plan to the file's present content. It undoes
// the edits for which only returns true, or all if only is nil. A conflict is returned if
// that is impossible.
func (w *Changer) carryOp(ctx context.Context, plan *journal.Plan, k int, since *journal.Since, only func(*target, int) bool, f *fitted) (*change.Conflict, error) {
	i := plan.Undoes(k)
	if since.Gone || since.Now != since.Left && since.Left != plan.Of.Ops[i].Path {
		return nil, nil // the check of the plan reports it
	}
	c, conflict, err := w.carry(ctx, []journal.Done{{Entry: plan.Of, Op: i}}, since, only, f.deeds)
	switch kind := rootfs.KindOf(err); {
	case err != nil && (kind == fault.NotFound || kind == fault.NotFolder || kind == fault.NotRegular):
		return nil, nil
	case err != nil:
		return nil, err
	case conflict != nil && f.recovery && w.isWithout(plan.Of, i, since.Now):
		f.left[i] = true
		return nil, nil
	case conflict != nil:
		return conflict, nil
	case len(c.edits) == 0:
		f.left[i] = true // the caller removes it from the plan
		return nil, nil
	}
	at := plan.Change.Ops[k].Path
	if since.Left == at {
		at = since.Now
	}
	plan.Carry(k, at, c.edits, c.old, c.new)
	f.carried[i] = c
	return nil, nil
}

// pick reduces a plan to the given parts.
func (w *Changer) pick(ctx context.Context, plan *journal.Plan, parts []change.UndoPart, f *fitted) error {
	keep := make([]bool, len(plan.Change.Ops))
	hunks, whole := map[int][]change.UndoPart{}, map[int]bool{} // by the operation of the entry
	var replaced []int
	for k, op := range plan.Change.Ops {
		if op.Kind == journal.Replace {
			replaced = append(replaced, plan.Undoes(k))
		}
	}
	since, err := w.state.journal.Since(plan.Of, replaced)
	if err != nil {
		return err
	}
	for _, part := range parts {
		p, err := w.root.Known(path.Clean(strings.TrimPrefix(part.Path, "./")))
		if err != nil {
			return err
		}
		if part.Hunk < 0 || part.Line < 0 || part.Hunk > 0 && part.Line > 0 {
			return fault.New(fault.InvalidArgument, "a hunk is chosen by its number, from 1, or by a line, not by both", "")
		}
		named := false
		for k, op := range plan.Change.Ops {
			i := plan.Undoes(k)
			now := op.Kind == journal.Replace && since[i].Now == p
			if !now && !op.Path.Beneath(p) && !(op.Kind == journal.Rename && op.To.Beneath(p)) {
				continue
			}
			if part.Hunk+part.Line > 0 {
				if op.Kind != journal.Replace {
					continue
				}
				hunks[i] = append(hunks[i], part)
			}
			keep[k], named = true, true
			if part.Hunk+part.Line == 0 {
				whole[i] = true
			}
		}
		if !named {
			return w.notInChange(plan.Of, part)
		}
	}
	for k := range keep {
		if i := plan.Undoes(k); !keep[k] && i >= 0 {
			f.left[i] = true
		}
	}
	plan.Only(func(k int) bool { return keep[k] })
	for k := range plan.Change.Ops {
		i := plan.Undoes(k)
		if hunks[i] == nil || whole[i] {
			continue
		}
		if err := w.pickHunks(ctx, plan, k, since[i], hunks[i], f); err != nil {
			return err
		}
	}
	plan.Drop(f.left)
	if len(plan.Change.Ops) == 0 {
		return errNothingLeft
	}
	return nil
}

// notInChange refuses a part that is not in the change, and lists the change's parts.
func (w *Changer) notInChange(e journal.Entry, part change.UndoPart) error {
	what := fault.Printable(part.Path)
	if part.Hunk+part.Line > 0 {
		what = "a text of " + what
	}
	var names []string
	for i, p := range e.Paths() {
		if i == 10 {
			names = append(names, fmt.Sprintf("and %d more", len(e.Paths())-i))
			break
		}
		names = append(names, fault.Printable(p.String()))
	}
	return fault.New(fault.NotFound, fmt.Sprintf("change %s has not changed %s", e.ID, what), "it changed "+strings.Join(names, ", "))
}

// pickHunks reduces the k-th operation of a plan to the chosen hunks.
func (w *Changer) pickHunks(ctx context.Context, plan *journal.Plan, k int, since *journal.Since, chosen []change.UndoPart, f *fitted) error {
	i := plan.Undoes(k)
	name := fault.Printable(plan.Of.Ops[i].Path.String())
	d, err := w.opDiff(plan.Of, i, false, &textedit.DiffOptions{MaxLines: -1, MaxLine: 1})
	if err != nil {
		return err
	}
	hunks := hunkLines(d.Hunks)
	if len(hunks) == 0 {
		return fault.New(fault.InvalidArgument, fmt.Sprintf("the hunks of %s in change %s are not known", name, plan.Of.ID), "undo the whole file")
	}
	picked := make([]bool, len(hunks))
	for _, part := range chosen {
		n := part.Hunk - 1
		if part.Line > 0 {
			n = slices.IndexFunc(hunks, func(h [2]int) bool { return h[0] <= part.Line && part.Line <= h[1] })
		}
		if n < 0 || n >= len(hunks) {
			return noSuchHunk(plan.Of.ID, name, hunks, part)
		}
		picked[n] = true
	}
	var split error
	conflict, err := w.carryOp(ctx, plan, k, since, func(t *target, k int) bool {
		first, last := t.lines(k)
		n := 0 // number of the hunk with the edit
		for n+1 < len(hunks) && hunks[n+1][0] <= first {
			n++
		}
		switch {
		case first == 0:
			split = fault.New(fault.InvalidArgument, fmt.Sprintf("the hunks of %s in change %s are not known", name, plan.Of.ID), "undo the whole file")
		case n+1 < len(hunks) && last >= hunks[n+1][0] && picked[n] != picked[n+1]:
			split = fault.New(fault.InvalidArgument, fmt.Sprintf("hunks %d and %d of %s were one edit and can't be undone separately", n+1, n+2, name), "undo both, or the whole file")
		}
		return picked[n]
	}, f)
	err = cmp.Or(err, split)
	switch {
	case err != nil:
		return err
	case conflict != nil:
		return &change.UndoError{ID: string(plan.Of.ID), Paths: []change.Conflict{*conflict}}
	case f.left[i]:
		return nil
	case f.carried[i] == nil:
		return &change.UndoError{ID: string(plan.Of.ID), Paths: []change.Conflict{{Path: since.Now.String(), Reason: change.IsGone}}}
	}
	if slices.Contains(picked, false) {
		plan.InPart()
	}
	return nil
}

func noSuchHunk(id journal.ID, name string, hunks [][2]int, part change.UndoPart) error {
	what := fmt.Sprintf("hunk %d", part.Hunk)
	if part.Line > 0 {
		what = fmt.Sprintf("hunk that shows line %d", part.Line)
	}
	var list []string
	for n, h := range hunks {
		if n == 20 {
			list = append(list, fmt.Sprintf("and %d more", len(hunks)-n))
			break
		}
		list = append(list, fmt.Sprintf("hunk %d shows lines %d-%d", n+1, h[0], h[1]))
	}
	return fault.New(fault.NotFound, fmt.Sprintf("change %s has no %s of %s", id, what, name), "as the change left the file, "+strings.Join(list, ", "))
}

// hunkLines returns for each hunk of a diff the first and last line number in the new
// text.
func hunkLines(diff string) [][2]int {
	var out [][2]int
	for line := range strings.SplitSeq(diff, "\n") {
		rest, ok := strings.CutPrefix(line, "@@ -")
		if !ok {
			continue
		}
		_, rest, _ = strings.Cut(rest, " +")
		rest, _, ok = strings.Cut(rest, " @@")
		first, count, counted := strings.Cut(rest, ",")
		a, err := strconv.Atoi(first)
		n := 1
		if counted && err == nil {
			n, err = strconv.Atoi(count)
		}
		if !ok || err != nil {
			continue
		}
		if n == 0 {
			a++ // the hunk is after this line
		}
		out = append(out, [2]int{a, max(a, a+n-1)})
	}
	return out
}
