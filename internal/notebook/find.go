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

	"quarry/internal/notefields"
	"quarry/internal/noterank"
	"quarry/match"
	"quarry/search"
)

const (
	// excerptReach is how many characters an excerpt shows before and after a match.
	excerptReach = 100
	maxExcerpts  = 3
)

// Query is a search for notes by words. Results are ordered best first.
type Query struct {
	// Query contains the words. Each of them must occur, in any case, possibly inside
	// another word, unless Loose is set.
	Query string
	// Loose also finds notes that lack some of the words or contain other forms of them:
	// different case, accents or English endings. The query may then contain filters; see
	// package notefilter: tag:a/b, property:rating>=3, OR.
	Loose bool
	search.Scope
	Limit      int           // maximum number of notes; 0 means 10
	Time       time.Duration // limit for the search, which then returns the notes found so far; 0 means no limit
	Content    bool
	MaxContent int // characters of content; 0 means 10,000
}

// Found is a note in a Result.
type Found struct {
	Path       string
	Excerpts   []string // text around the first matches
	Content    string   // only if requested
	ContentCut bool
	// Score is the relevance of the note to the query: BM25 over its text, with more
	// weight for its name, aliases and headings.
	Score float64
}

// MaxListed is the minimum limit for a query that consists only of filters.
const MaxListed = 1000

// Result is the answer to a Query. Notes with equal scores are in path order.
type Result struct {
	Notes []Found
	Total int
	// Listed reports that the query had only filters. The notes are then in path order,
	// and there may be up to MaxListed of them.
	Listed bool
	search.Summary
}

// rated is a note that was found, with its counts of the query's words.
type rated struct {
	Found
	doc  *noterank.Doc
	at   int    // index among the notes found
	read bool   // its text was read
	text []byte // text not yet used for excerpts
}

// Search finds notes by words. The best come first.
func (b *Book) Search(ctx context.Context, q Query) (*Result, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	if q.MaxContent <= 0 {
		q.MaxContent = 10_000
	}
	s, err := b.newNoteSearch(ctx, &q)
	if err != nil {
		return nil, err
	}
	listed := s.words == nil
	if listed {
		q.Limit = max(q.Limit, MaxListed)
	}
	started := time.Now()
	notes, sum, err := b.rated(ctx, s, q.Time)
	if err != nil {
		return nil, err
	}
	if len(notes) == 0 && s.plain != "" && !listed && sum.Stopped == "" {
		// No query word occurs as a whole word, so look for parts of words. Otherwise the
		// answer could deny words that a plain search finds.
		if s, err = s.parts(); err != nil {
			return nil, err
		}
		if s != nil {
			notes, sum, err = b.rated(ctx, s, timeLeft(q.Time, started))
		}
		if err != nil {
			return nil, err
		}
	}
	out := &Result{Total: len(notes), Listed: listed, Summary: *sum}
	best, gone, err := b.best(ctx, s, notes, sum.Stats.Searched)
	if err != nil {
		return nil, err
	}
	out.Total -= gone
	out.FilesMatched = out.Total
	if out.Total > q.Limit {
		out.Stopped = cmp.Or(out.Stopped, search.StopFiles)
	}
	out.Notes = make([]Found, len(best)) // a copy: best may be part of a much larger array
	for i := range best {
		out.Notes[i] = best[i].Found
		out.Notes[i].Path = strings.Clone(out.Notes[i].Path) // a copy: the path may be part of a text with all paths
	}
	return out, nil
}

// timeLeft returns how much of limit is left, but at least a nanosecond because 0 would
// mean no limit.
func timeLeft(limit time.Duration, since time.Time) time.Duration {
	if limit <= 0 {
		return limit
	}
	return max(limit-time.Since(since), 1)
}

// rated finds the notes for a query, in path order and without scores.
func (b *Book) rated(ctx context.Context, s *noteSearch, limit time.Duration) (notes []*rated, sum *search.Summary, err error) {
	sum, err = b.ws.EachText(ctx, search.TextQuery{Scope: s.q.Scope, Having: s.need(), Names: s.names, Fields: s.fields(ctx), Time: limit}, func(path string, text []byte) any {
		if n := s.note(ctx, path, text); n != nil {
			return n
		}
		return nil
	}, func(path string, found any) {
		n := found.(*rated)
		n.Path = path
		notes = append(notes, n)
	})
	return notes, sum, err
}

// readLimit returns how many notes to read for an answer of limit notes: those with the
// best scores by index data. Only their texts tell which words are close together.
func readLimit(limit int) int { return max(3*limit, 30) }

// best returns the best of the notes found. searched is the number of notes that were
// searched; gone is the number of notes that vanished before they were read.
func (b *Book) best(ctx context.Context, s *noteSearch, notes []*rated, searched int) (best []*rated, gone int, err error) {
	if s == nil {
		return nil, 0, nil
	}
	var weights *noterank.Weights
	if s.words != nil {
		docs := make([]*noterank.Doc, len(notes))
		for i := range notes {
			docs[i] = notes[i].doc
		}
		weights = s.words.Weigh(docs, searched)
		first := weights.First(docs, readLimit(s.q.Limit))
		few := make([]*rated, len(first))
		for i, at := range first {
			few[i] = notes[at]
			few[i].at = at
		}
		notes = few
	}
	for _, n := range notes {
		if len(best) == s.q.Limit && weights == nil {
			break
		}
		if !n.read && (weights != nil || s.q.Content) {
			text, _, err := b.readText(ctx, n.Path)
			switch {
			case err != nil && ctx.Err() != nil:
				return nil, 0, err
			case err != nil:
				gone++
				continue
			case weights != nil:
				s.words.Read(ctx, n.doc, text.Text)
			}
			n.read, n.text = true, text.Text
		}
		if weights != nil {
			n.Score = weights.Score(n.doc)
		}
		best = append(best, n)
	}
	if weights != nil {
		slices.SortFunc(best, func(a, b *rated) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.at, b.at)) })
	}
	best = best[:min(len(best), s.q.Limit)]
	for _, n := range best {
		if n.text != nil {
			s.show(n, n.text)
			n.text = nil
		}
	}
	return best, gone, nil
}

// noteSearch is a compiled query for notes.
type noteSearch struct {
	q       *Query
	pattern *match.Pattern // matches to show in excerpts; nil if words may be missing
	singles []single       // the words that must all occur, or at least one if some is set; empty if words may be missing
	some    bool
	names   []string        // the words, which may also occur in the note's name
	filter  *noteFilter     // nil selects all notes
	plain   string          // the words of a loose query, without filters
	words   *noterank.Query // nil if the query has only filters
}

// single is the pattern of a word for texts, and the one for names in NFC.
type single struct{ text, name *match.Pattern }

func (b *Book) newNoteSearch(ctx context.Context, q *Query) (s *noteSearch, err error) {
	s = &noteSearch{q: q}
	if q.Loose {
		return s, s.loose(ctx, b)
	}
	words := strings.Fields(q.Query)
	if len(words) == 0 {
		return nil, search.ErrNoWords
	}
	if s.pattern, err = match.Compile(q.Query, match.Options{Syntax: match.Words, Mode: match.Text}); err != nil {
		return nil, err
	}
	return s, s.strict(words)
}

// strict requires the words literally, possibly inside other words.
func (s *noteSearch) strict(words []string) (err error) {
	for _, word := range words {
		var one single
		if one.text, err = match.Compile(word, asWritten); err != nil {
			return err
		}
		if one.name, err = match.Compile(norm.NFC.String(word), asWritten); err != nil {
			return err
		}
		s.singles = append(s.singles, one)
	}
	s.names, s.words = words, noterank.Strict(words)
	return nil
}

var asWritten = match.Options{Syntax: match.Literal, Case: match.Insensitive, Mode: match.Text}

// loose parses a query with filters, whose words may be missing.
func (s *noteSearch) loose(ctx context.Context, b *Book) (err error) {
	rest := ""
	if rest, s.filter, err = b.readFilters(ctx, s.q.Query); err != nil {
		return err
	}
	s.plain, s.words = rest, noterank.New(rest)
	if s.words != nil {
		return nil
	}
	// Words that are too long to be counted are searched literally.
	long, err := s.parts()
	if err == nil && long == nil && s.filter == nil {
		err = search.ErrNoWords
	}
	if err == nil && long != nil {
		*s = *long
	}
	return err
}

// parts returns a search for notes that contain one of the words as a part of other
// words, or nil if there are no words.
func (s *noteSearch) parts() (*noteSearch, error) {
	words := noterank.Plain(s.plain)
	if len(words) == 0 {
		return nil, nil
	}
	p := &noteSearch{q: s.q, some: true, filter: s.filter}
	var err error
	if p.pattern, err = match.CompileAny(words, asWritten); err != nil {
		return nil, err
	}
	return p, p.strict(words)
}

// need returns the conditions that the text of a note must meet. There are none if other
// forms and accents count, because a pattern can't find these.
func (s *noteSearch) need() match.Need {
	if s.pattern == nil {
		return match.Need{}
	}
	return s.pattern.Need()
}

// fields returns the query for an index, if the index counts words as the query does.
func (s *noteSearch) fields(ctx context.Context) *search.FieldQuery {
	if s.pattern != nil {
		return nil
	}
	var facts notefields.Facts
	var finder *noterank.Finder
	if s.words != nil {
		finder = s.words.Finder()
	}
	var next []rated // allocated in chunks because there are many
	f := &search.FieldQuery{Want: notefields.Words, Look: func(path string, values []byte, counts []uint8) any {
		if facts.Know(path, values); !s.admits(ctx, path, &facts) {
			return nil
		}
		if len(next) == 0 {
			next = make([]rated, 256)
		}
		n := &next[0]
		next = next[1:]
		if finder != nil {
			n.doc = facts.Found(finder, counts)
		}
		return n
	}}
	if s.filter != nil {
		f.Want |= s.filter.want
	}
	if s.words != nil {
		for _, k := range s.words.Keys() {
			f.Keys = append(f.Keys, uint64(k))
		}
	}
	return f
}

// admits reports whether a note passes the filters.
func (s *noteSearch) admits(ctx context.Context, path string, facts *notefields.Facts) bool {
	return s.filter == nil || s.filter.admits(ctx, path, facts)
}

// has reports whether a note contains the required words.
func (s *noteSearch) has(path string, text []byte) bool {
	if len(s.singles) == 0 {
		return true
	}
	name := norm.NFC.Bytes([]byte(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".md")))
	in := func(p *match.Pattern, text []byte) bool {
		_, _, ok := p.NewMatcher().Find(text, 0)
		return ok
	}
	has := func(w single) bool { return in(w.text, text) || in(w.name, name) }
	if s.some {
		return slices.ContainsFunc(s.singles, has)
	}
	return !slices.ContainsFunc(s.singles, func(w single) bool { return !has(w) })
}

// note searches the text of one file. It returns nil if the note doesn't match, or if ctx
// has ended.
func (s *noteSearch) note(ctx context.Context, path string, text []byte) *rated {
	if !s.has(path, text) || !s.admits(ctx, path, notefields.Of(path, text)) {
		return nil
	}
	n := &rated{}
	if s.words != nil {
		doc, ok := s.words.Count(ctx, path, text)
		if doc == nil || !ok && s.pattern == nil {
			return nil
		}
		n.doc = doc
	}
	s.show(n, text)
	return n
}

// show adds excerpts and content from a note's text.
func (s *noteSearch) show(n *rated, text []byte) {
	n.read = true
	var near []search.Span
	for i := 0; n.doc != nil && i < len(n.doc.Near) && i < maxExcerpts; i++ {
		near = append(near, search.Span(n.doc.Near[i]))
	}
	if s.pattern != nil {
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
}

// excerpts returns the text around matches, each excerpt as one line. Excerpts that touch
// are joined.
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

// back returns the offset n characters before at.
func back(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}

// forward returns the offset n characters after at.
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
