package page

import (
	"cmp"
	"context"
	"net"
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

// TestBrowserLatency types on a large tree and measures, in the browser, the
// time from each key press to the first painted hit: a promise of the page. It
// is a long form: building the index takes its time. QUARRY_BENCH_INDEX is a
// folder that keeps it for the next run.
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

	words := []string{"kmalloc_array", "spin_lock_irqsave", "retry", "copy_from_user", "EXPORT_SYMBOL_GPL", "deadline", "struct net_device", "MODULE_LICENSE", "schedule_timeout", "of_property_read"}
	for _, w := range words {
		for _, r := range w {
			before := eval[int](b, `performance.getEntriesByName("key-to-hit").length`)
			b.keys(string(r))
			// A person types about ten keys a second; a prefix nobody wrote has
			// no hit to paint.
			for range 100 {
				if eval[bool](b, `performance.getEntriesByName("key-to-hit").length > `+strconv.Itoa(before)+` || !!document.querySelector(".zero:not(.start) h2")?.textContent.endsWith(document.getElementById("q").value)`) {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
		eval[chromedp.Void](b, `document.getElementById("q").select()`)
		b.keys(kb.Backspace)
		b.until(`document.querySelector(".start")`)
	}
	times := eval[[]float64](b, `performance.getEntriesByName("key-to-hit").map((e) => e.duration)`)
	// Where the time of half of the key presses goes.
	parts := eval[[]float64](b, `(() => {
		const all = performance.getEntriesByName("key-to-hit");
		const half = (f) => all.map(f).sort((a, b) => a - b)[all.length >> 1] ?? 0;
		return [half((e) => e.detail.asked), half((e) => e.detail.arrived - e.detail.asked), half((e) => e.detail.drawn - e.detail.arrived), half((e) => e.duration - e.detail.drawn)];
	})()`)
	t.Logf("p50 of its parts: key to request %.1f ms, to the first bytes %.1f ms, drawing %.1f ms, to the paint %.1f ms", parts[0], parts[1], parts[2], parts[3])
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(len(times)-1, int(q*float64(len(times))))] }
	t.Logf("%d key presses on %d files: p50 %.1f ms, p95 %.1f ms, slowest %.1f ms", len(times), status.Files, at(0.5), at(0.95), times[len(times)-1])
	if at(0.5) > 50 || at(0.95) > 150 {
		t.Errorf("p50 %.1f ms, p95 %.1f ms; want at most 50 and 150", at(0.5), at(0.95))
	}
}
