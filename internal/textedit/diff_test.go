package textedit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/stress"
	"quarry/internal/textfile"
)

var uncut = &DiffOptions{MaxLine: -1, MaxLines: -1}

// applyDiff applies a diff strictly: every line and count must fit.
func applyDiff(t *testing.T, before, diff string) string {
	t.Helper()
	src := splitLines([]byte(before), maxCompared)
	lines := strings.SplitAfter(diff, "\n")
	lines = lines[:len(lines)-1]
	var out []string
	at := 0
	for i := 0; i < len(lines); {
		var a, ac, b, bc int
		parseRange := func(s string, start, count *int) {
			if n, _ := fmt.Sscanf(s, "%d,%d", start, count); n == 1 {
				*count = 1
			}
			if *count > 0 {
				*start--
			}
		}
		f := strings.Fields(lines[i])
		if len(f) != 4 || f[0] != "@@" {
			t.Fatalf("no hunk header: %q in\n%s", lines[i], diff)
		}
		parseRange(f[1][1:], &a, &ac)
		parseRange(f[2][1:], &b, &bc)
		for ; at < a; at++ {
			out = append(out, string(src[at]))
		}
		if len(out) != b {
			t.Fatalf("hunk %q: new text is at line %d\n%s", lines[i], len(out), diff)
		}
		for i++; i < len(lines) && lines[i][0] != '@'; i++ {
			l := lines[i][1:]
			if i+1 < len(lines) && lines[i+1][0] == '\\' {
				l = strings.TrimSuffix(l, "\n")
			}
			switch lines[i][0] {
			case '\\':
				continue
			case '+':
				out = append(out, l)
				bc--
				continue
			case ' ':
				out = append(out, l)
				bc--
			}
			if at >= len(src) || string(src[at]) != l {
				t.Fatalf("line %d does not fit %q\n%s", at+1, l, diff)
			}
			at++
			ac--
		}
		if ac != 0 || bc != 0 {
			t.Fatalf("counts are off by %d and %d\n%s", ac, bc, diff)
		}
	}
	for ; at < len(src); at++ {
		out = append(out, string(src[at]))
	}
	return strings.Join(out, "")
}

// texts returns the two texts as the diff shows them.
func texts(t *testing.T, d *textfile.Document, ch *Change) (string, string) {
	t.Helper()
	if d.Encoding().IsUTF8() {
		return string(d.Raw()), string(ch.Bytes())
	}
	enc := d.Encoding()
	after, _ := enc.AppendDecoded(nil, ch.Bytes()[len(enc.BOM()):], true)
	return string(d.Text()), string(after)
}

func checkDiff(t *testing.T, d *textfile.Document, ch *Change) {
	t.Helper()
	before, after := texts(t, d, ch)
	diff := ch.Diff(uncut)
	// If the text between two lone surrogates is deleted, they become a pair. The diff shows
	// the text as it was before.
	if !d.Exact() && !strings.Contains(after, "\uFFFD") {
		return
	}
	if got := applyDiff(t, before, diff); got != after && d.Exact() {
		t.Fatalf("diff gives %q, want %q, from %q\n%s", clipped(got), clipped(after), clipped(before), diff)
	}
	if got := applyDiff(t, before, DiffTexts([]byte(before), []byte(after), uncut)); got != after {
		t.Fatalf("DiffTexts gives %q, want %q\n%s", clipped(got), clipped(after), diff)
	}
}

func TestDiff(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range []struct {
		name, raw string
		edits     []change.Edit
		want      string
	}{
		{"a line in the middle", ten, []change.Edit{{Old: "5", New: "five", Occurrence: change.First}}, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"insert at the beginning", ten, []change.Edit{{Verb: change.InsertAfter, First: 0, New: "0"}}, "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"},
		{"delete the first", ten, []change.Edit{{Verb: change.DeleteLines, First: 1, Last: 1}}, "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n"},
		{"into an empty file", "", []change.Edit{{Verb: change.InsertAfter, First: 0, New: "x"}}, "@@ -0,0 +1 @@\n+x\n"},
		{"delete everything", "a\nb", []change.Edit{{Verb: change.DeleteLines, First: 1, Last: 2}}, "@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"},
		{"no final newline", "a\nb", []change.Edit{{Verb: change.InsertAfter, First: 2, New: "c"}}, "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"},
		{"far apart: two hunks", ten, []change.Edit{{Old: "1", New: "one", Occurrence: change.First}, {Old: "9", New: "nine", Occurrence: change.First}}, "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,5 +6,5 @@\n 6\n 7\n 8\n-9\n+nine\n 10\n"},
		{"close: one hunk", ten, []change.Edit{{Old: "1", New: "one", Occurrence: change.First}, {Old: "8", New: "eight", Occurrence: change.First}}, "@@ -1,10 +1,10 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n 9\n 10\n"},
		{"numbers behind an insertion", ten, []change.Edit{{Verb: change.InsertAfter, First: 1, New: "x\ny"}, {Verb: change.DeleteLines, First: 10, Last: 10}}, "@@ -1,4 +1,6 @@\n 1\n+x\n+y\n 2\n 3\n 4\n@@ -7,4 +9,3 @@\n 7\n 8\n 9\n-10\n"},
		{"only lines that differ inside one span", "a\nb\nc\n", []change.Edit{{Old: "a\nb\nc", New: "A\nb\nC", Occurrence: change.First}}, "@@ -1,3 +1,3 @@\n-a\n+A\n b\n-c\n+C\n"},
		{"nothing", "a\n", []change.Edit{{Verb: change.ReplaceSpan, Start: 0, End: 1, New: "a"}}, ""},
		{"utf-16 is shown decoded", "\xFF\xFEa\x00\n\x00", []change.Edit{{Old: "a", New: "é", Occurrence: change.First}}, "@@ -1 +1 @@\n-a\n+é\n"},
	} {
		ch, err := Apply(doc(t, c.raw), c.edits...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := ch.Diff(nil); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestDiffIsCut(t *testing.T) {
	d := doc(t, strings.Repeat("x", 5000)+"\n"+strings.Repeat("y\n", 5000))
	ch, err := Apply(d, change.Edit{Verb: change.DeleteLines, First: 1, Last: 5001})
	if err != nil {
		t.Fatal(err)
	}
	got := ch.Diff(nil)
	if len(got) > 12000 || !strings.Contains(got, "x… [line cut: 5000 bytes]\n") || !strings.HasSuffix(got, "[diff cut: 3001 more changed lines]\n") {
		t.Errorf("%d bytes: %.50q … %q", len(got), got, got[len(got)-60:])
	}
}

// For a long line, the diff shows the part that differs.
func TestCutLineShowsDifference(t *testing.T) {
	long := strings.Repeat("é", 5000)
	got := DiffTexts([]byte(long+"old"+long+"\nx\n"), []byte(long+"new"+long+"\nx\n"), &DiffOptions{MaxLine: 20})
	want := "@@ -1,2 +1,2 @@\n-…éééoldééééé… [line cut: 20003 bytes]\n+…ééénewééééé… [line cut: 20003 bytes]\n x\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A cut line still shows whether the original ends with a line feed.
func TestCutLineEnds(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ name, before, after, want string }{
		{"changed", long + "1\n", long + "2\n", "- +"},
		{"context", long + "\na\n", long + "\nb\n", "  - +"},
		{"without an end", long + "1", long + "2\n", "- \\ +"},
	} {
		var got []string
		for line := range strings.Lines(DiffTexts([]byte(c.before), []byte(c.after), nil)) {
			if line[0] != '@' {
				got = append(got, line[:1])
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

func randomLines(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString([]string{"a\n", "b\n", "c\r\n", "\n", "long line\n"}[rng.IntN(5)])
	}
	if rng.IntN(3) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

// lcs computes the length of the longest common subsequence with the textbook table, to check
// that an edit script is a shortest one.
func lcs(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diag := 0
		for j := range b {
			next := max(row[j], row[j+1])
			if bytes.Equal(a[i], b[j]) {
				next = diag + 1
			}
			diag, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

func TestDiffTextsIsMinimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		a, b := randomLines(rng, rng.IntN(30)), randomLines(rng, rng.IntN(30))
		if rng.IntN(2) == 0 {
			k := rng.IntN(len(a) + 1)
			b = a[:k] + b
		}
		diff := DiffTexts([]byte(a), []byte(b), uncut)
		if got := applyDiff(t, a, diff); got != b {
			t.Fatalf("%q to %q gives %q\n%s", a, b, got, diff)
		}
		changed := strings.Count(diff, "\n+") + strings.Count(diff, "\n-")
		la, lb := splitLines([]byte(a), maxCompared), splitLines([]byte(b), maxCompared)
		if want := len(la) + len(lb) - 2*lcs(la, lb); changed != want {
			t.Fatalf("%q to %q: %d changed lines, %d would do\n%s", a, b, changed, want, diff)
		}
	}
}

// Comparing two texts with nothing in common stays within the budget, and the diff is still correct.
func TestDiffTextsGivesUpInTime(t *testing.T) {
	stress.SkipTiny(t)
	rng := rand.New(rand.NewPCG(9, 10))
	var a, b strings.Builder
	for range 60000 {
		fmt.Fprintf(&a, "%d\n", rng.IntN(50000))
		fmt.Fprintf(&b, "%d\n", rng.IntN(50000))
	}
	if got := applyDiff(t, a.String(), DiffTexts([]byte(a.String()), []byte(b.String()), uncut)); got != b.String() {
		t.Error("the diff does not lead to the new text")
	}
}

func FuzzDiffTexts(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\r\nb"))
	f.Add([]byte(""), []byte("\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if got := applyDiff(t, string(a), DiffTexts(a, b, uncut)); got != string(b) {
			t.Fatalf("%q to %q gives %q", a, b, got)
		}
	})
}

// One patch for 400 files is accepted by git apply and by patch, and gives the new texts.
func TestDiffWithGitApplyAndPatch(t *testing.T) {
	stress.SkipShort(t)
	rng := rand.New(rand.NewPCG(11, 12))
	before, after := map[string]string{}, map[string]string{}
	var patch strings.Builder
	for len(before) < 400 {
		raw := randomLines(rng, rng.IntN(40))
		if rng.IntN(4) == 0 {
			raw = "\xEF\xBB\xBF" + randomText(rng, rng.IntN(60))
		}
		d, err := textfile.New([]byte(raw))
		if err != nil {
			continue
		}
		ch, err := Apply(d, randomEdit(rng, refTokens(raw, d.Encoding())), change.Edit{Verb: change.InsertAfter, First: rng.IntN(d.Lines().Count() + 1), New: "new\nlines"})
		if err != nil || ch.Empty() {
			continue
		}
		name := fmt.Sprintf("file %03d.txt", len(before))
		before[name], after[name] = raw, string(ch.Bytes())
		patch.WriteString(change.PathDiff{Old: name, New: name, Hunks: ch.Diff(uncut)}.String())
	}
	for _, tool := range [][]string{{"git", "apply", "--whitespace=nowarn", "-"}, {"patch", "-p1", "--binary", "-s"}} {
		t.Run(tool[0], func(t *testing.T) {
			path, err := exec.LookPath(tool[0])
			if err != nil {
				t.Skipf("%s is not installed (Debian: %s)", tool[0], tool[0])
			}
			dir := t.TempDir()
			for name, text := range before {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(path, tool[1:]...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			cmd.Stdin = strings.NewReader(patch.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%.2000s", err, out)
			}
			for name, want := range after {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || string(got) != want {
					t.Fatalf("%s: %v\ngot  %q\nwant %q\nfrom %q", name, err, got, want, before[name])
				}
			}
			t.Logf("%d files changed as %s says", len(after), tool[0])
		})
	}
}

// Millions of changed lines become one change, which is counted correctly without comparing them.
func TestDiffOfMillions(t *testing.T) {
	before := bytes.Repeat([]byte("\n"), 4<<20)
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	got := DiffTexts(before, []byte("a\nb"), &DiffOptions{MaxLines: 10})
	runtime.ReadMemStats(&end)
	if used := end.TotalAlloc - start.TotalAlloc; used > 64<<20 {
		t.Errorf("took %d MB", used>>20)
	}
	if !strings.HasPrefix(got, "@@ -1,4194304 +1,2 @@\n-\n") || !strings.HasSuffix(got, "[diff cut: 4194296 more changed lines]\n") {
		t.Errorf("%.60q … %.60q", got, got[max(0, len(got)-60):])
	}
	grown := DiffTexts([]byte("x\n"), append([]byte("x\n"), before...), &DiffOptions{MaxLines: 10})
	if !strings.HasPrefix(grown, "@@ -1 +1,4194305 @@\n x\n+\n") || !strings.HasSuffix(grown, "[diff cut: 4194295 more changed lines]\n") {
		t.Errorf("%.60q … %.60q", grown, grown[max(0, len(grown)-60):])
	}
}
