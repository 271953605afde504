package textedit

import "testing"

// TestDiffUnder: every heading names the path below the folder, and no line of
// a file changes.
func TestDiffUnder(t *testing.T) {
	for _, c := range []struct{ name, folder, diff, want string }{
		{"nothing", "app", "", ""},
		{"no folder", "", "--- a/x\n", "--- a/x\n"},
		{"a change", "org/app", "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n", "--- a/org/app/x.go\n+++ b/org/app/x.go\n@@ -1 +1 @@\n-a\n+b\n"},
		{"a new file", "app", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "--- /dev/null\n+++ b/app/x\n@@ -0,0 +1 @@\n+b\n"},
		{"lines that look like headings", "app", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n rename to z\n",
			"--- a/app/x\n+++ b/app/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n rename to z\n"},
		{"a name with a space", "app", "--- a/my x\t\n+++ b/my x\t\n", "--- a/app/my x\t\n+++ b/app/my x\t\n"},
		{"a folder with a space", "my app", "--- a/x\n+++ b/x\n", "--- a/my app/x\t\n+++ b/my app/x\t\n"},
		{"a name in quotes", "app", "--- \"a/q\\\"\\\\\\0127\"\n", "--- \"a/app/q\\\"\\\\\\0127\"\n"},
		{"a folder that needs them", `a"b`, "+++ b/x\n", "+++ \"b/a\\\"b/x\"\n"},
		{"a move", "app", "rename from x\nrename to y/z\n", "rename from app/x\nrename to app/y/z\n"},
		{"the trash", "app", "moved to trash: x\nrestored from trash: y\n", "moved to trash: app/x\nrestored from trash: app/y\n"},
		{"folders", "app", "new folder: d\ndeleted symlink: l\n", "new folder: app/d\ndeleted symlink: app/l\n"},
		{"binary", "app", "Binary files a/x and b/x differ\n", "Binary files a/app/x and b/app/x differ\n"},
		{"new binary", "app", "Binary files /dev/null and b/x differ\n", "Binary files /dev/null and b/app/x differ\n"},
		{"deleted binary", "app", "Binary files a/x and /dev/null differ\n", "Binary files a/app/x and /dev/null differ\n"},
		{"a mean name", "app", "Binary files a/x and b/y and b/x and b/y differ\n", "Binary files a/app/x and b/y and b/app/x and b/y differ\n"},
		{"a note", "app", "[diff cut: 5 more changed lines]\n", "[diff cut: 5 more changed lines]\n"},
		{"no line break", "app", "rename to y", "rename to app/y"},
	} {
		if got := DiffUnder(c.folder, c.diff); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// FuzzDiffUnder: the diff of a file is the same whether its name had the folder
// in front from the beginning or got it later.
func FuzzDiffUnder(f *testing.F) {
	for _, name := range []string{"x", "my note", "q\"\\\n\x7f0", "\t", "\"", "é/\xff", "\\101"} {
		f.Add(name, "app/my", "--- a/x\nb\n", "+++ b/x\n\\ c")
	}
	f.Fuzz(func(t *testing.T, name, folder, before, after string) {
		if name == "" || folder == "" {
			return
		}
		full := folder + "/" + name
		want := DiffTexts([]byte(before), []byte(after), &DiffOptions{Old: full, New: full})
		if got := DiffUnder(folder, DiffTexts([]byte(before), []byte(after), &DiffOptions{Old: name, New: name})); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", name, got, want)
		}
	})
}
