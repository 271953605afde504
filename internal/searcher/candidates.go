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

// candidates are the files of one folder that may answer a query, according to the index.
// For every kind of query, they determine whether the index can answer, which files pass
// the filters, which have to be read because the index lacks their current contents, and
// which are omitted.
type candidates struct {
	folder *Folder
	scope  *search.Scope
	ask    index.Ask       // with its lens
	snap   *index.Snapshot // the caller closes it
	passes pathFilter
}

// errNoIndex is returned if the index can't answer a query, so that a scan is needed.
var errNoIndex = errors.New("the index can't answer this")

// candidates opens the current state of the index for the folder in ask. It returns
// errNoIndex if the index can't answer for the folder, or if a scan would be as fast for the
// question about; nil means a question about paths.
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
	// The folder's own .git is not indexed. Only a workspace without a policy may see it.
	if s.IncludeHidden && d.Root.Policy() == nil {
		return false
	}
	// A hidden folder given as start is searched as if it were not hidden, but isn't
	// indexed.
	return start.IsRoot() || !strings.HasPrefix(start.String(), ".") && !strings.Contains(start.String(), "/.")
}

// eachIndexed calls under with the candidates of each folder of a scope. ask contains the
// question without the folder. The error is errNoIndex if the index can't answer for one of
// the folders.
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

// shown calls take for the documents of a segment that pass the filters. considered is
// the number of documents checked.
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

// admitted returns the paths that pass the filters.
func (c *candidates) admitted(paths []string) (out []string) {
	for _, path := range paths {
		if c.passes.admits([]byte(path)) {
			out = append(out, path)
		}
	}
	return out
}

// omitted adds to a summary the files and folders that the answer does not cover.
func (c *candidates) omitted(sum *search.Summary) error {
	c.unread(sum)
	return c.denied(sum)
}

// denied adds to a summary the number of files and folders that the policy excludes, and
// which of them only the built-in list closes.
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

// unread adds to a summary the folders that the index couldn't read, if the root's policy
// allows naming them, and how many ignored files the index contains.
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

// noIndex replaces an error of the index by errNoIndex, so that the caller scans. If the
// search itself has ended, it returns the reason for that.
func noIndex(ctx context.Context, _ error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errNoIndex
}

// pathFilter applies a query's filters to paths of the index, with the same results as a
// walk. It caches the latest folder, so each goroutine needs its own.
type pathFilter struct {
	*filter
	below   int    // length of the searched folder's path, including the slash after it
	all     bool   // every path passes
	lastDir []byte // the latest folder checked
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

// admits reports whether a file passes the filters.
func (p *pathFilter) admits(path []byte) bool {
	if p.all {
		return true
	}
	// rel shares the bytes of path, which nothing below retains. Allocating a string for
	// each of a million paths would take longer than everything else.
	rel := unsafe.String(unsafe.SliceData(path), len(path))[p.below:]
	if p.opts.MaxDepth > 0 && strings.Count(rel, "/") >= p.opts.MaxDepth {
		return false
	}
	if p.types != nil && !p.types.MatchFile(rel[strings.LastIndexByte(rel, '/')+1:]) {
		return false
	}
	// The index's lens omits hidden files unless the query or a rule includes them. A
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

// admitsFolder reports whether the query's filters let a walk enter a folder.
func (p *pathFilter) admitsFolder(path string) bool {
	rel := path[p.below:]
	if p.opts.MaxDepth > 0 && strings.Count(rel, "/")+1 >= p.opts.MaxDepth || p.hides(rel) {
		return false
	}
	return p.opts.Filter == nil || p.enters(rel)
}

// hides reports whether a strict query omits a path because it is hidden.
func (p *pathFilter) hides(rel string) bool {
	return p.opts.StrictHidden && !p.opts.Hidden && (rel[0] == '.' || strings.Contains(rel, "/."))
}

// enters reports whether a walk with the query's globs would enter a folder. It caches
// the latest answer, since the files of a folder are consecutive.
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
