package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// gate decides which requests are served. A web page can make the user's browser send
// requests to this machine, under the machine's own name, or under a DNS name that the
// page's owner points to this machine. So the Host and Origin headers are both checked
// before the token.
type gate struct {
	token   [sha256.Size]byte
	hosts   []string // lower case, without port
	origins []string // lower case
	remote  bool
}

func newGate(opts *HTTPOptions) *gate {
	g := &gate{token: sha256.Sum256([]byte(opts.Token)), remote: opts.Remote}
	for _, h := range opts.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(hostName(h)))
	}
	for _, o := range opts.Origins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	return g
}

// refusal returns the status and the reason for refusing a request, or 0.
func (g *gate) refusal(r *http.Request) (status int, why string) {
	switch {
	case !g.allowedHost(r.Host):
		return http.StatusForbidden, "this server does not accept that Host name"
	case !g.allowedOrigin(r):
		return http.StatusForbidden, "requests from this Origin are not allowed"
	case r.URL.Path != Path:
		return http.StatusNotFound, "the server is at " + Path
	case !g.allowedToken(r.Header.Values("Authorization")):
		return http.StatusUnauthorized, "a bearer token is needed"
	}
	return 0, ""
}

func (g *gate) allowedHost(host string) bool {
	name := strings.ToLower(hostName(host))
	if slices.Contains(g.hosts, name) || isLoopback(name) {
		return true
	}
	// A DNS name may be changed to point here; an IP address can't.
	a, err := netip.ParseAddr(name)
	return g.remote && err == nil && a.Zone() == ""
}

// allowedOrigin accepts requests from programs other than browsers, from pages of this
// machine, and from origins in the owner's list.
func (g *gate) allowedOrigin(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && len(g.origins) == 0 {
		return false
	}
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	origin := strings.ToLower(values[0])
	if slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false // includes "null", for a sandboxed frame or a local file
	}
	return isLoopback(u.Hostname()) || u.Host == strings.ToLower(r.Host)
}

// allowedToken compares hashes in constant time, so that timing reveals neither the token
// nor its length.
func (g *gate) allowedToken(headers []string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, token, found := strings.Cut(headers[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// hostName returns a Host header without port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}

// isLoopback reports whether name refers to this machine, whatever DNS servers answer.
func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}
