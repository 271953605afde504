package profile

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"quarry/search"
)

// missing suggests what a missing path may mean: the same path in another
// letter case, without text that was copied along with it, or a file of that
// name in another folder. This saves a model the call that would find it.
func (c *call) missing(ctx context.Context, given string) string {
	if !c.d.explains || strings.TrimSpace(given) == "" {
		return c.lookAround()
	}
	if info, err := c.ws.Stat(ctx, given); err == nil { // for reading any case will do
		return "There is " + quoted(info.Path) + ": to change something, write its path exactly."
	}
	if bare := bareName(given); bare != given {
		if info, err := c.ws.Stat(ctx, bare); err == nil {
			return "There is " + quoted(info.Path) + "; give the path alone."
		}
	}
	if plain, err := url.PathUnescape(bareName(given)); err == nil && plain != bareName(given) {
		if info, err := c.ws.Stat(ctx, plain); err == nil {
			return "There is " + quoted(info.Path) + ": write the path without percent-encoding."
		}
	}
	if near := c.nearPath(ctx, bareName(given)); near != "" {
		return "There is " + quoted(near) + "."
	}
	if s := c.sameName(ctx, baseName(bareName(given))); s != "" {
		return s
	}
	return c.lookAround()
}

// lazily compiles an expression when it is first used: compiled at start they
// took every command a quarter of a millisecond.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// place is what search results write after a path: :12, :12:5, :12-20, #L12.
var place = lazily(`(:\d+([:-]\d+)?|#L\d+(-L?\d+)?):?$`)

// bareName is a path without what results and addresses add to it.
func bareName(given string) string {
	p := strings.Trim(strings.TrimSpace(given), "`\"'")
	p = strings.TrimPrefix(p, "file://")
	return place().ReplaceAllString(p, "")
}

// sameName names the files that are called so, in any letter case.
func (c *call) sameName(ctx context.Context, name string) string {
	if name == "." || name == ".." || name == "/" || strings.ContainsAny(name, "*?") {
		return ""
	}
	q := search.FindQuery{Scope: search.Scope{Globs: []string{"**/" + name}, Dialect: search.Vault}, Limit: zeroNames}
	r, err := c.ws.Find(ctx, q)
	if err != nil || r.Total == 0 {
		return ""
	}
	var found []string
	for _, e := range r.Entries {
		found = append(found, e.Path)
	}
	switch list := strings.Join(names(found), ", "); {
	case r.Total == 1:
		return "There is " + list + "."
	case r.Total <= len(found):
		return "Files of that name: " + list + "."
	default:
		return fmt.Sprintf("%d files have that name, the first: %s.", r.Total, list)
	}
}

// nearPath follows a path that isn't there name by name, taking for each that is
// missing the nearest spelling in its folder. It is "" if no name comes close.
func (c *call) nearPath(ctx context.Context, given string) string {
	at := ""
	wanted := strings.FieldsFunc(given, func(r rune) bool { return r == '/' || r == '\\' })
	for i, name := range wanted {
		next := path.Join(at, name)
		if info, err := c.ws.Stat(ctx, next); err == nil {
			at = info.Path
			continue
		}
		q := search.FindQuery{Scope: search.Scope{MaxDepth: 1}, Kind: search.FilesAndFolders}
		if at != "" {
			q.Paths = []string{at}
		}
		r, err := c.ws.Find(ctx, q)
		if err != nil {
			return ""
		}
		best, least := "", allowed(name)+1
		for k := range r.Entries {
			e := &r.Entries[k]
			if i < len(wanted)-1 && !e.Folder {
				continue
			}
			if d := distance(name, baseName(e.Path), least); d < least {
				best, least = e.Path, d
			}
		}
		if best == "" {
			return ""
		}
		at = best
	}
	return at
}

// allowed is how many characters of a name may be wrong.
func allowed(name string) int { return max(1, min(3, utf8.RuneCountInString(name)/4)) }

// nearName says which file has the nearest spelling of a name, wherever it is.
func (l *looking) nearName(ctx context.Context, glob string) {
	name := strings.Trim(baseName(glob), "*")
	if len(name) < 3 || strings.ContainsAny(name, "*?[]{}") {
		return
	}
	// People get the first letter right, and to list all files takes longer.
	letter, _ := utf8.DecodeRuneInString(name)
	q := search.FindQuery{Scope: search.Scope{Globs: []string{"**/" + string(letter) + "*"}, Dialect: search.Vault}}
	r, err := l.c.ws.Find(ctx, q)
	if err != nil {
		return
	}
	var found []string
	least := allowed(name) + 1
	for i := range r.Entries {
		switch d := distance(name, path.Base(r.Entries[i].Path), least+1); {
		case d < least:
			found, least = []string{r.Entries[i].Path}, d
		case d == least && len(found) > 0 && len(found) < zeroNames:
			found = append(found, r.Entries[i].Path)
		}
	}
	if len(found) > 0 {
		l.found = append(l.found, "near spelling: "+strings.Join(names(found), ", "))
	}
}

// distance is the number of characters that are wrong, missing, added or swapped
// between two names, in any letter case, up to a bound. It does not allocate:
// for an empty answer a name is compared with all 78,000.
func distance(a, b string, bound int) int {
	const most = 64
	x, y := strings.ToLower(a), strings.ToLower(b)
	if d := len(x) - len(y); d >= bound || -d >= bound || len(x) > most || len(y) > most {
		return bound
	}
	var rows [3][most + 1]int
	two, one, row := &rows[0], &rows[1], &rows[2]
	for j := range len(y) + 1 {
		one[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := one[j-1]
			if x[i-1] != y[j-1] {
				cost++
			}
			row[j] = min(cost, one[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= bound {
			return bound
		}
		two, one, row = one, row, two
	}
	return min(one[len(y)], bound)
}
