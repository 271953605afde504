package cli

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"quarry/internal/glob"
	"quarry/match"
	"quarry/search"
)

// patterns compiles fd's patterns: all of them must match the name of an entry,
// or with -p its absolute path.
func (f *fdFlags) patterns(list []string) (func(t *target, e *search.Entry) bool, error) {
	var tests []func(string) bool
	// A capital letter in any pattern makes all of them case-sensitive.
	fold := f.letters == "ignore-case" || f.letters == "" && !slices.ContainsFunc(list, func(p string) bool {
		return hasUpper(p, f.fixed || f.exactName || f.glob && !f.regex)
	})
	for _, p := range list {
		if p == "" {
			continue
		}
		if !f.fullPath && strings.Contains(p, "/") && !f.glob {
			return nil, fmt.Errorf("the pattern %s has a slash, and names have none\n  fd -p %s finds it in whole paths; fd . %s lists what is in a folder", strconv.Quote(p), p, p)
		}
		if !f.hidden && onlyHidden(p, f.glob && !f.regex, f.fixed) {
			return nil, fmt.Errorf("the pattern %s matches hidden names alone, and those are not listed\n  -H lists them", strconv.Quote(p))
		}
		test, err := f.pattern(p, fold)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	return func(t *target, e *search.Entry) bool {
		text := path.Base(e.Path)
		if f.fullPath {
			text = f.whole(t, e)
		}
		return !slices.ContainsFunc(tests, func(test func(string) bool) bool { return !test(text) })
	}, nil
}

// whole returns the absolute path of an entry. It begins with the folder as the user named it,
// without resolving symlinks.
func (f *fdFlags) whole(t *target, e *search.Entry) string {
	shown, err := filepath.Abs(filepath.FromSlash(t.shown(e.Path)))
	if err != nil {
		return filepath.ToSlash(t.abs(e))
	}
	return filepath.ToSlash(shown)
}

func (f *fdFlags) pattern(p string, fold bool) (func(string) bool, error) {
	if f.glob && !f.regex {
		return fdGlob(p, f.fullPath, fold)
	}
	o := match.Options{Mode: match.Text, WholeLine: f.exactName}
	if f.fixed || f.exactName {
		o.Syntax = match.Literal
	}
	if fold {
		o.Case = match.Insensitive
	}
	compiled, err := match.Compile(p, o)
	if err != nil {
		return nil, err
	}
	m := compiled.NewMatcher()
	return func(text string) bool {
		_, _, ok := m.Find([]byte(text), 0)
		return ok
	}, nil
}

// fdGlob compiles a glob that must match the whole name or path; * does not match a slash.
func fdGlob(p string, anchored, fold bool) (func(string) bool, error) {
	dialect := glob.Gitignore
	if fold {
		dialect = glob.GitignoreFold
	}
	if anchored {
		p = "/" + strings.TrimPrefix(p, "/")
	} else if strings.HasPrefix(p, "!") {
		p = `\` + p
	}
	g, err := glob.Compile(p, dialect)
	if err != nil {
		return nil, err
	}
	only := glob.NewFilter(g)
	return func(text string) bool { return only.MatchFile(strings.TrimPrefix(text, "/")) }, nil
}

// hasUpper reports whether a pattern has a literal capital letter.
func hasUpper(p string, literal bool) bool {
	escaped := false
	for _, r := range p {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && !literal:
			escaped = true
		case unicode.IsUpper(r):
			return true
		}
	}
	return false
}

// onlyHidden reports whether a pattern matches only names with a leading dot.
func onlyHidden(p string, isGlob, literal bool) bool {
	if isGlob {
		return strings.HasPrefix(p, ".") && len(p) > 1
	}
	return !literal && strings.HasPrefix(p, `^\.`)
}
