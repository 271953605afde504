// Package fuzzy ranks paths by how well they match the parts of a path that someone remembers.
//
// A query is a list of words in any order, all of which must match. A word is a name, a stem, the
// start or another part of a name, the initials of its words, one of these with a typo, or joined
// prefixes of words of the path. Slashes in a word separate folders. Case is ignored, and _ and - are
// equal. Scoring a path allocates nothing and depends only on the path, so the order (by score, then
// length, then bytes) is the same on every machine. A Query is immutable and safe for concurrent use.
package fuzzy

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/crew"
)

// Limits of a query. No name is longer than maxQuery.
const (
	maxQuery = 1024
	maxTerms = 16
)

// Query is a compiled query.
type Query struct {
	groups []group
	mask   uint64
	typos  bool // a term is long enough to match with a typo
	known  int  // number of words that are compared with folders
}

// group is a word of the query: one or more parts of a path, in order. There is usually one.
type group struct {
	terms []term
	whole []byte // the group without slashes, to match scattered letters
	mask  uint64 // its letters
	words []term // the words of a lone term with separators, which may match in any order

	repeats int // number of times that the query has the same group before this one
	known   int // index of the group's words in path.known
}

type term struct {
	text []byte // folded
	raw  string // as typed
	mask uint64
}

// Compile compiles a query.
func Compile(query string) (*Query, error) {
	if len(query) > maxQuery {
		return nil, errors.New("the query is longer than 1,024 bytes")
	}
	q := &Query{}
	n := 0
	for _, word := range strings.Fields(strings.ReplaceAll(query, `\`, "/")) {
		var g group
		for part := range strings.SplitSeq(word, "/") {
			if part == "" || part == "." || part == "*" || part == "**" {
				continue
			}
			t := term{text: foldText(part), raw: part}
			t.mask = maskOf(t.text)
			q.mask |= t.mask
			g.mask |= t.mask
			q.typos = q.typos || len(t.text) >= minTypo
			g.terms = append(g.terms, t)
			g.whole = append(g.whole, t.text...)
			n++
		}
		if len(g.terms) == 0 {
			continue
		}
		if len(g.terms) == 1 {
			g.words = separateWords(g.terms[0].text)
		}
		for i := range q.groups {
			if bytes.Equal(q.groups[i].whole, g.whole) {
				g.repeats++
			}
		}
		q.groups = append(q.groups, g)
		q.known += 1 + len(g.words)
	}
	at := len(q.groups)
	for i := range q.groups {
		q.groups[i].known = at
		at += len(q.groups[i].words)
	}
	switch {
	case n == 0:
		return nil, errors.New("the query is empty")
	case n > maxTerms:
		return nil, errors.New("the query has more than 16 words")
	}
	return q, nil
}

// separateWords returns the words of a term, or nil unless it has several, all of at least two letters.
func separateWords(text []byte) (words []term) {
	for w := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r < utf8.RuneSelf && class[byte(r)] == separator }) {
		if len(w) < 2 {
			return nil
		}
		words = append(words, term{text: w, mask: maskOf(w)})
	}
	if len(words) < 2 {
		return nil
	}
	return words
}

// Match is a matching path, given as its index in the list of paths.
type Match struct {
	Index int
	Score int

	direct, exact bool // the name contains the query, or equals it
	within        bool // the path is in a folder named exactly like the query
}

// Rank returns the matching paths, best first, and their total number. keep, if not 0, limits how
// many are returned. Paths with a score below least, or below half of the best score, are dropped,
// because letters scattered over a path match nearly everywhere. If a name equals the query, Rank
// also drops names that don't contain the query, except those of files in a folder with that name.
func (q *Query) Rank(paths []string, workers, least, keep int) (list []Match, total int) {
	list = q.fitting(paths, workers)
	best, exact := 0, false
	for _, m := range list {
		best, exact = max(best, m.Score), exact || m.exact
	}
	list = slices.DeleteFunc(list, func(m Match) bool {
		return m.Score < least || !m.within && (m.Score < best/2 || exact && !m.direct)
	})
	return first(list, paths, keep), len(list)
}

// chunk is the number of paths that a worker takes at a time: enough that most paths follow
// one in the same folder, and few enough that all workers finish together.
const chunk = 2048

// fitting returns the possibly matching paths, unordered.
func (q *Query) fitting(paths []string, workers int) []Match {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, len(paths)/chunk))
	parts := make([][]Match, workers)
	var next atomic.Int64
	var wg crew.Group
	for w := range workers {
		wg.Go(func() {
			var p path
			var list []Match
			best := 0
			for {
				hi := int(next.Add(chunk))
				lo := hi - chunk
				if lo >= len(paths) {
					break
				}
				for i := lo; i < min(hi, len(paths)); i++ {
					s := q.score(&p, paths[i], best)
					if s == 0 || s < best/2 && !p.within {
						continue
					}
					best = max(best, s)
					list = append(list, Match{i, s, p.direct, p.named, p.within})
					p.exact = p.exact || p.named
				}
			}
			parts[w] = list
		})
	}
	wg.Wait()
	return slices.Concat(parts...)
}

// first returns the first keep matches in order, or all if keep is 0. Most queries match
// thousands of paths and show 20, so it doesn't sort the others.
func first(list []Match, paths []string, keep int) []Match {
	if keep <= 0 || keep >= len(list) {
		return sorted(list, paths)
	}
	order := func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(paths[a.Index]), len(paths[b.Index])), strings.Compare(paths[a.Index], paths[b.Index]))
	}
	top := list[:keep] // a heap with the last of its matches on top
	for i := keep/2 - 1; i >= 0; i-- {
		sink(top, i, order)
	}
	for _, m := range list[keep:] {
		if m.Score >= top[0].Score && order(m, top[0]) < 0 {
			top[0] = m
			sink(top, 0, order)
		}
	}
	slices.SortFunc(top, order)
	return top
}

// sink restores a heap whose element i may belong further down.
func sink(heap []Match, i int, order func(a, b Match) int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && order(heap[c], heap[c+1]) < 0 {
			c++
		}
		if order(heap[i], heap[c]) >= 0 {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}

// sorted orders matches by score, then by the path's length, then by its bytes. It compares scores
// and lengths as one number first: a sort that compares the texts took three times as long.
func sorted(list []Match, paths []string) []Match {
	type key struct {
		rank uint64 // score and length
		at   uint32 // index in list
	}
	keys := make([]key, len(list))
	for i, m := range list {
		keys[i] = key{uint64(math.MaxInt32-m.Score)<<32 | uint64(uint32(len(paths[m.Index]))), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.at, b.at)) })
	out := make([]Match, len(list))
	for i, k := range keys {
		out[i] = list[k.at]
	}
	for from := 0; from < len(out); {
		to := from + 1
		for to < len(out) && keys[to].rank == keys[from].rank {
			to++
		}
		byBytes := func(a, b Match) int { return strings.Compare(paths[a.Index], paths[b.Index]) }
		if run := out[from:to]; !slices.IsSortedFunc(run, byBytes) {
			slices.SortFunc(run, byBytes)
		}
		from = to
	}
	return out
}

// Classes of bytes.
const (
	other byte = iota
	lower
	upper
	digit
	separator
)

var class, folded = func() (class, folded [256]byte) {
	for i := range 256 {
		c := byte(i)
		folded[i] = c
		switch {
		case 'a' <= c && c <= 'z', c >= utf8.RuneSelf:
			class[i] = lower
		case 'A' <= c && c <= 'Z':
			class[i], folded[i] = upper, c+'a'-'A'
		case '0' <= c && c <= '9':
			class[i] = digit
		case strings.IndexByte("/-_. +,@()[]{}#~=&!'", c) >= 0:
			class[i] = separator
		}
	}
	folded['_'], folded[' '] = '-', '-'
	return
}()

var bit = func() (bit [256]uint64) {
	for i := range 256 {
		switch c := folded[i]; {
		case 'a' <= c && c <= 'z':
			bit[i] = 1 << (c - 'a')
		case '0' <= c && c <= '9':
			bit[i] = 1 << (26 + c - '0')
		case c == '/' || c == '-':
			// Separators are in nearly every path, so they get no bit.
		default:
			bit[i] = 1 << (36 + c%28)
		}
	}
	return
}()

func maskOf(b []byte) (m uint64) {
	for _, c := range b {
		m |= bit[c]
	}
	return m
}

// foldText folds a text of any alphabet. Composed and decomposed letters become equal.
func foldText(s string) []byte {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		s = norm.NFC.String(strings.Map(unicode.ToLower, s))
	}
	b := []byte(s)
	for i, c := range b {
		b[i] = folded[c]
	}
	return b
}

// path is a candidate split into parts. It is reused, including the data about its folders: in
// a sorted list most paths have the same folders as the previous one.
type path struct {
	raw    string
	text   []byte // folded
	name   []byte // the last part of text
	base   int    // where the name begins in text
	stem   int    // length of name before its last dot
	first  int    // length of name before its first dot
	marked bool   // split has set the following fields
	words  []int  // starts of the stem's words, in name
	heads  []byte // their initials
	cover  int    // bytes of the name that terms match
	typos  int    // terms that match only with a typo
	direct bool   // the name contains the query
	named  bool   // the name equals the query
	exact  bool   // the name of some path equals the query, so only names that contain the query count
	within bool   // a folder equals the query

	own     uint64 // letters of the name
	all     bool   // for tests: assume that every name has all letters
	dir     string // the folders' part of raw, with the last slash
	mask    uint64 // its letters
	folders int    // length of the folders in text
	parts   []span // the folders, nearest last
	known   []inDir
}

type span struct{ start, end int }

// inDir records how well the folders match a word of the query.
type inDir struct {
	known, typo bool
	value       int
}

// fill splits the path s into parts. It returns false if the path lacks letters of the query.
func (p *path) fill(s string, q *Query) bool {
	base := len(p.dir)
	if p.known == nil || !strings.HasPrefix(s, p.dir) || strings.IndexByte(s[base:], '/') >= 0 {
		base = strings.LastIndexByte(s, '/') + 1
		p.enter(s[:base], q)
	}
	own, ascii := uint64(0), byte(0)
	for i := base; i < len(s); i++ {
		ascii |= s[i]
		own |= bit[s[i]]
	}
	if ascii >= utf8.RuneSelf || p.all {
		own = ^uint64(0) // folding may change the letters
	}
	missing := bits.OnesCount64(q.mask &^ (p.mask | own))
	if missing > 1 || missing == 1 && !q.typos {
		return false
	}
	p.own = own
	p.raw, p.base, p.cover, p.typos, p.direct, p.named, p.within = s, p.folders, 0, 0, false, false, false
	p.text = appendFolded(p.text[:p.folders], s[base:], ascii)
	p.name = p.text[p.base:]
	p.stem, p.first = len(p.name), len(p.name)
	if i := bytes.LastIndexByte(p.name, '.'); i > 0 {
		p.stem = i
		p.first = 1 + bytes.IndexByte(p.name[1:], '.')
	}
	p.marked = false
	return true
}

// split finds the words of the name. It is not part of fill, because most names are rejected
// before their words are needed.
func (p *path) split() {
	if p.marked {
		return
	}
	p.marked = true
	p.words, p.heads = p.words[:0], p.heads[:0]
	for i := range p.stem {
		if p.starts(p.base + i) {
			p.words = append(p.words, i)
			p.heads = append(p.heads, p.name[i])
		}
	}
}

// enter prepares the folders of a path. fill uses them for the following paths in the same
// folder too.
func (p *path) enter(dir string, q *Query) {
	p.dir = dir
	ascii := byte(0)
	for i := range len(dir) {
		ascii |= dir[i]
	}
	p.text = appendFolded(p.text[:0], dir, ascii)
	p.mask, p.folders = maskOf(p.text), len(p.text)
	p.parts = p.parts[:0]
	start := 0
	for i, c := range p.text {
		if c == '/' {
			p.parts = append(p.parts, span{start, i})
			start = i + 1
		}
	}
	p.known = slices.Grow(p.known[:0], q.known)[:q.known]
	clear(p.known)
}

// appendFolded folds a part of a path. bits is all its bytes or-ed together.
func appendFolded(to []byte, s string, bits byte) []byte {
	if bits >= utf8.RuneSelf {
		return append(to, foldText(s)...)
	}
	n := len(to)
	to = slices.Grow(to, len(s))[:n+len(s)]
	for i := range len(s) {
		to[n+i] = folded[s[i]]
	}
	return to
}

// kind returns the class of byte i of text. It looks at the path before folding, to see the
// capitals of camel case, unless folding changed the length.
func (p *path) kind(i int) byte {
	if i < p.folders {
		if len(p.dir) == p.folders {
			return class[p.dir[i]]
		}
	} else if name := p.raw[len(p.dir):]; len(name) == len(p.text)-p.folders {
		return class[name[i-p.folders]]
	}
	return class[p.text[i]]
}

// starts reports whether a word begins at byte i of text.
func (p *path) starts(i int) bool {
	k := p.kind(i)
	if k == separator || i == 0 || i == p.base {
		return k != separator
	}
	prev := p.kind(i - 1)
	return prev == separator || k == upper && (prev == lower || prev == digit)
}

// ends reports whether a word ends before byte i of text.
func (p *path) ends(i int) bool {
	switch {
	case i == len(p.text):
		return true
	case i == 0 || i == p.base || p.kind(i-1) == separator:
		return false
	}
	return p.kind(i) == separator || p.starts(i)
}
