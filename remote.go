package quarry

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"quarry/internal/ignore"
	"quarry/internal/rootfs"
	"quarry/internal/zoekt"
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

// remote answers for the repositories of Zoekt servers.
type remote struct {
	client    *zoekt.Client
	policy    *rootfs.Policy
	rules     []ignore.Set
	workers   int
	log       *slog.Logger
	checkouts []*checkout // by name

	mu       sync.Mutex
	listing  *listing              // nil before the first
	facts    map[string]*repoFacts // by repository and commit
	inflight chan struct{}         // closed when the listing under way is there
}

// listing is what the servers had at one moment.
type listing struct {
	repos    []zoekt.Repo // in path order
	failures []zoekt.Failure
	when     time.Time
}

// listingAge is how long a listing is used: repositories come and go slowly,
// and each document says itself of which commit it is.
const listingAge = 10 * time.Second

// OpenRemote makes a workspace of the repositories of Zoekt servers. Its paths
// are those in a repository with the repository's name in front, its files
// those of the commits that are indexed, and what is checked out is as it is in
// its folder. No server is asked yet.
func OpenRemote(opts *RemoteOptions) (*Workspace, error) {
	client, err := zoekt.New(opts.Servers, &zoekt.Options{Timeout: opts.Timeout, TLS: opts.TLS, Header: opts.Header})
	if err != nil {
		return nil, err
	}
	r := &remote{client: client, workers: opts.Workers, log: opts.Logger, facts: map[string]*repoFacts{}}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if !opts.Trusted {
		if r.policy, err = rootfs.NewPolicy(rootfs.Rules{Allow: opts.Allow, Deny: opts.Deny}); err != nil {
			return nil, err
		}
	}
	if r.rules, err = outsideRules(&Options{GlobalIgnore: opts.GlobalIgnore}); err != nil {
		return nil, err
	}
	for _, c := range opts.Checkouts {
		if clean, err := cleanRemote(c.Repo); err != nil || clean != c.Repo || clean == "" || c.Workspace == nil {
			return nil, fmt.Errorf("checkout: %q is no name of a repository", c.Repo)
		}
		r.checkouts = append(r.checkouts, &checkout{repo: c.Repo, ws: c.Workspace, rest: stampRest})
	}
	slices.SortFunc(r.checkouts, func(a, b *checkout) int { return strings.Compare(a.repo, b.repo) })
	for i := 1; i < len(r.checkouts); i++ {
		if r.checkouts[i].repo == r.checkouts[i-1].repo {
			return nil, fmt.Errorf("checkout: %s is named twice", r.checkouts[i].repo)
		}
	}
	return &Workspace{elsewhere: r, workers: r.workers, log: r.log, rules: r.rules}, nil
}

// Close releases the connections and the checkouts.
func (r *remote) Close() error {
	r.client.Close()
	var errs []error
	for _, c := range r.checkouts {
		errs = append(errs, c.ws.Close())
	}
	return errors.Join(errs...)
}

// list is what the servers have, from a moment ago or asked for now. One that
// can't be asked is in the failures; that none can is an error.
func (r *remote) list(ctx context.Context) (*listing, error) {
	for {
		r.mu.Lock()
		if l := r.listing; l != nil && time.Since(l.when) < listingAge && len(l.failures) == 0 {
			r.mu.Unlock()
			return l, nil
		}
		wait := r.inflight
		if wait == nil {
			done := make(chan struct{})
			r.inflight = done
			r.mu.Unlock()
			l, err := r.askList(ctx)
			r.mu.Lock()
			if err == nil {
				r.listing = l
				r.forget(l)
			}
			r.inflight = nil
			r.mu.Unlock()
			close(done)
			return l, err
		}
		r.mu.Unlock()
		select {
		case <-wait: // and look again
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *remote) askList(ctx context.Context) (*listing, error) {
	l := &listing{when: time.Now()}
	l.repos, l.failures = r.client.List(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A name that can't be a path has no place among the others.
	l.repos = slices.DeleteFunc(l.repos, func(p zoekt.Repo) bool {
		clean, err := cleanRemote(p.Name)
		return err != nil || clean != p.Name || clean == ""
	})
	sort.Slice(l.repos, func(i, j int) bool { return comparePaths(l.repos[i].Name, l.repos[j].Name) < 0 })
	if len(l.failures) == r.client.Servers() {
		var errs []error
		for _, f := range l.failures {
			errs = append(errs, f)
		}
		return nil, noServers(errs)
	}
	return l, nil
}

// noServers is ErrServers with what each of them said.
func noServers(failures []error) error {
	err := ErrServers
	for _, f := range failures {
		err = fmt.Errorf("%w; %w", err, f)
	}
	return err
}

// relist has the next question ask the servers what they have.
func (r *remote) relist() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listing = nil
}

// comparePaths orders folders by what lies in them: a-b comes before a/.
func comparePaths(a, b string) int { return strings.Compare(a+"/", b+"/") }

// cleanRemote is a path a user wrote as ours are written: "" is the top.
func cleanRemote(given string) (string, error) {
	bad := func(k rootfs.Kind) (string, error) {
		return "", &rootfs.Error{Op: "resolve", Path: given, Kind: k}
	}
	if strings.IndexByte(given, 0) >= 0 {
		return bad(rootfs.InvalidArgument)
	}
	p := path.Clean(strings.TrimLeft(strings.ReplaceAll(given, `\`, "/"), "/"))
	switch {
	case p == ".":
		return "", nil
	case p == ".." || strings.HasPrefix(p, "../"):
		return bad(rootfs.OutsideRoot)
	}
	return p, nil
}

// place is what a path of the workspace names.
type place struct {
	path     string // cleaned, and in the case it is written in
	repo     *zoekt.Repo
	checkout *checkout
	rel      string // in the repository; "" is its top
	isFile   bool
	sum      uint64 // of a file on a server
}

// locate finds what a path names: the top or a folder of repositories (repo and
// checkout are nil), a repository, or something in one.
func (r *remote) locate(ctx context.Context, l *listing, given string) (*place, error) {
	p, err := cleanRemote(given)
	if err != nil {
		return nil, err
	}
	if p == "" {
		return &place{}, nil
	}
	c, rel := r.checkoutOf(p)
	repo, ok := l.repoOf(p)
	if c == nil && ok { // a checkout whose name is written in another case
		rel = strings.TrimPrefix(p[len(repo.Name):], "/")
		c, _ = r.checkoutOf(repo.Name)
	}
	if c != nil {
		at := &place{checkout: c, rel: rel}
		return at, r.locateLocal(at)
	}
	if !ok {
		return r.locateAbove(l, given, p)
	}
	at := &place{path: repo.Name, repo: repo, rel: rel}
	if rel == "" {
		return at, nil
	}
	return at, r.locateIn(ctx, at, given)
}

// repoOf finds the repository a path lies in: of several the one with the
// longest name, and one that differs in case only if none has the name.
func (l *listing) repoOf(p string) (*zoekt.Repo, bool) {
	var best, folded *zoekt.Repo
	for i := range l.repos {
		name := l.repos[i].Name
		if len(p) < len(name) || len(p) > len(name) && p[len(name)] != '/' {
			continue
		}
		if p[:len(name)] == name && (best == nil || len(name) > len(best.Name)) {
			best = &l.repos[i]
		} else if strings.EqualFold(p[:len(name)], name) && (folded == nil || len(name) > len(folded.Name)) {
			folded = &l.repos[i]
		}
	}
	best = cmp.Or(best, folded)
	return best, best != nil
}

// checkoutOf finds the checkout a path lies in, and the path in it.
func (r *remote) checkoutOf(p string) (c *checkout, rel string) {
	for _, k := range r.checkouts {
		if (p == k.repo || strings.HasPrefix(p, k.repo+"/")) && (c == nil || len(k.repo) > len(c.repo)) {
			c, rel = k, strings.TrimPrefix(p[len(k.repo):], "/")
		}
	}
	return c, rel
}

// locateAbove is for a folder that repositories lie in.
func (r *remote) locateAbove(l *listing, given, p string) (*place, error) {
	inside := func(name string) bool {
		return len(name) > len(p) && name[len(p)] == '/' && strings.EqualFold(name[:len(p)], p)
	}
	for _, c := range r.checkouts {
		if inside(c.repo) {
			return &place{path: c.repo[:len(p)]}, nil
		}
	}
	for i := range l.repos {
		if name := l.repos[i].Name; inside(name) {
			return &place{path: name[:len(p)]}, nil
		}
	}
	err := &rootfs.Error{Op: "resolve", Path: given, Kind: rootfs.NotFound}
	if len(l.failures) > 0 { // it may be there
		err.Kind, err.Err = rootfs.IO, l.failures[0]
	}
	return nil, err
}

// locateIn finds a path in a repository: the file, else the folder, else the
// one that differs in case only.
func (r *remote) locateIn(ctx context.Context, at *place, given string) error {
	found := func(rel string, d *zoekt.Doc) error {
		at.rel, at.isFile = rel, d.Path == rel
		at.path, at.sum = at.repo.Name+"/"+rel, d.Sum
		return r.mayNamed(at, given)
	}
	in := zoekt.And(zoekt.Head(), zoekt.In(at.repo.Name))
	ask := func(q zoekt.Query, most int) ([]zoekt.Doc, error) {
		docs, err := r.client.Some(ctx, at.repo.Server, zoekt.NamesOnly(zoekt.And(in, q)), most)
		if err != nil && ctx.Err() == nil {
			err = zoekt.Failure{Server: at.repo.Server, Name: r.client.Name(at.repo.Server), Err: err}
		}
		return docs, err
	}
	docs, err := ask(zoekt.Paths(at.rel), 4)
	for i := range docs {
		if docs[i].Path == at.rel {
			return found(at.rel, &docs[i])
		}
	}
	if err == nil {
		docs, err = ask(zoekt.PathMatch("^"+zoekt.QuoteRE(at.rel)+"/", false), 1)
	}
	if err != nil {
		return err
	}
	if len(docs) > 0 && strings.HasPrefix(docs[0].Path, at.rel+"/") {
		return found(at.rel, &docs[0])
	}
	const most = 1000 // below folders of one name
	if docs, err = ask(zoekt.PathMatch("^"+zoekt.QuoteRE(at.rel)+"(/|$)", true), most); err != nil {
		return err
	}
	var names []string
	var one *zoekt.Doc
	for i := range docs {
		p := docs[i].Path
		if len(p) < len(at.rel) || !strings.EqualFold(p[:len(at.rel)], at.rel) || slices.Contains(names, p[:len(at.rel)]) {
			continue
		}
		names, one = append(names, p[:len(at.rel)]), &docs[i]
	}
	switch len(names) {
	case 0:
		return &rootfs.Error{Op: "resolve", Path: given, Kind: rootfs.NotFound}
	case 1:
		return found(names[0], one)
	}
	slices.Sort(names)
	return &rootfs.Error{Op: "resolve", Path: given, Kind: rootfs.Ambiguous, Matches: names}
}

// mayNamed applies the policy to a path that was named.
func (r *remote) mayNamed(at *place, given string) error {
	p, err := pathOf(at.path)
	if err != nil {
		return err
	}
	if v := r.policy.Path(p, !at.isFile); v.Refused() {
		return &rootfs.Error{Op: "resolve", Path: given, Kind: rootfs.Protected, Name: p.Base(), Verdict: v}
	}
	return nil
}

// pathOf makes a Path of a path of the workspace, for the policy. It opens
// nothing.
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
