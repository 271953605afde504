package searcher

import (
	"context"
	"strings"

	"quarry/internal/repos"
	"quarry/internal/scan"
	"quarry/match"
	"quarry/search"
)

// eachText goes over files on servers and in checkouts.
func (r *Servers) eachText(ctx context.Context, scope *search.Scope, sum *search.Summary, need match.Need,
	work textWork, deliver func(path string, r any)) error {
	want, err := r.want(scope)
	if err != nil {
		return err
	}
	want.Need = need
	run := &remoteRun{
		r: r, q: &search.Query{Scope: *scope}, want: want, collect: newCollector(&search.Query{}, nil),
		// Texts of two bytes don't matter for words.
		tiny: func() bool { return false },
	}
	t := &remoteTexts{remoteRun: run, work: work, deliver: deliver}
	err = run.places(ctx, func(at *repos.Place) error {
		switch {
		case at.IsFile && at.Checkout != "":
			return t.local(ctx, &repos.Part{Checkout: at.Checkout}, nil, at)
		case at.IsFile:
			return t.texts(ctx, []repos.File{at.File()})
		}
		return run.below(ctx, at, &run.want, t.local, t.part)
	})
	*sum = run.collect.sum
	sum.Stats.Remote = true
	// The weight of a rare word depends on all files, not only on those that were
	// searched for it.
	sum.Stats.Searched = max(sum.Stats.Considered, sum.Stats.Searched)
	return err
}

// remoteTexts is one pass over texts.
type remoteTexts struct {
	*remoteRun
	work    textWork
	deliver func(path string, r any)
}

func (t *remoteTexts) part(ctx context.Context, part *repos.Part, judge *repos.Judge) error {
	files, err := t.candidates(ctx, part, judge)
	if err != nil {
		return err
	}
	t.collect.sum.Stats.Considered += part.Files()
	if err := t.texts(ctx, files); err != nil {
		return err
	}
	return t.each(part.Inside)
}

// texts works on files of servers.
func (t *remoteTexts) texts(ctx context.Context, files []repos.File) error {
	return t.fetched(ctx, files, func(b *repos.Batch) error {
		return inOrder(ctx, len(b.Files), t.r.workers, nil, func(_, i int) (any, bool) {
			doc := b.Doc(i)
			if doc == nil || len(doc.Content) > maxRanked {
				return nil, b.Files[i].Absent != nil
			}
			text, ok := decoded(doc.Content)
			if !ok {
				return nil, false
			}
			r := t.work(b.Files[i].Path, text)
			return r, r != nil
		}, func(i int, r any) error {
			if r != nil {
				addCommit(&t.collect.sum.Stats, b.Files[i].Repo.Name, b.Doc(i).Commit)
				t.deliver(b.Files[i].Path, r)
			} else if known := t.outcome(b.Files[i].Absent); known.res.Skip != scan.NotSkipped || known.err != nil {
				return t.collect.add(b.Files[i].Path, known)
			}
			return nil
		})
	})
}

// local works on the files of a checkout. judge is not used for a file that was
// named.
func (t *remoteTexts) local(ctx context.Context, p *repos.Part, judge *repos.Judge, at *repos.Place) error {
	c, s := t.r.checkout(p.Checkout), t.q.Scope
	s.Globs, s.Types, s.Paths = nil, nil, []string{at.In(c.repo)}
	depth, ok := at.DepthIn(c.repo, s.MaxDepth)
	if !ok {
		return t.each(p.Inside)
	}
	s.MaxDepth = depth
	shadowed := t.ask.Shadowed(c.repo)
	var part search.Summary
	err := c.folder.eachText(ctx, &s, &part, match.Need{}, func(path string, text []byte) any {
		full := c.path(path)
		if !at.IsFile && (shadowed(full) || !judge.Passes(full, path[strings.LastIndexByte(path, '/')+1:])) {
			return nil
		}
		return t.work(full, text)
	}, func(path string, r any) { t.deliver(c.path(path), r) })
	c.addSkips(&t.collect.sum, &part)
	t.collect.sum.Stats.Considered += part.Stats.Searched
	if err != nil {
		return c.located(err)
	}
	return t.each(p.Inside)
}
