package printing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/change"
)

// paintLetters replaces escape codes by letters, for readable tests.
var paintLetters = strings.NewReplacer(Good, "{g}", Bad, "{r}", Alert, "{R}", Place, "{c}", Bold, "{b}", Reset, "{}")

func TestPaintDiff(t *testing.T) {
	diffs := []change.PathDiff{
		{Old: "x.sql", New: "x.sql", Hunks: `@@ -1,3 +1,3 @@
 one
--- a comment
+++ a line
 two
@@ -9 +9,2 @@
-three
+four
+@@ five
\ No newline at end of file
`},
		{Old: "y", New: "y", Hunks: "@@ -0,0 +1 @@\n+y\n"},
	}
	same := func(s string) string { return s }
	want := `{b}--- a/x.sql{}
{b}+++ b/x.sql{}
{c}@@ -1,3 +1,3 @@{}
 one
{r}--- a comment{}
{g}+++ a line{}
 two
{c}@@ -9 +9,2 @@{}
{r}-three{}
{g}+four{}
{g}+@@ five{}
\ No newline at end of file
{b}--- a/y{}
{b}+++ b/y{}
{c}@@ -0,0 +1 @@{}
{g}+y{}
`
	if diff := cmp.Diff(want, paintLetters.Replace(Paint(true).Diff(diffs, same))); diff != "" {
		t.Error(diff)
	}
	if got := Paint(false).Diff(diffs, same); got != change.JoinDiffs(diffs) {
		t.Errorf("without colour: %q", got)
	}
}
