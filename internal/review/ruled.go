package review

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/textfile"
	"quarry/search"
)

// RuledOutError means that an owner's rule refused a change.
type RuledOutError struct{ Rule, Path string }

func (e *RuledOutError) Error() string {
	return fmt.Sprintf("the user's rule %q keeps %s as it is; nothing was changed", e.Rule, strconv.QuoteToGraphic(e.Path))
}

// Unwrap returns the code Conflict, as for a change refused by a reviewer.
func (e *RuledOutError) Unwrap() error { return fault.Conflict }

// Hint says how to continue.
func (e *RuledOutError) Hint() string { return "leave the file as it is, or ask the user" }

// rules returns the owner's rules, and the action for changes that match none. If the
// rules can't be read, all changes need a decision.
func (g *Gate) rules(c change.Client) (*Rules, Action) {
	otherwise := Accept
	if !g.OnlyRules && g.holdsBack(c) {
		otherwise = Ask
	}
	lines, err := g.ruleLines()
	if err == nil {
		var r *Rules
		if r, err = ParseRules(lines); err == nil {
			return r, otherwise
		}
	}
	return &Rules{}, Ask
}

func (g *Gate) ruleLines() ([]string, error) {
	if g.Rules == nil {
		return nil, nil
	}
	return g.Rules()
}

// ruling applies the rules to a plan. For an undo, set is empty.
func (g *Gate) ruling(ctx context.Context, r *Rules, otherwise Action, set *change.Set, plan *change.Change, c change.Client) Ruling {
	a := Asked{Tool: plan.Tool, Client: c, Parts: g.ruleParts(ctx, r, set, plan)}
	if r.sized() {
		if log, err := g.inner.Log(0); err == nil {
			h := &history{log: log.Changes, diff: func(id string) ([]change.PathDiff, error) {
				c, err := g.inner.Diff(id, nil)
				if err != nil {
					return nil, err
				}
				return c.Diffs, nil
			}}
			a.Before = func(p string) int { return h.lines(p, 0) }
		} else {
			a.Before = func(string) int { return unknownLines }
		}
	}
	if len(a.Parts) == 0 && otherwise != Accept {
		return Ruling{Action: otherwise}
	}
	return r.Judge(a, otherwise)
}

// unknownLines is the size of a change whose lines can't be counted. It exceeds every
// rule's limit.
const unknownLines = 1 << 30

// ruleParts lists all resolved paths that a plan affects: its files, files with rewritten
// links, created folders, and everything in a folder that it moves or deletes.
func (g *Gate) ruleParts(ctx context.Context, r *Rules, set *change.Set, plan *change.Change) []RulePart {
	if len(r.list) == 0 {
		return nil
	}
	parts := ruleParts{lines: map[string]int{}}
	parts.addDiffs(plan.Diffs)
	for _, f := range plan.Files {
		n := f.Added + f.Removed
		if _, shown := parts.lines[f.Path]; !shown && n == 0 && (f.Did == change.Created || f.Did == change.Overwrote || f.Did == change.Edited) {
			n = unknownLines // its diff was omitted, so it may be binary
		}
		parts.add(f.Path, n)
		parts.add(f.To, n)
	}
	for _, list := range [][]string{plan.Paths, plan.Folders} {
		for _, p := range list {
			parts.add(p, 0)
		}
	}
	if plan.Links != nil {
		for _, p := range plan.Links.Files {
			parts.add(p, 0)
		}
	}
	reported := map[int]bool{}
	for _, f := range plan.Files {
		for _, k := range f.Ops {
			reported[k] = true
		}
	}
	for i, op := range set.Ops {
		if !reported[i] && len(plan.Paths) == 0 {
			parts.add(path.Clean(op.Path), 0)
			parts.add(op.To, 0)
		}
	}
	for _, f := range filesOf(set, plan) {
		if f.Op == change.DeletePath || f.Op == change.MovePath {
			g.whole(ctx, r, &parts, f)
		}
	}
	return parts.list()
}

// whole adds the contents of a moved or deleted folder, and counts the lines of a deleted
// file.
func (g *Gate) whole(ctx context.Context, r *Rules, parts *ruleParts, f File) {
	info, err := g.Stat(ctx, f.Path)
	if err != nil {
		return
	}
	if !info.Folder {
		if f.Op == change.DeletePath && r.sized() {
			parts.add(f.Path, g.lineCount(ctx, f.Path))
		}
		return
	}
	entries, err := below(ctx, g, f.Path)
	if err != nil {
		parts.add(f.Path, unknownLines)
		return
	}
	for _, e := range entries {
		n := 0
		if f.Op == change.DeletePath && r.sized() && !e.Folder {
			n = g.lineCount(ctx, e.Path)
		}
		parts.add(e.Path, n)
		if rest, inside := strings.CutPrefix(e.Path, f.Path+"/"); inside && f.To != "" {
			parts.add(f.To+"/"+rest, 0)
		}
	}
}

func (g *Gate) lineCount(ctx context.Context, p string) int {
	data, err := g.ReadBytes(ctx, p, maxHashed)
	if err == nil {
		_, err = textfile.New(data)
	}
	if err != nil {
		return unknownLines
	}
	return len(splitAfter(data))
}

// changedLines counts the lines that a diff adds and removes. If a file is or becomes
// binary, the count exceeds every rule's limit.
func changedLines(d change.PathDiff) int {
	if d.Kind == change.DiffBinary || d.Kind == change.DiffNotKept {
		return unknownLines
	}
	_, added, removed := d.Counts()
	return added + removed
}

// ruleParts collects paths in order, with the largest line count given for each.
type ruleParts struct {
	order []string
	lines map[string]int
}

func (p *ruleParts) add(name string, lines int) {
	if name == "" {
		return
	}
	had, known := p.lines[name]
	if !known {
		p.order = append(p.order, name)
	}
	p.lines[name] = max(had, lines)
}

func (p *ruleParts) addDiffs(diffs []change.PathDiff) {
	for _, d := range diffs {
		n := changedLines(d)
		p.add(d.Old, n)
		p.add(d.New, n)
	}
}

func (p *ruleParts) list() []RulePart {
	list := make([]RulePart, 0, len(p.order))
	for _, name := range p.order {
		list = append(list, RulePart{name, p.lines[name]})
	}
	return list
}

// history counts the lines that clients have already changed in a file. So a large change
// counts as a whole even if it is split into small ones, over several connections.
type history struct {
	log  []change.Change // newest first
	diff func(id string) ([]change.PathDiff, error)
	had  map[string][]change.PathDiff
}

// lines counts the lines of path p that clients changed in the log entries from index
// from back to the last change of the file that a reviewer accepted. It follows moves.
func (h *history) lines(p string, from int) int {
	names, total := map[string]bool{p: true}, 0
	for i := from; i < len(h.log) && total < unknownLines; i++ {
		c := &h.log[i]
		if c.Client.Name == "" && c.Client.Session == "" || !touchesAny(c.Paths, names) {
			continue
		}
		if c.Proposal != "" {
			break
		}
		diffs, err := h.diffs(c.ID)
		if err != nil {
			return unknownLines
		}
		for _, d := range diffs {
			if names[d.New] || names[d.Old] {
				total += changedLines(d)
				if d.Kind == change.DiffRenamed {
					names[d.Old] = true
				}
			}
		}
	}
	return total
}

func touchesAny(paths []string, names map[string]bool) bool {
	for _, p := range paths {
		if names[p] {
			return true
		}
	}
	return false
}

func (h *history) diffs(id string) ([]change.PathDiff, error) {
	if d, ok := h.had[id]; ok {
		return d, nil
	}
	d, err := h.diff(id)
	if err == nil {
		if h.had == nil {
			h.had = map[string][]change.PathDiff{}
		}
		h.had[id] = d
	}
	return d, err
}

// Tried is a change from the log, with the ruling that the tried rules would have given.
type Tried struct {
	Change change.Change
	Ruling
	// Unknown is set if the change moved or deleted a folder. The gate also considers the
	// folder's contents, which are not in the log.
	Unknown bool
}

// TrialFiles provides the log and the present files.
type TrialFiles interface {
	Changes(ctx context.Context, limit int) (*change.Log, error)
	Diff(ctx context.Context, id string, o *change.Options) (*change.Change, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
}

// tookFolder reports whether a diff moved or deleted a folder, or may have done so.
func tookFolder(ctx context.Context, ws TrialFiles, d change.PathDiff) bool {
	switch d.Kind {
	case change.DiffTrashed, change.DiffDeleted:
		return d.Hunks == "" && d.Entry != "symlink"
	case change.DiffRenamed:
		info, err := ws.Stat(ctx, d.New)
		return err != nil || info.Folder
	}
	return false
}

// Try reports how rules would have treated the last changes of clients, newest first. It
// changes nothing. otherwise returns the action for a change that matches no rule.
func Try(ctx context.Context, ws TrialFiles, r *Rules, otherwise func(c *change.Change) Action, most int) ([]Tried, error) {
	log, err := ws.Changes(ctx, 0)
	if err != nil {
		return nil, err
	}
	h := &history{log: log.Changes, diff: func(id string) ([]change.PathDiff, error) {
		c, err := ws.Diff(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		return c.Diffs, nil
	}}
	list := []Tried{}
	for i := range log.Changes {
		c := &log.Changes[i]
		if c.Client.Name == "" && c.Client.Session == "" || c.Pending {
			continue
		}
		if len(list) == most {
			break
		}
		parts := ruleParts{lines: map[string]int{}}
		for _, p := range c.Paths {
			parts.add(p, 0)
		}
		diffs, err := h.diffs(c.ID)
		unknown := err != nil || slices.ContainsFunc(diffs, func(d change.PathDiff) bool { return tookFolder(ctx, ws, d) })
		parts.addDiffs(diffs)
		a := Asked{Tool: c.Tool, Client: c.Client, Parts: parts.list(), Before: func(p string) int { return h.lines(p, i+1) }}
		list = append(list, Tried{*c, r.Judge(a, otherwise(c)), unknown})
	}
	return list, nil
}
