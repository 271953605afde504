// Package rank orders texts by relevance to a query of words.
//
// It is pure: it takes texts and paths and returns numbers. The same files and query
// always give the same order, whether the counts come from reading every file or from an
// index. Ranking has two stages. The first uses, for every file, its term counts, length
// and path. The second reads the best files, considers definitions and words that occur
// together, and chooses the piece of each file to show.
package rank

import (
	"slices"
	"strings"
	"sync"

	"quarry/internal/terms"
	"quarry/match"
)

// maxTerms limits the terms of a query; more add nothing to a ranking. In a long text,
// such as a pasted issue, the title is the query. The other terms, up to longTerms in
// all, count only for the BM25 of the whole text.
const (
	maxTerms  = 24
	longTerms = 96
)

// Query is a parsed query. It is immutable.
type Query struct {
	terms  []term
	idents []ident
	most   int      // maximum number of terms
	symbol bool     // the query is one identifier and nothing else
	tests  bool     // it asks for tests
	asked  []string // keys of the names it asks for
	ends   []bool   // whether a term ends such a name
	lookup map[string]int32
	keys   map[terms.Key]keyed
	begins [1 << 10]uint64 // pairs of bytes with which a term begins
	last   [256]bool       // last bytes of the names in idents
	finder *terms.Finder
}

// term is a word to look for.
type term struct {
	text   string
	word   string // as written, folded
	alts   []string
	weight float64 // in names and comments, by position in the query
	tells  float64 // weight in the text; 0 for a word after the title of a long text
	next   int     // the next term of the query, or -1
	inName bool    // part of an identifier the query names
}

// ident is an identifier in the query: HandlerStack, embeds_many, res.send,
// Sinatra::Base.
type ident struct {
	name      string // the last component as written
	folded    string // in lower case, without underscores
	container string // the part before the last dot, folded
	terms     []int
	parts     []string // folded
	exact     bool     // its form shows that it is an identifier
}

// NewQuery parses a query. It returns nil when there is nothing to look for.
func NewQuery(query string) *Query {
	query = strings.ToValidUTF8(query, " ")
	q := &Query{lookup: map[string]int32{}, keys: map[terms.Key]keyed{}, most: maxTerms}
	title, body := cutTitle(query)
	words := splitWords(title)
	place := 0
	for _, w := range contentOf(words) {
		if w.plain && weakWords()[strings.ToLower(w.text)] {
			q.addWord(w, weakName, weakText)
			continue
		}
		q.addWord(w, placeWeight(place), 1)
		place++
	}
	if body != "" {
		q.addBody(body)
	}
	if len(q.terms) == 0 {
		return nil
	}
	q.symbol = len(words) == 1 && len(q.idents) == 1 && body == ""
	for _, t := range q.terms {
		q.tests = q.tests || t.weight > 0 && testWords[t.word]
	}
	var all []string
	for i := range q.terms {
		t := &q.terms[i]
		all = append(all, t.forms()...)
		for n, s := range t.forms() {
			if _, ok := q.lookup[s]; !ok {
				q.lookup[s] = int32(i)
			}
			if k := terms.KeyOf([]byte(s)); !q.has(k) {
				q.keys[k] = keyed{int32(i), n > 0}
			}
			i := beginning2([]byte(s))
			q.begins[i>>6] |= 1 << (i & 63)
		}
	}
	q.finder = terms.NewFinder(all)
	q.countOnce()
	q.ends = make([]bool, len(q.terms))
	for _, id := range q.idents {
		if q.asks(&id) {
			q.asked = append(q.asked, id.folded)
			q.ends[id.terms[len(id.terms)-1]] = true
		}
	}
	for _, id := range q.idents {
		if id.folded != "" {
			q.last[id.folded[len(id.folded)-1]] = true
		}
	}
	return q
}

// testWords are the words that ask for tests.
var testWords = map[string]bool{"test": true, "tests": true, "spec": true, "specs": true, "fixture": true, "fixtures": true, "testdata": true, "benchmark": true, "benchmarks": true}

// countOnce merges terms that are other forms of an earlier term, such as cfg of config.
// They are still found in texts, but count as the earlier term.
func (q *Query) countOnce() {
	for i := range q.terms {
		if int(q.lookup[q.terms[i].text]) != i {
			q.terms[i].weight, q.terms[i].tells = 0, 0
		}
	}
	for i := range q.idents {
		list := q.idents[i].terms
		for k, t := range list {
			list[k] = int(q.lookup[q.terms[t].text])
		}
	}
}

// contentOf drops stop words, unless the query has no other words.
func contentOf(words []queryWord) []queryWord {
	content := slices.DeleteFunc(slices.Clone(words), func(w queryWord) bool {
		return w.plain && stopWords()[strings.ToLower(w.text)]
	})
	if len(content) == 0 {
		return words
	}
	return content
}

// cutTitle splits a long text after its first line, if that line is a usable title. A
// short query is all title.
func cutTitle(query string) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(query), "\n")
	if len(contentOf(splitWords(title))) < 2 || len(splitWords(body)) < maxTerms {
		return query, ""
	}
	return title, body
}

// addBody adds the words of a long text after its title. Identifiers count only as words
// there: those in code that reproduces a bug say little about the bug's place.
func (q *Query) addBody(body string) {
	idents := q.idents
	q.most = longTerms
	for _, w := range contentOf(splitWords(body)) {
		q.addWord(w, 0, 0)
	}
	q.idents = idents
}

// placeWeight is the weight of a word in names by its position in the query: a question
// names its subject first. In texts all positions weigh the same, so a rare word decides
// wherever it is.
func placeWeight(place int) float64 { return max(1-0.2*float64(place), 0.4) }

// beginning2 returns the first two bytes of a part, in lower case.
func beginning2(part []byte) uint32 {
	v := uint32(lower(part[0])) << 8
	if len(part) > 1 {
		v |= uint32(lower(part[1]))
	}
	return v
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// mayBe reports whether a part may be one of the terms. A term is a prefix of each of its
// words, so two letters exclude most other parts.
func (q *Query) mayBe(part []byte) bool {
	i := beginning2(part)
	return q.begins[i>>6]>>(i&63)&1 != 0
}

// termOf returns the query term that is equal to a part of a text.
func (q *Query) termOf(part []byte) (int32, bool) {
	if !q.mayBe(part) {
		return 0, false
	}
	var buf [terms.MaxPart + 8]byte
	i, ok := q.lookup[string(terms.Append(buf[:0], part))]
	return i, ok
}

// Marks calls f for every part of text that counts as a word of the query.
func (q *Query) Marks(text []byte, f func(start, end int)) {
	q.finder.Each(text, func(start, end int) {
		if _, ok := q.termOf(text[start:end]); ok {
			f(start, end)
		}
	})
}

func (q *Query) has(k terms.Key) bool {
	_, ok := q.keys[k]
	return ok
}

// forms returns the term and its other forms, short or long.
func (t *term) forms() []string { return append([]string{t.text}, t.alts...) }

// Pattern matches every text that has a term, and some that have none. A server without
// term counts can search with it.
func (q *Query) Pattern() (*match.Pattern, error) {
	var words []string
	for _, t := range q.terms {
		words = append(words, t.forms()...)
	}
	return match.Compile(strings.Join(words, " "), match.Options{Syntax: match.Words})
}

// queryWord is a word of the query with its dots and colons.
type queryWord struct {
	text  string
	plain bool // lower case letters only, or capitalised at the start
}

// splitWords cuts a query at white space and punctuation, but keeps a.b, A::b
// and A#b together.
func splitWords(query string) []queryWord {
	var out []queryWord
	for _, f := range strings.Fields(query) {
		f = strings.Trim(f, ".,;:!?()[]{}\"'`<>=*&|/\\+@$%^~#-")
		for _, piece := range strings.FieldsFunc(f, func(r rune) bool {
			return r < 0x80 && !terms.InWord(byte(r)) && r != '.' && r != ':' && r != '#' || r == '-'
		}) {
			piece = strings.Trim(piece, ".:#")
			if piece == "" || len(out) >= 200 {
				continue
			}
			out = append(out, queryWord{text: piece, plain: isPlain(piece)})
		}
	}
	return out
}

// isPlain reports whether a word looks like prose.
func isPlain(w string) bool {
	for i, c := range []byte(w) {
		if c >= 'A' && c <= 'Z' && i > 0 || c == '_' || c == '.' || c == ':' || c == '#' || c >= '0' && c <= '9' {
			return false
		}
	}
	return true
}

// addWord adds the terms of a word with these weights, and the identifier if it looks
// like one.
func (q *Query) addWord(w queryWord, weight, tells float64) {
	components := strings.FieldsFunc(w.text, func(r rune) bool { return r == '.' || r == ':' || r == '#' })
	var all []int
	for ci, comp := range components {
		var mine []int
		var folded []string
		terms.EachPart([]byte(comp), func(start, end int, _ bool) {
			folded = append(folded, string(terms.AppendFolded(nil, []byte(comp[start:end]))))
			if i := q.addTerm(comp[start:end], weight, tells); i >= 0 {
				mine = append(mine, i)
			}
		})
		all = append(all, mine...)
		if ci < len(components)-1 || len(mine) == 0 {
			continue
		}
		id := ident{
			name: comp, folded: foldName(comp), terms: mine, parts: folded,
			exact: !w.plain && (len(folded) > 1 || len(components) > 1 || strings.ToUpper(comp) != comp),
		}
		if len(components) > 1 {
			id.container = foldName(components[ci-1])
		}
		if len(q.idents) < q.most {
			q.idents = append(q.idents, id)
		}
		if id.exact {
			for _, i := range all {
				q.terms[i].inName = true
			}
		}
	}
}

// addTerm returns the index of a term, which it adds if it is new.
func (q *Query) addTerm(part string, weight, tells float64) int {
	text := string(terms.Append(nil, []byte(part)))
	if text == "" {
		return -1
	}
	last := len(q.terms) - 1
	i := slices.IndexFunc(q.terms, func(t term) bool { return t.text == text })
	if i < 0 {
		if len(q.terms) >= q.most {
			return -1
		}
		word := strings.ToLower(part)
		q.terms = append(q.terms, term{text: text, word: word, alts: alternatives(word, text), weight: weight, tells: tells, next: -1})
		i = len(q.terms) - 1
	}
	if last >= 0 && last != i && q.terms[last].next < 0 {
		q.terms[last].next = i
	}
	return i
}

// foldName returns an identifier in lower case without underscores, which is the same for
// all naming styles.
func foldName(name string) string {
	b := make([]byte, 0, len(name))
	for _, c := range []byte(name) {
		if c == '_' || c == '-' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// stopWords say nothing about code.
var stopWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or of to in on at by for from with without into onto over under via as is are was were be been being
		it its this that these those there their they them he she we you i me my your our
		how what where which who whom whose when why do does did done doing can could should would will shall may might must
		not no nor so than then if else but about between through during before after each every any all some such same other another
		have has had having get gets got use uses used using make makes made work works working
		implement implemented implements implementation implementing handle handles handled handling code find show explain`) {
		m[w] = true
	}
	return m
})

// Weights of words such as fix, add and avoid. They say what to do with the code, and
// rarely where it is.
const (
	weakName = 0.3
	weakText = 0.5
)

var weakWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`fix fixes fixed fixing add adds added adding remove removes removed removing allow allows allowed support supports supported
		ensure ensures avoid avoids prevent prevents improve improves improved simplify simplifies correct corrects correctly properly proper
		instead only also now again always never missing unused unnecessary wrong incorrect bug bugs issue issues problem problems broken
		don doesn because decide decided decides happen happens`) {
		m[w] = true
	}
	return m
})
