package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// List returns the newest entries, newest first, or all if limit is 0 or less. Changes
// that were rolled back are not included.
func (j *Journal) List(limit int) ([]Entry, error) {
	var list []Entry
	err := j.each(func(e Entry) bool {
		list = append(list, e)
		return limit <= 0 || len(list) < limit
	})
	return list, err
}

// Get returns one entry.
func (j *Journal) Get(id ID) (Entry, error) {
	return j.find(func(e Entry) bool { return e.ID == id }, string(id))
}

// From returns the entry id and all newer ones, newest first.
func (j *Journal) From(id ID) ([]Entry, error) {
	var list []Entry
	_, err := j.find(func(e Entry) bool {
		list = append(list, e)
		return e.ID == id
	}, string(id))
	return list, err
}

// Latest returns the change that an undo without an id undoes: the newest one that is
// complete, not yet undone, and neither an undo nor a recovery. If newer entries are
// missing, it returns an error, because the wrong change would be undone.
func (j *Journal) Latest() (Entry, error) {
	e, err := j.find(func(e Entry) bool {
		return !e.ID.Outside() && e.Status == Committed && e.UndoneBy == "" && e.Undoes == "" && e.PartOf == "" && e.Tool != Recovery
	}, "nothing left to undo")
	if err != nil {
		return Entry{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return e, j.locked(false, func() error {
		if err := j.catchUp(); err != nil {
			return err
		}
		missing, err := j.missingAtEnd()
		if err == nil && missing > 0 {
			err = fmt.Errorf("%w (%d missing)", ErrNewestLost, missing)
		}
		return err
	})
}

func (j *Journal) find(match func(Entry) bool, what string) (Entry, error) {
	var got *Entry
	err := j.each(func(e Entry) bool {
		if match(e) {
			got = &e
		}
		return got == nil
	})
	if err == nil && got == nil {
		if lost, _ := j.Lost(); lost > 0 {
			what += fmt.Sprintf("; the undo log has lost %d of its changes", lost)
		}
		err = fmt.Errorf("%w: %s", ErrNotFound, what)
	}
	if err != nil {
		return Entry{}, err
	}
	return *got, nil
}

// Damage returns the number of unreadable records.
func (j *Journal) Damage() (int, error) {
	n := 0
	err := j.eachSegment(func(s *segment) (bool, error) {
		n += s.damaged
		return true, nil
	})
	return n, err
}

// eachSegment visits the segments, newest first. Meanwhile no other process can drop any.
// f must not call the journal.
func (j *Journal) eachSegment(f func(*segment) (bool, error)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.locked(false, func() error { return j.visit(f) })
}

func (j *Journal) visit(f func(*segment) (bool, error)) error {
	if err := j.catchUp(); err != nil {
		return err
	}
	found, err := j.listSegments()
	if err != nil {
		return err
	}
	for _, file := range slices.Backward(found) {
		s, err := j.load(file)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if more, err := f(s); !more || err != nil {
			return err
		}
	}
	return nil
}

// each visits the entries, newest first, including those of the outside log. One pass
// suffices: the records that end or undo an entry are newer than the entry.
func (j *Journal) each(f func(Entry) bool) error {
	of := undoings{map[ID]ID{}, map[ID][]ID{}}
	b := j.beside()
	if b == nil {
		return j.eachSegment(j.entries(of, f))
	}
	var failed error
	theirs, stop := iter.Pull(func(yield func(Entry) bool) {
		failed = b.eachSegment(b.entries(undoings{map[ID]ID{}, map[ID][]ID{}}, yield))
	})
	defer stop()
	o, more := theirs()
	upTo := func(id ID) bool {
		for ; more && o.ID > id; o, more = theirs() {
			o.UndoneBy, o.PartlyBy = of.whole[o.ID], of.part[o.ID]
			if !f(o) {
				return false
			}
		}
		return true
	}
	goesOn := true
	err := j.eachSegment(j.entries(of, func(e Entry) bool {
		goesOn = upTo(e.ID) && f(e)
		return goesOn
	}))
	if err == nil && goesOn {
		upTo("")
	}
	return errors.Join(err, failed)
}

// undoings records which entries seen so far were undone, completely or in part.
type undoings struct {
	whole map[ID]ID
	part  map[ID][]ID
}

// entries returns a visitor of segments that calls f for each entry.
func (j *Journal) entries(of undoings, f func(Entry) bool) func(*segment) (bool, error) {
	commits, aborts := map[ID]commit{}, map[ID]bool{}
	return func(s *segment) (bool, error) {
		for _, l := range j.late { // our end records that are not in the log yet
			if l.typ == recAbort {
				aborts[(&decoder{b: l.body}).id()] = true
			} else if c, err := decodeCommit(l.body); err == nil {
				commits[c.id] = c
			}
		}
		for id, c := range s.commits {
			if _, later := commits[id]; !later { // Relocate may have added a later commit
				commits[id] = c
			}
		}
		for id := range s.aborts {
			aborts[id] = true
		}
		for _, e := range slices.Backward(s.withDamaged()) {
			if aborts[e.ID] {
				continue
			}
			out := *e
			if c, ok := commits[e.ID]; ok && e.Status == Pending {
				out.commit(c)
			}
			out.UndoneBy, out.PartlyBy = of.whole[e.ID], of.part[e.ID]
			if out.Status == Committed && out.UndoneBy == "" {
				if out.Undoes != "" {
					of.whole[out.Undoes] = out.ID
				}
				for _, id := range out.Reverts {
					of.whole[id] = out.ID
				}
				if out.PartOf != "" {
					of.part[out.PartOf] = append(of.part[out.PartOf], out.ID)
				}
			}
			if !f(out) {
				return false, nil
			}
		}
		return true, nil
	}
}

// notUndone returns an error if an entry was already undone, or if a live process is
// undoing it. The caller holds the lock.
func (j *Journal) notUndone(id ID) error {
	var by ID
	var failed error
	err := j.visit(j.entries(undoings{map[ID]ID{}, map[ID][]ID{}}, func(e Entry) bool {
		if e.Undoes == id && e.UndoneBy == "" {
			if e.Status == Committed || j.running[e.ID] != nil {
				by = e.ID
			} else if e.Status == Pending {
				alive, err := j.alive(e.owner)
				if failed = err; alive {
					by = e.ID
				}
			}
		}
		return by == "" && failed == nil && e.ID > id
	}))
	if by != "" {
		return fmt.Errorf("%w by %s", ErrUndone, by)
	}
	return errors.Join(err, failed)
}

// withDamaged returns the entries, also those of which only the end record is readable.
func (s *segment) withDamaged() []*Entry {
	known := map[ID]bool{}
	for _, e := range s.entries {
		known[e.ID] = true
	}
	list := s.entries
	for id := range s.commits {
		if !known[id] && s.hasStart && id > s.start.last {
			if len(list) == len(s.entries) {
				list = slices.Clone(list)
			}
			list = append(list, &Entry{ID: id, Time: id.time(), Status: Damaged, seg: s.num})
		}
	}
	slices.SortFunc(list, func(a, b *Entry) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return list
}

// commit marks e as committed and reduces it to the operations that were carried out.
func (e *Entry) commit(c commit) {
	e.Status = Committed
	if c.done < len(e.Ops) {
		e.Planned = e.Ops
	}
	n := min(c.done, len(e.Ops))
	if e.Ops = e.Ops[:n:n]; len(c.results) > 0 {
		e.Ops = slices.Clone(e.Ops)
	}
	for _, r := range c.results {
		if r.Op < 0 || r.Op >= len(e.Ops) {
			continue
		}
		op := &e.Ops[r.Op]
		if !r.New.IsZero() {
			op.New = r.New
			if op.Kind == Create && len(op.Nodes) == 1 {
				op.Nodes = slices.Clone(op.Nodes)
				op.Nodes[0].Version = r.New
			}
		}
		if r.Where != "" {
			op.Where = r.Where
		}
	}
}

// openEntries lists the entries without an end record, including those carried over from
// earlier segments. The caller holds the lock.
func (j *Journal) openEntries() ([]openEntry, error) {
	var open []openEntry
	ended := map[ID]bool{}
	err := j.visit(func(s *segment) (bool, error) {
		for id := range s.commits {
			ended[id] = true
		}
		for id := range s.aborts {
			ended[id] = true
		}
		for _, e := range s.entries {
			open = append(open, openEntry{e.ID, s.num})
		}
		if s.hasStart {
			open = append(open, s.start.open...)
		}
		return !s.hasStart, nil
	})
	open = slices.DeleteFunc(open, func(o openEntry) bool { return ended[o.id] })
	sort.Slice(open, func(i, j int) bool { return open[i].id < open[j].id })
	return open, err
}

// source opens the files with the contents stored for e.
func (j *Journal) source(e Entry) (*source, error) {
	j = j.of(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	src := &source{blob: j.opts.Blob}
	s, err := j.segmentOf(e)
	if err != nil {
		return nil, err
	}
	if src.seg, err = j.root.OpenLog(j.root.Own(segmentName(s.num, s.m)), false); errors.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("%w: %s was dropped", ErrNotFound, e.ID) // another process dropped it after e was read
	} else if err != nil {
		return nil, err
	}
	if e.pack != "" {
		if src.pack, err = j.root.OpenFile(j.root.Own("packs/" + e.pack)); err != nil && !errors.Is(err, fault.NotFound) {
			return nil, errors.Join(err, src.close())
		}
	}
	return src, nil
}

// Before returns the content before the i-th operation of an entry, if that is a Replace
// or removes a file. A created file had no content before.
func (j *Journal) Before(e Entry, i int) ([]byte, error) { return j.contentBefore(nil, e, i) }

// contentBefore is Before. If src is not nil, it has the entry's files open.
func (j *Journal) contentBefore(src *source, e Entry, i int) (_ []byte, err error) {
	if i < 0 || i >= len(e.Ops) {
		return nil, ErrNotFound
	}
	op := e.Ops[i]
	at := op.old
	switch {
	case op.Kind == Create:
		return nil, nil
	case op.Kind == Remove && len(op.Nodes) > 0 && op.Nodes[0].Type == rootfs.TypeFile:
		at = op.Nodes[0].at
	case op.Kind != Replace, op.old.place == asEdits:
		return nil, ErrNotKept
	}
	if src == nil {
		if src, err = j.source(e); err != nil {
			return nil, err
		}
		defer src.close()
	}
	return src.read(at, op.Old, j.opts.MaxBytes)
}

// Kept is a content that is stored as a whole, open for reading.
type Kept struct {
	io.ReaderAt
	Size int64
	src  *source
}

// KeptBytes returns data as a Kept.
func KeptBytes(data []byte) *Kept {
	return &Kept{bytes.NewReader(data), int64(len(data)), &source{}}
}

// Close closes the file with the content.
func (k *Kept) Close() error { return k.src.close() }

// BeforeSize returns the size of the content before the i-th operation of an entry, or 0
// if it is unknown.
func (e Entry) BeforeSize(i int) int64 {
	op := e.Ops[i]
	if op.Kind == Remove && len(op.Nodes) > 0 {
		return op.Nodes[0].Size
	}
	return op.old.size
}

// OpenBefore is like Before, but opens the content without reading it. It returns
// ErrNotKept if the content is not stored as a whole.
func (j *Journal) OpenBefore(e Entry, i int) (*Kept, error) {
	op := e.Ops[i]
	at := op.old
	if op.Kind == Remove && len(op.Nodes) > 0 {
		at = op.Nodes[0].at
	}
	src, err := j.source(e)
	if err != nil {
		return nil, err
	}
	if at.place != inPack || at.codec != plain || src.pack == nil {
		return nil, errors.Join(ErrNotKept, src.close())
	}
	return &Kept{io.NewSectionReader(src.pack, at.off, at.stored), at.size, src}, nil
}

// After returns the content after the i-th operation of an entry, if that is a Replace or
// creates a file. It returns ErrNotKept if the content was too large to be stored. The
// file itself may still have it; compare its version.
func (j *Journal) After(e Entry, i int) ([]byte, error) {
	if i < 0 || i >= len(e.Ops) {
		return nil, ErrNotFound
	}
	op := e.Ops[i]
	if op.Kind == Remove {
		return nil, nil
	}
	if at := op.madeAt(); at.place == inGit {
		src, err := j.source(e)
		if err != nil {
			return nil, err
		}
		defer src.close()
		return src.read(at, op.New, j.opts.MaxBytes)
	}
	if !op.hasDiff {
		return j.restoredBy(e, op.New)
	}
	old, err := j.Before(e, i)
	if err != nil {
		return nil, err
	}
	body, err := j.diff(e, i)
	if err != nil {
		return nil, err
	}
	data, err := decodeDiff(body, old)
	if err != nil || !op.New.IsZero() && version.Of(data) != op.New {
		return nil, fmt.Errorf("%w: the new content of %s", ErrDamaged, fault.Printable(op.Path.String()))
	}
	return data, nil
}

// restoredBy returns a content that the undo e restored. It is found in the undone
// entries.
func (j *Journal) restoredBy(e Entry, v rootfs.Version) ([]byte, error) {
	undone := append([]ID{e.Undoes, e.PartOf}, e.Reverts...)
	oldest := e.ID
	for _, id := range undone {
		if id != "" {
			oldest = min(oldest, id)
		}
	}
	if oldest == e.ID || v.IsZero() {
		return nil, ErrNotKept
	}
	var in Entry
	at := -1
	err := j.each(func(x Entry) bool {
		if slices.Contains(undone, x.ID) {
			if i := slices.IndexFunc(x.Ops, func(op Op) bool { return op.before() == v }); i >= 0 {
				in, at = x, i
			}
		}
		return at < 0 && x.ID > oldest
	})
	if err == nil && at < 0 {
		err = ErrNotKept
	}
	if err != nil {
		return nil, err
	}
	return j.Before(in, at)
}

// before returns the version of the file before an operation.
func (op *Op) before() rootfs.Version {
	if op.Kind == Remove && len(op.Nodes) == 1 {
		return op.Nodes[0].Version
	}
	return op.Old
}

func (j *Journal) diff(e Entry, i int) ([]byte, error) {
	j = j.of(e)
	j.mu.Lock()
	var x extent
	ok := false
	s, err := j.segmentOf(e)
	if err == nil {
		x, ok = s.diffs[diffKey{e.ID, i}]
	}
	j.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%w: the new content of %s", ErrDamaged, e.ID)
	}
	return j.body(e, x, recDiff)
}

// body reads the body of a record in the segment of e.
func (j *Journal) body(e Entry, x extent, want recType) ([]byte, error) {
	j = j.of(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	s, err := j.segmentOf(e)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, max(0, min(s.end-x.at, headLen+min(x.size, maxRecord))))
	if _, err := s.log.ReadAt(buf, x.at); err != nil {
		return nil, err
	}
	r, ok := (&frames{m: s.m, base: x.at, data: buf}).next()
	if !ok || r.body == nil || r.typ != want || r.at != x.at {
		return nil, fmt.Errorf("%w: a content of %s", ErrDamaged, e.ID)
	}
	return r.body, nil
}
