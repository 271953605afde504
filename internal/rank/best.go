package rank

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"
	"sync"
)

// scored is a candidate with its first-stage score.
type scored struct {
	score       float64
	tally, file int32
}

// score collects the candidates: files whose text or name has a term.
func (c *Corpus) score() {
	c.most = 1
	for _, t := range c.tallies {
		values := c.bm25(t, c.plain)
		for file, v := range values {
			if v > 0 {
				c.top = max(c.top, v)
				c.most = max(c.most, t.parts[file])
			}
		}
		c.values = append(c.values, values)
		c.paths = append(c.paths, c.q.inPaths(t.paths, c.idf))
	}
	for i, t := range c.tallies {
		for file, n := range t.parts {
			if n == 0 {
				continue
			}
			var f Features
			if c.features(&f, i, file) {
				c.scored = append(c.scored, scored{c.first(&f, c.weight(t, file)), int32(i), int32(file)})
			}
		}
	}
}

// features fills in the first-stage features of a file and reports whether the file is a
// candidate.
func (c *Corpus) features(f *Features, tally, file int) bool {
	named := c.paths[tally].features(f, file)
	v := c.values[tally][file]
	if c.long != nil && c.long[tally][file] > 0 {
		f[fText] = c.long[tally][file] / c.longTop
	}
	if v > 0 {
		f[fBM25] = v / c.top
		f[fSize] = logOf(c.tallies[tally].parts[file]) / logOf(c.most)
	}
	return named || v > 0 || f[fText] > 0
}

// logOf returns log(n+1). Every candidate needs it, and nearly all texts have few enough
// parts for the table.
func logOf(n uint32) float64 {
	if n < uint32(len(logs())) {
		return float64(logs()[n])
	}
	return math.Log(float64(n) + 1)
}

var logs = sync.OnceValue(func() *[1 << 15]float32 {
	var t [1 << 15]float32
	for n := range t {
		t[n] = float32(math.Log(float64(n) + 1))
	}
	return &t
})

// weight returns the path weight of a file. If the query asks for tests, tests are not
// weighted down.
func (c *Corpus) weight(t *Tally, file int) float64 {
	w := t.paths.weights[t.paths.weight[file]]
	if w.test && c.q.tests {
		return max(w.weight, askedTest)
	}
	return w.weight
}

// askedTest is the weight of a test when the query asks for tests.
const askedTest = 0.9

// first returns the first-stage score. BM25 weighs more here than in the second stage,
// which has better evidence of relevance.
func (c *Corpus) first(f *Features, weight float64) float64 {
	return (c.weights.dot(f) + 0.75*f[fBM25]) * weight
}

// Matched returns the number of candidates.
func (c *Corpus) Matched() int { return len(c.scored) }

// Short returns the shortlist: the best candidates by first-stage score, in order. The
// second stage reads them.
func (c *Corpus) Short() ([]Candidate, error) {
	list, err := c.best(Shortlist)
	sum := 0
	for i := range list {
		if sum += list[i].parts; sum > shortParts && i >= fewFiles {
			return list[:i], err
		}
	}
	return list, err
}

// best returns the n best candidates in order.
func (c *Corpus) best(n int) ([]Candidate, error) {
	if n < len(c.scored) {
		least := nthScore(c.scored, n)
		var best []scored
		for _, s := range c.scored {
			if s.score >= least {
				best = append(best, s)
			}
		}
		list, err := c.candidates(best)
		return list[:min(n, len(list))], err
	}
	return c.candidates(c.scored)
}

// Naming returns the candidates that may contain a name the query asks for, best first:
// files that have all words of the name and that keep accepts.
func (c *Corpus) Naming(keep func(tally, file int) bool) ([]Candidate, error) {
	var named []scored
	words := c.naming()
	for _, s := range c.scored {
		if words[s.tally][s.file] && keep(int(s.tally), int(s.file)) {
			named = append(named, s)
		}
	}
	return c.candidates(named)
}

// naming finds the files that have all words of an asked name.
func (c *Corpus) naming() [][]bool {
	out := make([][]bool, len(c.tallies))
	for i, t := range c.tallies {
		out[i] = make([]bool, len(t.parts))
		for _, id := range c.q.idents {
			if !c.q.asks(&id) {
				continue
			}
			has := make([]uint8, len(t.parts))
			need := uint8(0)
			for k, term := range id.terms {
				if slices.Contains(id.terms[:k], term) {
					continue
				}
				for _, h := range t.hits[term] {
					if has[h.file] == need {
						has[h.file]++
					}
				}
				need++
			}
			for file, n := range has {
				out[i][file] = out[i][file] || n == need
			}
		}
	}
	return out
}

// Named reports whether a file that was read contains a name the query asks for.
func (c *Corpus) Named(tally, file int) bool { return c.tallies[tally].named[file] }

// candidates turns scores into candidates with paths, in order.
func (c *Corpus) candidates(list []scored) ([]Candidate, error) {
	out := make([]Candidate, 0, len(list))
	for i, t := range c.tallies {
		var files []int
		var scores []float64
		for _, s := range list {
			if int(s.tally) == i {
				files, scores = append(files, int(s.file)), append(scores, s.score)
			}
		}
		names, err := t.names(files)
		if err != nil {
			return nil, err
		}
		for k, name := range names {
			out = append(out, Candidate{Path: name, Score: scores[k], weight: c.weight(t, files[k]), parts: int(t.parts[files[k]])})
			c.features(&out[len(out)-1].f, i, files[k])
		}
	}
	Order(out)
	return out, nil
}

// Order sorts candidates, best first.
func Order(list []Candidate) {
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
}

// nthScore returns the n-th highest score.
func nthScore(list []scored, n int) float64 {
	if n <= 0 {
		return math.Inf(1)
	}
	h := make(scoreHeap, 0, n)
	for _, s := range list {
		if len(h) < n {
			heap.Push(&h, s.score)
		} else if s.score > h[0] {
			h[0] = s.score
			heap.Fix(&h, 0)
		}
	}
	return h[0]
}

// scoreHeap keeps the lowest score on top.
type scoreHeap []float64

func (h scoreHeap) Len() int           { return len(h) }
func (h scoreHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h scoreHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *scoreHeap) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *scoreHeap) Pop() any {
	old := *h
	v := old[len(old)-1]
	*h = old[:len(old)-1]
	return v
}
