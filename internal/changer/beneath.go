package changer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/lineage"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
)

// carried is the undo of one file's change, adapted to the file's present content because
// the file was modified after the change.
type carried struct {
	path          rootfs.Path
	edits         []rootfs.Edit // edits of the present content; none if the change is already undone
	old, new      rootfs.Version
	before, after []byte // the contents before and after the undo; nil for a large file
}

// diff returns the undo as a diff. For a large file that was also edited elsewhere it has
// no lines.
func (c *carried) diff(opts *textedit.DiffOptions) change.PathDiff {
	name := c.path.String()
	if c.before == nil {
		return change.PathDiff{Kind: change.DiffNotKept, Old: name, New: name}
	}
	return diffOf(name, name, c.before, c.after, opts)
}

// past replays a file's history, beginning with the oldest of the changes to undo.
type past struct {
	w       *Changer
	since   *journal.Since
	text    *lineage.Text
	targets []*target // the changes to undo, oldest first

	content []byte // the present content, nil if unknown
	version rootfs.Version
	steps   map[deed][]*lineage.Step
	deeds   map[journal.ID]deed // those determined so far, for all files
}

// target is a change to undo.
type target struct {
	*lineage.Step
	left  *lineage.Text // the text right after it
	wrote []byte        // the content right after it, nil if it was not kept
	// touched maps the index of an edit to the first later change that touched it. The id
	// is "" for a change by another program.
	touched map[int]journal.ID
}

// errUnknownPast means that the edits of a change can't be traced to the present content.
var errUnknownPast = errors.New("the exact edits of the change in the file are not known")

// replay follows a file from the oldest of some operations, given newest first, to the
// present.
func (w *Changer) replay(undo []journal.Done, since *journal.Since, deeds map[journal.ID]deed) (*past, error) {
	first := undo[len(undo)-1]
	spans, err := w.spans(first.Entry, first.Op)
	if err != nil {
		return nil, errors.Join(errUnknownPast, err)
	}
	h := &past{w: w, since: since, steps: map[deed][]*lineage.Step{}, deeds: deeds}
	h.text = lineage.New(first.Entry.BeforeSize(first.Op))
	step := h.text.Apply(spans)
	h.know(first.Entry.ID, step)
	h.content, _ = w.state.journal.After(first.Entry, first.Op)
	h.version = first.Entry.Ops[first.Op].New
	h.aim(step)
	for _, d := range since.Done {
		own := slices.ContainsFunc(undo, func(o journal.Done) bool { return o.Entry.ID == d.Entry.ID && o.Op == d.Op })
		if err := h.take(d.Entry, d.Op, own); err != nil {
			return nil, err
		}
	}
	if len(h.targets) < len(undo) {
		return nil, errUnknownPast
	}
	return h, nil
}

// aim adds the last step to the targets.
func (h *past) aim(s *lineage.Step) {
	h.targets = append(h.targets, &target{s, h.text.Clone(), h.content, map[int]journal.ID{}})
}

// spans returns the edits of the replacement e.Ops[i]. If the whole file was rewritten,
// the journal has one edit, from the first difference to the last. If that edit covers
// whole lines, spans splits it as a diff does.
func (w *Changer) spans(e journal.Entry, i int) ([]lineage.Edit, error) {
	j := w.state.journal
	edits, was, err := j.Spans(e, i)
	if err != nil {
		return nil, err
	}
	if len(edits) == 1 && bytes.IndexByte(was[0], '\n') >= 0 && bytes.IndexByte(edits[0].Data, '\n') >= 0 {
		before, errOld := j.Before(e, i)
		after, errNew := j.After(e, i)
		if errOld == nil && errNew == nil {
			return lineage.Rewritten(before, after), nil
		}
	}
	list := make([]lineage.Edit, len(edits))
	for k, x := range edits {
		list[k] = lineage.Edit{Off: x.Off, Was: was[k], Data: x.Data}
	}
	return list, nil
}

// take applies e.Ops[i], a logged change. If the operation did not find the content that
// the previous one left, another program changed the file in between. If own is set, the
// change is to be undone too.
func (h *past) take(e journal.Entry, i int, own bool) error {
	op, j := e.Ops[i], h.w.state.journal
	if op.Old != h.version {
		before, err := j.Before(e, i)
		if err != nil {
			before = nil
		}
		if err := h.outside(before); err != nil {
			return err
		}
	}
	var undone []*lineage.Step // oldest first
	if id := cmp.Or(e.Undoes, e.PartOf); id != "" {
		undone = h.steps[h.deedOf(id)]
	}
	for _, id := range slices.Backward(e.Reverts) {
		undone = append(undone, h.steps[h.deedOf(id)]...)
	}
	steps := h.undo(undone, op.New)
	if steps == nil {
		spans, err := h.w.spans(e, i)
		if err != nil || h.text.Size() != e.BeforeSize(i) {
			// The edits are unknown, so the change is treated like one of another program.
			if h.content == nil {
				h.content, _ = j.Before(e, i)
			}
			h.version = rootfs.Version{}
			return nil
		}
		steps = append(steps, h.text.Apply(spans, undone...))
		h.content, _ = j.After(e, i)
	}
	for _, s := range steps {
		h.know(e.ID, s)
	}
	if h.version = op.New; own {
		h.aim(steps[0])
	} else {
		h.blame(e.ID)
	}
	return nil
}

// undo undoes steps one by one, newest first, and returns the steps that do it. If the
// content is then not the wanted one, it does nothing and returns nil.
func (h *past) undo(steps []*lineage.Step, want rootfs.Version) (done []*lineage.Step) {
	if len(steps) == 0 || h.content == nil || h.text.Size() != int64(len(h.content)) {
		return nil
	}
	text, content := h.text.Clone(), h.content
	for _, s := range slices.Backward(steps) {
		var edits []rootfs.Edit
		for k := range s.Len() {
			if state, edit := h.text.Find(s, k); state == lineage.Whole {
				edits = append(edits, edit)
			}
		}
		back, err := h.without(s, edits)
		if err != nil {
			break
		}
		done = append(done, back)
	}
	if version.Of(h.content) != want {
		h.text, h.content = text, content
		return nil
	}
	return done
}

// deed is the net effect of an entry. Undoing an undo repeats the first change, so a
// chain of undos is reduced to that change and whether the entry undoes it.
type deed struct {
	first  journal.ID
	undoes bool
}

func (h *past) deedOf(id journal.ID) deed {
	if d, ok := h.deeds[id]; ok {
		return d
	}
	d := deed{first: id}
	if e, err := h.w.state.journal.Get(id); err == nil && cmp.Or(e.Undoes, e.PartOf) != "" {
		d = h.deedOf(cmp.Or(e.Undoes, e.PartOf))
		d.undoes = !d.undoes
	}
	h.deeds[id] = d
	return d
}

// know records that entry id made step s.
func (h *past) know(id journal.ID, s *lineage.Step) {
	d := h.deedOf(id)
	h.steps[d] = append(h.steps[d], s)
}

// outside records that another program has changed the file's content to after.
func (h *past) outside(after []byte) error {
	if h.content == nil || after == nil || max(len(after), len(h.content)) > maxAligned {
		return errUnknownPast
	}
	h.text.Align(h.content, after)
	h.content = after
	h.blame("")
	return nil
}

// maxAligned is the largest content that is compared line by line to locate a change.
const maxAligned = largeFile

// maxBlamed limits how many edits of a target are examined for the first later change.
const maxBlamed = 50

// blame records by as the change that touched edits of the targets.
func (h *past) blame(by journal.ID) {
	for _, t := range h.targets {
		for k := range min(t.Len(), maxBlamed) {
			state, _ := h.text.Find(t.Step, k)
			if _, known := t.touched[k]; state != lineage.Touched {
				delete(t.touched, k)
			} else if !known {
				t.touched[k] = by
			}
		}
	}
}

// carry computes the undo of some replacements of one file, given newest first, on the
// file's present content. It undoes the edits for which only returns true, or all of them
// if only is nil. The conflict names the edits that can't be undone.
func (w *Changer) carry(ctx context.Context, undo []journal.Done, since *journal.Since, only func(*target, int) bool, deeds map[journal.ID]deed) (*carried, *change.Conflict, error) {
	c := &carried{path: since.Now}
	changed := &change.Conflict{Path: since.Now.String(), Reason: change.ContentChanged}
	var err error
	var size int64
	if c.before, c.old, size, err = w.readNow(since.Now); err != nil {
		return nil, nil, err
	}
	h, err := w.replay(undo, since, deeds)
	if err == nil && h.version != c.old {
		err = h.outside(c.before)
	}
	if err == nil && (h.text.Size() != size || len(undo) > 1 && c.before == nil) {
		err = errUnknownPast
	}
	if errors.Is(err, errUnknownPast) {
		return nil, changed, nil
	}
	if err != nil {
		return nil, nil, err
	}
	h.content = c.before
	for _, t := range slices.Backward(h.targets) {
		c.edits = nil
		for k := range t.Len() {
			if only != nil && !only(t, k) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			switch state, edit := h.text.Find(t.Step, k); state {
			case lineage.Whole:
				c.edits = append(c.edits, edit)
			case lineage.Touched:
				changed.Touched = append(changed.Touched, h.place(t, k))
			}
		}
		if len(changed.Touched) > 0 {
			return nil, changed, nil
		}
		slices.SortFunc(c.edits, func(a, b rootfs.Edit) int { return cmp.Compare(a.Off, b.Off) })
		if len(undo) > 1 {
			if _, err := h.without(t.Step, c.edits); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(undo) > 1 {
		c.edits = nil
		for _, e := range lineage.Rewritten(c.before, h.content) {
			c.edits = append(c.edits, rootfs.Edit{Off: e.Off, Len: int64(len(e.Was)), Data: e.Data})
		}
	}
	err = c.finish(w)
	return c, nil, err
}

// without applies edits that undo a step.
func (h *past) without(undone *lineage.Step, edits []rootfs.Edit) (s *lineage.Step, err error) {
	slices.SortFunc(edits, func(a, b rootfs.Edit) int { return cmp.Compare(a.Off, b.Off) })
	var spans []lineage.Edit
	for _, e := range edits {
		spans = append(spans, lineage.Edit{Off: e.Off, Was: h.content[e.Off : e.Off+e.Len], Data: e.Data})
	}
	s = h.text.Apply(spans, undone)
	h.content, err = applied(h.content, edits)
	return s, err
}

// revertBeneath rolls back the k-th operation of a plan, a replacement in a file that was
// changed later.
func (w *Changer) revertBeneath(ctx context.Context, plan *journal.Plan, k int) (err error) {
	i, p := plan.Undoes(k), plan.Change.Ops[k].Path
	for range maxPlans {
		var c *carried
		var conflict *change.Conflict
		c, conflict, err = w.carry(ctx, []journal.Done{{Entry: plan.Of, Op: i}}, &journal.Since{Left: p, Now: p}, nil, map[journal.ID]deed{})
		switch {
		case err != nil:
			return err
		case conflict != nil && w.isWithout(plan.Of, i, p):
			return nil
		case conflict != nil:
			return &change.UndoError{ID: string(plan.Of.ID), Paths: []change.Conflict{*conflict}}
		case len(c.edits) == 0:
			return nil
		}
		if _, err = w.root.Splice(p, c.edits, c.old, &rootfs.ReplaceOptions{Want: c.new}); !errors.Is(err, fault.Conflict) {
			return err
		}
	}
	return err
}

// isWithout reports whether a file contains nothing of a replacement. This happens if an
// editor read the old content and saved it after the change.
func (w *Changer) isWithout(e journal.Entry, i int, p rootfs.Path) bool {
	old, errOld := w.state.journal.Before(e, i)
	spans, err := w.spans(e, i)
	now, _, size, errNow := w.readNow(p)
	if errOld != nil || err != nil || errNow != nil || now == nil || max(size, int64(len(old))) > maxAligned {
		return false
	}
	shift := int64(0)
	for k, x := range spans {
		spans[k] = lineage.Edit{Off: x.Off + shift, Was: x.Data, Data: x.Was}
		shift += int64(len(x.Data) - len(x.Was))
	}
	text := lineage.New(int64(len(old)) + shift)
	back := text.Apply(spans)
	text.Align(old, now)
	for k := range back.Len() {
		if state, _ := text.Find(back, k); state != lineage.Whole {
			return false
		}
	}
	return true
}

// readNow reads a file. For a large file it returns only version and size.
func (w *Changer) readNow(p rootfs.Path) (data []byte, version rootfs.Version, size int64, err error) {
	info, err := w.root.Stat(p)
	if err == nil && info.Size > w.largeFrom {
		version, info, err = w.root.ReadVersion(p)
		return nil, version, info.Size, err
	}
	data, version, info, err = w.root.ReadFile(p, maxRead)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, version, int64(len(data)), err
}

// finish computes the content after the undo, or for a large file only its version.
func (c *carried) finish(w *Changer) (err error) {
	if c.before != nil {
		c.after, err = applied(c.before, c.edits)
		c.new = version.Of(c.after)
		return err
	}
	f, err := w.root.OpenFile(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	h, at := version.NewHash(), int64(0)
	for _, e := range c.edits {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, e.Off-at)); err != nil {
			return err
		}
		h.Write(e.Data)
		at = e.Off + e.Len
	}
	_, err = io.Copy(h, io.NewSectionReader(f, at, f.Info().Size-at))
	c.new = h.Version()
	return err
}

// span returns the offsets of the k-th edit in the content that the target wrote.
func (t *target) span(k int) (from, to int64) {
	edit := t.Edit(k)
	from = edit.Off
	for n := range k {
		before := t.Edit(n)
		from += int64(len(before.Data) - len(before.Was))
	}
	return from, from + int64(len(edit.Data))
}

// lines returns the line numbers of the k-th edit in the content that the target wrote, or
// 0 if they are unknown.
func (t *target) lines(k int) (first, last int) {
	from, to := t.span(k)
	first, last, _ = linesOf(t.wrote, from, to)
	return first, last
}

// place describes where the k-th edit of a target was, and the text that is there now.
func (h *past) place(t *target, k int) change.Touched {
	p := change.Touched{By: string(t.touched[k])}
	from, to := t.span(k)
	p.First, p.Last, p.Wrote = linesOf(t.wrote, from, to)
	from, to = h.text.Around(t.left, t.Step, k)
	p.NowFirst, p.NowLast, p.Now = linesOf(h.content, from, to)
	return p
}

// linesOf returns the lines that overlap text[from:to], and the numbers of the first and
// last.
func linesOf(text []byte, from, to int64) (first, last int, lines string) {
	if from > int64(len(text)) || to > int64(len(text)) || from > to {
		return 0, 0, ""
	}
	first = 1 + bytes.Count(text[:from], []byte{'\n'})
	start := bytes.LastIndexByte(text[:from], '\n') + 1
	end := int(to)
	if to == from || text[to-1] != '\n' { // extend to the end of the last line
		if n := bytes.IndexByte(text[to:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(text)
		}
	}
	last = max(first, bytes.Count(text[:end], []byte{'\n'}))
	if utf8.Valid(text[start:end]) {
		lines = string(text[start:end])
	}
	return first, last, lines
}
