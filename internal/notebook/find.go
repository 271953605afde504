package notebook

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/fault"
	"quarry/internal/noterank"
	"quarry/match"
	"quarry/search"
)

const (
	// excerptReach is how many characters an excerpt shows on either side.
	excerptReach = 100
	maxExcerpts  = 3
)

// Query is a search for notes by words, best first.
type Query struct {
	// Query is words. Each must occur, in any letter case, also inside of
	// another word; Loose changes that.
	Query string
	// Loose finds notes that lack some of the words or have them in another
	// form: without case, accents and English endings. The query may then have
	// filters: tag:a/b, property:status=done, path:Projects, heading:Log. A
	// note has to pass all of them; a value with blanks stands in quotes.
	Loose bool
	search.Scope
	Limit      int           // notes to give; 0 is 10
	Time       time.Duration // for searching notes; then the notes found so far are the answer. 0 is no limit
	Content    bool
	MaxContent int // characters of content; 0 is 10,000
}

// Found is a note that was found.
type Found struct {
	Path       string
	Excerpts   []string // text around the first matches
	Content    string   // when asked for
	ContentCut bool
	// Score says how well the note answers the query: BM25 over its text, with
	// more weight for its name, aliases and headings.
	Score float64
}

// MaxListed is how many notes a query of filters alone gives at least.
const MaxListed = 1000

// Result is the answer to a Query, best first; equal notes are in path order.
type Result struct {
	Notes []Found
	Total int
	// Listed says that the query had filters alone: notes are in path order, and there
	// are up to MaxListed.
	Listed bool
	search.Summary
}

// ErrFilter is for a filter of a query that can't be read.
var ErrFilter = fault.New(fault.InvalidArgument, "invalid filter", "use tag:name, property:name, property:name=value, path:text, heading:text or link:note, with a minus in front for notes without it")

// rated is a note that was found, with the words of the query that it has.
type rated struct {
	Found
	doc *noterank.Doc
}

// Search finds notes by words, best first.
func (b *Book) Search(ctx context.Context, q Query) (*Result, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	if q.MaxContent <= 0 {
		q.MaxContent = 10_000
	}
	s, err := newNoteSearch(&q)
	if err != nil {
		return nil, err
	}
	listed := s.words == nil
	if listed {
		q.Limit = max(q.Limit, MaxListed)
	}
	var notes []rated
	sum, err := b.ws.EachText(ctx, search.TextQuery{Scope: q.Scope, Having: s.need(), Time: q.Time}, func(path string, text []byte) any {
		if n := s.note(path, text); n != nil {
			return n
		}
		return nil
	}, func(path string, found any) {
		n := found.(*rated)
		n.Path = path
		notes = append(notes, *n)
	})
	if err != nil {
		return nil, err
	}
	s.rank(notes, sum.Stats.Searched)
	slices.SortStableFunc(notes, func(a, b rated) int { return cmp.Compare(b.Score, a.Score) })
	out := &Result{Total: len(notes), Listed: listed, Summary: *sum}
	out.FilesMatched = out.Total
	if out.Total > q.Limit {
		notes, out.Stopped = notes[:q.Limit], cmp.Or(out.Stopped, search.StopFiles)
	}
	out.Notes = make([]Found, len(notes)) // the rest may be large
	for i := range notes {
		out.Notes[i] = notes[i].Found
	}
	return out, nil
}

// noteSearch is a query for notes, ready to look at texts.
type noteSearch struct {
	q       *Query
	pattern *match.Pattern // what excerpts show; nil if words may be missing
	singles []single       // each must occur; none if words may be missing
	filters []noteFilter
	words   *noterank.Query // nil for filters alone
}

// single is a word, as a text has it and as a name has it in NFC.
type single struct{ text, name *match.Pattern }

func newNoteSearch(q *Query) (s *noteSearch, err error) {
	s = &noteSearch{q: q}
	if q.Loose {
		return s, s.loose()
	}
	words := strings.Fields(q.Query)
	if len(words) == 0 {
		return nil, search.ErrNoWords
	}
	if s.pattern, err = match.Compile(q.Query, match.Options{Syntax: match.Words, Mode: match.Text}); err != nil {
		return nil, err
	}
	for _, word := range words {
		var one single
		as := match.Options{Syntax: match.Literal, Case: match.Insensitive, Mode: match.Text}
		if one.text, err = match.Compile(word, as); err != nil {
			return nil, err
		}
		if one.name, err = match.Compile(norm.NFC.String(word), as); err != nil {
			return nil, err
		}
		s.singles = append(s.singles, one)
	}
	s.words = noterank.Strict(words)
	return s, nil
}

// loose reads a query whose words may be missing, with its filters.
func (s *noteSearch) loose() (err error) {
	rest, err := s.readFilters(s.q.Query)
	if err != nil {
		return err
	}
	s.words = noterank.New(rest)
	if s.words == nil && len(s.filters) == 0 {
		return search.ErrNoWords
	}
	return nil
}

// need is what the text of a note must contain: one of the words, since the
// others may be in its name. It is nothing if other forms and accents count,
// which a pattern can't find.
func (s *noteSearch) need() match.Need {
	if s.pattern == nil {
		return match.Need{}
	}
	n := s.pattern.Need()
	if n.Op == match.NeedAll {
		n.Op = match.NeedEither
	}
	return n
}

// rank scores the notes that were found, given the number of notes searched.
func (s *noteSearch) rank(notes []rated, searched int) {
	if s.words == nil {
		return
	}
	docs := make([]*noterank.Doc, len(notes))
	for i := range notes {
		docs[i] = notes[i].doc
	}
	for i, score := range s.words.Rank(docs, searched) {
		notes[i].Score = score
	}
}

// note rates the text of one file; nil if it is not wanted.
func (s *noteSearch) note(path string, text []byte) *rated {
	name := norm.NFC.Bytes([]byte(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".md")))
	for _, word := range s.singles {
		if _, _, ok := word.text.NewMatcher().Find(text, 0); ok {
			continue
		}
		if _, _, ok := word.name.NewMatcher().Find(name, 0); !ok {
			return nil
		}
	}
	for _, f := range s.filters {
		if !f(path, text) {
			return nil
		}
	}
	n := &rated{}
	var near []search.Span
	if s.words != nil {
		doc, ok := s.words.Count(path, text)
		if !ok && s.q.Loose {
			return nil
		}
		n.doc = doc
		for i := 0; i < len(doc.Near) && i < maxExcerpts; i++ {
			near = append(near, search.Span(doc.Near[i]))
		}
	}
	if !s.q.Loose {
		s.pattern.NewMatcher().Each(text, func(start, end int) bool {
			near = append(near, search.Span{Start: start, End: end})
			return len(near) < maxExcerpts
		})
	}
	sort.Slice(near, func(i, j int) bool { return near[i].Start < near[j].Start })
	n.Excerpts = excerpts(text, near)
	if s.q.Content {
		n.Content, n.ContentCut = firstCharacters(string(text), s.q.MaxContent)
	}
	return n
}

// excerpts shows the text around matches on one line each; adjacent windows are
// joined.
func excerpts(text []byte, near []search.Span) []string {
	var out []string
	for i := 0; i < len(near); i++ {
		from, to := back(text, near[i].Start, excerptReach), forward(text, near[i].End, excerptReach)
		for i+1 < len(near) && near[i+1].Start <= to {
			i++
			to = forward(text, near[i].End, excerptReach)
		}
		s := strings.Join(strings.Fields(string(text[from:to])), " ")
		if from > 0 {
			s = "..." + s
		}
		if to < len(text) {
			s += "..."
		}
		out = append(out, s)
	}
	return out
}

// back moves n characters towards the start of text.
func back(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}

// forward moves n characters towards its end.
func forward(text []byte, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

func firstCharacters(s string, n int) (string, bool) {
	end := forward([]byte(s), 0, n)
	return s[:end], end < len(s)
}
