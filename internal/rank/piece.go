package rank

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/internal/terms"
)

const (
	// MaxPiece is the maximum number of lines an answer shows at one place of a file:
	// long enough to understand, short enough to read.
	MaxPiece = 40

	// maxPieces is how many pieces of a file compete.
	maxPieces = 4
)

// place is a range of lines and the evidence for it.
type place struct {
	Piece
	score float64
}

// pieces chooses the parts of a file to show: first the definitions the query names, then
// the line ranges that match most of it.
func (q *Query) pieces(s *seen, idf []float64) []Piece {
	text, occ := s.text, s.occ
	if end := bytes.LastIndex(text, []byte("#endif")); s.guard[0] > 0 && end > 0 { // of the guard
		text = text[:end]
		n, _ := slices.BinarySearchFunc(occ, end, func(o occurrence, end int) int { return cmp.Compare(int(o.at), end) })
		occ = occ[:n]
	}
	lines := lineStarts(text)
	licence := licenceLines(s.text, s.comments)
	places := q.defined(s.syms, idf)
	places = append(places, q.stretches(lines, s.syms, s.guard, elsewhere(occ, lines, s.syms, s.guard), idf)...)
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	var out []Piece
	for _, p := range places {
		if p.First <= licence && p.Last > licence && said(occ, lines, licence, p.Last) {
			p.First = licence + 1
		}
		p.Last = min(p.Last, p.First+MaxPiece-1, len(lines))
		if p.First < 1 || p.Last < p.First || len(out) == maxPieces {
			continue
		}
		if !slices.ContainsFunc(out, func(o Piece) bool { return p.First <= o.Last && o.First <= p.Last }) {
			out = append(out, p.Piece)
		}
	}
	if len(out) == 0 && len(lines) > 0 { // only the path matches
		first := min(max(licence, s.guard[1])+1, len(lines))
		out = append(out, Piece{First: first, Last: min(first+MaxPiece-1, len(lines))})
	}
	return out
}

// belongs reports whether a definition only names the package or namespace of a file.
func belongs(s *symbols.Symbol) bool { return s.Kind == symbols.Module && s.Last == s.First }

// elsewhere drops the occurrences in the lines of definitions that belong, and in an include
// guard.
func elsewhere(occ []occurrence, lines []int, syms []symbols.Symbol, guard [2]int) []occurrence {
	var without [][2]int // offsets of the lines, in order
	if guard[0] > 0 {
		without = append(without, [2]int{lines[guard[0]-1], lineEnd(lines, guard[1])})
	}
	for i := range syms {
		if s := &syms[i]; belongs(s) && s.First <= len(lines) {
			without = append(without, [2]int{lines[s.First-1], lineEnd(lines, s.First)})
		}
	}
	if len(without) == 0 {
		return occ
	}
	var out []occurrence
	k, left := 0, false
	for _, o := range occ {
		for k < len(without) && without[k][1] <= int(o.at) {
			k++
		}
		if k < len(without) && without[k][0] <= int(o.at) {
			left = true
			continue
		}
		if left { // the preceding occurrence was dropped
			o.near, left = 0, false
		}
		out = append(out, o)
	}
	return out
}

// licenceLines returns the number of lines of a licence comment at the head of a text,
// with the lines before it and the empty lines after it. No query is about them.
func licenceLines(text []byte, comments [][2]int) int {
	const head = 5 // maximum number of lines before it
	if len(comments) == 0 || bytes.Count(text[:comments[0][0]], []byte("\n")) >= head {
		return 0
	}
	end := comments[0][1]
	for _, c := range comments[1:] {
		if between := text[end:max(c[0], end)]; len(bytes.TrimSpace(between)) > 0 || bytes.Count(between, []byte("\n")) > 1 {
			break
		}
		end = c[1]
	}
	block := bytes.ToLower(text[comments[0][0]:end])
	if !bytes.Contains(block, []byte("copyright")) && !bytes.Contains(block, []byte("license")) {
		return 0
	}
	rest := bytes.TrimLeft(text[end:], " \t\r\n")
	return bytes.Count(text[:len(text)-len(rest)], []byte("\n"))
}

// said reports whether a query word occurs in lines after+1 to last.
func said(occ []occurrence, lines []int, after, last int) bool {
	end := lineEnd(lines, last)
	return after < len(lines) && slices.ContainsFunc(occ, func(o occurrence) bool { return int(o.at) >= lines[after] && int(o.at) < end })
}

// lineEnd returns the end offset of a line, from 1; the last line has no end.
func lineEnd(lines []int, line int) int {
	if line < len(lines) {
		return lines[line]
	}
	return math.MaxInt
}

func lineStarts(text []byte) []int {
	if len(text) == 0 {
		return nil
	}
	out := []int{0}
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 || at+n+1 >= len(text) {
			return out
		}
		at += n + 1
		out = append(out, at)
	}
}

// defined lists the definitions whose names match the query.
func (q *Query) defined(syms []symbols.Symbol, idf []float64) []place {
	all := 0.0
	for _, v := range idf {
		all += v
	}
	var out []place
	var f Features
	for i := range syms {
		s := &syms[i]
		f[fSymbol], f[fIdent], f[fWordDef] = 0, 0, 0
		q.identifiers(&f, s, KindWeight(s.Kind))
		v := 3*f[fSymbol] + 2*f[fIdent] + 0.6*f[fWordDef]
		if v == 0 || belongs(s) {
			continue
		}
		out = append(out, place{Piece{s.DocFirst(), s.Last, s.Qualified(), s.Kind}, v})
	}
	return out
}

// stretches splits a file at its definitions and scores the ranges that have a term.
func (q *Query) stretches(lines []int, syms []symbols.Symbol, guard [2]int, occ []occurrence, idf []float64) []place {
	cuts := cutLines(len(lines), syms, guard)
	all := 0.0
	for _, v := range idf {
		all += v
	}
	if all == 0 {
		return nil
	}
	var out []place
	count := make([]float64, len(q.terms))
	o, k := 0, 0
	for c := 0; c+1 < len(cuts) && o < len(occ); c++ {
		first, next := cuts[c].line, cuts[c+1].line
		end := lineEnd(lines, next-1)
		clear(count)
		start := o
		for o < len(occ) && int(occ[o].at) < end {
			count[occ[o].term]++
			o++
		}
		if o == start {
			continue
		}
		score := 0.0
		for i, n := range count {
			score += idf[i] * n / (n + 1)
		}
		score = score/all + q.nearPairs(occ[start:o], idf)/all/2
		p := place{Piece{First: first, Last: next - 1}, score}
		s := cuts[c].symbol
		best := 0.0
		if s != nil {
			best = q.nameShare(s.Name, idf)
		}
		for ; k < len(syms) && syms[k].First < next; k++ { // definitions on one line
			if v := q.nameShare(syms[k].Name, idf); v > best && syms[k].First >= first {
				s, best = &syms[k], v
			}
		}
		if s != nil {
			p.Symbol, p.Kind = s.Qualified(), s.Kind
			p.score += 0.5 * best / all
		}
		p.score *= q.acts(&p.Piece)
		out = append(out, p)
	}
	return out
}

// acts weighs a range of lines by the definition in it: most queries look for the function
// that does something, not for its constants, types or tests.
func (q *Query) acts(p *Piece) float64 {
	switch {
	case !q.tests && (p.Kind == symbols.Test || strings.HasPrefix(p.Symbol, "tests.")):
		return 0.6
	case p.Kind.IsCallable():
		return 1
	case p.Kind.IsType():
		return 0.85
	}
	return 0.7
}

// nameShare is the weight of the terms in a name.
func (q *Query) nameShare(name string, idf []float64) float64 {
	sum := 0.0
	b := []byte(name)
	terms.EachPart(b, func(start, end int, _ bool) {
		if i, ok := q.termOf(b[start:end]); ok {
			sum += idf[i]
		}
	})
	return sum
}

// nearPairs is the weight of adjacent query terms that are also adjacent here.
func (q *Query) nearPairs(occ []occurrence, idf []float64) float64 {
	sum := 0.0
	found := make([]bool, len(q.terms))
	for k := 1; k < len(occ); k++ {
		a, near := occ[k-1], occ[k].near
		if (near == 1 || near == 2) && !found[a.term] {
			found[a.term] = true
			sum += idf[a.term]
		}
	}
	return sum
}

type cut struct {
	line   int
	symbol *symbols.Symbol // begins or continues here
}

// cutLines cuts n lines at the borders of definitions and of an include guard, and long
// ranges in the middle. The last cut is after the last line.
func cutLines(n int, syms []symbols.Symbol, guard [2]int) []cut {
	var out []cut
	var open []*symbols.Symbol
	inner := func(line int) *symbols.Symbol {
		for len(open) > 0 && open[len(open)-1].Last < line {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return nil
		}
		return open[len(open)-1]
	}
	k := 0
	line := 1
	for line <= n {
		for k < len(syms) && syms[k].DocFirst() <= line {
			if s := &syms[k]; s.Last > s.First || s.Kind.IsCallable() || s.Kind.IsType() {
				inner(line)
				open = append(open, s)
			}
			k++
		}
		s := inner(line)
		end := min(line+MaxPiece, n+1)
		if s != nil {
			end = min(end, s.Last+1)
		}
		// The next definition of several lines, or prototype, begins a piece.
		for j := k; j < len(syms) && syms[j].DocFirst() < end; j++ {
			if (syms[j].Last > syms[j].First || syms[j].Kind == symbols.Prototype) && syms[j].DocFirst() > line {
				end = syms[j].DocFirst()
				break
			}
		}
		switch {
		case line < guard[0]:
			end = min(end, guard[0])
		case line == guard[0]:
			s, end = nil, guard[1]+1
		}
		out = append(out, cut{line, s})
		line = max(end, line+1)
	}
	return append(out, cut{n + 1, nil})
}
