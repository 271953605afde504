package index

import (
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/glob"
	"quarry/internal/ignore"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// change is a file that is new, or that differs from its document in the segments.
type change struct {
	seq uint64 // number of its latest change
	// member reports whether the file belonged to the index when it was last checked.
	// pending reports that it must be checked again; until then a member remains a
	// candidate.
	member, pending bool
	as              Flags // Hidden and Ignored, as found when the file was marked
	in              *held // the segment with the file's latest document, or nil
	id              int
}

// MarkDirty reports that files may have changed, appeared or been deleted. It must be
// called right after a change; the next Fresh considers it.
func (ix *Index) MarkDirty(paths ...rootfs.Path) { ix.apply(Changes{Files: paths}) }

// MarkTree does the same for folders and everything below them.
func (ix *Index) MarkTree(dirs ...rootfs.Path) { ix.apply(Changes{Trees: dirs}) }

func (ix *Index) apply(c Changes) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, p := range c.Files {
		if p.IsRoot() {
			ix.trees[""] = true
			continue
		}
		ix.suspect(p.String(), ix.mark(p.String()))
		// If rules change, all files in and below the rule file's folder must be checked
		// again.
		base := p.Base()
		if _, rules := ignore.FileKind(base); rules || base == ".git" {
			ix.trees[plain(p.Dir())] = true
		}
	}
	for _, p := range c.Trees {
		ix.trees[plain(p)] = true
	}
	ix.unsure = ix.unsure || c.Stamps
}

func plain(p rootfs.Path) string {
	if p.IsRoot() {
		return ""
	}
	return p.String()
}

// mark makes a file dirty. ix.mu must be held.
func (ix *Index) mark(path string) *change {
	c := ix.dirty[path]
	if c == nil {
		c = &change{}
		if c.in, c.id = ix.find(path); c.in != nil {
			c.in.hide(c.id)
			c.member, c.as = true, ix.oldFlags(c)
		}
		ix.dirty[path] = c
	}
	ix.seq++
	c.seq = ix.seq
	ix.changed()
	return c
}

// suspect marks a change as pending. ix.mu must be held.
func (ix *Index) suspect(path string, c *change) {
	c.pending = true
	ix.pending[path] = true
}

// markListed makes a file dirty that a walk has listed. ix.mu must be held.
func (ix *Index) markListed(path string, as Flags) {
	c := ix.mark(path)
	c.member, c.pending, c.as = true, false, as
}

// changed must be called after every change that affects snapshots.
func (ix *Index) changed() {
	ix.forgetSnapshot()
	select {
	case ix.wake <- struct{}{}:
	default:
	}
}

// find returns the segment and number of a path's document. ix.mu must be held.
func (ix *Index) find(path string) (*held, int) {
	for i := len(ix.segs) - 1; i >= 0; i-- {
		h := ix.segs[i]
		id := -1
		err := guard(func() error {
			id = h.seg.docs.find([]byte(path))
			return nil
		})
		if err != nil {
			ix.damage(h, err)
			continue
		}
		if id >= 0 && !h.dead.has(id) {
			return h, id
		}
	}
	return nil, 0
}

// damage drops a segment that can no longer be read. Its list of files is not reliable,
// so the next Fresh sweeps. ix.mu must be held.
func (ix *Index) damage(h *held, err error) {
	i := slices.Index(ix.segs, h)
	if i < 0 {
		return
	}
	ix.log.Warn("index: dropping a damaged segment", "segment", h.seg.name, "err", err)
	ix.segs = slices.Delete(slices.Clone(ix.segs), i, i+1)
	for _, c := range ix.dirty {
		if c.in == h {
			c.in = nil
		}
	}
	ix.swept = false
	ix.forgetSnapshot()
	h.seg.release()
}

// settle ends a change, because the file was deleted or doesn't belong to the index.
// ix.mu must be held.
func (ix *Index) settle(path string, c *change) {
	if c.in != nil {
		c.in.kill(c.id)
	}
	delete(ix.dirty, path)
	ix.forgetSnapshot()
}

// resolve determines which marked files exist and belong to the index. It returns the
// folders among them, which must be swept.
func (ix *Index) resolve(ctx context.Context) (folders []string, err error) {
	type open struct {
		path string
		seq  uint64
	}
	var todo []open
	ix.mu.Lock()
	for path := range ix.pending {
		if c := ix.dirty[path]; c != nil && c.pending {
			todo = append(todo, open{path, c.seq})
		}
	}
	clear(ix.pending)
	ix.mu.Unlock()
	defer func() {
		if err != nil { // the rest must be done later
			ix.mu.Lock()
			for _, o := range todo {
				ix.pending[o.path] = true
			}
			ix.mu.Unlock()
		}
	}()
	var unknown []string
	linked := inodes{}
	for _, o := range todo {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kind := ix.kindOf(o.path, linked)
		ix.mu.Lock()
		if c := ix.dirty[o.path]; c != nil && c.seq == o.seq {
			switch {
			case kind == rootfs.TypeFile && c.in != nil:
				c.pending = false
			case kind == rootfs.TypeFile:
				unknown = append(unknown, o.path)
			default:
				ix.settle(o.path, c)
				if ix.hasBelow(o.path) || kind == rootfs.TypeDir {
					folders = append(folders, o.path)
				}
			}
		}
		ix.mu.Unlock()
	}
	ix.mu.Lock()
	ix.markLinked(linked)
	ix.mu.Unlock()
	return folders, ix.judge(ctx, unknown)
}

// listed are the flags that a walk determines for a file.
const listed = Hidden | Ignored

// oldFlags returns the listed flags of a change's document.
func (ix *Index) oldFlags(c *change) (as Flags) {
	err := guard(func() error {
		as = c.in.seg.docs.flag(c.id) & listed
		return nil
	})
	if err != nil {
		ix.damage(c.in, err)
	}
	return as
}

// kindOf returns the type of the entry at a path, and records a file with several names in
// linked. An entry that can't be examined counts as a file: a search will try to open it and
// report the error.
func (ix *Index) kindOf(path string, linked inodes) rootfs.Type {
	p, err := ix.root.Known(path)
	if err == nil {
		var info rootfs.Info
		if info, err = ix.root.Stat(p); err == nil {
			if info.Type == rootfs.TypeFile && info.Nlink > 1 {
				linked[info.Ino] = true
			}
			return info.Type
		}
	}
	switch rootfs.KindOf(err) {
	case fault.NotFound, fault.NotFolder, fault.ProtectedPath, fault.OutsideRoot:
		return rootfs.TypeUnknown
	}
	return rootfs.TypeFile
}

// hasBelow reports whether the index has files below a path. ix.mu is held.
func (ix *Index) hasBelow(dir string) bool {
	for _, h := range ix.segs {
		some := false
		err := guard(func() error {
			lo, hi := h.seg.docs.folder(dir)
			for id := lo; id < hi && !some; id++ {
				some = !h.dead.has(id)
			}
			return nil
		})
		if some || err != nil {
			return true
		}
	}
	return false
}

// maxGlobs limits the folders to which a walk is restricted. With more of them, walking
// everything is cheaper.
const maxGlobs = 64

// judge decides which new files belong to the index: those that a walk lists.
func (ix *Index) judge(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	var globs []string
	seen := map[string]bool{}
	for _, p := range paths {
		dir, _ := path.Split(p)
		if !seen[dir] {
			seen[dir] = true
			globs = append(globs, "/"+escape(dir)+"*")
		}
	}
	found := map[string]Flags{}
	if err := ix.list(ctx, globs, func(path string, as Flags) { found[path] = as }); err != nil {
		return err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, p := range paths {
		c := ix.dirty[p]
		if c == nil || !c.pending {
			continue
		}
		if as, ok := found[p]; ok && (as&Ignored == 0 || ix.ignored) {
			c.member, c.pending, c.as = true, false, as
			ix.forgetSnapshot()
		} else {
			ix.settle(p, c)
		}
	}
	ix.limitIgnored()
	return nil
}

// list walks the matches of globs, and calls found with the files that belong to the index
// and whether they are hidden or ignored.
func (ix *Index) list(ctx context.Context, globs []string, found func(path string, as Flags)) error {
	opts, err := ix.walkOptions(globs)
	if err != nil {
		return err
	}
	if ix.Ignored() {
		opts.MaxIgnored = math.MaxInt32
	}
	var dotted []string
	_, err = walk.Ordered(ctx, ix.root, &opts, false, func(it walk.Item) error {
		switch {
		case it.Entry.Ignored:
			found(it.Path, ignoredAs(it.Path))
		case isDotted(it.Path):
			dotted = append(dotted, it.Path)
		default:
			found(it.Path, 0)
		}
		return nil
	})
	if err != nil || len(dotted) == 0 {
		return err
	}
	shown, err := ix.shown(ctx, opts)
	for _, p := range dotted {
		as := Hidden
		if shown[p] {
			as = 0
		}
		found(p, as)
	}
	return err
}

// shown returns the dot files that a walk lists even without hidden files, because a
// negated rule includes them.
func (ix *Index) shown(ctx context.Context, opts walk.Options) (map[string]bool, error) {
	opts.Hidden, opts.MaxIgnored = false, 0
	shown := map[string]bool{}
	_, err := walk.Ordered(ctx, ix.root, &opts, false, func(it walk.Item) error {
		if isDotted(it.Path) {
			shown[it.Path] = true
		}
		return nil
	})
	return shown, err
}

// walkOptions returns the options for a walk over everything that the index includes or,
// if given, over the matches of globs.
func (ix *Index) walkOptions(globs []string) (walk.Options, error) {
	o := ix.opts.Walk
	o.Start, o.Hidden, o.StrictHidden, o.MaxDepth, o.FollowLinks = rootfs.Path{}, true, false, 0, false
	o.Filter, o.Workers = nil, ix.opts.Workers
	if len(globs) == 0 || len(globs) > maxGlobs {
		return o, nil
	}
	var err error
	o.Filter, err = glob.CompileFilter(glob.Gitignore, globs...)
	return o, err
}

func isDotted(path string) bool {
	return path[0] == '.' || strings.Contains(path, "/.")
}

// escape returns a glob that matches exactly this path.
func escape(path string) string {
	if !strings.ContainsAny(path, `\*?[]{}!# `) {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if strings.IndexByte(`\*?[]{}!# `, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
