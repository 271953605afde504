package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/search"
)

// find looks for paths by a changed query and says how many there are.
func (l *looking) find(ctx context.Context, what, one, many string, q search.FindQuery, change func(*search.FindQuery)) bool {
	q.Limit, q.Offset = zeroNames, 0
	change(&q)
	r, err := l.c.ws.Find(ctx, q)
	if err != nil || r.Total == 0 {
		return false
	}
	var found []string
	for _, e := range r.Entries {
		found = append(found, e.Path)
	}
	l.found = append(l.found, what+" "+render.Plural(r.Total, one, many)+few(found, r.Total))
	return true
}

// flags looks for paths with include_hidden, with include_ignored and with both,
// and names the first of these that finds some.
func (l *looking) flags(ctx context.Context, look func(what string, change func(*search.FindQuery)) bool, q *search.FindQuery) {
	if !q.IncludeHidden && look(withHidden, func(q *search.FindQuery) { q.IncludeHidden = true }) {
		return
	}
	if q.IncludeIgnored {
		return
	}
	ignored := []func(*search.FindQuery){func(q *search.FindQuery) { q.IncludeIgnored = true }}
	if !l.scan && !l.whole {
		// The index doesn't have these files, and a walk over all files takes too
		// long. So only look near the top, and in the folders that are ignored
		// there.
		ignored[0] = func(q *search.FindQuery) { q.IncludeIgnored, q.MaxDepth = true, topDepth }
		scope := search.Query{Scope: q.Scope}
		if len(scope.Paths) == 0 {
			scope.Paths = []string{"."}
		}
		if paths := l.ignoredTop(ctx, scope); len(paths) > 0 {
			ignored = append(ignored, func(q *search.FindQuery) { q.IncludeIgnored, q.Paths, q.MaxDepth = true, paths, ignoredDepth })
		}
	}
	for _, also := range ignored {
		if look(withIgnored, also) {
			return
		}
	}
	for _, also := range ignored {
		if !q.IncludeHidden && look(withBoth, func(q *search.FindQuery) { also(q); q.IncludeHidden = true }) {
			return
		}
	}
}

// ignoredDepth is how deep names are searched in ignored folders if there is an
// index: deep enough for a package's files, not for all of its dependencies.
const ignoredDepth = 3

// zeroPaths explains a path search without matches.
func (c *call) zeroPaths(ctx context.Context, q search.FindQuery, sum *search.Summary) []string {
	if !c.d.explains {
		return nil
	}
	scope := search.Query{Scope: q.Scope}
	scope.Globs = nil
	l := c.look(sum)
	look := func(what string, change func(*search.FindQuery)) bool {
		return l.find(ctx, what, "file matches", "files match", q, change)
	}
	glob := strings.ReplaceAll(q.Globs[0], `\`, "/")
	anywhere := "**/" + strings.TrimPrefix(strings.TrimLeft(glob, "./"), "**/")
	look("in any letter case", func(q *search.FindQuery) {
		q.Dialect, q.Globs = search.Vault, []string{glob}
		if !strings.Contains(glob, "/") {
			q.Globs = []string{anywhere}
		}
	})
	if len(l.found) == 0 && strings.Contains(glob, "/") {
		look("at any depth ("+anywhere+")", func(q *search.FindQuery) { q.Dialect, q.Globs = search.Vault, []string{anywhere} })
	}
	if fixed := globOfRegex(glob); len(l.found) == 0 && fixed != glob {
		look("as the glob "+fixed, func(q *search.FindQuery) { q.Globs = []string{fixed} })
	}
	if len(l.found) == 0 && !strings.ContainsAny(glob, "*?[{") {
		part := strings.Trim(glob, "/")
		look("as a part of a name (*"+part+"*)", func(q *search.FindQuery) { q.Dialect, q.Globs = search.Vault, []string{"**/*" + part + "*"} })
	}
	if len(l.found) == 0 {
		l.nearName(ctx, glob)
	}
	l.flags(ctx, look, &q)
	return append([]string{"searched " + c.scope(&scope, "")}, l.found...)
}

// hiddenMatches says whether the query asks for hidden or ignored files by
// name.
func (c *call) hiddenMatches(ctx context.Context, q search.FindQuery, sum *search.Summary) []string {
	l := c.look(sum)
	l.flags(ctx, func(what string, change func(*search.FindQuery)) bool {
		return l.find(ctx, what, "file matches", "files match", q, change)
	}, &q)
	return l.found
}

var regexName = lazily(`\\?\.|\.[*+]|[\^$]`)

// globOfRegex is the glob that a regular expression over names most likely
// means: .*\.ts$ is *.ts.
func globOfRegex(s string) string {
	if !regexName().MatchString(s) || !strings.ContainsAny(s, `^$`) && !strings.Contains(s, ".*") && !strings.Contains(s, `\.`) {
		return s
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "^"), "$")
	return strings.NewReplacer(".*", "*", ".+", "*", `\.`, ".", "/.", ".").Replace(s)
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
	l := c.look(sum)
	look := func(what string, change func(*search.FindQuery)) bool {
		return l.find(ctx, what, "item matches", "items match", q, change)
	}
	glob := q.Globs[0]
	if strings.ToLower(glob) != strings.ToUpper(glob) {
		look("in any letter case", func(q *search.FindQuery) { q.Dialect = search.Vault })
	}
	if q.MaxDepth == 1 {
		look("at any depth (**/"+render.Name(glob)+")", func(q *search.FindQuery) { q.MaxDepth = 0 })
	}
	if fixed := globOfRegex(glob); len(l.found) == 0 && fixed != glob {
		look("as the glob "+fixed, func(q *search.FindQuery) { q.Globs = []string{fixed} })
	}
	if len(l.found) == 0 {
		l.nearName(ctx, glob)
	}
	l.flags(ctx, look, &q)
	return append([]string{where}, l.found...)
}

// zeroNotes says which words occur in notes, and which notes were not searched.
func (c *call) zeroNotes(ctx context.Context, q notebook.Query, sum *search.Summary) []string {
	if !c.d.explains {
		return nil
	}
	parts := []string{"searched the names and text of .md files, without hidden and ignored ones"}
	if n := sum.SkippedCount[search.Ignored]; n > 0 {
		parts = append(parts, render.Plural(n, "ignored file or folder", "ignored files and folders")+" not searched: search_files with include_ignored does")
	}
	if s := c.skipped(sum); s != "" {
		parts = append(parts, s)
	}
	words := strings.Fields(q.Query)
	if len(words) > maxWords {
		return parts
	}
	l := c.look(sum)
	for _, word := range words {
		one := q
		one.Query, one.Content, one.Limit = word, false, 1
		r, err := notebook.Open(c.ws).Search(ctx, one)
		if err != nil {
			continue
		}
		if len(words) > 1 {
			l.found = append(l.found, fmt.Sprintf("%q: %s", word, render.Plural(r.Total, "note", "notes")))
		}
		if r.Total == 0 {
			text := search.Query{Scope: q.Scope}
			l.near(ctx, text, word)
		}
	}
	return append(parts, l.found...)
}

// maxWords is how many words of a query an empty answer looks up.
const maxWords = 8

// zeroCode looks for near spellings of the words of a query.
func (c *call) zeroCode(ctx context.Context, q search.CodeQuery, sum *search.Summary) []string {
	l := &looking{c: c, scan: !c.indexed(ctx)}
	for i, word := range strings.Fields(q.Query) {
		if i == maxWords {
			break
		}
		l.near(ctx, search.Query{Scope: q.Scope}, strings.Trim(word, "`\"'.,;:()"))
	}
	parts := append([]string{"none of the words occurs in the workspace, without hidden and ignored files"}, l.found...)
	if s := c.skipped(sum); s != "" {
		parts = append(parts, s)
	}
	return parts
}

// indexed reports whether every root has an index that answers.
func (c *call) indexed(ctx context.Context) bool {
	if c.o.NoIndex {
		return false
	}
	st, err := c.ws.Index().Status(ctx)
	return err == nil && st.State == "ready"
}
