package quarry

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"quarry/internal/scan"
	"quarry/internal/zoekt"
	"quarry/match"
)

// A server says which files could match; their whole content is fetched in path
// order and searched here, by the code that searches local files. So an answer
// is that of a scan of the same commits, and a limit ends the fetching.

const (
	// Repositories are asked about in parts of so many files, the first small:
	// an answer that needs only the first few doesn't ask for all.
	firstFiles = 4 << 10
	mostFiles  = 200 << 10
	// fetchFirst and fetchMost are how many files are fetched at a time. A
	// server keeps none over 2 MB unless told to.
	fetchFirst = 16
	fetchMost  = 128
)

// remoteRun is one search of servers under way.
type remoteRun struct {
	r        *remote
	q        *Query
	ctx      context.Context
	list     *listing
	filter   *filter
	pattern  *match.Pattern
	need     zoekt.Query
	request  scan.Request
	matching *match.Search
	scanners []*scan.Scanner
	collect  *collector
	down     map[int]bool // servers that failed in this search
	errs     []error      // of those
	tiny     func() bool  // could the pattern match in two bytes?
	asked    int          // documents that servers named
}

// SearchEach answers a query from the servers and the checkouts.
func (r *remote) SearchEach(ctx context.Context, q Query, yield func(*File) error) (*Summary, error) {
	started := time.Now()
	pattern, err := match.CompileAny(q.patterns(), q.Match)
	if err != nil {
		return nil, err
	}
	f, err := r.filter(&q.Scope)
	if err != nil {
		return nil, err
	}
	search, cancel := q.within(ctx)
	defer cancel()
	run := &remoteRun{
		r: r, q: &q, ctx: search, filter: f, pattern: pattern,
		request: q.request(), matching: pattern.NewSearch(search), scanners: make([]*scan.Scanner, r.workers),
		collect: newCollector(&q, yield), down: map[int]bool{},
	}
	run.tiny = sync.OnceValue(run.matchesTiny)
	switch {
	case q.Invert || q.Without: // every file is wanted
	case q.Match.Syntax == match.Words:
		run.need = needQuery(anyWord(pattern.Need()))
	default:
		run.need = needQuery(pattern.Need())
	}
	err = run.all()
	sum := &run.collect.sum
	sum.Stats.Strategy, sum.Stats.Remote = pattern.Strategy(), true
	sum.Stats.Plan = fmt.Sprintf("zoekt: %d candidates, %d servers", run.asked, r.client.Servers())
	sum.Stats.Elapsed = time.Since(started)
	return sum.ended(ctx, err)
}

// filter makes a scope ready; a vault's settings don't reach to servers.
func (r *remote) filter(s *Scope) (*filter, error) {
	plain := *s
	plain.VaultRules = false
	return (&Workspace{rules: r.rules, workers: r.workers}).filter(&plain)
}

func (r *remoteRun) all() error {
	err := r.places(func(at *place) error {
		if at.isFile {
			return r.single(at)
		}
		return r.below(at, r.filter, r.local, r.part)
	})
	if err != nil {
		return err
	}
	return r.collect.finish()
}

// places visits what the query's paths name.
func (r *remoteRun) places(visit func(*place) error) (err error) {
	if r.list, err = r.r.list(r.ctx); err != nil {
		return err
	}
	for _, f := range r.list.failures {
		r.lost(f.Server, f.Err)
	}
	paths := r.q.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, p := range paths {
		at, err := r.r.locate(r.ctx, r.list, p)
		if err != nil {
			return err
		}
		if err := visit(at); err != nil {
			return err
		}
	}
	if len(r.down) == r.r.client.Servers() && len(r.r.checkouts) == 0 {
		return noServers(r.errs)
	}
	return nil
}

// below visits the repositories and checkouts of a folder, in path order.
func (r *remoteRun) below(at *place, f *filter, local func(*checkout, *remoteScope, *place) error,
	repos func([]*zoekt.Repo, *remoteScope, *place) error) error {
	scope := newRemoteScope(f, r.r.policy, at.path)
	for _, part := range r.r.parts(r.list, at) {
		var err error
		if part.checkout != nil {
			err = local(part.checkout, scope, at)
		} else {
			err = repos(part.repos, scope, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lost notes that a server's part is missing from the answer.
func (r *remoteRun) lost(server int, err error) {
	if r.down[server] {
		return
	}
	r.down[server] = true
	r.errs = append(r.errs, zoekt.Failure{Server: server, Name: r.r.client.Name(server), Err: err})
	r.r.relist()
	r.r.log.Warn("zoekt: no answer", "server", r.r.client.Name(server), "err", err)
	r.collect.sum.lostServer(r.r.client.Name(server), err)
}

// lostServer makes an answer incomplete and names the server.
func (s *Summary) lostServer(name string, err error) {
	s.SkippedCount[Unreadable]++
	s.addSkip(Skip{Path: name, Reason: Unreadable, Detail: fmt.Sprintf("server %s: %v", name, err)})
	s.Exact = false
}

// remoteFile is a file on a server that could match.
type remoteFile struct {
	path   string // of the workspace
	repo   *zoekt.Repo
	rel    string
	known  *found // the outcome, when it needs no reading
	absent *absence
}

// part searches repositories.
func (r *remoteRun) part(repos []*zoekt.Repo, scope *remoteScope, at *place) error {
	files, err := r.candidates(repos, scope, at)
	if err != nil {
		return err
	}
	for _, p := range repos {
		r.collect.sum.Stats.Considered += p.Files
	}
	return r.search(files)
}

// byServer divides repositories among their servers, without those that failed.
func (r *remoteRun) byServer(repos []*zoekt.Repo) map[int][]*zoekt.Repo {
	out := map[int][]*zoekt.Repo{}
	for _, p := range repos {
		if !r.down[p.Server] {
			out[p.Server] = append(out[p.Server], p)
		}
	}
	return out
}

// candidates asks for the files that could match, and learns what it takes to
// judge them. They come in path order, with those that no server has.
func (r *remoteRun) candidates(repos []*zoekt.Repo, scope *remoteScope, at *place) ([]remoteFile, error) {
	under := zoekt.Query{}
	if at.rel != "" {
		under = zoekt.PathMatch("^"+zoekt.QuoteRE(at.rel)+"/", false)
	}
	named := map[string][]string{} // paths by repository
	err := r.scatter(repos, func(ctx context.Context, server int, repos []*zoekt.Repo) (func(), error) {
		if err := r.r.loadFacts(ctx, server, repos); err != nil {
			return nil, err
		}
		docs, err := r.r.client.Search(ctx, server,
			zoekt.NamesOnly(zoekt.And(zoekt.Head(), in(repos), under, pathQuery(&r.q.Scope), r.need)), false)
		return func() {
			for i := range docs {
				named[docs[i].Repo] = append(named[docs[i].Repo], docs[i].Path)
			}
			r.asked += len(docs)
		}, err
	})
	if err != nil {
		return nil, err
	}
	var files []remoteFile
	for _, p := range repos {
		if facts := r.r.factsOf(p); facts != nil && !r.down[p.Server] {
			scope.enter(p.Name, facts)
			files = r.judged(files, p, facts, named[p.Name], scope, at)
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].path < files[j].path })
	return files, nil
}

func in(repos []*zoekt.Repo) zoekt.Query {
	names := make([]string, len(repos))
	for i, p := range repos {
		names[i] = p.Name
	}
	return zoekt.In(names...)
}

// judged adds the files of a repository that are in scope.
func (r *remoteRun) judged(files []remoteFile, p *zoekt.Repo, facts *repoFacts, named []string, scope *remoteScope, at *place) []remoteFile {
	nested := r.r.nested(r.list, p.Name)
	add := func(rel string, absent *absence) {
		if at.rel != "" && !strings.HasPrefix(rel, at.rel+"/") {
			return
		}
		full := p.Name + "/" + rel
		if slices.ContainsFunc(nested, func(name string) bool { return strings.HasPrefix(full, name+"/") }) {
			return // a repository whose name is longer has this path
		}
		switch why := scope.file(rel); why {
		case "":
			f := remoteFile{path: full, repo: p, rel: rel, absent: absent}
			if absent != nil {
				f.known = r.outcome(absent)
			}
			files = append(files, f)
		case Filtered:
		default:
			r.collect.sum.SkippedCount[why]++
		}
	}
	for _, rel := range named {
		if _, absent := facts.missing[rel]; !absent {
			add(rel, nil)
		}
	}
	for rel, absent := range facts.missing {
		add(rel, &absent)
	}
	return files
}

// outcome is what can be said of a file whose content no server has.
func (r *remoteRun) outcome(a *absence) *found {
	switch {
	case a.tiny && !r.tiny():
		return &found{} // whatever is in it doesn't match
	case a.why == Binary && !r.q.Binary:
		return &found{res: scan.Result{Skip: scan.Binary}}
	}
	return &found{err: &absentError{a}}
}

// absentError is a file that could not be searched since no server has it.
type absentError struct{ *absence }

func (e *absentError) Error() string { return e.detail }

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

// scatter does work for the repositories of each server at once. What it
// returns is done afterwards, one by one; a server that fails is noted.
func (r *remoteRun) scatter(repos []*zoekt.Repo, work func(context.Context, int, []*zoekt.Repo) (func(), error)) error {
	type outcome struct {
		server int
		done   func()
		err    error
	}
	byServer := r.byServer(repos)
	results := make(chan outcome, len(byServer))
	for server, mine := range byServer {
		go func() {
			done, err := work(r.ctx, server, mine)
			results <- outcome{server, done, err}
		}()
	}
	for range byServer {
		o := <-results // all end: each call has a deadline
		if o.err != nil {
			if r.ctx.Err() == nil {
				r.lost(o.server, o.err)
			}
		} else {
			o.done()
		}
	}
	return r.ctx.Err()
}

// single searches a file that was named.
func (r *remoteRun) single(at *place) error {
	r.collect.sum.Stats.Considered++
	if at.checkout != nil {
		return r.localFile(at)
	}
	file := remoteFile{path: at.path, repo: at.repo, rel: at.rel}
	err := r.scatter([]*zoekt.Repo{at.repo}, func(ctx context.Context, server int, repos []*zoekt.Repo) (func(), error) {
		return func() {}, r.r.loadFacts(ctx, server, repos)
	})
	if err != nil {
		return err
	}
	if facts := r.r.factsOf(at.repo); facts != nil {
		if a, absent := facts.missing[at.rel]; absent {
			file.known = r.outcome(&a)
		}
	}
	return r.search([]remoteFile{file})
}

// batch is files and the content they have on their servers.
type batch struct {
	files    []remoteFile
	contents map[string]*zoekt.Doc // by path of the workspace
	failed   map[int]error         // by server
}

// fetched visits files with their content, in path order. While one batch is
// visited the next is on its way.
func (r *remoteRun) fetched(files []remoteFile, visit func(*batch) error) error {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	batches := make(chan *batch)
	go func() {
		defer close(batches)
		size := fetchFirst
		for from := 0; from < len(files); {
			to := min(from+size, len(files))
			b := &batch{files: files[from:to]}
			b.contents, b.failed = r.r.fetch(ctx, b.files)
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
			from, size = to, min(2*size, fetchMost)
		}
	}()
	for b := range batches {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		for server, err := range b.failed {
			r.lost(server, err)
		}
		if err := visit(b); err != nil {
			return err
		}
		for _, d := range b.contents {
			r.collect.sum.Stats.Searched++
			r.collect.sum.Stats.Bytes += int64(len(d.Content))
		}
	}
	return r.ctx.Err()
}

// search searches files, in path order.
func (r *remoteRun) search(files []remoteFile) error {
	return r.fetched(files, func(b *batch) error {
		return inOrder(r.ctx, len(b.files), r.r.workers, func(worker, i int) (*found, bool) {
			return r.outcomeOf(worker, &b.files[i], b.contents)
		}, func(i int, f *found) error {
			f.info.ModTime = b.files[i].repo.Changed
			if f.err == nil && f.res.Matched > 0 {
				r.collect.sum.Stats.from(b.files[i].repo.Name, b.contents[b.files[i].path])
			}
			return r.collect.add(b.files[i].path, f)
		})
	})
}

// outcomeOf searches one fetched file.
func (r *remoteRun) outcomeOf(worker int, file *remoteFile, contents map[string]*zoekt.Doc) (*found, bool) {
	if file.known != nil {
		return file.known, true
	}
	doc := contents[file.path]
	if doc == nil {
		return nil, false // its server failed, or it is gone
	}
	if r.scanners[worker] == nil {
		r.scanners[worker] = scan.New(r.matching.NewMatcher())
	}
	out := &found{}
	out.res, out.err = r.scanners[worker].File(bytes.NewReader(doc.Content), int64(len(doc.Content)), &r.request)
	return out, true
}

// fetch gets the content of files, by their path in the workspace, and says
// which servers failed.
func (r *remote) fetch(ctx context.Context, files []remoteFile) (map[string]*zoekt.Doc, map[int]error) {
	wanted := map[int]map[string][]string{} // paths by server and repository
	for i := range files {
		f := &files[i]
		if f.known != nil {
			continue
		}
		if wanted[f.repo.Server] == nil {
			wanted[f.repo.Server] = map[string][]string{}
		}
		wanted[f.repo.Server][f.repo.Name] = append(wanted[f.repo.Server][f.repo.Name], f.rel)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	contents, failed := map[string]*zoekt.Doc{}, map[int]error{}
	for server, repos := range wanted {
		all.Go(func() {
			var any []zoekt.Query
			for name, paths := range repos {
				any = append(any, zoekt.And(zoekt.In(name), zoekt.Paths(paths...)))
			}
			docs, err := r.client.Search(ctx, server, zoekt.And(zoekt.Head(), zoekt.Or(any...)), true)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[server] = err
				return
			}
			for i := range docs {
				contents[docs[i].Repo+"/"+docs[i].Path] = &docs[i]
			}
		})
	}
	all.Wait()
	return contents, failed
}

// from notes which commit a hit comes from.
func (s *Stats) from(repo string, d *zoekt.Doc) {
	if d == nil || d.Commit == "" {
		return
	}
	if s.Commits == nil {
		s.Commits = map[string]string{}
	}
	if len(s.Commits) < maxCommits {
		s.Commits[repo] = d.Commit
	}
}

// maxCommits bounds how many repositories an answer names with their commit.
const maxCommits = 100
