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

// Guess is how a missing path was probably meant.
type Guess int

const (
	NoGuess      Guess = iota
	OtherCase          // with another case
	CopiedAlong        // without text that results and addresses add to a path
	Encoded            // without percent-encoding
	NearSpelling       // with a similar spelling
	SameName           // in another folder
)

// Missing guesses which path was meant by a missing one: the same path in another case,
// without text that was copied along with it, or a file with that name in another folder.
// This saves a model the call that would find it. There can be several paths only for
// SameName: the first ones of total.
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
		if info, err := files.Stat(ctx, try.path); err == nil { // case-insensitive, as for reading
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

// shared returns how many folders two paths share, compared from their ends: the intended
// file is in folders with those names.
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

// baseName returns the last name of a path, with / or \ as separator.
func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

// place matches what search results append to a path: :12, :12:5, :12-20, #L12.
var place = lazily(`(:\d+([:-]\d+)?|#L\d+(-L?\d+)?):?$`)

// bareName returns a path without the text that results and addresses add to it.
func bareName(given string) string {
	p := strings.Trim(strings.TrimSpace(given), "`\"'")
	p = strings.TrimPrefix(p, "file://")
	return place().ReplaceAllString(p, "")
}

// maxSame is how many files with the same name are compared with the given path.
const maxSame = 200

// sameName finds the files with a name, ignoring case.
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

// nearPath follows a missing path name by name, replacing each missing name by the nearest
// spelling in its folder. It returns "" if no name is near.
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
			// Of equally near names, one that extends the given name is preferred: ntfs3 and not
			// netfs for ntfs.
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
