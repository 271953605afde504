// Package glob decides whether a path matches a pattern, in three dialects.
//
// A Glob is immutable and safe for concurrent use. Matching never allocates, and takes time
// polynomial in the lengths of pattern and path: constructs that could take longer (brace
// groups, nested negations) are limited at compilation. The pruning functions
// (CouldMatchBelow, Filter.Descend) may return true needlessly, but never false wrongly.
//
// Paths are relative, slash-separated and clean: without empty, "." or ".." parts. Composed and
// decomposed letters match each other, because macOS returns names in NFD and keyboards produce NFC.
package glob

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/fault"
)

// A Dialect is the syntax of a pattern.
type Dialect uint8

const (
	// Plain supports only *, ** and ?. Everything else is literal, case is ignored, and the
	// pattern is anchored at the root. A ** beside other characters also crosses slashes:
	// "**.md".
	Plain Dialect = iota
	// Gitignore is the syntax of `rg -g`. A pattern without a slash matches the name at any
	// depth, and one with a slash is anchored. {a,b} and [a-z] work, a leading ! makes it an
	// exclusion, and a trailing / names a folder and everything below it. Unlike in rg, ? and
	// classes match a character, not a byte.
	Gitignore
	// GitignoreFold is Gitignore without regard to case, like rg --iglob.
	GitignoreFold
	// Minimatch is the syntax of npm's minimatch with dot: true: braces, classes, extglob,
	// leading !, and ** only as a whole part. A pattern without a slash matches only at the
	// top. Unlike in minimatch, unbalanced brackets are errors and not literals.
	Minimatch
)

func (d Dialect) String() string {
	switch d {
	case Plain:
		return "plain"
	case Gitignore:
		return "gitignore"
	case GitignoreFold:
		return "gitignore in any case"
	case Minimatch:
		return "minimatch"
	}
	return fmt.Sprintf("dialect %d", uint8(d))
}

// Limits for one pattern. They are far above real use.
const (
	maxPattern    = 64 << 10 // bytes; minimatch's own limit
	maxExpansions = 10_000   // brace alternatives, expanded
	maxExpanded   = 1 << 20  // bytes of all alternatives together
	maxFilter     = 20_000   // alternatives of all patterns of a Filter
	maxDepth      = 64       // nested brace groups
	maxExtDepth   = 16       // nested extglobs
	maxNegDepth   = 3        // nested !(…): each level multiplies the work by the length of a name
)

// Error reports an invalid pattern.
type Error = fault.GlobError

func failure(pattern string, offset int, reason string) *Error {
	return &Error{Pattern: pattern, Offset: offset, Reason: reason}
}

// Glob is one compiled pattern.
type Glob struct {
	pattern string // in NFC
	given   string
	dialect Dialect
	negated bool // gitignore: this glob excludes
	invert  bool // minimatch: the result is inverted
	rows    []row
	dirRows []row               // rows that match only folders
	exact   map[string]struct{} // the paths of many literal rows
	compose bool                // compare paths in NFC; not necessary for an ASCII pattern
}

// manyExact is the number of literal rows from which a hash look-up is faster than comparing
// with each row. Comparisons are fast, because lengths usually differ.
const manyExact = 8

// Compile compiles a pattern. The error is an *Error.
func Compile(pattern string, d Dialect) (*Glob, error) {
	g := &Glob{pattern: norm.NFC.String(pattern), given: pattern, dialect: d}
	g.compose = strings.IndexFunc(pattern, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
	if len(pattern) > maxPattern {
		return nil, failure(pattern[:64]+"…", maxPattern, fmt.Sprintf("pattern is longer than %d bytes", maxPattern))
	}
	if strings.TrimSpace(pattern) == "" {
		return nil, failure(pattern, 0, "empty pattern")
	}
	var err error
	switch d {
	case Plain:
		g.rows = []row{newRow(parsePlain(g.pattern))}
	case Gitignore, GitignoreFold:
		err = g.compileGitignore()
	case Minimatch:
		err = g.compileMinimatch()
	default:
		err = failure(pattern, 0, "unknown dialect")
	}
	if err != nil {
		return nil, err
	}
	g.hashExact()
	return g, nil
}

// hashExact moves literal rows into a map if there are many, such as those of {1..500}.
func (g *Glob) hashExact() {
	n := 0
	for i := range g.rows {
		if g.rows[i].shape == shapeExact {
			n++
		}
	}
	if n < manyExact {
		return
	}
	g.exact = make(map[string]struct{}, n)
	rest := g.rows[:0:0]
	for _, r := range g.rows {
		if r.shape == shapeExact {
			g.exact[r.lit] = struct{}{}
		} else {
			rest = append(rest, r)
		}
	}
	g.rows = rest
}

// String returns the pattern as given.
func (g *Glob) String() string { return g.given }

// Negated reports whether the glob excludes what it matches: a leading ! in the
// gitignore dialect. In minimatch's dialect a leading ! negates Match instead.
func (g *Glob) Negated() bool { return g.negated }

// Match reports whether the pattern matches the file at path. In the gitignore dialect it
// ignores the pattern's leading !.
func (g *Glob) Match(path string) bool {
	path = g.composed(path)
	return path != "" && g.matchRows(g.rows, path) != g.invert
}

// composed returns path in NFC if the rows need it. It allocates only for a path that is not in NFC.
func (g *Glob) composed(path string) string {
	if g.compose {
		return norm.NFC.String(path)
	}
	return path
}

// MatchDir is Match for a folder: in the gitignore dialect "build/" matches
// the folder build, but no file of that name.
func (g *Glob) MatchDir(path string) bool {
	if path == "" {
		return false
	}
	path = g.composed(path)
	return (g.matchRows(g.rows, path) || g.matchRows(g.dirRows, path)) != g.invert
}

func (g *Glob) matchRows(rows []row, path string) bool {
	if g.exact != nil {
		if _, ok := g.exact[path]; ok {
			return true
		}
	}
	for i := range rows {
		if rows[i].match(path) {
			return true
		}
	}
	return false
}

// CouldMatchBelow reports whether Match could be true for a path below the folder dir ("" is
// the root). It may return true needlessly, but never false wrongly.
func (g *Glob) CouldMatchBelow(dir string) bool {
	if g.invert || dir == "" {
		return true
	}
	dir = g.composed(dir)
	for p := range g.exact {
		if len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir {
			return true
		}
	}
	for i := range g.rows {
		if g.rows[i].couldMatchBelow(dir) {
			return true
		}
	}
	return false
}

func (g *Glob) compileGitignore() error {
	p, base := g.pattern, 0
	if p[0] == '!' {
		g.negated = true
		p, base = p[1:], 1
	}
	if p == "" || p == "/" {
		return failure(g.pattern, base, "empty pattern")
	}
	dirOnly := false
	if strings.HasSuffix(p, "/") {
		if p = strings.TrimRight(p, "/"); p == "" {
			return failure(g.pattern, base, "empty pattern")
		}
		dirOnly = true
	}
	floating := !strings.Contains(p, "/")
	if p[0] == '/' {
		p, base = p[1:], base+1
	}
	alts, err := expandGitignore(p)
	if err != nil {
		return relocate(err, g.pattern, base)
	}
	for _, a := range alts {
		ops, err := parseWild(a, wildStrict|wildRunes)
		if err != nil {
			return relocate(err, g.pattern, base)
		}
		if g.dialect == GitignoreFold {
			foldOps(ops)
		}
		if floating {
			ops = append([]op{{kind: opDirs}}, ops...)
		}
		for _, ops := range slashClasses(ops) {
			if dirOnly {
				g.dirRows = append(g.dirRows, newRow(ops))
				ops = append(ops[:len(ops):len(ops)], op{kind: opSep}, op{kind: opRest})
			}
			g.rows = append(g.rows, newRow(ops))
		}
	}
	return nil
}

// maxSlashClasses limits the classes of one pattern that can match a slash, since each doubles
// the number of rows. Further classes don't match a slash.
const maxSlashClasses = 4

// slashClasses returns the variants of a pattern with classes that contain the slash, such as [/]
// or [!x]. Such a class matches a slash in ripgrep's globs, but not under git's rules. In a row,
// a class never matches a slash, so there is a separate row with a slash in place of the class.
func slashClasses(ops []op) [][]op {
	all := [][]op{ops}
	classes := 0
	for i, o := range ops {
		if o.kind != opClass || !o.class.has('/') || i == 0 || i == len(ops)-1 || joinsSlash(ops[i-1]) || ops[i+1].kind == opSep {
			continue // a clean path has no slash at its ends, and no two in a row
		}
		if classes++; classes > maxSlashClasses {
			break
		}
		for _, variant := range all {
			with := slices.Clone(variant)
			with[i] = op{kind: opSep}
			all = append(all, with)
		}
	}
	return all
}

func joinsSlash(o op) bool { return o.kind == opSep || o.kind == opDirs || o.kind == opDirs1 }

// relocate converts an error in a part of the pattern, which begins at base, to one in the
// whole pattern.
func relocate(err *Error, pattern string, base int) *Error {
	return failure(pattern, min(err.Offset+base, len(pattern)), err.Reason)
}
