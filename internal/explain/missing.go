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

// Guess is how a missing path differs from the one probably meant.
type Guess int

const (
	NoGuess      Guess = iota
	OtherCase          // with another case
	CopiedAlong        // without text that search results and addresses add to paths
	Encoded            // without percent-encoding
	NearSpelling       // with a similar spelling
	SameName           // a file of that name in another folder
)

// Missing guesses which path was meant by a path that doesn't exist: the path in another
// case, without text that was copied along, or a file of that name in another folder.
// This saves a model the call to find it. Only for SameName can there be several paths;
// these are the first of total.
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
		if info, err := files.Stat(ctx, try.path); err == nil { // ignores case, as reading does
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

// shared returns how many folder names two paths share, counted from the end. The more
// they share, the likelier is the guess.
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

// baseName returns the last element of a path. The separator is / or \.
func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

// place matches what search results append to a path: :12, :12:5, :12-20, #L12.
var place = lazily(`(:\d+([:-]\d+)?|#L\d+(-L?\d+)?):?$`)

// bareName returns a path without the text that search results and addresses add.
func bareName(given string) string {
	p := strings.Trim(strings.TrimSpace(given), "`\"'")
	p = strings.TrimPrefix(p, "file://")
	return place().ReplaceAllString(p, "")
}

// maxSame limits the files of the same name that are compared with the given path.
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

// nearPath follows a missing path element by element. It replaces each missing element by
// the most similar name in its folder, and returns "" if there is none.
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
			// Of equally similar names, one that extends the given name is preferred: for ntfs,
			// ntfs3 instead of netfs.
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
