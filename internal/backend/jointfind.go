package backend

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"quarry/internal/glob"
	"quarry/internal/lookup"
	"quarry/internal/searcher"
	"quarry/search"
)

// Find lists paths. At the top, the roots themselves are listed as folders.
func (s *joint) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	targets, err := s.targets(&q.Scope, q.Kind != search.OnlyFiles)
	if err != nil {
		return nil, err
	}
	tops, err := s.topEntries(ctx, &q)
	if err != nil {
		return nil, err
	}
	if len(targets) == 1 && len(tops) == 0 {
		return targets[0].find(ctx, q)
	}
	started := time.Now()
	out := &search.FindResult{Entries: tops, Total: len(tops)}
	out.Exact, out.SkippedCount = true, map[search.Reason]int{}
	part := q
	part.Offset = 0
	if q.Limit > 0 {
		part.Limit = q.Offset + q.Limit
	}
	for i := range targets {
		part.Time = left(q.Time, started)
		r, err := targets[i].find(ctx, part)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, r.Entries...)
		out.Total += r.Total
		out.Add(&r.Summary)
	}
	s.sort(out.Entries, q.Order)
	out.Entries = out.Entries[min(max(q.Offset, 0), len(out.Entries)):]
	if out.Stopped != search.StopTime {
		out.Stopped = ""
	}
	if q.Limit > 0 && q.Offset+q.Limit < out.Total {
		out.Entries = out.Entries[:min(q.Limit, len(out.Entries))]
		out.Stopped = cmp.Or(out.Stopped, search.StopFiles)
	}
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

// left returns the remaining time. It is at least 1 ns, so that the remaining parts
// report that they were not searched. 0 means no limit.
func left(limit time.Duration, started time.Time) time.Duration {
	if limit == 0 {
		return 0
	}
	return max(limit-time.Since(started), 1)
}

func (t *target) find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	t.narrow(&q.Scope)
	r, err := t.root.Find(ctx, q)
	if err != nil {
		return nil, t.root.located(err)
	}
	for i := range r.Entries {
		r.Entries[i].Path = t.root.join(r.Entries[i].Path)
	}
	t.root.joinSkips(&r.Summary)
	return r, nil
}

// topEntries returns the roots that a search from the top lists.
func (s *joint) topEntries(ctx context.Context, q *search.FindQuery) ([]search.Entry, error) {
	if q.Kind == search.OnlyFiles || q.Fuzzy != "" {
		return nil, nil
	}
	atTop := len(q.Paths) == 0
	for _, p := range q.Paths {
		if r, _, err := s.locate(p); err == nil && r == nil {
			atTop = true
		}
	}
	if !atTop {
		return nil, nil
	}
	filter, err := glob.CompileFilter(searcher.GlobDialect(q.Dialect), q.Globs...)
	if err != nil {
		return nil, err
	}
	var list []search.Entry
	for _, r := range s.parts {
		if !filter.MatchDir(r.Name) {
			continue
		}
		info, err := r.Stat(ctx, ".")
		if err != nil {
			return nil, r.located(err)
		}
		list = append(list, search.Entry{Path: r.Name, Folder: true, ModTime: info.ModTime})
	}
	return list, nil
}

// sort orders entries as the query requests. Ties are in the order of the roots, then of
// the paths.
func (s *joint) sort(list []search.Entry, order search.Order) {
	slices.SortFunc(list, func(a, b search.Entry) int {
		c := 0
		switch order {
		case search.ByModTime:
			c = b.ModTime.Compare(a.ModTime)
		case search.BySize:
			c = cmp.Compare(b.Size, a.Size)
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), c, cmp.Compare(s.rank(a.Path), s.rank(b.Path)), strings.Compare(a.Path, b.Path))
	})
}

// rank returns the position of a path's root among the roots.
func (s *joint) rank(p string) int {
	name, _, _ := strings.Cut(p, "/")
	return slices.IndexFunc(s.parts, func(r *Part) bool { return r.Name == name })
}

// SearchCode ranks pieces of files. Words are weighted separately in each root: a word
// that is rare in a root has more weight there.
func (s *joint) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	targets, err := s.targets(&q.Scope, false)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	out := &search.CodeResult{}
	out.Exact, out.SkippedCount = true, map[search.Reason]int{}
	for i := range targets {
		t, part := &targets[i], q
		part.Time = left(q.Time, started)
		t.narrow(&part.Scope)
		r, err := t.root.SearchCode(ctx, part)
		if err != nil {
			return nil, t.root.located(err)
		}
		for j := range r.Chunks {
			r.Chunks[j].Path = t.root.join(r.Chunks[j].Path)
		}
		t.root.joinSkips(&r.Summary)
		if len(targets) == 1 {
			return r, nil
		}
		out.Chunks = append(out.Chunks, r.Chunks...)
		out.Total += r.Total
		out.Add(&r.Summary)
	}
	sort.SliceStable(out.Chunks, func(i, j int) bool { return out.Chunks[i].Score > out.Chunks[j].Score })
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	if len(out.Chunks) > limit {
		out.Chunks, out.Stopped = out.Chunks[:limit], cmp.Or(out.Stopped, search.StopLines)
	}
	return out, nil
}

// Symbols finds definitions in all roots, the likeliest first.
func (s *joint) Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error) {
	targets, err := s.targets(&q.Scope, false)
	if err != nil {
		return nil, err
	}
	out := &search.SymbolResult{}
	out.Exact, out.SkippedCount = true, map[search.Reason]int{}
	for i := range targets {
		t, part := &targets[i], q
		t.narrow(&part.Scope)
		r, err := t.root.Symbols(ctx, part)
		if err != nil {
			return nil, t.root.located(err)
		}
		for j := range r.Symbols {
			r.Symbols[j].Path = t.root.join(r.Symbols[j].Path)
		}
		t.root.joinSkips(&r.Summary)
		if len(targets) == 1 {
			return r, nil
		}
		out.Symbols = append(out.Symbols, r.Symbols...)
		out.Total += r.Total
		out.Add(&r.Summary)
	}
	return out, lookup.Rank(&q, out)
}

// EachText visits the texts of the roots, one root after another.
func (s *joint) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	targets, err := s.targets(&q.Scope, false)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	out := &search.Summary{Exact: true, SkippedCount: map[search.Reason]int{}}
	for i := range targets {
		t, part := &targets[i], q
		part.Time = left(q.Time, started)
		t.narrow(&part.Scope)
		if of := q.Fields; of != nil {
			part.Fields = &search.FieldQuery{Keys: of.Keys, Want: of.Want, Look: func(path string, values []byte, counts []uint8) any {
				return of.Look(t.root.join(path), values, counts)
			}}
		}
		sum, err := t.root.EachText(ctx, part, func(path string, text []byte) any { return look(t.root.join(path), text) },
			func(path string, found any) { yield(t.root.join(path), found) })
		if err != nil {
			return nil, t.root.located(err)
		}
		t.root.joinSkips(sum)
		out.Add(sum)
	}
	return out, nil
}

// Remember always calls make, because the answer may depend on several roots.
func (s *joint) Remember(_ context.Context, _ string, make func() (any, error)) (any, error) {
	return make()
}
