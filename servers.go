package quarry

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"quarry/internal/backend"
	"quarry/internal/policy"
	"quarry/internal/repos"
	"quarry/internal/searcher"
	"quarry/internal/zoekt"
)

// ServersOptions of OpenServers.
type ServersOptions struct {
	// Servers are the Zoekt servers that together have all repositories:
	// "HOST:PORT,HOST:PORT". Replicas of one are joined by a plus. A server
	// with TLS is https://HOST[:PORT].
	Servers string
	// Timeout is how long a server has for one answer; 0 is 10 s. A slower server
	// is omitted from the answer and named there.
	Timeout time.Duration
	// TLS is for servers with TLS; nil trusts the system's roots.
	TLS *tls.Config
	// Header is sent with every request, as a proxy may ask for.
	Header http.Header

	// Checkouts are repositories that are checked out on this machine. Their
	// files are read from the folders, not from the servers, and can be changed.
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

// ErrServers is returned when no server could answer.
var ErrServers = repos.ErrServers

// OpenServers makes a workspace of the repositories of Zoekt servers. A path is
// the name of a repository and a path in it. Files are those of the indexed
// commits, or of the folder if the repository is checked out. OpenServers does
// not contact a server.
func OpenServers(opts *ServersOptions) (*Workspace, error) {
	opts = cmp.Or(opts, &ServersOptions{})
	client, err := zoekt.New(opts.Servers, &zoekt.Options{Timeout: opts.Timeout, TLS: opts.TLS, Header: opts.Header})
	if err != nil {
		return nil, err
	}
	served := searcher.ServersOptions{Client: client, Workers: workers(opts.Workers), Logger: logger(opts.Logger)}
	if !opts.Trusted {
		if served.Policy, err = policy.New(policy.Rules{Allow: opts.Allow, Deny: opts.Deny, Unread: true}); err != nil {
			return nil, err
		}
	}
	if served.Rules, err = backend.ParseRules(ruleFiles(opts.GlobalIgnore, nil)); err != nil {
		return nil, err
	}
	var checkouts []backend.Checkout
	for _, c := range opts.Checkouts {
		if c.Workspace == nil {
			return nil, fmt.Errorf("checkout: invalid repository name %q", c.Repo)
		}
		folder, ok := c.Workspace.b.(*backend.Folder)
		if !ok {
			return nil, fmt.Errorf("checkout %s: the workspace is not a folder", c.Repo)
		}
		checkouts = append(checkouts, backend.Checkout{Repo: c.Repo, Folder: folder})
	}
	b, err := backend.NewServers(served, checkouts)
	if err != nil {
		return nil, err
	}
	return newWorkspace(b, nil), nil
}
