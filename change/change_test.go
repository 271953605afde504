package change

import "testing"

// Every header has the path below the folder, and file lines do not change.
func TestDiffUnder(t *testing.T) {
	at := place{"app"}
	for _, c := range []struct {
		name   string
		folder string
		diff   PathDiff
		want   string
	}{
		{"a change", "org/app", PathDiff{Old: "x.go", New: "x.go", Hunks: "@@ -1 +1 @@\n-a\n+b\n"}, "--- a/org/app/x.go\n+++ b/org/app/x.go\n@@ -1 +1 @@\n-a\n+b\n"},
		{"a new file", "app", PathDiff{New: "x", Hunks: "@@ -0,0 +1 @@\n+b\n"}, "--- /dev/null\n+++ b/app/x\n@@ -0,0 +1 @@\n+b\n"},
		{"lines that look like headers", "app", PathDiff{Old: "x", New: "x", Hunks: "@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n rename to z\n"},
			"--- a/app/x\n+++ b/app/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n rename to z\n"},
		{"a name with a space", "app", PathDiff{Old: "my x", New: "my x", Hunks: "@@"}, "--- a/app/my x\t\n+++ b/app/my x\t\n@@"},
		{"a name in quotes", "app", PathDiff{Old: "q\"\\\n7", Hunks: "@@"}, "--- \"a/app/q\\\"\\\\\\0127\"\n+++ /dev/null\n@@"},
		{"nothing changed", "app", PathDiff{Old: "x", New: "x"}, ""},
		{"a move", "app", PathDiff{Kind: DiffRenamed, Old: "x", New: "y/z"}, "rename from app/x\nrename to app/y/z\n"},
		{"the trash", "app", PathDiff{Kind: DiffTrashed, Old: "x", New: "x"}, "moved to trash: app/x\n"},
		{"from the trash", "app", PathDiff{Kind: DiffRestored, Old: "x", New: "x"}, "restored from trash: app/x\n"},
		{"a folder", "app", PathDiff{Kind: DiffMade, New: "d", Entry: "folder"}, "new folder: app/d\n"},
		{"a symlink", "app", PathDiff{Kind: DiffDeleted, Old: "l", Entry: "symlink"}, "deleted symlink: app/l\n"},
		{"binary", "app", PathDiff{Kind: DiffBinary, Old: "x", New: "x"}, "Binary files a/app/x and b/app/x differ\n"},
		{"new binary", "app", PathDiff{Kind: DiffBinary, New: "x"}, "Binary files /dev/null and b/app/x differ\n"},
	} {
		at.folder = c.folder
		if got := c.diff.under(at).String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestDiffCounts(t *testing.T) {
	d := PathDiff{Old: "x", New: "x", Hunks: "@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n@@ -9 +9,2 @@\n d\n+@@\n\\ No newline at end of file\n"}
	if h, a, r := d.Counts(); h != 2 || a != 2 || r != 1 {
		t.Errorf("%d hunks, %d added, %d removed; want 2, 2, 1", h, a, r)
	}
}
