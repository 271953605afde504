package vault

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold normalizes a name so that equivalent names become equal: it composes characters
// (NFC) and folds case. For NFC text it agrees with strings.EqualFold.
func fold(s string) string {
	ascii, lower := true, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		ascii = ascii && c < utf8.RuneSelf
		lower = lower && (c < 'A' || c > 'Z')
	}
	if ascii {
		if lower {
			return s
		}
		return strings.ToLower(s)
	}
	return norm.NFC.String(strings.Map(foldRune, norm.NFC.String(s)))
}

// Names reports whether a link's path is the name of a note, or a path that ends in it.
// The note need not exist.
func (l *Link) Names(note string) bool {
	name := func(s string) string { return "/" + strings.TrimSuffix(fold(strings.Trim(s, "/")), ".md") }
	return !l.External && l.Path != "" && strings.HasSuffix(name(l.Path), name(note))
}

// foldRune returns the smallest rune that differs from r only in case; ASCII becomes
// lower case.
func foldRune(r rune) rune {
	low := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		low = min(low, next)
	}
	if 'A' <= low && low <= 'Z' {
		low += 'a' - 'A'
	}
	return low
}

// entry is one file of the index.
type entry struct {
	path   string
	folded string // fold(path)
	length int    // characters of path, compared by [view.shortest]
}

func newEntry(path string) entry {
	return entry{path: path, folded: fold(path), length: utf8.RuneCountInString(path)}
}

// compareEntries orders candidates: fewest characters first, then byte order.
func compareEntries(a, b entry) int {
	if a.length != b.length {
		return a.length - b.length
	}
	return strings.Compare(a.path, b.path)
}

// sortEntries sorts a list like compareEntries. Paths are usually in byte order already,
// so sorting them by length is enough. For 10,000 index.md, that takes a sixth of the
// time.
func sortEntries(list []entry) []entry {
	longest := 0
	for i := range list {
		longest = max(longest, list[i].length)
	}
	if longest > 4*len(list)+64 || !slices.IsSortedFunc(list, func(a, b entry) int { return strings.Compare(a.path, b.path) }) {
		slices.SortFunc(list, compareEntries)
		return list
	}
	at := make([]int, longest+2) // for each length, the next free index
	for i := range list {
		at[list[i].length+1]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	out := make([]entry, len(list))
	for _, e := range list {
		out[at[e.length]] = e
		at[e.length]++
	}
	return out
}

// Index resolves links to files. It maps a folded base name to the files of that name, so
// a lookup checks only those.
type Index struct {
	names map[string][]entry  // folded base name → files, in compareEntries order
	paths map[string][]string // folded path → files, in byte order; several only if they differ in case

	// Plain reports whether a file is outside any vault; nil means none is. In such a
	// file a Markdown link is a path from the file's folder or, with a leading "/", from
	// the top, as on GitHub. It never refers to a bare name in another folder. ".md" may
	// be omitted.
	Plain func(source string) bool
}

// NewIndex makes the index of a list of paths.
func NewIndex(paths []string) *Index {
	ix := &Index{names: make(map[string][]entry, len(paths)), paths: make(map[string][]string, len(paths))}
	single := make([]string, 0, len(paths)) // backing array for lists with one path
	for _, p := range paths {
		e := newEntry(p)
		same := ix.paths[e.folded]
		if slices.Contains(same, p) {
			continue
		}
		name := base(e.folded)
		ix.names[name] = append(ix.names[name], e)
		if same == nil {
			single = append(single, p)
			same = single[len(single)-1 : len(single) : len(single)]
		} else {
			same = append(same, p)
		}
		ix.paths[e.folded] = same
	}
	// Sorting once takes n log n; inserting in order takes n² if there are 100,000 files
	// of one name, such as index.md.
	for name, list := range ix.names {
		if len(list) > 1 {
			ix.names[name] = sortEntries(list)
		}
	}
	for _, list := range ix.paths {
		if len(list) > 1 {
			slices.Sort(list)
		}
	}
	return ix
}

// Has reports whether the index has the path with exactly this spelling.
func (ix *Index) Has(path string) bool { return slices.Contains(ix.paths[fold(path)], path) }

// Add adds a file, unless the index already has it.
func (ix *Index) Add(path string) {
	e := newEntry(path)
	if slices.Contains(ix.paths[e.folded], path) {
		return
	}
	name := base(e.folded)
	at, _ := slices.BinarySearchFunc(ix.names[name], e, compareEntries)
	ix.names[name] = slices.Insert(ix.names[name], at, e)
	at, _ = slices.BinarySearch(ix.paths[e.folded], path)
	ix.paths[e.folded] = slices.Insert(ix.paths[e.folded], at, path)
}

// Resolve returns the file that a link in source resolves to. link is the path part of
// the link.
//
// An empty link means source itself. "./" and "../" begin an exact path from the source's
// folder, and "/" begins an exact path from the top. For other links, Resolve tries the
// exact vault path, then the path from the source's folder, then all files whose path
// ends in the link at a folder boundary, and takes the one with the fewest characters.
// Names match regardless of case and Unicode normalization. Among equivalent names the
// one spelled like the link is preferred, then the first in byte order, so the result
// never depends on the order in which files are listed.
//
// ".md" is implied. A link without an extension means a note or else a file without
// extension. A link with an extension means that file or else a note whose name contains
// the dot. Aliases in front matter never resolve.
func (ix *Index) Resolve(source, link string) (string, bool) {
	return view{base: ix}.resolve(source, link)
}

// view is an index without some of its files and with others added, such as the vault
// after a move. It does not change the underlying index.
type view struct {
	base  *Index
	gone  map[string]bool // paths in base that the move removes, spelled exactly
	added *Index          // nil if there are none
}

func (v view) resolve(source, link string) (string, bool) {
	if link == "" {
		return source, true
	}
	if v.gone == nil && v.added == nil && !v.base.mayFind(link) {
		return "", false
	}
	for _, try := range spellings(link) {
		if p, ok := v.find(source, try); ok {
			return p, true
		}
	}
	return "", false
}

// Outside returns a function for [Index.Plain]: it reports whether no folder above a file
// is a vault, as decided by top, which is called once for each folder. The function is
// safe for concurrent use, and nil if the root is a vault.
func Outside(top func(folder string) bool) func(source string) bool {
	if top("") {
		return nil
	}
	var mu sync.Mutex
	in := map[string]bool{"": false}
	var within func(folder string) bool
	within = func(folder string) bool {
		is, known := in[folder]
		if !known {
			is = within(dir(folder)) || top(folder)
			in[folder] = is
		}
		return is
	}
	return func(source string) bool {
		mu.Lock()
		defer mu.Unlock()
		return !within(dir(source))
	}
}

// isPlain reports whether a link of a kind follows [Index.Plain].
func (v view) isPlain(source string, kind Kind) bool {
	return (kind == Markdown || kind == Reference) && v.base.Plain != nil && v.base.Plain(source)
}

// plain resolves a Markdown link outside a vault.
func (v view) plain(source, link string) (string, bool) {
	if p, ok := plainPath(source, link); ok {
		for _, try := range []string{p, p + ".md"} {
			if found, ok := v.exact(try); ok {
				return found, true
			}
		}
	}
	return "", false
}

// plainPath returns the path that a Markdown link outside a vault refers to.
func plainPath(source, link string) (string, bool) {
	folder := dir(source)
	if link[0] == '/' {
		folder = ""
	}
	return cleanRelative(folder, link)
}

// mayFind reports whether there is a file with the last name of a link, with or without
// ".md". Most broken links have none.
func (ix *Index) mayFind(link string) bool {
	name := base(link)
	if name == "" || name == "." || name == ".." {
		return true
	}
	var buf [128]byte // to fold without allocating
	if len(name) > len(buf)-3 {
		return true
	}
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			return true
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	with := append(buf[:len(name)], ".md"...)
	return len(ix.names[string(with[:len(name)])]) > 0 || len(ix.names[string(with)]) > 0
}

// spellings returns the file paths that a link may mean, in order of preference.
func spellings(link string) [2]string {
	name := base(link)
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && isExtension(name[dot+1:]) {
		return [2]string{link, link + ".md"}
	}
	return [2]string{link + ".md", link}
}

// isExtension reports whether s looks like an extension: one to ten ASCII letters or
// digits, with at least one letter. So "v1.2" and "Dr. Who" have no extension, but
// "a.mp4" has one.
func isExtension(s string) bool {
	letter := false
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		switch {
		case 'a' <= c && c <= 'z':
			letter = true
		case '0' > s[i] || s[i] > '9':
			return false
		}
	}
	return letter && len(s) <= 10
}

// find resolves a path that includes its extension.
func (v view) find(source, link string) (string, bool) {
	switch {
	case link[0] == '/':
		return v.exact(strings.TrimLeft(link, "/"))
	case isDotted(link):
		p, ok := cleanRelative(dir(source), link)
		if !ok {
			return "", false
		}
		return v.exact(p)
	}
	if p, ok := v.exact(link); ok {
		return p, true
	}
	if d := dir(source); d != "" {
		if p, ok := v.exact(d + "/" + link); ok {
			return p, true
		}
	}
	return v.shortest(link)
}

// isDotted reports whether a link has dot elements: "./", "../", "a/../b".
func isDotted(link string) bool {
	return strings.HasPrefix(link, "./") || strings.HasPrefix(link, "../") ||
		strings.Contains(link, "/../") || strings.Contains(link, "/./")
}

// cleanRelative resolves dot elements relative to a folder. It returns false if the
// result is outside the vault or is a folder.
func cleanRelative(folder, link string) (string, bool) {
	var parts []string
	if folder != "" {
		parts = strings.Split(folder, "/")
	}
	for _, e := range strings.Split(link, "/") {
		switch e {
		case "", ".":
		case "..":
			if len(parts) == 0 {
				return "", false
			}
			parts = parts[:len(parts)-1]
		default:
			parts = append(parts, e)
		}
	}
	p := strings.Join(parts, "/")
	return p, p != "" && !strings.HasSuffix(link, "/")
}

// exact finds the file at a vault path, preferably with this spelling. Otherwise it
// returns the first in byte order that differs only in case or normalization.
func (v view) exact(path string) (string, bool) {
	folded := fold(path)
	best, found := "", false
	consider := func(p string) {
		if v.better(path, p, best, found) {
			best, found = p, true
		}
	}
	for _, p := range v.base.paths[folded] {
		if !v.gone[p] {
			consider(p)
		}
	}
	if v.added != nil {
		for _, p := range v.added.paths[folded] {
			consider(p)
		}
	}
	return best, found
}

// better reports whether p is preferred to best, from which it differs only in spelling.
// spelled is the spelling in the link.
func (v view) better(spelled, p, best string, found bool) bool {
	if !found {
		return true
	}
	if pe, be := strings.HasSuffix(p, spelled), strings.HasSuffix(best, spelled); pe != be {
		return pe
	}
	return p < best
}

// shortest finds the file with the fewest characters whose path ends in the link.
func (v view) shortest(link string) (string, bool) {
	folded := fold(link)
	name := base(folded)
	tail := ""
	if name != folded {
		tail = "/" + folded
	}
	var best entry
	found := false
	scan := func(list []entry, gone map[string]bool) {
		for _, e := range list {
			if found && e.length > best.length {
				return
			}
			if gone[e.path] || (tail != "" && !strings.HasSuffix(e.folded, tail)) {
				continue
			}
			if !found || e.length < best.length || v.better(link, e.path, best.path, true) {
				best, found = e, true
			}
		}
	}
	scan(v.base.names[name], v.gone)
	if v.added != nil {
		scan(v.added.names[name], nil)
	}
	return best.path, found
}
