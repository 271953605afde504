package searcher

import (
	"context"
	"slices"

	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/match"
	"quarry/search"
)

// Candidates are searched in batches of increasing size, so that an answer that needs
// only a few of them does not collect all.
const (
	firstPart = 16
	maxPart   = 4096
)

// indexed searches a folder with the index. If that isn't possible, it returns errNoIndex
// before anything is delivered.
func (r *searchRun) indexed(ctx context.Context, start rootfs.Path) error {
	// With the syntax Words a line matches if it contains any word, but the index would
	// require all.
	if r.q.Invert || r.q.Match.Syntax == match.Words {
		return errNoIndex
	}
	ask := index.Ask{Need: r.jointly.need(r.pattern), Under: start, Hidden: r.q.IncludeHidden, Also: index.Binary}
	// Files that a scan would skip must be reported, so they can't be ruled out by the
	// index: large texts in multiline mode, otherwise texts whose context lines don't
	// fit.
	switch {
	case r.q.Match.Mode != match.Lines || r.q.Before > scan.MaxLine/index.WideLine-3:
		ask.Also |= index.Large
	case r.q.Before > 0:
		ask.Also |= index.Wide
	}
	// A query of words may match words on different lines. Other matches are within a
	// line.
	ask.ByLine = r.q.Match.Mode == match.Lines && r.q.Match.Syntax != match.Words && r.jointly == nil
	ask.Gradual = !r.q.FilesWithoutMatch
	from, err := r.folder.candidates(ctx, &r.q.Scope, r.filter, ask, &ask)
	if err != nil {
		return err
	}
	defer from.snap.Close()
	c, err := from.snap.Candidates(from.ask)
	if err != nil {
		return noIndex(ctx, err)
	}
	defer func() { r.collect.sum.Stats.Plan = planOf(&c.Plan, r.folder.Root.Policy()) }()
	p := &indexPass{run: r, passes: &from.passes}
	if r.q.FilesWithoutMatch {
		err = c.Files(func(d *index.Doc, mayMatch bool) bool { return p.file(ctx, d, mayMatch) })
	} else {
		err = c.Each(func(d *index.Doc) bool { return p.file(ctx, d, true) })
	}
	if err == nil && p.err == nil {
		p.flush(ctx)
	}
	if p.err != nil {
		return p.err
	}
	if err != nil { // the index is damaged: scan, but don't repeat delivered files
		if p.delivered {
			return err
		}
		return noIndex(ctx, err)
	}
	sum := &r.collect.sum
	sum.Stats.Considered += c.Plan.Documents + c.Plan.Dirty
	if err := from.omitted(sum); err != nil {
		return err
	}
	r.gatherStats()
	return nil
}

// indexPass is a pass over the candidates of one folder.
type indexPass struct {
	run       *searchRun
	passes    *pathFilter
	part      []candidate
	size      int // size of the next batch
	delivered bool
	err       error
}

type candidate struct {
	path  string
	known *found // the outcome, if the file need not be read
	seen  bool   // the index has the current contents of the file
	// parts are the parts that may contain a match, provided that the file's stamp is
	// unchanged. nil means the whole file.
	parts []index.Part
	stamp index.Stamp
	// opened is set if the file still had this stamp when it was opened.
	opened bool
}

// file handles one file of the index and reports whether to continue.
func (p *indexPass) file(ctx context.Context, d *index.Doc, mayMatch bool) bool {
	r := p.run
	path := d.PathBytes()
	if !p.passes.admits(path) {
		return true
	}
	c := candidate{path: string(path), seen: !d.Dirty}
	switch {
	case d.Flags&(index.Binary|index.Linked) == index.Binary && !d.Dirty && !r.q.Binary:
		c.known = &found{res: scan.Result{Skip: scan.Binary}}
	case !mayMatch:
		c.known = &found{}
	case r.partial(d):
		c.parts, c.stamp = d.Parts, d.Stamp
	}
	p.part = append(p.part, c)
	if len(p.part) >= max(p.size, firstPart) {
		p.size = min(2*max(p.size, firstPart), maxPart)
		return p.flush(ctx)
	}
	return true
}

// flush searches the batched candidates.
func (p *indexPass) flush(ctx context.Context) bool {
	r := p.run
	p.err = inOrder(ctx, len(p.part), r.folder.Workers, r.waiting(), func(worker, i int) (*found, bool) {
		c := &p.part[i]
		if c.known != nil {
			return c.known, true
		}
		return r.candidate(&r.scanners[worker], c)
	}, func(i int, f *found) error {
		p.delivered = true
		return r.deliver(p.part[i].path, f)
	})
	p.part = p.part[:0]
	return p.err == nil
}

// candidate searches one file by its path.
func (r *searchRun) candidate(k *worker, c *candidate) (*found, bool) {
	p, err := r.folder.Root.Known(c.path)
	if err != nil {
		return &found{err: err}, true
	}
	open := r.folder.Root.OpenFile
	if c.seen {
		open = r.folder.Root.OpenSeen
	}
	f, err := open(p)
	if err != nil {
		return &found{err: err}, true
	}
	defer f.Close()
	info := f.Info()
	c.opened = c.seen && c.stamp.Of(&info)
	if c.parts != nil {
		if res, ok := r.byParts(k, f, c); ok {
			k.searched++
			k.bytes += res.Bytes
			return &found{res: res, info: f.Info()}, boundsReads(&r.q.Limits) || (res.Matched == 0) == r.q.FilesWithoutMatch
		}
	}
	return r.search(k, f, c.path)
}

// indexed lists files with the index, or returns errNoIndex.
func (r *findRun) indexed(ctx context.Context, start rootfs.Path) error {
	if r.q.Kind != search.OnlyFiles || r.q.Stat || r.q.Links {
		return errNoIndex
	}
	from, err := r.folder.candidates(ctx, &r.q.Scope, r.filter, index.Ask{Under: start, Hidden: r.q.IncludeHidden}, nil)
	if err != nil {
		return err
	}
	defer from.snap.Close()
	c, err := from.snap.Candidates(index.Ask{Under: start, Lens: from.ask.Lens})
	if err != nil {
		return noIndex(ctx, err)
	}
	var test func() func([]byte) bool
	if !from.passes.all {
		test = func() func([]byte) bool { return r.filter.paths(start).admits }
	}
	list, err := from.snap.Paths(ctx, start, from.ask.Lens, test)
	if err != nil {
		return noIndex(ctx, err)
	}
	if r.q.Fuzzy != "" && r.names == nil {
		r.names = list
	} else {
		r.out.Entries = slices.Grow(r.out.Entries, len(list))
		for _, path := range list {
			r.out.Entries = append(r.out.Entries, search.Entry{Path: path})
		}
	}
	if err := from.omitted(&r.out.Summary); err != nil {
		return noIndex(ctx, err)
	}
	r.out.Stats.Considered += len(list)
	r.out.Stats.Plan = planOf(&c.Plan, r.folder.Root.Policy())
	return ctx.Err()
}

// planOf describes how the index answered. If the policy denies globs, it omits numbers that
// depend on denied files: lists, blocks and, for a partial lookup, candidates.
func planOf(p *index.Plan, policy *policy.Policy) search.Plan {
	out := search.Plan{Kind: search.PlanIndex, Documents: p.Documents, Changed: p.Dirty, Every: p.Useless}
	if p.Useless {
		return out
	}
	out.AtLeast, out.NoDetail = p.Partial, policy.ByPlace()
	if !out.NoDetail || !out.AtLeast {
		out.Candidates = p.Candidates
	}
	if !out.NoDetail {
		out.Grams, out.Lists, out.Blocks = p.Grams, p.Lists, p.Blocks
	}
	return out
}
