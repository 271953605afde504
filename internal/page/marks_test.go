package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"quarry/internal/stress"
)

// The server marks a query's matches in a file in UTF-16 units. It shows the part of a long line
// around the first match.
func TestMarks(t *testing.T) {
	long := strings.Repeat("é", 3000) + "needle" + strings.Repeat("y", 5000)
	s := serve(t, map[string]string{
		"a.go": "package a\n\nvar 😀Needle = needle\n" + long + "\n",
	}, nil)
	for _, c := range []struct {
		question string
		marks    map[int][]int
		left     map[int]int
	}{
		{"", nil, nil},
		{"q=needle", map[int][]int{3: {6, 12, 15, 21}, 4: {100, 106}}, map[int]int{4: 5800}},
		{"q=needle&case=1", map[int][]int{3: {15, 21}, 4: {100, 106}}, map[int]int{4: 5800}},
		{"q=needle&case=1&word=1", map[int][]int{3: {15, 21}}, nil},
		{"q=" + url.QueryEscape("(n(e+)*)+d"+"|^p"), map[int][]int{}, nil}, // these are regular expressions, but searched as text
		{"mode=regex&q=" + url.QueryEscape(`(n(e+)*)+d|^p`), map[int][]int{1: {0, 1}, 3: {6, 10, 15, 19}, 4: {100, 104}}, map[int]int{4: 5800}},
		{"mode=regex&q=" + url.QueryEscape(`(`), nil, nil},
		{"mode=regex&q=x*", nil, nil},
		{"mode=words&q=needle", map[int][]int{3: {6, 12, 15, 21}}, nil},
	} {
		got := get[wireText](t, s, "/api/file?path=a.go&"+c.question)
		if len(c.marks)+len(got.Marks) > 0 && !cmp.Equal(got.Marks, c.marks) {
			t.Errorf("%s: marks %v, want %v", c.question, got.Marks, c.marks)
		}
		if !cmp.Equal(got.Left, c.left) {
			t.Errorf("%s: left %v, want %v", c.question, got.Left, c.left)
		}
		if n := got.Left[4]; n > 0 && !strings.HasPrefix(got.Lines[3], strings.Repeat("é", 100)+"needley") {
			t.Errorf("%s: the long line begins with %.300s", c.question, got.Lines[3])
		}
	}
}

// A pattern for which Quarry needs linear time but the browser practically endless time does not
// block the page.
func TestBrowserSlowPattern(t *testing.T) {
	s := serve(t, map[string]string{"a.txt": "ok\n" + strings.Repeat("a", 60) + "!\n"}, nil)
	b := s.open(t, "/search?mode=regex&q="+url.QueryEscape("(a+)+b|ok"), 1600, 1000, "light")
	b.until(`document.querySelectorAll("a.hit").length === 1`)
	eval[chromedp.Void](b, `setTimeout(() => document.querySelector("a.hit").click())`)
	for !eval[bool](b, `document.querySelector(".peek mark")?.textContent === "ok"`) { // ends by the test's timeout
	}
}

// The match in a line is visible in the list and in the file, however far into the line it is.
func TestBrowserFarMatch(t *testing.T) {
	stress.SkipQuick(t)
	for _, before := range []int{10, 300, 3000, 30_000} {
		s := serve(t, map[string]string{"a.txt": strings.Repeat("x", before) + " needle " + strings.Repeat("y", 5000) + "\n"}, nil)
		for _, width := range []int64{380, 1600} {
			b := s.open(t, "/search?q=needle", width, 800, "light")
			const inSight = `(() => { const m = document.querySelector("%s mark")?.getBoundingClientRect(); return m && m.width && m.left >= 0 && m.right <= innerWidth && m.right <= document.querySelector("%s").getBoundingClientRect().right; })()`
			b.until(fmt.Sprintf(inSight, ".hits", ".hits"))
			b.click("a.hit")
			b.until(fmt.Sprintf(inSight, ".peek", ".peek"))
			b.close()
		}
	}
}
