package searcher

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/remote"
	"quarry/internal/repos"
	"quarry/search"
)

// ServersOptions of NewServers.
type ServersOptions struct {
	// Client asks the servers that together have all repositories. It is closed
	// with the Servers.
	Client remote.Client

	// Checkouts are repositories that are checked out on this machine. Their
	// files are read from the folders.
	Checkouts []Checkout

	Policy  *policy.Policy // nil permits everything
	Rules   []ignore.Set
	Workers int
	Logger  *slog.Logger
}

// Checkout is a repository that is checked out.
type Checkout struct {
	Repo   string // its name on the servers
	Folder *Folder
}

// Servers searches the repositories of servers. Package repos presents them
// as a tree; Servers answers queries about it and the checkouts.
type Servers struct {
	tree      *repos.Tree
	rules     []ignore.Set
	workers   int
	log       *slog.Logger
	checkouts []*checkout // by name
}

// NewServers makes one tree of the repositories of servers. A path is the name of
// a repository and a path in it. Files are those of the indexed commits, or of
// the folder if the repository is checked out. No server is contacted yet.
func NewServers(opts *ServersOptions) (*Servers, error) {
	r := &Servers{rules: opts.Rules, workers: opts.Workers, log: opts.Logger}
	served := repos.Options{Client: opts.Client, Policy: opts.Policy}
	for _, c := range opts.Checkouts {
		served.Checkouts = append(served.Checkouts, c.Repo)
		r.checkouts = append(r.checkouts, &checkout{repo: c.Repo, folder: c.Folder, rest: stampRest})
	}
	served.Find = func(repo, rel string) (string, bool, error) { return r.checkout(repo).find(rel) }
	slices.SortFunc(r.checkouts, func(a, b *checkout) int { return strings.Compare(a.repo, b.repo) })
	var err error
	r.tree, err = repos.New(&served)
	return r, err
}

// ToChange finds the repository that a path to be changed lies in, and the path
// there.
func (r *Servers) ToChange(ctx context.Context, path string) (repo, rel string, err error) {
	return r.tree.ToChange(ctx, path)
}

// Close releases the connections. The checkouts stay open.
func (r *Servers) Close() { r.tree.Close() }

// checkout is the one of a repository; nil if there is none.
func (r *Servers) checkout(repo string) *checkout {
	i, ok := slices.BinarySearchFunc(r.checkouts, repo, func(c *checkout, repo string) int { return strings.Compare(c.repo, repo) })
	if !ok {
		return nil
	}
	return r.checkouts[i]
}

// IndexStatus tells what the servers have.
func (r *Servers) IndexStatus(ctx context.Context) (*search.IndexStatus, error) {
	l, err := r.tree.List(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &search.IndexStatus{State: "failed", Remote: true, Freshness: "remote", Error: err.Error()}, nil
	}
	st := &search.IndexStatus{State: "ready", Remote: true, Freshness: "remote"}
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
