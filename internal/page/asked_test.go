package page

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// A confirmation question belongs to the proposal it was opened for. Leaving that proposal closes
// the question. A proposal that was decided meanwhile is not decided again.
func TestBrowserQuestionsEnd(t *testing.T) {
	stress.SkipQuick(t)
	s, agent := serveReview(t, map[string]string{"a.txt": thirty, "b.txt": thirty})
	first := propose(t, agent, "a.txt", change.Edit{Old: "28\n", New: ""})
	second := propose(t, agent, "b.txt", change.Edit{Old: "28\n", New: ""})
	b := s.open(t, "/review/"+first, 1600, 1000, "light")
	b.has(".dfile", "a.txt")
	b.click(`.entry[data-id="` + second + `"]`)
	b.has(".dfile", "b.txt")
	b.keys("A")
	b.has("dialog[open]", "Accept everything?")
	b.do(chromedp.NavigateBack())
	b.has(".dfile", "a.txt")
	if eval[bool](b, `!!document.querySelector("dialog[open]")`) {
		t.Fatal("the question about one proposal is open over another")
	}
	b.keys("A")
	b.has("dialog[open]", "Accept everything?")
	if res, body := s.request(t, "POST", "/api/review/"+first, `{"rest": "refuse"}`); res.StatusCode != http.StatusOK {
		t.Fatalf("refuse = %d %s", res.StatusCode, body)
	}
	b.has(".facts", "refused")
	eval[chromedp.Void](b, `(() => { const f = fetch; window.posts = 0; window.fetch = (u, o) => { if (o?.method === "POST") posts++; return f(u, o); }; })()`)
	b.click("dialog[open] .primary")
	b.has(".toast.bad", "decided already")
	b.until(`document.querySelectorAll(".hunk.no").length === 1 && !document.querySelector(".hunk.yes")`)
	if n := eval[int](b, "posts"); n != 0 {
		t.Errorf("%d decisions were sent", n)
	}
	for _, name := range []string{"a.txt", "b.txt"} {
		if data, _ := os.ReadFile(filepath.Join(s.dir, name)); string(data) != thirty {
			t.Errorf("%s is %q", name, data)
		}
	}
}

// Holding a key down undoes only one change.
func TestBrowserHeldKeys(t *testing.T) {
	s := serve(t, project, nil)
	if _, err := s.ws.Edit(t.Context(), "README.md", []change.Edit{{Old: "explained", New: "described"}}, nil); err != nil {
		t.Fatal(err)
	}
	b := s.open(t, "/changes", 1600, 1000, "light")
	b.until(`document.querySelector("[data-writes]:not([disabled])")`)
	b.keys("u")
	b.until(`document.querySelectorAll(".entry").length === 2 && document.querySelector("[data-writes]:not([disabled])")?.textContent.includes("Redo this change")`)
	eval[chromedp.Void](b, `(() => { const f = fetch; window.posts = 0; window.fetch = (u, o) => { if (o?.method === "POST") posts++; return f(u, o); }; })()`)
	eval[chromedp.Void](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "u", repeat: true, bubbles: true }))`)
	if n := eval[int](b, "posts"); n != 0 {
		t.Error("a held key undid something more")
	}
}

// Each view reports that the server has ended.
func TestBrowserServerEnds(t *testing.T) {
	s := serve(t, project, nil)
	b := s.open(t, "/health", 1600, 1000, "light")
	b.has("#live", "Live")
	s.end(t)
	b.has(".bar.banner", "Not connected.")
	for _, c := range []struct{ key, want string }{{"2", "The journal can't be read."}, {"3", "The proposals can't be read."}, {"1", "Search demo"}} {
		b.keys(c.key)
		b.has("main", c.want)
		b.has(".bar.banner", "Not connected.")
	}
	b.keys("retry")
	b.has(".notice.bad", "the server does not answer")
}

// cable is a listener whose connections can be interrupted and restored.
type cable struct {
	net.Listener
	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

func (c *cable) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		cut := c.cut
		if !cut {
			c.open = append(c.open, conn)
		}
		c.mu.Unlock()
		if !cut {
			return conn, nil
		}
		conn.Close()
	}
}

// set interrupts or restores the connections.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	if cut {
		for _, conn := range c.open {
			conn.Close()
		}
		c.open = nil
	}
}

// Content that failed to load while the server was unreachable is loaded when it is back, without
// reloading the page.
func TestBrowserConnectionReturns(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wire := &cable{Listener: l}
	s := serveOn(t, wire, project, nil)
	c, err := s.ws.Edit(t.Context(), "wide.txt", []change.Edit{{Old: "retryAfter", New: "retryLater"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := s.open(t, "/health", 1600, 1000, "light")
	for _, one := range []struct{ address, failed, shown, want string }{
		{"/changes/" + c.ID, "The journal can't be read.", "main", "retryLater"},
		{"/review", "The proposals can't be read.", "main", "Nothing waits"},
		{"/search?q=retry.fter&mode=regex", "the server does not answer", ".status", "complete"},
		{"/search?q=retry.fter&mode=regex&at=README.md:3", "This file can't be shown.", ".peek", "explained"},
	} {
		b.has("#live", "Live")
		wire.set(true)
		b.has(".bar.banner", "Not connected.")
		eval[bool](b, `(() => { history.pushState(null, "", "`+one.address+`"); dispatchEvent(new PopStateEvent("popstate")); return true; })()`)
		b.has("main", one.failed)
		if text := eval[string](b, `document.querySelector("main").textContent`); strings.Contains(text, "This pattern can't be used") {
			t.Errorf("%s: blames the pattern: %s", one.address, text)
		}
		wire.set(false)
		eval[chromedp.Void](b, `document.querySelector(".banner button")?.click()`)
		b.has(one.shown, one.want)
		b.until(`!document.querySelector("main .notice.bad")`)
	}
}

// The address follows the typed text with a delay, because the browser's history keeps every
// address.
func TestBrowserAddressFollows(t *testing.T) {
	s := serve(t, project, nil)
	b := s.open(t, "/search", 1600, 1000, "light")
	b.until(`document.activeElement.id === "q"`)
	eval[chromedp.Void](b, `(() => { window.written = []; const r = history.replaceState; history.replaceState = function (a, b, c) { written.push(c); return r.call(history, a, b, c); }; })()`)
	b.keys("retryAfter")
	b.until(`location.search === "?q=retryAfter"`)
	if n := eval[int](b, "written.length"); n > 3 { // a slow machine may pause between two keys
		t.Errorf("%d addresses for 10 keys", n)
	}
	// A pending change of the address is made before another entry of the history is opened.
	eval[chromedp.Void](b, `(() => { const q = document.getElementById("q"); q.value = "wide"; q.dispatchEvent(new Event("input")); document.querySelector('[data-view="health"]').click(); })()`)
	b.until(`location.pathname === "/health"`)
	b.do(chromedp.NavigateBack())
	b.until(`location.search === "?q=wide" && document.getElementById("q").value === "wide"`)
	b.until(`document.querySelector(".rail details").getAttribute("aria-label") === "Filters"`)
}

// If an agent ends, the page says so in its open proposal.
func TestBrowserAgentGoes(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty})
	propose(t, agent, "a.txt", change.Edit{Old: "2\n3\n", New: "two\n3\n", Occurrence: change.First})
	own, err := quarry.Open(s.dir, &quarry.Options{StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: s.proposals, Wait: -1, Stays: true}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = own.Write(t.Context(), "b.txt", []byte("b\n"), &change.Options{Client: change.Client{Name: "cursor"}})
	var pending *review.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	b := s.open(t, "/review/"+pending.ID, 1600, 1000, "light")
	b.has(".dfile", "b.txt")
	b.has(".wait-clock", "the agent went on")
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	b.has(".notice.warn", "The agent has gone since.")
	b.until(`!document.querySelector(".entry:not(.on) .tag.warn")`) // the other agent's entry has no tag
}

// Answers that arrive after a view was left neither draw over the next view nor return to the old
// one. This can happen because the checks of a large workspace take seconds.
func TestBrowserLateAnswers(t *testing.T) {
	stress.SkipQuick(t)
	wait := make(chan struct{})
	asked := make(chan struct{})
	s, agent := serveReview(t, project)
	s.opts.Checks = func(context.Context) ([]Check, error) { close(asked); <-wait; return nil, nil }
	id := propose(t, agent, "README.md", change.Edit{Old: "explained", New: "described"})
	c, err := s.ws.Edit(t.Context(), "wide.txt", []change.Edit{{Old: "retryAfter", New: "retryLater"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := s.open(t, "/health", 1600, 1000, "light")
	<-asked
	b.has(".health", "Policy")
	b.keys("1")
	b.has(".zero h2", "Search demo")
	eval[chromedp.Void](b, `(() => { const f = fetch; window.fetch = async (u, o) => { const res = await f(u, o); if (String(u).includes("/api/checks")) window.late = true; if (o?.method === "POST") await window.gate; return res; }; })()`)
	close(wait)
	stays := func(what string) {
		t.Helper()
		eval[chromedp.Void](b, `(() => { window.later = false; setTimeout(() => { later = true; }, 300); })()`)
		b.until("later") // the answer never arrives
		if got := eval[string](b, `location.pathname + " " + document.querySelector(".bar").className + " " + document.querySelector("main").className`); got != "/search bar search-bar search" {
			t.Errorf("%s: %s", what, got)
		}
	}
	stays("after the checks")
	gate := `window.gate = new Promise((resolve) => { window.open_ = resolve; })`
	for _, one := range []struct{ path, key string }{{"/review/" + id, "a"}, {"/changes/" + c.ID, "u"}} {
		eval[bool](b, `(() => { `+gate+`; return true; })()`)
		eval[bool](b, `(() => { history.pushState(null, "", "`+one.path+`"); dispatchEvent(new PopStateEvent("popstate")); return true; })()`)
		b.until(`document.querySelector(".dfile") && document.querySelector("[data-writes]:not([disabled])")`)
		b.keys(one.key)
		if one.key == "a" {
			b.until(`!document.querySelector(".decide .primary").disabled`)
			b.keys("\r")
		}
		b.keys("1")
		b.until(`document.querySelector("main.search")`)
		eval[bool](b, `(() => { open_(); return true; })()`)
		b.has(".toast", map[string]string{"a": "Applied as", "u": "Undone"}[one.key])
		stays(one.path)
	}
}

// A move that doesn't change the text is described as such.
func TestBrowserMoveIsSaid(t *testing.T) {
	s, agent := serveReview(t, map[string]string{"a.txt": thirty})
	_, err := agent.Move(t.Context(), "a.txt", "b.txt", nil)
	var pending *review.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	b := s.open(t, "/review/"+pending.ID, 1600, 1000, "light")
	b.has(".hunk", "The content stays as it is.")
}
