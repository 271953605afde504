package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"quarry/fault"
)

// Move is a file, or a folder with all its files, and its new path.
type Move struct{ From, To string }

// PlanOptions control how a move changes links. The zero value rewrites no links.
type PlanOptions struct {
	Update bool       // rewrite links; otherwise only count those that would break
	Format LinkFormat // for links that can't keep their form; "" is Shortest

	KeepTexts bool // keep displayed texts that are the old name
}

// Plan holds the effects of one or more moves in one change.
type Plan struct {
	Moves   []Move     // file by file, in path order
	Files   []FileEdit // in order of From
	Updated int        // number of links rewritten
	Broken  int        // number of links that would no longer resolve to their file
	// BrokenIn lists the files with broken links, by their old path.
	BrokenIn []string
}

// FileEdit holds the changes of one file's links. The splices are offsets in the text
// returned by Files.Read.
type FileEdit struct {
	From, To string // different if the file itself moves
	Splices  []Splice
	Links    int
	Texts    int // number of links whose displayed text also changes

	links []Link // after the edit
}

// Errors for a move.
var (
	ErrBadMove = fault.New(fault.InvalidArgument, "not a possible move", "")
	ErrExists  = errors.New("destination already exists")
)

// Plan computes the effects of moving files. It resolves each link in the vault before and
// after the moves. A link whose target would change is rewritten; all others stay. files
// returns the texts of the notes to rewrite, which may be newer than the graph.
//
// Plan doesn't change the graph. If a moved folder has no files in the graph, the plan
// has no moves.
func (g *Graph) Plan(ctx context.Context, files Files, moves []Move, opts PlanOptions) (*Plan, error) {
	flat, err := g.expand(moves)
	if err != nil {
		return nil, err
	}
	opts.Format = cmp.Or(opts.Format, Shortest)
	pl := planner{opts: opts, before: view{base: g.index}, renamed: make(map[string]string, len(flat))}
	pl.after = view{base: g.index, gone: make(map[string]bool, len(flat))}
	pl.names = make(map[string]bool, 2*len(flat))
	added := make([]string, 0, len(flat))
	for _, m := range flat {
		pl.names[nameKey(m.From)], pl.names[nameKey(m.To)] = true, true
		pl.renamed[m.From] = m.To
		pl.after.gone[m.From] = true
		added = append(added, m.To)
	}
	pl.after.added = NewIndex(added)
	pl.plan.Moves = flat
	for _, s := range g.concerned(flat) {
		n := pl.breaking(s)
		if n == 0 {
			continue
		}
		if !opts.Update {
			pl.broken(s.path, n)
			continue
		}
		text, err := files.Read(s.path)
		if err != nil {
			return nil, fmt.Errorf("links of %s: %w", s.path, err)
		}
		if err := pl.edit(ctx, s.path, text); err != nil {
			return nil, err
		}
	}
	return &pl.plan, nil
}

// expand replaces folder moves by moves of their files, and checks all moves.
func (g *Graph) expand(moves []Move) ([]Move, error) {
	var flat []Move
	for _, m := range moves {
		if !isCleanPath(m.From) || !isCleanPath(m.To) {
			return nil, fmt.Errorf("%w: %q to %q", ErrBadMove, m.From, m.To)
		}
		if m.From == m.To {
			continue
		}
		if g.index.Has(m.From) {
			flat = append(flat, m)
			continue
		}
		if strings.HasPrefix(m.To, m.From+"/") {
			return nil, fmt.Errorf("%w: %q into itself", ErrBadMove, m.From)
		}
		for _, list := range g.index.paths {
			for _, p := range list {
				if rest, ok := strings.CutPrefix(p, m.From+"/"); ok {
					flat = append(flat, Move{p, m.To + "/" + rest})
				}
			}
		}
	}
	sort.Slice(flat, func(i, j int) bool { return flat[i].From < flat[j].From })
	from, to := make(map[string]bool, len(flat)), make(map[string]bool, len(flat))
	for _, m := range flat {
		if from[m.From] || to[m.To] {
			return nil, fmt.Errorf("%w: %q to %q twice", ErrBadMove, m.From, m.To)
		}
		from[m.From], to[m.To] = true, true
	}
	for _, m := range flat {
		if g.index.Has(m.To) && !from[m.To] {
			return nil, fmt.Errorf("%w: %q", ErrExists, m.To)
		}
	}
	return flat, nil
}

// isCleanPath reports whether p is a vault path as the package uses them.
func isCleanPath(p string) bool {
	for _, e := range strings.Split(p, "/") {
		if e == "" || e == "." || e == ".." {
			return false
		}
	}
	return true
}

type planner struct {
	plan          Plan
	opts          PlanOptions
	before, after view
	renamed       map[string]string
	names         map[string]bool // nameKeys of the moved files, both old and new
}

// now returns the path of a file after the moves.
func (pl *planner) now(path string) string {
	if to, ok := pl.renamed[path]; ok {
		return to
	}
	return path
}

// fate describes the effect of the moves on a link: its target before, the new path of
// the target, and whether the unchanged link still resolves to it. ok is false for a link
// without a target.
func (pl *planner) fate(source, link string, kind Kind) (old, want string, kept, ok bool) {
	if link == "" {
		return "", "", true, false
	}
	old, ok = pl.before.resolveTarget(source, link, kind)
	if !ok {
		return "", "", true, false
	}
	want = pl.now(old)
	got, found := pl.after.resolveTarget(pl.now(source), link, kind)
	kept = found && got == want
	switch {
	case kind == CanvasFile && link == old:
		kept = link == want // a canvas has exact paths
	case kept && pl.after.isPlain(pl.now(source), kind): // other programs distinguish case
		kept = spells(pl.now(source), link, want) || !spells(source, link, old)
	}
	return old, want, kept, true
}

// spells reports whether a Markdown link outside a vault has the exact path of a file.
func spells(source, link, file string) bool {
	p, _ := plainPath(source, link)
	return p == file || p+".md" == file
}

// breaking counts the links of a source that would no longer resolve to their file.
func (pl *planner) breaking(s *source) int {
	n := 0
	_, moves := pl.renamed[s.path]
	for _, t := range s.targets {
		if !moves && !pl.names[t.key] {
			continue // resolves to the same files as before
		}
		if _, _, kept, _ := pl.fate(s.path, t.path, t.kind); !kept {
			n += t.count
		}
	}
	return n
}

func (pl *planner) broken(path string, n int) {
	pl.plan.Broken += n
	pl.plan.BrokenIn = append(pl.plan.BrokenIn, path)
}

// rewrite is the planned change of one link.
type rewrite struct {
	splices []Splice
	other   []Splice // alternative if the first splices don't work; nil if there is none
	link    int      // index in the file's links
}

// edit plans the rewriting of one file.
func (pl *planner) edit(ctx context.Context, path string, text []byte) error {
	links, err := ScanLinks(ctx, path, text)
	if err != nil {
		return err
	}
	var todo []rewrite
	failed := 0
	for i, l := range links {
		if l.External {
			continue
		}
		old, want, kept, _ := pl.fate(path, l.Path, l.Kind)
		if kept {
			continue
		}
		w := writer{pl: pl, link: l, text: text, source: path, old: old, want: want}
		if r, ok := w.write(); ok {
			r.link = i
			todo = append(todo, r)
		} else {
			failed++
		}
	}
	done, after := pl.verified(ctx, path, text, links, todo)
	if err := ctx.Err(); err != nil {
		return err
	}
	if failed += len(todo) - len(done); failed > 0 {
		pl.broken(path, failed)
	}
	if len(done) == 0 {
		return nil
	}
	e := FileEdit{From: path, To: pl.now(path), Links: len(done), links: after}
	for _, r := range done {
		e.Splices = append(e.Splices, r.splices...)
	}
	e.Texts = len(e.Splices) - len(done) // a link's second splice changes its displayed text
	slices.SortStableFunc(e.Splices, func(a, b Splice) int { return a.Start - b.Start })
	pl.plan.Updated += len(done)
	pl.plan.Files = append(pl.plan.Files, e)
	return nil
}

// verified scans the text as it would be after all rewrites. The rewrites work if the
// text then has the same links in the same order, and each resolves to its file. If they
// don't work together, verified tries them one at a time, each in addition to those that
// worked.
func (pl *planner) verified(ctx context.Context, path string, text []byte, links []Link, todo []rewrite) ([]rewrite, []Link) {
	if after, ok := pl.check(ctx, path, text, links, todo); ok {
		return todo, after
	}
	if len(todo) > 200 {
		return nil, nil // trying one at a time would take quadratic time
	}
	var done []rewrite
	var result []Link
	for _, r := range todo {
		for _, splices := range [][]Splice{r.splices, r.other} {
			if splices == nil {
				continue
			}
			try := append(slices.Clone(done), rewrite{splices: splices, link: r.link})
			if after, ok := pl.check(ctx, path, text, links, try); ok {
				done, result = try, after
				break
			}
		}
	}
	return done, result
}

func (pl *planner) check(ctx context.Context, path string, text []byte, links []Link, todo []rewrite) ([]Link, bool) {
	changed := make(map[int]bool, len(todo))
	var splices []Splice
	for _, r := range todo {
		changed[r.link] = true
		splices = append(splices, r.splices...)
	}
	out, err := ApplySplices(text, splices)
	if err != nil {
		return nil, false
	}
	after, err := ScanLinks(ctx, path, out)
	if err != nil || len(after) != len(links) {
		return nil, false
	}
	for i, l := range after {
		was := links[i]
		if l.Embed != was.Embed || l.Subpath != was.Subpath || l.External != was.External {
			return nil, false
		}
		if !changed[i] {
			if l.Path != was.Path || l.Kind != was.Kind {
				return nil, false
			}
			continue
		}
		_, want, _, _ := pl.fate(path, was.Path, was.Kind)
		if got, ok := pl.after.resolveTarget(pl.now(path), l.Path, l.Kind); !ok || got != want {
			return nil, false
		}
	}
	return after, true
}
