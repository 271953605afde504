package journal

import (
	"fmt"
	"slices"

	"quarry/internal/rootfs"
)

// Spans returns the edits of a replacement as offsets in the old content, and the bytes
// that each replaced. It returns ErrNotKept if those bytes were not stored.
func (j *Journal) Spans(e Entry, i int) (edits []rootfs.Edit, was [][]byte, err error) {
	return j.spans(nil, e, i)
}

// spans is Spans. If src is not nil, it has the entry's files open.
func (j *Journal) spans(src *source, e Entry, i int) (edits []rootfs.Edit, was [][]byte, err error) {
	op := e.Ops[i]
	if op.Kind != Replace || !op.hasDiff {
		return nil, nil, ErrNotKept
	}
	body, err := j.diff(e, i)
	if err != nil {
		return nil, nil, err
	}
	d := &decoder{b: body}
	d.id()
	d.num()
	if edits = d.edits(); d.end() != nil {
		return nil, nil, fmt.Errorf("%w: the new content of %s", ErrDamaged, e.ID)
	}
	was = make([][]byte, len(edits))
	if op.old.place == asEdits {
		_, back, err := j.back(e, i)
		if err == nil && len(back) != len(edits) {
			err = fmt.Errorf("%w: the old content of %s", ErrDamaged, e.ID)
		}
		for k := range back {
			was[k] = back[k].Data
		}
		return edits, was, err
	}
	old, err := j.contentBefore(src, e, i)
	if err == nil && !ordered(edits, int64(len(old))) {
		err = fmt.Errorf("%w: the new content of %s", ErrDamaged, e.ID)
	}
	if err != nil {
		return nil, nil, err
	}
	for k, edit := range edits {
		was[k] = old[edit.Off : edit.Off+edit.Len]
	}
	return edits, was, nil
}

// maxBackSpans is the largest size of the edits that an undo records in addition to the
// content it replaces. Beyond that, the undo's effect is determined by comparing lines.
const maxBackSpans = 64 << 10

// backSpans returns the edits that undo a replacement, if its contents are stored. They
// are recorded with the undo, so that its effect is known exactly.
func (j *Journal) backSpans(src *source, e Entry, i int) ([]rootfs.Edit, error) {
	edits, was, err := j.spans(src, e, i)
	if err != nil {
		return nil, err
	}
	back, shift, size := make([]rootfs.Edit, len(edits)), int64(0), 0
	for k, x := range edits {
		if size += len(was[k]); size > maxBackSpans {
			return nil, ErrNotKept
		}
		back[k] = rootfs.Edit{Off: x.Off + shift, Len: int64(len(x.Data)), Data: was[k]}
		shift += int64(len(x.Data)) - x.Len
	}
	return back, nil
}

// Done is one operation of an entry.
type Done struct {
	Entry Entry
	Op    int
}

// Since describes the changes of a file after an operation.
type Since struct {
	Left rootfs.Path // its path right after the change
	Now  rootfs.Path // its present path, according to the journal
	Gone bool        // deleted since
	Done []Done      // the later replacements of its content, oldest first
}

// LeftAt returns the path that the file of the i-th operation has after the entry.
func (e *Entry) LeftAt(i int) (rootfs.Path, error) {
	p := e.Ops[i].Path
	for _, op := range e.Ops[i+1:] {
		if op.Kind == Rename && p.Beneath(op.Path) {
			var err error
			if p, err = Rebase(p, op.Path, op.To); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// Since follows the files of the given operations of an entry through later changes.
func (j *Journal) Since(e Entry, ops []int) (map[int]*Since, error) {
	found := map[int]*Since{}
	var names []rootfs.Path
	for _, i := range ops {
		left, err := e.LeftAt(i)
		if err != nil {
			return nil, err
		}
		found[i] = &Since{Left: left, Now: left}
		names = append(names, left)
	}
	names, err := j.namesSince(e.ID, names)
	if err != nil {
		return nil, err
	}
	above := map[rootfs.Path]bool{} // names and their parent folders
	for _, p := range names {
		for ; !above[p]; p = p.Dir() {
			above[p] = true
		}
	}
	var later []Entry // newest first
	err = j.each(func(x Entry) bool {
		if x.ID != e.ID && x.Status == Committed && slices.ContainsFunc(x.Ops, func(op Op) bool {
			return above[op.Path] || op.Kind == Rename && above[op.To]
		}) {
			later = append(later, x)
		}
		return x.ID != e.ID
	})
	if err != nil {
		return nil, err
	}
	var at map[rootfs.Path][]*Since // by present name; nil after a possible move
	for _, x := range slices.Backward(later) {
		for k, op := range x.Ops {
			if op.Kind != Replace {
				for _, s := range found {
					if err := s.follow(&op); err != nil {
						return nil, err
					}
				}
				at = nil
				continue
			}
			if at == nil {
				at = map[rootfs.Path][]*Since{}
				for _, s := range found {
					at[s.Now] = append(at[s.Now], s)
				}
			}
			for _, s := range at[op.Path] {
				if !s.Gone {
					s.Done = append(s.Done, Done{x, k})
				}
			}
		}
	}
	return found, nil
}

// namesSince adds the names that the files may have had since an entry. To save memory,
// it collects only the moves, not the entries.
func (j *Journal) namesSince(id ID, names []rootfs.Path) ([]rootfs.Path, error) {
	var moves []Op // newest first
	err := j.each(func(x Entry) bool {
		for _, op := range slices.Backward(x.Ops) {
			if op.Kind == Rename && x.Status == Committed && x.ID != id {
				moves = append(moves, Op{Path: op.Path, To: op.To})
			}
		}
		return x.ID != id
	})
	for _, op := range slices.Backward(moves) {
		for _, name := range names {
			if !name.Beneath(op.Path) {
				continue
			}
			next, err := Rebase(name, op.Path, op.To)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(names, next) {
				names = append(names, next)
			}
		}
	}
	return names, err
}

// follow applies a later operation that does not replace content.
func (s *Since) follow(op *Op) (err error) {
	switch op.Kind {
	case Rename:
		if s.Now.Beneath(op.Path) {
			s.Now, err = Rebase(s.Now, op.Path, op.To)
		} else if s.Now.Beneath(op.To) {
			s.Gone = false // another file was moved to its path
		}
	case Trash, Remove:
		s.Gone = s.Gone || s.Now.Beneath(op.Path)
	case Restore, Create:
		s.Gone = s.Gone && !s.Now.Beneath(op.Path)
	}
	return err
}

// Carry turns the k-th operation of the plan, a replacement, into edits of the present
// file at path, which changes it from version old to new.
func (p *Plan) Carry(k int, path rootfs.Path, edits []rootfs.Edit, old, new rootfs.Version) {
	op := &p.Change.Ops[k]
	op.Path, op.Edits, op.Old, op.New = path, edits, old, new
	p.back[k] = edits
}
