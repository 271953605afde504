package searcher

import (
	"context"
	"errors"
	"strings"
	"unsafe"

	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/search"
)

// candidates are the files of one folder that the index offers for a query. Every kind
// of query uses it to decide whether the index can answer, which files pass the filters,
// which have to be read because the index lacks their current contents, and which are
// omitted.
type candidates struct {
	folder *Folder
	scope  *search.Scope
	ask    index.Ask       // with its lens
	snap   *index.Snapshot // the caller closes it
	passes pathFilter
}

// errNoIndex means that a query has to be answered by a scan.
var errNoIndex = errors.New("the index can't answer this")

// candidates opens the current state of the index for the folder in ask. It returns
// errNoIndex if the index can't answer for the folder or would not be faster for about;
// a nil about is a question about paths.
func (d *Folder) candidates(ctx context.Context, scope *search.Scope, f *filter, ask index.Ask, about *index.Ask) (*candidates, error) {
	ix := d.index()
	if !d.indexable(scope, ask.Under) || !ix.Ready(about) {
		return nil, errNoIndex
	}
	snap, err := ix.Fresh(ctx)
	if err != nil {
		return nil, noIndex(ctx, err)
	}
	if !ix.Covers(snap, ask.Under, scope.IncludeIgnored) {
		snap.Close()
		return nil, errNoIndex
	}
	ask.Lens = ix.Lens(ask.Hidden, scope.IncludeIgnored)
	return &candidates{folder: d, scope: scope, ask: ask, snap: snap, passes: *f.paths(ask.Under)}, nil
}

// indexable reports whether the index can answer a query about a folder.
func (d *Folder) indexable(s *search.Scope, start rootfs.Path) bool {
	if s.FollowLinks || s.OneFileSystem || s.Without != (search.RuleFiles{}) || len(s.Lowest) > 0 {
		return false
	}
	if s.NoIndex || len(s.Extra) > 0 && !s.IncludeIgnored || s.IncludeIgnored && !d.index().HasIgnored() {
		return false
	}
	// A repository's own .git folder is not indexed; only a trusted workspace may see it.
	if s.IncludeHidden && d.Root.Policy() == nil {
		return false
	}
	// A hidden folder that is named is searched as if it were not hidden.
	return start.IsRoot() || !strings.HasPrefix(start.String(), ".") && !strings.Contains(start.String(), "/.")
}

// eachIndexed calls under with the candidates of each folder of a scope; ask holds the
// rest of the question. It returns errNoIndex if the index can't answer for a folder.
func (d *Folder) eachIndexed(ctx context.Context, scope *search.Scope, ask index.Ask, under func(*candidates) error) error {
	f, err := d.filter(ctx, scope)
	if err != nil {
		return err
	}
	defer f.close()
	paths := scope.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		start, isFile, err := d.start(path)
		if err != nil {
			return err
		}
		if isFile {
			return errNoIndex
		}
		ask.Under, ask.Hidden = start, scope.IncludeHidden
		c, err := d.candidates(ctx, scope, f, ask, &ask)
		if err == nil {
			err = under(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shown calls take for the documents of a segment that pass, and returns how many it
// considered.
func (c *candidates) shown(v *index.CountedView, take func(id int)) (considered int, err error) {
	if c.passes.all {
		for id, hi := v.Span(); id < hi; id++ {
			if v.Shows(id) {
				considered++
				take(id)
			}
		}
		return considered, nil
	}
	err = v.Each(func(id int, path []byte, _ index.Flags) bool {
		if v.Shows(id) {
			considered++
			if c.passes.admits(path) {
				take(id)
			}
		}
		return true
	})
	return considered, err
}

// admitted returns the paths that pass.
func (c *candidates) admitted(paths []string) (out []string) {
	for _, path := range paths {
		if c.passes.admits([]byte(path)) {
			out = append(out, path)
		}
	}
	return out
}

// omitted adds the files and folders that the answer does not cover.
func (c *candidates) omitted(sum *search.Summary) error {
	c.unread(sum)
	return c.denied(sum)
}

// denied adds the number of files and folders that the policy excludes, and which of
// them are closed only by the built-in list.
func (c *candidates) denied(sum *search.Summary) error {
	n, err := c.snap.Denied(c.ask.Under, c.ask.Lens, func(path string, folder bool) bool {
		if folder {
			return c.passes.admitsFolder(path)
		}
		if !c.passes.admits([]byte(path)) {
			return false
		}
		if c.folder.Root.Policy().Path(path, false) == policy.Secret {
			sum.AddSecrets(path)
		}
		return true
	})
	sum.Denied += n
	return err
}

// unread adds the folders that the index couldn't read, if the root's policy allows
// them to be named, and how many ignored files the index has.
func (c *candidates) unread(sum *search.Summary) {
	sum.Stats.IgnoredIndexed = c.snap.Ignored()
	start := c.ask.Under
	for _, k := range c.snap.Skipped() {
		if k.Ignored && !c.scope.IncludeIgnored {
			continue
		}
		if _, err := c.folder.Root.Known(k.Path); err != nil && k.Path != "." {
			continue
		}
		if !start.IsRoot() && k.Path != start.String() && !strings.HasPrefix(k.Path, start.String()+"/") {
			continue
		}
		sum.SkippedCount[search.Unreadable]++
		addSkip(sum, walkSkip(&k))
	}
}

// noIndex converts an error of the index to errNoIndex, so that the caller scans,
// unless the search itself has ended.
func noIndex(ctx context.Context, _ error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errNoIndex
}

// pathFilter applies the filters of a query to the paths of an index as a walk would.
// It caches the last answer, so each goroutine needs its own.
type pathFilter struct {
	*filter
	below   int    // the length of the folder's path and the slash after it
	all     bool   // every path passes
	lastDir []byte // the folder checked last
	lastIn  bool
}

// paths returns the filter for the paths below a folder.
func (f *filter) paths(start rootfs.Path) *pathFilter {
	p := &pathFilter{filter: f}
	if !start.IsRoot() {
		p.below = len(start.String()) + 1
	}
	p.all = f.types == nil && f.opts.Filter == nil && f.opts.MaxDepth == 0 && f.changes == nil && (f.opts.Hidden || !f.opts.StrictHidden)
	return p
}

// admits reports whether a file passes.
func (p *pathFilter) admits(path []byte) bool {
	if p.all {
		return true
	}
	// rel shares the bytes of path; nothing below retains it. Allocating a string for
	// each of a million paths would take longer than the rest.
	rel := unsafe.String(unsafe.SliceData(path), len(path))[p.below:]
	if p.opts.MaxDepth > 0 && strings.Count(rel, "/") >= p.opts.MaxDepth {
		return false
	}
	if p.types != nil && !p.types.MatchFile(rel[strings.LastIndexByte(rel, '/')+1:]) {
		return false
	}
	// The index knows which files are shown only if hidden files are included. A
	// strict query excludes them even if a rule includes them.
	if p.hides(rel) {
		return false
	}
	if globs := p.opts.Filter; globs != nil {
		if !globs.MatchFile(rel) {
			return false
		}
		if slash := strings.LastIndexByte(rel, '/'); slash >= 0 && !globs.OnlyIncludes() && !p.enters(rel[:slash]) {
			return false
		}
	}
	return p.changes == nil || p.changes.has(string(path))
}

// admitsFolder reports whether a walk would enter a folder by the query's filters.
func (p *pathFilter) admitsFolder(path string) bool {
	rel := path[p.below:]
	if p.opts.MaxDepth > 0 && strings.Count(rel, "/")+1 >= p.opts.MaxDepth || p.hides(rel) {
		return false
	}
	return p.opts.Filter == nil || p.enters(rel)
}

// hides reports whether a strict query omits a path as hidden.
func (p *pathFilter) hides(rel string) bool {
	return p.opts.StrictHidden && !p.opts.Hidden && (rel[0] == '.' || strings.Contains(rel, "/."))
}

// enters reports whether a walk with the query's globs would enter a folder. The
// files of a folder are consecutive, so the last answer is cached.
func (p *pathFilter) enters(dir string) bool {
	if p.lastDir != nil && string(p.lastDir) == dir {
		return p.lastIn
	}
	in, known := true, 0
	if p.lastIn { // common parent folders were already accepted
		for i := 0; i < len(dir) && i < len(p.lastDir) && dir[i] == p.lastDir[i]; i++ {
			if dir[i] == '/' {
				known = i + 1
			}
		}
	}
	for i := known; i <= len(dir) && in; i++ {
		if i == len(dir) || dir[i] == '/' {
			in = p.opts.Filter.Descend(dir[:i])
		}
	}
	p.lastDir, p.lastIn = append(p.lastDir[:0], dir...), in
	return in
}
