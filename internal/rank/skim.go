package rank

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strings"
	"sync"

	"quarry/internal/crew"
	"quarry/internal/symbols"
	"quarry/match"
)

// Finding definitions takes two thirds of the second stage, so only candidates that can
// still be among the best are judged by them. Skim looks at the words of a text, which
// bound the score that definitions and comments can add.

// seen is the data about a candidate's text.
type seen struct {
	text     []byte // the examined part
	lines    int    // number of lines before it
	occ      []occurrence
	syms     []symbols.Symbol
	comments [][2]int
	guard    [2]int // lines of the include guard
}

// Skim finds the query words in the text of a candidate.
func (c *Corpus) Skim(k *Candidate, text []byte) {
	s := &seen{}
	s.text, s.lines = c.window(text)
	s.occ = c.q.occurrences(s.text)
	c.q.pairs(&k.f, s.occ, c.plain)
	c.q.window(&k.f, s.occ, c.plain)
	k.seen, k.most = s, c.atMost(k, s)
}

// judge scores a skimmed candidate by its definitions.
func (c *Corpus) judge(ctx context.Context, k *Candidate) {
	s := k.seen
	s.syms, s.comments = symbols.Read(func() bool { return ctx.Err() != nil }, k.Path, s.text)
	s.syms, s.guard = withoutGuard(s.text, s.syms)
	c.q.definitions(&k.f, s.syms, c.idf)
	c.q.docs(&k.f, s.occ, s.comments, c.idf)
	k.Score = c.weights.value(&k.f, k.weight)
}

// show finds the pieces of a judged candidate.
func (c *Corpus) show(k *Candidate) {
	s := k.seen
	k.Pieces = c.q.pieces(s, c.idf)
	for i := range k.Pieces {
		k.Pieces[i].First += s.lines
		k.Pieces[i].Last += s.lines
	}
	k.seen = nil
}

// The score of a definition depends on its kind, the case of its name, its position, and
// whether the query names its container.
const (
	mostDefinition = 1.2
	mostContained  = 1.5
)

// atMost bounds the score of a candidate: every word may occur in a comment and twice in
// the name of a definition.
func (c *Corpus) atMost(k *Candidate, s *seen) float64 {
	f := k.f
	count := make([]float64, len(c.q.terms))
	for _, o := range s.occ {
		count[o.term]++
	}
	f[fDocs] = share(c.idf, func(i int) float64 { return count[i] / (count[i] + docsHalf) })
	f[fDefs] = share(c.idf, func(i int) float64 { return 2 * count[i] / (2*count[i] + 1.5) })
	f[fDefName] = c.oneName(s)
	named := c.q.Asks() && c.names(s.text)
	for i := range c.q.idents {
		id := &c.q.idents[i]
		v := mostDefinition
		if id.container != "" {
			v = mostContained
		}
		switch asked := c.q.asks(id); {
		case asked && !named, !asked && slices.ContainsFunc(id.terms, func(t int) bool { return count[t] == 0 }):
		case c.q.symbol:
			f[fSymbol], f[fNamed] = max(f[fSymbol], v), max(f[fNamed], v)
		case asked:
			f[fIdent] = max(f[fIdent], v)
		default:
			f[fWordDef] = max(f[fWordDef], v)
		}
	}
	return c.weights.value(&f, k.weight)
}

// maxName is the maximum distance between the words of a name.
const maxName = 300

// oneName bounds the share of the query in one name: a name is on one line.
func (c *Corpus) oneName(s *seen) float64 {
	all := 0.0
	for _, v := range c.idf {
		all += v
	}
	if all == 0 {
		return 0
	}
	last := make([]int, len(c.idf)) // the last line with the term, from 1
	best, sum, line := 0.0, 0.0, 1
	for i, o := range s.occ {
		if i > 0 {
			before := s.occ[i-1].at
			if o.at-before > maxName || bytes.IndexByte(s.text[before:o.at], '\n') >= 0 {
				line++
				sum = 0
			}
		}
		if last[o.term] != line {
			last[o.term] = line
			sum += c.idf[o.term]
			best = max(best, sum)
		}
	}
	return best / all
}

// names reports whether a text may contain a name the query asks for, in any style.
func (c *Corpus) names(text []byte) bool {
	c.asking.once.Do(func() {
		if p, err := c.q.Names(); err == nil {
			c.asking.search = p.NewSearch()
		}
	})
	if c.asking.search == nil {
		return true
	}
	m, _ := c.asking.matchers.Get().(*match.Matcher)
	if m == nil {
		m = c.asking.search.NewMatcher()
	}
	defer c.asking.matchers.Put(m)
	_, _, ok := m.Find(text, 0)
	return ok
}

// asking finds the names that a query asks for.
type asking struct {
	once     sync.Once
	search   *match.Search
	matchers sync.Pool
}

// judgedFor is the number of candidates judged for an answer of n. More gain nothing: of
// 300 sentences about Linux, 145 have their file first and 244 among the first ten.
func judgedFor(n int) int { return max(2*n, 20) }

// Best returns the n best of the skimmed candidates, in order, with their pieces. It
// judges candidates that can be among the best, in descending order of their bounds, and
// at most judgedFor(n).
func (c *Corpus) Best(ctx context.Context, list []Candidate, n, workers int) []Candidate {
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.most, a.most), strings.Compare(a.Path, b.Path))
	})
	limit := len(list)
	if !c.thorough {
		limit = min(limit, judgedFor(n))
	}
	var mu sync.Mutex
	top := make(scoreHeap, 0, n) // the n highest scores so far
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == limit || n <= 0 || ctx.Err() != nil || len(top) == n && list[next].most < top[0] {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var wg crew.Group
	for range max(1, min(workers, len(list))) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				c.judge(ctx, &list[i])
				mu.Lock()
				if len(top) < n {
					heap.Push(&top, list[i].Score)
				} else if list[i].Score > top[0] {
					top[0] = list[i].Score
					heap.Fix(&top, 0)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	best := list[:next]
	Order(best)
	best = best[:min(n, len(best))]
	for i := range best {
		c.show(&best[i])
	}
	return best
}
