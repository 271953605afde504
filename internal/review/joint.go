package review

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Part is one of several roots: its proposals, and the workspace in which decisions about
// them are carried out.
type Part struct {
	Name      string
	Store     *Store
	Workspace Workspace
}

// Joint lists the proposals of several roots together. As in joined workspaces, ids and
// paths begin with the name of their root.
type Joint struct{ parts []Part }

// Join combines the proposals of several roots.
func Join(parts ...Part) *Joint { return &Joint{parts} }

// in returns a copy of a proposal with the root's name in its ids and paths.
func (r *Part) in(p *Proposal) *Proposal {
	named := *p
	for _, id := range []*string{&named.ID, &named.Change, &named.Undo} {
		if *id != "" {
			*id = r.Name + "/" + *id
		}
	}
	named.Files = slices.Clone(p.Files)
	for i := range named.Files {
		f := &named.Files[i]
		f.Path = r.Name + "/" + f.Path
		if f.To != "" {
			f.To = r.Name + "/" + f.To
		}
	}
	return &named
}

// part returns the root named by an id, and the rest of the id.
func (j *Joint) part(id string) (*Part, string, error) {
	name, rest, _ := strings.Cut(id, "/")
	for i := range j.parts {
		if j.parts[i].Name == name {
			return &j.parts[i], rest, nil
		}
	}
	return nil, "", errUnknown
}

// each calls ask for every root and returns all proposals, newest first.
func (j *Joint) each(ask func(*Store) ([]*Proposal, error)) ([]*Proposal, error) {
	var all []*Proposal
	var problems []error
	for i := range j.parts {
		list, err := ask(j.parts[i].Store)
		for _, p := range list {
			all = append(all, j.parts[i].in(p))
		}
		problems = append(problems, err)
	}
	slices.SortStableFunc(all, func(a, b *Proposal) int { return b.Made.Compare(a.Made) })
	return all, errors.Join(problems...)
}

// List returns all proposals, as Store.List does.
func (j *Joint) List() ([]*Proposal, error) { return j.each((*Store).List) }

// Pending returns the waiting proposals.
func (j *Joint) Pending() ([]*Proposal, error) { return j.each((*Store).Pending) }

// Get returns a proposal.
func (j *Joint) Get(id string) (*Proposal, error) {
	r, rest, err := j.part(id)
	if err != nil {
		return nil, err
	}
	p, err := r.Store.Get(rest)
	if err != nil {
		return nil, err
	}
	return r.in(p), nil
}

// Stamp returns a text that differs after every change of a store.
func (j *Joint) Stamp() (string, error) {
	var all []string
	for i := range j.parts {
		stamp, err := j.parts[i].Store.Stamp()
		if err != nil {
			return "", err
		}
		all = append(all, stamp)
	}
	return strings.Join(all, "/"), nil
}

// Sweep calls Store.Sweep for every root.
func (j *Joint) Sweep() {
	for i := range j.parts {
		j.parts[i].Store.Sweep()
	}
}

// Stale returns the files that changed since a proposal was made. The Files argument is
// ignored, because each root has its own workspace.
func (j *Joint) Stale(ctx context.Context, _ Files, p *Proposal) []Drift {
	r, rest, err := j.part(p.ID)
	if err != nil {
		return nil
	}
	own, err := r.Store.Get(rest)
	if err != nil {
		return nil
	}
	list := r.Store.Stale(ctx, r.Workspace, own)
	for i := range list {
		list[i].Path = r.Name + "/" + list[i].Path
	}
	return list
}

// Whole returns a file of a proposal with all lines, as Store.Whole does.
func (j *Joint) Whole(ctx context.Context, _ Workspace, p *Proposal, file int) (*File, error) {
	r, rest, err := j.part(p.ID)
	if err != nil {
		return nil, err
	}
	own, err := r.Store.Get(rest)
	if err != nil {
		return nil, err
	}
	f, err := r.Store.Whole(ctx, r.Workspace, own, file)
	if err != nil {
		return nil, err
	}
	return &r.in(&Proposal{ID: rest, Files: []File{*f}}).Files[0], nil
}

// Seen returns the parts of a proposal that its root may show.
func (j *Joint) Seen(ctx context.Context, _ Files, p *Proposal) *Proposal {
	r, rest, err := j.part(p.ID)
	if err != nil {
		return p
	}
	own, err := r.Store.Get(rest)
	if err != nil {
		return p
	}
	return r.in(r.Store.Seen(ctx, r.Workspace, own))
}

// Decide carries out a decision in the proposal's root. The Workspace argument is
// ignored.
func (j *Joint) Decide(ctx context.Context, _ Workspace, id string, d Decision) (*Proposal, error) {
	r, rest, err := j.part(id)
	if err != nil {
		return nil, err
	}
	p, err := r.Store.Decide(ctx, r.Workspace, rest, d)
	if p != nil {
		p = r.in(p)
	}
	return p, err
}
