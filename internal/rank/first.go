package rank

import "math"

// Counts is what the first stage knows of a file's text.
type Counts struct {
	TF    []float64 // how often the file has each term
	Parts int       // how many parts the file has
	named bool      // it has a name the query asks for
}

// maxTF bounds how often an occurrence counts; BM25 is flat long before.
const maxTF = 60

// altWeight is what an alternative form of a term counts.
const altWeight = 0.6

// count counts the terms in a text, and its parts. It returns no counts when
// the text has no term.
func (q *Query) count(text []byte) (*Counts, int) {
	var c *Counts
	var buf [maxPart + 8]byte
	parts := 0
	wordStart := 0
	EachPart(text, func(start, end int, word bool) {
		parts++
		if word {
			wordStart = start
		}
		if !q.first[text[start]] {
			return
		}
		t := Term(buf[:0], text[start:end])
		i, ok := q.lookup[string(t)]
		if !ok {
			return
		}
		if c == nil {
			c = &Counts{TF: make([]float64, len(q.terms))}
		}
		if string(t) == q.terms[i].text {
			c.TF[i]++
		} else {
			c.TF[i] += altWeight
		}
		if !c.named && q.ends[i] && (end == len(text) || partKind[text[end]] == 0) {
			c.named = q.isAsked(text[wordStart:end])
		}
	})
	if c == nil {
		return nil, parts
	}
	for i := range c.TF {
		c.TF[i] = min(c.TF[i], maxTF)
	}
	c.Parts = parts
	return c, parts
}

// isAsked reports whether an identifier is one the query asks for.
func (q *Query) isAsked(word []byte) bool {
	var buf [128]byte
	folded := buf[:0]
	for _, b := range word {
		if b != '_' && len(folded) < len(buf) {
			if b >= 'A' && b <= 'Z' {
				b += 'a' - 'A'
			}
			folded = append(folded, b)
		}
	}
	for _, a := range q.asked {
		if a == string(folded) {
			return true
		}
	}
	return false
}

// Corpus is what scores need to know of all files a query may see.
type Corpus struct {
	Files int   // searched
	Parts int64 // of all of them
	With  []int // files that have each term
}

// idf is how much each term tells, by how few files have it.
func (c *Corpus) idf(q *Query) []float64 {
	out := make([]float64, len(q.terms))
	for i := range out {
		n := float64(c.With[i])
		out[i] = math.Log(1+(float64(max(c.Files, c.With[i]))-n+0.5)/(n+0.5)) * q.terms[i].weight
	}
	return out
}

const (
	bm25K = 1.2
	bm25B = 0.35
)

func bm25(tf, idf []float64, parts int, average float64) float64 {
	norm := bm25K * (1 - bm25B + bm25B*float64(parts)/average)
	s := 0.0
	for i, f := range tf {
		if f > 0 {
			s += idf[i] * f * (bm25K + 1) / (f + norm)
		}
	}
	return s
}
