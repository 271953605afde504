package quarry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/internal/ignore"
	"quarry/internal/repos"
	"quarry/internal/rootfs"
)

// RemoteOptions of OpenRemote.
type RemoteOptions struct {
	// Servers are the Zoekt servers that together have all repositories:
	// "HOST:PORT,HOST:PORT". Replicas of one are joined by a plus. A server
	// with TLS is https://HOST[:PORT].
	Servers string
	// Timeout is how long a server has for one answer; 0 is 10 s. One that
	// needs longer is left out of the answer and named there.
	Timeout time.Duration
	// TLS is for servers with TLS; nil trusts the system's roots.
	TLS *tls.Config
	// Header is sent with every request, as a proxy may ask for.
	Header http.Header

	// Checkouts are repositories that are checked out on this machine. Their
	// folders have the last word on what is in them, and can be changed.
	Checkouts []Checkout

	// As in Options.
	Allow, Deny  []string
	Trusted      bool
	GlobalIgnore []byte
	Workers      int
	Logger       *slog.Logger
}

// Checkout is a repository that is checked out.
type Checkout struct {
	Repo string // its name on the servers
	// Workspace is its folder. It is closed with the workspace it is part of.
	Workspace *Workspace
}

// remote answers for the repositories of Zoekt servers: repos has them as a
// tree, and this makes answers of it and of the checkouts.
type remote struct {
	tree      *repos.Tree
	rules     []ignore.Set
	workers   int
	log       *slog.Logger
	checkouts []*checkout // by name
}

// OpenRemote makes a workspace of the repositories of Zoekt servers. Its paths
// are those in a repository with the repository's name in front, its files
// those of the commits that are indexed, and what is checked out is as it is in
// its folder. No server is asked yet.
func OpenRemote(opts *RemoteOptions) (*Workspace, error) {
	r := &remote{workers: opts.Workers, log: opts.Logger}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	served := repos.Options{Servers: opts.Servers, Timeout: opts.Timeout, TLS: opts.TLS, Header: opts.Header}
	var err error
	if !opts.Trusted {
		if served.Policy, err = rootfs.NewPolicy(rootfs.Rules{Allow: opts.Allow, Deny: opts.Deny}); err != nil {
			return nil, err
		}
	}
	if r.rules, err = outsideRules(&Options{GlobalIgnore: opts.GlobalIgnore}); err != nil {
		return nil, err
	}
	for _, c := range opts.Checkouts {
		if c.Workspace == nil {
			return nil, fmt.Errorf("checkout: %q is no name of a repository", c.Repo)
		}
		served.Checkouts = append(served.Checkouts, c.Repo)
		r.checkouts = append(r.checkouts, &checkout{repo: c.Repo, ws: c.Workspace, rest: stampRest})
	}
	served.Find = func(repo, rel string) (string, bool, error) { return r.checkout(repo).find(rel) }
	slices.SortFunc(r.checkouts, func(a, b *checkout) int { return strings.Compare(a.repo, b.repo) })
	if r.tree, err = repos.New(&served); err != nil {
		return nil, err
	}
	return &Workspace{elsewhere: r, workers: r.workers, log: r.log, rules: r.rules}, nil
}

// Close releases the connections and the checkouts.
func (r *remote) Close() error {
	r.tree.Close()
	var errs []error
	for _, c := range r.checkouts {
		errs = append(errs, c.ws.Close())
	}
	return errors.Join(errs...)
}

// checkout is the one of a repository; nil if there is none.
func (r *remote) checkout(repo string) *checkout {
	i, ok := slices.BinarySearchFunc(r.checkouts, repo, func(c *checkout, repo string) int { return strings.Compare(c.repo, repo) })
	if !ok {
		return nil
	}
	return r.checkouts[i]
}

// IndexStatus tells what the servers have.
func (r *remote) IndexStatus(ctx context.Context) (*IndexStatus, error) {
	l, err := r.tree.List(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &IndexStatus{State: "failed", Remote: true, Freshness: "remote", Error: err.Error()}, nil
	}
	st := &IndexStatus{State: "ready", Remote: true, Freshness: "remote"}
	for i := range l.Repos {
		p := &l.Repos[i]
		st.Files += p.Files
		st.TextBytes += p.Bytes
		if p.Indexed.After(st.Updated) {
			st.Updated = p.Indexed
		}
	}
	for _, f := range l.Failures {
		st.State = "failed"
		st.Error = strings.TrimPrefix(st.Error+"; "+f.Error(), "; ")
	}
	return st, nil
}
