package searcher

import (
	"cmp"
	"context"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/noterank"
	"quarry/match"
	"quarry/search"
)

const (
	// excerptReach is how many characters an excerpt shows on either side.
	excerptReach = 100
	maxExcerpts  = 3
)

// SearchNotes finds notes by words, in the order of [search.Note.Compare].
func (d *Folder) SearchNotes(ctx context.Context, q search.NotesQuery) (*search.NotesResult, error) {
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	r, err := searchNotes(ctx, d, q)
	if err != nil {
		return nil, err
	}
	r.Stats.Replaced = followed
	return r, nil
}

// SearchNotes finds notes by words.
func (r *Servers) SearchNotes(ctx context.Context, q search.NotesQuery) (*search.NotesResult, error) {
	return searchNotes(ctx, r, q)
}

// rated is a note that was found and what it has of the query.
type rated struct {
	search.Note
	doc *noterank.Doc
}

func searchNotes(ctx context.Context, from texts, q search.NotesQuery) (*search.NotesResult, error) {
	started := time.Now()
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
	out := &search.NotesResult{}
	var notes []rated
	bounded, cancel := within(ctx, q.Time)
	defer cancel()
	err = eachText(bounded, from, &q.Scope, &out.Summary, s.pattern, s.note, func(path string, n *rated) {
		n.Path = path
		notes = append(notes, *n)
	})
	if err = partly(ctx, &out.Summary, err); err != nil {
		return nil, err
	}
	if s.words != nil {
		docs := make([]*noterank.Doc, len(notes))
		for i := range notes {
			docs[i] = notes[i].doc
		}
		totals := s.words.Totals(docs, out.Stats.Searched)
		out.Totals = search.NoteTotals(totals)
		if q.Totals != nil {
			totals = noterank.Totals(*q.Totals)
		}
		for i, score := range s.words.Rank(docs, &totals) {
			notes[i].Score = score
		}
	}
	sort.SliceStable(notes, func(i, j int) bool { return notes[i].Compare(&notes[j].Note) < 0 })
	out.Total, out.FilesMatched = len(notes), len(notes)
	if out.Total > q.Limit {
		notes, out.Stopped = notes[:q.Limit], cmp.Or(out.Stopped, search.StopFiles)
	}
	out.Notes = make([]search.Note, len(notes)) // the rest may be large
	for i := range notes {
		out.Notes[i] = notes[i].Note
	}
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

// noteSearch is a query for notes, ready to look at texts.
type noteSearch struct {
	q       *search.NotesQuery
	pattern *match.Pattern   // what excerpts show
	singles []*match.Pattern // each has to occur; none where words may be missing
	filters []noteFilter
	words   *noterank.Query // nil for filters alone
}

func newNoteSearch(q *search.NotesQuery) (s *noteSearch, err error) {
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
		p, err := match.Compile(word, match.Options{Syntax: match.Literal, Case: match.Insensitive, Mode: match.Text})
		if err != nil {
			return nil, err
		}
		s.singles = append(s.singles, p)
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
	// Texts are counted word by word; no pattern finds other forms and accents.
	s.pattern, err = match.Compile(".", match.Options{Mode: match.Text})
	return err
}

// note rates the text of one file, or returns nil when it is not wanted.
func (s *noteSearch) note(m *match.Matcher, path string, text []byte) *rated {
	name := []byte(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".md"))
	for _, word := range s.singles {
		m := word.NewMatcher()
		if _, _, ok := m.Find(text, 0); ok {
			continue
		}
		if _, _, ok := m.Find(name, 0); !ok {
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
		m.Each(text, func(start, end int) bool {
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

// excerpts shows the text around matches on one line each; windows that touch
// are one.
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
