package review

import (
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
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// DefaultWait is how long a call waits for the decision: most clients give a
// call up after 60 seconds.
const DefaultWait = 45 * time.Second

const (
	pollEvery     = 100 * time.Millisecond // how often a waiting call looks
	progressEvery = 10 * time.Second
)

// Gate is a backend whose changes become proposals. Everything else is answered
// by the backend behind it.
type Gate struct {
	backend.Backend
	Store *Store
	// Wait is how long a change waits for its decision; 0 is DefaultWait, less
	// than 0 does not wait.
	Wait time.Duration
	// Clients are held back; none means all. A client says its name itself, so
	// upper and lower case don't count, and one without a name is held back too.
	Clients []string
	// Progress hears that a call still waits; nil is fine.
	Progress func(ctx context.Context, id string, waited time.Duration)
}

// holds reports whether a client's changes wait for a decision.
func (g *Gate) holds(c change.Client) bool {
	return len(g.Clients) == 0 || c.Name == "" || slices.ContainsFunc(g.Clients, func(name string) bool { return strings.EqualFold(name, c.Name) })
}

// Close releases the store and the backend.
func (g *Gate) Close() error { return errors.Join(g.Store.Close(), g.Backend.Close()) }

var errHeld = fault.New(fault.ReadOnly, "the trash is not changed while changes are reviewed", "ask the user")

// Restore is refused: it is not part of what a person is shown.
func (g *Gate) Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error) {
	if g.holds(o.Client) && !o.DryRun {
		return nil, errHeld
	}
	return g.Backend.Restore(ctx, what, to, o)
}

// EmptyTrash is refused.
func (g *Gate) EmptyTrash(context.Context, time.Time) (int, error) { return 0, errHeld }

// Log puts what waits for a decision before the changes that were made.
func (g *Gate) Log(limit int) (*change.Log, error) {
	log, err := g.Backend.Log(limit)
	if err != nil {
		return nil, err
	}
	list, _ := g.Store.Pending() // one that can't be read keeps nothing back
	var waiting []change.Change
	for _, p := range list {
		waiting = append(waiting, change.Change{
			ID: p.ID, Time: p.Made, Tool: p.Tool, Client: p.Client, Paths: p.Paths(), Summary: "proposed, waits for a decision: " + p.Summary, Pending: true,
		})
	}
	log.Changes = append(waiting, log.Changes...)
	if limit > 0 && len(log.Changes) > limit {
		log.Changes = log.Changes[:limit]
	}
	return log, nil
}

// Apply proposes a set and waits for the decision.
func (g *Gate) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	if !g.holds(set.Client) {
		return g.Backend.Apply(ctx, set)
	}
	plan, err := g.Plan(ctx, set)
	if err != nil {
		return nil, err
	}
	if plan.Unchanged {
		plan.DryRun, plan.Digest = false, ""
		return plan, nil
	}
	p := &Proposal{Client: set.Client, Tool: firstText(set.Tool, plan.Tool), Summary: plan.Summary, Set: set, Digest: plan.Digest}
	if len(set.Ops) == 0 {
		// A plan that is named by its digest: shown by the paths it is about.
		p.Digest = set.Digest
		p.Files = g.shown(ctx, plan)
	} else {
		p.Files = g.files(ctx, &set, plan)
	}
	return g.propose(ctx, p, plan)
}

// Undo proposes to undo a change, or withdraws a proposal.
func (g *Gate) Undo(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	if IsID(id) {
		return g.withdraw(id, o)
	}
	if !g.holds(o.Client) {
		return g.Backend.Undo(ctx, id, o)
	}
	dry := o
	dry.DryRun, dry.SkipConflicts = true, false
	plan, err := g.Backend.Undo(ctx, id, dry)
	if err != nil || o.DryRun {
		return plan, err
	}
	return g.propose(ctx, &Proposal{
		Client: o.Client, Tool: firstText(o.Tool, plan.Tool), Summary: plan.Summary, Undo: firstText(plan.Undoes, id), Files: g.shown(ctx, plan),
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

// shown are the files of a plan that is decided as a whole.
func (g *Gate) shown(ctx context.Context, plan *change.Change) []File {
	var files []File
	at := map[string]int{}
	for _, d := range plan.Diffs {
		path := firstText(d.Old, d.New)
		if k, ok := at[path]; ok {
			files[k].Hunks[0].Text += d.Hunks
			continue
		}
		at[path] = len(files)
		f := File{Path: path, Op: change.EditFile, Before: versionNow(ctx, g, path), After: unknownVersion, Note: noteOf(d), Hunks: whole(d.Hunks)}
		if d.New != "" && d.New != path {
			f.To = d.New
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		for _, path := range plan.Paths {
			files = append(files, File{Path: path, Before: versionNow(ctx, g, path), After: unknownVersion, Hunks: whole("")})
		}
	}
	// One decision for all: what is left of the files follows the first.
	return files
}

func firstText(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// whole is a change that is decided as one.
func whole(text string) []Hunk {
	all := Hunk{}
	for _, h := range parseHunks(text) {
		if all.OldStart == 0 && all.NewStart == 0 {
			all.OldStart, all.NewStart = h.OldStart, h.NewStart
		}
		if all.Text != "" {
			all.Text += h.Head() + "\n"
		}
		all.Text += h.Text
		all.OldCount += h.OldCount
		all.NewCount += h.NewCount
	}
	return []Hunk{all}
}

func noteOf(d change.PathDiff) string {
	switch {
	case d.Kind == change.DiffContent:
		return ""
	case d.Kind == change.DiffMode && d.Modes[1]&0o100 != 0:
		return "makes it executable"
	case d.Kind == change.DiffMode:
		return "makes it not executable"
	}
	return strings.TrimSpace(d.Header())
}

// files takes a set apart by file. Text files are cut into hunks; what can't be
// taken apart is one hunk.
func (g *Gate) files(ctx context.Context, set *change.Set, plan *change.Change) []File {
	var files []File
	at := map[string]int{} // files that are edited
	for i, op := range set.Ops {
		if k, ok := at[op.Path]; ok && op.Verb == change.EditFile {
			files[k].Ops = append(files[k].Ops, i)
			continue
		}
		if op.Verb == change.EditFile {
			at[op.Path] = len(files)
		}
		files = append(files, File{Path: op.Path, To: op.To, Op: op.Verb, Ops: []int{i}})
	}
	for i := range files {
		g.fill(ctx, set, plan, &files[i], len(files) == 1)
	}
	return files
}

// fill reads a file and cuts its change into hunks.
func (g *Gate) fill(ctx context.Context, set *change.Set, plan *change.Change, f *File, only bool) {
	var text strings.Builder
	for _, d := range plan.Diffs {
		// The diffs of links that a move rewrites belong to the move.
		if d.Old != f.Path && d.New != f.Path && (f.To == "" || d.New != f.To) && !only {
			continue
		}
		if n := noteOf(d); n != "" && f.Note == "" {
			f.Note = n
		}
		if d.Old != f.Path && d.New != f.Path && d.New != f.To && d.Hunks != "" {
			f.Note = strings.TrimSpace(f.Note + "\nrewrites links in " + fault.Printable(firstText(d.New, d.Old)))
		}
		text.WriteString(d.Hunks)
	}
	old, err := g.ReadBytes(ctx, f.Path, 0)
	switch {
	case err == nil:
		f.Before = rootfs.VersionOf(old).String()
	case !errors.Is(err, fault.NotFound):
		f.Before = unknownVersion
	}
	f.After = unknownVersion
	for _, pf := range plan.Files {
		if pf.Path == f.Path && pf.Version != "" {
			f.After = pf.Version
		}
	}
	if f.After == unknownVersion && only && plan.Version != "" {
		f.After = plan.Version
	}
	if f.Op == change.DeletePath {
		f.After = ""
	}
	if new, ok := contentAfter(set, f, old, err); ok && splittable(old) && splittable(new) {
		made := rootfs.VersionOf(new).String()
		if hunks := hunksOf(old, new); len(hunks) > 0 && (f.After == unknownVersion || f.After == made) {
			f.After, f.Split, f.Old, f.Hunks = made, len(hunks) > 1, old, hunks
			return
		}
	}
	f.Hunks = whole(text.String())
}

// contentAfter works out what an edit or a write leaves. It is only for cutting
// the change into hunks: what is written is worked out again by Apply.
func contentAfter(set *change.Set, f *File, old []byte, readErr error) ([]byte, bool) {
	op := set.Ops[f.Ops[0]]
	switch {
	case f.Op == change.WriteFile && readErr == nil && len(f.Ops) == 1:
		return op.Content, true
	case f.Op != change.EditFile || readErr != nil:
		return nil, false
	}
	d, err := textfile.New(old)
	if err != nil {
		return nil, false
	}
	var edits []change.Edit
	for _, k := range f.Ops {
		if set.Ops[k].Executable != nil {
			return nil, false // a mode goes with the whole
		}
		edits = append(edits, set.Ops[k].Edits...)
	}
	c, err := textedit.Apply(d, edits...)
	if err != nil {
		return nil, false
	}
	return c.Bytes(), true
}

// keyOf is the same for the same request of the same client.
func keyOf(p *Proposal) (string, error) {
	set := p.Set
	set.Client, set.Digest = change.Client{}, ""
	data, err := json.Marshal([]any{p.Client.Name, set, p.Undo})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}

// propose stores a proposal, or finds the same one, and waits.
func (g *Gate) propose(ctx context.Context, p *Proposal, plan *change.Change) (*change.Change, error) {
	var err error
	if p.Key, err = keyOf(p); err != nil {
		return nil, err
	}
	wait := g.Wait
	if wait == 0 {
		wait = DefaultWait
	}
	until := g.Store.now().Add(max(wait, 0))
	id, err := g.Store.enter(p, until)
	if err != nil {
		return nil, err
	}
	decided, err := g.await(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	return g.result(decided, plan)
}

// enter stores a proposal. The same one of the same client is not stored twice,
// and a file has one proposal at a time.
func (s *Store) enter(p *Proposal, until time.Time) (id string, err error) {
	err = s.locked(func() error {
		list, err := s.Pending()
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
				again.Until = until
				if again.State == Abandoned {
					again.State = Waiting
				}
				return s.write(again, version)
			}
			for _, path := range other.Paths() {
				if i := slices.IndexFunc(paths, func(mine string) bool { return touches(mine, path) }); i >= 0 {
					return &BusyError{other.ID, paths[i]}
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

// touches reports whether two paths are the same or one lies in the other.
func touches(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// await waits until a proposal is decided.
func (g *Gate) await(ctx context.Context, id string, wait time.Duration) (*Proposal, error) {
	start := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	told, stamp := start, ""
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
		}
		if time.Since(start) >= wait {
			return nil, &PendingError{id}
		}
		if g.Progress != nil && time.Since(told) >= progressEvery {
			told = time.Now()
			g.Progress(ctx, id, time.Since(start))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), g.Store.Abandon(id))
		case <-tick.C:
		}
	}
}

// result is the answer to the call whose proposal was decided: what was planned,
// since it was applied on the same versions.
func (g *Gate) result(p *Proposal, plan *change.Change) (*change.Change, error) {
	if err := g.Store.told(p.ID); err != nil {
		return nil, err
	}
	if p.State == Refused || p.State == Withdrawn {
		return nil, &RefusedError{p}
	}
	c := *plan
	c.ID, c.Time, c.DryRun, c.Digest, c.Client = p.Change, p.Decided, false, "", p.Client
	if p.State == Partly {
		c.Version, c.Diff, c.Diffs, c.Files = "", "", nil, nil
		if len(p.Files) == 1 && p.Files[0].Split {
			c.Version = rootfs.VersionOf(merge(p.Files[0].Old, p.Files[0].Hunks)).String()
		}
	}
	if p.State == Partly || len(p.Comments()) > 0 {
		c.Warnings = append(slices.Clone(c.Warnings), "proposal "+p.Verdict())
	}
	return &c, nil
}
