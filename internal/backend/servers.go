package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/owner"
	"quarry/internal/searcher"
	"quarry/search"
)

// servers are repositories on servers, and those of them that are checked out.
// Changes are made in a checkout's folder and kept in its own journal. Files that
// are only on servers are never changed.
type servers struct {
	*searcher.Servers
	journals // of the checkouts, by name
}

// Checkout is a repository that is checked out in a folder.
type Checkout struct {
	Repo   string // its name on the servers
	Folder *Folder
}

// ErrRemoteOnly is returned for a change of a file that is only on a server.
var ErrRemoteOnly = fault.New(fault.ReadOnly, "the repository is on a server and not checked out here, so nothing in it can be changed",
	"files on servers can be read and searched; to change one, work in a checkout of its repository")

// NewServers makes a backend of the repositories of servers. It closes the
// checkouts with itself.
func NewServers(opts searcher.ServersOptions, checkouts []Checkout) (Backend, error) {
	r := &servers{journals: journals{mark: ":"}}
	for _, c := range checkouts {
		opts.Checkouts = append(opts.Checkouts, searcher.Checkout{Repo: c.Repo, Folder: c.Folder.Folder})
		r.parts = append(r.parts, &Part{c.Repo, c.Folder})
	}
	slices.SortFunc(r.parts, func(a, b *Part) int { return strings.Compare(a.Name, b.Name) })
	var err error
	if r.Servers, err = searcher.NewServers(&opts); err != nil {
		return nil, err
	}
	return r, nil
}

// Close releases the connections and the checkouts.
func (r *servers) Close() error {
	r.Servers.Close()
	return r.closeAll()
}

// Apply makes a set of changes in one checkout.
func (r *servers) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	return r.apply(set, r.checkoutFor(ctx), func(b Backend, set change.Set) (*change.Change, error) { return b.Apply(ctx, set) })
}

// Plan works out what Apply would do.
func (r *servers) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return r.apply(set, r.checkoutFor(ctx), func(b Backend, set change.Set) (*change.Change, error) { return b.Plan(ctx, set) })
}

// checkoutFor finds the checkout that a path to be changed lies in.
func (r *servers) checkoutFor(ctx context.Context) func(given string) (*Part, string, error) {
	return func(given string) (*Part, string, error) { return r.toChange(ctx, given) }
}

func (r *servers) toChange(ctx context.Context, given string) (*Part, string, error) {
	repo, rel, err := r.ToChange(ctx, given)
	if err != nil {
		return nil, "", err
	}
	p := r.part(repo)
	if p == nil {
		return nil, "", fmt.Errorf("change %s: %w", fault.Printable(given), ErrRemoteOnly)
	}
	if rel == "" {
		return nil, "", &fault.PathError{Op: "change", Path: given, Kind: fault.InvalidArgument, Err: errCheckoutTop}
	}
	return p, rel, nil
}

var errCheckoutTop = errors.New("the checkout of a repository itself can't be changed")

// Dir is "": the files are on servers.
func (r *servers) Dir() string { return "" }

// Inside knows no absolute path.
func (r *servers) Inside(string) (string, bool) { return "", false }

// Index is what the servers have.
func (r *servers) Index() Index { return serverIndex{r.Servers} }

// serverIndex is what servers have indexed.
type serverIndex struct{ r *searcher.Servers }

func (s serverIndex) Status(ctx context.Context) (*search.IndexStatus, error) {
	return s.r.IndexStatus(ctx)
}

func (s serverIndex) Wait(context.Context) error { return owner.ErrNotOwner }

func (s serverIndex) Follow(ctx context.Context, _ func(search.Progress)) error {
	st, err := s.Status(ctx)
	if err == nil && st.Error != "" {
		err = errors.New(st.Error)
	}
	return err
}

func (s serverIndex) Idle() time.Duration { return 0 }

func (s serverIndex) Verify(context.Context, func(path, what string), func(search.Progress)) (*search.Verification, error) {
	return nil, owner.ErrNotOwner
}

func (s serverIndex) Recording(context.Context) (*change.Recording, error) { return nil, nil }
