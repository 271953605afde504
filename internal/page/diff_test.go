package page

import (
	"strings"
	"testing"
	"time"

	"quarry/change"
)

func TestFilesOf(t *testing.T) {
	files := filesOf([]change.PathDiff{
		{Kind: change.DiffContent, Old: "x y.go", New: "x y.go", Hunks: "@@ -1,3 +1,4 @@\n one\n-two\n+--- a/not a name\n+@@ -9,9 +9,9 @@\n three\n"},
		{Kind: change.DiffRenamed, Old: "old.md", New: "new.md"},
		{Kind: change.DiffContent, Old: "new.md", New: "new.md", Hunks: "@@ -1 +1 @@\n-[a](b)\n\\ No newline at end of file\n+[a](c)\n"},
		{Kind: change.DiffContent, New: "q\"\x01\xff.txt", Hunks: "@@ -0,0 +1,2 @@\n+a\n+b\n[diff cut: 7 more changed lines]\n"},
		{Kind: change.DiffTrashed, Old: "gone.txt"},
	})
	if len(files) != 4 {
		t.Fatalf("%d files: %+v", len(files), files)
	}
	first := files[0]
	if first.Path != "x y.go" || first.Kind != "edit" || first.Add != 2 || first.Del != 1 || len(first.Hunks) != 1 {
		t.Errorf("first = %+v", first)
	}
	lines := first.Hunks[0].Lines
	if lines[2].Text != "--- a/not a name" || lines[2].New != 2 || lines[4].Old != 3 || lines[4].New != 4 {
		t.Errorf("lines = %+v", lines)
	}
	if m := files[1]; m.Kind != "move" || m.Old != "old.md" || m.Path != "new.md" || !m.Hunks[0].Lines[0].NoEnd {
		t.Errorf("moved = %+v", m)
	}
	if c := files[2]; c.Kind != "create" || pathOf(c.Path) != "q\"\x01\xff.txt" || c.Cut != 7 {
		t.Errorf("created = %+v", c)
	}
	if c := files[3]; c.Kind != "trash" || c.Path != "gone.txt" {
		t.Errorf("trashed = %+v", c)
	}
}

func TestWordMarks(t *testing.T) {
	mark := func(s string, m []int) string {
		var b strings.Builder
		r := []rune(s)
		for i := range r {
			for k := 0; k < len(m); k += 2 {
				if i == m[k] {
					b.WriteByte('[')
				}
				if i == m[k+1] {
					b.WriteByte(']')
				}
			}
			b.WriteRune(r[i])
		}
		if len(m) > 0 && m[len(m)-1] == len(r) {
			b.WriteByte(']')
		}
		return b.String()
	}
	for _, c := range []struct{ a, b, ma, mb string }{
		{"type RetryPolicy struct {", "type BackoffPolicy struct {", "type [RetryPolicy] struct {", "type [BackoffPolicy] struct {"},
		{"f(a, b)", "f(a, b, c)", "f(a, b)", "f(a, b[, c])"},
		{"completely different", "nothing in common here", "completely different", "nothing in common here"},
		{"", "x", "", "[x]"},
		{strings.Repeat("one long paragraph ", 200) + "was here", strings.Repeat("one long paragraph ", 200) + "is here", strings.Repeat("one long paragraph ", 200) + "[was] here", strings.Repeat("one long paragraph ", 200) + "[is] here"},
	} {
		ma, mb := wordDiff(c.a, c.b)
		if got := mark(c.a, ma); got != c.ma {
			t.Errorf("wordDiff(%q, %q): old %s, want %s", c.a, c.b, got, c.ma)
		}
		if got := mark(c.b, mb); got != c.mb {
			t.Errorf("wordDiff(%q, %q): new %s, want %s", c.a, c.b, got, c.mb)
		}
	}
}

// The lengths of the colours add up to the length of the text, because the page splits the text by
// them.
func TestColoursCoverTheLine(t *testing.T) {
	texts := []string{"package p // 😀 hé", "", "/* a", "b */ var x = `", "`", "\tfunc() {}\x00\u202e", "func f(s string) int { return 0x1F }"}
	for _, name := range []string{"a.go", "a.py", "a.md", "a.js", "a.html", "Makefile", "a.toml"} {
		lines := colourLines(t.Context(), name, texts, time.Now().Add(time.Minute))
		if len(lines) != len(texts) {
			t.Errorf("%s: %d lines, want %d", name, len(lines), len(texts))
			continue
		}
		for i, l := range lines {
			n := 0
			for k := 0; k < len(l); k += 2 {
				n += l[k].(int)
			}
			if want := units([]byte(texts[i])); n != want {
				t.Errorf("%s line %d: colours of %d units, want %d", name, i, n, want)
			}
		}
	}
	if colourLines(t.Context(), "a.unknown", texts, time.Now().Add(time.Minute)) != nil {
		t.Error("an unknown language has colours")
	}
	if colourLines(t.Context(), "a.go", texts, time.Now().Add(-time.Second)) != nil {
		t.Error("colours after the deadline")
	}
}

// A hunk of Markdown may begin inside a fence, or with a rule that is no front matter.
func TestColoursBelowAFence(t *testing.T) {
	for hunks, want := range map[string]string{
		"@@ -9,4 +9,5 @@\n # in code\n ```\n \n # head\n+# more\n":    "s s . f f",
		"@@ -9,4 +9,5 @@\n # in code\n ```\n \n ```sh\n+# more\n":     "s s . s s",
		"@@ -9,3 +9,4 @@\n # head\n ```\n+# in code\n ```\n":          "f s s s",
		"@@ -9,3 +9,4 @@\n # head\n ```go\n+# in code\n a\n":          "f s s s",
		"@@ -9,3 +9,4 @@\n ---\n a: b\n+c: d\n # head\n":              ". . . f",
		"@@ -1,3 +1,4 @@\n ```\n # in code\n+# in code\n # in code\n": "s s s s",
	} {
		f := diffFile{Path: "a.md"}
		f.read(hunks)
		finishDiff(t.Context(), []diffFile{f}, time.Now().Add(time.Minute))
		var got []string
		for _, l := range f.Hunks[0].Lines {
			class := "."
			if len(l.Colour) == 2 && l.Colour[1] != "" {
				class = l.Colour[1].(string)
			}
			got = append(got, class)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", hunks, got, want)
		}
	}
}

// Line endings are marked only if they differ.
func TestLineEnds(t *testing.T) {
	for hunks, want := range map[string]string{
		"@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n": "rr..",
		"@@ -1,1 +1,2 @@\n a\r\n+b\r\n":         "..",
		"@@ -1,1 +1,2 @@\n a\n+b\r\n":           ".r",
	} {
		f := diffFile{Path: "a.txt"}
		f.read(hunks)
		finishDiff(t.Context(), []diffFile{f}, time.Now().Add(time.Minute))
		got := ""
		for _, l := range f.Hunks[0].Lines {
			if strings.HasSuffix(l.Text, "\r") {
				t.Errorf("text %q", l.Text)
			}
			if l.CR {
				got += "r"
			} else {
				got += "."
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", hunks, got, want)
		}
	}
}
