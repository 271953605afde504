package repos

import (
	"context"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/remote"
	"quarry/internal/rootfs"
)

// Clean turns a path that a user wrote into our form: "" is the top.
func Clean(given string) (string, error) {
	bad := func(k fault.Code) (string, error) {
		return "", &fault.PathError{Op: "resolve", Path: given, Kind: k}
	}
	if strings.IndexByte(given, 0) >= 0 {
		return bad(fault.InvalidArgument)
	}
	p := path.Clean(strings.TrimLeft(strings.ReplaceAll(given, `\`, "/"), "/"))
	switch {
	case p == ".":
		return "", nil
	case p == ".." || strings.HasPrefix(p, "../"):
		return bad(fault.OutsideRoot)
	}
	return p, nil
}

// isName reports whether a repository's name can be a path.
func isName(name string) bool {
	clean, err := Clean(name)
	return err == nil && clean == name && clean != ""
}

// Place is what a path names: the top or a folder of repositories (with neither
// Repo nor Checkout), a repository, or something in one.
type Place struct {
	Path     string // cleaned, and in the case it is written in
	Repo     *remote.Repo
	Checkout string // the repository, if it is checked out here
	Rel      string // in the repository; "" is its top
	IsFile   bool
}

// In is the path in a checkout at which a search of the place starts.
func (at *Place) In(checkout string) string {
	if at.Checkout == checkout {
		return at.Rel
	}
	return ""
}

// DepthIn turns a limit on the depth below the place into one for a checkout;
// false if the limit ends above the checkout.
func (at *Place) DepthIn(checkout string, most int) (int, bool) {
	if most <= 0 || at.Checkout == checkout {
		return most, true
	}
	above := strings.Count(strings.TrimPrefix(strings.TrimPrefix(checkout, at.Path), "/"), "/") + 1
	return most - above, most > above
}

// Locate finds what a path names. In a checkout Options.Find decides.
func (q *Question) Locate(ctx context.Context, given string) (*Place, error) {
	p, err := Clean(given)
	if err != nil {
		return nil, err
	}
	if p == "" {
		return &Place{}, nil
	}
	var missing error
	for _, name := range q.list.owners(p) {
		at, err := q.locateUnder(ctx, name, below(name, p), given)
		if err == nil || rootfs.KindOf(err) != fault.NotFound {
			return at, err
		}
		if missing == nil {
			missing = err
		}
	}
	at, err := q.list.above(given, p)
	if err != nil && missing != nil {
		err = missing
	}
	return at, err
}

// locateUnder finds a path in the repository with a name. If the path, in the
// letter case of its files, belongs to a repository with a longer name, it is
// searched there.
func (q *Question) locateUnder(ctx context.Context, name, rel, given string) (*Place, error) {
	at := &Place{Path: name, Rel: rel}
	var err error
	if q.list.isCheckout(name) {
		at.Checkout = name
		if q.tree.find != nil {
			at.Rel, at.IsFile, err = q.tree.find(name, rel)
		}
		at.Path = pathIn(name, at.Rel)
	} else if at.Repo = q.list.repo(name); rel != "" {
		err = q.tree.locateIn(ctx, at, given)
	}
	if err != nil {
		return nil, err
	}
	if longer := q.list.owner(at.Path); longer != name {
		return q.locateUnder(ctx, longer, below(longer, at.Path), given)
	}
	return at, nil
}

// above is for a folder that repositories lie in.
func (l *Listing) above(given, p string) (*Place, error) {
	inside := func(name string) bool {
		return len(name) > len(p) && name[len(p)] == '/' && strings.EqualFold(name[:len(p)], p)
	}
	for _, name := range l.checkouts {
		if inside(name) {
			return &Place{Path: name[:len(p)]}, nil
		}
	}
	for i := range l.Repos {
		if name := l.Repos[i].Name; inside(name) {
			return &Place{Path: name[:len(p)]}, nil
		}
	}
	err := &fault.PathError{Op: "resolve", Path: given, Kind: fault.NotFound}
	if len(l.Failures) > 0 { // it may be there
		err.Kind, err.Err = fault.IOError, l.Failures[0]
	}
	return nil, err
}

// locateIn finds a path in a repository: the file, else the folder, else the
// one that differs in case only.
func (t *Tree) locateIn(ctx context.Context, at *Place, given string) error {
	found := func(rel string, d *remote.Doc) error {
		at.Rel, at.IsFile = rel, d.Path == rel
		at.Path = at.Repo.Name + "/" + rel
		return t.mayName(at, given)
	}
	in := remote.And(remote.Head(), remote.In(at.Repo.Name))
	ask := func(q remote.Query, most int) ([]remote.Doc, error) {
		docs, err := t.client.Some(ctx, at.Repo.Server, remote.NamesOnly(remote.And(in, q)), most)
		if err != nil && ctx.Err() == nil {
			err = t.failure(at.Repo.Server, err)
		}
		return docs, err
	}
	docs, err := ask(remote.Paths(at.Rel), 4)
	for i := range docs {
		if docs[i].Path == at.Rel {
			return found(at.Rel, &docs[i])
		}
	}
	if err == nil {
		docs, err = ask(remote.PathMatch("^"+remote.QuoteRE(at.Rel)+"/", false), 1)
	}
	if err != nil {
		return err
	}
	if len(docs) > 0 && strings.HasPrefix(docs[0].Path, at.Rel+"/") {
		return found(at.Rel, &docs[0])
	}
	const most = 1000 // below folders of one name
	if docs, err = ask(remote.PathMatch("^"+remote.QuoteRE(at.Rel)+"(/|$)", true), most); err != nil {
		return err
	}
	var names []string
	var one *remote.Doc
	for i := range docs {
		p := docs[i].Path
		if len(p) < len(at.Rel) || !strings.EqualFold(p[:len(at.Rel)], at.Rel) || slices.Contains(names, p[:len(at.Rel)]) {
			continue
		}
		names, one = append(names, p[:len(at.Rel)]), &docs[i]
	}
	switch len(names) {
	case 0:
		return &fault.PathError{Op: "resolve", Path: given, Kind: fault.NotFound}
	case 1:
		return found(names[0], one)
	}
	slices.Sort(names)
	return &fault.PathError{Op: "resolve", Path: given, Kind: fault.AmbiguousPath, Matches: names}
}

func (t *Tree) failure(server int, err error) remote.Failure {
	return remote.Failure{Server: server, Name: t.client.Name(server), Err: err}
}

// mayName applies the policy to a path that was named.
func (t *Tree) mayName(at *Place, given string) error {
	p, err := pathOf(at.Path)
	if err != nil {
		return err
	}
	if v := t.policy.Path(p.String(), !at.IsFile); v.Refused() {
		e := &fault.PathError{Op: "resolve", Path: given, Kind: fault.ProtectedPath, Name: p.Base(), Rule: v.String()}
		if v == policy.Secret {
			e.Allow = policy.AllowRule(p.String())
		}
		return e
	}
	return nil
}

// pathOf makes a Path of a path of the tree, for the policy. It opens nothing.
func pathOf(rel string) (p rootfs.Path, err error) {
	if rel == "" {
		return p, nil
	}
	for name := range strings.SplitSeq(rel, "/") {
		if p, err = p.Child(name); err != nil {
			return p, err
		}
	}
	return p, nil
}
