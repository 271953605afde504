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
	// filters, as package notefilter reads them: tag:a/b, property:rating>=3, OR.
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

// rated is a note that was found, with the words of the query that it has.
type rated struct {
	Found
	doc  *noterank.Doc
	at   int    // its place among those found
	read bool   // its text was read
	text []byte // that is not shown yet
}

// Search finds notes by words, best first.
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
		// No word occurs as a word, but one may be a part of others: nothing is said
		// to be missing that a plain search finds.
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
	out.Notes = make([]Found, len(best)) // the rest may be large
	for i := range best {
		out.Notes[i] = best[i].Found
		out.Notes[i].Path = strings.Clone(out.Notes[i].Path) // a part of a text with all paths
	}
	return out, nil
}

// timeLeft is how much of limit is left at this moment, at least a nanosecond: 0
// would mean no limit.
func timeLeft(limit time.Duration, since time.Time) time.Duration {
	if limit <= 0 {
		return limit
	}
	return max(limit-time.Since(since), 1)
}

// rated finds the notes of a query, in path order, without scores.
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

// compared is how many notes are read for an answer of so many: those that are the best
// by what an index knows of them. Which words are neighbours only their texts say.
func compared(limit int) int { return max(3*limit, 30) }

// best returns the best notes of those found among so many, and how many of them
// were gone when they were read.
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
		first := weights.First(docs, compared(s.q.Limit))
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

// noteSearch is a query for notes, ready to look at texts.
type noteSearch struct {
	q       *Query
	pattern *match.Pattern // what excerpts show; nil if words may be missing
	singles []single       // each must occur, or one if some is set; none if words may be missing
	some    bool
	names   []string        // texts of the singles, which may be in the name instead
	filter  *noteFilter     // nil admits all
	plain   string          // a loose query without its filters
	words   *noterank.Query // nil for filters alone
}

// single is a word, as a text has it and as a name has it in NFC.
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

// strict looks for words as they are, also inside others.
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

// loose reads a query whose words may be missing, with its filters.
func (s *noteSearch) loose(ctx context.Context, b *Book) (err error) {
	rest := ""
	if rest, s.filter, err = b.readFilters(ctx, s.q.Query); err != nil {
		return err
	}
	s.plain, s.words = rest, noterank.New(rest)
	if s.words != nil {
		return nil
	}
	// Words that are too long to be counted are looked for as they are.
	long, err := s.parts()
	if err == nil && long == nil && s.filter == nil {
		err = search.ErrNoWords
	}
	if err == nil && long != nil {
		*s = *long
	}
	return err
}

// parts is the search for notes that have one of the words as a part of others;
// nil if there is none.
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

// need is what the text of a note must contain. It is nothing if other forms and
// accents count, which a pattern can't find.
func (s *noteSearch) need() match.Need {
	if s.pattern == nil {
		return match.Need{}
	}
	return s.pattern.Need()
}

// fields asks an index for notes, if it counts words as the query does.
func (s *noteSearch) fields(ctx context.Context) *search.FieldQuery {
	if s.pattern != nil {
		return nil
	}
	var facts notefields.Facts
	var finder *noterank.Finder
	if s.words != nil {
		finder = s.words.Finder()
	}
	var next []rated // made together, as there are many
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

// has reports whether a note has the singles.
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

// note rates the text of one file; nil if it is not wanted, or ctx has ended.
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

// show adds what an answer shows of a note's text.
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
