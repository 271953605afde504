package profile

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/internal/usage"
	"quarry/search"
)

var paramReferences = boolean("references", "Also uses in code, by function")

// foundUse is a place where a name is used.
type foundUse struct {
	foundPath
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Symbol string `json:"symbol,omitempty"` // the definition around it
	Unsure bool   `json:"unsure,omitempty"` // may be a use of another definition with the same name
}

// references appends the uses of a name in code, by file and definition, tests last.
// Occurrences in comments and strings are only counted, and ambiguous uses are marked.
func (c *call) references(ctx context.Context, a *answer, name string) error {
	q := usage.Query{Name: name}
	if p := c.path(ctx, "path"); p != "" && p != "." {
		q.Paths = []string{p}
	}
	r, err := usage.Find(ctx, c.ws, q)
	if err != nil {
		return err
	}
	data := a.data.(*symbolsAnswer)
	var files []search.FileMatch
	for _, u := range r.Uses {
		if len(files) == 0 || files[len(files)-1].Path != u.Path {
			files = append(files, search.FileMatch{Path: u.Path})
		}
		f := &files[len(files)-1]
		line := search.Line{Number: u.Line, Text: []byte(u.Text), Hit: true}
		if u.Symbol != "" {
			line.Symbol = &search.Symbol{Name: u.Symbol}
		}
		f.Lines = append(f.Lines, line)
	}
	text := []byte(usesText(name, r, len(files)))
	left := c.limits()
	left.Budget = max(left.Budget-len(a.text), referencesRoom)
	few := len(r.Uses) <= c.d.limits.uses || c.Given("budget")
	var shown render.Shown
	if few {
		text, shown = linesText(text, files, math.MaxInt, left)
	} else {
		text, shown = placesText(text, files, left)
	}
	a.text = append(append(a.text, "\n\n"...), text...)
	for i := range shown.Files {
		for j := range shown.Files[i].Lines {
			at := slices.IndexFunc(r.Uses, func(u usage.Use) bool {
				return u.Path == shown.Files[i].Path && u.Line == shown.Files[i].Lines[j].Number
			})
			u := &r.Uses[at]
			data.Uses = append(data.Uses, foundUse{pathOf(u.Path), u.Line, strings.TrimSpace(u.Text), u.Symbol, !u.Sure})
		}
	}
	if shown.Results < r.Total {
		a.receipt = append(a.receipt, fmt.Sprintf("the first %d uses; give a path or a larger budget", shown.Results))
	}
	return nil
}

// placesText appends uses with one line per file, each use by its containing definition.
// If there are many uses, agents wanted to see the functions and not the lines.
func placesText(dst []byte, files []search.FileMatch, lim render.Limits) ([]byte, render.Shown) {
	var shown render.Shown
	for i := range files {
		mark := len(dst)
		dst = append(append(dst, '\n'), render.Path(files[i].Path)...)
		around := ""
		for j := range files[i].Lines {
			l := &files[i].Lines[j]
			if name := l.Symbol; name != nil && name.Name != around {
				around = name.Name
				dst = fmt.Appendf(dst, " %s:%d", around, l.Number)
			} else {
				dst = fmt.Appendf(dst, " %d", l.Number)
			}
		}
		if lim.Full(len(dst)) {
			return dst[:mark], shown
		}
		shown.Files, shown.Results = append(shown.Files, files[i]), shown.Results+len(files[i].Lines)
	}
	return dst, shown
}

// referencesRoom is the minimum size in bytes reserved for uses in an answer.
const referencesRoom = 2 << 10

// usesText words the number of uses, as "3 uses in 2 files".
func usesText(name string, r *usage.Result, files int) string {
	text := fault.Count(r.Total, "use")
	switch {
	case r.Total == 0:
		text = "No uses in code"
	case r.Total == len(r.Uses):
		text += " in " + fault.Count(files, "file")
	}
	for _, apart := range []struct {
		n     int
		where string
	}{{r.Comments, "in comments"}, {r.Strings, "in strings"}, {r.Texts, "in other texts"}} {
		if apart.n > 0 {
			text += fmt.Sprintf(", %d %s", apart.n, apart.where)
		}
	}
	if r.Unsure > 0 {
		text += fmt.Sprintf("; types are not known, so %d may be of another than %s", r.Unsure, name)
	}
	return text
}
