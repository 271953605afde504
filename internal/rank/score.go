package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"quarry/internal/symbols"
)

// Candidate is a file that may answer the query.
type Candidate struct {
	Path    string
	Counts  *Counts // nil for a file that only its path speaks for
	Defines bool    // it defines a name the query asks for
	Score   float64
	Pieces  []Piece // what to show of it, best first

	f    Features
	info pathInfo
}

// Piece is a part of a file, in lines from 1.
type Piece struct {
	First, Last int
	Symbol      string // the definition it shows or is in, with its container
	Kind        symbols.Kind
}

// Shortlist is how many files the second stage reads. 200 lose nothing on
// the benchmark against reading all.
const Shortlist = 200

// weights of the features, found on the benchmark of docs/SEARCH.md by
// cross-validation over repositories and rounded.
var weights = Features{
	fBM25: 0.25, fNameFull: 0.5, fName: 0.65, fPrefix: 0.6, fDir: 0.9, fSymbol: 1, fIdent: 0.75, fDefName: 0.35,
	fDefs: 0.2, fPair: 0.4, fSize: 0.4, fWindow: 0.13, fHead: 0.15, fWordDef: 0.1, fDocs: 0.2, fChunk: 0.13,
}

// ByPath reports whether a path alone makes a file a candidate: its name or
// folders have a word of the query.
func (q *Query) ByPath(path string) bool {
	p := parsePath(path)
	for _, b := range p.base {
		if _, ok := q.lookup[b]; ok {
			return true
		}
	}
	for _, w := range p.words {
		for i := range q.terms {
			if prefixShare(w, q.terms[i].word) > 0 {
				return true
			}
		}
	}
	return false
}

// Best returns the n best candidates by what the first stage knows, in order.
// It reorders list.
func (q *Query) Best(c *Corpus, list []Candidate, n int) []Candidate {
	idf := c.idf(q)
	average := max(float64(c.Parts)/float64(max(c.Files, 1)), 1)
	top, parts := 0.0, 1
	for i := range list {
		k := &list[i]
		k.info = parsePath(k.Path)
		k.f = Features{}
		q.paths(&k.f, &k.info, idf)
		if k.Counts != nil {
			k.f[fBM25] = bm25(k.Counts.TF, idf, k.Counts.Parts, average)
			top = max(top, k.f[fBM25])
			parts = max(parts, k.Counts.Parts)
		}
	}
	for i := range list {
		k := &list[i]
		if top > 0 {
			k.f[fBM25] /= top
		}
		if k.Counts != nil {
			k.f[fSize] = math.Log(float64(1+k.Counts.Parts)) / math.Log(float64(1+parts))
		}
		k.Score = k.first()
	}
	sortCandidates(list)
	return list[:min(n, len(list))]
}

// first is the score of the first stage. BM25 counts for more than in the
// second, which has better evidence of the same.
func (k *Candidate) first() float64 {
	s := weights.dot(&k.f) + 0.75*k.f[fBM25]
	if k.Defines {
		s += 2
	}
	return s * k.info.weight
}

func (w *Features) dot(f *Features) float64 {
	s := 0.0
	for i, v := range f {
		s += v * w[i]
	}
	return s
}

// Examine scores a candidate by its text, and finds the pieces to show.
func (q *Query) Examine(c *Corpus, k *Candidate, text []byte) {
	idf := c.idf(q)
	syms, comments := symbols.Read(k.Path, text)
	occ := q.occurrences(text)
	q.definitions(&k.f, syms, idf)
	q.pairs(&k.f, occ, idf)
	q.window(&k.f, occ, idf)
	q.docs(&k.f, occ, comments, idf)
	k.Score = weights.dot(&k.f) * k.info.weight
	k.Pieces = q.pieces(text, syms, occ, idf)
}

// Order sorts examined candidates, best first.
func Order(list []Candidate) { sortCandidates(list) }

func sortCandidates(list []Candidate) {
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
}
