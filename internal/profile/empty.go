package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/explain"
	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// This file words the findings of package explain. For an empty answer they say where the
// search looked, with which filters, and which other call would find something.

// wording describes a finding by the parameters of the available tools. q is the search
// that found nothing; filter is the name of its glob parameter.
func (c *call) wording(f *explain.Finding, q *search.Query, filter string) string {
	switch f.Way {
	case explain.AnyPattern:
		return "without all"
	case explain.AllFiles:
		return "without changed"
	case explain.NoFilter:
		return "without " + filter
	case explain.NoPath:
		return "outside " + quoted(q.Paths[0])
	case explain.NoPathOrGlob:
		return "without path and " + filter
	case explain.AnyCase:
		return "in another letter case"
	case explain.PlainText:
		if c.takes("literal") {
			return "as plain text (literal: true)"
		}
		return "as plain text (" + c.other("file_search", "query", f.Text) + ")"
	case explain.Regex:
		return "as a regular expression (" + c.other("search_files", "regex", f.Text) + ")"
	case explain.OtherSpace:
		param := "regex"
		if !c.takes(param) && c.takes("pattern") {
			param = "pattern"
		}
		return "with other white space (" + param + " " + quoted(f.Text) + ")"
	case explain.Hidden, explain.Ignored, explain.HiddenIgnored:
		words := withFlags(f.Way)
		if f.Unfiltered {
			words = "without " + filter + ", " + words
		}
		return words
	}
	return f.Common()
}

// withFlags names the parameters that extend a search to hidden and ignored files.
func withFlags(way explain.Way) string {
	switch way {
	case explain.Hidden:
		return "with include_hidden"
	case explain.Ignored:
		return "with include_ignored"
	}
	return "with include_hidden and include_ignored"
}

// cannot reports whether the tool lacks the parameters that the finding suggests.
func (c *call) cannot(way explain.Way) bool {
	switch way {
	case explain.Hidden:
		return !c.takes("include_hidden")
	case explain.Ignored:
		return !c.takes("include_ignored")
	case explain.HiddenIgnored:
		return !c.takes("include_hidden") || !c.takes("include_ignored")
	}
	return false
}

// said words the findings about a text search.
func (c *call) said(list []explain.Finding, q *search.Query, filter string) []string {
	var out []string
	for i := range list {
		f := &list[i]
		if c.cannot(f.Way) {
			continue
		}
		if f.Way == explain.Name {
			out = append(out, "by name: "+explain.OfName(f.Paths, f.Total, render.Path))
			continue
		}
		out = append(out, f.Sentence(c.wording(f, q, filter), render.Path))
	}
	return out
}

// saidPaths words the findings about a path search or a listing.
func saidPaths(list []explain.Finding, listing bool) []string {
	var out []string
	for i := range list {
		f := &list[i]
		words := f.Common()
		switch f.Way {
		case explain.AnyCase:
			words = "in any letter case"
		case explain.Hidden, explain.Ignored, explain.HiddenIgnored:
			words = withFlags(f.Way)
		}
		if listing {
			out = append(out, f.Items(words, render.Path))
		} else {
			out = append(out, f.Sentence(words, render.Path))
		}
	}
	return out
}

// allIgnored explains a search that had no files because all of them are ignored or
// hidden. For example, Debian's kernel source archive ends its .gitignore with /*, and
// agents trusted "no matches". The check lists the workspace, so it is skipped if the
// search had any files: on a kernel tree it took 7 of the 12 ms of an answer without
// matches.
func (c *call) allIgnored(ctx context.Context, scope search.Scope, sum *search.Summary) string {
	if sum.Stats.Searched > 0 || sum.Stats.Plan.Documents > 0 {
		return ""
	}
	scope.Globs, scope.Types, scope.MaxDepth = nil, nil, 0
	if scope.IncludeHidden && scope.IncludeIgnored {
		return ""
	}
	q := search.FindQuery{Scope: scope, Limit: 1}
	q.Time = c.o.Time
	if r, err := c.ws.Find(ctx, q); err != nil || r.Total > 0 || r.Stopped != "" {
		return ""
	}
	q.IncludeHidden, q.IncludeIgnored = true, true
	r, err := c.ws.Find(ctx, q)
	if err != nil || r.Total == 0 {
		return ""
	}
	how := "a path below leads to them"
	if c.takes("include_ignored") {
		how = "include_ignored and include_hidden, or a path below, lead to them"
	}
	return fmt.Sprintf("no file was searched: all %d there are hidden or ignored (.gitignore and the like); %s", r.Total, how)
}

// zero explains a text search without matches.
func (c *call) zero(ctx context.Context, q search.Query, sum *search.Summary, filter string) []string {
	found := explain.After(c.ws, sum).Text(ctx, q, sum)
	parts := append([]string{"searched " + c.scope(&q, filter)}, c.said(found, &q, filter)...)
	if nothing := c.allIgnored(ctx, q.Scope, sum); nothing != "" {
		parts[0] = nothing
	}
	if p, err := match.Compile(q.Pattern, q.Match); err == nil {
		for _, hint := range p.Hints() {
			parts = append(parts, strings.TrimSuffix(hint, "."))
		}
	}
	if s := c.skipped(sum); s != "" {
		parts = append(parts, s)
	}
	return parts
}

// zeroPaths explains a path search without matches.
func (c *call) zeroPaths(ctx context.Context, q search.FindQuery, sum *search.Summary) []string {
	if !c.d.explains {
		return nil
	}
	scope := search.Query{Scope: q.Scope}
	scope.Globs = nil
	return append([]string{"searched " + c.scope(&scope, "")}, saidPaths(explain.After(c.ws, sum).Paths(ctx, q), false)...)
}

// hiddenMatches words the findings if the query names hidden or ignored files.
func (c *call) hiddenMatches(ctx context.Context, q search.FindQuery, sum *search.Summary) []string {
	return saidPaths(explain.After(c.ws, sum).Flags(ctx, q), false)
}

// zeroList explains an empty listing.
func (c *call) zeroList(ctx context.Context, q search.FindQuery, sum *search.Summary) []string {
	scope := search.Query{Scope: q.Scope}
	scope.Globs = nil
	where := "looked in " + c.scope(&scope, "")
	if q.MaxDepth == 1 && len(q.Paths) > 0 && q.Paths[0] == "." {
		where = strings.Replace(where, "the whole workspace", "the top folder alone", 1)
		where = strings.Replace(where, "the roots ", "the names of the roots ", 1)
	}
	return append([]string{where}, saidPaths(explain.After(c.ws, sum).List(ctx, q), true)...)
}

// zeroNotes reports which words of the query occur in notes, and which notes were not
// searched.
func (c *call) zeroNotes(ctx context.Context, q notebook.Query, sum *search.Summary) []string {
	if !c.d.explains {
		return nil
	}
	parts := append(notebook.Open(c.ws).Unmet(ctx, q.Query), "searched the names and text of .md files, without hidden and ignored ones")
	ignored := sum.SkippedCount[search.Ignored]
	if sum.Stats.Plan.Indexed() { // the index doesn't list excluded files
		walk := search.FindQuery{Scope: q.Scope}
		walk.NoIndex = true
		if r, err := c.ws.Find(ctx, walk); err == nil {
			ignored = r.SkippedCount[search.Ignored]
		}
	}
	if n := ignored; n > 0 {
		parts = append(parts, fault.Count(n, "ignored file or folder", "ignored files and folders")+" not searched: search_files with include_ignored does")
	}
	if s := c.skipped(sum); s != "" {
		parts = append(parts, s)
	}
	words := strings.Fields(q.Query)
	if len(words) > maxWords {
		return parts
	}
	for _, word := range words {
		one := q
		one.Query, one.Content, one.Limit = word, false, 1
		r, err := notebook.Open(c.ws).Search(ctx, one)
		if err != nil {
			continue
		}
		if len(words) > 1 {
			parts = append(parts, fmt.Sprintf("%q: %s", word, fault.Count(r.Total, "note")))
		}
		if r.Total == 0 {
			l := explain.After(c.ws, sum)
			l.Near(ctx, search.Query{Scope: q.Scope}, word)
			parts = append(parts, c.said(l.Found(), nil, "")...)
		}
	}
	return parts
}

// maxWords limits the words of a query that an empty answer looks up.
const maxWords = 8

// zeroCode suggests similar spellings of the words of a query.
func (c *call) zeroCode(ctx context.Context, q search.CodeQuery, sum *search.Summary) []string {
	l := &explain.Look{Files: c.ws, Scan: !c.indexed(ctx)}
	for i, word := range strings.Fields(q.Query) {
		if i == maxWords {
			break
		}
		l.Near(ctx, search.Query{Scope: q.Scope}, strings.Trim(word, "`\"'.,;:()"))
	}
	parts := append([]string{"none of the words occurs in the workspace, without hidden and ignored files"}, c.said(l.Found(), nil, "")...)
	if nothing := c.allIgnored(ctx, c.where(), sum); nothing != "" {
		parts[0] = nothing
	}
	if s := c.skipped(sum); s != "" {
		parts = append(parts, s)
	}
	return parts
}

// indexed reports whether every root has a usable index.
func (c *call) indexed(ctx context.Context) bool {
	if c.o.NoIndex {
		return false
	}
	st, err := c.ws.Index().Status(ctx)
	return err == nil && st.State == "ready"
}

// other formats a call of another tool, if that tool is available.
func (c *call) other(name, param, value string) string {
	if !c.has(name) {
		return param
	}
	if text, err := marshal(map[string]string{param: value}, ""); err == nil && len(value) <= 80 {
		return name + " " + string(text)
	}
	return name
}

// missing suggests paths that the caller may have meant.
func (c *call) missing(ctx context.Context, given string) string {
	if !c.d.explains {
		return c.lookAround()
	}
	guess, paths, total := explain.Missing(ctx, c.ws, given)
	switch guess {
	case explain.OtherCase:
		return "There is " + quoted(paths[0]) + ": to change something, write its path exactly."
	case explain.CopiedAlong:
		return "There is " + quoted(paths[0]) + "; give the path alone."
	case explain.Encoded:
		return "There is " + quoted(paths[0]) + ": write the path without percent-encoding."
	case explain.NearSpelling:
		return "There is " + quoted(paths[0]) + "."
	case explain.SameName:
		return explain.OfName(paths, total, render.Path) + "."
	}
	return c.lookAround()
}
