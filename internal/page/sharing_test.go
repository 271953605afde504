package page

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quarry/internal/stress"
)

// TestBrowserManyTabs opens more tabs than the six connections that a browser opens to one server.
// All tabs share one connection for events, so all of them work and are updated. They still are
// after the tab with that connection is closed.
func TestBrowserManyTabs(t *testing.T) {
	stress.SkipQuick(t)
	s := serve(t, project, nil)
	first := s.open(t, "/changes", 1600, 1000, "light")
	first.has("#live", "Live")
	var others []*tab
	for range 5 {
		others = append(others, first.another(t, "/changes#token="+s.token))
	}
	live := func(entries int, list ...*tab) {
		t.Helper()
		for _, b := range list {
			b.has("#live", "Live")
			b.until(fmt.Sprintf(`document.querySelectorAll(".entry").length === %d`, entries))
		}
	}
	change := func(name string) {
		t.Helper()
		if _, err := s.ws.Write(t.Context(), name, []byte("x\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	live(0, others...)
	if n := s.pulse.listeners(); n != 1 {
		t.Errorf("%d streams for 6 tabs", n)
	}
	change("one.txt")
	live(1, append(others, first)...)
	first.do(chromedp.Navigate("about:blank")) // this tab had the connection for events
	change("two.txt")
	live(2, others...)
	last := others[4]
	eval[chromedp.Void](last, `document.querySelector(".tabs a").click()`)
	last.until(`location.pathname === "/search" && document.activeElement.id === "q"`)
	last.keys("retryAfter")
	last.until(`document.querySelectorAll("a.hit").length === 6`)
}

// A tab with an old token does not prevent a new tab from getting the valid one.
func TestBrowserOldToken(t *testing.T) {
	stress.SkipQuick(t)
	s := serve(t, project, nil)
	b := s.open(t, "/search?q=retryAfter", 1600, 1000, "light")
	b.until(`document.querySelectorAll("a.hit").length === 6`)
	old := b.another(t, "/search#token="+strings.Repeat("x", 43))
	old.has(".empty h2", "needs its whole address")
	// Simulate an older page that is still open and passes its token on at once.
	eval[chromedp.Void](old, `(() => { const c = new BroadcastChannel("quarry.token"); c.onmessage = (e) => { if (e.data?.ask) c.postMessage({ token: "x".repeat(43) }); }; })()`)
	for range 2 {
		next := b.another(t, "/search?q=retryAfter")
		next.until(`document.querySelectorAll("a.hit").length === 6`)
		next.close()
	}
}

// A service worker that another program left for the port sees every request of the page. It does
// not control the printed address. At an address that it controls, the page removes it before
// sending the token.
func TestBrowserServiceWorker(t *testing.T) {
	stress.SkipQuick(t)
	const worker = `self.addEventListener("install", () => self.skipWaiting()); self.addEventListener("activate", (e) => e.waitUntil(clients.claim()));
		const keep = (name, text) => caches.open("loot").then((c) => c.put("/" + name, new Response(text)));
		self.addEventListener("fetch", (e) => { const t = e.request.headers.get("X-Quarry-Token"); e.waitUntil(keep(t ? "token" : "seen", t || "yes")); });`
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/worker.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, worker)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>another program</title>")
	}))
	defer program.Close()
	b := (&served{Server: &Server{}, base: program.URL}).open(t, "/", 1600, 1000, "light")
	b.until(`document.title === "another program"`)
	eval[chromedp.Void](b, `navigator.serviceWorker.register("/worker.js")`)
	b.until(`navigator.serviceWorker.controller`)
	program.CloseClientConnections()
	program.Close()

	_, port, _ := strings.Cut(strings.TrimPrefix(program.URL, "http://"), ":")
	at, _ := strconv.Atoi(port)
	l, err := Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	s := serveOn(t, l, project, nil)
	loot := func(b *tab) string {
		eval[chromedp.Void](b, `Promise.all(["seen", "token"].map((n) => caches.match("/" + n).then((r) => r?.text()))).then((l) => { window.loot = "loot " + l.filter(Boolean).join(" "); })`)
		b.until(`window.loot`)
		return eval[string](b, `window.loot`)
	}
	b.do(chromedp.Navigate(s.base + "/search?q=retryAfter#token=" + s.token))
	b.until(`document.querySelectorAll("a.hit").length === 6 && !navigator.serviceWorker.controller`)
	b.has(".toast", "service worker")
	if got := loot(b); got != "loot yes" {
		t.Errorf("the worker has %s", got)
	}
	if ownNames {
		named := *s
		named.base = strings.TrimSuffix(strings.Split(s.Address(l), "#")[0], "/enter")
		b = (&tab{s: &named, ctx: b.ctx}).another(t, "/enter#token="+s.token)
		b.until(`location.pathname === "/search" && !location.hash && location.hostname.endsWith(".localhost")`)
		b.has("#live", "Live")
		if got := loot(b); got != "loot " {
			t.Errorf("at the printed address the worker has %s", got)
		}
	}
}

// A name below localhost is used only if this server listens on both loopback addresses.
func TestListen(t *testing.T) {
	s := serve(t, sample, nil)
	v6, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	defer v6.Close()
	l, err := Listen(v6.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Skipf("the port is taken: %v", err)
	}
	if got := s.Address(l); !strings.HasPrefix(got, "http://127.0.0.1:") {
		t.Errorf("address %s, though another program listens on ::1", got)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	l, err = Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	two := serveOn(t, l, sample, nil)
	port := l.Addr().(*net.TCPAddr).Port
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		req, _ := http.NewRequest("GET", fmt.Sprintf("http://%s:%d/api/about", host, port), nil)
		req.Host = fmt.Sprintf("%s:%d", two.name, port)
		req.Header.Set(tokenHeader, two.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusOK {
			t.Errorf("%s = %d", host, res.StatusCode)
		}
	}
}
