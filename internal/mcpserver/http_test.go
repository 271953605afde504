package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/stress"
)

const testToken = "0123456789abcdef0123456789abcdef"

func testHandler(t testing.TB, s *Server, opts HTTPOptions) http.Handler {
	t.Helper()
	opts.Token = testToken
	h, err := s.Handler(&opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func post(h http.Handler, body string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:7777"+Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+testToken)
	for k, v := range header {
		switch {
		case k == "Host":
			r.Host = v
		case v == "-":
			r.Header.Del(k)
		default:
			r.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestHTTPMatrix combines Hosts, Origins, bind addresses and tokens. A request passes if
// all are right, and otherwise gets the status for the first wrong one.
func TestHTTPMatrix(t *testing.T) {
	run := stress.Start(t, "HTTP: Host × Origin × bind × token", 1, 1)
	type value struct {
		value             string
		ok, okWhenRemote  bool
		okWithOwnersNames bool
	}
	hosts := []value{
		{"localhost", true, true, true},
		{"localhost:7777", true, true, true},
		{"LOCALHOST:80", true, true, true},
		{"127.0.0.1:7777", true, true, true},
		{"127.8.8.8", true, true, true},
		{"[::1]:7777", true, true, true},
		{"[::1]", true, true, true},
		{"[::ffff:127.0.0.1]", true, true, true},
		{"192.168.1.7:7777", false, true, false},
		{"[2001:db8::1]:7777", false, true, false},
		{"0.0.0.0:7777", false, true, false},
		{"quarry.example:7777", false, false, true},
		{"evil.example", false, false, false},
		{"localhost.evil.example", false, false, false},
		{"127.0.0.1.evil.example:7777", false, false, false},
		{"evil.example:localhost", false, false, false},
		{"localhost@evil.example", false, false, false},
		{"[::1%25eth0]:7777", false, false, false},
		{"", false, false, false},
	}
	origins := []value{
		{"-", true, true, true}, // without an Origin header, so not from a browser
		{"http://localhost:3000", true, true, true},
		{"https://127.0.0.1", true, true, true},
		{"http://[::1]:9", true, true, true},
		{"https://app.example", false, false, true},
		{"HTTPS://APP.EXAMPLE", false, false, true},
		{"null", false, false, false},
		{"http://evil.example", false, false, false},
		{"https://app.example.evil.example", false, false, false},
		{"http://localhost.evil.example", false, false, false},
		{"http://localhost@evil.example", false, false, false},
		{"file://", false, false, false},
		{"chrome-extension://abcdef", false, false, false},
		{"http://192.168.1.9", false, false, false},
		{"localhost", false, false, false},
		{"", false, false, false},
	}
	tokens := []value{
		{"Bearer " + testToken, true, true, true},
		{"bearer " + testToken, true, true, true},
		{"-", false, false, false},
		{"Bearer ", false, false, false},
		{"Bearer " + testToken[:31], false, false, false},
		{"Bearer " + testToken + "x", false, false, false},
		{"Basic " + testToken, false, false, false},
		{testToken, false, false, false},
	}
	s := newTestServer(t, nil)
	pick := func(v value, bind string) bool {
		switch bind {
		case "remote":
			return v.okWhenRemote
		case "owner's names":
			return v.okWithOwnersNames
		}
		return v.ok
	}
	passed := 0
	for bind, opts := range map[string]HTTPOptions{
		"loopback": {}, "remote": {Remote: true},
		"owner's names": {Hosts: []string{"Quarry.Example"}, Origins: []string{"https://app.example/"}},
	} {
		h := testHandler(t, s, opts)
		for _, host := range hosts {
			for _, origin := range origins {
				for _, token := range tokens {
					want := http.StatusOK
					switch {
					case !pick(host, bind) || !pick(origin, bind):
						want = http.StatusForbidden
					case !pick(token, bind):
						want = http.StatusUnauthorized
					}
					w := post(h, call(1, "server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`),
						map[string]string{"Host": host.value, "Origin": origin.value, "Authorization": token.value, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"})
					if w.Code != want {
						t.Errorf("%s: Host %q, Origin %q, %q: %d %s, want %d", bind, host.value, origin.value, token.value, w.Code, w.Body, want)
					}
					run.Tried(1)
					if w.Code == http.StatusOK {
						passed++
					}
				}
			}
		}
	}
	t.Logf("%d were let in", passed)
}

// Other invalid requests are refused.
func TestHTTPRefusals(t *testing.T) {
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{})
	hello := call(1, "initialize", initParams)
	for _, c := range []struct {
		name   string
		body   string
		header map[string]string
		want   int
	}{
		{"a form", hello, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"plain text, which needs no preflight", hello, map[string]string{"Content-Type": "text/plain"}, 415},
		{"no content type", hello, map[string]string{"Content-Type": "-"}, 415},
		{"with a charset", hello, map[string]string{"Content-Type": "application/json; charset=utf-8"}, 200},
		{"not accepting streams", hello, map[string]string{"Accept": "application/json"}, 400},
		{"an empty body", "", nil, 400},
		{"not JSON", "{", nil, 400},
		{"two values", hello + hello, nil, 400},
		{"too large", `"` + strings.Repeat("x", maxMessage) + `"`, nil, 413},
		{"nanoseconds as an id", call(1763274000123456789, "initialize", initParams), nil, 400},
		{"an id that a float rounds to 2^53", `[` + call(1, "ping", "") + `,` + call(9007199254740993, "ping", "") + `]`, nil, 400},
		{"an id with a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, 400},
		{"an id whose key is spelled otherwise", `{"jsonrpc":"2.0","\u0069d":9007199254740993,"method":"ping"}`, nil, 400},
		{"an id with half of a character", `{"jsonrpc":"2.0","id":"a\ud800","method":"ping"}`, nil, 400},
		{"a request whose id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400},
		{"one id twice in a batch", `[` + call(1, "ping", "") + `,` + call(1, "ping", "") + `]`, nil, 400},
		{"the largest id", call(9007199254740991, "initialize", initParams), nil, 200},
		{"an unknown old version", hello, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}, 400},
		{"an unknown session", call(1, "ping", ""), map[string]string{"Mcp-Session-Id": "nobody"}, 404},
		{"from another site, says the browser", hello, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
	} {
		if w := post(h, c.body, c.header); w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, w.Code, w.Body, c.want)
		}
	}
	w := post(h, call(1763274000123456789, "initialize", initParams), nil)
	if !strings.Contains(w.Body.String(), `"id":1763274000123456789`) || !strings.Contains(w.Body.String(), "-32600") {
		t.Errorf("an id that can't be given back: %s", w.Body)
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/other", strings.NewReader(hello))
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusNotFound {
		t.Errorf("another path: %d", w.Code)
	}
	for _, method := range []string{"GET", "DELETE", "PUT", "OPTIONS", "PATCH"} {
		r := httptest.NewRequest(method, "http://localhost"+Path, nil)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized || w.Header().Get("Www-Authenticate") == "" {
			t.Errorf("%s without a token: %d", method, w.Code)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s invites other sites", method)
		}
	}
	for _, token := range []string{"", "short"} {
		if _, err := newTestServer(t, nil).Handler(&HTTPOptions{Token: token}); err == nil {
			t.Errorf("the token %q was accepted", token)
		}
	}
}

// Requests of both protocol generations are recognized by header and by body.
func TestEras(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct {
		name, header, body string
		want               bool
	}{
		{"an old handshake", "", call(1, "initialize", initParams), false},
		{"an old header", "2025-11-25", call(1, "tools/list", ""), false},
		{"a new header", "2026-07-28", call(1, "tools/list", ""), true},
		{"a newer one", "2027-01-01", call(1, "tools/list", ""), true},
		{"a new body", "", call(1, "tools/list", "{"+meta+"}"), true},
		{"a new body under an old header", "2025-11-25", call(1, "tools/list", "{"+meta+"}"), true},
		{"discovery", "", call(1, "server/discover", ""), true},
		{"an old call about the key", "2025-11-25", call(1, "tools/call", `{"name":"echo","arguments":{"text":"io.modelcontextprotocol/protocolVersion"}}`), false},
		{"an old call about discovery", "2025-11-25", call(1, "tools/call", `{"name":"echo","arguments":{"method":"server/discover"}}`), false},
		{"an array", "", `["server/discover"]`, false},
	} {
		header := http.Header{}
		header.Set("Mcp-Protocol-Version", c.header)
		if got := newEra(header, []byte(c.body)); got != c.want {
			t.Errorf("%s: newEra = %v, want %v", c.name, got, c.want)
		}
	}
}

// listen starts a server on its own port.
func listen(t testing.TB, s *Server, address string) (url string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("no %s here: %v", address, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln, &HTTPOptions{Token: testToken}) }()
	var once sync.Once
	var last error
	stop = func() error {
		once.Do(func() { cancel(); last = <-ended })
		return last
	}
	t.Cleanup(func() { _ = stop() })
	return "http://" + ln.Addr().String() + Path, stop
}

type bearer struct{ next http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+testToken)
	return b.next.RoundTrip(r)
}

// connect connects with the SDK's own client.
func connect(t testing.TB, url, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer{&http.Transport{}}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestSDKClientOverHTTP(t *testing.T) {
	for _, c := range []struct{ address, version string }{
		{"127.0.0.1:0", "2026-07-28"}, {"[::1]:0", "2026-07-28"},
		{"127.0.0.1:0", "2025-11-25"}, {"[::1]:0", "2025-06-18"}, {"127.0.0.1:0", "2025-03-26"},
	} {
		t.Run(c.version+" "+c.address, func(t *testing.T) {
			url, stop := listen(t, newTestServer(t, nil), c.address)
			notes := make(chan float64, 100)
			version := c.version
			c := connect(t, url, version, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				notes <- r.Params.Progress
			}})
			if got := c.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("negotiated %s, want %s", got, version)
			}
			res, err := c.CallTool(context.Background(), &mcp.CallToolParams{
				Name: "count", Arguments: map[string]any{"to": 2}, Meta: mcp.Meta{"progressToken": "p"},
			})
			if err != nil || res.IsError {
				t.Fatal(res, err)
			}
			if p := <-notes; p != 1 {
				t.Errorf("first progress %v, want 1", p)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := stop(); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		})
	}
}

// raw sends a request on a real connection and returns the response.
func raw(ctx context.Context, url, body string, header map[string]string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+testToken)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	return http.DefaultClient.Do(r)
}

// answer returns the only answer in a response, which may be a stream.
func answer(resp *http.Response) (m message, err error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return m, err
	}
	data := text
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			data = []byte(rest)
		}
	}
	return m, json.Unmarshal(data, &m)
}

// Both protocols cancel a call within 50 ms: the old one by a message, the new one by
// closing the connection.
func TestHTTPCancel(t *testing.T) {
	ended := make(chan time.Time, 1)
	reg := stock(t)
	wait := reg.Lookup("wait").Run
	started := make(chan struct{}, 1)
	reg.Lookup("wait").Run = wrap(wait, started, ended)
	s, err := New(reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	url, _ := listen(t, s, "127.0.0.1:0")

	t.Run("2025-11-25", func(t *testing.T) {
		resp, err := raw(context.Background(), url, call(1, "initialize", initParams), nil)
		if err != nil {
			t.Fatal(err)
		}
		header := map[string]string{"Mcp-Session-Id": resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
		if m, err := answer(resp); err != nil || m.Error != nil || header["Mcp-Session-Id"] == "" {
			t.Fatal(m, err)
		}
		within50(t, started, ended, func(i int) (cancel func()) {
			go func() {
				if resp, err := raw(context.Background(), url, call(2+i, "tools/call", `{"name":"wait"}`), header); err == nil {
					resp.Body.Close()
				}
			}()
			return func() {
				resp, err := raw(context.Background(), url, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 2+i), header)
				if err != nil || resp.StatusCode != http.StatusAccepted {
					t.Error(resp, err)
					return
				}
				resp.Body.Close()
			}
		})
	})
	t.Run("the session is deleted", func(t *testing.T) {
		within50(t, started, ended, func(i int) (cancel func()) {
			resp, err := raw(context.Background(), url, call(1, "initialize", initParams), nil)
			if err != nil {
				t.Fatal(err)
			}
			header := map[string]string{"Mcp-Session-Id": resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
			resp.Body.Close()
			go func() {
				if resp, err := raw(context.Background(), url, call(2, "tools/call", `{"name":"wait"}`), header); err == nil {
					resp.Body.Close()
				}
			}()
			return func() {
				req, err := http.NewRequest(http.MethodDelete, url, nil)
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range header {
					req.Header.Set(k, v)
				}
				resp, err := (&http.Client{Transport: bearer{http.DefaultTransport}, Timeout: time.Minute}).Do(req)
				if err != nil || resp.StatusCode != http.StatusNoContent {
					t.Error(resp, err)
					return
				}
				resp.Body.Close()
			}
		})
	})
	t.Run("2026-07-28", func(t *testing.T) {
		body := call(1, "tools/call", `{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`)
		within50(t, started, ended, func(int) (cancel func()) {
			ctx, hangUp := context.WithCancel(context.Background())
			go func() {
				resp, err := raw(ctx, url, body, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "wait"})
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			return hangUp
		})
	})
}

// within50 starts and cancels calls until one ends within 50 ms, because the machine may
// be busy.
func within50(t *testing.T, started <-chan struct{}, ended <-chan time.Time, start func(i int) (cancel func())) {
	t.Helper()
	best := time.Hour
	for i := 0; i < 20 && best > 50*time.Millisecond; i++ {
		cancel := start(i)
		<-started
		sent := time.Now()
		cancel()
		select {
		case at := <-ended:
			best = min(best, at.Sub(sent))
		case <-time.After(time.Minute):
			t.Fatal("the call was not cancelled")
		}
	}
	if best > 50*time.Millisecond {
		t.Errorf("the call ended %v after its cancellation at best", best)
	}
}

// 100 clients read and write concurrently, without errors, and memory does not grow.
func TestHundredClients(t *testing.T) {
	stress.SkipShort(t)
	clients, rounds := stress.Size(40, 100), 4 // 100 × 4 × 2 calls in make stress
	url, stop := listen(t, newTestServer(t, nil), "127.0.0.1:0")
	sessions := make([]*mcp.ClientSession, clients)
	for i := range sessions {
		sessions[i] = connect(t, url, []string{"2025-11-25", "2026-07-28"}[i%2], nil)
	}
	run := func() {
		var wait sync.WaitGroup
		for i, c := range sessions {
			wait.Go(func() {
				for j := range rounds {
					if err := mixedCall(c, i, j); err != nil {
						t.Errorf("client %d, call %d: %v", i, j, err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
	run()
	before, routines := heapInUse(), runtime.NumGoroutine()
	began := time.Now()
	run()
	took := time.Since(began)
	after := heapInUse()
	t.Logf("%d clients × %d calls in %v (%.2f ms a call); heap %d KB, then %d KB; goroutines %d, then %d", clients, rounds, took,
		took.Seconds()*1000/float64(clients*rounds), before>>10, after>>10, routines, runtime.NumGoroutine())
	if after > before+before/4+4<<20 {
		t.Errorf("the heap grew from %d KB to %d KB", before>>10, after>>10)
	}
	for _, c := range sessions {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func mixedCall(c *mcp.ClientSession, i, j int) error {
	name, args, want := "search_files", map[string]any{}, "  1 | a line"
	switch j % 4 {
	case 1:
		want = fmt.Sprintf("value %d of %d", j, i)
		name, args = "put", map[string]any{"key": fmt.Sprint(i), "value": want}
	case 2:
		want = fmt.Sprintf("text %d %d", i, j)
		name, args = "echo", map[string]any{"text": want}
	case 3:
		list, err := c.ListTools(context.Background(), nil)
		if err == nil && len(list.Tools) != 6 {
			err = fmt.Errorf("%d tools", len(list.Tools))
		}
		return err
	}
	res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err
	}
	if text := res.Content[0].(*mcp.TextContent).Text; res.IsError || !strings.HasPrefix(text, want) {
		return fmt.Errorf("%s answers %.60q, want %q", name, text, want)
	}
	return nil
}

// If there are too many sessions, the oldest is ended, and the new one works.
func TestSessionLimit(t *testing.T) {
	stress.SkipShort(t)
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{})
	var first string
	for i := range maxSessions + 5 {
		w := post(h, call(1, "initialize", initParams), nil)
		id := w.Header().Get("Mcp-Session-Id")
		if w.Code != 200 || id == "" {
			t.Fatalf("session %d: %d %s", i, w.Code, w.Body)
		}
		if i == 0 {
			first = id
		}
	}
	if !stress.Becomes(func() bool { // sessions are closed in the background
		return post(h, call(2, "ping", ""), map[string]string{"Mcp-Session-Id": first}).Code == http.StatusNotFound
	}) {
		t.Error("the oldest session is still there")
	}
}

// A client's open stream does not delay the shutdown.
func TestHTTPShutdown(t *testing.T) {
	s := newTestServer(t, nil)
	s.grace = time.Minute // long enough to be noticed if the shutdown waits
	url, stop := listen(t, s, "127.0.0.1:0")
	resp, err := raw(context.Background(), url, call(1, "initialize", initParams), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := resp.Header.Get("Mcp-Session-Id")
	resp.Body.Close()
	r, _ := http.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Mcp-Session-Id", id)
	stream, err := http.DefaultClient.Do(r)
	if err != nil || stream.StatusCode != 200 {
		t.Fatal(stream, err)
	}
	if _, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > s.grace/2 {
		t.Errorf("the shutdown took %v", took)
	}
	stream.Body.Close()
}

// After 3,000 mostly invalid requests over HTTP a valid one is answered.
func TestFuzzedHTTP(t *testing.T) {
	stress.SkipShort(t)
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{})
	rnd := rand.New(rand.NewPCG(5, 6))
	session := post(h, call(1, "initialize", initParams), nil).Header().Get("Mcp-Session-Id")
	versions := []string{"", "2025-03-26", "2025-11-25", "2026-07-28", "2099-01-01", "x"}
	statuses := map[int]int{}
	for range 3000 {
		header := map[string]string{"Mcp-Protocol-Version": versions[rnd.IntN(len(versions))]}
		if rnd.IntN(2) == 0 {
			header["Mcp-Session-Id"] = session
		}
		if rnd.IntN(4) == 0 {
			header["Mcp-Method"], header["Mcp-Name"] = "tools/call", "echo"
		}
		w := post(h, string(fuzzLine(rnd)), header)
		statuses[w.Code]++
		if w.Code >= 500 {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
	t.Logf("statuses %v", statuses)
	w := post(h, call(7777, "tools/call", `{"name":"echo","arguments":{"text":"still here"}}`), map[string]string{"Mcp-Session-Id": session})
	if w.Code != 200 || !strings.Contains(w.Body.String(), "still here") {
		t.Errorf("after them: %d %s", w.Code, w.Body)
	}
}
