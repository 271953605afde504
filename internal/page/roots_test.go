package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
)

// TestBrowserRoots tests every view with two roots. Paths and ids begin with a root's name, and a
// decision is applied in that root.
func TestBrowserRoots(t *testing.T) {
	var roots []quarry.Root
	var parts []review.Part
	var agent *quarry.Workspace
	dirs := map[string]string{}
	for _, name := range []string{"app", "docs"} {
		dir, reviews := t.TempDir(), t.TempDir()
		dirs[name] = dir
		write(t, filepath.Join(dir, "a.txt"), "the needle of "+name+"\n")
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Index: &quarry.IndexOptions{Dir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		store, err := review.Open(reviews)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		roots, parts = append(roots, quarry.Root{Name: name, Workspace: ws}), append(parts, review.Part{Name: name, Store: store, Workspace: ws})
		if agent, err = quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: reviews, Wait: -1}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { agent.Close() })
		if name == "app" { // make the proposals of both roots have the same number
			propose(t, agent, "a.txt", change.Edit{Old: "needle", New: "pin"})
		}
	}
	joined, err := quarry.Join(roots...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { joined.Close() })
	propose(t, agent, "a.txt", change.Edit{Old: "the needle", New: "a needle"})
	s := serve(t, nil, func(o *Options) {
		o.Workspace, o.Review, o.Decide, o.Name = joined, review.Join(parts...), joined, "app, docs"
	})

	b := s.open(t, "/search?q=needle", 1600, 1000, "light")
	b.until(`document.querySelectorAll("a.hit").length === 2`)
	b.has(".list-of-hits .file:first-child .path", "app/a.txt")
	b.has(".list-of-hits .file:last-child .path", "docs/a.txt")
	b.click(".list-of-hits .file:last-child a.hit")
	b.has(".peek .lines", "the needle of docs")

	b.click(`.tabs a[data-view="review"]`)
	b.has("#waiting", "2")
	b.until(`location.pathname === "/review/app%2Fp-0001"`) // the oldest pending proposal
	b.click(`.entry[data-id="docs/p-0001"]`)
	b.until(`location.pathname === "/review/docs%2Fp-0001" && document.querySelectorAll(".hunk").length === 1`)
	b.reload()
	b.has(".dfile .path", "docs/a.txt")
	b.keys("a")
	b.until(`!document.querySelector(".decide .primary").disabled`)
	b.keys(kb.Enter)
	b.until(`location.pathname === "/review/app%2Fp-0001"`) // the next one
	b.has("#waiting", "1")
	if data, err := os.ReadFile(filepath.Join(dirs["docs"], "a.txt")); err != nil || string(data) != "a needle of docs\n" {
		t.Errorf("docs/a.txt after accepting: %q, %v", data, err)
	}
	if data, err := os.ReadFile(filepath.Join(dirs["app"], "a.txt")); err != nil || string(data) != "the needle of app\n" {
		t.Errorf("app/a.txt, undecided: %q, %v", data, err)
	}

	b.click(`.tabs a[data-view="changes"]`)
	b.until(`document.querySelectorAll(".entry").length === 1 && location.pathname.startsWith("/changes/docs%2F")`)
	b.has(".dfile .path", "docs/a.txt")

	b.click(`.tabs a[data-view="health"]`)
	b.until(`[...document.querySelectorAll(".card h2")].map((e) => e.textContent).filter((t) => t.startsWith("Index of")).join() === "Index of app,Index of docs"`)
	b.until(`[...document.querySelectorAll(".kv")].at(-1).textContent.includes(` + quote(dirs["docs"]) + `)`)
}
