package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"quarry/internal/strangers"
)

// serving starts a server over HTTP and returns its listener and its token.
func serving(t *testing.T) (ln net.Listener, token string) {
	t.Helper()
	token = "a-token-of-enough-length"
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := newTestServer(t, nil)
	go func() { ended <- s.Serve(ctx, ln, &HTTPOptions{Token: token}) }()
	t.Cleanup(func() { stop(); <-ended })
	return ln, token
}

// Connections without a token don't block those with one. They are closed after their
// response, and of those that send nothing only the newest are kept.
func TestUnauthenticatedDontBlockOthers(t *testing.T) {
	ln, token := serving(t)
	var silent []net.Conn
	for range 3 * strangers.Max {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	// A request without a token is refused, and its connection closed.
	for range 20 {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Fatalf("without a token: %v, %v", resp, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Fatalf("the connection stays open: %v", err)
		}
	}
	// A client with the token is served, and keeps its connection.
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	for range 3 {
		req, err := http.NewRequest("POST", "http://"+ln.Addr().String()+Path, strings.NewReader(call(1, "initialize", initParams)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := client.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("with the token: %v, %v", resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	// The oldest silent connections were closed.
	if err := silent[0].SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := silent[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest of %d silent connections stays open: %v", len(silent), err)
	}
}
