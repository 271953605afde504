package page

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// permit sets the browser's permission for notifications.
func (b *tab) permit(setting browser.PermissionSetting) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: setting, Origin: b.s.base, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
	}); err != nil {
		b.t.Fatal(err)
	}
}

// TestBrowserNotifies checks that, if notifications are enabled, there is one for each new proposal
// while the page is not visible. It names no file, and clicking it opens the proposal.
func TestBrowserNotifies(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "b.txt": thirty, "c.txt": thirty})
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has("#live", "Live")
	b.has(".bar", "Nothing waits")
	// Replace the browser's notifications by a recorder. Also simulate the page's visibility, which
	// a headless browser doesn't report.
	eval[chromedp.Void](b, `(() => {
		window.notes = [];
		const own = Notification;
		window.Notification = class extends own { constructor(title, o) { super(title, o); notes.push({ title, body: o.body, note: this }); } };
		let seen = true;
		Object.defineProperty(document, "hidden", { get: () => !seen });
		window.leave = () => { seen = false; };
	})()`)
	const on = `[...document.querySelectorAll(".bar button")].find((x) => x.textContent === "Notify")?.getAttribute("aria-pressed") === "true"`
	comes := func(name string, waiting int) {
		t.Helper()
		s.agent(t, "claude-code", time.Minute).start("edit_file", map[string]any{"path": name, "edits": edits("\n28\n", "\n")})
		s.waiting(t, waiting)
		b.has("#waiting", string(rune('0'+waiting)))
	}
	b.permit(browser.PermissionSettingDenied)
	b.press("Notify", kb.Enter)
	b.has(".toast.bad", "does not allow notifications")
	if eval[bool](b, on) {
		t.Error("notifications are on, and the browser does not allow them")
	}
	b.permit(browser.PermissionSettingGranted)
	b.press("Notify", kb.Enter)
	b.until(on)
	comes("a.txt", 1) // the page is visible and shows the proposal itself
	eval[chromedp.Void](b, `leave()`)
	comes("b.txt", 2)
	b.until(`notes.length === 1`)
	if got := eval[string](b, `notes[0].title + "; " + notes[0].body`); got != "Quarry: a change waits for your decision; 2 waiting in demo" {
		t.Errorf("the notification says %q", got)
	}
	second := s.waiting(t, 2)
	eval[chromedp.Void](b, `notes[0].note.onclick()`)
	b.until(`location.pathname === "/review/` + second.ID + `"`)
	// If notifications are disabled, there are none.
	b.press("Notify", kb.Enter)
	b.until(`!(` + on + `)`)
	comes("c.txt", 3)
	if n := eval[int](b, `notes.length`); n != 1 {
		t.Errorf("%d notifications, want 1", n)
	}
}
