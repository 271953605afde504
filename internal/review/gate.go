package review

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/backend"
)

// DefaultWait is how long a call waits for the decision. Most clients time out after 60
// seconds.
const DefaultWait = 45 * time.Second

const (
	pollEvery     = 100 * time.Millisecond // interval at which a waiting call checks for the decision
	progressEvery = 10 * time.Second
)

// Gate is a backend that turns changes into proposals. Reads are passed to the wrapped
// backend. That one is not embedded, so Gate only compiles as a backend if it has its own
// method for each way to change a file.
type Gate struct {
	backend.Reader
	backend.History
	inner backend.Backend

	Store *Store
	// Wait is how long a change waits for its decision. 0 means DefaultWait; with a
	// negative value it doesn't wait.
	Wait time.Duration
	// Stays is set if the process continues after a wait, as a server does. Its undecided
	// proposals are then abandoned when it ends. Otherwise a proposal is abandoned only
	// if the process ends during the wait.
	Stays bool
	// Clients has the names of clients whose changes are held back; an empty list means
	// all. Since clients choose their own names, case is ignored, and a client without a
	// name is held back too.
	Clients []string
	// Rules returns the owner's rules as text; nil means none. If OnlyRules is set, a
	// change that matches no rule is made at once.
	Rules     func() ([]string, error)
	OnlyRules bool
	// Progress, if set, is called while a call waits.
	Progress func(ctx context.Context, id string, waited time.Duration)
	// Offer, if set, is called when a change waits and a page shows it, with the
	// proposal's address on that page. done is called when the wait ends.
	Offer func(ctx context.Context, id, address string) (done func())
	// OnEnd, if set, calls f once the connection of the call has ended.
	OnEnd func(ctx context.Context, f func())
}

var _ backend.Backend = (*Gate)(nil)

// Guard sets the backend that the gate wraps.
func (g *Gate) Guard(b backend.Backend) *Gate {
	g.Reader, g.History, g.inner = b, b, b
	return g
}

// holdsBack reports whether changes of a client wait for a decision.
func (g *Gate) holdsBack(c change.Client) bool {
	return len(g.Clients) == 0 || c.Name == "" || slices.ContainsFunc(g.Clients, func(name string) bool { return strings.EqualFold(name, c.Name) })
}

// Close closes the store and the backend.
func (g *Gate) Close() error { return errors.Join(g.Store.Close(), g.inner.Close()) }

var errHeld = fault.New(fault.ReadOnly, "the trash is not changed while changes are reviewed", "ask the user")

// Restore is refused, because a proposal can't represent it. With OnlyRules it is allowed
// if the rules accept all restored files.
func (g *Gate) Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error) {
	if o.DryRun {
		return g.inner.Restore(ctx, what, to, o)
	}
	rules, otherwise := g.rules(o.Client)
	if otherwise != Accept {
		return nil, errHeld
	}
	if len(rules.list) > 0 {
		dry := o
		dry.DryRun = true
		plan, err := g.inner.Restore(ctx, what, to, dry)
		if err != nil {
			return nil, err
		}
		if r := g.ruling(ctx, rules, otherwise, &change.Set{}, plan, o.Client); r.Action != Accept {
			return nil, &RuledOutError{r.Rule, r.Path}
		}
	}
	return g.inner.Restore(ctx, what, to, o)
}

// EmptyTrash is refused unless OnlyRules is set.
func (g *Gate) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	if g.OnlyRules {
		return g.inner.EmptyTrash(ctx, before)
	}
	return 0, errHeld
}

// Clean removes temporary files of interrupted changes. It affects no user files, so it
// needs no decision.
func (g *Gate) Clean(ctx context.Context) (*change.Cleaned, error) { return g.inner.Clean(ctx) }

// Log lists the waiting proposals, followed by the changes made.
func (g *Gate) Log(limit int) (*change.Log, error) {
	log, err := g.inner.Log(limit)
	if err != nil {
		return nil, err
	}
	if lines, err := g.ruleLines(); g.OnlyRules && err == nil && len(lines) == 0 {
		return log, nil
	}
	list, _ := g.Store.Pending() // unreadable proposals are skipped
	var waiting []change.Change
	for _, p := range list {
		seen := g.Store.Seen(context.Background(), g, p)
		c := change.Change{ID: p.ID, Time: p.Made, Tool: p.Tool, Client: p.Client, Summary: "proposed, waits for a decision: " + seen.Summary, Pending: true}
		if seen == p {
			c.Paths = p.Paths()
		}
		waiting = append(waiting, c)
	}
	log.Changes = append(waiting, log.Changes...)
	if limit > 0 && len(log.Changes) > limit {
		log.Changes = log.Changes[:limit]
	}
	return log, nil
}

// maxJudged limits how often the rules are applied to a set again because files changed
// meanwhile.
const maxJudged = 4

// Apply applies a set if the rules accept it. Otherwise it proposes the set and waits for
// the decision.
func (g *Gate) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	rules, otherwise := g.rules(set.Client)
	if otherwise == Accept && len(rules.list) == 0 {
		return g.inner.Apply(ctx, set)
	}
	set.Rule = "" // clients can't set it
	for try := 1; ; try++ {
		if try > 1 && set.Again != nil {
			again, err := set.Again(ctx)
			if err != nil {
				return nil, err
			}
			set.Ops, set.Summary = again.Ops, again.Summary
		}
		full := set
		full.FullDiff, full.Again = true, nil
		plan, err := g.Plan(ctx, full)
		if fault.CodeOf(err) == fault.Conflict && set.Again != nil && try < maxJudged {
			continue
		}
		if err != nil {
			return nil, err
		}
		if plan.Unchanged {
			plan.DryRun, plan.Digest = false, ""
			return plan, nil
		}
		switch r := g.ruling(ctx, rules, otherwise, &set, plan, set.Client); r.Action {
		case Refuse:
			return nil, &RuledOutError{r.Rule, r.Path}
		case Accept:
			// Apply exactly the plan that was judged: a symlink may have a new target by
			// now.
			bound := set
			bound.Rule, bound.Digest = r.Rule, firstText(plan.Digest, set.Digest)
			c, err := g.inner.Apply(ctx, bound)
			if fault.CodeOf(err) == fault.Conflict && try < maxJudged {
				continue
			}
			return c, err
		default:
			p := &Proposal{Client: set.Client, Tool: plan.Tool, Summary: plan.Summary, Set: set, Digest: firstText(plan.Digest, set.Digest), Files: g.files(ctx, &set, plan), Rule: r.Rule}
			return g.propose(ctx, p, plan)
		}
	}
}

// Undo proposes the undo of a change, or of all changes since a point. If id is a
// proposal's, it withdraws that.
func (g *Gate) Undo(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	if IsID(id) && o.To == nil {
		return g.withdraw(id, o)
	}
	rules, otherwise := g.rules(o.Client)
	if otherwise == Accept && len(rules.list) == 0 {
		return g.inner.Undo(ctx, id, o)
	}
	if o.To == nil {
		o.SkipConflicts = false
	} else if !o.DryRun { // later changes are not part of the proposal
		log, err := g.inner.Log(1)
		if err != nil {
			return nil, err
		}
		to := *o.To
		for _, c := range log.Changes {
			to.Upto = c.ID
		}
		o.To = &to
	}
	dry := o
	dry.DryRun, dry.Rule = true, ""
	dry.FullDiff = dry.FullDiff || !o.DryRun
	plan, err := g.inner.Undo(ctx, id, dry)
	if err != nil || o.DryRun {
		return plan, err
	}
	if plan.Unchanged {
		plan.DryRun = false
		return plan, nil
	}
	r := g.ruling(ctx, rules, otherwise, &change.Set{}, plan, o.Client)
	switch r.Action {
	case Refuse:
		return nil, &RuledOutError{r.Rule, r.Path}
	case Accept:
		o.Rule = r.Rule
		return g.inner.Undo(ctx, firstText(plan.Undoes, plan.PartOf, id), o)
	}
	return g.propose(ctx, &Proposal{
		Client: o.Client, Tool: plan.Tool, Summary: plan.Summary, Undo: firstText(plan.Undoes, plan.PartOf, id), Parts: o.Parts, Back: o.To, Skip: o.SkipConflicts, Files: g.files(ctx, &change.Set{}, plan), Rule: r.Rule,
	}, plan)
}

func (g *Gate) withdraw(id string, o change.Options) (*change.Change, error) {
	if o.DryRun {
		return nil, fault.New(fault.InvalidArgument, "a proposal changes nothing yet, so there is nothing to try", "")
	}
	p, err := g.Store.Withdraw(id, o.Client)
	if err != nil {
		return nil, err
	}
	did := change.Action{Verb: change.Noted, Text: "withdrew the proposal " + p.ID}
	return &change.Change{Tool: firstText(o.Tool, "undo"), Client: o.Client, Paths: p.Paths(), Did: did, Summary: did.String(), Unchanged: true}, nil
}

// keyOf returns a key that is equal for equal requests of one client.
func keyOf(p *Proposal) (string, error) {
	set := p.Set
	set.Client, set.Digest = change.Client{}, ""
	data, err := json.Marshal([]any{p.Client.Name, set, p.Undo, p.Parts, p.Back, p.Skip})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}

// propose stores a proposal, or finds an equal one, and waits for the decision.
func (g *Gate) propose(ctx context.Context, p *Proposal, plan *change.Change) (*change.Change, error) {
	var err error
	if p.Key, err = keyOf(p); err != nil {
		return nil, err
	}
	wait := cmp.Or(g.Wait, DefaultWait)
	until := g.Store.now().Add(max(wait, 0))
	if err := g.Store.renew(); err != nil {
		return nil, err
	}
	if wait > 0 || g.Stays {
		p.Waits = g.Store.hold()
	}
	id, err := g.Store.enter(p, until)
	if err != nil {
		return nil, err
	}
	decided, err := g.await(ctx, id, wait, until)
	if _, waits := errors.AsType[*PendingError](err); waits && g.OnEnd != nil {
		// If this fails, the client counts as connected, and the proposal only waits
		// longer.
		g.OnEnd(ctx, func() { _ = g.Store.abandon(id, until) })
	}
	if err != nil {
		return nil, err
	}
	return g.result(decided, plan)
}

// enter stores a proposal, unless the client already has an equal one. A file has at most
// one proposal of a connected client. Abandoned proposals don't block others: they become
// stale when another one is accepted.
func (s *Store) enter(p *Proposal, until time.Time) (id string, err error) {
	err = s.locked(func() error {
		list, err := s.pending()
		if err != nil && list == nil {
			return err
		}
		paths := p.Paths()
		for _, other := range list {
			if other.Key == p.Key && other.Client.Name == p.Client.Name {
				id = other.ID
				again, version, err := s.read(id)
				if err != nil {
					return err
				}
				again.Until, again.Waits = until, p.Waits
				if again.State == Abandoned {
					again.State = Waiting
				}
				return s.write(again, version)
			}
			if other.State == Abandoned {
				continue
			}
			for _, path := range other.Paths() {
				if i := slices.IndexFunc(paths, func(mine string) bool { return touches(mine, path) }); i >= 0 {
					return &BusyError{ID: other.ID, Path: paths[i], Client: other.Client.Name, Own: other.Client.Name == p.Client.Name}
				}
			}
		}
		p.Until = until
		if err := s.add(p); err != nil {
			return err
		}
		id = p.ID
		return nil
	})
	return id, err
}

// touches reports whether two paths are equal or one contains the other.
func touches(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// await waits until a proposal is decided or the wait ends.
func (g *Gate) await(ctx context.Context, id string, wait time.Duration, until time.Time) (*Proposal, error) {
	start := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	reported, stamp := start, ""
	offered := func() {}
	defer func() { offered() }()
	offer := g.Offer != nil && wait > 0 // the offer has not been made yet
	for {
		if now, err := g.Store.Stamp(); err != nil || now != stamp || stamp == "" {
			stamp = now
			p, err := g.Store.Get(id)
			if err != nil {
				return nil, err
			}
			if !p.State.Open() {
				return p, nil
			}
			if offer {
				if at := g.Store.Page(id); at != "" {
					offered, offer = g.Offer(ctx, id, at), false
				}
			}
		}
		if time.Since(start) >= wait {
			g.waited(id)
			return nil, &PendingError{ID: id}
		}
		if g.Progress != nil && time.Since(reported) >= progressEvery {
			reported = time.Now()
			g.Progress(ctx, id, time.Since(start))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&PendingError{ID: id, Cancelled: ctx.Err()}, g.Store.abandon(id, until))
		case <-tick.C:
		}
	}
}

// waited records that a call has returned, so that its process may end. If that fails,
// the proposal later counts as abandoned, and accepting it asks for confirmation.
func (g *Gate) waited(id string) {
	if g.Stays {
		return
	}
	_, _ = g.Store.update(id, func(p *Proposal) (bool, error) {
		ours := p.State == Waiting && p.Waits != "" && p.Waits == g.Store.hold()
		p.Waits = ""
		return ours, nil
	})
}

// result returns the answer to a call after the decision. If everything was accepted, it
// is the planned change, because that was applied to the same versions.
func (g *Gate) result(p *Proposal, plan *change.Change) (*change.Change, error) {
	if err := g.Store.told(p.ID); err != nil {
		return nil, err
	}
	switch p.State {
	case Refused, Withdrawn:
		return nil, &RefusedError{p}
	case Partly:
		return g.madeInPart(p, plan), nil
	}
	if p.placed() {
		return g.madeInPart(p, plan), nil
	}
	c := *plan
	c.ID, c.Time, c.DryRun, c.Digest, c.Client = p.Change, p.Decided, false, "", p.Client
	if len(p.Comments()) > 0 {
		c.Warnings = append(slices.Clone(c.Warnings), "proposal "+p.Verdict())
	}
	return &c, nil
}
