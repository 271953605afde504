package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/search"
)

// joint presents several backends as one.
//
// Each backend has a name, which is the first element of all its paths in arguments and
// results: app/src/main.go. A search without a path searches all of them in the given order;
// its limits, offset and totals apply to the combined answer. A change affects a single
// backend. The change's id includes the name, since two journals may use the same id.
type joint struct{ parts []*Part }

// Join combines several backends, which are searched in this order. A single backend is
// returned unchanged, without its name in paths.
func Join(parts ...Part) (Backend, error) {
	if len(parts) == 0 {
		return nil, fault.New(fault.InvalidArgument, "no root", "")
	}
	if len(parts) == 1 {
		return parts[0].Backend, nil
	}
	s := &joint{}
	for _, r := range parts {
		if r.Name == "" || strings.ContainsAny(r.Name, `/\`) || r.Name == "." || r.Name == ".." {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid root name %q", r.Name), "")
		}
		if other := s.called(r.Name); other != nil {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("duplicate root name %q", r.Name), "")
		}
		s.parts = append(s.parts, &r)
	}
	return s, nil
}

// Close closes every part.
func (s *joint) Close() error {
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Apply makes a set of changes in a single root.
func (s *joint) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	return s.apply(set, s.inRoot, func(b Backend, set change.Set) (*change.Change, error) { return b.Apply(ctx, set) })
}

// Plan computes the effect of Apply.
func (s *joint) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return s.apply(set, s.inRoot, func(b Backend, set change.Set) (*change.Change, error) { return b.Plan(ctx, set) })
}

// called finds a root by name, ignoring case. Names of roots never differ only in case.
func (s *joint) called(name string) *Part {
	for _, p := range s.parts {
		if strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// locate returns the root of a path and the path in it. For the top, which belongs to no
// root, the root is nil.
func (s *joint) locate(given string) (*Part, string, error) {
	if r, rest, ok := s.absolute(given); ok {
		return r, rest, nil
	}
	p := given
	if strings.Contains(p, "..") {
		// A path such as app/../api/x leads to another root.
		p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if p == ".." || strings.HasPrefix(p, "../") {
			return nil, "", &fault.RootError{Path: given, Names: s.names(), Outside: true}
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

// absolute finds the root that contains an absolute path. If roots are nested, it is the
// innermost one.
func (s *joint) absolute(given string) (found *Part, rest string, ok bool) {
	for _, r := range s.parts {
		if p, in := cut(r.Dir(), given); in && (found == nil || len(p) < len(rest)) {
			found, rest = r, p
		}
	}
	return found, rest, found != nil
}

// Inside converts an absolute path in a root.
func (s *joint) Inside(p string) (string, bool) {
	r, rest, ok := s.absolute(p)
	if !ok {
		return "", false
	}
	return r.join(rest), true
}

// Dir returns "", because there is no single folder.
func (s *joint) Dir() string { return "" }

// inRoot is like locate, but the path must be in a root.
func (s *joint) inRoot(given string) (*Part, string, error) {
	r, rest, err := s.locate(given)
	if err == nil && r == nil {
		err = s.unknown(given, "")
	}
	return r, rest, err
}

// unknown returns the error for a path that doesn't begin with a root's name. If some root
// has a file with that path, the error suggests it.
func (s *joint) unknown(given, rest string) error {
	e := &fault.RootError{Path: given, Names: s.names()}
	for _, p := range s.parts {
		if rest == "" {
			break
		}
		if info, err := p.Stat(context.Background(), rest); err == nil {
			e.Near = append(e.Near, p.join(info.Path))
		}
	}
	return e
}

// Stat describes the file at a path.
func (s *joint) Stat(ctx context.Context, p string) (*search.Info, error) {
	r, rest, err := s.locate(p)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return s.top(ctx)
	}
	info, err := r.Stat(ctx, orTop(rest))
	if err != nil {
		return nil, r.located(err)
	}
	info.Path = r.join(info.Path)
	return info, nil
}

// top describes the virtual folder above the roots. Its time is the newest of the roots'
// times.
func (s *joint) top(ctx context.Context) (*search.Info, error) {
	out := &search.Info{Path: ".", Folder: true}
	for _, p := range s.parts {
		info, err := p.Stat(ctx, ".")
		if err != nil {
			return nil, p.located(err)
		}
		if info.ModTime.After(out.ModTime) {
			out.ModTime = info.ModTime
		}
	}
	return out, nil
}

// orTop returns "." for an empty path.
func orTop(p string) string {
	return cmp.Or(p, ".")
}

// Read returns lines of a text file.
func (s *joint) Read(ctx context.Context, p string, opts *search.ReadOptions) (*search.Text, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	t, err := r.Read(ctx, rest, opts)
	if err != nil {
		return nil, r.located(err)
	}
	t.Path = r.join(t.Path)
	return t, nil
}

// ReadBytes returns the unmodified contents of a file.
func (s *joint) ReadBytes(ctx context.Context, p string, max int64) ([]byte, error) {
	r, rest, err := s.inRoot(p)
	if err != nil {
		return nil, err
	}
	data, err := r.ReadBytes(ctx, rest, max)
	return data, r.located(err)
}
