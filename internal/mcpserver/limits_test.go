package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// unfinished opens a connection that announces a body and sends only a part of it.
func unfinished(t *testing.T, address, session string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if session != "" {
		session = "Mcp-Session-Id: " + session + "\r\n"
	}
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\n%sContent-Length: 1000\r\n\r\n{\"json", Path, testToken, session)
	return c
}

// Bodies that never arrive block nothing. Even if there are more of them than calls are
// allowed, calls are answered and the oldest bodies are ended for new ones. A client that
// sends no body gets 408.
func TestUnfinishedBodiesBlockNothing(t *testing.T) {
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{}).(*handler)
	h.stalled = time.Hour
	srv := httptest.NewServer(h)
	defer func() { srv.CloseClientConnections(); srv.Close() }()
	address := srv.Listener.Addr().String()
	first := unfinished(t, address, "")
	for range maxCalls + 88 {
		unfinished(t, address, "")
	}
	for i := range 20 {
		resp, err := raw(context.Background(), srv.URL+Path, call(i, "ping", ""), map[string]string{"Mcp-Protocol-Version": firstStateless, "Mcp-Method": "ping"})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			t.Fatalf("call %d: %s", i, resp.Status)
		}
	}
	first.SetReadDeadline(time.Now().Add(time.Minute))
	resp, err := http.ReadResponse(bufio.NewReader(first), nil)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("the oldest of too many bodies: %v %v", resp, err)
	}
}

func TestStalledBodyEnds(t *testing.T) {
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{}).(*handler)
	h.stalled = 10 * time.Millisecond
	srv := httptest.NewServer(h)
	defer func() { srv.CloseClientConnections(); srv.Close() }()
	c := unfinished(t, srv.Listener.Addr().String(), "")
	c.SetReadDeadline(time.Now().Add(time.Minute))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("a body that sends nothing: %v %v", resp, err)
	}
	if h.memory.left != bodyMemory || len(h.memory.held) != 0 {
		t.Errorf("%d bytes are still held by %v", bodyMemory-h.memory.left, h.memory.held)
	}
}

// All bodies together use a limited amount of memory, and those of one client at most
// half of it. Another client is served meanwhile.
func TestBodiesShareMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{}).(*handler)
	h.memoryWait = 50 * time.Millisecond
	const size = 12 << 20
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},"pad":{"x":"` + strings.Repeat("x", size) + `"}}}`
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	refused := make(chan int, 8)
	for range 8 {
		wait.Go(func() {
			r := request(body).WithContext(ctx)
			r.RemoteAddr = "192.0.2.1:1000"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			refused <- w.Code
		})
	}
	for range 6 { // two fit into a client's half
		if code := <-refused; code != http.StatusServiceUnavailable {
			t.Errorf("status %d, want 503", code)
		}
	}
	if used := bodyMemory - h.memoryLeft(); used > bodyMemory/2 || used < size {
		t.Errorf("%d MB are held, want two bodies", used>>20)
	}
	r := request(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	r.RemoteAddr = "192.0.2.2:1000"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code == http.StatusServiceUnavailable {
		t.Errorf("another client: %d %s", w.Code, w.Body)
	}
	cancel()
	wait.Wait()
	if left := h.memoryLeft(); left != bodyMemory {
		t.Errorf("%d bytes are still held", bodyMemory-left)
	}
}

func (h *handler) memoryLeft() int {
	h.memory.mu.Lock()
	defer h.memory.mu.Unlock()
	return h.memory.left
}

func request(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:7777"+Path, strings.NewReader(body))
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + testToken,
		"Mcp-Protocol-Version": firstStateless, "Mcp-Method": "tools/call", "Mcp-Name": "wait",
	} {
		r.Header.Set(k, v)
	}
	return r
}

// If there are too many sessions, those without calls are ended before the one in use.
// Clients of ended sessions are told the reason.
func TestCrowdSparesSessionsInUse(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{})
	open := func() string { return post(h, call(1, "initialize", initParams), nil).Header().Get("Mcp-Session-Id") }
	used, idle := open(), open()
	ping := func(id string) *httptest.ResponseRecorder {
		return post(h, call(2, "ping", ""), map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"})
	}
	if w := ping(used); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for range maxSessions + 5 {
		open()
	}
	if w := ping(used); w.Code != http.StatusOK {
		t.Errorf("the session in use: %d %s", w.Code, w.Body)
	}
	if w := ping(idle); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "initialize again") {
		t.Errorf("the session pushed out: %d %s", w.Code, w.Body)
	}
}
