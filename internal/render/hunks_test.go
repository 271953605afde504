package render_test

import (
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/render"
)

func TestHunks(t *testing.T) {
	d := change.PathDiff{Old: "a", New: "a", Hunks: "@@ -1,7 +1,8 @@\n one\n two\n three\n-four\n+FOUR\n+more\n five\n six\n seven\n@@ -20,3 +21,2 @@\n x\n-y\n z\n"}
	const want = "\n@@ 3\n three\n-four\n+FOUR\n+more\n five\n@@ 21\n x\n-y\n z"
	if got := render.Hunks(&d, 1000); got != want {
		t.Errorf("Hunks:\n%s\nwant\n%s", got, want)
	}
	if got := render.Hunks(&d, 10); got != "" {
		t.Errorf("over the budget: %q", got)
	}
	near := change.PathDiff{Hunks: "@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n d\n e\n f\n-g\n+G\n h\n"}
	if got := render.Hunks(&near, 1000); got != "\n@@ 1\n a\n-b\n+B\n c\n@@ 6\n f\n-g\n+G\n h" {
		t.Errorf("two far lines of one hunk:\n%s", got)
	}
}

func TestRewrites(t *testing.T) {
	c := &change.Change{Diffs: []change.PathDiff{
		{Old: "a", New: "a", Hunks: "@@ -1,3 +1,3 @@\n x\n-see [[Old name]] and more\n+see [[New name]] and more\n-[[Old name|alias]]\n+[[New name|alias]]\n"},
		{Old: "b", New: "b", Hunks: "@@ -9,1 +9,1 @@\n-max_bytes = 1\n+max_tokens = 1\n"},
	}}
	const want = "\n2× \"Old\" → \"New\"\n  -see [[Old name]] and more\n  +see [[New name]] and more" +
		"\n1× \"max_bytes\" → \"max_tokens\"\n  -max_bytes = 1\n  +max_tokens = 1"
	if got := render.Rewrites(c); got != want {
		t.Errorf("Rewrites:%s\nwant%s", got, want)
	}
	// Diffs of only the first files are examples, whatever else the change reports.
	for name, part := range map[string]*change.Change{
		"a file without a diff": {Diffs: c.Diffs, Paths: []string{"a", "b", "c"}},
		"a diff that is cut":    {Diffs: []change.PathDiff{c.Diffs[0], {Old: "b", New: "b", Hunks: c.Diffs[1].Hunks, Cut: change.Cut{Removed: 1}}}, Paths: []string{"a", "b"}},
	} {
		if got := render.Rewrites(part); !strings.Contains(got, `"Old" → "New"`) || strings.Contains(got, "×") {
			t.Errorf("%s: %s", name, got)
		}
	}
	c.Diffs = append(c.Diffs, change.PathDiff{Hunks: "@@ -1 +1,2 @@\n-a\n+a\n+b\n"})
	if got := render.Rewrites(c); got != "" {
		t.Errorf("lines that come and go: %s", strings.TrimSpace(got))
	}
}
