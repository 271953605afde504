package page

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"quarry/change"
	"quarry/internal/symbols"
	"quarry/search"
)

// maxAround limits the unchanged lines in one answer.
const maxAround = 2000

// around returns unchanged lines of a file, as a change left it or as it is now. The request gives
// a range of lines or, with def, a line: then the lines of the innermost definition around it are
// returned.
func (s *Server) around(w http.ResponseWriter, r *http.Request) (any, error) {
	v := r.URL.Query()
	from, err1 := positive(v.Get("from"), 1)
	to, err2 := positive(v.Get("to"), from)
	file, err3 := positive(v.Get("file"), 1)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	path := pathOf(v.Get("path"))
	var lines []diffLine
	if id := v.Get("change"); id != "" {
		c, err := s.ws.Diff(r.Context(), id, &change.Options{AllLines: true, FullDiff: true})
		if err != nil {
			return nil, err
		}
		files := filesOf(c.Diffs)
		if file > len(files) {
			return nil, badRequest("the change has no such file")
		}
		path = pathOf(files[file-1].Path)
		for _, h := range files[file-1].Hunks {
			lines = append(lines, h.Lines...)
		}
	} else {
		t, err := s.ws.Read(r.Context(), path, &search.ReadOptions{MaxBytes: maxColoured})
		if err != nil {
			return nil, err
		}
		for i, l := range t.Lines {
			lines = append(lines, diffLine{Kind: " ", Old: i + 1, New: i + 1, Text: clip(l)})
		}
	}
	var now []diffLine
	var texts []string
	for _, l := range lines {
		if l.Kind != "-" {
			now, texts = append(now, l), append(texts, l.Text)
		}
	}
	name := ""
	if v.Get("def") == "1" {
		at, size := from, 1<<30
		for _, d := range symbols.Of(path, []byte(strings.Join(texts, "\n")+"\n")) {
			if d.DocFirst() <= at && at <= d.Last && d.Last-d.DocFirst() < size {
				name, size = d.Name, d.Last-d.DocFirst()
				from, to = d.DocFirst(), d.Last
			}
		}
	}
	from, to = min(from, len(now)+1), min(to, len(now), from+maxAround-1)
	colours := colourLines(r.Context(), path, texts, time.Now().Add(colourBudget))
	out := []diffLine{}
	for i := from - 1; i < to; i++ {
		if l := now[i]; l.Kind == " " {
			if colours != nil {
				l.Colour = colours[i]
			}
			out = append(out, l)
		}
	}
	return map[string]any{"lines": out, "name": name, "total": len(now)}, nil
}
