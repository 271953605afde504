// Package noterank ranks notes by relevance to the words of a query.
//
// It reads no files, and the same notes and query always result in the same order. Each
// note is counted separately, so notes can be counted in any order and in parallel. The
// rarity of a word depends on all notes and is computed last, by [Query.Weigh].
//
// Words are compared without case, accents and English endings. A note's name,
// its aliases and headings count more than its text.
package noterank

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"quarry/internal/terms"
	"quarry/internal/vault"
)

// The fields of a note.
const (
	title = iota // name, title property, first heading of level 1
	alias
	heading
	body
	fields
)

// weights are the values of one occurrence in each field, and flats are BM25's parameter
// b of each field, the penalty for its length. They were determined with the
// documentation of Kubernetes and the vault of the Obsidian Hub; see docs/NOTES.md.
var (
	weights = [fields]float64{title: 9, alias: 7, heading: 2.5, body: 1}
	flats   = [fields]float64{title: 0.6, alias: 0.5, heading: 0.5, body: 0.6}
)

const saturation = 1.4 // BM25's parameter k1

// Query is a parsed query. It is immutable.
type Query struct {
	terms  []string
	lookup map[terms.Key]int // index of each term
	begins pairSet           // the first two bytes of terms and their words
	strict bool
}

// maxTerms limits the words of a query. Further words would hardly change the order.
const maxTerms = 32

// New parses a query. It returns nil if the query has no words.
func New(query string) *Query {
	var words, plain []string
	eachWord([]byte(query), nil, func(_, _ int, word []byte) bool {
		term := string(terms.Append(nil, word))
		words = append(words, term)
		if !stopWords[string(word)] {
			plain = append(plain, term)
		}
		return true
	})
	if len(plain) > 0 {
		words = plain
	}
	q := &Query{lookup: map[terms.Key]int{}}
	for _, w := range words {
		if len(q.terms) < maxTerms {
			q.add(w)
		}
	}
	if len(q.terms) == 0 {
		return nil
	}
	return q
}

// Plain returns the words of a query as written, except stop words, and without
// surrounding punctuation.
func Plain(query string) (words []string) {
	var all []string
	for _, w := range strings.Fields(query) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
		if w == "" || len(all) == maxTerms {
			continue
		}
		if all = append(all, w); !stopWords[strings.ToLower(w)] {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return all
	}
	return words
}

// Strict returns a query whose words are searched for literally, also inside other words.
func Strict(words []string) *Query {
	q := &Query{strict: true, lookup: map[terms.Key]int{}}
	for _, w := range words {
		if w = string(foldCase([]byte(w))); w != "" {
			q.add(w)
		}
	}
	return q
}

func (q *Query) add(term string) {
	k := KeyOf([]byte(term), 0)
	if _, ok := q.lookup[k]; !ok {
		q.lookup[k] = len(q.terms)
		q.begins.add(firstPair([]byte(term)))
		q.terms = append(q.terms, term)
	}
}

// firstPair returns the first two bytes of a word as a number. The word's term is a prefix
// of it with at least these two bytes, unless the word is shorter, so the result is the same
// for both.
func firstPair(word []byte) uint16 {
	if len(word) == 1 {
		return uint16(word[0]) << 8
	}
	return uint16(word[0])<<8 | uint16(word[1])
}

// term returns the index of a term in the query.
func (q *Query) term(term []byte) (int, bool) {
	t, ok := q.lookup[KeyOf(term, 0)]
	return t, ok
}

// Doc holds the occurrences of a query's words in a note.
type Doc struct {
	counts [][fields]uint16 // by term
	length [fields]int32
	pairs  int32 // number of pairs of words that are adjacent in both query and text
	named  bool  // the note's name equals the query
	// Near holds the first positions of words in the text, at most one per term.
	Near []vault.Span
}

// note is a parsed note.
type note struct {
	titles, aliases, headings []string
	text                      []byte
	body                      int // offset of the text after the front matter
}

func takeApart(path string, text []byte, scan *vault.Note, head *vault.Head) *note {
	n := &note{text: text, body: scan.FrontMatter.Body}
	n.titles = []string{noteName(path)}
	for _, t := range []string{scan.Title(), head.Title()} {
		if t != "" && !slices.ContainsFunc(n.titles, func(s string) bool { return strings.EqualFold(s, t) }) {
			n.titles = append(n.titles, t)
		}
	}
	n.aliases = head.Aliases()
	for _, h := range scan.Headings {
		n.headings = append(n.headings, h.Text)
	}
	return n
}

// each calls f with the texts of a field.
func (n *note) each(field int, f func([]byte)) {
	if field == body {
		f(n.text[n.body:])
		return
	}
	for _, s := range [fields][]string{title: n.titles, alias: n.aliases, heading: n.headings}[field] {
		f([]byte(s))
	}
}

// checkEvery is the number of bytes to read between two checks of a context.
const checkEvery = 64 << 10

// Count counts the words in a note. ok is false if it has none of them. d is nil if ctx
// has ended.
func (q *Query) Count(ctx context.Context, path string, text []byte) (d *Doc, ok bool) {
	scan, err := vault.Scan(ctx, text)
	if err != nil {
		return nil, false
	}
	n := takeApart(path, text, scan, vault.ReadHead(ctx, text))
	if q.strict {
		d, ok = q.countStrict(ctx, n)
	} else {
		d, ok = q.countNote(ctx, n, func(text []byte, f func(start, end int, term []byte)) { eachTerm(ctx, text, f) })
	}
	if ctx.Err() != nil {
		return nil, false
	}
	return d, ok
}

// countStrict counts the occurrences of the words, in any case. The length of a field is the
// number of its words.
func (q *Query) countStrict(ctx context.Context, n *note) (*Doc, bool) {
	d := &Doc{counts: make([][fields]uint16, len(q.terms))}
	any := false
	add := func(field int, list ...string) {
		for _, s := range list {
			folded := foldCase([]byte(s))
			d.length[field] += int32(1 + bytes.Count(folded, []byte(" ")))
			for t, w := range q.terms {
				if ctx.Err() != nil {
					return
				}
				c := bytes.Count(folded, []byte(w))
				d.counts[t][field] = uint16(min(int(d.counts[t][field])+c, math.MaxUint16))
				any = any || c > 0
			}
		}
	}
	add(title, n.titles...)
	add(alias, n.aliases...)
	add(heading, n.headings...)
	add(body, string(n.text[n.body:]))
	d.named = slices.ContainsFunc(n.titles, q.named) || slices.ContainsFunc(n.aliases, q.named)
	return d, any
}

// named reports whether a name consists of exactly the words of a strict query.
func (q *Query) named(name string) bool {
	return string(foldCase([]byte(name))) == strings.Join(q.terms, " ")
}

// eachTerm calls f for every word of a text, reduced to its term without a grammatical
// ending, until ctx ends.
func eachTerm(ctx context.Context, text []byte, f func(start, end int, term []byte)) {
	buf := make([]byte, 0, 64)
	check := 0
	eachWord(text, nil, func(start, end int, word []byte) bool {
		if start >= check {
			if check = start + checkEvery; ctx.Err() != nil {
				return false
			}
		}
		buf = terms.Append(buf[:0], word)
		f(start, end, buf)
		return true
	})
}

func (q *Query) countNote(ctx context.Context, n *note, each func([]byte, func(start, end int, term []byte))) (*Doc, bool) {
	d := &Doc{counts: make([][fields]uint16, len(q.terms))}
	any := false
	for field := range body {
		n.each(field, func(s []byte) {
			each(s, func(_, _ int, term []byte) {
				d.length[field]++
				if t, ok := q.term(term); ok {
					d.counts[t][field] = min(d.counts[t][field]+1, terms.MaxCount)
					any = true
				}
			})
		})
	}
	d.named = q.calls(n.titles) || q.calls(n.aliases)
	each(n.text[n.body:], func(_, _ int, term []byte) {
		d.length[body]++
		if t, ok := q.term(term); ok {
			any = true
			d.counts[t][body] = min(d.counts[t][body]+1, terms.MaxCount)
		}
	})
	q.places(ctx, d, n.text, n.body)
	return d, any
}

// places finds the positions of words in text[from:], until ctx ends.
func (q *Query) places(ctx context.Context, d *Doc, text []byte, from int) {
	last, lastAt := -1, 0
	seen := make([]bool, len(q.terms))
	buf := make([]byte, 0, 64)
	check := 0
	eachWord(text[from:], &q.begins, func(start, end int, word []byte) bool {
		if start >= check {
			if check = start + checkEvery; ctx.Err() != nil {
				return false
			}
		}
		if !q.begins.has(firstPair(word)) {
			return true
		}
		buf = terms.Append(buf[:0], word)
		t, ok := q.term(buf)
		if !ok {
			return true
		}
		if last >= 0 && t == last+1 && start-lastAt <= 4 {
			d.pairs++
		}
		last, lastAt = t, end
		if !seen[t] {
			seen[t] = true
			d.Near = append(d.Near, vault.Span{Start: from + start, End: from + end})
		}
		return true
	})
}

// calls reports whether any of the names equals the query.
func (q *Query) calls(names []string) bool { return slices.ContainsFunc(names, q.same) }

// same reports whether a name has exactly the words of the query.
func (q *Query) same(name string) bool {
	n, other := 0, false
	seen := make([]bool, len(q.terms))
	eachWord([]byte(name), nil, func(_, _ int, word []byte) bool {
		plain := stopWords[string(word)]
		if term, ok := q.term(terms.Append(nil, word)); !ok {
			other = other || !plain
		} else if !seen[term] {
			seen[term] = true
			n++
		}
		return true
	})
	return n == len(q.terms) && !other
}

// noteName returns the name of the note with a path. A page that represents its folder
// has the name of the folder.
func noteName(path string) string {
	path = strings.TrimSuffix(path, ".md")
	name, dir := path, ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		name, dir = path[i+1:], path[:i]
	}
	switch strings.ToLower(strings.Trim(name, "_")) {
	case "index", "readme":
		if dir != "" {
			return dir[strings.LastIndexByte(dir, '/')+1:]
		}
	}
	return name
}

// Weights are the factors of scores that depend on all notes: the rarity of each word, and
// the average lengths of fields.
type Weights struct {
	idf  []float64 // by word
	sum  float64
	mean [fields]float64
}

// Weigh computes the weights from the found notes and the number of all notes.
func (q *Query) Weigh(docs []*Doc, notes int) *Weights {
	w := &Weights{idf: make([]float64, len(q.terms))}
	with := make([]int, len(q.terms)) // number of notes that contain each word
	for _, d := range docs {
		for f := range fields {
			w.mean[f] += float64(d.length[f])
		}
		for i := range q.terms {
			if d.counts[i] != [fields]uint16{} {
				with[i]++
			}
		}
	}
	for f := range fields {
		w.mean[f] = max(w.mean[f]/float64(max(len(docs), 1)), 1)
	}
	notes = max(notes, len(docs))
	for t, n := range with {
		w.idf[t] = math.Log(1 + (float64(notes-n)+0.5)/(float64(n)+0.5))
		w.sum += w.idf[t]
	}
	return w
}

// First returns the indexes of the n best notes, best first, according to indexed facts.
// It ignores adjacent words. Notes with equal scores stay in order.
func (w *Weights) First(docs []*Doc, n int) []int {
	scores := make([]float64, len(docs))
	h := firstHeap{scores: scores, order: make([]int, 0, min(n, len(docs)))}
	for i, d := range docs {
		scores[i] = w.known(d)
		if len(h.order) < n {
			heap.Push(&h, i)
		} else if n > 0 && scores[i] > scores[h.order[0]] {
			h.order[0] = i
			heap.Fix(&h, 0)
		}
	}
	slices.SortFunc(h.order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return h.order
}

// firstHeap is a heap with the worst note at the top.
type firstHeap struct {
	scores []float64
	order  []int
}

func (h firstHeap) Len() int { return len(h.order) }

func (h firstHeap) Less(i, j int) bool {
	a, b := h.order[i], h.order[j]
	return cmp.Or(cmp.Compare(h.scores[a], h.scores[b]), cmp.Compare(b, a)) < 0
}

func (h firstHeap) Swap(i, j int) { h.order[i], h.order[j] = h.order[j], h.order[i] }

func (h *firstHeap) Push(x any) { h.order = append(h.order, x.(int)) }

func (h *firstHeap) Pop() any {
	last := h.order[len(h.order)-1]
	h.order = h.order[:len(h.order)-1]
	return last
}

// Score returns the score of a note whose text was read.
func (w *Weights) Score(d *Doc) float64 {
	score := w.known(d)
	if d.pairs > 0 {
		score += 0.3 * w.sum * (1 - 1/(1+float64(d.pairs)))
	}
	return score
}

// known returns the score of a note, except the part for adjacent words.
func (w *Weights) known(d *Doc) float64 {
	score, covered, inTitle := 0.0, 0.0, 0.0
	for t, idf := range w.idf {
		tf := 0.0
		for f := range fields {
			if n := d.counts[t][f]; n > 0 {
				tf += weights[f] * float64(n) / (1 - flats[f] + flats[f]*float64(d.length[f])/w.mean[f])
			}
		}
		if tf == 0 {
			continue
		}
		score += idf * tf * (saturation + 1) / (tf + saturation)
		covered += idf
		if d.counts[t][title]+d.counts[t][alias] > 0 {
			inTitle += idf
		}
	}
	if w.sum > 0 {
		score *= 0.4 + 0.6*covered/w.sum
		score += w.sum * 0.5 * inTitle / w.sum
	}
	if d.named {
		score += w.sum
	}
	return score
}
