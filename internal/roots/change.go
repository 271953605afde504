package roots

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"quarry/change"

	"quarry"
)

// changed is a change as the set tells of it.
func (r *Root) changed(c *quarry.Change, err error) (*quarry.Change, error) {
	if err != nil {
		return nil, r.located(err)
	}
	return c.Under(r.Name, "/"), nil
}

// Apply makes a set of operations, all of them in one root: two roots have two
// journals, and no undo could undo both as one.
func (s *Set) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	r, set, err := s.inside(ctx, set)
	if err != nil {
		return nil, err
	}
	return r.changed(r.Workspace.Apply(ctx, set))
}

// Plan works out what Apply would do.
func (s *Set) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	r, set, err := s.inside(ctx, set)
	if err != nil {
		return nil, err
	}
	c, err := r.changed(r.Workspace.Plan(ctx, set))
	if c != nil && s.several() {
		c.Digest = r.join(c.Digest)
	}
	return c, err
}

// inside finds the root of a set of changes, and the set as that root sees it.
func (s *Set) inside(ctx context.Context, set change.Set) (*Root, change.Set, error) {
	in := &s.roots[0]
	if s.several() && set.Digest != "" {
		name, rest, _ := strings.Cut(set.Digest, "/")
		if in = s.called(name); in == nil {
			return nil, set, &NameError{Path: set.Digest, Names: s.Names()}
		}
		set.Digest = rest
	}
	set.Ops = slices.Clone(set.Ops)
	first := ""
	rest := func(p *string) error {
		r, rest, err := s.inRoot(*p)
		switch {
		case err != nil:
			return err
		case first == "":
			first, in = *p, r
		case r != in:
			return &BetweenError{first, *p}
		}
		*p = rest
		return nil
	}
	for i := range set.Ops {
		op := &set.Ops[i]
		err := rest(&op.Path)
		if err == nil && op.Verb == change.MovePath {
			err = rest(&op.To)
		}
		if err != nil {
			return nil, set, err
		}
	}
	return in, set, nil
}

// Named is the error of a path that names no root.
func (s *Set) Named(p string) error {
	_, _, err := s.inRoot(p)
	return err
}

// Edit changes parts of a file.
func (s *Set) Edit(ctx context.Context, p string, edits []quarry.Edit, opts *quarry.ChangeOptions) (*quarry.Change, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	return r.changed(r.Workspace.Edit(ctx, rest, edits, opts))
}

// Write makes a file or overwrites one.
func (s *Set) Write(ctx context.Context, p string, content []byte, opts *quarry.ChangeOptions) (*quarry.Change, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	return r.changed(r.Workspace.Write(ctx, rest, content, opts))
}

// Mkdir makes a folder.
func (s *Set) Mkdir(ctx context.Context, p string, opts *quarry.ChangeOptions) (*quarry.Change, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	return r.changed(r.Workspace.Mkdir(ctx, rest, opts))
}

// Delete deletes a file or folder.
func (s *Set) Delete(ctx context.Context, p string, opts *quarry.DeleteOptions) (*quarry.Change, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	return r.changed(r.Workspace.Delete(ctx, rest, opts))
}

// BetweenError refuses to move something from one root to another: it would be
// two changes in two journals, and no undo could take back both as one.
type BetweenError struct{ From, To string }

func (e *BetweenError) Error() string {
	return fmt.Sprintf("%s and %s are in different roots; a move stays in one", e.From, e.To)
}

// Move moves or renames within one root.
func (s *Set) Move(ctx context.Context, from, to string, opts *quarry.MoveOptions) (*quarry.Change, error) {
	r, source, err := s.inRoot(from)
	if err != nil {
		return nil, err
	}
	other, destination, err := s.inRoot(to)
	if err != nil {
		return nil, err
	}
	if r != other {
		return nil, &BetweenError{from, to}
	}
	return r.changed(r.Workspace.Move(ctx, source, destination, opts))
}

// Changes lists the newest changes of all roots, newest first; a limit of 0 is
// all.
func (s *Set) Changes(ctx context.Context, limit int) (*quarry.ChangeLog, error) {
	out := &quarry.ChangeLog{Changes: []quarry.Change{}}
	for i := range s.roots {
		r := &s.roots[i]
		log, err := r.Workspace.Changes(ctx, limit)
		if err != nil {
			return nil, r.located(err)
		}
		if len(s.roots) == 1 {
			return log, nil
		}
		for j := range log.Changes {
			out.Changes = append(out.Changes, *log.Changes[j].Under(r.Name, "/"))
		}
		out.Dropped += log.Dropped
		out.Damaged += log.Damaged
		if log.DroppedTo.After(out.DroppedTo) {
			out.DroppedTo = log.DroppedTo
		}
	}
	sort.SliceStable(out.Changes, func(i, j int) bool { return out.Changes[i].Time.After(out.Changes[j].Time) })
	if limit > 0 && len(out.Changes) > limit {
		out.Changes = out.Changes[:limit]
	}
	return out, nil
}

// Undo takes back a change: name/id, or the last one of all roots when id is
// "". An id alone will do where only one root has it.
func (s *Set) Undo(ctx context.Context, id string, opts *quarry.ChangeOptions) (*quarry.Change, error) {
	r := &s.roots[0]
	if s.several() {
		var err error
		if r, id, err = s.change(ctx, id); err != nil {
			return nil, err
		}
	}
	return r.changed(r.Workspace.Undo(ctx, id, opts))
}

// SeveralError is an id that changes of several roots have.
type SeveralError struct{ IDs []string }

func (e *SeveralError) Error() string {
	return "several roots have a change of this id: " + strings.Join(e.IDs, ", ")
}

// change finds the root of a change and its id there.
func (s *Set) change(ctx context.Context, id string) (*Root, string, error) {
	if id == "" {
		return s.latest(ctx)
	}
	if name, rest, found := strings.Cut(id, "/"); found {
		r := s.called(name)
		if r == nil {
			return nil, "", &NameError{Path: id, Names: s.Names()}
		}
		return r, rest, nil
	}
	var have []*Root
	var failed error
	for i := range s.roots {
		_, err := s.roots[i].Diff(ctx, id)
		switch {
		case err == nil:
			have = append(have, &s.roots[i])
		case failed == nil || quarry.CodeOf(err) != quarry.NotFound:
			failed = err
		}
	}
	switch len(have) {
	case 0:
		return nil, "", failed
	case 1:
		return have[0], id, nil
	}
	e := &SeveralError{}
	for _, r := range have {
		e.IDs = append(e.IDs, r.join(id))
	}
	return nil, "", e
}

// latest finds the last change that no undo has taken back.
func (s *Set) latest(ctx context.Context) (*Root, string, error) {
	for _, limit := range []int{100, 0} { // nearly always among the last
		log, err := s.Changes(ctx, limit)
		if err != nil {
			return nil, "", err
		}
		for i := range log.Changes {
			c := &log.Changes[i]
			if c.Undoes == "" && c.UndoneBy == "" && !c.Pending {
				name, id, _ := strings.Cut(c.ID, "/")
				return s.called(name), id, nil
			}
		}
	}
	// No root has one: any of them says so in its own words.
	return &s.roots[0], "", nil
}
