package rank

import (
	"bytes"
	"math"
	"strings"

	"quarry/internal/symbols"
	"quarry/internal/terms"
)

// The features of a file, each about 0 to 1.
const (
	fBM25     = iota
	fNameFull // share of the parts of the file's name that are in the query
	fName     // share of the query in the file's name
	fPrefix   // share of the query with a prefix in the file's name
	fDir      // share of the query in the folders
	fSymbol   // defines the symbol that is the whole query
	fIdent    // defines an identifier that the query names
	fDefName  // the definition whose name is closest to the query
	fDefs     // BM25 over the names of definitions
	fPair     // words that are adjacent in both query and file
	fSize     // of the file, by its logarithm
	fHead     // share of the query in the head of the file
	fWordDef  // defines a name equal to a plain query word
	fDocs     // BM25 over comments
	fChunk    // BM25 of the best piece
	fText     // BM25 of a long text, with its title
	fShallow  // how few folders it is in
	fNamed    // defines exactly the name that is the whole query, if it has several parts; see value
	numFeatures
)

// Features are the inputs of the score.
type Features [numFeatures]float64

func share(idf []float64, has func(i int) float64) float64 {
	sum, all := 0.0, 0.0
	for i, w := range idf {
		sum += w * has(i)
		all += w
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// KindWeight returns the weight of a kind of definition.
func KindWeight(k symbols.Kind) float64 {
	switch k {
	case symbols.Class, symbols.Struct, symbols.Interface, symbols.Enum:
		return 1
	case symbols.Type, symbols.Module:
		return 0.9
	case symbols.Function, symbols.Method:
		return 0.85
	case symbols.Heading:
		return 0.7
	case symbols.Const, symbols.Variable, symbols.Table, symbols.Macro:
		return 0.6
	case symbols.Impl:
		return 0.5
	}
	return 0.3 // fields, members, prototypes, tests
}

// withoutGuard drops the macro that guards a header against double inclusion, and
// returns the guard's first and last line: "#ifndef FILE_H", "#define FILE_H" and the empty
// lines after them. They are 0 if there is no guard.
func withoutGuard(text []byte, syms []symbols.Symbol) (kept []symbols.Symbol, lines [2]int) {
	if len(syms) == 0 || syms[0].Kind != symbols.Macro {
		return syms, lines
	}
	s := &syms[0]
	end := max(s.End, s.NameAt+len(s.Name))
	if value := bytes.TrimSpace(text[s.NameAt+len(s.Name) : end]); len(value) > 0 && string(value) != "1" {
		return syms, lines
	}
	before := bytes.TrimRight(text[:bytes.LastIndexByte(text[:s.NameAt], '\n')+1], " \t\r\n")
	test := bytes.Fields(before[bytes.LastIndexByte(before, '\n')+1:])
	if len(test) < 2 || !bytes.HasPrefix(test[0], []byte("#if")) && string(test[0]) != "#" || !bytes.Contains(test[len(test)-1], []byte(s.Name)) {
		return syms, lines
	}
	after := bytes.TrimLeft(text[end:], " \t\r\n")
	return syms[1:], [2]int{1 + bytes.Count(before, []byte("\n")), bytes.Count(text[:len(text)-len(after)], []byte("\n"))}
}

// definitions fills in the features of a file's definitions.
func (q *Query) definitions(f *Features, syms []symbols.Symbol, idf []float64) {
	all := 0.0
	for _, v := range idf {
		all += v
	}
	if all == 0 {
		return
	}
	tf := make([]float64, len(q.terms))
	seen := make([]int, len(q.terms)) // the last definition with the term
	for n := range syms {
		s := &syms[n]
		w := KindWeight(s.Kind)
		q.identifiers(f, s, w)
		hits, count, known := 0.0, 0, 0
		name := []byte(s.Name)
		terms.EachPart(name, func(start, end int, _ bool) {
			count++
			i, ok := q.termOf(name[start:end])
			if !ok {
				return
			}
			known++
			tf[i] += w
			if seen[i] != n+1 {
				seen[i] = n + 1
				hits += idf[i]
			}
		})
		if known > 0 {
			f[fDefName] = max(f[fDefName], w*hits/all*math.Sqrt(float64(known)/float64(count)))
		}
	}
	f[fDefs] = share(idf, func(i int) float64 { return tf[i] / (tf[i] + 1.5) })
}

// identifiers fills in whether the query names a definition.
func (q *Query) identifiers(f *Features, s *symbols.Symbol, w float64) {
	if s.Name == "" {
		return
	}
	if c := lower(s.Name[len(s.Name)-1]); !q.last[c] && c != '_' && c != '-' {
		return
	}
	folded := foldName(s.Name)
	for i := range q.idents {
		id := &q.idents[i]
		if id.folded != folded && !strings.HasSuffix(folded, "."+id.folded) {
			continue
		}
		v := w
		if s.Name == id.name {
			v += 0.1
		}
		if s.Container == "" || s.Kind == symbols.Heading {
			v += 0.1
		}
		if id.container != "" && strings.Contains(foldName(s.Container), id.container) {
			v += 0.3
		}
		switch {
		case q.symbol:
			f[fSymbol] = max(f[fSymbol], v)
			if len(id.parts) > 1 && s.Name == id.name && s.Kind != symbols.Heading {
				f[fNamed] = max(f[fNamed], v)
			}
		case id.exact:
			f[fIdent] = max(f[fIdent], v)
		default:
			f[fWordDef] = max(f[fWordDef], v)
		}
	}
}

// occurrence is an occurrence of a term in a text.
type occurrence struct {
	at   int32
	term int32
	// near is the distance in parts from the previous occurrence, if the two terms are
	// adjacent in the query: 1 is the next part; 0 is too far, or another term.
	near int32
}

// nearParts is the maximum distance that counts as near.
const nearParts = 3

// occurrences lists the occurrences of terms, in order.
func (q *Query) occurrences(text []byte) []occurrence {
	var out []occurrence
	q.finder.Each(text, func(start, end int) {
		i, ok := q.termOf(text[start:end])
		if !ok {
			return
		}
		o := occurrence{at: int32(start), term: i}
		if n := len(out); n > 0 && q.terms[out[n-1].term].next == int(i) {
			if d := terms.Distance(text[out[n-1].at:start], nearParts+1); d <= nearParts {
				o.near = int32(d)
			}
		}
		out = append(out, o)
	})
	return out
}

// pairs weighs the terms that are adjacent in both the query and the text.
func (q *Query) pairs(f *Features, occ []occurrence, idf []float64) {
	found := make([]float64, len(q.terms))
	for k := 1; k < len(occ); k++ {
		a := occ[k-1]
		switch occ[k].near {
		case 1:
			found[a.term] = 1
		case 2, 3:
			found[a.term] = max(found[a.term], 0.5)
		}
	}
	sum, all := 0.0, 0.0
	for i, t := range q.terms {
		if t.next < 0 {
			continue
		}
		w := idf[i] + idf[t.next]
		sum += w * found[i]
		all += w
	}
	if all > 0 {
		f[fPair] = sum / all
	}
}

// docsHalf is the number of occurrences in comments that reaches half of the maximum
// score.
const docsHalf = 5

// docs fills in the feature of comments.
func (q *Query) docs(f *Features, occ []occurrence, comments [][2]int, idf []float64) {
	tf := make([]float64, len(q.terms))
	k := 0
	for _, o := range occ {
		for k < len(comments) && comments[k][1] <= int(o.at) {
			k++
		}
		if k == len(comments) {
			break
		}
		if int(o.at) >= comments[k][0] {
			tf[o.term]++
		}
	}
	f[fDocs] = share(idf, func(i int) float64 { return tf[i] / (tf[i] + docsHalf) })
}

// window fills in two features: term frequency in the best piece of the file, about 40
// lines, and the share of terms in the head of the file.
func (q *Query) window(f *Features, occ []occurrence, idf []float64) {
	const span, headSpan = 1500, 2000
	all := 0.0
	for _, v := range idf {
		all += v
	}
	if all == 0 {
		return
	}
	count := make([]float64, len(q.terms))
	head := make([]float64, len(q.terms))
	often, from := 0.0, 0
	change := func(i int32, by float64) {
		often -= idf[i] * count[i] / (count[i] + 1)
		count[i] += by
		often += idf[i] * count[i] / (count[i] + 1)
	}
	for _, o := range occ {
		change(o.term, 1)
		for occ[from].at < o.at-span {
			change(occ[from].term, -1)
			from++
		}
		f[fChunk] = max(f[fChunk], often/all)
		if o.at <= headSpan {
			head[o.term] = 1
		}
	}
	f[fHead] = share(idf, func(i int) float64 { return head[i] })
}
