package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"quarry/internal/colour"
	"quarry/search"
)

const (
	maxFileLines = 600       // lines of one answer
	maxFileBytes = 512 << 10 // and their text
	maxShownLine = 4000      // bytes of one line; a minified file has one
)

// wireText is a part of a file.
type wireText struct {
	Path     string   `json:"path"`
	From     int      `json:"from"` // number of the first line
	Lines    []string `json:"lines"`
	Cut      []int    `json:"cut,omitempty"` // of these lines only the beginning is here
	Total    int      `json:"total"`
	Version  string   `json:"version"`
	Encoding string   `json:"encoding"`
	Ending   string   `json:"ending"`
	Colours  coloured `json:"colours,omitempty"`
	Language string   `json:"language,omitempty"`
}

// file gives lines of a file: from line "from", at most maxFileLines.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	path := pathOf(v.Get("path"))
	from, err := positive(v.Get("from"), 1)
	if err != nil {
		fail(w, err)
		return
	}
	count, err := positive(v.Get("count"), maxFileLines)
	if err != nil {
		fail(w, err)
		return
	}
	t, err := s.ws.Read(r.Context(), path, &search.ReadOptions{
		Start: from, End: from + min(count, maxFileLines) - 1, MaxBytes: maxFileBytes,
	})
	if err != nil {
		fail(w, err)
		return
	}
	out := wireText{
		Path: pathID(t.Path), From: t.First, Lines: t.Lines, Total: t.Total, Version: t.Version, Encoding: t.Encoding, Ending: t.Ending,
	}
	if l := colour.For(t.Path); l != nil {
		out.Language = l.Name
	}
	for i, l := range out.Lines {
		if len(l) > maxShownLine {
			out.Lines[i] = strings.ToValidUTF8(l[:maxShownLine], "")
			out.Cut = append(out.Cut, t.First+i)
		}
	}
	if out.Lines == nil {
		out.Lines = []string{}
	}
	out.Colours = s.coloursOf(r.Context(), t.Path, t.Version, t.First, out.Lines, t.Total)
	respond(w, http.StatusOK, out)
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

// coloursOf colours lines of a file. If the whole text is small enough, all of
// it is coloured, else only the lines.
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
			return nil // the reader has gone; don't keep what was cut short
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

// fileColours colours lines of a file by their numbers: those that a search
// showed. They are not part of the search's answer, so that its first lines
// arrive sooner.
func (s *Server) fileColours(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	path := pathOf(v.Get("path"))
	if colour.For(path) == nil {
		respond(w, http.StatusOK, map[string]any{})
		return
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
	respond(w, http.StatusOK, map[string]any{"lines": out})
}
