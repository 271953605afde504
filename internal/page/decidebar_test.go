package page

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// fonts lists pairs of font families, proportional and fixed, of very different widths.
var fonts = [][2]string{{"Liberation Sans", "Liberation Mono"}, {"DejaVu Sans", "DejaVu Sans Mono"}}

func (b *tab) font(f [2]string) {
	b.t.Helper()
	eval[chromedp.Void](b, fmt.Sprintf(`(() => { const s = document.documentElement.style; s.setProperty("--sans", %s); s.setProperty("--mono", %s); })()`, quote(quote(f[0])), quote(quote(f[1]))))
}

// prose proposes changes in notes and in code. Each paragraph of a note is one long line, in which
// one word changes.
func prose(t testing.TB, s *served, by proposer, hunks int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(53, uint64(hunks)))
	words := strings.Fields("the garden was planted in spring and every row got a name that only the gardener knew by heart")
	var ops []change.Op
	for k, left := 0, hunks; left > 0; k++ {
		var old, now strings.Builder
		n := min(left, 1+2*k)
		for i := range n {
			var paragraph []string
			for range 20 + rng.IntN(200) {
				paragraph = append(paragraph, words[rng.IntN(len(words))])
			}
			at := rng.IntN(len(paragraph))
			was := strings.Join(paragraph, " ")
			if k%3 == 2 {
				was = fmt.Sprintf("\tif got, err := planted(%d); err != nil { return wrapped(got, err) }", i)
			}
			line := was
			switch {
			case k%3 == 2:
				line = strings.Replace(was, "planted", "grown", 1)
			case rng.IntN(5) == 0:
				line = was + "\n\nAn added paragraph."
			default:
				paragraph[at] = "rewritten"
				line = strings.Join(paragraph, " ")
			}
			const rest = "\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\n"
			fmt.Fprintf(&old, "## Part %d\n\n%s%s", i, was, rest)
			fmt.Fprintf(&now, "## Part %d\n\n%s%s", i, line, rest)
		}
		left -= n
		name := fmt.Sprintf("notes of the year/chapter-%d.md", k)
		write(t, filepath.Join(s.dir, name), old.String())
		ops = append(ops, change.Op{Verb: change.WriteFile, Path: name, Content: []byte(now.String())})
	}
	return pendingID(t, by, change.Set{Tool: "apply_changes", Client: change.Client{Name: "claude-code"}, Ops: ops})
}

// unseen is a script that returns the changed words of the current hunk that are covered or outside
// the window. If no word is marked, it tests the first changed line instead.
const unseen = `(() => {
	const el = document.querySelector(".hunk.now"), marks = [...el.querySelectorAll(".l.add ins, .l.del del")];
	const seen = (x) => [...x.getClientRects()].some((r) => { const at = document.elementFromPoint(r.left + Math.min(r.width, 16) / 2, r.top + r.height / 2); return !!at && (x.contains(at) || at.contains(x) && at.closest(".l") === x.closest(".l")); });
	return (marks.length ? marks : [el.querySelector(".l.add .tx, .l.del .tx")]).filter((x) => !seen(x)).map((x) => el.dataset.k + ": " + x.textContent.slice(0, 30));
})()`

// TestBrowserDecidesByKeys decides every hunk with the keyboard. Whenever a key decides, all
// changed words of the hunk must be visible.
func TestBrowserDecidesByKeys(t *testing.T) {
	decisions := 0
	for i, size := range [][2]int64{{1280, 800}, {1366, 768}, {380, 800}} {
		for j, font := range fonts {
			if !stress.Thorough() && i != 2*j {
				continue
			}
			for _, hunks := range []int{3, 60} {
				s, agent := serveReview(t, nil)
				id := prose(t, s, agent, hunks)
				b := s.open(t, "/review/"+id, size[0], size[1], "light")
				b.has(".hunk.now", fmt.Sprintf("1 of %d", hunks))
				b.font(font)
				for k := range hunks {
					b.until(fmt.Sprintf(`document.querySelector(".hunk.now")?.dataset.k === "%d"`, k))
					// If part of the hunk is not visible, the key scrolls instead of deciding.
					for try := 0; ; try++ {
						hidden := eval[[]string](b, unseen)
						b.keys([]string{"a", "r"}[k%2])
						if eval[int](b, `document.querySelectorAll(".hunk.yes, .hunk.no").length`) == k+1 {
							if len(hidden) > 0 {
								t.Errorf("%v %s: hunk %d of %d is decided with %q out of sight", size, font[0], k+1, hunks, hidden)
							}
							decisions++
							break
						}
						if try > 3 {
							b.picture(filepath.Join(t.ArtifactDir(), "stuck.png"))
							t.Fatalf("%v %s: hunk %d of %d can't be decided by keys; out of sight: %q", size, font[0], k+1, hunks, hidden)
						}
					}
				}
				b.keys(kb.Enter)
				b.has(".facts", "applied as")
				b.close()
			}
		}
	}
	t.Logf("%d decisions", decisions)
}

// TestBrowserBarKeepsItsHeight checks that in every state of a review the decision bar is at most
// 64 pixels high and all its buttons are visible.
func TestBrowserBarKeepsItsHeight(t *testing.T) {
	s, agent := serveReview(t, nil)
	id := prose(t, s, agent, 46)
	states := []struct {
		name string
		keys []string
	}{
		{"begun", nil}, {"two accepted", []string{"a", "a"}}, {"one refused", []string{"r"}}, {"a comment", []string{"c", "why", kb.Escape}}, {"on the whole", []string{"C"}}, {"after it", []string{"well done", kb.Escape}}, {"too early", []string{kb.Enter}},
	}
	looked := 0
	for i, theme := range []string{"light", "dark"} {
		for j, font := range fonts {
			if !stress.Thorough() && i != j {
				continue
			}
			b := s.open(t, "/review/"+id, 1280, 800, theme)
			b.has(".hunk.now", "1 of 46")
			b.font(font)
			look := func(state string) {
				t.Helper()
				for _, width := range []int64{380, 768, 1280, 1366, 1600, 2560} {
					b.do(chromedp.EmulateViewport(width, 800))
					b.until(fmt.Sprintf("innerWidth === %d", width))
					got := eval[struct {
						Height float64
						Out    []string
					}](b, `(() => {
						const bar = document.querySelector(".decide"), box = bar.getBoundingClientRect();
						const out = [...bar.querySelectorAll("button, .tag")].filter((x) => x.checkVisibility()).filter((x) => { const r = x.getBoundingClientRect(); return r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom || x.scrollWidth > x.clientWidth + 1; }).map((x) => x.textContent || x.title);
						return { height: box.height, out };
					})()`)
					if looked++; got.Height > 64 || len(got.Out) > 0 {
						t.Errorf("%s at %d, %s, %s: the bar is %.0f pixels high; cut: %q", state, width, theme, font[0], got.Height, got.Out)
					}
					if stress.Thorough() {
						b.picture(filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d-%s-%d.png", state, width, theme, j)))
					}
				}
			}
			for _, st := range states {
				b.do(chromedp.EmulateViewport(1280, 800))
				for _, k := range st.keys {
					b.keys(k)
				}
				look(st.name)
			}
			b.do(chromedp.EmulateViewport(1280, 800))
			eval[chromedp.Void](b, `[...document.querySelectorAll(".decide button")].find((x) => x.textContent === "Accept the rest").click()`)
			b.has(".decide", "45 accepted")
			look("ready")
			note := filepath.Join(s.dir, "notes of the year/chapter-0.md")
			was := s.text(t, "notes of the year/chapter-0.md")
			write(t, note, "# All of it is new\n")
			b.has(".says", "A file changed since the proposal")
			look("changed since")
			write(t, note, was)
			b.until(`!document.querySelector(".met")`)
			eval[chromedp.Void](b, `sessionStorage.removeItem("quarry.review.`+id+`")`)
			b.close()
		}
	}
	t.Logf("%d states and widths", looked)
	if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, id, review.Decision{By: "page", Rest: review.No}); err != nil {
		t.Error(err)
	}
}

// If a key has no effect, a message says why. The next proposal is shown from its title on.
// Messages about the previous one cover neither "Send decision" nor the diff.
func TestBrowserKeysSayWhy(t *testing.T) {
	s, agent := serveReview(t, nil)
	first := prose(t, s, agent, 12)
	b := s.open(t, "/review/"+first, 1280, 800, "light")
	b.has(".hunk.now", "1 of 12")
	says := func(key, want string) {
		t.Helper()
		b.keys(key)
		b.has(".says", want)
	}
	says("k", "This is the first hunk.")
	says("p", "This is the first file.")
	says(kb.Enter, "Decide 12 more hunks first")
	b.keys("a")
	b.until(`document.querySelector(".hunk.now").dataset.k === "1" && document.querySelector(".says").textContent.includes("decide 11 more hunks")`)
	eval[chromedp.Void](b, `scrollTo(0, 1e6)`)
	says("a", "Read on, then decide.")
	b.keys("n", "n", "n", "n", "n")
	says("n", "This is the last file.")
	eval[chromedp.Void](b, `[...document.querySelectorAll(".decide button")].find((x) => x.textContent === "Refuse the rest").click()`)
	b.has(".tally", "11 refused")
	pendingID(t, agent, change.Set{Tool: "write_file", Client: change.Client{Name: "cursor"}, Ops: []change.Op{{Verb: change.CreateFile, Path: "new.txt", Content: []byte(strings.Repeat("line\n", 100))}}})
	b.until(`document.querySelectorAll(".list .entry").length === 2`)
	if eval[float64](b, `scrollY`) < 300 {
		t.Error("nothing is scrolled")
	}
	b.keys(kb.Enter)
	b.has(".toast", "Applied as")
	b.has(".dhead", "new.txt")
	b.has(".hunk.now", "1 of 1")
	got := eval[struct {
		Title         float64
		Covered, Over bool
	}](b, `(() => {
		const title = document.querySelector(".dhead h1").getBoundingClientRect(), send = document.querySelector(".decide .primary").getBoundingClientRect(), toast = document.querySelector(".toast").getBoundingClientRect();
		const meets = (r) => toast.left < r.right && toast.right > r.left && toast.top < r.bottom && toast.bottom > r.top;
		return { title: title.top - document.querySelector(".bar").getBoundingClientRect().bottom, covered: meets(send), over: [...document.querySelectorAll(".diff")].some((x) => meets(x.getBoundingClientRect())) };
	})()`)
	if got.Title < 0 || got.Covered || got.Over {
		t.Errorf("the next proposal: %+v", got)
	}
	b.keys("R")
	b.has("dialog[open]", "Refuse everything?")
	b.keys(kb.Enter)
	b.has(".facts", "refused")
	b.keys("a")
	b.has(".toasts", "This proposal is decided already.")
}
