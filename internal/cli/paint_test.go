package cli

import (
	"regexp"
	"strings"
	"testing"

	"quarry/change"

	"github.com/google/go-cmp/cmp"
)

// Codes are shown by letters: a test of them should be readable.
var paintLetters = strings.NewReplacer(cGood, "{g}", cBad, "{r}", cAlert, "{R}", cPlace, "{c}", cBold, "{b}", cReset, "{}")

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
	if diff := cmp.Diff(want, paintLetters.Replace(paint(true).diff(diffs, same))); diff != "" {
		t.Error(diff)
	}
	if got := paint(false).diff(diffs, same); got != change.JoinDiffs(diffs) {
		t.Errorf("without colour: %q", got)
	}
}

var anyCode = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// On a terminal diff, log, edit and doctor have colour; without one, with
// NO_COLOR and on a dumb terminal the same text has none, and text of files
// can't bring codes of its own.
func TestPaintOnlyOnTerminals(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", home)
	with := func(more ...string) map[string]string {
		env := map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": "one\n\x1b[31mtwo\n"})
	edit := onTerminal(with(), "edit", "a.txt", "--old", "one", "--new", "three", "--diff")
	if edit.code != 0 || !strings.Contains(edit.out, cGood+"+three"+cReset+"\n") || !strings.Contains(edit.out, cBad+"-one"+cReset+"\n") ||
		!strings.Contains(edit.out, ` \x1b[31mtwo`) {
		t.Fatalf("edit: exit code %d, %q %s", edit.code, edit.out, edit.err)
	}
	log := onTerminal(with(), "log")
	id, _, _ := strings.Cut(strings.TrimPrefix(log.out, cGood), cReset)
	writeTree(t, dir, map[string]string{".ignore": "*\n"})
	for _, args := range [][]string{{"log"}, {"diff", id}, {"edit", "a.txt", "--old", "three", "--new", "four", "--dry-run"}, {"doctor", "--proc", "/none"}} {
		coloured := onTerminal(with(), args...)
		if !anyCode.MatchString(coloured.out) {
			t.Errorf("%q has no colour: %q %s", args, coloured.out, coloured.err)
		}
		want := anyCode.ReplaceAllString(coloured.out, "")
		for name, env := range map[string]map[string]string{"NO_COLOR": with("NO_COLOR", "1"), "a dumb terminal": with("TERM", "dumb")} {
			if diff := cmp.Diff(want, onTerminal(env, args...).out); diff != "" {
				t.Errorf("%q, %s:\n%s", args, name, diff)
			}
		}
	}
}
