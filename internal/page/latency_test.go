package page

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry"
	"quarry/internal/stress"
)

// TestBrowserLatency types in a large tree and measures in the browser the time from each key press
// to the first painted hit. It runs only in the long form, because building the index is slow.
// QUARRY_BENCH_INDEX names a folder that keeps the index for the next run.
func TestBrowserLatency(t *testing.T) {
	tree := os.Getenv("QUARRY_BENCH_TREE")
	if tree == "" || !stress.Long() {
		t.Skip("a long form: STRESS=long and QUARRY_BENCH_TREE")
	}
	cache := cmp.Or(os.Getenv("QUARRY_BENCH_INDEX"), filepath.Join(t.TempDir(), "index"))
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(tree, &quarry.Options{Index: &quarry.IndexOptions{Dir: cache}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, err := ws.Index().Status(t.Context())
	if err != nil || status.Files < 10000 {
		t.Skipf("%s has %d files that no rule ignores: too few to tell", tree, status.Files)
	}
	server, err := New(Options{Workspace: ws, Name: "tree"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	defer func() { cancel(); <-done }()
	s := &served{Server: server, ws: ws, base: "http://" + l.Addr().String()}
	b := s.open(t, "/search", 1600, 1000, "light")
	b.until(`document.activeElement.id === "q"`)
	plain := httptest.NewServer(http.HandlerFunc(plainPage))
	defer plain.Close()
	least := (&served{Server: &Server{}, base: plain.URL}).open(t, "/search", 1600, 1000, "light")
	least.until(`document.activeElement.id === "q"`)

	for _, w := range []string{"kmalloc_array", "spin_lock_irqsave", "retry", "copy_from_user", "EXPORT_SYMBOL_GPL", "deadline", "struct net_device", "MODULE_LICENSE", "schedule_timeout", "of_property_read"} {
		b.types(w)
		b.until(`document.querySelector(".start")`)
		least.types(w)
	}
	p50, p95 := b.latency("the page")
	floor, _ := least.latency("a page that shows one line at once")
	t.Logf("on %d files, %.1f ms more than the least a browser takes", status.Files, p50-floor)
	if p50 > 50 || p95 > 150 {
		t.Errorf("p50 %.1f ms, p95 %.1f ms; want at most 50 and 150", p50, p95)
	}
}

// types types a word and removes it again. It waits for the hit after each key, which is faster
// than a person types.
func (b *tab) types(word string) {
	b.t.Helper()
	for _, r := range word {
		before := eval[int](b, `performance.getEntriesByName("key-to-hit").length`)
		b.keys(string(r))
		for range 100 { // a prefix may have no hits
			if eval[bool](b, `performance.getEntriesByName("key-to-hit").length > `+strconv.Itoa(before)+` || !!document.querySelector(".zero:not(.start) h2")?.textContent.endsWith(document.getElementById("q").value)`) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	eval[chromedp.Void](b, `document.getElementById("q").select()`)
	b.keys(kb.Backspace)
}

// latency logs the duration of key presses in a tab, and the parts of the median.
func (b *tab) latency(what string) (p50, p95 float64) {
	b.t.Helper()
	times := eval[[]float64](b, `performance.getEntriesByName("key-to-hit").map((e) => e.duration)`)
	parts := eval[[]float64](b, `(() => {
		const all = performance.getEntriesByName("key-to-hit");
		const half = (f) => all.map(f).sort((a, b) => a - b)[all.length >> 1] ?? 0;
		return [half((e) => e.detail.asked), half((e) => e.detail.arrived - e.detail.asked), half((e) => e.detail.drawn - e.detail.arrived), half((e) => e.duration - e.detail.drawn)];
	})()`)
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(len(times)-1, int(q*float64(len(times))))] }
	b.t.Logf("%s: %d key presses, p50 %.1f ms, p95 %.1f ms, slowest %.1f ms; p50 of its parts: key to request %.1f, to the first bytes %.1f, drawing %.1f, to the paint %.1f",
		what, len(times), at(0.5), at(0.95), times[len(times)-1], parts[0], parts[1], parts[2], parts[3])
	return at(0.5), at(0.95)
}

// plainPage serves a minimal page that sends a request on each key and shows the answer. Its
// latency is caused by the browser alone.
func plainPage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hit" {
		fmt.Fprintln(w, "one line")
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, `<!doctype html><title>plain</title><link rel="icon" href="data:,"><input id="q" autofocus><div id="hits"></div><script>
const q = document.getElementById("q"), hits = document.getElementById("hits");
q.addEventListener("input", async () => {
  const started = performance.now();
  if (!q.value) return;
  const res = await fetch("/hit?q=" + encodeURIComponent(q.value), { cache: "no-store" });
  const text = await res.text();
  const arrived = performance.now() - started;
  hits.replaceChildren(text);
  const drawn = performance.now() - started;
  requestAnimationFrame(() => {
    const c = new MessageChannel();
    c.port1.onmessage = () => performance.measure("key-to-hit", { start: started, end: performance.now(), detail: { asked: 0, arrived, drawn } });
    c.port2.postMessage(0);
  });
});
q.focus();
</script>`)
}
