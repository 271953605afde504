package quarry

import (
	"context"
	"strings"

	"quarry/internal/scan"
	"quarry/internal/zoekt"
	"quarry/match"
)

// eachRemoteText is eachText for files on servers and in checkouts.
func eachRemoteText[T any](ctx context.Context, r *remote, scope *Scope, sum *Summary, pattern *match.Pattern,
	work func(m *match.Matcher, path string, text []byte) *T, deliver func(path string, r *T)) error {
	f, err := r.filter(scope)
	if err != nil {
		return err
	}
	run := &remoteRun{
		r: r, q: &Query{Scope: *scope}, ctx: ctx, filter: f, pattern: pattern, need: needQuery(pattern.Need()),
		matching: pattern.NewSearch(ctx), collect: newCollector(&Query{}, nil), down: map[int]bool{},
		// Whether words are in two bytes matters to nobody.
		tiny: func() bool { return false },
	}
	if pattern.Mode() == match.Lines {
		run.need = needQuery(anyWord(pattern.Need())) // a file with one of the words counts
	}
	t := &remoteTexts[T]{remoteRun: run, work: work, deliver: deliver, matchers: make([]*match.Matcher, r.workers)}
	err = run.places(func(at *place) error {
		switch {
		case at.isFile && at.checkout != nil:
			return t.local(at.checkout, newRemoteScope(f, r.policy, ""), at)
		case at.isFile:
			return t.texts([]remoteFile{{path: at.path, repo: at.repo, rel: at.rel}})
		}
		return run.below(at, f, t.local, t.part)
	})
	*sum = run.collect.sum
	sum.Stats.Remote = true
	// A rare word weighs by all files there are, not by those it was looked
	// for in.
	sum.Stats.Searched = max(sum.Stats.Considered, sum.Stats.Searched)
	return err
}

// remoteTexts is one pass over texts.
type remoteTexts[T any] struct {
	*remoteRun
	work     func(m *match.Matcher, path string, text []byte) *T
	deliver  func(path string, r *T)
	matchers []*match.Matcher
}

func (t *remoteTexts[T]) part(repos []*zoekt.Repo, scope *remoteScope, at *place) error {
	files, err := t.candidates(repos, scope, at)
	if err != nil {
		return err
	}
	for _, p := range repos {
		t.collect.sum.Stats.Considered += p.Files
	}
	return t.texts(files)
}

// texts works on files of servers.
func (t *remoteTexts[T]) texts(files []remoteFile) error {
	return t.fetched(files, func(b *batch) error {
		return inOrder(t.ctx, len(b.files), t.r.workers, func(worker, i int) (*T, bool) {
			doc := b.contents[b.files[i].path]
			if doc == nil || len(doc.Content) > maxRanked {
				return nil, b.files[i].known != nil
			}
			if t.matchers[worker] == nil {
				t.matchers[worker] = t.matching.NewMatcher()
			}
			text, ok := decoded(doc.Content)
			if !ok {
				return nil, false
			}
			r := t.work(t.matchers[worker], b.files[i].path, text)
			return r, r != nil
		}, func(i int, r *T) error {
			if r != nil {
				t.collect.sum.Stats.from(b.files[i].repo.Name, b.contents[b.files[i].path])
				t.deliver(b.files[i].path, r)
			} else if known := b.files[i].known; known.res.Skip != scan.NotSkipped || known.err != nil {
				return t.collect.add(b.files[i].path, known)
			}
			return nil
		})
	})
}

// local works on the files of a checkout.
func (t *remoteTexts[T]) local(c *checkout, scope *remoteScope, at *place) error {
	s := t.q.Scope
	s.Globs, s.Types, s.Paths = nil, nil, []string{at.relIn(c)}
	depth, ok := at.depthIn(c, s.MaxDepth)
	if !ok {
		return nil
	}
	s.MaxDepth = depth
	var part Summary
	err := eachText(t.ctx, c.ws, &s, &part, t.pattern, func(m *match.Matcher, path string, text []byte) *T {
		full := c.path(path)
		if !at.isFile && !scope.passes(full, path[strings.LastIndexByte(path, '/')+1:]) {
			return nil
		}
		return t.work(m, full, text)
	}, func(path string, r *T) { t.deliver(c.path(path), r) })
	for i := range part.Skipped {
		part.Skipped[i].Path = c.path(part.Skipped[i].Path)
		t.collect.sum.addSkip(part.Skipped[i])
	}
	for why, n := range part.SkippedCount {
		t.collect.sum.SkippedCount[why] += n
	}
	t.collect.sum.Stats.Considered += part.Stats.Searched
	return c.located(err)
}
