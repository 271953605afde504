package quarry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/walk"
	"quarry/internal/zoekt"
)

// checkout is a repository that is checked out here. Its folder says what
// exists; a server helps with files that are as in the commit it indexed: one
// that it doesn't name for a pattern needs no reading. Whether a file is as in
// the commit is told by its checksum, which servers give with each path, and
// remembered for as long as its stamp stays. So an edit, a new file and a
// deletion count from the moment they are made, no matter what git knows.
type checkout struct {
	repo string
	ws   *Workspace
	rest time.Duration // stampRest

	mu     sync.Mutex
	commit string            // of theirs
	theirs map[string]uint64 // checksums on the server, by path
	ours   map[string]stamped
}

// stamped is a checksum and the state of the file it belongs to.
type stamped struct {
	index.Stamp
	sum uint64
}

// overlayRead is the largest file that is compared with the server's: larger
// ones it doesn't keep.
const overlayRead = 32 << 20

// stampRest is how old a change must be for a stamp to be trusted: another one
// right after it may leave the same.
const stampRest = 2 * time.Second

// locateLocal finds a path in a checkout.
func (r *remote) locateLocal(at *place) error {
	p, isFile, err := at.checkout.ws.start(at.rel)
	if err != nil {
		return at.checkout.located(err)
	}
	at.rel, at.isFile, at.path = "", isFile, at.checkout.repo
	if !p.IsRoot() {
		at.rel = p.String()
		at.path += "/" + at.rel
	}
	return nil
}

// located puts the repository's name into an error about a path.
func (c *checkout) located(err error) error {
	var e *rootfs.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Path = c.path(e.Path)
	return &out
}

func (c *checkout) path(rel string) string {
	if rel == "" || rel == "." {
		return c.repo
	}
	return c.repo + "/" + rel
}

// local searches a checkout.
func (r *remoteRun) local(c *checkout, scope *remoteScope, at *place) error {
	run, opts, ok, err := r.localRun(c, at)
	if err != nil || !ok {
		return err
	}
	known, err := r.theirs(c)
	if err != nil {
		return err
	}
	report, err := walk.Each(r.ctx, c.ws.root, &opts, func(v *walk.Visit, e *rootfs.Entry) (*found, bool) {
		full := c.path(joinPath(v.Shown, e.Name))
		k := &run.scanners[v.Worker]
		if !scope.passes(full, e.Name) || run.filter.vaultIgnores(v.Shown, e.Name) {
			k.filtered++
			return nil, false
		}
		return run.overlay(k, v, e, c, known, full[len(c.repo)+1:])
	}, r.collect.add)
	for i := range report.Skipped {
		report.Skipped[i].Path = c.path(report.Skipped[i].Path)
	}
	r.collect.prefix = ""
	r.collect.sum.addReport(&report)
	run.gatherStats()
	return err
}

// passes applies globs and types to a file of a checkout; its folders were not
// asked about yet.
func (s *remoteScope) passes(full, name string) bool {
	o := &s.f.opts
	return (o.Filter == nil || o.Filter.Match(full[s.below:])) && (s.f.types == nil || s.f.types.MatchFile(name))
}

// localRun makes ready to search a checkout's folder; false is that the depth
// asked for ends above it. Globs stay out: they see the whole path.
func (r *remoteRun) localRun(c *checkout, at *place) (*searchRun, walk.Options, bool, error) {
	scope := r.q.Scope
	scope.Globs, scope.Types, scope.Paths = nil, nil, nil
	depth, ok := at.depthIn(c, scope.MaxDepth)
	scope.MaxDepth = depth
	f, err := c.ws.filter(&scope)
	if err != nil || !ok {
		return nil, walk.Options{}, false, err
	}
	opts := f.opts
	if opts.Start, _, err = c.ws.start(at.relIn(c)); err != nil {
		return nil, opts, false, c.located(err)
	}
	r.collect.prefix = c.repo + "/"
	return &searchRun{
		ws: c.ws, q: r.q, ctx: r.ctx, filter: f, pattern: r.pattern, request: r.request, matching: r.matching,
		scanners: make([]worker, c.ws.workers), collect: r.collect,
	}, opts, true, nil
}

// relIn is where in a checkout a search of the place starts.
func (at *place) relIn(c *checkout) string {
	if at.checkout == c {
		return at.rel
	}
	return ""
}

// depthIn is what a limit on the depth below the place means in a checkout.
func (at *place) depthIn(c *checkout, most int) (int, bool) {
	if most <= 0 || at.checkout == c {
		return most, true
	}
	above := strings.Count(strings.TrimPrefix(strings.TrimPrefix(c.repo, at.path), "/"), "/") + 1
	return most - above, most > above
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// localFile searches one named file of a checkout.
func (r *remoteRun) localFile(at *place) error {
	c := at.checkout
	p, _, err := c.ws.start(at.rel)
	if err != nil {
		return c.located(err)
	}
	run := &searchRun{
		ws: c.ws, q: r.q, ctx: r.ctx, pattern: r.pattern, request: r.request, matching: r.matching,
		scanners: make([]worker, 1), collect: r.collect,
	}
	r.collect.sum.Stats.Considered-- // single counts it too
	r.collect.prefix = c.repo + "/"
	defer func() { r.collect.prefix = "" }()
	return run.single(p)
}

// answer is what a server says of a checked-out repository.
type serverAnswer struct {
	sums    map[string]uint64 // of all its files
	matches map[string]bool   // files that could match
}

// theirs asks the server of a checkout what could match. Without an answer the
// folder is searched by itself, which takes longer and finds the same: nil.
func (r *remoteRun) theirs(c *checkout) (*serverAnswer, error) {
	repo, ok := r.list.repoOf(c.repo)
	if !ok || repo.Name != c.repo || r.down[repo.Server] || r.need.Trivial() {
		return nil, r.ctx.Err()
	}
	sums, err := c.sums(r.ctx, r.r.client, repo)
	var docs []zoekt.Doc
	if err == nil {
		docs, err = r.r.client.Search(r.ctx, repo.Server, zoekt.NamesOnly(zoekt.And(zoekt.Head(), zoekt.In(repo.Name), r.need)), false)
	}
	if err != nil {
		r.r.log.Warn("zoekt: a checkout is searched without its server", "repo", c.repo, "err", err)
		return nil, r.ctx.Err()
	}
	out := &serverAnswer{sums: sums, matches: make(map[string]bool, len(docs))}
	for i := range docs {
		if docs[i].Commit == repo.Commit {
			out.matches[docs[i].Path] = true
			continue
		}
		return nil, nil // a newer commit than the checksums are of
	}
	r.asked += len(docs)
	r.collect.sum.Stats.from(c.repo, &zoekt.Doc{Commit: repo.Commit})
	return out, nil
}

// sums gives the checksums of a repository's files at the commit that is
// served.
func (c *checkout) sums(ctx context.Context, client *zoekt.Client, repo *zoekt.Repo) (map[string]uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.theirs != nil && c.commit == repo.Commit {
		return c.theirs, nil
	}
	docs, err := client.Search(ctx, repo.Server, zoekt.NamesOnly(zoekt.And(zoekt.Head(), zoekt.In(repo.Name))), false)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]uint64, len(docs))
	for i := range docs {
		if docs[i].Commit == repo.Commit {
			sums[docs[i].Path] = docs[i].Sum
		}
	}
	c.commit, c.theirs = repo.Commit, sums
	return sums, nil
}

// overlay searches one file of a checkout, unless the server has the same and
// no match in it.
func (r *searchRun) overlay(k *worker, v *walk.Visit, e *rootfs.Entry, c *checkout, known *serverAnswer, rel string) (*found, bool) {
	if r.ctx.Err() != nil {
		return nil, false
	}
	var theirs uint64
	compare := false
	if known != nil && !known.matches[rel] {
		theirs, compare = known.sums[rel]
	}
	if compare {
		if info, err := v.Dir.Stat(e.Name); err == nil && c.same(rel, &info, theirs) {
			return nil, false
		}
	}
	f, err := openEntry(r.ws.root, v, e)
	if err != nil {
		return &found{err: err}, true
	}
	defer f.Close()
	if !compare || f.Info().Size > overlayRead {
		return r.search(k, f)
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
	sum := zoekt.Checksum(data)
	c.remember(rel, &out.info, sum)
	if sum == theirs {
		return nil, false
	}
	out.res, out.err = r.scanner(k).File(bytes.NewReader(data), int64(n), &r.request)
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
