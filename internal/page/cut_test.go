package page

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// hitsOf returns the numbers of the matching lines in f.
func hitsOf(f *wireFile) (list []int) {
	for _, l := range f.Lines {
		if l.Hit {
			list = append(list, l.N)
		}
	}
	return list
}

// An answer has at most maxFileHits lines of a file. If there are more, it says so, and the page
// counts them.
func TestFilesAreCut(t *testing.T) {
	s := serve(t, map[string]string{
		"few.txt":  strings.Repeat("needle\n", maxFileHits-1) + "-\n",
		"many.txt": strings.Repeat("needle\n", 3*maxFileHits),
	}, nil)
	for _, c := range []struct {
		glob, stopped string
		hits, last    int
	}{
		{"few.txt", "", maxFileHits - 1, maxFileHits},
		{"many.txt", "file", maxFileHits, maxFileHits},
	} {
		files, done, _ := answer(t, s, "q=needle&glob="+c.glob)
		if len(files) != 1 || len(hitsOf(&files[0])) != c.hits || done.Stopped != c.stopped || done.Exact != (c.stopped == "") || files[0].More != (c.stopped != "") {
			t.Fatalf("%s: %d files, receipt %+v", c.glob, len(files), done)
		}
		if lines := files[0].Lines; lines[len(lines)-1].N != c.last {
			t.Errorf("%s: the last line is %d, want %d", c.glob, lines[len(lines)-1].N, c.last)
		}
	}
	if _, counted, _ := answer(t, s, "q=needle&count=1"); counted.Lines != 4*maxFileHits-1 || counted.Stopped != "" || counted.Considered != 2 {
		t.Errorf("counted %+v", counted)
	}
}

// All pages of results together contain every file with its lines in order.
func TestPagesGoOn(t *testing.T) {
	tree := map[string]string{}
	for i := range 9 {
		tree[fmt.Sprintf("%d.txt", i)] = strings.Repeat("needle\n", 20*i)
	}
	s := serve(t, tree, nil)
	seen := map[string]int{}
	offset, pages := 0, 0
	for done := (&wireDone{Stopped: "lines"}); done.Stopped == "lines"; pages++ {
		var files []wireFile
		files, done, _ = answer(t, s, fmt.Sprint("q=needle&offset=", offset))
		for _, f := range files {
			for _, n := range hitsOf(&f) {
				if n != seen[f.Path]+1 {
					t.Fatalf("page %d: line %d of %s after line %d", pages, n, f.Path, seen[f.Path])
				}
				seen[f.Path] = n
				offset++
			}
		}
		if done.Stopped == "" {
			t.Errorf("page %d says that nothing is missing", pages)
		}
	}
	for i := 1; i < 9; i++ {
		if name := fmt.Sprintf("%d.txt", i); seen[name] != min(20*i, maxFileHits) {
			t.Errorf("%s: %d lines", name, seen[name])
		}
	}
	if pages < 2 {
		t.Error("one page: the test shows nothing")
	}
}

// The page says that a file's lines are incomplete, and counts the missing ones. If none are
// missing, it removes the note.
func TestBrowserCut(t *testing.T) {
	stress.SkipQuick(t)
	s := serve(t, map[string]string{
		"just.txt": strings.Repeat("needle\n", maxFileHits),
		"many.md":  strings.Repeat("needle\n", maxFileHits+10),
		"a.csv":    strings.Repeat("paid\n", 45), "b.csv": strings.Repeat("paid\n", 45), "c.csv": strings.Repeat("paid\n", 45), "d.csv": strings.Repeat("paid\n", 45), "e.csv": strings.Repeat("paid\n", 60),
	}, nil)
	b := s.open(t, "/search?q=needle&type=md", 1600, 1000, "light")
	b.has(".status", "first 50 of 60 matching lines")
	b.has(".head .tag.num", "50 or more")
	b.has(".tail .notice", "10 more matching lines are not shown")
	b.has(".rail", "1 searched, 6 skipped")
	b = s.open(t, "/search?q=needle&type=txt", 1600, 1000, "light")
	b.has(".status", "50 matching lines in 1 file")
	b.has(".status", "complete")
	b.until(`document.querySelector(".tail").childElementCount === 0`)
	hidden := serve(t, map[string]string{"a.txt": "needle\n", "id_rsa": "needle\n"}, nil).open(t, "/search?q=needle", 1600, 1000, "light")
	hidden.has(".status", "1 matching line in 1 file")
	hidden.until(`/ · 1 file not searched$/.test(document.querySelector(".status").textContent)`)
	b = s.open(t, "/search?q=paid", 380, 780, "dark")
	b.has(".status", "first 200 of 240 matching lines")
	b.keys("m")
	b.has(".status", "first 230 of 240 matching lines")
	b.until(`document.querySelectorAll("a.hit").length === 230`)
	// Do the same at once, while most lines of the first part are not drawn yet.
	b = s.open(t, "/search?q=nothing", 1600, 1000, "light")
	b.until(`document.querySelector(".status")`)
	eval[int](b, `new MutationObserver((_, o) => {
		if (!document.querySelector(".status")?.textContent.includes("first 200 ")) return;
		o.disconnect();
		window.waiting = 200 - document.querySelectorAll("a.hit").length;
		document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "m", bubbles: true }));
	}).observe(document.body, { childList: true, subtree: true });
	const q = document.querySelector("input[type=search]");
	q.value = "paid";
	q.dispatchEvent(new Event("input"));
	q.blur(); 0`)
	b.has(".status", "first 230 of 240 matching lines")
	b.until(`document.querySelectorAll("a.hit").length === 230`)
	b.until(`window.waiting > 0`)
}
