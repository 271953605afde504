package repos

import (
	"context"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/remote"
)

// Names may nest: both a and a/b can be repositories, served or checked out. A
// path belongs to the one with the longest name. Files of the other repository
// at such paths are not part of the tree: they are not found, listed or changed.

// repo is the served repository of a name; nil if there is none.
func (l *Listing) repo(name string) *remote.Repo {
	i, ok := slices.BinarySearchFunc(l.Repos, name, func(p remote.Repo, name string) int { return comparePaths(p.Name, name) })
	if !ok {
		return nil
	}
	return &l.Repos[i]
}

func (l *Listing) isCheckout(name string) bool {
	_, ok := slices.BinarySearch(l.checkouts, name)
	return ok
}

// owner is the repository a path lies in; "" is none.
func (l *Listing) owner(p string) string {
	for p != "" && !l.isCheckout(p) && l.repo(p) == nil {
		p = p[:max(strings.LastIndexByte(p, '/'), 0)]
	}
	return p
}

// ownerFold is the repository a path lies in, in whatever case it is written:
// of several the one with the longest name.
func (l *Listing) ownerFold(p string) (owner string) {
	look := func(name string) {
		if len(name) > len(owner) && (len(p) == len(name) || len(p) > len(name) && p[len(name)] == '/') && strings.EqualFold(p[:len(name)], name) {
			owner = name
		}
	}
	for _, name := range l.checkouts {
		look(name)
	}
	for i := range l.Repos {
		look(l.Repos[i].Name)
	}
	return owner
}

// owners are the repositories that may contain a path, in the order in which
// they are tried: as it is written, then with a longer name in another letter
// case.
func (l *Listing) owners(p string) (list []string) {
	exact := l.owner(p)
	if exact != "" {
		list = append(list, exact)
	}
	if folded := l.ownerFold(p); len(folded) > len(exact) {
		list = append(list, folded)
	}
	return list
}

// below is a path in a repository.
func below(name, p string) string { return strings.TrimPrefix(p[len(name):], "/") }

// Shadowed tells which paths below a repository's name belong to another one.
func (q *Question) Shadowed(name string) func(path string) bool { return q.list.shadowed(name) }

func (l *Listing) shadowed(name string) func(path string) bool {
	nested := l.nested(name)
	return func(path string) bool {
		return slices.ContainsFunc(nested, func(n string) bool { return strings.HasPrefix(path, n) && (len(path) == len(n) || path[len(n)] == '/') })
	}
}

// nested are the repositories whose names lie below that of another.
func (l *Listing) nested(name string) []string {
	var out []string
	for _, checkout := range l.checkouts {
		if strings.HasPrefix(checkout, name+"/") {
			out = append(out, checkout)
		}
	}
	i, _ := slices.BinarySearchFunc(l.Repos, name, func(p remote.Repo, name string) int { return comparePaths(p.Name, name) })
	for ; i < len(l.Repos) && (l.Repos[i].Name == name || strings.HasPrefix(l.Repos[i].Name, name+"/")); i++ {
		if l.Repos[i].Name != name && !l.isCheckout(l.Repos[i].Name) {
			out = append(out, l.Repos[i].Name)
		}
	}
	return out
}

// ToChange finds the repository that a path to be changed lies in, and the path
// in it; the path need not exist yet. "" means that it is in no checkout. If no
// server answers, the names that are known are used.
func (t *Tree) ToChange(ctx context.Context, given string) (checkout, rel string, err error) {
	p, err := Clean(given)
	if err != nil {
		return "", "", err
	}
	q, err := t.Ask(ctx)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	l := t.known()
	if err == nil {
		l = q.list
	}
	owners := l.owners(p)
	if len(owners) == 0 {
		return "", "", nil
	}
	name := owners[len(owners)-1]
	if len(owners) > 1 && err == nil {
		// A folder in the letter case as written comes before a name in another
		// case.
		if p = q.existing(ctx, p); l.owner(p) != "" {
			name = l.owner(p)
		}
	}
	if !l.isCheckout(name) {
		return "", "", nil
	}
	rel = below(name, p)
	if inside := l.nested(pathIn(name, rel)); len(inside) > 0 && rel != "" {
		return "", "", &fault.PathError{Op: "change", Path: given, Kind: fault.InvalidArgument, Err: insideError(inside[0])}
	}
	return name, rel, nil
}

type insideError string

func (e insideError) Error() string {
	return "the repository " + fault.Printable(string(e)) + " lies in it; change what is around it by its own path"
}

// existing is a path whose existing part has the letter case of the files.
func (q *Question) existing(ctx context.Context, p string) string {
	for dir, rest := p, ""; dir != "." && dir != ""; dir, rest = path.Dir(dir), path.Join(path.Base(dir), rest) {
		if at, err := q.Locate(ctx, dir); err == nil {
			return path.Join(at.Path, rest)
		}
	}
	return p
}

func pathIn(name, rel string) string {
	if rel == "" {
		return name
	}
	return name + "/" + rel
}

// known is the last list that was received, or what is known without one.
func (t *Tree) known() *Listing {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil {
		return t.last
	}
	return &Listing{checkouts: t.checkouts}
}
