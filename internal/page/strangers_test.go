package page

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"quarry/internal/strangers"
)

// Connections without the token can't exhaust the server. Of those that send nothing, and those
// that are idle after requesting a fixed file, only the newest are kept. A connection that has sent
// the token stays open.
func TestStrangersDontLockOutOwner(t *testing.T) {
	s := serve(t, map[string]string{"a.txt": "hello\n"}, nil)
	ask := func(c net.Conn, r *bufio.Reader, path, token string) int {
		t.Helper()
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: "+s.listen.Addr().String()+"\r\n"+tokenHeader+": "+token+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode
	}
	dial := func() (net.Conn, *bufio.Reader) {
		t.Helper()
		c, err := net.Dial("tcp", s.listen.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c, bufio.NewReader(c)
	}
	owner, ownerReads := dial()
	if code := ask(owner, ownerReads, "/api/about", s.token); code != http.StatusOK {
		t.Fatalf("with the token: %d", code)
	}
	waiting, waitingReads := dial()
	if code := ask(waiting, waitingReads, "/", ""); code != http.StatusOK {
		t.Fatalf("a fixed file: %d", code)
	}
	silent, silentReads := dial()
	for range strangers.Max {
		dial()
	}
	for name, r := range map[string]*bufio.Reader{"waiting": waitingReads, "silent": silentReads} {
		for _, c := range []net.Conn{waiting, silent} {
			if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the oldest connection without a token, %s, stays open: %v", name, err)
		}
	}
	if code := ask(owner, ownerReads, "/api/about", s.token); code != http.StatusOK {
		t.Errorf("the connection of the token's owner: %d", code)
	}
	if res, _ := s.request(t, "GET", "/api/about", ""); res.StatusCode != http.StatusOK {
		t.Errorf("a new connection of the token's owner: %d", res.StatusCode)
	}
}
