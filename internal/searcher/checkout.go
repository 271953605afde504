package searcher

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"quarry/fault"
	"quarry/internal/index"
	"quarry/internal/repos"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/walk"
	"quarry/search"
)

// checkout is a repository that is checked out here. Its folder decides which
// files exist. A server helps with files that are as in the commit it indexed: if
// it does not name a file for a pattern, the file need not be read. Servers send
// a checksum with each path. The checksum of the local file is remembered while
// its stamp stays the same. So an edit, a new file and a deletion take effect at
// once, whatever git knows.
type checkout struct {
	repo   string
	folder *Folder
	rest   time.Duration // stampRest

	mu   sync.Mutex
	ours map[string]stamped // by path
}

// stamped is a checksum and the state of the file it belongs to.
type stamped struct {
	index.Stamp
	sum uint64
}

// overlayRead is the size of the largest file that is compared with the server's.
// Servers don't keep larger ones.
const overlayRead = 32 << 20

// stampRest is how old a change must be for its stamp to be trusted: another
// change right after it may leave the same stamp.
const stampRest = 2 * time.Second

// TrustStampsAfter sets how old a change in a checkout must be for its stamp to
// be trusted.
func (r *Servers) TrustStampsAfter(rest time.Duration) {
	for _, c := range r.checkouts {
		c.rest = rest
	}
}

// find says where a path is in the folder.
func (c *checkout) find(rel string) (real string, isFile bool, err error) {
	p, isFile, err := c.folder.start(rel)
	if err != nil || p.IsRoot() {
		return "", isFile, c.located(err)
	}
	return p.String(), isFile, nil
}

// located puts the repository's name into an error about a path.
func (c *checkout) located(err error) error {
	var e *fault.PathError
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Path = c.path(e.Path)
	return &out
}

// addSkips adds the files that a search of the checkout skipped.
func (c *checkout) addSkips(sum, part *search.Summary) {
	for _, skip := range part.Skipped {
		skip.Path = c.path(skip.Path)
		addSkip(sum, skip)
	}
	for why, n := range part.SkippedCount {
		sum.SkippedCount[why] += n
	}
}

func (c *checkout) path(rel string) string {
	if rel == "" || rel == "." {
		return c.repo
	}
	return c.repo + "/" + rel
}

// local searches a checkout and the repositories whose names are below its own,
// in path order.
func (r *remoteRun) local(ctx context.Context, part *repos.Part, judge *repos.Judge, at *repos.Place) error {
	c, inside := r.r.checkout(part.Checkout), part.Inside
	run, opts, ok, err := r.localRun(ctx, c, at)
	if err != nil {
		return err
	}
	if !ok {
		return r.each(inside)
	}
	defer run.filter.close()
	shadowed := r.ask.Shadowed(c.repo)
	known, err := r.theirs(ctx, c)
	if err != nil {
		return err
	}
	report, err := walk.Each(ctx, c.folder.Root, &opts, func(v *walk.Visit, e *rootfs.Entry) (*found, bool) {
		full := c.path(joinPath(v.Shown, e.Name))
		k := &run.scanners[v.Worker]
		if shadowed(full) || !judge.Passes(full, e.Name) {
			k.filtered++
			return nil, false
		}
		return run.overlay(ctx, k, v, e, c, known, full[len(c.repo)+1:])
	}, func(rel string, f *found) error {
		for len(inside) > 0 && !inside[0].After(c.path(rel)) {
			if err := r.each(inside[:1]); err != nil {
				return err
			}
			inside = inside[1:]
		}
		return r.collect.add(c.path(rel), f)
	})
	for i := range report.Skipped {
		report.Skipped[i].Path = c.path(report.Skipped[i].Path)
	}
	addReport(&r.collect.sum, &report)
	run.gatherStats()
	if err != nil {
		return err
	}
	return r.each(inside)
}

// localRun prepares a search of a checkout's folder. It reports false if the
// depth limit ends above it. Globs are not applied here, since they are about the
// whole path.
func (r *remoteRun) localRun(ctx context.Context, c *checkout, at *repos.Place) (*searchRun, walk.Options, bool, error) {
	scope := r.q.Scope
	scope.Globs, scope.Types, scope.Paths = nil, nil, nil
	depth, ok := at.DepthIn(c.repo, scope.MaxDepth)
	scope.MaxDepth = depth
	if !ok {
		return nil, walk.Options{}, false, nil
	}
	f, err := c.folder.filter(ctx, &scope)
	if err != nil {
		return nil, walk.Options{}, false, err
	}
	opts := f.opts
	if opts.Start, _, err = c.folder.start(at.In(c.repo)); err != nil {
		f.close()
		return nil, opts, false, c.located(err)
	}
	return &searchRun{
		folder: c.folder, q: r.q, filter: f, pattern: r.pattern, request: r.request, matching: r.matching,
		scanners: make([]worker, c.folder.Workers), collect: r.collect, jointly: r.jointly, shapes: r.shapes,
	}, opts, true, nil
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// localFile searches one named file of a checkout.
func (r *remoteRun) localFile(ctx context.Context, at *repos.Place) error {
	c := r.r.checkout(at.Checkout)
	p, _, err := c.folder.start(at.Rel)
	if err != nil {
		return c.located(err)
	}
	run := &searchRun{
		folder: c.folder, q: r.q, pattern: r.pattern, request: r.request, matching: r.matching,
		scanners: make([]worker, 1), collect: r.collect, jointly: r.jointly, shapes: r.shapes,
	}
	r.collect.sum.Stats.Considered-- // single counts it too
	r.collect.prefix = c.repo + "/"
	defer func() { r.collect.prefix = "" }()
	return run.single(p)
}

// theirs asks the server of a checkout what could match. It returns nil without
// an answer; then every file of the folder is searched, which takes longer and
// finds the same.
func (r *remoteRun) theirs(ctx context.Context, c *checkout) (*repos.Known, error) {
	known, err := r.ask.Known(ctx, c.repo, r.want.Need)
	if err != nil {
		r.r.log.Warn("servers: a checkout is searched without its server", "repo", c.repo, "err", err)
	}
	if known != nil {
		addCommit(&r.collect.sum.Stats, c.repo, known.Commit)
	}
	return known, ctx.Err()
}

// overlay searches one file of a checkout, unless the server has the same and
// no match in it.
func (r *searchRun) overlay(ctx context.Context, k *worker, v *walk.Visit, e *rootfs.Entry, c *checkout, known *repos.Known, rel string) (*found, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	var theirs uint64
	compare := false
	if known != nil && !known.Matches[rel] {
		theirs, compare = known.Sums[rel]
	}
	if compare {
		if info, err := v.Dir.Stat(e.Name); err == nil && c.same(rel, &info, theirs) {
			return nil, false
		}
	}
	f, err := openEntry(r.folder.Root, v, e)
	if err != nil {
		return &found{err: err}, true
	}
	defer f.Close()
	if !compare || f.Info().Size > overlayRead {
		return r.search(k, f, "")
	}
	return r.compared(k, f, c, theirs, rel)
}

// compared reads a file, remembers its checksum, and searches it if it is not
// what the server has.
func (r *searchRun) compared(k *worker, f *rootfs.File, c *checkout, theirs uint64, rel string) (*found, bool) {
	out := &found{info: f.Info()}
	data := make([]byte, out.info.Size)
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		out.err = err
		return out, true
	}
	data = data[:n]
	sum := repos.Checksum(data)
	c.remember(rel, &out.info, sum)
	if sum == theirs {
		return nil, false
	}
	if miss, err := r.jointly.lacking(r.q, k, data); miss != nil || err != nil {
		k.searched++
		return &found{err: err}, err != nil
	}
	r.scanner(k).Path = rel
	out.res, out.err = inMemory(r.scanner(k), data, &r.request)
	k.searched++
	k.bytes += out.res.Bytes
	if out.err == nil && out.res.Skip == scan.NotSkipped && out.res.Matched == 0 {
		return nil, false
	}
	return out, true
}

// same reports whether a file is known to have the content of a checksum.
func (c *checkout) same(rel string, info *rootfs.Info, sum uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.ours[rel]
	return ok && s.sum == sum && s.Of(info)
}

func (c *checkout) remember(rel string, info *rootfs.Info, sum uint64) {
	changed := info.ChangeTime
	if changed.IsZero() {
		changed = info.ModTime
	}
	if time.Since(changed) < c.rest {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ours == nil {
		c.ours = map[string]stamped{}
	}
	s := index.Stamp{Ino: info.Ino, Size: info.Size, MTime: nanoseconds(info.ModTime), CTime: nanoseconds(info.ChangeTime)}
	c.ours[rel] = stamped{s, sum}
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
