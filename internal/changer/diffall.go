package changer

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
)

// DiffAll shows several changes as one diff, from each file before the first change to
// the file after the last. If other programs changed a file in between, the diff includes
// their changes, and a warning says so.
func (w *Changer) DiffAll(ids []string) (*change.Change, error) {
	if w.state == nil {
		return nil, change.ErrNoState
	}
	if err := w.belongs(); err != nil {
		return nil, err
	}
	var entries []journal.Entry
	for _, id := range ids {
		e, err := w.entry(id)
		if err != nil {
			return nil, err
		}
		if e.Status == journal.Committed {
			entries = append(entries, e)
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].ID < entries[j].ID })
	s := newSpans(w)
	for _, e := range entries {
		for i := range e.Ops {
			if err := s.take(e, i, s.logged); err != nil {
				return nil, err
			}
		}
	}
	c := &change.Change{Paths: []string{}}
	showDiff(c, s.diffs(&textedit.DiffOptions{})...)
	for _, f := range s.files {
		if !f.differs() {
			continue
		}
		c.Paths = append(c.Paths, f.path.String())
		if f.mixed {
			c.Warnings = append(c.Warnings, fault.Printable(f.path.String())+" was also changed by others in between; their lines are in this diff")
		}
	}
	return c, nil
}

// spans tracks files and other entries through several changes.
type spans struct {
	w     *Changer
	files []*spanned
	other []*turned // folders, links and modes
	// Entries with the same path are in the order of the lists files and other.
	fileAt map[rootfs.Path][]*spanned
	turnAt map[rootfs.Path][]*turned
	inside map[rootfs.Path]int // the number of files in each folder, at any depth
}

func newSpans(w *Changer) *spans {
	return &spans{w: w, fileAt: map[rootfs.Path][]*spanned{}, turnAt: map[rootfs.Path][]*turned{}, inside: map[rootfs.Path]int{}}
}

// add adds a file.
func (s *spans) add(f *spanned) {
	f.order = len(s.files)
	s.files = append(s.files, f)
	s.put(f, 1)
}

// put enters a file in the maps by its path or, if by is -1, removes it from them.
func (s *spans) put(f *spanned, by int) {
	list := s.fileAt[f.path]
	if by > 0 {
		list = append(list, f)
		slices.SortFunc(list, func(a, b *spanned) int { return a.order - b.order })
	} else {
		list = slices.DeleteFunc(list, func(o *spanned) bool { return o == f })
	}
	s.fileAt[f.path] = list
	for dir := f.path; !dir.IsRoot(); {
		dir = dir.Dir()
		s.inside[dir] += by
	}
}

// spanned is one file before the first change and after the last.
type spanned struct {
	was, path    rootfs.Path // the file's names before and after
	order        int         // index in the list of files
	old, now     []byte
	had, has     bool // whether the file existed before, and exists after
	lost, mixed  bool // lost: a content was not kept; mixed: other programs also changed the file
	trashed      bool
	renamedAlone bool // so far the file was only renamed
	// binned is the file as it was before it was moved to the trash as where.
	binned *spanned
	where  string
}

// turned is a folder, symlink or mode at a path, before the first change and after the
// last.
type turned struct {
	path     rootfs.Path
	was, now []journal.Node // empty if nothing existed; the first node is the path itself
	kind     change.DiffKind
	order    int // index in the list of such entries
}

// turn applies an operation that makes or removes an entry, or changes its mode.
func (s *spans) turn(op journal.Op) {
	var was, now []journal.Node
	var kind change.DiffKind
	switch op.Kind {
	case journal.Chmod:
		kind = change.DiffMode
		was, now = []journal.Node{{Mode: op.Mode}}, []journal.Node{{Mode: op.NewMode}}
	case journal.Create:
		kind, now = change.DiffMade, op.Nodes
	case journal.Restore:
		kind, now = change.DiffRestored, op.Nodes
	case journal.Remove:
		kind, was = change.DiffDeleted, op.Nodes
	case journal.Trash:
		kind, was = change.DiffTrashed, op.Nodes
	}
	list := s.turnAt[op.Path]
	if len(list) == 0 {
		t := &turned{path: op.Path, was: was, now: now, kind: kind, order: len(s.other)}
		s.other, s.turnAt[op.Path] = append(s.other, t), []*turned{t}
		return
	}
	t := list[0]
	if op.Kind != journal.Chmod {
		t.now, t.kind = now, kind
	} else if len(t.now) > 0 {
		t.now = slices.Clone(t.now)
		t.now[0].Mode = op.NewMode
	}
}

// diffs returns the differences. A created or deleted file is shown with its content.
func (t *turned) diffs() (list []change.PathDiff) {
	name := t.path.String()
	show := func(nodes []journal.Node, kind change.DiffKind) {
		if len(nodes) == 0 || nodes[0].Type == rootfs.TypeFile || nodes[0].Type == rootfs.TypeUnknown {
			return
		}
		d := change.PathDiff{Kind: kind, Old: name, New: name, Entry: nodes[0].Type.String()}
		if nodes[0].Type == rootfs.TypeDir {
			d.Entry = "folder"
		}
		list = append(list, d)
	}
	now := make(map[string]journal.Node, len(t.now))
	for _, b := range t.now {
		now[b.Rel] = b
	}
	same := len(t.was) == len(t.now) && !slices.ContainsFunc(t.was, func(a journal.Node) bool {
		b, ok := now[a.Rel]
		return !ok || a.Type != b.Type && a.Type != rootfs.TypeUnknown && b.Type != rootfs.TypeUnknown || a.Target != b.Target || a.Rel != "" && a.Version != b.Version
	})
	if !same {
		gone, made := t.kind, t.kind
		if len(t.now) > 0 {
			gone = change.DiffDeleted // it was replaced by an entry of another type
		}
		show(t.was, gone)
		if made == change.DiffMode {
			made = change.DiffMade
		}
		show(t.now, made)
	} else if len(t.was) > 0 && t.was[0].Type != rootfs.TypeSymlink && t.was[0].Mode.Perm() != t.now[0].Mode.Perm() {
		list = append(list, change.PathDiff{Kind: change.DiffMode, Old: name, New: name, Modes: [2]fs.FileMode{t.was[0].Mode, t.now[0].Mode}})
	}
	return list
}

// differs reports whether the file's existence, name or content changed.
func (f *spanned) differs() bool {
	return f.had != f.has || f.had && (f.was != f.path || f.lost || !f.renamedAlone && !bytes.Equal(f.old, f.now))
}

func (s *spans) of(p rootfs.Path) *spanned {
	if list := s.fileAt[p]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// logged returns the contents before and after e.Ops[i], from the log.
func (s *spans) logged(_ *spanned, e journal.Entry, i int) (old, now []byte, err error) {
	switch e.Ops[i].Kind {
	case journal.Trash:
		return s.w.binned(e.Ops[i]), nil, nil
	case journal.Restore:
		return nil, nil, journal.ErrNotKept
	case journal.Create:
		now, err = s.w.state.journal.After(e, i)
		return nil, now, err
	case journal.Remove:
		old, err = s.w.state.journal.Before(e, i)
		return old, nil, err
	}
	return s.w.contents(e, i)
}

// planDiff returns the diff of a plan, with each file once. more is the number of omitted
// files. The plan must fit the files on disk.
func (w *Changer) planDiff(plan *journal.Plan, o change.Options) (diffs []change.PathDiff, more int, err error) {
	s, e := newSpans(w), journal.Entry{Change: plan.Change}
	for k := range e.Ops {
		err := s.take(e, k, func(f *spanned, _ journal.Entry, _ int) (old, now []byte, err error) {
			op := e.Ops[k]
			if op.Kind == journal.Restore {
				op.New = op.Old // in the plan, Old and New are swapped
				if now = w.binned(op); now == nil {
					err = journal.ErrNotKept
				}
				return nil, now, err
			}
			if old = f.now; !f.has && op.Kind != journal.Create {
				if old, _, _, err = w.readNow(f.was); err != nil || old == nil {
					return nil, nil, errors.Join(err, journal.ErrNotKept)
				}
			}
			if op.Kind == journal.Create || op.Kind == journal.Replace {
				now, err = plan.Brings(k, old, largeFile)
			}
			return old, now, err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	limits := diffLimits()
	if o.FullDiff {
		limits = &textedit.DiffOptions{}
	}
	if o.AllLines {
		limits = fullDiff(true)
	}
	diffs = s.diffs(limits)
	for k, lines := 0, 0; k < len(diffs) && !o.FullDiff; k++ {
		if lines >= maxDiffLines {
			return diffs[:k], len(diffs) - k, nil
		}
		lines += strings.Count(diffs[k].Hunks, "\n") + 2
	}
	return diffs, 0, nil
}

// take applies e.Ops[i]. The function contents returns the contents before and after the
// operation, given the file as it was before.
func (s *spans) take(e journal.Entry, i int, contents func(*spanned, journal.Entry, int) (old, now []byte, err error)) error {
	op := e.Ops[i]
	switch {
	case op.Kind == journal.Rename:
		return s.rename(op)
	case op.Kind == journal.Chmod:
		s.turn(op)
		return nil
	case op.Kind != journal.Replace && len(op.Nodes) > 0:
		if s.turn(op); op.Nodes[0].Type != rootfs.TypeFile {
			return nil
		}
	}
	f := s.of(op.Path)
	fresh := f == nil
	if fresh {
		f = &spanned{was: op.Path, path: op.Path, had: op.Kind != journal.Create && op.Kind != journal.Restore}
		s.add(f)
	}
	if op.Kind == journal.Restore {
		if f.binned != nil && f.where == op.Where { // the file is as before its deletion, even if the trash no longer has it
			*f = *f.binned
			return nil
		}
		if f.has, f.trashed, f.now = true, false, f.old; fresh {
			_, now, err := contents(f, e, i)
			f.now, f.lost = now, err != nil
		}
		return nil
	}
	old, now, err := contents(f, e, i)
	if op.Kind == journal.Trash {
		before := *f
		before.has = true
		before.renamedAlone = fresh || f.renamedAlone
		f.binned, f.where = &before, op.Where
		f.trashed = true
		f.lost = f.lost || old == nil
	}
	if err != nil {
		f.lost, err = true, nil
	}
	switch {
	case fresh || f.renamedAlone:
		f.old = old
	case f.has && !f.lost && !bytes.Equal(f.now, old):
		f.mixed = true
	}
	f.now, f.renamedAlone = now, false
	f.has = op.Kind == journal.Replace || op.Kind == journal.Create
	return err
}

func (s *spans) rename(op journal.Op) error {
	found := false
	var stay []*turned
	for _, t := range s.turnAt[op.Path] {
		if len(t.now) == 0 {
			stay = append(stay, t)
			continue
		}
		t.path, found = op.To, len(t.was) == 0
		s.turnAt[op.To] = append(s.turnAt[op.To], t)
		slices.SortFunc(s.turnAt[op.To], func(a, b *turned) int { return a.order - b.order })
	}
	s.turnAt[op.Path] = stay
	files := s.fileAt[op.Path]
	if s.inside[op.Path] > 0 {
		files = s.files
	}
	for _, f := range slices.Clone(files) {
		if f.path.Beneath(op.Path) && f.has {
			to, err := journal.Rebase(f.path, op.Path, op.To)
			if err != nil {
				return err
			}
			found = found || f.path == op.Path
			s.put(f, -1)
			f.path = to
			s.put(f, 1)
		}
	}
	if !found {
		s.add(&spanned{was: op.Path, path: op.To, had: true, has: true, renamedAlone: true})
	}
	return nil
}

func (s *spans) diffs(opts *textedit.DiffOptions) []change.PathDiff {
	var list []change.PathDiff
	for _, t := range s.other {
		list = append(list, t.diffs()...)
	}
	slices.SortStableFunc(s.files, func(a, b *spanned) int { return strings.Compare(a.path.String(), b.path.String()) })
	for _, f := range s.files {
		name, before, after := f.path.String(), f.path.String(), f.path.String()
		switch {
		case !f.had && !f.has:
			continue // created and deleted again
		case !f.had:
			before = ""
		case !f.has:
			before, after = f.was.String(), ""
		case f.was != f.path:
			list = append(list, change.PathDiff{Kind: change.DiffRenamed, Old: f.was.String(), New: name})
		}
		switch {
		case f.renamedAlone:
		case f.lost:
			list = append(list, change.PathDiff{Kind: change.DiffNotKept, Old: name, New: name})
		case f.had && f.has && bytes.Equal(f.old, f.now):
		default:
			d := diffOf(before, after, f.old, f.now, opts)
			if f.trashed {
				d.Kind = change.DiffTrashed
				d.New = d.Old
			}
			list = append(list, d)
		}
	}
	return list
}
