package quarry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/searcher"
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

// remote is the repositories of servers and their checkouts.
type remote struct {
	*searcher.Servers
	checkouts []*checkout // by name
}

// checkout is a repository that is checked out, as changes need it.
type checkout struct {
	repo string
	ws   *Workspace
}

// OpenRemote makes a workspace of the repositories of Zoekt servers. Its paths
// are those in a repository with the repository's name in front, its files
// those of the commits that are indexed, and what is checked out is as it is in
// its folder. No server is asked yet.
func OpenRemote(opts *RemoteOptions) (*Workspace, error) {
	r := &remote{}
	served := searcher.ServersOptions{
		Servers: opts.Servers, Timeout: opts.Timeout, TLS: opts.TLS, Header: opts.Header, Workers: opts.Workers, Logger: opts.Logger,
	}
	if served.Workers <= 0 {
		served.Workers = runtime.GOMAXPROCS(0)
	}
	if served.Logger == nil {
		served.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if !opts.Trusted {
		if served.Policy, err = rootfs.NewPolicy(rootfs.Rules{Allow: opts.Allow, Deny: opts.Deny}); err != nil {
			return nil, err
		}
	}
	if served.Rules, err = outsideRules(&Options{GlobalIgnore: opts.GlobalIgnore}); err != nil {
		return nil, err
	}
	for _, c := range opts.Checkouts {
		if c.Workspace == nil {
			return nil, fmt.Errorf("checkout: %q is no name of a repository", c.Repo)
		}
		served.Checkouts = append(served.Checkouts, searcher.Checkout{Repo: c.Repo, Folder: c.Workspace.files})
		r.checkouts = append(r.checkouts, &checkout{repo: c.Repo, ws: c.Workspace})
	}
	slices.SortFunc(r.checkouts, func(a, b *checkout) int { return strings.Compare(a.repo, b.repo) })
	if r.Servers, err = searcher.NewServers(&served); err != nil {
		return nil, err
	}
	return &Workspace{reader: r.Servers, elsewhere: r, workers: served.Workers, log: served.Logger, rules: served.Rules}, nil
}

// Close releases the connections and the checkouts.
func (r *remote) Close() error {
	r.Servers.Close()
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

// located puts the repository's name into an error about a path.
func (c *checkout) located(err error) error {
	var e *rootfs.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	if out.Path = c.repo + "/" + e.Path; e.Path == "" || e.Path == "." {
		out.Path = c.repo
	}
	return &out
}
