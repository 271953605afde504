// Package roots makes one workspace of several folders.
//
// Each root has a name, and every path that goes in or comes out begins with
// it: app/src/main.go. A search without a path goes over all roots in the order
// they were given; its limits, offset and totals are those of the joint answer.
// A change concerns one root, and its id names that root, since two journals
// may use one id.
//
// A Set of one root without a name is that workspace: paths and ids pass as
// they are. A Set is immutable and safe for concurrent use.
package roots

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"

	"quarry"
)

// Root is a workspace and its name.
type Root struct {
	Name string
	*quarry.Workspace
}

// Set is one root without a name, or several with names.
type Set struct{ roots []Root }

// One is the set of a single workspace, whose paths carry no name.
func One(ws *quarry.Workspace) *Set { return &Set{roots: []Root{{Workspace: ws}}} }

// New makes a set of roots in the order in which they are searched. A single
// one loses its name: there is nothing to tell it from.
func New(roots ...Root) (*Set, error) {
	if len(roots) == 0 {
		return nil, errors.New("no root")
	}
	if len(roots) == 1 {
		return One(roots[0].Workspace), nil
	}
	s := &Set{}
	for _, r := range roots {
		if r.Name == "" || strings.ContainsAny(r.Name, `/\`) || r.Name == "." || r.Name == ".." {
			return nil, fmt.Errorf("%q is no name of a root", r.Name)
		}
		if other := s.called(r.Name); other != nil {
			return nil, fmt.Errorf("two roots are called %s", r.Name)
		}
		s.roots = append(s.roots, r)
	}
	return s, nil
}

// Names lists the names of several roots; it is nil for a single one.
func (s *Set) Names() []string {
	if !s.several() {
		return nil
	}
	names := make([]string, len(s.roots))
	for i := range s.roots {
		names[i] = s.roots[i].Name
	}
	return names
}

// Roots lists the roots.
func (s *Set) Roots() []Root { return append([]Root(nil), s.roots...) }

// Close closes every workspace.
func (s *Set) Close() error {
	var errs []error
	for i := range s.roots {
		errs = append(errs, s.roots[i].Workspace.Close())
	}
	return errors.Join(errs...)
}

func (s *Set) several() bool { return s.roots[0].Name != "" }

// called finds a root by name, in any case: names differ in more than that.
func (s *Set) called(name string) *Root {
	for i := range s.roots {
		if strings.EqualFold(s.roots[i].Name, name) {
			return &s.roots[i]
		}
	}
	return nil
}

// join is a path of the root as the set shows it.
func (r *Root) join(p string) string {
	switch {
	case r.Name == "":
		return p
	case p == "" || p == ".":
		return r.Name
	}
	return r.Name + "/" + p
}

func (r *Root) joinAll(paths []string) []string {
	if r.Name == "" || len(paths) == 0 {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = r.join(p)
	}
	return out
}

// locate finds the root a path is about and the path in it. The top, which is
// in no root, is nil.
func (s *Set) locate(given string) (*Root, string, error) {
	if !s.several() {
		return &s.roots[0], given, nil
	}
	if r, rest, ok := s.absolute(given); ok {
		return r, rest, nil
	}
	p := given
	if strings.Contains(p, "..") {
		// A name may end the way into another root: app/../api/x.
		p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if p == ".." || strings.HasPrefix(p, "../") {
			return nil, "", &NameError{Path: given, Names: s.Names(), Outside: true}
		}
	}
	for {
		rest := strings.TrimLeft(p, `/\`)
		if after, ok := strings.CutPrefix(rest, "./"); ok {
			rest = after
		}
		if rest == p {
			break
		}
		p = rest
	}
	if p == "" || p == "." {
		return nil, "", nil
	}
	name, rest := p, ""
	if i := strings.IndexAny(p, `/\`); i >= 0 {
		name, rest = p[:i], p[i+1:]
	}
	if r := s.called(name); r != nil {
		return r, rest, nil
	}
	return nil, "", s.unknown(given, p)
}

// absolute finds the root an absolute path lies in, the innermost if one root
// is inside another.
func (s *Set) absolute(given string) (found *Root, rest string, ok bool) {
	p := strings.ReplaceAll(given, `\`, "/")
	for i := range s.roots {
		r := &s.roots[i]
		dir := strings.TrimSuffix(strings.ReplaceAll(r.Dir(), `\`, "/"), "/")
		if dir == "" || len(p) < len(dir) || !samePath(p[:len(dir)], dir) || len(p) > len(dir) && p[len(dir)] != '/' {
			continue
		}
		if found == nil || len(p)-len(dir) < len(rest)+1 {
			found, rest = r, strings.TrimPrefix(p[len(dir):], "/")
		}
	}
	return found, rest, found != nil
}

// Inside is the path that an absolute one in a root means, with the root's name
// if there are several.
func (s *Set) Inside(p string) (string, bool) {
	r, rest, ok := s.absolute(p)
	if !ok {
		return "", false
	}
	return r.join(rest), true
}

func samePath(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// inRoot is locate for a path that has to be in a root.
func (s *Set) inRoot(given string) (*Root, string, error) {
	r, rest, err := s.locate(given)
	if err == nil && r == nil {
		err = s.unknown(given, "")
	}
	return r, rest, err
}

// NameError is a path or a glob that begins with no root's name.
type NameError struct {
	Path  string
	Names []string // of the roots there are
	Near  []string // paths that exist and may be meant

	Outside bool // it leads out of all roots
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%q begins with no root's name; the roots: %s", e.Path, strings.Join(e.Names, ", "))
}

// unknown is the error of a path without a root. Where a root has rest, that is
// likely what is meant.
func (s *Set) unknown(given, rest string) error {
	e := &NameError{Path: given, Names: s.Names()}
	for i := range s.roots {
		if rest == "" {
			break
		}
		if info, err := s.roots[i].Workspace.Stat(context.Background(), rest); err == nil {
			e.Near = append(e.Near, s.roots[i].join(info.Path))
		}
	}
	return e
}

// Status is how the index of one root is doing.
type Status struct {
	Name, Dir string
	*quarry.IndexStatus
}

// IndexStatus tells how the index of each root is doing.
func (s *Set) IndexStatus(ctx context.Context) ([]Status, error) {
	list := make([]Status, len(s.roots))
	for i := range s.roots {
		r := &s.roots[i]
		st, err := r.Workspace.IndexStatus(ctx)
		if err != nil {
			return nil, r.located(err)
		}
		list[i] = Status{r.Name, r.Dir(), st}
	}
	return list, nil
}

// Stat describes what a path names.
func (s *Set) Stat(ctx context.Context, p string) (*quarry.Info, error) {
	r, rest, err := s.locate(p)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return s.top(ctx)
	}
	info, err := r.Workspace.Stat(ctx, orTop(rest))
	if err != nil {
		return nil, r.located(err)
	}
	info.Path = r.join(info.Path)
	return info, nil
}

// top describes what holds the roots: a folder that exists only here, as new as
// the newest of them.
func (s *Set) top(ctx context.Context) (*quarry.Info, error) {
	out := &quarry.Info{Path: ".", Folder: true}
	for i := range s.roots {
		info, err := s.roots[i].Workspace.Stat(ctx, ".")
		if err != nil {
			return nil, s.roots[i].located(err)
		}
		if info.ModTime.After(out.ModTime) {
			out.ModTime = info.ModTime
		}
	}
	return out, nil
}

// orTop is the path of a root's own folder where there is no other.
func orTop(p string) string {
	if p == "" {
		return "."
	}
	return p
}

// Read returns lines of a text file.
func (s *Set) Read(ctx context.Context, p string, opts *quarry.ReadOptions) (*quarry.Text, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	t, err := r.Workspace.Read(ctx, rest, opts)
	if err != nil {
		return nil, r.located(err)
	}
	t.Path = r.join(t.Path)
	return t, nil
}
