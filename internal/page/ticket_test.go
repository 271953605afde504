package page

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/stress"
)

// The address that is opened in the browser works only once and does not contain the token. So the
// copy in the browser's history is useless.
func TestBrowserTicket(t *testing.T) {
	stress.SkipQuick(t)
	s := serve(t, project, nil)
	address := s.AddressOnce(s.listen)
	_, ticket, found := strings.Cut(address, "#ticket=")
	if !found || strings.Contains(address, s.token) {
		t.Fatalf("address = %s", address)
	}
	b := s.open(t, "/health", 1600, 1000, "light")
	b.has("#live", "Live")
	eval[bool](b, `(() => { sessionStorage.clear(); location.href = "/enter#ticket=`+ticket+`"; return true; })()`)
	b.until(`location.pathname === "/search" && !location.hash`)
	b.has(".zero h2", "Search demo")
	b.reload()
	b.has(".zero h2", "Search demo")
	eval[bool](b, `(() => { sessionStorage.clear(); location.href = "/enter#ticket=`+ticket+`"; return true; })()`)
	b.has(".empty h2", "needs its whole address")
}

func TestTicketsAreUsedOnce(t *testing.T) {
	s := serve(t, sample, nil)
	_, ticket, _ := strings.Cut(s.AddressOnce(s.listen), "#ticket=")
	_, other, _ := strings.Cut(s.AddressOnce(s.listen), "#ticket=")
	try := func(secret, method, path string) (int, string) {
		req, err := http.NewRequest(method, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(tokenHeader, secret)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(data)
	}
	if code, body := try(ticket, "GET", "/api/about"); code != http.StatusUnauthorized || body != "" {
		t.Errorf("a ticket as the token = %d %s", code, body)
	}
	if code, body := try(s.token, "POST", enterPath); code != http.StatusUnauthorized || body != "" {
		t.Errorf("the token as a ticket = %d %s", code, body)
	}
	if code, body := try(ticket, "POST", enterPath); code != http.StatusOK || !strings.Contains(body, s.token) {
		t.Errorf("a ticket = %d %s", code, body)
	}
	if code, body := try(ticket, "POST", enterPath); code != http.StatusUnauthorized || body != "" {
		t.Errorf("a used ticket = %d %s", code, body)
	}
	if code, _ := try(other, "POST", enterPath); code != http.StatusOK {
		t.Errorf("another ticket = %d", code)
	}
}

// The server stores the theme, because at the next start the page has another address, for which
// the browser has no data.
func TestBrowserTheme(t *testing.T) {
	var kept atomic.Value
	kept.Store("")
	done := make(chan struct{}, 1)
	with := func(o *Options) {
		o.Theme = func() string { return kept.Load().(string) }
		o.KeepTheme = func(theme string) error { kept.Store(theme); done <- struct{}{}; return nil }
	}
	s := serve(t, project, with)
	if res, _ := s.request(t, "POST", "/api/theme", `{"theme": "pink"}`); res.StatusCode != http.StatusBadRequest || kept.Load() != "" {
		t.Errorf("pink = %d, kept %q", res.StatusCode, kept.Load())
	}
	b := s.open(t, "/health", 1600, 1000, "dark")
	b.has("#live", "Live")
	b.keys("t")
	b.until(`document.documentElement.dataset.theme === "light"`)
	<-done
	next := serve(t, project, with).open(t, "/health", 380, 800, "dark")
	next.until(`document.documentElement.dataset.theme === "light"`)
	next.until(`document.getElementById("theme").checkVisibility()`) // narrow pages have a button instead of the key t
	next.has("#live", "Live")
	next.click("#theme")
	next.until(`document.documentElement.dataset.theme === "dark"`)
}
