package servers

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"

	"quarry/internal/cli/env"
	"quarry/internal/rootfs/outside"
)

// A file of headers contains credentials. So errors show nothing of its text, the
// file is refused if others can read it, and it is never sent over a network
// without encryption.

// maxHeaders bounds the file; servers take about 16 KB.
const maxHeaders = 16 << 10

// readHeaders reads a file of headers that are meant for servers.
func readHeaders(name, servers string) (http.Header, error) {
	if open, found := unprotected(servers); found {
		return nil, fmt.Errorf("what is in it would go to %s without encryption: https://HOST[:PORT] is a server with TLS", open)
	}
	data, info, err := outside.Read(name, maxHeaders)
	if err != nil && info != nil && info.Mode().IsRegular() && info.Size() > maxHeaders {
		return nil, fmt.Errorf("%s: more than %d KB", name, maxHeaders>>10)
	}
	if err != nil {
		return nil, env.PathError(name, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others can read %s: chmod 600 it", name)
	}
	header, err := parseHeaders(data)
	if err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	return header, nil
}

// ownHeaders are those of the protocol.
var ownHeaders = []string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Upgrade", "Host", "Te", "Trailer"}

// parseHeaders reads lines of the form Name: value; # begins a comment. Errors
// begin with the line.
func parseHeaders(data []byte) (http.Header, error) {
	if len(data) > maxHeaders {
		return nil, fmt.Errorf(": more than %d KB", maxHeaders>>10)
	}
	header := http.Header{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\xef\xbb\xbf")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		name = http.CanonicalHeaderKey(name)
		switch {
		case !found || name == "" || strings.ContainsFunc(name, notInHeaderName):
			return nil, fmt.Errorf(":%d: a line is Name: value", n)
		case value == "":
			return nil, fmt.Errorf(":%d: the header has no value", n)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, fmt.Errorf(":%d: the value has control characters", n)
		case slices.Contains(ownHeaders, name) || strings.HasPrefix(name, "Grpc-"):
			return nil, fmt.Errorf(":%d: this header is for the protocol to set", n)
		}
		header.Add(name, value)
	}
	if len(header) == 0 {
		return nil, errors.New(": there is no header in it")
	}
	return header, nil
}

func notInHeaderName(r rune) bool {
	return r >= 0x80 || !strings.ContainsRune("!#$%&'*+-.^_`|~", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// unprotected finds a server that is reached over a network without TLS.
func unprotected(servers string) (string, bool) {
	for _, address := range strings.FieldsFunc(servers, func(r rune) bool { return r == ',' || r == '+' }) {
		address = strings.TrimSpace(address)
		if strings.HasPrefix(strings.ToLower(address), "https://") {
			continue
		}
		_, plain, found := strings.Cut(address, "://")
		if !found {
			plain = address
		}
		host, _, err := net.SplitHostPort(plain)
		if err != nil {
			host = plain
		}
		if !IsLoopback(host) {
			return address, true
		}
	}
	return "", false
}

// IsLoopback reports whether a host can only be this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
