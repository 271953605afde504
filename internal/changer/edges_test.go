package changer

import (
	"context"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/patch"
)

func blobOf(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))[:10]
}

// A hunk with fewer lines of context than usual, or none, belongs at the edge of the
// file. It is applied there, or where other evidence puts it.
func TestHunksAtEdges(t *testing.T) {
	const git = "diff --git a/f b/f\nindex 1234567..89abcde 100644\n--- a/f\n+++ b/f\n"
	const unified = "--- a/f\n+++ b/f\n"
	exact := func(text string) string {
		return "diff --git a/f b/f\nindex " + blobOf(text) + "..89abcde 100644\n--- a/f\n+++ b/f\n"
	}
	eight := "1\n2\n3\n4\n5\n6\n7\n8\n"
	for _, c := range []struct {
		name, file, patch string
		want              string // "" means that the patch is refused
	}{
		{"the start, as it was", "a\nb\nc\nd\n", git + "@@ -1,3 +1,4 @@\n+new\n a\n b\n c\n", "new\na\nb\nc\nd\n"},
		{"the start, which now stands further down", "x\na\nb\nc\nd\n", git + "@@ -1,3 +1,4 @@\n+new\n a\n b\n c\n", ""},
		{"the start, with one line before", "x\na\nb\nc\nd\n", git + "@@ -1,4 +1,5 @@\n a\n+new\n b\n c\n d\n", ""},
		{"the end, as it was", "a\nb\nc\n", git + "@@ -1,3 +1,4 @@\n a\n b\n c\n+new\n", "a\nb\nc\nnew\n"},
		{"the end, which now stands further up", "x\na\nb\nc\nx\n", git + "@@ -2,3 +2,4 @@\n a\n b\n c\n+new\n", ""},
		{"the end, with one line after", "x\na\nb\nc\nd\nx\n", git + "@@ -2,4 +2,5 @@\n a\n b\n c\n+new\n d\n", ""},
		{"the end, of which a copy stands at the end", "x\na\nb\nc\nx\na\nb\nc\n", git + "@@ -2,3 +2,4 @@\n a\n b\n c\n+new\n", ""},
		{"a middle hunk that has moved", "x\nx\n" + eight, git + "@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+new\n 5\n 6\n 7\n", "x\nx\n1\n2\n3\nnew\n5\n6\n7\n8\n"},
		{"one line of context throughout", "x\n" + eight, git + "@@ -3,3 +3,3 @@\n 3\n-4\n+new\n 5\n", ""},
		{"one line of context, by hand", "x\n" + eight, unified + "@@ -3,3 +3,3 @@\n 3\n-4\n+new\n 5\n", "x\n1\n2\n3\nnew\n5\n6\n7\n8\n"},
		{"one line of context, and a later hunk moved as far", "x\n" + eight, git + "@@ -3,3 +3,3 @@\n 3\n-4\n+new\n 5\n@@ -6,2 +6,3 @@\n 6\n+end\n 7\n", "x\n1\n2\n3\nnew\n5\n6\nend\n7\n8\n"},
		{"one line of context, long text, elsewhere", "x\nthe first of three lines\nthe second of three lines\nthe third of three lines\ny\n",
			git + "@@ -1,3 +1,3 @@\n the first of three lines\n-the second of three lines\n+new\n the third of three lines\n", ""},
		{"another hunk shows that three lines are usual", eight + "a\n", git + "@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+new\n 5\n 6\n 7\n@@ -7,2 +7,3 @@\n 7\n 8\n+end\n", ""},
		{"more lines before than after, as -W has them", "x\n" + eight, git + "@@ -1,8 +1,8 @@\n 1\n 2\n 3\n 4\n-5\n+new\n 6\n 7\n 8\n", "x\n1\n2\n3\n4\nnew\n6\n7\n8\n"},
		{"a diff by hand, at its line", "x\na\nb\nc\nx\n", unified + "@@ -2,3 +2,4 @@\n a\n b\n c\n+new\n", "x\na\nb\nc\nnew\nx\n"},
		{"a diff by hand, elsewhere", "x\nx\na\nb\nc\nx\n", unified + "@@ -2,3 +2,4 @@\n a\n b\n c\n+new\n", ""},

		{"a place that has changed, and its copy", "1\n2\n3\nchanged\n5\n6\n7\n8\nx\n" + eight, git + "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+new\n 6\n 7\n 8\n", ""},
		{"two equal hunks, one place", "1\n2\n3\nx\n4\n5\n6\ny\n1\n2\n3\n4\n5\n6\nz\n", git + "@@ -1,6 +1,7 @@\n 1\n 2\n 3\n+new\n 4\n 5\n 6\n@@ -8,6 +9,7 @@\n 1\n 2\n 3\n+new\n 4\n 5\n 6\n", ""},
		{"a line that stands elsewhere too", "x\nchanged\nthe only line with this text\n", git + "@@ -2 +2 @@\n-the only line with this text\n+new\n", ""},
		{"no context, the very file", eight, exact(eight) + "@@ -3,0 +4 @@\n+new\n", "1\n2\n3\nnew\n4\n5\n6\n7\n8\n"},
		{"no context, the very file with other line endings", strings.ReplaceAll(eight, "\n", "\r\n"), exact(eight) + "@@ -3,0 +4 @@\n+new\n", "1\r\n2\r\n3\r\nnew\r\n4\r\n5\r\n6\r\n7\r\n8\r\n"},
		{"no context, another file", "x\n" + eight, exact(eight) + "@@ -3,0 +4 @@\n+new\n", ""},
		{"no context and no id", eight, unified + "@@ -3,0 +4 @@\n+new\n", ""},
		{"an empty file", "", unified + "@@ -0,0 +1 @@\n+new\n", "new\n"},
		{"no context, at the top of a file that is not empty", "a\n", unified + "@@ -0,0 +1 @@\n+new\n", ""},
		{"a line replaced without context, at its line", eight, unified + "@@ -3 +3 @@\n-3\n+new\n", "1\n2\nnew\n4\n5\n6\n7\n8\n"},
		{"a short line replaced without context, elsewhere", "x\n" + eight, unified + "@@ -3 +3 @@\n-3\n+new\n", ""},
		{"a long line replaced without context, elsewhere", "x\nthe only line with this text\ny\n", unified + "@@ -1 +1 @@\n-the only line with this text\n+new\n", "x\nnew\ny\n"},
		{"one of two lines without context", "a\nb\na\n", unified + "@@ -3 +3 @@\n-a\n+new\n", ""},
	} {
		w := changing(t, map[string]string{"f": c.file})
		ops, err := patch.Parse(c.patch, -1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		_, err = w.Apply(context.Background(), change.Set{Ops: ops})
		now, readErr := os.ReadFile(filepath.Join(w.root.RealDir(), "f"))
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s: applied, which gives %q", c.name, now)
		case c.want == "" && string(now) != c.file:
			t.Errorf("%s: refused (%v) and changed: %q", c.name, err, now)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && string(now) != c.want:
			t.Errorf("%s: %q, want %q", c.name, now, c.want)
		}
	}
}
