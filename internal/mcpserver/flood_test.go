package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// If there are more sessions than allowed, each with an open stream, the oldest are ended
// with their streams, and a client with running calls is always served.
func TestSessionFlood(t *testing.T) {
	stress.SkipTiny(t)
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{}).(*handler)
	srv := httptest.NewServer(h)
	defer func() { srv.CloseClientConnections(); srv.Close() }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	do := func(method, session, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+Path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+testToken)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		return client.Do(req)
	}
	begin := func() string {
		resp, err := do("POST", "", call(1, "initialize", initParams))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		id := resp.Header.Get("Mcp-Session-Id")
		if resp.StatusCode != http.StatusOK || id == "" {
			t.Fatalf("initialize: %s", resp.Status)
		}
		return id
	}
	works := begin()
	use := func(n int) {
		resp, err := do("POST", works, call(n, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if m, err := answer(resp); err != nil || m.Error != nil {
			t.Fatalf("after %d sessions: %s %+v %v", n, resp.Status, m.Error, err)
		}
	}
	use(2)
	before := runtime.NumGoroutine()
	const flood = maxSessions + 300
	ended := make(chan struct{}, flood)
	opened, refused := 0, 0
	for i := range flood {
		id := begin()
		// A second stream of a session is refused.
		for range 2 {
			resp, err := do("GET", id, "")
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != http.StatusOK {
				resp.Body.Close()
				refused++
				continue
			}
			opened++
			go func() {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				ended <- struct{}{}
			}()
		}
		if i%100 == 99 {
			use(i)
		}
	}
	for range flood - maxSessions {
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the streams of sessions that are gone stay open")
		}
	}
	h.visits.mu.Lock()
	open := len(h.visits.open)
	h.visits.mu.Unlock()
	if opened != flood || refused != flood || open > maxSessions {
		t.Errorf("%d streams opened, %d refused, %d sessions are open", opened, refused, open)
	}
	if more := runtime.NumGoroutine() - before; more > 20*maxSessions {
		t.Errorf("%d goroutines more", more)
	}
	use(flood)
	t.Logf("%d sessions with a stream each: %d stay; the client at work was served", flood, open)
}

// trickle writes a text byte by byte, with a pause after each, and returns the number of
// bytes written.
func trickle(w io.Writer, text string, pause time.Duration) int {
	for i := range len(text) {
		if _, err := io.WriteString(w, text[i:i+1]); err != nil {
			return i
		}
		<-time.After(pause)
	}
	return len(text)
}

// A client that sends one byte at a time is served over stdio. Over HTTP it times out,
// both in the headers and in the body. Other clients are served meanwhile.
func TestTrickle(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		p := serve(t, newTestServer(t, nil))
		p.initialize()
		go trickle(p.w, call(1, "ping", "")+"\n", time.Millisecond)
		if m := p.read(); string(m.ID) != "1" || m.Error != nil {
			t.Errorf("got %s %+v", m.ID, m.Error)
		}
	})
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{}).(*handler)
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ReadHeaderTimeout = 200 * time.Millisecond
	h.bodyTime = 200 * time.Millisecond
	srv.Start()
	defer func() { srv.CloseClientConnections(); srv.Close() }()
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 100000\r\n", Path, testToken)
	for _, c := range []struct{ name, at, slowly string }{
		{"headers", "POST /mcp HTTP/1.1\r\n", "X-A: " + strings.Repeat("a", 100_000)},
		{"body", head + "\r\n", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("p", 100_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, c.at); err != nil {
				t.Fatal(err)
			}
			sent := make(chan int, 1)
			go func() { sent <- trickle(conn, c.slowly, time.Millisecond) }()
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatal("the connection stays open")
			}
			if err == nil && resp.StatusCode != http.StatusRequestTimeout {
				t.Errorf("answered %s", resp.Status)
			}
			conn.Close()
			if n := <-sent; n == len(c.slowly) {
				t.Error("all of it was taken")
			}
			other, err := raw(context.Background(), srv.URL+Path, call(1, "ping", ""), map[string]string{"Mcp-Protocol-Version": firstStateless, "Mcp-Method": "ping"})
			if err != nil {
				t.Fatal(err)
			}
			other.Body.Close()
		})
	}
}
