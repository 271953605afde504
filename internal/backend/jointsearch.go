package backend

import (
	"context"
	"time"

	"quarry/fault"
	"quarry/internal/searcher"
	"quarry/search"
)

// errOrder is returned for orders that aren't possible across several roots.
var errOrder = fault.New(fault.InvalidArgument, "over several roots, files come in path order, or by the number of their matches", "search one root, or order the answer by path")

// SearchEach answers a query file by file, either in the order of the roots and in path
// order within each, or with the files with the most matches first.
func (s *joint) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	targets, err := s.targets(&q.Scope, false)
	if err != nil {
		return nil, err
	}
	if len(targets) == 1 {
		return targets[0].search(ctx, q, yield)
	}
	if q.Order == search.ByMatches {
		return search.MostMatches(q, yield, func(q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
			return s.inTurn(ctx, targets, q, yield)
		})
	}
	if q.Order != search.ByPath {
		return nil, errOrder
	}
	return s.inTurn(ctx, targets, q, yield)
}

// inTurn searches the targets one after the other, each in path order.
func (s *joint) inTurn(ctx context.Context, targets []target, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	j := jointSearch{q: q, yield: yield, started: time.Now()}
	j.sum.Exact, j.sum.SkippedCount = true, map[search.Reason]int{}
	for i := range targets {
		if more, err := j.part(ctx, &targets[i]); err != nil || !more {
			return &j.sum, err
		}
	}
	return &j.sum, nil
}

func (t *target) search(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	t.narrow(&q.Scope)
	var own error // error of yield
	sum, err := t.root.SearchEach(ctx, q, func(f *search.FileMatch) error {
		f.Path = t.root.join(f.Path)
		own = yield(f)
		return own
	})
	if err != nil {
		if own != nil {
			return nil, own
		}
		return nil, t.root.located(err)
	}
	t.root.joinSkips(sum)
	return sum, nil
}

// jointSearch is a search of several targets. The offset and limits for each target are
// those left over by the earlier ones.
type jointSearch struct {
	q       search.Query
	yield   func(*search.FileMatch) error
	started time.Time
	sum     search.Summary
	given   struct{ files, lines, blocks, bytes int }
	full    bool        // deliver no more files, only count
	why     search.Stop // the limit that was reached
}

// part searches one target. more reports whether to continue with the next: yes, unless a
// limit ended this search. A search also continues after a connection to a server was
// lost.
func (j *jointSearch) part(ctx context.Context, t *target) (more bool, err error) {
	q := j.q
	q.Offset = max(q.Offset-j.units(&j.sum), 0)
	if !j.rest(&q.Limits) {
		j.sum.Stopped, j.sum.Exact = search.StopTime, false
		return false, nil
	}
	blocks := q.Limits.Blocks
	sum, err := t.search(ctx, q, func(f *search.FileMatch) error {
		if j.full {
			return nil
		}
		if !f.More {
			j.given.files++
		}
		j.given.lines += f.Matched
		j.given.bytes += searcher.TextBytes(f)
		return j.yield(f)
	})
	if err != nil {
		return false, err
	}
	if !j.full {
		j.given.blocks += min(max(sum.Blocks-q.Offset, 0), blocks)
	}
	more = sum.Exact || sum.Stopped == ""
	if j.full && more { // all of this target's results are beyond the limit
		if sum.Stopped = ""; sum.FilesMatched > 0 {
			sum.Stopped, more = j.why, j.counted(sum) <= q.Limits.CountTo
			sum.Exact = sum.Exact && more
		}
	}
	j.sum.Add(sum)
	j.sum.Stats.Elapsed = time.Since(j.started)
	return more, nil
}

// counted returns the count that is compared with Limits.CountTo.
func (j *jointSearch) counted(s *search.Summary) int {
	if j.q.Limits.Blocks > 0 {
		return s.Blocks
	}
	return s.LinesMatched
}

// units returns the count that an offset is compared with.
func (j *jointSearch) units(s *search.Summary) int {
	switch {
	case j.q.Detail == search.Files:
		return s.FilesMatched
	case j.q.Limits.Blocks > 0:
		return s.Blocks
	}
	return s.LinesMatched
}

// rest subtracts the used part from the limits. If a limit is already reached, the next
// target still reports whether it has results, and counts as far as requested. rest
// returns false if the time is used up.
func (j *jointSearch) rest(l *search.Limits) bool {
	for _, one := range []struct {
		limit *int
		used  int
		why   search.Stop
	}{
		{&l.Files, j.given.files, search.StopFiles}, {&l.Lines, j.given.lines, search.StopLines},
		{&l.Blocks, j.given.blocks, search.StopBlocks}, {&l.Bytes, j.given.bytes, search.StopBytes},
	} {
		if *one.limit == 0 {
			continue
		}
		if *one.limit -= one.used; *one.limit <= 0 {
			*one.limit, j.full, j.why = 1, true, one.why
		}
	}
	if l.Reads > 0 {
		if l.Reads -= j.sum.Stats.Searched; l.Reads <= 0 {
			l.Reads = -1 // none left: the next read ends the search
		}
	}
	if l.ReadBytes > 0 {
		if l.ReadBytes -= j.sum.Stats.Bytes; l.ReadBytes <= 0 {
			l.ReadBytes = -1
		}
	}
	if j.sum.Stopped != "" {
		j.full, j.why = true, j.sum.Stopped
	}
	l.CountTo = max(l.CountTo-j.counted(&j.sum), 0)
	if l.Time > 0 {
		if l.Time -= time.Since(j.started); l.Time <= 0 {
			return false
		}
	}
	return true
}
