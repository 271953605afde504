package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/changer"
	"quarry/search"
)

// changed converts a change of part p to a change with joint paths and ids.
func (s *joint) changed(p *Part, c *change.Change, err error) (*change.Change, error) {
	if err != nil {
		return nil, p.located(err)
	}
	if c = c.Under(p.Name); c.Digest != "" {
		c.Digest = p.Name + "/" + c.Digest
	}
	return c, nil
}

// apply calls do for the part that contains all paths of a set, which locate finds. The
// digest of a plan begins with the part's name.
func (s *joint) apply(set change.Set, locate func(path string) (*Part, string, error), do func(Backend, change.Set) (*change.Change, error)) (*change.Change, error) {
	var in *Part
	first := set.Digest
	if set.Digest != "" {
		var err error
		if in, set.Digest, err = s.cut(set.Digest); err != nil {
			return nil, err
		}
	}
	move := func(path *string) error {
		p, rest, err := locate(*path)
		switch {
		case err != nil:
			return err
		case in == nil:
			in, first = p, *path
		case in != p:
			return &change.AcrossError{From: first, To: *path}
		}
		*path = rest
		return nil
	}
	moveAll := func(set *change.Set) error {
		set.Ops = slices.Clone(set.Ops)
		for i := range set.Ops {
			op := &set.Ops[i]
			err := move(&op.Path)
			if err == nil && op.Verb == change.MovePath {
				err = move(&op.To)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := moveAll(&set); err != nil {
		return nil, err
	}
	if again := set.Again; again != nil {
		set.Again = func(ctx context.Context) (change.Set, error) {
			next, err := again(ctx)
			if err == nil {
				err = moveAll(&next)
			}
			return next, err
		}
	}
	if in == nil {
		return nil, changer.ErrNoEdits
	}
	c, err := do(in.Backend, set)
	return s.changed(in, c, err)
}

// cut splits an id or a digest into the part and the id within it.
func (s *joint) cut(id string) (*Part, string, error) {
	i := strings.LastIndex(id, "/")
	if i == len(id)-1 {
		return nil, "", fmt.Errorf("%w: %q", change.ErrBadID, id)
	}
	for _, p := range s.parts {
		if i >= 0 && strings.EqualFold(p.Name, id[:i]) {
			return p, id[i+1:], nil
		}
	}
	return nil, "", &fault.RootError{Path: id, Names: s.names()}
}

// Log merges the journals, newest changes first.
func (s *joint) Log(limit int) (*change.Log, error) {
	out := &change.Log{Changes: []change.Change{}}
	for _, p := range s.parts {
		log, err := p.Log(limit)
		if err != nil {
			return nil, p.located(err)
		}
		for k := range log.Changes {
			out.Changes = append(out.Changes, *log.Changes[k].Under(p.Name))
		}
		out.Dropped += log.Dropped
		out.Damaged += log.Damaged
		out.Lost += log.Lost
		out.Unrecorded = cmp.Or(out.Unrecorded, log.Unrecorded)
		if log.DroppedTo.After(out.DroppedTo) {
			out.DroppedTo = log.DroppedTo
		}
	}
	sort.SliceStable(out.Changes, func(i, k int) bool { return out.Changes[i].Time.After(out.Changes[k].Time) })
	if limit > 0 && len(out.Changes) > limit {
		out.Changes = out.Changes[:limit]
	}
	return out, nil
}

// Undo undoes a change. "" means the latest change of all parts not yet undone.
func (s *joint) Undo(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	if o.To != nil {
		p, after, err := s.find(o.To.After)
		if o.To.After == "" || err != nil {
			return nil, cmp.Or(err, errPointOfAll)
		}
		to := *o.To
		to.After, o.To = after, &to
		c, err := p.Undo(ctx, "", o)
		return s.changed(p, c, err)
	}
	p, id, err := s.find(id)
	if err != nil {
		return nil, err
	}
	o.Parts = slices.Clone(o.Parts)
	for i := range o.Parts {
		o.Parts[i].Path = strings.TrimPrefix(o.Parts[i].Path, p.Name+"/")
	}
	c, err := p.Undo(ctx, id, o)
	return s.changed(p, c, err)
}

var errPointOfAll = fault.New(fault.InvalidArgument, "each folder has its own points", "name a change of the folder to restore")

// Purge removes records of one part, or of all.
func (s *joint) Purge(ctx context.Context, path string) error {
	for _, p := range s.parts {
		rest, ok := strings.CutPrefix(path, p.Name+"/")
		if path == "" || path == p.Name {
			rest, ok = "", true
		}
		if ok {
			if err := p.Purge(ctx, rest); err != nil {
				return p.located(err)
			}
		}
	}
	return nil
}

// Point names the current state of each part.
func (s *joint) Point(name string) error {
	for _, p := range s.parts {
		if err := p.Point(name); err != nil {
			return p.located(err)
		}
	}
	return nil
}

// Diff shows a change.
func (s *joint) Diff(id string, o *change.Options) (*change.Change, error) {
	p, id, err := s.find(id)
	if err != nil {
		return nil, err
	}
	c, err := p.Diff(id, o)
	return s.changed(p, c, err)
}

// DiffAll shows several changes as one, grouped by part.
func (s *joint) DiffAll(ids []string) (*change.Change, error) {
	in := map[*Part][]string{}
	for _, id := range ids {
		p, rest, err := s.find(id)
		if err != nil {
			return nil, err
		}
		in[p] = append(in[p], rest)
	}
	out := &change.Change{Paths: []string{}}
	for i := range s.parts {
		p := s.parts[i]
		if in[p] == nil {
			continue
		}
		c, err := p.DiffAll(in[p])
		if c, err = s.changed(p, c, err); err != nil {
			return nil, err
		}
		out.Paths, out.Diffs, out.Warnings = append(out.Paths, c.Paths...), append(out.Diffs, c.Diffs...), append(out.Warnings, c.Warnings...)
	}
	out.Diff = change.JoinDiffs(out.Diffs)
	return out, nil
}

// Authors calls Authors of the part that contains a path.
func (s *joint) Authors(ctx context.Context, path string) (*change.Authors, error) {
	for i := range s.parts {
		p := s.parts[i]
		rest, ok := strings.CutPrefix(path, p.Name+"/")
		if !ok {
			continue
		}
		a, err := p.Authors(ctx, rest)
		if err != nil {
			return nil, p.located(err)
		}
		out := &change.Authors{Path: p.Name + "/" + a.Path, Version: a.Version, Lines: slices.Clone(a.Lines)}
		for k, id := range out.Lines {
			if id != "" {
				out.Lines[k] = p.Name + "/" + id
			}
		}
		for k := range a.Changes {
			out.Changes = append(out.Changes, *a.Changes[k].Under(p.Name))
		}
		return out, nil
	}
	return nil, s.unknown(path, "")
}

// find returns the part that made a change, and the change's id within it. The part's name
// may be omitted if only one part has the id.
func (s *joint) find(id string) (*Part, string, error) {
	if id == "" {
		return s.latest()
	}
	if strings.Contains(id, "/") {
		return s.cut(id)
	}
	var have []*Part
	var failed error
	for _, p := range s.parts {
		_, err := p.Diff(id, nil)
		switch {
		case err == nil:
			have = append(have, p)
		case failed == nil || fault.CodeOf(err) != fault.NotFound:
			failed = err
		}
	}
	switch len(have) {
	case 0:
		return nil, "", failed
	case 1:
		return have[0], id, nil
	}
	e := &change.SameIDError{}
	for _, p := range have {
		e.IDs = append(e.IDs, p.Name+"/"+id)
	}
	return nil, "", e
}

// latest finds the latest change not yet undone.
func (s *joint) latest() (*Part, string, error) {
	for _, limit := range []int{100, 0} { // it is nearly always among the latest 100
		log, err := s.Log(limit)
		if err != nil {
			return nil, "", err
		}
		for i := range log.Changes {
			c := &log.Changes[i]
			if c.Undoes == "" && c.PartOf == "" && c.UndoneBy == "" && (!c.Pending || c.Partly != nil) {
				return s.find(c.ID)
			}
		}
	}
	// There is no such change; Undo of the first part returns the error.
	return s.parts[0], "", nil
}

func (s *joint) names() []string {
	var names []string
	for _, p := range s.parts {
		names = append(names, p.Name)
	}
	return names
}

// Trashed lists the items in the trashes of all parts.
func (s *joint) Trashed() (items []change.Trashed, problems []string, err error) {
	for _, p := range s.parts {
		list, more, err := p.Trashed()
		if err != nil {
			return nil, nil, p.located(err)
		}
		for _, it := range list {
			if it.Path != "" {
				it.Path = p.join(it.Path)
			}
			it.ID = p.Name + "/" + it.ID
			items = append(items, it)
		}
		problems = append(problems, more...)
	}
	return items, problems, nil
}

// Restore restores an item of a trash, by its id from Trashed or by its path.
func (s *joint) Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error) {
	items, _, err := s.Trashed()
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		for _, p := range s.parts {
			id, mine := strings.CutPrefix(it.ID, p.Name+"/")
			if !mine || it.ID != what && it.Path != strings.Trim(strings.TrimPrefix(what, "./"), "/") {
				continue
			}
			if to != "" {
				rest, below := strings.CutPrefix(to, p.Name+"/")
				if !below {
					return nil, &change.AcrossError{From: what, To: to}
				}
				to = rest
			}
			c, err := p.Restore(ctx, id, to, o)
			return s.changed(p, c, err)
		}
	}
	return nil, change.ErrNotTrashed
}

// EmptyTrash empties the trashes of all parts.
func (s *joint) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	total := 0
	var errs []error
	for _, p := range s.parts {
		n, err := p.EmptyTrash(ctx, before)
		total += n
		errs = append(errs, p.located(err))
	}
	return total, errors.Join(errs...)
}

// Clean cleans all parts.
func (s *joint) Clean(ctx context.Context) (*change.Cleaned, error) {
	out := &change.Cleaned{}
	var errs []error
	for _, p := range s.parts {
		c, err := p.Clean(ctx)
		errs = append(errs, p.located(err))
		if c != nil {
			out.Removed += c.Removed
			out.Restored = append(out.Restored, p.joinAll(c.Restored)...)
			out.Kept = append(out.Kept, p.joinAll(c.Kept)...)
		}
	}
	return out, errors.Join(errs...)
}

// join converts a path in the part to a joint path.
func (p *Part) join(path string) string {
	if path == "" || path == "." {
		return p.Name
	}
	return p.Name + "/" + path
}

// joinSkips converts the paths that a search of the part skipped.
func (p *Part) joinSkips(sum *search.Summary) {
	for i := range sum.Skipped {
		sum.Skipped[i].Path = p.join(sum.Skipped[i].Path)
	}
	sum.Secrets = p.joinAll(sum.Secrets)
}

func (p *Part) joinAll(paths []string) []string {
	if len(paths) == 0 {
		return paths
	}
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = p.join(path)
	}
	return out
}
