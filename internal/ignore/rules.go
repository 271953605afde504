// Package ignore decides which paths ignore files leave out.
//
// The rules of one file are read as git reads them. Files are combined as
// ripgrep combines them: the kind counts first (.rgignore over .ignore over
// .gitignore over info/exclude over the global file), then the deeper folder,
// then the later line. What lies in an ignored folder is ignored, whatever
// other rules say.
//
// The package works on bytes and names alone and opens nothing. Rules, Frames
// and Matchers are immutable and safe for concurrent use. A Frame, which a walk
// carries from folder to folder, and a Matcher, which is asked about any path,
// give the same answer.
package ignore

import (
	"bytes"
	"strings"

	"quarry/internal/glob"
)

// Kind is where rules come from. A greater Kind wins over a smaller one.
type Kind uint8

const (
	Global  Kind = iota // core.excludesFile
	Exclude             // .git/info/exclude
	Git                 // .gitignore
	Dot                 // .ignore
	Rg                  // .rgignore
	Roo                 // .rooignore, the owner's last word on what agents see
	Extra               // the caller's own, such as a vault's userIgnoreFilters
	kinds
)

func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return [...]string{"global", "info/exclude", ".gitignore", ".ignore", ".rgignore", ".rooignore", "extra"}[k]
}

// FileKind tells which kind of rules a file of this name holds, if any.
func FileKind(name string) (Kind, bool) {
	if len(name) < len(".ignore") || name[0] != '.' {
		return 0, false
	}
	switch name {
	case ".gitignore":
		return Git, true
	case ".ignore":
		return Dot, true
	case ".rgignore":
		return Rg, true
	case ".rooignore":
		return Roo, true
	}
	return 0, false
}

// Rules are the compiled rules of one file.
type Rules struct {
	source string
	list   []rule // in the order of the file

	// Nearly all rules are a plain name or *.ext; a hash finds those. What
	// remains is tried one by one, last first. All hold indexes into list.
	names    map[string][]int32 // name, no slash in the rule
	exts     map[string][]int32 // *.ext with a single dot, by ".ext"
	paths    map[string][]int32 // /a/b without wildcards, by path
	general  []int32
	anchored bool // some rule looks at the path, not only at the name
}

type rule struct {
	text    string // as it stands in the file, trailing spaces cut
	line    int32
	negated bool
	dirOnly bool
	path    bool // matched against the path below the file's folder, not the name
	shape   glob.WildShape
	lit     string
	wild    *glob.Wild
}

// Parse compiles the bytes of an ignore file; nothing in one can be an error.
// source is how decisions name it.
func Parse(source string, data []byte) *Rules {
	r := &Rules{source: source}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := int32(1); len(data) > 0; line++ {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		if len(text) > 0 && text[0] != '#' {
			r.add(cleanLine(text), line)
		}
	}
	r.index()
	return r
}

// Len is the number of rules.
func (r *Rules) Len() int { return len(r.list) }

// Source is the name given to Parse.
func (r *Rules) Source() string { return r.source }

// cleanLine drops one CR, everything behind a NUL, and trailing spaces that no
// backslash keeps. A backslash at the end of the line keeps them too, as in git.
func cleanLine(b []byte) string {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	space := -1
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ' ':
			if space < 0 {
				space = i
			}
			continue
		case '\\':
			if i++; i == len(b) {
				return string(b)
			}
		}
		space = -1
	}
	if space >= 0 {
		b = b[:space]
	}
	return string(b)
}

func (r *Rules) add(text string, line int32) {
	u := rule{text: text, line: line}
	p := text
	if strings.HasPrefix(p, "!") {
		u.negated = true
		p = p[1:]
	}
	if strings.HasSuffix(p, "/") {
		u.dirOnly = true
		p = p[:len(p)-1]
	}
	if p == "" {
		return
	}
	u.path = strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	u.wild = glob.CompileWild(p, u.path)
	u.shape, u.lit = u.wild.Shape()
	if u.shape == glob.WildNever {
		return
	}
	r.list = append(r.list, u)
}

func (r *Rules) index() {
	put := func(m *map[string][]int32, key string, i int) {
		if *m == nil {
			*m = make(map[string][]int32)
		}
		(*m)[key] = append((*m)[key], int32(i))
	}
	for i := len(r.list) - 1; i >= 0; i-- {
		u := &r.list[i]
		r.anchored = r.anchored || u.path
		switch {
		case u.path && u.shape == glob.WildLiteral:
			put(&r.paths, u.lit, i)
		case !u.path && u.shape == glob.WildLiteral:
			put(&r.names, u.lit, i)
		case !u.path && u.shape == glob.WildSuffix && strings.LastIndexByte(u.lit, '.') == 0:
			put(&r.exts, u.lit, i)
		default:
			r.general = append(r.general, int32(i))
		}
	}
}

// match returns the index of the last rule that matches, or -1. path is below
// the folder of the rules and name is its last part.
func (r *Rules) match(path, name string, isDir bool) int32 {
	best := int32(-1)
	if r.names != nil {
		best = r.first(r.names[name], isDir, best)
	}
	if r.exts != nil {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = r.first(r.exts[name[dot:]], isDir, best)
		}
	}
	if r.paths != nil {
		best = r.first(r.paths[path], isDir, best)
	}
	for _, i := range r.general {
		if i < best {
			break
		}
		if r.list[i].match(path, name, isDir) {
			return i
		}
	}
	return best
}

// first returns the first of candidates, which come last rule first, that
// applies to the type of entry, if it comes after best in the file.
func (r *Rules) first(candidates []int32, isDir bool, best int32) int32 {
	for _, i := range candidates {
		if isDir || !r.list[i].dirOnly {
			return max(i, best)
		}
	}
	return best
}

func (u *rule) match(path, name string, isDir bool) bool {
	if u.dirOnly && !isDir {
		return false
	}
	if u.path {
		return u.wild.Match(path)
	}
	switch u.shape {
	case glob.WildPrefix:
		return strings.HasPrefix(name, u.lit)
	case glob.WildSuffix:
		return strings.HasSuffix(name, u.lit)
	}
	return u.wild.Match(name)
}
