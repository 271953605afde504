package patch

import "testing"

// Patches are accepted with the additions that models write around and into them.
func TestParseWhatModelsWrite(t *testing.T) {
	const envelope = "*** Begin Patch\n*** Update File: x\n@@\n a\n-b\n+c\n*** End Patch\n"
	const hunk = "0 x  \"\" hunk 0 \"\" \" a\\n-b\\n+c\\n\"\n"
	for _, c := range []struct{ name, patch, want string }{
		{"a here-document", "apply_patch <<'EOF'\n" + envelope + "EOF\n", hunk},
		{"a here-document alone", "<<EOF\n" + envelope + "EOF", hunk},
		{"a here-document with a command", "cd src && apply_patch <<\"PATCH\"\n" + envelope + "PATCH\n", hunk},
		{"a fence", "```diff\n" + envelope + "```\n", hunk},
		{"a bare @@ in a diff", "--- a/x\n+++ b/x\n@@\n a\n-b\n+c\n", hunk},
		{"@@ with words in a diff", "--- a/x\n+++ b/x\n@@ func f() {\n a\n-b\n+c\n", "0 x  \"\" hunk 0 \"func f() {\" \" a\\n-b\\n+c\\n\"\n"},
		{"two bare hunks", "--- a/x\n+++ b/x\n@@ @@\n-a\n+b\n@@ @@\n-c\n+d\n--- a/y\n+++ b/y\n@@ @@\n-e\n+f\n", "0 x  \"\" hunk 0 \"\" \"-a\\n+b\\n\" hunk 0 \"\" \"-c\\n+d\\n\"\n0 y  \"\" hunk 0 \"\" \"-e\\n+f\\n\"\n"},
		{"too large counts", "--- a/x\n+++ b/x\n@@ -3,9 +3,9 @@\n a\n-b\n+c\n", "0 x  \"\" hunk 3 \"\" \" a\\n-b\\n+c\\n\"\n"},
		{"too small counts", "--- a/x\n+++ b/x\n@@ -3,1 +3,1 @@\n a\n-b\n+c\n d\n", "0 x  \"\" hunk 3 \"\" \" a\\n-b\\n+c\\n d\\n\"\n"},
		{"wrong counts, then another file", "--- a/x\n+++ b/x\n@@ -3,9 +3,9 @@\n a\n-b\n+c\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "0 x  \"\" hunk 3 \"\" \" a\\n-b\\n+c\\n\"\n0 y  \"\" hunk 1 \"\" \"-a\\n+b\\n\"\n"},
		{"search and replace", "x\n<<<<<<< SEARCH\na\nb\n=======\na\nc\n>>>>>>> REPLACE\n", "0 x  \"\" hunk 0 \"\" \"-a\\n-b\\n+a\\n+c\\n\"\n"},
		{"search and replace in a fence, twice", "src/x.go\n```go\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\nsrc/x.go\n```go\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n```\n", "0 src/x.go  \"\" hunk 0 \"\" \"-a\\n+b\\n\" hunk 0 \"\" \"-c\\n\"\n"},
		{"search and replace, the path once", "x\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n", "0 x  \"\" hunk 0 \"\" \"-a\\n+b\\n\" hunk 0 \"\" \"-c\\n+d\\n\"\n"},
		{"a new file by search and replace", "x\n<<<<<<< SEARCH\n=======\na\n>>>>>>> REPLACE\n", "2 x  \"a\\n\"\n"},
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
