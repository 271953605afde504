package rank

import (
	"context"
	"math"

	"quarry/internal/terms"
)

// Counts is what the first stage knows of a file's text.
type Counts struct {
	Parts int     // of the text
	Named bool    // it has a name the query asks for
	own   []uint8 // by term, how often it occurs; nil if none does
	alt   []uint8 // the same of the terms that stand for it
}

const (
	// maxTF bounds how often an occurrence counts; BM25 is flat long before.
	maxTF = 60
	// altWeight is what an alternative form of a term counts. With it,
	// terms.MaxCount alternatives are as many as maxTF.
	altWeight = 0.6
)

// keyed is a term of the query by its key.
type keyed struct {
	term int32
	alt  bool
}

// checkEvery is how many bytes are read between two looks at a context.
const checkEvery = 256 << 10

// Look is the first stage for one file. It returns nil for a text without any
// parts, which is none to rank, and when ctx has ended.
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

// look counts what is in a stretch of a text that begins and ends between words.
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

// Tally is the first stage for the files of one table.
type Tally struct {
	paths *Paths
	parts []uint32 // of each file; 0 is a file that is not to be ranked
	hits  [][]hit  // by term
	// names gives the paths of some files, whose numbers go up.
	names func(files []int) ([]string, error)

	// Of files that were read:
	read  []string     // paths
	named map[int]bool // have a name the query asks for
}

// hit is a file that has a term.
type hit struct {
	file     uint32
	own, alt uint8
}

func (h hit) tf() float64 { return min(float64(h.own)+altWeight*float64(h.alt), maxTF) }

// NewTally makes a Tally of the files of a table: of each the parts, 0 for those
// that are not to be ranked. names gives the paths of some, whose numbers go up.
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

// Take asks an index for the files that have each term, and how often.
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
				continue // it counts for a term before this one
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

// Corpus is all files a query may see.
type Corpus struct {
	Files int   // searched
	Parts int64 // of all of them
	With  []int // files that have each term

	weights *Features
	q       *Query
	tallies []*Tally
	idf     []float64 // how much each term tells in names and comments, by how few files have it
	plain   []float64 // the same in texts, where no place in the query counts
	scored  []scored  // candidates

	// Of each tally, the BM25 of its files and what the query finds in paths; the
	// highest BM25 and the most parts of any candidate.
	values [][]float64
	paths  []*pathQuery
	top    float64
	most   uint32

	// The same BM25 with all terms of a long text; nil if the query is none.
	long    [][]float64
	longTop float64

	asking   asking
	thorough bool // for tests: judge all that can be among the best
}

// NewCorpus sums up the first stage.
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

// bm25 scores the files of a table by terms that tell so much.
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
