package page

import (
	"context"
	"net/http"
	"strings"
	"time"

	"quarry/internal/explain"
	"quarry/internal/render"
	"quarry/search"
)

// suggestion is another query, offered if nothing was found.
type suggestion struct {
	Label string            `json:"label"`
	Set   map[string]string `json:"set"` // parameters of the address to change
	Files int               `json:"files"`
	More  bool              `json:"more,omitempty"` // the count is a lower bound
	First string            `json:"first,omitempty"`
}

// suggest returns other queries that would find something.
func (s *Server) suggest(w http.ResponseWriter, r *http.Request) (any, error) {
	a, err := readAsked(r.URL.Query())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	out := []suggestion{}
	for _, f := range s.findings(ctx, &a) {
		label, set := a.instead(&f)
		if label == "" {
			continue
		}
		out = append(out, suggestion{Label: label, Set: set, Files: f.Total, More: f.More, First: pathID(f.Paths[0])})
	}
	return map[string]any{"suggestions": out}, nil
}

// findings returns searches that would find something. For searches by words or by path, they
// include a search in the text of files.
func (s *Server) findings(ctx context.Context, a *asked) []explain.Finding {
	look := &explain.Look{Files: s.ws, Scan: true}
	if st, err := s.ws.Index().Status(ctx); err == nil && st.State == "ready" {
		look.Scan = false
	}
	switch a.mode {
	case "words":
		for _, word := range strings.Fields(a.q) {
			look.Near(ctx, search.Query{Scope: a.scope()}, word)
		}
	case "paths":
		q := search.FindQuery{Scope: a.scope()}
		q.Globs = []string{a.q}
		look.Paths(ctx, q)
	default:
		return look.Text(ctx, a.query(), &search.Summary{})
	}
	return look.Plain(ctx, a.query())
}

// instead converts a finding into a label and changes of the address's parameters. The label is ""
// if the page has no such search.
func (a *asked) instead(f *explain.Finding) (label string, set map[string]string) {
	text := map[string]string{"q": f.Text, "mode": ""}
	switch f.Way {
	case explain.NoFilter:
		return "Remove the filters", map[string]string{"glob": "", "type": ""}
	case explain.AnyCase:
		if a.mode == "paths" {
			return "", nil
		}
		return "In any letter case", map[string]string{"case": ""}
	case explain.InsideWords:
		return "Also inside words", map[string]string{"word": ""}
	case explain.PlainText:
		if a.mode == "regex" {
			return "Search for it as plain text", map[string]string{"mode": ""}
		}
		return "Search the text of files", map[string]string{"mode": ""}
	case explain.Regex:
		return "Search for it as a regular expression", map[string]string{"mode": "regex"}
	case explain.OneLine, explain.Alone:
		return "Search for " + render.Quote(f.Text) + " alone", text
	case explain.OtherSpace:
		return "With other white space", map[string]string{"q": f.Text, "mode": "regex"}
	case explain.Style, explain.Near:
		return "Did you mean " + render.Quote(f.Text) + "?", text
	case explain.Name:
		return "Show files of this name", map[string]string{"q": f.Text, "mode": "paths"}
	case explain.AnyDepth, explain.Glob:
		return "Find " + f.Text, map[string]string{"q": f.Text}
	case explain.PartOfName:
		return "As a part of a name", map[string]string{"q": "*" + f.Text + "*"}
	case explain.NearName:
		name := f.Paths[0][strings.LastIndexByte(f.Paths[0], '/')+1:]
		return "Did you mean " + render.Quote(name) + "?", map[string]string{"q": name}
	}
	set = map[string]string{}
	switch f.Way {
	case explain.Hidden:
		label, set["hidden"] = "Include hidden files", "1"
	case explain.Ignored:
		label, set["ignored"] = "Include ignored files", "1"
	case explain.HiddenIgnored:
		label, set["hidden"], set["ignored"] = "Include hidden and ignored files", "1", "1"
	}
	if f.Unfiltered {
		set["glob"], set["type"] = "", ""
		label += ", without the filters"
	}
	return label, set
}
