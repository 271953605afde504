package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/internal/activity"
)

// TestBrowserTask checks that the page groups the changes of one agent's session and shows them as
// one diff. The person undoes one hunk, sees which change last modified each line, and undoes the
// rest of the session at once. Another agent's file is not affected.
func TestBrowserTask(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "b.txt": "b\n"})
	agent, other := s.agent(t, "claude-code", 0), s.agent(t, "cursor", 0)
	agent.call("apply_changes", map[string]any{"summary": "Numbers become words", "changes": []any{
		map[string]any{"path": "a.txt", "old_text": "\n2\n", "new_text": "\ntwo\n"}, map[string]any{"path": "a.txt", "old_text": "\n28\n", "new_text": "\ntwenty-eight\n"},
	}})
	agent.call("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n15\n", "\nfifteen\n")})
	agent.call("write_file", map[string]any{"path": "b.txt", "content": "B\n"})
	other.call("write_file", map[string]any{"path": "c.txt", "content": "c\n"})
	b := s.open(t, "/changes", 1600, 1000, "light")
	b.until(`document.querySelectorAll(".group").length === 1 && document.querySelectorAll(".gchanges .entry").length === 3 && document.querySelectorAll(".entry").length === 4`)
	b.has(".gchanges", "“Numbers become words”")
	b.click(".gtoggle")
	b.until(`![...document.querySelectorAll(".gchanges .entry")].some((e) => e.checkVisibility())`)
	b.click(".gtoggle")
	b.click(".gall")
	b.has(".dhead h1", "3 changes of claude-code")
	b.until(`document.querySelectorAll(".dfile").length === 2 && document.querySelectorAll(".dfile")[0].querySelectorAll(".l.add").length === 3`)

	// Undo one hunk of the first change, then a file of another.
	b.until(`document.querySelectorAll(".entry").length === 4`)
	eval[chromedp.Void](b, `[...document.querySelectorAll(".entry")].find((e) => e.textContent.includes("become words")).click()`)
	b.has(".dhead h1", "“Numbers become words”")
	eval[chromedp.Void](b, `[...document.querySelectorAll("button")].filter((x) => x.textContent === "Undo this hunk")[1].click()`)
	b.has(".toast", "Undone: hunk 2 of a.txt")
	s.becomes(t, "a.txt", "\n28\n")
	if got := s.text(t, "a.txt"); !strings.Contains(got, "two") || !strings.Contains(got, "fifteen") {
		t.Errorf("a.txt = %q", got)
	}

	// Show the authors of lines. The agent changed line 2; line 1 has no author.
	b.do(chromedp.Navigate(s.base + "/search?q=two&at=a.txt:2"))
	b.until(`document.querySelector(".peek .hit.on")`)
	b.keys("b")
	b.until(`document.querySelector('.peek [data-n="2"] .by')?.textContent.includes("Numbers become words")`)
	b.until(`document.querySelector('.peek [data-n="1"] .by')?.textContent.includes("not through Quarry")`)

	// Undo the rest of the session.
	b.do(chromedp.Navigate(s.base + "/changes"))
	b.click(".gall")
	b.has(".dhead h1", "3 changes of claude-code")
	eval[chromedp.Void](b, `[...document.querySelectorAll(".dhead button")].find((x) => x.textContent.includes("Undo all")).click()`)
	b.has("dialog[open]", "of claude-code")
	b.keys(kb.Enter)
	b.has(".toast", "Undone")
	s.becomes(t, "b.txt", "b\n")
	if got := s.text(t, "a.txt"); got != thirty {
		t.Errorf("a.txt = %q", got)
	}
	if got := s.text(t, "c.txt"); got != "c\n" {
		t.Errorf("the other agent's file is %q", got)
	}
}

// TestBrowserActivity shows calls as they are answered, and deletes their records.
func TestBrowserActivity(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty, "private/plan.txt": "secret plan\n"})
	s.calls = t.TempDir()
	s.opts.Activity = activity.Follow(s.calls)
	agent := s.agent(t, "claude-code", 0)
	b := s.open(t, "/activity", 1600, 1000, "light")
	b.has(".empty", "No calls yet")
	agent.call("search_files", map[string]any{"query": "needle"})
	b.has(".call", "needle")
	b.has(".call", "search_files")
	agent.call("read_file", map[string]any{"path": "gone.txt"})
	b.has(".call.failed", "NOT_FOUND")
	b.has(".agents", "claude-code")
	b.keys("4")
	b.until(`location.pathname === "/activity"`)
	eval[chromedp.Void](b, `[...document.querySelectorAll(".bar button")].find((x) => x.textContent === "Purge").click()`)
	b.has("dialog[open]", "Remove all lines?")
	b.keys(kb.Enter)
	b.has(".empty", "No calls yet")
	names, _ := filepath.Glob(filepath.Join(s.calls, "*"))
	for _, name := range names {
		if data, err := os.ReadFile(name); err != nil || len(data) > 0 {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	agent.call("search_files", map[string]any{"query": "after"})
	b.has(".call", "after")
}

// Files are found by approximate names, and definitions by @ and their name.
func TestBrowserFindsNames(t *testing.T) {
	s := serve(t, map[string]string{"internal/payment/retry_policy.go": "package payment\n\n// Backoff waits.\nfunc Backoff(n int) int { return n }\n", "README.md": "# demo\nBackoff\n"}, nil)
	b := s.open(t, "/search?mode=paths&q=pay%20retrypolcy", 1600, 1000, "light")
	b.has(".pathhit", "retry_policy.go")
	b.do(chromedp.Navigate(s.base + "/search"))
	b.until(`document.activeElement.id === "q"`)
	b.keys("@Backoff")
	b.has("article.file", "func Backoff(n int) int")
	b.has("article.file", "function")
	b.has(".status", "1 definition")
	b.keys(kb.ArrowDown)
	b.until(`location.search.includes("retry_policy.go:4")`)
}
