package explain

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"quarry/search"
)

// Guess says how a path that isn't there was meant.
type Guess int

const (
	NoGuess      Guess = iota
	OtherCase          // in another letter case
	CopiedAlong        // without what results and addresses add to a path
	Encoded            // without percent-encoding
	NearSpelling       // spelled a little differently
	SameName           // in another folder
)

// Missing guesses which path was meant by one that isn't there: the same path in
// another letter case, without text that was copied along with it, or a file of
// that name in another folder. This saves a model the call that would find it.
// There are several paths only for SameName, the first of a total.
func Missing(ctx context.Context, files Files, given string) (guess Guess, paths []string, total int) {
	if strings.TrimSpace(given) == "" {
		return NoGuess, nil, 0
	}
	bare := bareName(given)
	plain, err := url.PathUnescape(bare)
	if err != nil {
		plain = bare
	}
	for _, try := range []struct {
		guess Guess
		path  string
	}{{OtherCase, given}, {CopiedAlong, bare}, {Encoded, plain}} {
		if try.guess != OtherCase && try.path == given {
			continue
		}
		if info, err := files.Stat(ctx, try.path); err == nil { // for reading any case will do
			return try.guess, []string{info.Path}, 1
		}
	}
	if near := nearPath(ctx, files, bare); near != "" {
		return NearSpelling, []string{near}, 1
	}
	if paths, total := sameName(ctx, files, baseName(bare)); total > 0 {
		slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(shared(b, bare), shared(a, bare)) })
		return SameName, paths[:min(len(paths), MaxNames)], total
	}
	return NoGuess, nil, 0
}

// shared is how many folders two paths have in common, at their ends first: the
// file that was meant lies in folders of those names.
func shared(a, b string) int {
	split := func(p string) []string {
		return strings.FieldsFunc(strings.ToLower(p), func(r rune) bool { return r == '/' || r == '\\' })
	}
	x, y := split(a), split(b)
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	score := 100 * n
	for _, name := range x[:len(x)-n] {
		if slices.Contains(y[:len(y)-n], name) {
			score++
		}
	}
	return score
}

// baseName is the last name of a path, with / or \ as separator.
func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

// place is what search results write after a path: :12, :12:5, :12-20, #L12.
var place = lazily(`(:\d+([:-]\d+)?|#L\d+(-L?\d+)?):?$`)

// bareName is a path without what results and addresses add to it.
func bareName(given string) string {
	p := strings.Trim(strings.TrimSpace(given), "`\"'")
	p = strings.TrimPrefix(p, "file://")
	return place().ReplaceAllString(p, "")
}

// maxSame is how many files of a name are compared with the path that was given.
const maxSame = 200

// sameName finds the files that are called so, in any letter case.
func sameName(ctx context.Context, files Files, name string) (paths []string, total int) {
	if name == "." || name == ".." || name == "/" || strings.ContainsAny(name, "*?") {
		return nil, 0
	}
	q := search.FindQuery{Scope: search.Scope{Globs: []string{"**/" + name}, Dialect: search.Plain}, Limit: maxSame}
	r, err := files.Find(ctx, q)
	if err != nil || r.Total == 0 {
		return nil, 0
	}
	for _, e := range r.Entries {
		paths = append(paths, e.Path)
	}
	return paths, r.Total
}

// nearPath follows a path that isn't there name by name, taking for each that is
// missing the nearest spelling in its folder. It is "" if no name comes close.
func nearPath(ctx context.Context, files Files, given string) string {
	at := ""
	wanted := strings.FieldsFunc(given, func(r rune) bool { return r == '/' || r == '\\' })
	for i, name := range wanted {
		next := path.Join(at, name)
		if info, err := files.Stat(ctx, next); err == nil {
			at = info.Path
			continue
		}
		q := search.FindQuery{Scope: search.Scope{MaxDepth: 1}, Kind: search.FilesAndFolders}
		if at != "" {
			q.Paths = []string{at}
		}
		r, err := files.Find(ctx, q)
		if err != nil {
			return ""
		}
		best, least := "", allowed(name)+1
		for k := range r.Entries {
			e := &r.Entries[k]
			if i < len(wanted)-1 && !e.Folder {
				continue
			}
			base := baseName(e.Path)
			// Of names that are as near, one that goes on from the given one is meant:
			// ntfs3 and not netfs for ntfs.
			if d := distance(name, base, least+1); d < least || d == least && best != "" && strings.HasPrefix(base, name) {
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
