package explain

import (
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"quarry/internal/fuzzy"
	"quarry/internal/render"
	"quarry/search"
)

// find searches for paths with a modified query.
func (l *Look) find(ctx context.Context, way Way, text string, q search.FindQuery, change func(*search.FindQuery)) bool {
	q.Limit, q.Offset = MaxNames, 0
	change(&q)
	r, err := l.Files.Find(ctx, q)
	if err != nil || r.Total == 0 {
		return false
	}
	var found []string
	for _, e := range r.Entries {
		found = append(found, e.Path)
	}
	return l.add(Finding{Way: way, Text: text, Paths: found, Total: r.Total})
}

// Flags searches hidden files, ignored files, and both. It reports the first of these
// searches that has results.
func (l *Look) Flags(ctx context.Context, q search.FindQuery) []Finding {
	l.flags(ctx, &q)
	return l.found
}

func (l *Look) flags(ctx context.Context, q *search.FindQuery) {
	look := func(way Way, change func(*search.FindQuery)) bool { return l.find(ctx, way, "", *q, change) }
	if !q.IncludeHidden && look(Hidden, func(q *search.FindQuery) { q.IncludeHidden = true }) {
		return
	}
	if q.IncludeIgnored {
		return
	}
	ignored := []func(*search.FindQuery){func(q *search.FindQuery) { q.IncludeIgnored = true }}
	if !l.Scan && !l.Whole {
		// The index doesn't include these files, and walking all files takes too long. So
		// search only near the top, and in the ignored folders there.
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
		if look(Ignored, also) {
			return
		}
	}
	for _, also := range ignored {
		if !q.IncludeHidden && look(HiddenIgnored, func(q *search.FindQuery) { also(q); q.IncludeHidden = true }) {
			return
		}
	}
}

// ignoredDepth is the depth to which ignored folders are searched if there is an index.
// This reaches a package's own files, but not all of its dependencies.
const ignoredDepth = 3

// Paths explains a path search without matches.
func (l *Look) Paths(ctx context.Context, q search.FindQuery) []Finding {
	glob := strings.ReplaceAll(q.Globs[0], `\`, "/")
	anywhere := "**/" + strings.TrimPrefix(strings.TrimLeft(glob, "./"), "**/")
	l.find(ctx, AnyCase, "", q, func(q *search.FindQuery) {
		q.Dialect, q.Globs = search.Plain, []string{glob}
		if !strings.Contains(glob, "/") {
			q.Globs = []string{anywhere}
		}
	})
	if len(l.found) == 0 && strings.Contains(glob, "/") {
		l.find(ctx, AnyDepth, anywhere, q, func(q *search.FindQuery) { q.Dialect, q.Globs = search.Plain, []string{anywhere} })
	}
	l.asGlob(ctx, q, glob)
	if len(l.found) == 0 && !strings.ContainsAny(glob, "*?[{") {
		part := strings.Trim(glob, "/")
		l.find(ctx, PartOfName, part, q, func(q *search.FindQuery) { q.Dialect, q.Globs = search.Plain, []string{"**/*" + part + "*"} })
	}
	if len(l.found) == 0 {
		l.nearName(ctx, glob)
	}
	return l.Flags(ctx, q)
}

// asGlob tries the glob that was probably meant by a regular expression for names.
func (l *Look) asGlob(ctx context.Context, q search.FindQuery, glob string) {
	if fixed := globOfRegex(glob); len(l.found) == 0 && fixed != glob {
		l.find(ctx, Glob, fixed, q, func(q *search.FindQuery) { q.Globs = []string{fixed} })
	}
}

// List explains an empty listing.
func (l *Look) List(ctx context.Context, q search.FindQuery) []Finding {
	glob := q.Globs[0]
	if strings.ToLower(glob) != strings.ToUpper(glob) {
		l.find(ctx, AnyCase, "", q, func(q *search.FindQuery) { q.Dialect = search.Plain })
	}
	if q.MaxDepth == 1 {
		l.find(ctx, AnyDepth, "**/"+render.Name(glob), q, func(q *search.FindQuery) { q.MaxDepth = 0 })
	}
	l.asGlob(ctx, q, glob)
	if len(l.found) == 0 {
		l.nearName(ctx, glob)
	}
	return l.Flags(ctx, q)
}

var regexName = lazily(`\\?\.|\.[*+]|[\^$]`)

// globOfRegex converts a regular expression for names to the glob that was probably
// meant: .*\.ts$ becomes *.ts.
func globOfRegex(s string) string {
	if !regexName().MatchString(s) || !strings.ContainsAny(s, `^$`) && !strings.Contains(s, ".*") && !strings.Contains(s, `\.`) {
		return s
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "^"), "$")
	return strings.NewReplacer(".*", "*", ".+", "*", `\.`, ".", "/.", ".").Replace(s)
}

// allowed returns how many characters of a name may be wrong.
func allowed(name string) int { return max(1, min(3, utf8.RuneCountInString(name)/4)) }

// nearName finds the file with the most similar name, in all folders.
func (l *Look) nearName(ctx context.Context, glob string) {
	name := strings.Trim(baseName(glob), "*")
	if len(name) < 3 || strings.ContainsAny(name, "*?[]{}") {
		return
	}
	// The first letter is usually right, and listing all files takes longer.
	letter, _ := utf8.DecodeRuneInString(name)
	q := search.FindQuery{Scope: search.Scope{Globs: []string{"**/" + string(letter) + "*"}, Dialect: search.Plain}}
	r, err := l.Files.Find(ctx, q)
	if err != nil {
		return
	}
	var found []string
	least := allowed(name) + 1
	for i := range r.Entries {
		switch d := distance(name, path.Base(r.Entries[i].Path), least+1); {
		case d < least:
			found, least = []string{r.Entries[i].Path}, d
		case d == least && len(found) > 0 && len(found) < MaxNames:
			found = append(found, r.Entries[i].Path)
		}
	}
	l.add(Finding{Way: NearName, Paths: found, Total: len(found)})
}

// distance returns the number of characters that are wrong, missing, added or swapped
// between two names, ignoring case. It returns at most bound.
func distance(a, b string, bound int) int {
	return fuzzy.Distance(strings.ToLower(a), strings.ToLower(b), bound)
}
