package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"quarry/internal/activity"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// gallery is a page with something to see in every view.
func gallery(t testing.TB) (s *agents, views []struct{ name, path, wait string }) {
	t.Helper()
	files := map[string]string{"docs/guide.md": "# Guide\n\nHow to start.\n", "go.lock": "l\n"}
	for name, text := range project {
		files[name] = text
	}
	s = serveAgents(t, files)
	s.calls = t.TempDir()
	s.opts.Activity = activity.Follow(s.calls)
	s.opts.Rules = []Rule{{Path: "**", Read: true, Write: true, Why: "default"}, {Path: ".env", Why: "secrets"}}
	s.opts.RuleBooks = []RuleBook{{Workspace: s.ws, Load: func() ([]string, string, review.Action, error) {
		return []string{"accept docs/**", "refuse *.lock", "ask lines>200"}, "~/.config/quarry/quarry.toml:4", review.Ask, nil
	}, Save: func([]string) error { return nil }}}
	free := s.agent(t, "claude-code", 0)
	free.call("apply_changes", map[string]any{"summary": "Explain the retry in the guide", "changes": []any{
		map[string]any{"path": "docs/guide.md", "content": "# Guide\n\nHow to start, and how to retry.\n"}, map[string]any{"path": "docs/new.md", "content": "# New\n"},
	}})
	free.call("edit_file", map[string]any{"path": "README.md", "old_text": "explained", "new_text": "described"})
	free.call("read_file", map[string]any{"path": "gone.txt"})
	free.call("delete_file", map[string]any{"path": "go.lock"})
	other := s.agent(t, "cursor", 5*time.Minute)
	other.start("edit_file", map[string]any{"path": "internal/pay/retry.go", "edits": edits("package pay", "package pay // <b>"), "dry_run": false})
	p := s.waiting(t, 1)
	change1, err := s.ws.Changes(t.Context(), 0)
	if err != nil || len(change1.Changes) < 3 {
		t.Fatalf("%d changes, %v", len(change1.Changes), err)
	}
	session := change1.Changes[0].Client.Session
	return s, []struct{ name, path, wait string }{
		{"start", "/search", ".zero"}, {"hits", "/search?q=retryAfter", "a.hit"}, {"file", "/search?q=retryAfter&at=internal/pay/retry.go:3", ".peek .hit.on"}, {"nothing", "/search?q=zzzzqqqq", ".zero"},
		{"error", "/search?q=(&mode=regex", ".notice.bad"}, {"files", "/search?q=retry&mode=paths", ".pathhit"}, {"symbols", "/search?q=%40retry", ".zero, a.hit"},
		{"changes", "/changes", ".entry"}, {"change", "/changes/" + change1.Changes[1].ID, ".dfile"}, {"deleted", "/changes/" + change1.Changes[0].ID, ".dfile"}, {"session", "/changes/session:" + session, ".dfile"},
		{"review", "/review", ".entry"}, {"proposal", "/review/" + p.ID, ".hunk"}, {"decided", "/review?show=decided", ".review-bar"}, {"activity", "/activity", ".call"}, {"health", "/health", ".kv"},
	}
}

// TestBrowserLooks looks at every view at five widths in both themes: nothing scrolls
// sideways, and axe finds nothing. With -artifacts the pictures are kept.
func TestBrowserLooks(t *testing.T) {
	stress.SkipQuick(t)
	axe, err := os.ReadFile(filepath.Join(os.Getenv("QUARRY_NPM"), "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("npm package axe-core not found; set QUARRY_NPM to the folder that holds it")
	}
	s, views := gallery(t)
	dir, looked := t.ArtifactDir(), 0
	widths := []int64{380, 768, 1280, 1600, 2560}
	if !stress.Long() {
		widths = []int64{380, 1600}
	}
	for _, theme := range []string{"light", "dark"} {
		b := s.open(t, "/health", 1600, 1000, theme)
		b.has("#live", "Live")
		for _, v := range views {
			for _, width := range widths {
				b.do(chromedp.EmulateViewport(width, 900))
				b.do(chromedp.Navigate(s.base + v.path))
				b.until(fmt.Sprintf("innerWidth === %d && document.querySelector(%s)", width, quote(v.wait)))
				b.until(`document.getElementById("live").textContent === "Live" && document.getElementById("progress").hidden`)
				where := fmt.Sprintf("%s at %d, %s", v.name, width, theme)
				if wide := eval[int](b, `document.scrollingElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("%s: %d pixels too wide", where, wide)
				}
				b.picture(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", v.name, width, theme)))
				b.axe(where, string(axe))
				looked++
			}
		}
		b.do(chromedp.EmulateViewport(1600, 1000))
		b.do(chromedp.Navigate(s.base + "/review"))
		b.until(`document.querySelector(".hunk")`)
		for _, d := range []struct{ key, name string }{{"e", "rules"}, {"?", "keys"}, {"R", "refuse"}, {"A", "accept"}} {
			b.keys(d.key)
			b.until(`document.querySelector("dialog[open]")`)
			b.picture(filepath.Join(dir, fmt.Sprintf("dialog-%s-%s.png", d.name, theme)))
			b.axe("dialog "+d.name, string(axe))
			eval[chromedp.Void](b, `document.querySelector("dialog[open]").close("no")`)
			b.until(`!document.querySelector("dialog")`)
			looked++
		}
		b.close()
	}
	t.Logf("%d views and states were looked at", looked)
}

func (b *tab) picture(file string) {
	b.t.Helper()
	res, err := chromedp.Call(b.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, res.Data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// axe reports what axe-core complains about.
func (b *tab) axe(where, source string) {
	b.t.Helper()
	eval[chromedp.Void](b, `(() => { if (!window.axe) { `+source+` } })()`)
	eval[chromedp.Void](b, `(() => { window.found = null; axe.run(document, { resultTypes: ["violations"] }).then((r) => { found = JSON.stringify(r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.target.join(" ") + ": " + n.failureSummary.slice(0, 160))])); }, (e) => { found = JSON.stringify([["failed", [String(e)]]]); }); })()`)
	b.until("window.found")
	var list [][]any
	if err := json.Unmarshal([]byte(eval[string](b, "found")), &list); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range list {
		b.t.Errorf("%s: axe: %v", where, v)
	}
}

// TestBrowserZoom: at 200 % a diff has more than half of the window's height.
func TestBrowserZoom(t *testing.T) {
	stress.SkipQuick(t)
	s, agent := serveReview(t, nil)
	id := uneven(t, s, agent, 30)
	b := s.open(t, "/review/"+id, 1280, 800, "light")
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 640, Height: 400, DeviceScaleFactor: 2}); err != nil {
		t.Fatal(err)
	}
	b.has(".hunk.now", "1 of 30")
	b.keys("j", "j")
	b.until(visible)
	free := eval[float64](b, `(() => { const bottom = Math.min(document.querySelector(".decide").getBoundingClientRect().top, innerHeight), top = document.querySelector(".hunk.now").closest(".dfile").querySelector(".head").getBoundingClientRect().bottom; return (bottom - top) / innerHeight; })()`)
	if free < 0.5 {
		t.Errorf("at 200 %% the diff has %.0f %% of the height", 100*free)
	}
}
