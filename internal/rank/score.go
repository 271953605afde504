package rank

import "quarry/internal/symbols"

// Candidate is a file that may answer the query.
type Candidate struct {
	Path   string
	Score  float64
	Pieces []Piece // what to show of it, best first

	f      Features
	weight float64 // of the path
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

func (w *Features) dot(f *Features) float64 {
	s := 0.0
	for i, v := range f {
		s += v * w[i]
	}
	return s
}

// Examine scores a candidate by its text, and finds the pieces to show.
func (c *Corpus) Examine(k *Candidate, text []byte) {
	q, idf := c.q, c.idf
	syms, comments := symbols.Read(k.Path, text)
	occ := q.occurrences(text)
	q.definitions(&k.f, syms, idf)
	q.pairs(&k.f, occ, idf)
	q.window(&k.f, occ, idf)
	q.docs(&k.f, occ, comments, idf)
	k.Score = weights.dot(&k.f) * k.weight
	k.Pieces = q.pieces(text, syms, occ, idf)
}
