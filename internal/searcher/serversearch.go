package searcher

import (
	"bytes"
	"context"
	"sort"
	"sync"
	"time"

	"quarry/fault"
	"quarry/internal/repos"
	"quarry/internal/scan"
	"quarry/match"
	"quarry/search"
)

// A server says which files could match; their whole content is fetched in path
// order and searched here, by the code that searches local files. So an answer
// is that of a scan of the same commits, and a limit ends the fetching.

// remoteRun is one search of servers under way.
type remoteRun struct {
	r        *Servers
	q        *search.Query
	ask      *repos.Question
	noted    int // how many failures of ask the summary has
	want     repos.Want
	pattern  *match.Pattern
	request  scan.Request
	matching *match.Search
	jointly  *jointly
	shapes   shapes
	scanners []*worker
	collect  *collector
	tiny     func() bool // whether the pattern can match in two bytes, which servers do not index
	visit    func(*repos.Part) error
}

// SearchEach answers a query from the servers and the checkouts.
func (r *Servers) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	started := time.Now()
	shapes, err := newShapes(ctx, &q)
	if err != nil {
		return nil, err
	}
	pattern, each, err := compileQuery(ctx, &q)
	if err != nil {
		return nil, err
	}
	want, err := r.want(&q.Scope)
	if err != nil {
		return nil, err
	}
	bounded, cancel := within(ctx, q.Limits.Time)
	defer cancel()
	run := &remoteRun{
		r: r, q: &q, want: want, pattern: pattern,
		request: scanRequest(&q), matching: pattern.NewSearch(), scanners: make([]*worker, r.workers),
		collect: newCollector(&q, yield), jointly: each, shapes: shapes,
	}
	defer run.matching.StopWith(bounded)()
	run.tiny = sync.OnceValue(run.matchesTiny)
	defer each.start(bounded)()
	switch {
	case q.Invert || q.FilesWithoutMatch: // every file is wanted
	case q.Match.Syntax == match.Words:
		run.want.Need = anyWord(pattern.Need())
	default:
		run.want.Need = each.need(pattern)
	}
	if q.Limits.CountCheaply && !run.want.Narrow() {
		q.Limits.CountTo = 0
	}
	err = run.all(bounded)
	sum := &run.collect.sum
	sum.Stats.Strategy, sum.Stats.Remote = pattern.Strategy(), true
	sum.Stats.Plan = run.plan()
	sum.Stats.Elapsed = time.Since(started)
	return ended(ctx, sum, err)
}

// plan says how the servers were asked.
func (r *remoteRun) plan() search.Plan {
	named := 0
	if r.ask != nil {
		named = r.ask.Named
	}
	return search.Plan{Kind: search.PlanServers, Candidates: named, Servers: r.r.tree.Servers()}
}

// want prepares a scope.
func (r *Servers) want(s *search.Scope) (repos.Want, error) {
	if s.Changed.Any() {
		return repos.Want{}, errServersChanged
	}
	f, err := newFilter(s, r.rules, r.workers)
	if err != nil {
		return repos.Want{}, err
	}
	return repos.Want{Walk: f.opts, Types: f.types, Globs: s.Globs, Dialect: GlobDialect(s.Dialect), TypeGlobs: s.Types}, nil
}

// errServersChanged is returned for a search for changed files: servers only have
// commits.
var errServersChanged = fault.New(fault.InvalidArgument, "servers have files as they were committed, so none has changed", "search a folder")

// anyWord is the need of a pattern of words of which one is enough.
func anyWord(n match.Need) match.Need {
	if n.Op == match.NeedAll {
		n.Op = match.NeedEither
	}
	return n
}

func (r *remoteRun) all(ctx context.Context) error {
	err := r.places(ctx, func(at *repos.Place) error {
		if at.IsFile {
			return r.single(ctx, at)
		}
		return r.below(ctx, at, &r.want, r.local, r.part)
	})
	if err != nil {
		return err
	}
	return r.collect.finish()
}

// places visits what the query's paths name.
func (r *remoteRun) places(ctx context.Context, visit func(*repos.Place) error) (err error) {
	if r.ask, err = r.r.tree.Ask(ctx); err != nil {
		return err
	}
	r.noteLost()
	paths := r.q.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, p := range paths {
		at, err := r.ask.Locate(ctx, p)
		if err != nil {
			return err
		}
		if err := visit(at); err != nil {
			return err
		}
	}
	return r.ask.Err()
}

// below visits the repositories and checkouts of a folder, in path order. local
// and served must visit the parts inside of their part themselves, with r.visit.
func (r *remoteRun) below(ctx context.Context, at *repos.Place, want *repos.Want, local func(context.Context, *repos.Part, *repos.Judge, *repos.Place) error,
	served func(context.Context, *repos.Part, *repos.Judge) error) error {
	judge := r.ask.Judge(at, want)
	r.visit = func(part *repos.Part) error {
		if part.Checkout != "" {
			return local(ctx, part, judge, at)
		}
		return served(ctx, part, judge)
	}
	return r.each(r.ask.Parts(at))
}

// each visits parts in order; the first error ends it.
func (r *remoteRun) each(parts []repos.Part) error {
	for i := range parts {
		if err := r.visit(&parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// noteLost records the servers whose files are missing from the answer, unless it
// is recorded already. It is called after every request that may lose a server.
func (r *remoteRun) noteLost() {
	for _, f := range r.ask.Failures[r.noted:] {
		r.noted++
		r.r.log.Warn("servers: no answer", "server", f.Name, "err", f.Err)
		lostServer(&r.collect.sum, f.Name, f.Err)
	}
}

// lostServer makes an answer incomplete and names the server.
func lostServer(s *search.Summary, name string, err error) {
	s.SkippedCount[search.Unreadable]++
	addSkip(s, search.Skip{Path: name, Reason: search.Unreadable, Detail: err.Error(), Server: true})
	s.Exact = false
}

// part searches repositories and, in path order between their files, the parts
// that lie inside them.
func (r *remoteRun) part(ctx context.Context, part *repos.Part, judge *repos.Judge) error {
	files, err := r.candidates(ctx, part, judge)
	if err != nil {
		return err
	}
	r.collect.sum.Stats.Considered += part.Files()
	for i := range part.Inside {
		in := &part.Inside[i]
		n := sort.Search(len(files), func(i int) bool { return !in.After(files[i].Path) })
		if err := r.search(ctx, files[:n]); err != nil {
			return err
		}
		if err := r.visit(in); err != nil {
			return err
		}
		files = files[n:]
	}
	return r.search(ctx, files)
}

// candidates asks for the files that could match.
func (r *remoteRun) candidates(ctx context.Context, part *repos.Part, judge *repos.Judge) ([]repos.File, error) {
	files, left, err := r.ask.Candidates(ctx, part, judge)
	r.noteLost()
	addReport(&r.collect.sum, &left)
	return files, err
}

// outcome decides about a file whose content no server has: no match, skipped as
// binary, or an error.
func (r *remoteRun) outcome(a *repos.Absence) *found {
	switch {
	case a.Why == repos.Tiny && !r.tiny():
		return &found{} // whatever is in it doesn't match
	case a.Why == repos.Binary && !r.q.Binary:
		return &found{res: scan.Result{Skip: scan.Binary}}
	}
	return &found{err: a}
}

// absentReason is why a file that no server has could not be searched.
func absentReason(a *repos.Absence) search.Reason {
	switch a.Why {
	case repos.Binary:
		return search.Binary
	case repos.TooLarge:
		return search.TooLarge
	}
	return search.Unreadable
}

// matchesTiny tries the pattern on every text of one or two bytes.
func (r *remoteRun) matchesTiny() bool {
	s := scan.New(r.matching.NewMatcher())
	req := scan.Request{Detail: scan.Exists, Invert: r.q.Invert}
	try := func(text ...byte) bool {
		res, err := s.File(bytes.NewReader(text), int64(len(text)), &req)
		return err != nil || res.Matched > 0
	}
	for a := range 256 {
		if try(byte(a)) {
			return true
		}
	}
	for a := range 256 {
		for b := range 256 {
			if try(byte(a), byte(b)) {
				return true
			}
		}
	}
	return false
}

// single searches a file that was named.
func (r *remoteRun) single(ctx context.Context, at *repos.Place) error {
	r.collect.sum.Stats.Considered++
	if at.Checkout != "" {
		return r.localFile(ctx, at)
	}
	file, err := r.ask.File(ctx, at)
	r.noteLost()
	if err != nil {
		return err
	}
	return r.search(ctx, []repos.File{file})
}

// fetched visits files with their content, in path order.
func (r *remoteRun) fetched(ctx context.Context, files []repos.File, visit func(*repos.Batch) error) error {
	for b := range r.ask.Batches(ctx, files) {
		r.noteLost()
		if err := visit(b); err != nil {
			return err
		}
		n, size := b.Fetched()
		r.collect.sum.Stats.Searched += n
		r.collect.sum.Stats.Bytes += size
	}
	return ctx.Err()
}

// search fetches files and searches them; results come in path order.
func (r *remoteRun) search(ctx context.Context, files []repos.File) error {
	return r.fetched(ctx, files, func(b *repos.Batch) error {
		return inOrder(ctx, len(b.Files), r.r.workers, nil, func(worker, i int) (*found, bool) {
			return r.outcomeOf(worker, b, i)
		}, func(i int, f *found) error {
			repo := b.Files[i].Repo
			f.info.ModTime = repo.Changed
			if doc := b.Doc(i); doc != nil && f.err == nil && f.res.Matched > 0 {
				addCommit(&r.collect.sum.Stats, repo.Name, doc.Commit)
			}
			return r.collect.add(b.Files[i].Path, f)
		})
	})
}

// outcomeOf searches one fetched file.
func (r *remoteRun) outcomeOf(by int, b *repos.Batch, i int) (*found, bool) {
	if a := b.Files[i].Absent; a != nil {
		return r.outcome(a), true
	}
	doc := b.Doc(i)
	if doc == nil {
		return nil, false // its server failed, or it is gone
	}
	if r.scanners[by] == nil {
		r.scanners[by] = &worker{scanner: scan.New(r.matching.NewMatcher())}
		r.scanners[by].scanner.Shapes = r.shapes
	}
	r.scanners[by].scanner.Path = b.Files[i].Path
	out := &found{}
	if miss, err := r.jointly.lacking(r.q, r.scanners[by], doc.Content); miss != nil || err != nil {
		return &found{err: err}, err != nil
	}
	out.res, out.err = inMemory(r.scanners[by].scanner, doc.Content, &r.request)
	return out, true
}

// inMemory searches a file that was fetched.
func inMemory(s *scan.Scanner, data []byte, req *scan.Request) (scan.Result, error) {
	src := bytes.NewReader(data)
	res, err := s.File(src, int64(len(data)), req)
	if req.Decode && err == nil {
		err = res.Decode(src)
	}
	return res, err
}

// addCommit notes which commit a hit comes from.
func addCommit(s *search.Stats, repo, commit string) {
	if commit == "" {
		return
	}
	if s.Commits == nil {
		s.Commits = map[string]string{}
	}
	if len(s.Commits) < maxCommits {
		s.Commits[repo] = commit
	}
}

// maxCommits bounds how many repositories an answer names with their commit.
const maxCommits = 100
