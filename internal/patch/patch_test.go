package patch

import (
	"strings"
	"testing"

	"quarry/change"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		want        string // one line per operation
	}{
		{"codex", "*** Begin Patch\n*** Add File: a/b.txt\n+x\n+\n*** Delete File: c\n*** Update File: d e.go\n*** Move to: f.go\n@@ func g() {\n a\n-b\n+c\n*** End of File\n*** End Patch\n",
			"2 a/b.txt  \"x\\n\\n\"\n3 c  \"\"\n4 d e.go f.go \"\" hunk 0 \"func g() {\" end \" a\\n-b\\n+c\\n\"\n"},
		{"git", "From x\nSubject: y\n---\n a | 2 +-\n\ndiff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -3,2 +3,3 @@ func f()\n a\n+b\n c\n",
			"0 x.go  \"\" hunk 3 \"\" \" a\\n+b\\n c\\n\"\n"},
		{"git's new, deleted and renamed files", "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n" +
			"diff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n" +
			"diff --git a/r s b/t u\nsimilarity index 100%\nrename from r s\nrename to t u\n" +
			"diff --git a/e b/e\nnew file mode 100644\nindex 0..0\n",
			"2 n  \"x\" executable\n3 o  \"y\\n\"\n4 r s t u \"\"\n2 e  \"\"\n"},
		{"git's headers with carriage returns", "diff --git a/n b/n\r\nnew file mode 100755\r\nindex 0..1\r\n--- /dev/null\r\n+++ b/n\r\n@@ -0,0 +1 @@\r\n+x\r\n" +
			"diff --git a/r b/t\r\nsimilarity index 100%\r\nrename from r\r\nrename to t\r\ndiff --git a/m b/m\r\nold mode 100644\r\nnew mode 100755\r\n",
			"2 n  \"x\r\\n\" executable\n4 r t \"\"\n0 m  \"\" executable\n"},
		{"unified without prefixes", "--- x.c\t2026-01-01\n+++ x.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", "0 x.c  \"\" hunk 1 \"\" \"-a\\n+b\\n\"\n"},
		{"a mail's signature", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n", "0 x  \"\" hunk 1 \"\" \"-a\\n+b\\n\"\n"},
		{"a removed line that looks like a header", "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a\n a\n", "0 x  \"\" hunk 1 \"\" \"--- a\\n a\\n\"\n"},
		{"a quoted name", "diff --git \"a/\\303\\244\\t\" \"b/\\303\\244\\t\"\n--- \"a/\\303\\244\\t\"\n+++ \"b/\\303\\244\\t\"\n@@ -1 +1 @@\n-a\n+b\n", "0 ä\t  \"\" hunk 1 \"\" \"-a\\n+b\\n\"\n"},
	} {
		ops, err := Parse(c.patch, -1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := show(ops); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, patch := range map[string]string{
		"nothing":        "",
		"no diff":        "hello\n",
		"empty envelope": "*** Begin Patch\n*** End Patch\n",
		"no end":         "*** Begin Patch\n*** Delete File: x\n",
		"unknown part":   "*** Begin Patch\n*** Frobnicate File: x\n*** End Patch\n",
		"no hunk":        "*** Begin Patch\n*** Update File: x\n*** End Patch\n",
		"short hunk":     "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n",
		"long hunk":      "diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n",
		"more context":   "diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n d\n",
		"cut short":      "diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n a\n-b\n+c\n",
		"no place":       "--- a/x\n+++ b/x\n@@ ... @@\n+b\n",
		"open block":     "x\n<<<<<<< SEARCH\na\n=======\nb\n",
		"nameless block": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
		"combined":       "diff --cc x\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n--a\n++b\n",
		"unknown mode":   "diff --git a/x b/x\nold mode 100644\nnew mode 100777\n",
		"bad header":     "--- a/x\n+++ b/x\n@@ -x +1 @@\n a\n",
		"binary":         "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
		"binary patch":   "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n",
		"symlink":        "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n",
		"submodule":      "diff --git a/x b/x\nindex 1..2 160000\nold mode 160000\nnew mode 160000\n",
	} {
		if ops, err := Parse(patch, -1); err == nil {
			t.Errorf("%s: taken as %s", name, show(ops))
		}
	}
}

func show(ops []change.Op) string {
	var b strings.Builder
	for _, op := range ops {
		b.WriteString(strings.Join([]string{string('0' + rune(op.Verb)), op.Path, op.To, quote(string(op.Content))}, " "))
		if op.Executable != nil && *op.Executable {
			b.WriteString(" executable")
		}
		for _, e := range op.Edits {
			b.WriteString(" hunk " + string('0'+rune(e.First)) + " " + quote(e.Anchor))
			if e.AtEnd {
				b.WriteString(" end")
			}
			b.WriteString(" " + quote(e.Hunk))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"` }

func FuzzParse(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch\n")
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
	f.Fuzz(func(t *testing.T, patch string) {
		ops, err := Parse(patch, -1)
		if (len(ops) == 0) == (err == nil) {
			t.Fatalf("%d operations, %v", len(ops), err)
		}
	})
}
