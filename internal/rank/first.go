package rank

import (
	"context"
	"math"

	"quarry/internal/terms"
)

// Counts is the first stage's result for the text of a file.
type Counts struct {
	Parts int     // of the text
	Named bool    // it contains a name the query asks for
	own   []uint8 // by term, how often it occurs; nil if none does
	alt   []uint8 // the same for the alternative forms of each term
}

const (
	// maxTF bounds how often an occurrence counts; BM25 is flat long before.
	maxTF = 60
	// altWeight is the weight of an alternative form of a term. With it, terms.MaxCount
	// alternatives weigh as much as maxTF occurrences.
	altWeight = 0.6
)

// keyed is a query term with its key.
type keyed struct {
	term int32
	alt  bool
}

// checkEvery is the number of bytes read between two checks of the context.
const checkEvery = 256 << 10

// Look runs the first stage on one file. It returns nil for a text without parts, which
// can't be ranked, and when ctx has ended.
func (q *Query) Look(ctx context.Context, text []byte) *Counts {
	c := &Counts{}
	for at := 0; at < len(text); {
		end := min(at+checkEvery, len(text))
		for end < len(text) && terms.InWord(text[end]) {
			end++
		}
		if ctx.Err() != nil {
			return nil
		}
		q.look(c, text, at, end)
		at = end
	}
	if c.Parts == 0 {
		return nil
	}
	return c
}

// look counts the terms in a part of a text that begins and ends between words.
func (q *Query) look(c *Counts, text []byte, from, to int) {
	var buf [terms.MaxPart + 8]byte
	wordStart := 0
	terms.EachPart(text[from:to], func(start, end int, word bool) {
		start, end = start+from, end+from
		c.Parts++
		if word {
			wordStart = start
		}
		if !q.mayBe(text[start:end]) {
			return
		}
		k, ok := q.keys[terms.KeyOf(terms.Append(buf[:0], text[start:end]))]
		if !ok {
			return
		}
		if c.own == nil {
			c.own, c.alt = make([]uint8, len(q.terms)), make([]uint8, len(q.terms))
		}
		to := c.own
		if k.alt {
			to = c.alt
		}
		to[k.term] = min(to[k.term]+1, terms.MaxCount)
		if !c.Named && q.ends[k.term] && (end == len(text) || !terms.InWord(text[end])) {
			c.Named = q.isAsked(text[wordStart:end])
		}
	})
}

// Tally holds the first-stage results for the files of one table.
type Tally struct {
	paths *Paths
	parts []uint32 // of each file; 0 excludes it from the ranking
	hits  [][]hit  // by term
	// names returns the paths of some files, given in ascending order.
	names func(files []int) ([]string, error)

	// For files that were read:
	read  []string     // paths
	named map[int]bool // contain a name the query asks for
}

// hit is a file that has a term.
type hit struct {
	file     uint32
	own, alt uint8
}

func (h hit) tf() float64 { return min(float64(h.own)+altWeight*float64(h.alt), maxTF) }

// NewTally makes a Tally for the files of a table. parts has the number of parts of each
// file; 0 excludes it from the ranking. names returns the paths of some files, given in
// ascending order.
func (q *Query) NewTally(paths *Paths, parts []uint32, names func(files []int) ([]string, error)) *Tally {
	return &Tally{paths: paths, parts: parts, names: names, hits: make([][]hit, len(q.terms))}
}

// ReadTally makes a Tally of files to be read.
func (q *Query) ReadTally() *Tally {
	t := q.NewTally(NewPaths(), nil, nil)
	t.named = map[int]bool{}
	t.names = func(files []int) ([]string, error) {
		out := make([]string, len(files))
		for i, f := range files {
			out[i] = t.read[f]
		}
		return out, nil
	}
	return t
}

// Add adds a file that was read.
func (t *Tally) Add(path string, c *Counts) {
	file := len(t.parts)
	t.paths.Add(path)
	t.read = append(t.read, path)
	t.parts = append(t.parts, uint32(c.Parts))
	for i := range c.own {
		if c.own[i]|c.alt[i] > 0 {
			t.hits[i] = append(t.hits[i], hit{uint32(file), c.own[i], c.alt[i]})
		}
	}
	if c.Named {
		t.named[file] = true
	}
}

// Take asks an index which files have each term, and how often.
func (q *Query) Take(t *Tally, postings func(k terms.Key, files []uint32, counts []uint8) ([]uint32, []uint8, error)) error {
	own, alt := make([]uint8, len(t.parts)), make([]uint8, len(t.parts))
	var files []uint32
	var counts []uint8
	for i := range q.terms {
		var found []uint32
		for _, s := range q.terms[i].forms() {
			key := terms.KeyOf([]byte(s))
			k := q.keys[key]
			if k.term != int32(i) {
				continue // already counted for an earlier term
			}
			var err error
			if files, counts, err = postings(key, files[:0], counts[:0]); err != nil {
				return err
			}
			to := own
			if k.alt {
				to = alt
			}
			for n, file := range files {
				if t.parts[file] == 0 {
					continue
				}
				if own[file]|alt[file] == 0 {
					found = append(found, file)
				}
				to[file] = min(to[file]+counts[n], terms.MaxCount)
			}
		}
		hits := make([]hit, len(found))
		for n, file := range found {
			hits[n] = hit{file, own[file], alt[file]}
			own[file], alt[file] = 0, 0
		}
		t.hits[i] = hits
	}
	return nil
}

// Corpus is the set of all files a query may see.
type Corpus struct {
	Files int   // searched
	Parts int64 // of all of them
	With  []int // files that have each term

	weights *Features
	q       *Query
	tallies []*Tally
	idf     []float64 // weight of each term in names and comments; rare terms have more
	plain   []float64 // the same in texts, where the position in the query doesn't count
	scored  []scored  // candidates

	// For each tally, the BM25 of its files and the path matches of the query; the
	// highest BM25 and the largest number of parts of any candidate.
	values [][]float64
	paths  []*pathQuery
	top    float64
	most   uint32

	// BM25 with all terms of a long text; nil if the query is short.
	long    [][]float64
	longTop float64

	asking   asking
	thorough bool // for tests: judge every candidate that can be among the best
}

// NewCorpus combines the results of the first stage.
func (q *Query) NewCorpus(tallies ...*Tally) *Corpus { return q.newCorpus(&weights, tallies...) }

func (q *Query) newCorpus(w *Features, tallies ...*Tally) *Corpus {
	c := &Corpus{weights: w, q: q, tallies: tallies, With: make([]int, len(q.terms)), idf: make([]float64, len(q.terms)), plain: make([]float64, len(q.terms))}
	for _, t := range tallies {
		for _, n := range t.parts {
			if n > 0 {
				c.Files++
				c.Parts += int64(n)
			}
		}
		for i := range t.hits {
			c.With[i] += len(t.hits[i])
		}
	}
	all := make([]float64, len(q.terms))
	for i := range c.idf {
		n := float64(c.With[i])
		all[i] = math.Log(1 + (float64(c.Files)-n+0.5)/(n+0.5))
		c.idf[i], c.plain[i] = all[i]*q.terms[i].weight, all[i]*q.terms[i].tells
	}
	if q.most == longTerms {
		for _, t := range tallies {
			values := c.bm25(t, all)
			for _, v := range values {
				c.longTop = max(c.longTop, v)
			}
			c.long = append(c.long, values)
		}
	}
	c.score()
	return c
}

const (
	bm25K = 1.2
	bm25B = 0.35
)

// bm25 scores the files of a table; tells has the weight of each term.
func (c *Corpus) bm25(t *Tally, tells []float64) []float64 {
	average := max(float64(c.Parts)/float64(max(c.Files, 1)), 1)
	norm := make([]float64, len(t.parts))
	for file, n := range t.parts {
		norm[file] = bm25K * (1 - bm25B + bm25B*float64(n)/average)
	}
	out := make([]float64, len(t.parts))
	for i, idf := range tells {
		if idf == 0 {
			continue
		}
		for _, h := range t.hits[i] {
			tf := h.tf()
			out[h.file] += idf * tf * (bm25K + 1) / (tf + norm[h.file])
		}
	}
	return out
}
