package searcher

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unsafe"

	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/walk"
	"quarry/match"
	"quarry/search"
)

// Candidates are searched in batches, so that an answer that needs only a few
// does not collect all of them. The first batch is small, later ones are larger.
const (
	firstPart = 16
	maxPart   = 4096
)

// errNoIndex says that a query has to be answered by scanning.
var errNoIndex = errors.New("the index can't answer this")

// indexable reports whether the index can answer a query about a folder.
func (d *Folder) indexable(s *search.Scope, start rootfs.Path) bool {
	if s.FollowLinks || s.OneFileSystem || s.Without != (search.RuleFiles{}) || len(s.Lowest) > 0 {
		return false
	}
	if s.NoIndex || len(s.Extra) > 0 && !s.IncludeIgnored || s.IncludeIgnored && !d.index().HasIgnored() {
		return false
	}
	// The files of a repository's own folder are not indexed; only a trusted
	// workspace may see them at all.
	if s.IncludeHidden && d.Root.Policy() == nil {
		return false
	}
	// A hidden folder that is named is searched as if it weren't hidden.
	return start.IsRoot() || !strings.HasPrefix(start.String(), ".") && !strings.Contains(start.String(), "/.")
}

// indexed searches a folder by the index. It returns errNoIndex when that isn't
// possible, before anything was delivered.
func (r *searchRun) indexed(ctx context.Context, start rootfs.Path) error {
	// A line matches if it has one of several words, while their need asks for
	// all.
	if r.q.Invert || r.q.Match.Syntax == match.Words || !r.folder.indexable(&r.q.Scope, start) {
		return errNoIndex
	}
	ask := index.Ask{Need: r.jointly.need(r.pattern), Under: start, Hidden: r.q.IncludeHidden, Also: index.Binary}
	if !r.folder.index().Ready(&ask) {
		return errNoIndex
	}
	snap, err := r.folder.index().Fresh(ctx)
	if err != nil {
		return noIndex(ctx, err)
	}
	defer snap.Close()
	ask.Lens = r.folder.index().Lens(r.q.IncludeHidden, r.q.IncludeIgnored)
	// Files that a scan would skip must not be omitted silently: in multiline
	// mode large texts, otherwise texts whose lines of context don't fit.
	switch {
	case r.q.Match.Mode != match.Lines || r.q.Before > scan.MaxLine/index.WideLine-3:
		ask.Also |= index.Large
	case r.q.Before > 0:
		ask.Also |= index.Wide
	}
	// The words may be on different lines; only a match is within one line.
	ask.ByLine = r.q.Match.Mode == match.Lines && r.q.Match.Syntax != match.Words && r.jointly == nil
	if !r.folder.index().Covers(snap, start, r.q.IncludeIgnored) {
		return errNoIndex
	}
	ask.Gradual = !r.q.FilesWithoutMatch
	c, err := snap.Candidates(ask)
	if err != nil {
		return noIndex(ctx, err)
	}
	defer func() { r.collect.sum.Stats.Plan = planOf(&c.Plan, r.folder.Root.Policy()) }()
	p := &indexPass{run: r, under: start, below: belowLength(start)}
	r.collect.sum.Stats.IgnoredIndexed = snap.Ignored()
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
	if err != nil { // the index is damaged: what was delivered is not repeated
		if p.delivered {
			return err
		}
		return noIndex(ctx, err)
	}
	sum := &r.collect.sum
	sum.Stats.Considered += c.Plan.Documents + c.Plan.Dirty
	if err = denied(sum, r.folder.Root, snap, start, ask.Lens, p); err != nil {
		return err
	}
	addFolders(sum, r.folder.Root, snap.Skipped(), start, r.q.IncludeIgnored)
	r.gatherStats()
	return nil
}

// counted opens the index as of now and counts by it in the folder that ask names;
// its lens is set. The caller closes the Snapshot. It returns errNoIndex if there is
// none that has the folder.
func (d *Folder) counted(ctx context.Context, ask *index.Ask, ignored bool) (*index.Snapshot, *index.Counted, error) {
	ix := d.index()
	if !ix.Ready(ask) {
		return nil, nil, errNoIndex
	}
	snap, err := ix.Fresh(ctx)
	if err != nil {
		return nil, nil, noIndex(ctx, err)
	}
	if !ix.Covers(snap, ask.Under, ignored) {
		snap.Close()
		return nil, nil, errNoIndex
	}
	ask.Lens = ix.Lens(ask.Hidden, ignored)
	counted, err := snap.Counted(*ask)
	if err != nil {
		snap.Close()
		return nil, nil, noIndex(ctx, err)
	}
	return snap, counted, nil
}

// noIndex converts an error of the index to errNoIndex, so that the caller scans,
// unless the search itself has ended.
func noIndex(ctx context.Context, _ error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errNoIndex
}

func belowLength(start rootfs.Path) int {
	if start.IsRoot() {
		return 0
	}
	return len(start.String()) + 1
}

// indexPass goes over the candidates of one folder.
type indexPass struct {
	run       *searchRun
	under     rootfs.Path
	below     int
	part      []candidate
	size      int // of the next part
	delivered bool
	err       error

	lastDir   []byte // the folder asked about last
	lastIn    bool
	some, all bool // admits was asked; it admits all
}

type candidate struct {
	path  string
	known *found // the outcome, when it needs no reading
	seen  bool   // the index has the current content of the file
	// parts are the only parts that could contain a match, if the file still has
	// the stamp; nil is the whole file.
	parts []index.Part
	stamp index.Stamp
	// opened is set if the file had the stamp when it was opened.
	opened bool
}

// file takes one file of the index and reports whether to go on.
func (p *indexPass) file(ctx context.Context, d *index.Doc, mayMatch bool) bool {
	r := p.run
	path := d.PathBytes()
	if !p.admits(path) {
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

// admits applies the query's filters to a path, as a walk would.
func (p *indexPass) admits(path []byte) bool {
	f := p.run.filter
	if p.admitsAll() {
		return true
	}
	// The string shares the bytes of the path, which nothing below keeps: to
	// allocate a string for each of a million paths would take longer than the
	// rest.
	rel := unsafe.String(unsafe.SliceData(path), len(path))[p.below:]
	if f.opts.MaxDepth > 0 && strings.Count(rel, "/") >= f.opts.MaxDepth {
		return false
	}
	if f.types != nil && !f.types.MatchFile(rel[strings.LastIndexByte(rel, '/')+1:]) {
		return false
	}
	// The index knows which files are shown only if hidden files are included. A
	// strict query excludes them even if a rule includes them.
	if f.opts.StrictHidden && !f.opts.Hidden && (rel[0] == '.' || strings.Contains(rel, "/.")) {
		return false
	}
	if f.opts.Filter != nil {
		if !f.opts.Filter.MatchFile(rel) {
			return false
		}
		if slash := strings.LastIndexByte(rel, '/'); slash >= 0 && !f.opts.Filter.OnlyIncludes() && !p.enters(rel[:slash]) {
			return false
		}
	}
	return f.changes == nil || f.changes.has(string(path))
}

// admitsAll reports whether there are no filters.
func (p *indexPass) admitsAll() bool {
	if f := p.run.filter; !p.some {
		p.some, p.all = true, f.types == nil && f.opts.Filter == nil && f.opts.MaxDepth == 0 && f.changes == nil && (f.opts.Hidden || !f.opts.StrictHidden)
	}
	return p.all
}

// enters reports whether a walk with the query's globs would enter a folder. The
// files of a folder come one after the other, so the last answer is kept.
func (p *indexPass) enters(dir string) bool {
	if p.lastDir != nil && string(p.lastDir) == dir {
		return p.lastIn
	}
	in, known := true, 0
	if p.lastIn { // the folders that both are in were entered
		for i := 0; i < len(dir) && i < len(p.lastDir) && dir[i] == p.lastDir[i]; i++ {
			if dir[i] == '/' {
				known = i + 1
			}
		}
	}
	for i := known; i <= len(dir) && in; i++ {
		if i == len(dir) || dir[i] == '/' {
			in = p.run.filter.opts.Filter.Descend(dir[:i])
		}
	}
	p.lastDir, p.lastIn = append(p.lastDir[:0], dir...), in
	return in
}

// flush searches the candidates gathered so far.
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

// findIndexed lists files by the index, or returns errNoIndex.
func (r *findRun) indexed(ctx context.Context, start rootfs.Path) error {
	if r.q.Kind != search.OnlyFiles || r.q.Stat || r.q.Links || !r.folder.indexable(&r.q.Scope, start) || !r.folder.index().Ready(nil) {
		return errNoIndex
	}
	snap, err := r.folder.index().Fresh(ctx)
	if err != nil {
		return noIndex(ctx, err)
	}
	defer snap.Close()
	if !r.folder.index().Covers(snap, start, r.q.IncludeIgnored) {
		return errNoIndex
	}
	lens := r.folder.index().Lens(r.q.IncludeHidden, r.q.IncludeIgnored)
	c, err := snap.Candidates(index.Ask{Under: start, Lens: lens})
	if err != nil {
		return noIndex(ctx, err)
	}
	pass := &indexPass{run: &searchRun{filter: r.filter}, below: r.below}
	var test func() func([]byte) bool
	if !pass.admitsAll() {
		test = func() func([]byte) bool {
			return (&indexPass{run: &searchRun{filter: r.filter}, below: r.below}).admits
		}
	}
	list, err := snap.Paths(ctx, start, lens, test)
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
	if err = denied(&r.out.Summary, r.folder.Root, snap, start, lens, pass); err != nil {
		return noIndex(ctx, err)
	}
	addFolders(&r.out.Summary, r.folder.Root, snap.Skipped(), start, r.q.IncludeIgnored)
	r.out.Stats.Considered += len(list)
	r.out.Stats.Plan = planOf(&c.Plan, r.folder.Root.Policy())
	r.out.Stats.IgnoredIndexed = snap.Ignored()
	return ctx.Err()
}

// denied adds how many files and folders of a scope the policy excludes, and which
// of them only the built-in list closes.
func denied(sum *search.Summary, root *rootfs.Root, snap *index.Snapshot, start rootfs.Path, lens *index.Lens, p *indexPass) error {
	n, err := snap.Denied(start, lens, func(path string, folder bool) bool {
		if folder {
			return p.admitsFolder(path)
		}
		if !p.admits([]byte(path)) {
			return false
		}
		if root.Policy().Path(path, false) == policy.Secret {
			sum.AddSecrets(path)
		}
		return true
	})
	sum.Denied += n
	return err
}

// admitsFolder reports whether a walk would enter a folder by the query's filters.
func (p *indexPass) admitsFolder(path string) bool {
	f := p.run.filter
	rel := path[p.below:]
	if f.opts.MaxDepth > 0 && strings.Count(rel, "/")+1 >= f.opts.MaxDepth {
		return false
	}
	if f.opts.StrictHidden && !f.opts.Hidden && (rel[0] == '.' || strings.Contains(rel, "/.")) {
		return false
	}
	return f.opts.Filter == nil || p.enters(rel)
}

// addFolders reports the folders below start that the index couldn't read, if the
// root's policy allows them to be named.
func addFolders(s *search.Summary, root *rootfs.Root, skips []walk.Skip, start rootfs.Path, ignored bool) {
	for _, k := range skips {
		if k.Ignored && !ignored {
			continue
		}
		if _, err := root.Known(k.Path); err != nil && k.Path != "." {
			continue
		}
		if !start.IsRoot() && k.Path != start.String() && !strings.HasPrefix(k.Path, start.String()+"/") {
			continue
		}
		s.SkippedCount[search.Unreadable]++
		addSkip(s, walkSkip(&k))
	}
}

// planOf tells how the index answered. The number of lists read depends on files
// that the policy's globs deny, so it is omitted if there are such globs; where a
// piece ends does too.
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
