package repos

import (
	"cmp"
	"context"
	"sort"
	"strings"

	"quarry/internal/crew"
	"quarry/internal/remote"
	"quarry/internal/walk"
)

// Question is one request to the servers: what they had at its start, and which
// of them failed since. A server that failed is not asked again.
type Question struct {
	// Failures are the servers that did not answer, each once.
	Failures []remote.Failure
	// Named counts the files that servers named.
	Named int

	tree *Tree
	list *Listing
	down map[int]bool // the servers of Failures
}

// Ask begins a question.
func (t *Tree) Ask(ctx context.Context) (*Question, error) {
	l, err := t.List(ctx)
	if err != nil {
		return nil, err
	}
	q := &Question{tree: t, list: l, down: map[int]bool{}}
	for _, f := range l.Failures {
		q.lost(f)
	}
	return q, nil
}

// lost records that the part of a server is missing from the answer.
func (q *Question) lost(f remote.Failure) {
	if !q.down[f.Server] {
		q.down[f.Server] = true
		q.Failures = append(q.Failures, f)
		q.tree.relist()
	}
}

// Err is ErrServers if no server is left that could answer.
func (q *Question) Err() error {
	if len(q.down) < q.tree.client.Servers() || len(q.tree.checkouts) > 0 {
		return nil
	}
	return silence(q.Failures)
}

// File is a file on a server.
type File struct {
	Path   string // of the tree
	Repo   *remote.Repo
	Rel    string
	Absent *Absence // why the server doesn't have its content; nil if it does
}

// File is the file at a place. Whether its content is available is not known.
func (at *Place) File() File { return File{Path: at.Path, Repo: at.Repo, Rel: at.Rel} }

// File is the file at a place.
func (q *Question) File(ctx context.Context, at *Place) (File, error) {
	f := at.File()
	err := q.scatter(ctx, []*remote.Repo{at.Repo}, func(server int, repos []*remote.Repo) (func(), error) {
		return func() {}, q.tree.loadFacts(ctx, server, repos)
	})
	if facts, known := q.tree.factsOf(at.Repo); known && err == nil {
		f.Absent = facts.absent[at.Rel]
	}
	return f, err
}

// FileAt is the file with a path, if it is in no checkout.
func (q *Question) FileAt(path string) (File, bool) {
	name := q.list.owner(path)
	if name == "" || len(path) == len(name) || q.list.isCheckout(name) {
		return File{}, false
	}
	repo := q.list.repo(name)
	return File{Path: path, Repo: repo, Rel: path[len(repo.Name)+1:]}, true
}

// Candidates are the files of a part that could match, in path order, with those
// whose content no server has. The report counts what the judge excluded, and names
// ignore files whose rules are unknown.
func (q *Question) Candidates(ctx context.Context, part *Part, judge *Judge) (files []File, left walk.Report, err error) {
	wanted := judge.want.query()
	named := map[string][]string{} // paths by repository
	err = q.scatter(ctx, part.Repos, func(server int, repos []*remote.Repo) (func(), error) {
		if err := q.tree.loadFacts(ctx, server, repos); err != nil {
			return nil, err
		}
		docs, err := q.tree.client.Search(ctx, server, remote.NamesOnly(remote.And(remote.Head(), in(repos, judge.at), wanted)), false)
		return func() {
			for i := range docs {
				named[docs[i].Repo] = append(named[docs[i].Repo], docs[i].Path)
			}
			q.Named += len(docs)
		}, err
	})
	if err != nil {
		return nil, left, err
	}
	for _, p := range part.Repos {
		if f, known := q.tree.factsOf(p); known && !q.down[p.Server] {
			judge.enter(p.Name, f)
			before := len(files)
			files = q.judged(files, p, named[p.Name], judge, &left)
			doubts := judge.doubts(files[before:])
			left.Skipped = append(left.Skipped, doubts...)
			left.Counts[walk.Unreadable] += len(doubts)
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	return files, left, nil
}

// in asks for files of repositories, below a place in the repository that
// contains it.
func in(repos []*remote.Repo, at *Place) remote.Query {
	var names []string
	for _, p := range repos {
		if !at.within(p) {
			names = append(names, p.Name)
		}
	}
	if len(names) == len(repos) {
		return remote.In(names...)
	}
	part := remote.And(remote.In(at.Repo.Name), remote.PathMatch("^"+remote.QuoteRE(at.Rel)+"/", false))
	if len(names) == 0 {
		return part
	}
	return remote.Or(part, remote.In(names...))
}

// within reports whether a place is a part of a repository.
func (at *Place) within(p *remote.Repo) bool {
	return at.Rel != "" && at.Repo != nil && at.Repo.Name == p.Name
}

// judged adds the wanted files of the judge's repository.
func (q *Question) judged(files []File, p *remote.Repo, named []string, judge *Judge, left *walk.Report) []File {
	shadowed := q.list.shadowed(p.Name)
	add := func(rel string, absent *Absence) {
		full := p.Name + "/" + rel
		if judge.at.within(p) && !strings.HasPrefix(rel, judge.at.Rel+"/") || shadowed(full) {
			return
		}
		why, out := judge.file(rel)
		switch {
		case !out:
			files = append(files, File{Path: full, Repo: p, Rel: rel, Absent: absent})
		case why != walk.Filtered:
			left.Counts[why]++
		}
	}
	for _, rel := range named {
		if judge.facts.absent[rel] == nil {
			add(rel, nil)
		}
	}
	for rel, absent := range judge.facts.absent {
		add(rel, absent)
	}
	return files
}

// scatter does work for the repositories of each server at once, without those
// that failed. The functions that work returns are called afterwards, one by
// one. A server that fails is recorded.
func (q *Question) scatter(ctx context.Context, repos []*remote.Repo, work func(server int, repos []*remote.Repo) (func(), error)) error {
	byServer := map[int][]*remote.Repo{}
	for _, p := range repos {
		if !q.down[p.Server] {
			byServer[p.Server] = append(byServer[p.Server], p)
		}
	}
	type outcome struct {
		server int
		done   func()
		err    error
	}
	results := make(chan outcome, len(byServer))
	for server, mine := range byServer {
		go func() {
			o := outcome{server: server}
			var one crew.Group
			one.Do(func() { o.done, o.err = work(server, mine) })
			o.err = cmp.Or(one.WaitErr(), o.err)
			results <- o
		}()
	}
	for range byServer {
		o := <-results // all end: each call has a deadline
		if o.err != nil {
			if ctx.Err() == nil {
				q.lost(q.tree.failure(o.server, o.err))
			}
		} else {
			o.done()
		}
	}
	return ctx.Err()
}
