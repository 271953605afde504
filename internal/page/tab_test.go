package page

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/internal/stress"
)

// patience is how long a test waits for something to appear. It allows for a busy machine; normally
// the wait is much shorter.
const patience = 40 * time.Second

// allocator starts the browser that all tests of the package share.
var allocator struct {
	sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if allocator.cancel != nil {
		allocator.cancel()
	}
	os.Exit(code)
}

func chromium() string {
	for _, name := range []string{os.Getenv("QUARRY_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// tab is a page in a browser. It collects the errors that occur in it.
type tab struct {
	t      testing.TB
	s      *served
	ctx    context.Context
	cancel func()
	mu     sync.Mutex
	faults []string // guarded by mu
}

// needsBrowser returns the browser's path. Without a browser it skips the test.
func needsBrowser(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds: run without -short")
	}
	exe := chromium()
	if exe == "" {
		t.Skip("no chromium: apt-get install chromium, or set QUARRY_CHROMIUM")
	}
	return exe
}

// open opens the page in a new tab with separate storage.
func (s *served) open(t testing.TB, path string, width, height int64, theme string) *tab {
	t.Helper()
	exe := needsBrowser(t)
	allocator.Do(func() {
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(exe), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
			// For each window, even hidden ones, the browser prepares a list below its address
			// field. That would take 40 % of these tests' processor time.
			chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup"))
		ctx, cancelAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, cancel := chromedp.NewContext(ctx)
		allocator.ctx, allocator.cancel = ctx, func() { cancel(); cancelAlloc() }
		allocator.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	})
	if allocator.err != nil {
		t.Skipf("chromium does not start: %v", allocator.err)
	}
	ctx, cancel := chromedp.NewContext(allocator.ctx, chromedp.WithNewBrowserContext())
	return s.tabIn(t, ctx, cancel, path+"#token="+s.token, width, height, theme)
}

// another opens an address in a tab that shares connections, storage and channels with b.
func (b *tab) another(t testing.TB, path string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	return b.s.tabIn(t, ctx, cancel, path, 1600, 1000, "light")
}

func (s *served) tabIn(t testing.TB, ctx context.Context, cancel func(), address string, width, height int64, theme string) *tab {
	t.Helper()
	b := &tab{t: t, s: s, ctx: ctx, cancel: cancel}
	t.Cleanup(b.close)
	b.watch()
	b.do(chromedp.EmulateViewport(width, height))
	b.theme(theme)
	b.do(chromedp.Navigate(s.base + address))
	return b
}

// close closes the tab and reports the errors collected in it.
func (b *tab) close() {
	b.t.Helper()
	if b.cancel != nil {
		b.check()
		b.cancel()
		b.cancel = nil
	}
}

// watch collects requests to other origins, violations of the content policy, and script errors.
func (b *tab) watch() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	source := `window.faults = []; addEventListener("securitypolicyviolation", (e) => faults.push("policy: " + e.violatedDirective + " " + e.blockedURI));
		addEventListener("error", (e) => faults.push("error: " + e.message)); addEventListener("unhandledrejection", (e) => faults.push("rejection: " + (e.reason?.stack ?? e.reason)));`
	if _, err := chromedp.Call(b.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
		b.t.Fatal(err)
	}
	requests := chromedp.Events(b.ctx, network.RequestWillBeSent)
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			if url := e.Request.URL; !strings.HasPrefix(strings.TrimPrefix(url, "blob:"), b.s.base+"/") && url != "about:blank" {
				b.fault("request to " + url)
			}
		}
	}()
}

func (b *tab) fault(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, what)
}

// check reports the errors collected in the tab.
func (b *tab) check() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	if list, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`window.faults ?? []`)); err == nil {
		for _, f := range list {
			b.fault(f)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Error("in the browser: " + f)
	}
	b.faults = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) theme(name string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// until waits until an expression is true. If that takes too long, the failure shows the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var last error
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok {
			return
		}
		last = err
		if time.Now().After(deadline) {
			text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 1500)`))
			b.t.Fatalf("never true: %s (%v)\n%s", expression, last, text)
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// eval evaluates an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// keys presses keys one after another. The key-down event includes the text, as with a real
// keyboard, so a key that the page handles enters no text. chromedp itself would send the two
// separately.
func (b *tab) keys(list ...string) {
	b.t.Helper()
	for _, r := range strings.Join(list, "") {
		events := kb.Encode(r)
		down := *events[0]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, e := range []input.DispatchKeyEventParams{down, *events[len(events)-1]} {
			if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, e); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// has waits until the first element that matches the selector contains text.
func (b *tab) has(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.querySelector(%s)?.textContent.includes(%s)", quote(selector), quote(text)))
}

func (b *tab) count(selector string) int {
	b.t.Helper()
	return eval[int](b, fmt.Sprintf("document.querySelectorAll(%s).length", quote(selector)))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	// A button for changes is disabled until the page is connected.
	b.until(fmt.Sprintf("document.querySelector(%s)?.disabled === false || document.querySelector(%[1]s)?.disabled === undefined && !!document.querySelector(%[1]s)", quote(selector)))
	eval[chromedp.Void](b, fmt.Sprintf("document.querySelector(%s).click()", quote(selector)))
}

// reload reloads the page and waits for the new document.
func (b *tab) reload() {
	b.t.Helper()
	eval[chromedp.Void](b, "window.before = true")
	b.do(chromedp.Reload())
	b.until("!window.before")
}

// becomes waits until a file has the given text. The undo log has a change, and the page shows it,
// shortly before the file is written.
func (s *served) becomes(t testing.TB, name, text string) {
	t.Helper()
	var data []byte
	if !stress.Becomes(func() bool {
		data, _ = os.ReadFile(filepath.Join(s.dir, name))
		return strings.Contains(string(data), text)
	}) {
		t.Errorf("%s never has %q: %q", name, text, data)
	}
}

func quote(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}
