package rank

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/match"
)

// Candidate is a file that may answer the query.
type Candidate struct {
	Path   string
	Score  float64
	Pieces []Piece // what to show of it, best first

	f      Features
	weight float64 // of the path
	parts  int     // of the text
	most   float64 // that its score can be, once it was skimmed
	seen   *seen
}

// Piece is a part of a file, in lines from 1.
type Piece struct {
	First, Last int
	Symbol      string // the definition it shows or is in, with its container
	Kind        symbols.Kind
}

const (
	// Shortlist is how many files the second stage reads at most. 200 lose
	// nothing on the benchmark against reading all.
	Shortlist = 200
	// shortParts bounds the parts of these files: 2.8 MB of the Linux kernel, 100
	// files. At least fewFiles are read.
	shortParts = 400_000
	fewFiles   = 10
	// maxExamined is how much of a large text the second stage looks at.
	maxExamined = 1 << 20
)

// weights of the features. They were fitted on the public questions of docs/FIGURES.md as
// TestCrossValidate does, and rounded. Then three were raised for a mixture with commit
// subjects, headings of documents and notes for users (tools/bench/ranking/mixture, the
// repositories to fit on): fBM25 from 0.33, fNameFull from 0.4 and fPair from 0.2. Of 570
// subjects that puts 0.407 of the right files first, not 0.323, for 0.004 of NDCG on public
// questions; with 1 for fBM25 they lose 0.01 more. fSymbol is higher than fitted, since
// names that are the whole query are few there. That of fText is found by TestLongTexts.
var weights = Features{
	fBM25: 0.6, fNameFull: 0.5, fName: 0.53, fPrefix: 0.38, fDir: 0.94, fSymbol: 1, fIdent: 0.28, fDefName: 0.43,
	fDefs: 0.14, fPair: 0.3, fSize: 0.11, fHead: 0.09, fWordDef: 0.08, fDocs: 0.55, fChunk: 0.21, fText: 0.5,
	fShallow: 0.34,
}

// namedFirst puts the definitions of a name that is the whole query before all else,
// whatever files they are in: more than all other features are together. A name of one
// part, as Query, is a word, too, and the file about it is meant as often.
const namedFirst = 4

// value is the score of a file by its features, whose path counts so much.
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

// Examine scores a candidate by its text, and finds the pieces to show.
func (c *Corpus) Examine(ctx context.Context, k *Candidate, text []byte) {
	c.Skim(k, text)
	c.judge(ctx, k)
	c.show(k)
}

// window is what of a text is examined: all of it, or of a large one the stretch
// in which its rarest word of the query occurs first. lines is how many lines are
// before it.
func (c *Corpus) window(text []byte) (part []byte, lines int) {
	if len(text) <= maxExamined {
		return text, 0
	}
	from := 0
	order := make([]int, len(c.q.terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.idf[b], c.idf[a]) })
	for _, i := range order {
		if at := c.q.firstPlace(text, i); at >= 0 {
			from = max(0, at-maxExamined/4)
			break
		}
	}
	from = bytes.LastIndexByte(text[:from], '\n') + 1
	part = text[from:]
	if len(part) > maxExamined {
		end := bytes.LastIndexByte(part[:maxExamined], '\n') + 1
		end = cmp.Or(end, maxExamined)
		part = part[:end]
	}
	return part, bytes.Count(text[:from], []byte{'\n'})
}

// firstPlace is where a term occurs first, or -1.
func (q *Query) firstPlace(text []byte, term int) int {
	p, err := match.Compile(q.terms[term].text, match.Options{Syntax: match.Literal, Case: match.Insensitive, Mode: match.Text})
	if err != nil {
		return -1
	}
	place := -1
	p.NewMatcher().Each(text, func(start, end int) bool {
		for end < len(text) && terms.InWord(text[end]) && end-start < terms.MaxPart {
			end++
		}
		terms.EachPart(text[start:end], func(s, e int, word bool) {
			if i, ok := q.termOf(text[start+s : start+e]); s == 0 && ok && int(i) == term {
				place = start
			}
		})
		return place < 0
	})
	return place
}
