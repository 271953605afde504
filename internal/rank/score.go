package rank

import (
	"bytes"
	"cmp"
	"context"

	"quarry/internal/symbols"
)

// Candidate is a file that may answer the query.
type Candidate struct {
	Path   string
	Score  float64
	Pieces []Piece // what to show of it, best first

	f      Features
	weight float64 // of the path
	parts  int     // of the text
	most   float64 // upper bound of its score, once it was skimmed
	seen   *seen
}

// Piece is a range of lines, counted from 1.
type Piece struct {
	First, Last int
	Symbol      string // the definition shown or around it, with its container
	Kind        symbols.Kind
}

const (
	// Shortlist is the maximum number of files the second stage reads. On the benchmark,
	// 200 lose nothing compared with reading all.
	Shortlist = 200
	// shortParts limits the total parts of these files: 2.8 MB or 100 files of the Linux
	// kernel. At least fewFiles are read.
	shortParts = 400_000
	fewFiles   = 10
	// maxExamined is how much of a large text the second stage examines.
	maxExamined = 1 << 20
)

// weights of the features. They were fitted on the public questions of docs/FIGURES.md by
// TestCrossValidate and rounded. Then three were raised for a mixture with commit
// subjects, document headings and user notes (tools/bench/ranking/mixture, the
// repositories to fit on): fBM25 from 0.33, fNameFull from 0.4 and fPair from 0.2. This
// puts the right file first for 0.407 of 570 subjects instead of 0.323, and costs 0.004
// of NDCG on public questions; 1 for fBM25 costs 0.01 more. fSymbol is higher than
// fitted, since few of these queries are a whole name. TestLongTexts found fText.
var weights = Features{
	fBM25: 0.6, fNameFull: 0.5, fName: 0.53, fPrefix: 0.38, fDir: 0.94, fSymbol: 1, fIdent: 0.28, fDefName: 0.43,
	fDefs: 0.14, fPair: 0.3, fSize: 0.11, fHead: 0.09, fWordDef: 0.08, fDocs: 0.55, fChunk: 0.21, fText: 0.5,
	fShallow: 0.34,
}

// namedFirst puts definitions of a name that is the whole query first, whatever their
// files: it exceeds all other features together. It excludes a name of one part, such as
// Query, which is also a word and often refers to a file about it.
const namedFirst = 4

// value returns the score for the features and the path weight of a file.
func (w *Features) value(f *Features, path float64) float64 {
	return w.dot(f)*path + namedFirst*f[fNamed]
}

func (w *Features) dot(f *Features) float64 {
	s := 0.0
	for i, v := range f {
		s += v * w[i]
	}
	return s
}

// Examine scores a candidate by its text and finds the pieces to show.
func (c *Corpus) Examine(ctx context.Context, k *Candidate, text []byte) {
	c.Skim(k, text)
	c.judge(ctx, k)
	c.show(k)
}

// window returns the part of a text to examine: all of it, or in a large text the part in
// which the rarest query word first occurs. lines is the number of lines before the part.
func (c *Corpus) window(text []byte) (part []byte, lines int) {
	if len(text) <= maxExamined {
		return text, 0
	}
	from, rarest := 0, -1.0
	c.q.finder.Each(text, func(start, end int) {
		if i, ok := c.q.termOf(text[start:end]); ok && c.idf[i] > rarest {
			from, rarest = max(0, start-maxExamined/4), c.idf[i]
		}
	})
	from = bytes.LastIndexByte(text[:from], '\n') + 1
	part = text[from:]
	if len(part) > maxExamined {
		end := bytes.LastIndexByte(part[:maxExamined], '\n') + 1
		end = cmp.Or(end, maxExamined)
		part = part[:end]
	}
	return part, bytes.Count(text[:from], []byte{'\n'})
}
