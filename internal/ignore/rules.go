// Package ignore decides which paths are excluded by ignore files.
//
// The rules of one file have the same meaning as in git. Files are combined as in ripgrep: the
// kind has precedence (.rgignore over .ignore over .gitignore over info/exclude over the
// global file), then the deeper folder, then the later line. Everything in an ignored
// folder is ignored, regardless of other rules.
//
// The package only processes bytes and names, and opens no files. Rules, Frames and Matchers
// are immutable and safe for concurrent use. A Frame, which is used by walks, and a Matcher,
// which decides about any path, give the same results.
package ignore

import (
	"bytes"
	"slices"
	"strings"

	"quarry/internal/glob"
)

// Kind is the origin of rules. A greater Kind has precedence over a smaller one.
type Kind uint8

const (
	Named   Kind = iota // files and rules named by the caller, with the lowest precedence
	Global              // core.excludesFile
	Exclude             // .git/info/exclude
	Git                 // .gitignore
	Dot                 // .ignore
	Rg                  // .rgignore
	Roo                 // .rooignore, which has precedence over all other files
	Extra               // the caller's own, with the highest precedence
	kinds
)

func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return [...]string{"named", "global", "info/exclude", ".gitignore", ".ignore", ".rgignore", ".rooignore", "extra"}[k]
}

// FileNames are the names of rule files.
var FileNames = [...]string{".gitignore", ".ignore", ".rgignore", ".rooignore"}

// FileKind returns the kind of rules in a file of this name, if it is a rule file.
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

// File is the text of a rule file.
type File struct {
	Name  string // .gitignore, .ignore, …; info/exclude; "" for the user's global file
	Above string // as in Set
	Data  []byte
}

// Set compiles the file. shown is its name in decisions. ok is false if no rule file has its
// Name.
func (f *File) Set(shown string) (s Set, ok bool) {
	kind, ok := FileKind(f.Name)
	switch f.Name {
	case "":
		kind, ok = Global, true
	case "info/exclude":
		kind, ok = Exclude, true
	}
	return Set{Kind: kind, Rules: Parse(shown, f.Data), Above: f.Above}, ok
}

// Rules are the compiled rules of one file.
type Rules struct {
	source string
	list   []rule // in the order of the file

	// Nearly all rules are a plain name or *.ext and are found by hash. The others are tried
	// one by one, the last first.
	names    table // name, no slash in the rule
	exts     table // *.ext with a single dot, by ".ext"
	paths    table // /a/b without wildcards, by path
	general  []candidate
	anchored bool // some rule is matched against the path
}

// A table finds the rules for a text, the last first. Most lookups fail, and a bitmap of
// hashes of the texts rejects nearly all of these early.
type table struct {
	seen  [4]uint64
	rules map[string][]int32
}

func slot(s string) uint8 {
	n := len(s)
	return s[n-1]*31 + s[n/2]*7 + byte(n)
}

func (t *table) put(key string, i int) {
	if t.rules == nil {
		t.rules = make(map[string][]int32)
	}
	t.rules[key] = append(t.rules[key], int32(i))
	h := slot(key)
	t.seen[h>>6] |= 1 << (h & 63)
}

func (t *table) get(s string) []int32 {
	if t.rules == nil || s == "" {
		return nil
	}
	if h := slot(s); t.seen[h>>6]&(1<<(h&63)) == 0 {
		return nil
	}
	return t.rules[s]
}

// A candidate is a rule with the first and last byte of all texts that it matches; 0 means any
// byte. These bytes reject most names early.
type candidate struct {
	index       int32
	first, last byte
	path        bool
}

type rule struct {
	text    string // as in the file, without trailing spaces
	line    int32
	negated bool
	dirOnly bool
	path    bool // matched against the path below the file's folder, not against the name
	shape   glob.WildShape
	lit     string
	wild    *glob.Wild
}

// Parse compiles the bytes of an ignore file. Every content is valid. source is the file's name
// in decisions.
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

// Len returns the number of rules.
func (r *Rules) Len() int { return len(r.list) }

// Negates reports whether one of the rules is negated.
func (r *Rules) Negates() bool {
	return slices.ContainsFunc(r.list, func(u rule) bool { return u.negated })
}

// Source returns the name given to Parse.
func (r *Rules) Source() string { return r.source }

// cleanLine removes one CR, everything after a NUL, and trailing spaces unless they are
// escaped. As in git, a backslash at the end of the line also keeps the spaces.
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
	u.path = strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	if p == "" {
		return // matches nothing
	}
	u.wild = glob.CompileWild(p, u.path)
	u.shape, u.lit = u.wild.Shape()
	if u.shape == glob.WildNever {
		return
	}
	r.list = append(r.list, u)
}

func (r *Rules) index() {
	for i := len(r.list) - 1; i >= 0; i-- {
		u := &r.list[i]
		r.anchored = r.anchored || u.path
		switch {
		case u.path && u.shape == glob.WildLiteral:
			r.paths.put(u.lit, i)
		case !u.path && u.shape == glob.WildLiteral:
			r.names.put(u.lit, i)
		case !u.path && u.shape == glob.WildSuffix && strings.LastIndexByte(u.lit, '.') == 0:
			r.exts.put(u.lit, i)
		default:
			first, last := u.wild.Ends()
			r.general = append(r.general, candidate{int32(i), first, last, u.path})
		}
	}
}

// match returns the index of the last rule that matches, or -1. path is relative to the folder
// of the rules, or "" if they are not anchored. name is its last part.
func (r *Rules) match(path, name string, isDir bool) int32 {
	if name == "" || r.anchored && path == "" {
		return -1
	}
	best := r.first(r.names.get(name), isDir, -1)
	if r.exts.rules != nil {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = r.first(r.exts.get(name[dot:]), isDir, best)
		}
	}
	if r.paths.rules != nil {
		best = r.first(r.paths.get(path), isDir, best)
	}
	end := name[len(name)-1]
	for i := range r.general {
		c := &r.general[i]
		if c.index < best {
			break
		}
		if c.last != 0 && c.last != end {
			continue
		}
		if c.first != 0 && c.first != name[0] && (!c.path || c.first != path[0]) {
			continue
		}
		if r.list[c.index].match(path, name, isDir) {
			return c.index
		}
	}
	return best
}

// first returns the latest rule in the file among the candidates that apply to the type
// of entry, if it is later than best. Otherwise it returns best.
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
