package mcpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/stress"
)

// However other clients send their bodies, a well-behaved client is served, and no memory
// is held once all are gone.
func TestHostileBodies(t *testing.T) {
	run := stress.Start(t, "HTTP: hostile bodies", 40, 2_000)
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		h := testHandler(t, newTestServer(t, nil), HTTPOptions{}).(*handler)
		h.stalled = time.Duration(5+rng.IntN(20)) * time.Millisecond
		srv := httptest.NewServer(h)
		address := srv.Listener.Addr().String()
		var open []net.Conn
		for range 1 + rng.IntN(60) {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, c)
			size := []int{10, 1000, 1 << 20, 15 << 20, 1 << 40}[rng.IntN(5)]
			length := fmt.Sprintf("Content-Length: %d", size)
			if rng.IntN(5) == 0 {
				length = "Transfer-Encoding: chunked"
			}
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", Path, testToken, length)
			switch rng.IntN(4) {
			case 0: // send nothing
			case 1:
				fmt.Fprint(c, `{"json`)
			case 2:
				fmt.Fprint(c, strings.Repeat("x", rng.IntN(64<<10)))
			case 3:
				c.Close()
			}
		}
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				r := request(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
				r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1000", 1+i)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code == http.StatusServiceUnavailable || w.Code == http.StatusRequestTimeout {
					run.Violation(seed, "a client that behaves got %d: %s", w.Code, w.Body)
				}
			})
		}
		wait.Wait()
		for _, c := range open {
			c.Close()
		}
		srv.CloseClientConnections()
		srv.Close() // waits for the handlers
		if left := h.memoryLeft(); left != bodyMemory {
			run.Violation(seed, "%d bytes are still held", bodyMemory-left)
		}
	}
}
