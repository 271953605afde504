// Package repos shows the repositories of servers as one tree of paths.
//
// A path is one in a repository with the repository's name in front; where
// names nest, the longest has the path. A Tree says what there is and where,
// which files could match, and what is in them.
//
// A file it doesn't name can't match, or the rules leave it out by which a walk
// of the same commits in folders would; a file it names need not match. Files
// come in path order. A server that fails is named, and only its part is
// missing.
//
// Repositories that are checked out on this machine have their place in the
// tree, and no more: what is in them is their folder's to say.
//
// A Tree is safe for concurrent use, a Listing is immutable, a Question belongs
// to one goroutine.
package repos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"quarry/internal/policy"
	"quarry/internal/remote"
)

// Options of New.
type Options struct {
	// Client asks the servers. It is closed with the tree.
	Client remote.Client

	// Policy says which paths may be seen; nil is all.
	Policy *policy.Policy
	// Checkouts are the names of repositories that are checked out here.
	Checkouts []string
	// Find returns a path in a checkout in the letter case of the files, and
	// whether it is a file. Without it every path is used as written.
	Find func(checkout, rel string) (real string, isFile bool, err error)
}

// Tree is the repositories of some servers.
type Tree struct {
	client    remote.Client
	policy    *policy.Policy
	checkouts []string
	find      func(checkout, rel string) (string, bool, error)

	mu       sync.Mutex
	listing  *Listing         // nil before the first
	last     *Listing         // the same, and kept when it is too old to answer by
	facts    map[string]facts // by repository and commit
	sums     map[string]*sums // by repository
	inflight chan struct{}    // closed when the listing under way is there
}

// Listing is what the servers had at one moment.
type Listing struct {
	Repos    []remote.Repo // in path order
	Failures []remote.Failure

	checkouts []string // in the order of their names
	when      time.Time
}

// listingAge is how long a listing is used: repositories change slowly, and
// each document names its own commit.
const listingAge = 10 * time.Second

// New makes a tree. No server is asked yet.
func New(opts *Options) (*Tree, error) {
	t := &Tree{client: opts.Client, policy: opts.Policy, find: opts.Find, facts: map[string]facts{}, sums: map[string]*sums{}}
	for _, name := range opts.Checkouts {
		if !isName(name) {
			return nil, fmt.Errorf("checkout: invalid repository name %q", name)
		}
	}
	t.checkouts = slices.Sorted(slices.Values(opts.Checkouts))
	for i := 1; i < len(t.checkouts); i++ {
		if t.checkouts[i] == t.checkouts[i-1] {
			return nil, fmt.Errorf("checkout: %s is named twice", t.checkouts[i])
		}
	}
	return t, nil
}

// Close lets connections go.
func (t *Tree) Close() { t.client.Close() }

// Servers is how many there are.
func (t *Tree) Servers() int { return t.client.Servers() }

// List is what the servers have, cached for a moment. A server that can't be
// reached is in the failures; if none can, the error is ErrServers.
func (t *Tree) List(ctx context.Context) (*Listing, error) {
	for {
		t.mu.Lock()
		if l := t.listing; l != nil && time.Since(l.when) < listingAge && len(l.Failures) == 0 {
			t.mu.Unlock()
			return l, nil
		}
		wait := t.inflight
		if wait == nil {
			done := make(chan struct{})
			t.inflight = done
			t.mu.Unlock()
			l, err := t.askList(ctx)
			t.mu.Lock()
			if err == nil {
				t.listing, t.last = l, l
				t.forget(l)
			}
			t.inflight = nil
			t.mu.Unlock()
			close(done)
			return l, err
		}
		t.mu.Unlock()
		select {
		case <-wait: // and look again
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (t *Tree) askList(ctx context.Context) (*Listing, error) {
	l := &Listing{when: time.Now(), checkouts: t.checkouts}
	l.Repos, l.Failures = t.client.List(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A name that can't be a path is not part of the tree.
	l.Repos = slices.DeleteFunc(l.Repos, func(p remote.Repo) bool { return !isName(p.Name) })
	sort.Slice(l.Repos, func(i, j int) bool { return comparePaths(l.Repos[i].Name, l.Repos[j].Name) < 0 })
	if len(l.Failures) == t.client.Servers() {
		return nil, silence(l.Failures)
	}
	return l, nil
}

// relist makes the next question ask the servers again.
func (t *Tree) relist() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listing = nil
}

// ErrServers is returned if no server could answer.
var ErrServers = errors.New("no server answered")

// silence is ErrServers with what each of them said.
type silence []remote.Failure

func (s silence) Error() string {
	said := make([]string, len(s))
	for i, f := range s {
		said[i] = fmt.Sprintf("%s (%v)", f.Name, withoutAddress(f.Err))
	}
	return fmt.Sprintf("%v: %s; check the addresses, and that the servers run and can be reached from here", ErrServers, strings.Join(said, ", "))
}

func (s silence) Unwrap() []error {
	errs := []error{ErrServers}
	for _, f := range s {
		errs = append(errs, f)
	}
	return errs
}

// withoutAddress removes the address from an error of the network, where it is
// before the reason.
func withoutAddress(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// comparePaths orders folders by the paths in them: a-b comes before a/.
func comparePaths(a, b string) int { return strings.Compare(a+"/", b+"/") }
