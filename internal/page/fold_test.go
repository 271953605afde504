package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/change"
)

// TestBrowserFolds folds and unfolds files in hits, changes and reviews. It also checks that the
// rows of changes are short and the column of authors is narrow.
func TestBrowserFolds(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("dir/f%d.go", i)] = strings.Repeat("needle in a line that is as long as a line of code often is\n", 25)
	}
	s := serve(t, files, nil)
	long := strings.Repeat("a summary that goes on ", 10)
	for i := range 3 {
		set := change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: fmt.Sprintf("dir/f%d.go", i), Edits: []change.Edit{{Old: "needle", New: "a needle", Occurrence: change.First}}}}, Summary: long}
		if _, err := s.ws.Apply(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	b := s.open(t, "/search?q=needle", 1280, 800, "light")
	b.until(`document.querySelectorAll("a.hit").length === 200`)
	height := func() int { return eval[int](b, `document.querySelector(".hits").scrollHeight`) }
	open := height()
	b.keys(kb.ArrowDown, "z")
	b.until(`document.querySelectorAll(".file.folded").length === 1 && document.querySelector(".folded .fold").getAttribute("aria-expanded") === "false"`)
	b.keys("j") // past the folded one
	b.until(`document.querySelector("a.hit.on").closest("article") === document.querySelectorAll("article.file")[1] || !document.querySelector("a.hit.on").closest(".folded")`)
	b.keys("Z")
	b.until(`document.querySelectorAll(".file.folded").length === 8`)
	if folded := height(); folded*5 > open {
		t.Errorf("200 hits take %d pixels, folded %d", open, folded)
	}
	b.keys("Z")
	b.until(`!document.querySelector(".file.folded")`)

	b.do(chromedp.Navigate(s.base + "/changes"))
	b.until(`document.querySelectorAll(".entry").length === 3 && document.querySelector(".dfile")`)
	if h := eval[float64](b, `Math.max(...[...document.querySelectorAll(".entry")].map((e) => e.getBoundingClientRect().height))`); h > 44 {
		t.Errorf("a row of changes is %.1f pixels high, more than 44", h)
	}
	b.keys("z")
	b.until(`document.querySelector(".dfile.folded .diff")?.offsetHeight === 0`)
	b.keys("z")
	b.until(`document.querySelector(".dfile .diff").offsetHeight > 0`)

	b.do(chromedp.Navigate(s.base + "/search?at=dir/f0.go:1"))
	b.until(`document.querySelector(".peek .lines")`)
	b.keys("b")
	b.until(`document.querySelector(".hit.authored")`)
	if w := eval[float64](b, `document.querySelector(".peek").clientWidth - document.querySelector(".authored .by").offsetWidth - document.querySelector(".authored .no").offsetWidth`); w < 40*7.8 {
		t.Errorf("authors leave %.0f pixels for the code", w)
	}
}
