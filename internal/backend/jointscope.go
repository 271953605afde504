package backend

import (
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/glob"
	"quarry/internal/searcher"
	"quarry/search"
)

// target is a part of a scope: a path in one root, and the globs and the depth limit that
// apply there.
type target struct {
	root *Part
	path string
	// whole reports that the root was not named but is searched as one of all roots.
	whole bool
	globs []string
	depth int
}

// narrow changes a scope to the target.
func (t *target) narrow(sc *search.Scope) {
	sc.Paths, sc.Globs, sc.MaxDepth = []string{t.path}, t.globs, t.depth
}

// targets splits a scope into targets. If a path names a root, globs and depth stay
// unchanged, since they are relative to the searched folder. The top means all roots;
// there, globs and depth begin with the roots' names. folders reports that folders are
// listed, too: a glob that includes a folder by name then does not include its contents.
func (s *joint) targets(sc *search.Scope, folders bool) ([]target, error) {
	paths := sc.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	var list []target
	for _, p := range paths {
		r, rest, err := s.locate(p)
		if err != nil {
			return nil, err
		}
		if r != nil {
			list = append(list, target{root: r, path: rest, globs: sc.Globs, depth: sc.MaxDepth})
			continue
		}
		all, err := s.allRoots(sc, folders)
		if err != nil {
			return nil, err
		}
		list = append(list, all...)
	}
	return list, nil
}

// allRoots returns the roots in which a search from the top could find anything.
func (s *joint) allRoots(sc *search.Scope, folders bool) ([]target, error) {
	filter, err := glob.CompileFilter(searcher.GlobDialect(sc.Dialect), sc.Globs...)
	if err != nil {
		return nil, err
	}
	if err := s.checkAnchors(sc); err != nil {
		return nil, err
	}
	var list []target
	for _, r := range s.parts {
		if sc.MaxDepth == 1 || !folders && !filter.Descend(r.Name) || folders && filter.ExcludesAbove(r.Name+"/.") {
			continue
		}
		t := target{root: r, whole: true, depth: max(sc.MaxDepth-1, 0)}
		includes, included := false, false
		for _, g := range sc.Globs {
			left, excludes := below(g, sc.Dialect, r.Name)
			includes, included = includes || !excludes, included || !excludes && len(left) > 0
			t.globs = append(t.globs, left...)
		}
		if !includes || included {
			list = append(list, t)
		}
	}
	return list, nil
}

// checkAnchors refuses a glob that is anchored at the top but doesn't begin with a root's
// name. It can't match anything, and the name was probably forgotten.
func (s *joint) checkAnchors(sc *search.Scope) error {
	for _, g := range sc.Globs {
		_, first, rest, _ := cutGlob(g, sc.Dialect)
		if rest == "" || strings.HasPrefix(first, "**") {
			continue
		}
		if strings.ContainsAny(first, "{") && strings.Contains(first, "/") {
			return &fault.GlobError{Pattern: g, Reason: "with several roots, braces around the first slash can't be read: write one glob for each root"}
		}
		if !slices.ContainsFunc(s.parts, func(r *Part) bool { return matchesName(first, sc.Dialect, r.Name) }) {
			e := &fault.RootError{Path: g, Names: s.names()}
			for _, p := range s.parts {
				e.Near = append(e.Near, p.join(strings.TrimLeft(g, "!/")))
			}
			return e
		}
	}
	return nil
}

// cutGlob splits a glob into first, which matches the first element of a path, and rest,
// which is "" if the glob isn't anchored. excludes and folders report whether the glob
// excludes and whether it has a trailing slash, so that it matches only folders; the slash
// stays at the end.
func cutGlob(g string, d search.Dialect) (excludes bool, first, rest string, folders bool) {
	if d == search.Gitignore {
		g, excludes = strings.CutPrefix(g, "!")
	}
	whole := strings.TrimRight(g, "/")
	folders = len(whole) < len(g)
	anchored := strings.HasPrefix(whole, "/")
	whole = strings.TrimPrefix(whole, "/")
	depth := 0
	for i := 0; i < len(whole); i++ {
		switch whole[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case '/':
			if depth <= 0 {
				rest = whole[i+1:]
				if folders {
					rest += "/"
				}
				return excludes, whole[:i], rest, folders
			}
		}
	}
	if anchored {
		return excludes, whole, "/", folders
	}
	return excludes, whole, "", folders
}

func matchesName(pattern string, d search.Dialect, name string) bool {
	g, err := glob.Compile(pattern, searcher.GlobDialect(d))
	return err == nil && g.MatchDir(name)
}

// below converts a glob to globs for paths in the root of that name: any of them matches
// a path p if and only if g matches name/p.
func below(g string, d search.Dialect, name string) (globs []string, excludes bool) {
	excludes, first, rest, folders := cutGlob(g, d)
	sign := ""
	if excludes {
		sign = "!"
	}
	switch {
	case rest == "" && d != search.Gitignore && !strings.HasPrefix(first, "**"):
		return nil, excludes // g matches only names at the top, where there are only roots
	case rest == "" && folders && matchesName(first, d, name):
		return []string{sign + "**"}, excludes // g matches the root, so everything in it
	case rest == "":
		return []string{g}, excludes // g matches a name at any depth
	case first == "**":
		globs = []string{g}
		if strings.Contains(strings.TrimRight(rest, "/"), "/") { // ** may match no element
			more, _ := below(sign+rest, d, name)
			globs = append(globs, more...)
		}
		return globs, excludes
	case !matchesName(first, d, name):
		return nil, excludes
	case rest == "/":
		if !folders {
			return nil, excludes // g matches only a file in place of the root
		}
		return []string{sign + "**"}, excludes
	case d == search.Gitignore:
		return []string{sign + "/" + rest}, excludes
	}
	return []string{rest}, excludes
}
