package searcher

import (
	"context"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/vault"
	"quarry/match"
	"quarry/search"
)

const (
	// excerptReach is how many characters an excerpt shows on either side.
	excerptReach = 100
	maxExcerpts  = 3
)

// SearchNotes finds notes that have all words, in the order of [search.Note.Compare].
func (d *Folder) SearchNotes(ctx context.Context, q search.NotesQuery) (*search.NotesResult, error) {
	return searchNotes(ctx, d, q)
}

// SearchNotes finds notes that have all words.
func (r *Servers) SearchNotes(ctx context.Context, q search.NotesQuery) (*search.NotesResult, error) {
	return searchNotes(ctx, r, q)
}

func searchNotes(ctx context.Context, from texts, q search.NotesQuery) (*search.NotesResult, error) {
	started := time.Now()
	words := strings.Fields(q.Query)
	if len(words) == 0 {
		return nil, search.ErrNoWords
	}
	pattern, err := match.Compile(q.Query, match.Options{Syntax: match.Words, Mode: match.Text})
	if err != nil {
		return nil, err
	}
	singles := make([]*match.Pattern, len(words))
	for i, word := range words {
		if singles[i], err = match.Compile(word, match.Options{Syntax: match.Literal, Case: match.Insensitive, Mode: match.Text}); err != nil {
			return nil, err
		}
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	if q.MaxContent <= 0 {
		q.MaxContent = 10_000
	}
	s := noteSearch{q: &q, words: singles}
	out := &search.NotesResult{}
	err = eachText(ctx, from, &q.Scope, &out.Summary, pattern, s.note, func(path string, n *search.Note) {
		n.Path = path
		out.Notes = append(out.Notes, *n)
	})
	if err != nil {
		return nil, err
	}
	sort.SliceStable(out.Notes, func(i, j int) bool { return out.Notes[i].Compare(&out.Notes[j]) < 0 })
	out.Total, out.FilesMatched = len(out.Notes), len(out.Notes)
	if out.Total > q.Limit {
		out.Notes, out.Stopped = append([]search.Note(nil), out.Notes[:q.Limit]...), search.StopFiles // the rest may be large
	}
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

type noteSearch struct {
	q     *search.NotesQuery
	words []*match.Pattern
}

// note rates the text of one file, or returns nil when a word is missing.
func (s *noteSearch) note(m *match.Matcher, path string, text []byte) *search.Note {
	name := []byte(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".md"))
	for _, word := range s.words {
		m := word.NewMatcher()
		if _, _, ok := m.Find(text, 0); ok {
			continue
		}
		if _, _, ok := m.Find(name, 0); !ok {
			return nil
		}
	}
	n := &search.Note{First: -1}
	var near []search.Span
	m.Each(text, func(start, end int) bool {
		if n.First < 0 {
			n.First = start
		}
		n.Matches++
		if len(near) < maxExcerpts {
			near = append(near, search.Span{Start: start, End: end})
		}
		return true
	})
	n.InHeadings = s.headingWords(path, text)
	n.Excerpts = excerpts(text, near)
	if s.q.Content {
		n.Content, n.ContentCut = firstCharacters(string(text), s.q.MaxContent)
	}
	return n
}

func (s *noteSearch) headingWords(path string, text []byte) int {
	title := path[strings.LastIndexByte(path, '/')+1:]
	title = strings.TrimSuffix(title, ".md")
	for _, h := range vault.Scan(text).Headings {
		title += "\n" + h.Text
	}
	n := 0
	for _, word := range s.words {
		if _, _, ok := word.NewMatcher().Find([]byte(title), 0); ok {
			n++
		}
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
