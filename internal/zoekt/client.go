// Package zoekt asks Zoekt servers which documents satisfy a condition, and for
// their content.
//
// It speaks the published protocol, zoekt.webserver.v1, over the standard
// library's HTTP/2. A query is a tree and never a text, so nothing a user types
// can change what it is about. An answer is all of it or an error: what a server
// left out because it was loading, ran out of time or cut a list short is an
// error too. A Client is safe for concurrent use.
package zoekt

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"quarry/internal/crew"
	"quarry/internal/remote"
)

// Options of New; nil and the zero value are good.
type Options struct {
	// Timeout is how long a server has for one answer; 0 is 10 s.
	Timeout time.Duration
	// Hedge is how long the first replica has before the next is asked as
	// well; 0 is 300 ms.
	Hedge time.Duration
	// TLS is for servers given as https://; nil trusts the system's roots.
	TLS *tls.Config
	// Header is sent along, for a proxy that wants to know who asks.
	Header http.Header
}

const (
	defaultTimeout = 10 * time.Second
	defaultHedge   = 300 * time.Millisecond
	// A server that let a call run out of time gets briefPatience for those of
	// the next wary time: one that is gone shouldn't cost ten seconds a search.
	wary          = 30 * time.Second
	briefPatience = time.Second
)

// Client asks a set of servers, each of which has repositories of its own.
type Client struct {
	servers []*server
	opts    Options
	http    *http.Client
	close   func()
}

// server is one part of the whole, served by replicas that have the same.
type server struct {
	name     string
	replicas []string // base URLs

	mu     sync.Mutex
	silent time.Time // when it last ran out of time
}

// New makes a client of a list of servers, "HOST:PORT,HOST:PORT": the whole is
// what all of them have. Replicas of one server are joined by a plus,
// "HOST:PORT+HOST:PORT". https://HOST[:PORT] is spoken to with TLS.
func New(servers string, opts *Options) (*Client, error) {
	c := &Client{}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.Timeout = cmp.Or(c.opts.Timeout, defaultTimeout)
	c.opts.Hedge = cmp.Or(c.opts.Hedge, defaultHedge)
	seen := map[string]bool{}
	for part := range strings.SplitSeq(servers, ",") {
		s := &server{name: strings.TrimSpace(part)}
		for address := range strings.SplitSeq(part, "+") {
			base, err := baseURL(strings.TrimSpace(address))
			if err != nil {
				return nil, err
			}
			if seen[base] {
				return nil, fmt.Errorf("server %s is named twice", address)
			}
			seen[base] = true
			s.replicas = append(s.replicas, base)
		}
		c.servers = append(c.servers, s)
	}
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		Protocols:       &protocols,
		DialContext:     (&net.Dialer{Timeout: c.opts.Timeout}).DialContext,
		TLSClientConfig: c.opts.TLS,
		IdleConnTimeout: 90 * time.Second,
		// A connection whose other end is gone is found out and left.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}
	c.http = &http.Client{Transport: withHeader{transport, c.opts.Header}, CheckRedirect: noRedirect}
	c.close = transport.CloseIdleConnections
	return c, nil
}

func noRedirect(*http.Request, []*http.Request) error {
	return errors.New("the server sent a redirect")
}

type withHeader struct {
	http.RoundTripper
	header http.Header
}

func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	for k, v := range w.header {
		r.Header[k] = v
	}
	return w.RoundTripper.RoundTrip(r)
}

// baseURL reads an address.
func baseURL(address string) (string, error) {
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("server %q: %s; an address is HOST:PORT, or https://HOST[:PORT]", address, why)
	}
	full := address
	if !strings.Contains(address, "://") {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return bad("no port")
		}
		full = "http://" + address
	}
	u, err := url.Parse(full)
	switch {
	case err != nil:
		return bad("it can't be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("the protocol is http or https")
	case u.Hostname() == "":
		return bad("no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return bad("there is more than host and port")
	}
	return u.Scheme + "://" + u.Host, nil
}

// Close lets connections go.
func (c *Client) Close() { c.close() }

// Servers is how many there are.
func (c *Client) Servers() int { return len(c.servers) }

// Name is how a server was given.
func (c *Client) Name(server int) string { return c.servers[server].name }

// List asks all servers which repositories they have, in the order of their
// names. What one server has two have only while it moves; then the newer index
// counts.
func (c *Client) List(ctx context.Context) ([]remote.Repo, []remote.Failure) {
	lists := make([][]remote.Repo, len(c.servers))
	errs := make([]error, len(c.servers))
	var all crew.Group
	for i := range c.servers {
		all.Go(func() { lists[i], errs[i] = c.list(ctx, i) })
	}
	all.Wait()
	var repos []remote.Repo
	var failures []remote.Failure
	for i := range c.servers {
		if errs[i] != nil {
			failures = append(failures, remote.Failure{Server: i, Name: c.servers[i].name, Err: errs[i]})
		}
		repos = append(repos, lists[i]...)
	}
	sort.SliceStable(repos, func(i, j int) bool {
		a, b := &repos[i], &repos[j]
		return cmp.Or(strings.Compare(a.Name, b.Name), b.Indexed.Compare(a.Indexed)) < 0
	})
	return slices.CompactFunc(repos, func(a, b remote.Repo) bool { return a.Name == b.Name }), failures
}

func (c *Client) list(ctx context.Context, server int) ([]remote.Repo, error) {
	return ask(ctx, c, server, func(ctx context.Context, base string) ([]remote.Repo, error) {
		var repos []remote.Repo
		var crashes uint64
		err := call(ctx, c.http, base, "List", encodeList(), func(m []byte) (err error) {
			repos, crashes, err = readList(m)
			return err
		})
		if err == nil && crashes > 0 {
			err = errPartly
		}
		for i := range repos {
			repos[i].Server = server
		}
		return repos, err
	})
}

// errPartly is a server that has not looked at everything it has.
var errPartly = errors.New("the server answered for a part of its index only: it is loading, or has damaged shards")

// errOutOfTime is one that stopped half-way.
var errOutOfTime = errors.New("the server ran out of time")

// Search asks one server for the documents of a query, with their content or
// without. They come in no order.
func (c *Client) Search(ctx context.Context, server int, q remote.Query, content bool) ([]remote.Doc, error) {
	return c.search(ctx, server, q, content, 0)
}

// Some is Search for a few documents that need not be all.
func (c *Client) Some(ctx context.Context, server int, q remote.Query, most int) ([]remote.Doc, error) {
	return c.search(ctx, server, q, false, most)
}

func (c *Client) search(ctx context.Context, server int, q remote.Query, content bool, most int) ([]remote.Doc, error) {
	if q.Op == remote.OpNone {
		return nil, nil
	}
	return ask(ctx, c, server, func(ctx context.Context, base string) ([]remote.Doc, error) {
		wall := c.opts.Timeout
		if deadline, ok := ctx.Deadline(); ok {
			wall = time.Until(deadline)
		}
		var r found
		err := call(ctx, c.http, base, "StreamSearch", encodeSearch(q, content, most, wall), r.addChunk)
		switch {
		case err != nil:
			return nil, err
		case r.crashes > 0:
			return r.docs, errPartly
		case r.skipped > 0 && most == 0:
			return r.docs, errOutOfTime
		}
		return r.docs, nil
	})
}
