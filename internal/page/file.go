package page

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/colour"
	"quarry/internal/rank"
	"quarry/match"
	"quarry/search"
)

const (
	maxFileLines = 600       // lines in one answer
	maxFileBytes = 512 << 10 // bytes of these lines
	maxShownLine = 4000      // bytes shown of one line; minified files have very long ones
)

// wireText is a part of a file as sent to the page.
type wireText struct {
	Path  string   `json:"path"`
	From  int      `json:"from"` // number of the first line in Lines
	Lines []string `json:"lines"`
	// Cut lists the lines of which only a part is shown; Left is the number of bytes omitted before
	// that part.
	Cut  []int       `json:"cut,omitempty"`
	Left map[int]int `json:"left,omitempty"`
	// Marks holds the query's matches in each line, as pairs of offsets.
	Marks    map[int][]int `json:"marks,omitempty"`
	Total    int           `json:"total"`
	Version  string        `json:"version"`
	Encoding string        `json:"encoding"`
	Ending   string        `json:"ending"`
	Colours  coloured      `json:"colours,omitempty"`
	Language string        `json:"language,omitempty"`
}

// file returns at most maxFileLines lines of a file, beginning at line "from". If the request has a
// query, the server marks its matches: some patterns that take linear time here would practically
// never end in the browser.
func (s *Server) file(w http.ResponseWriter, r *http.Request) (any, error) {
	v := r.URL.Query()
	path := pathOf(v.Get("path"))
	from, err := positive(v.Get("from"), 1)
	if err != nil {
		return nil, err
	}
	count, err := positive(v.Get("count"), maxFileLines)
	if err != nil {
		return nil, err
	}
	t, err := s.ws.Read(r.Context(), path, &search.ReadOptions{
		Start: from, End: from + min(count, maxFileLines) - 1, MaxBytes: maxFileBytes,
	})
	if err != nil {
		return nil, err
	}
	out := wireText{
		Path: pathID(t.Path), From: t.First, Lines: t.Lines, Total: t.Total, Version: t.Version, Encoding: t.Encoding, Ending: t.Ending,
	}
	if l := colour.For(t.Path); l != nil {
		out.Language = l.Name
	}
	spans := matchesIn(v, t.Lines)
	for i, l := range out.Lines {
		from := 0
		if len(l) > maxShownLine {
			from = cutAt(l, spans[i])
			out.Lines[i] = strings.ToValidUTF8(l[from:min(len(l), from+maxShownLine)], "")
			out.Cut = append(out.Cut, t.First+i)
		}
		if from > 0 {
			out.Left = setIn(out.Left, t.First+i, from)
		}
		if marks := marksIn(out.Lines[i], spans[i], from); marks != nil {
			out.Marks = setIn(out.Marks, t.First+i, marks)
		}
	}
	if out.Lines == nil {
		out.Lines = []string{}
	}
	out.Colours = s.coloursOf(r.Context(), t.Path, t.Version, t.First, out.Lines, t.Total)
	if len(out.Left) > 0 {
		out.Colours = slices.Clone(out.Colours) // don't modify the cached slice
		for i := range out.Colours {
			if out.Left[t.First+i] > 0 {
				out.Colours[i] = nil // colours are counted from the line's beginning, which is cut
			}
		}
	}
	return out, nil
}

// maxFound limits the line numbers that find returns.
const maxFound = 20_000

// find returns the numbers of the lines that contain a text, in any letter case. The page needs it
// because it draws only visible lines, so the browser's own search would miss the others.
func (s *Server) find(w http.ResponseWriter, r *http.Request) (any, error) {
	v := r.URL.Query()
	text, file := v.Get("q"), pathOf(v.Get("path"))
	if text == "" || len(text) > maxQuery || file == "" {
		return nil, badRequest("nothing to find, or nowhere")
	}
	out := struct {
		Lines []int `json:"lines"`
		More  bool  `json:"more"`
	}{Lines: []int{}}
	q := search.Query{Pattern: text, Scope: search.Scope{Paths: []string{file}, IncludeHidden: true, IncludeIgnored: true, NoIndex: true}, Limits: search.Limits{Lines: maxFound, LineBytes: 1}}
	q.Match.Syntax, q.Match.Case = match.Literal, match.Insensitive
	sum, err := s.ws.SearchEach(r.Context(), q, func(f *search.FileMatch) error {
		for _, l := range f.Lines {
			out.Lines = append(out.Lines, l.Number)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.More = sum.Stopped != ""
	return out, nil
}

func setIn[V any](m map[int]V, k int, v V) map[int]V {
	if m == nil {
		m = map[int]V{}
	}
	m[k] = v
	return m
}

const (
	maxMarks = 200 // marks in one line
	leadIn   = 200 // bytes shown before the first match of a cut line
)

// matchesIn returns the byte offsets of a query's matches in each line. Without a valid query it
// finds none.
func matchesIn(v url.Values, lines []string) [][]int {
	out := make([][]int, len(lines))
	a, err := readAsked(v)
	if err == nil && a.mode == "words" {
		words := rank.NewQuery(a.q)
		for i, l := range lines {
			out[i] = wordsIn(words, l)
			out[i] = out[i][:min(len(out[i]), 2*maxMarks)]
		}
	}
	if err != nil || a.mode != "text" && a.mode != "regex" {
		return out
	}
	p, err := match.Compile(a.q, a.query().Match)
	if err != nil {
		return out
	}
	m := p.NewMatcher()
	for i, l := range lines {
		m.EachInLine([]byte(l), func(start, end int) bool {
			if start < end {
				out[i] = append(out[i], start, end)
			}
			return len(out[i]) < 2*maxMarks
		})
	}
	return out
}

// cutAt returns where the shown part of a long line begins: at the line's start, unless the first
// match would then be cut off.
func cutAt(line string, spans []int) int {
	if len(spans) == 0 || spans[1] <= maxShownLine {
		return 0
	}
	from := max(0, spans[0]-leadIn)
	for from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	return from
}

// marksIn converts matches to UTF-16 offsets in shown, the part of the line that begins at byte
// from. Matches outside that part are dropped.
func marksIn(shown string, spans []int, from int) []int {
	var out []int
	at, n := 0, 0
	for i := 0; i+1 < len(spans); i += 2 {
		a, b := spans[i]-from, min(spans[i+1]-from, len(shown))
		if a < at || a >= b {
			continue
		}
		n += units([]byte(shown[at:a]))
		start := n
		n += units([]byte(shown[a:b]))
		out, at = append(out, start, n), b
	}
	return out
}

func positive(s string, otherwise int) (int, error) {
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1<<31 {
		return 0, badRequest("invalid number " + strconv.Quote(s))
	}
	return n, nil
}

// coloursOf returns the colours of the shown lines of a file. If the file is small enough all of it
// is coloured, otherwise only these lines.
func (s *Server) coloursOf(ctx context.Context, path, version string, first int, shown []string, total int) coloured {
	if colour.For(path) == nil || len(shown) == 0 {
		return nil
	}
	key := version + " " + path
	whole, known := s.colours.get(key)
	if !known {
		select {
		case s.colours.slot <- struct{}{}:
			defer func() { <-s.colours.slot }()
		case <-ctx.Done():
			return nil
		}
		whole, known = s.colours.get(key)
	}
	if !known {
		deadline := time.Now().Add(colourBudget)
		if t, err := s.ws.Read(ctx, path, &search.ReadOptions{MaxBytes: maxColoured}); err == nil && !t.Cut && t.Version == version {
			whole = colourLines(ctx, path, t.Lines, deadline)
		}
		if ctx.Err() != nil {
			return nil // the client has disconnected; don't cache incomplete colours
		}
		s.colours.put(key, whole)
	}
	if whole == nil {
		return colourLines(ctx, path, shown, time.Now().Add(colourBudget))
	}
	if first < 1 || first-1+len(shown) > len(whole) {
		return nil
	}
	return whole[first-1 : first-1+len(shown)]
}

// fileColours returns the colours of given lines of a file in a search result. They are requested
// separately so that the result's first lines arrive sooner.
func (s *Server) fileColours(w http.ResponseWriter, r *http.Request) (any, error) {
	v := r.URL.Query()
	path := pathOf(v.Get("path"))
	if colour.For(path) == nil {
		return map[string]any{}, nil
	}
	out := map[string][]any{}
	for span := range strings.SplitSeq(v.Get("lines"), ",") {
		a, b, _ := strings.Cut(span, "-")
		from, err1 := positive(a, 1)
		to, err2 := positive(b, from)
		if err1 != nil || err2 != nil || to < from || to-from > maxFileLines || len(out) > 4*maxFileLines {
			continue
		}
		t, err := s.ws.Read(r.Context(), path, &search.ReadOptions{Start: from, End: to, MaxBytes: maxFileBytes})
		if err != nil {
			continue
		}
		for i, c := range s.coloursOf(r.Context(), path, t.Version, t.First, t.Lines, t.Total) {
			out[strconv.Itoa(t.First+i)] = c
		}
	}
	return map[string]any{"lines": out}, nil
}
