package review

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/search"
)

// Files reads the workspace's files.
type Files interface {
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Plan(ctx context.Context, set change.Set) (*change.Change, error)
}

// Changes applies accepted proposals.
type Changes interface {
	Apply(ctx context.Context, set change.Set) (*change.Change, error)
	Undo(ctx context.Context, id string, opts *change.Options) (*change.Change, error)
	Changes(ctx context.Context, limit int) (*change.Log, error)
}

// Workspace is the workspace in which decisions are carried out.
type Workspace interface {
	Files
	Changes
}

// Decision is a reviewer's decision about a proposal.
type Decision struct {
	By string // "page" or "shell"
	// Hunks has a verdict for each hunk of each file, in order. If it is nil, Rest
	// applies to all hunks.
	Hunks [][]Verdict
	// Rest applies to hunks without a verdict. If it is Undecided and such hunks exist,
	// the decision is refused.
	Rest Verdict
	// Comment is sent to the client, and so are Comments, which are about single hunks.
	Comment  string
	Comments [][]string
	// Confirm allows applying a proposal whose client has disconnected.
	Confirm bool
}

// Decide carries out a decision. The accepted parts are applied as one change, to the
// file versions that the proposal is based on, or merged with later changes.
func (s *Store) Decide(ctx context.Context, ws Workspace, id string, d Decision) (*Proposal, error) {
	var out *Proposal
	err := s.locked(func() error {
		p, version, err := s.read(id)
		if err != nil {
			return err
		}
		out = p
		if p.State == Applying {
			// The process that was applying it has ended; otherwise it would hold the
			// lock.
			if version, err = s.settle(ctx, ws, p, version); err != nil {
				return err
			}
		}
		if !p.State.Open() {
			return &DecidedError{p}
		}
		return s.decide(ctx, ws, p, version, d)
	})
	return out, err
}

func (s *Store) decide(ctx context.Context, ws Workspace, p *Proposal, version rootfs.Version, d Decision) error {
	if err := take(p, &d); err != nil {
		return err
	}
	all, yes, no := p.Counts()
	if yes+no < all {
		return errUndecided
	}
	if p.Whole() && yes > 0 && no > 0 {
		return errWhole
	}
	if yes > 0 && p.State == Abandoned && !d.Confirm {
		return errConfirm
	}
	if yes == 0 {
		p.State, p.Decided, p.Problem = Refused, s.now(), ""
		return s.write(p, version)
	}
	if stale := s.fit(ctx, ws, p); len(stale) > 0 {
		return &StaleError{p.ID, stale}
	}
	// From here on, the decision is recorded even if applying it fails.
	log, err := ws.Changes(ctx, 1)
	if err != nil {
		return err
	}
	if p.Last = ""; len(log.Changes) > 0 {
		p.Last = log.Changes[0].ID
	}
	p.Was, p.State, p.Decided = p.State, Applying, s.now()
	if err := s.write(p, version); err != nil {
		return err
	}
	if version, err = s.versionOf(p); err != nil {
		return err
	}
	c, err := apply(ctx, ws, p)
	if err != nil {
		// Nothing was changed, so the proposal waits for another decision.
		p.State, p.Problem, p.Decided = p.Was, err.Error(), p.Made
		clearVerdicts(p)
		return errors.Join(err, s.write(p, version))
	}
	p.State, p.Change, p.Broken, p.Problem = Accepted, c.ID, c.Broken, ""
	if yes < all {
		p.State = Partly
	}
	return s.write(p, version)
}

func clearVerdicts(p *Proposal) {
	for i := range p.Files {
		p.Files[i].Placed, p.Files[i].At = "", nil
		for j := range p.Files[i].Hunks {
			p.Files[i].Hunks[j].Verdict = Undecided
		}
	}
}

func (s *Store) versionOf(p *Proposal) (rootfs.Version, error) {
	_, version, err := s.content(p.ID)
	return version, err
}

// take stores the decision's verdicts in the proposal.
func take(p *Proposal, d *Decision) error {
	p.By, p.Comment = d.By, d.Comment
	if len(d.Hunks) > len(p.Files) {
		return fault.New(fault.InvalidArgument, "more files are decided than the proposal has", "")
	}
	for i := range p.Files {
		f := &p.Files[i]
		if i < len(d.Hunks) && len(d.Hunks[i]) > len(f.Hunks) {
			return fault.New(fault.InvalidArgument, "more hunks are decided than the file has", "")
		}
		for j := range f.Hunks {
			v := d.Rest
			if i < len(d.Hunks) && j < len(d.Hunks[i]) && d.Hunks[i][j] != Undecided {
				v = d.Hunks[i][j]
			}
			if v != Undecided && v != Yes && v != No {
				return fault.New(fault.InvalidArgument, "a verdict is accept or refuse", "")
			}
			f.Hunks[j].Verdict = v
			if i < len(d.Comments) && j < len(d.Comments[i]) {
				f.Hunks[j].Comment = d.Comments[i][j]
			}
		}
	}
	return nil
}

// apply applies the accepted parts of a proposal.
func apply(ctx context.Context, ws Changes, p *Proposal) (*change.Change, error) {
	if p.undoes() {
		return ws.Undo(ctx, p.Undo, p.undo())
	}
	return ws.Apply(ctx, p.accepted())
}

// accepted returns the accepted operations, bound to file versions. If everything was
// accepted and no file has changed since, this is the planned set.
func (p *Proposal) accepted() change.Set {
	all, yes, _ := p.Counts()
	set := p.Set
	set.Client, set.Tool, set.Proposal, set.Ops = p.Client, p.Tool, p.ID, slices.Clone(p.Set.Ops)
	for _, f := range p.Files {
		bind(set.Ops, f)
	}
	if all == yes && !p.placed() {
		set.Digest = p.Digest
		return set
	}
	ops := set.Ops
	if set.Ops, set.Digest = nil, ""; yes < all {
		set.Summary = p.partSummary()
	}
	for i := range p.Files {
		f := &p.Files[i]
		accepted := f.accepted()
		switch {
		case accepted == 0:
		case f.Placed != "":
			set.Ops = append(set.Ops, change.Op{Verb: change.WriteFile, Path: f.Path, Content: f.text, Version: f.on})
		case accepted < len(f.Hunks): // only text files have several hunks
			set.Ops = append(set.Ops, change.Op{Verb: change.WriteFile, Path: f.Path, Content: merge(f.Old, f.Hunks), Version: f.Before})
		default:
			for _, k := range f.Ops {
				set.Ops = append(set.Ops, ops[k])
			}
		}
	}
	return set
}

func bind(ops []change.Op, f File) {
	for _, k := range f.Ops {
		op := &ops[k]
		if op.Version == "" && isVersion(f.Before) && op.Verb != change.CreateFile && op.Verb != change.MakeFolder {
			op.Version = f.Before
		}
	}
}

// settle determines whether a proposal was applied if the process was killed while
// applying it. The journal has rolled back or completed the change, and knows which.
func (s *Store) settle(ctx context.Context, ws Workspace, p *Proposal, version rootfs.Version) (rootfs.Version, error) {
	id, err := p.entry(ctx, ws)
	if err != nil {
		return version, err
	}
	all, yes, _ := p.Counts()
	switch {
	case id == "":
		p.State, p.Problem = p.Was, "the process that applied it ended; nothing was changed"
		p.State = cmp.Or(p.State, Waiting)
		clearVerdicts(p)
	case yes < all:
		p.State, p.Change = Partly, id
	default:
		p.State, p.Change = Accepted, id
	}
	if err := s.write(p, version); err != nil {
		return version, err
	}
	return s.versionOf(p)
}

// entry returns the id of the change made from a proposal, or "" if there is none. The
// journal records the proposal's id. Because ids start again in an emptied store, the
// change must also be newer than the newest one before applying.
func (p *Proposal) entry(ctx context.Context, ws Changes) (string, error) {
	log, err := ws.Changes(ctx, 0)
	if err != nil {
		return "", err
	}
	for _, c := range log.Changes {
		if c.ID == p.Last {
			break
		}
		if c.Proposal == p.ID && !c.Pending {
			return c.ID, nil
		}
	}
	return "", nil
}

// Settle settles all proposals whose process was killed while applying them.
func (s *Store) Settle(ctx context.Context, ws Workspace) error {
	list, err := s.Pending()
	if err != nil && list == nil {
		return err
	}
	for _, p := range list {
		if p.State != Applying {
			continue
		}
		if err := s.locked(func() error {
			p, version, err := s.read(p.ID)
			if err != nil || p.State != Applying {
				return err
			}
			_, err = s.settle(ctx, ws, p, version)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
