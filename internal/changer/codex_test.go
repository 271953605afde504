package changer

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"quarry/change"
	"quarry/internal/patch"
)

// refusedOnPurpose lists Codex's scenarios that we refuse, with the reason.
var refusedOnPurpose = map[string]string{
	"010_move_overwrites_existing_destination":         "nothing is ever overwritten by a move",
	"011_add_overwrites_existing_file":                 "nothing is ever overwritten by a new file",
	"024_preserves_mixed_line_endings":                 "a carriage return alone is a character, not the end of a line",
	"015_failure_after_partial_success_leaves_changes": "a patch is applied whole or not at all",
}

// Codex's own scenarios give the expected tree, or are refused on purpose.
// QUARRY_CODEX_SCENARIOS names the folder apply-patch/tests/fixtures/scenarios of its
// repository.
func TestCodexScenarios(t *testing.T) {
	dir := os.Getenv("QUARRY_CODEX_SCENARIOS")
	if dir == "" {
		t.Skip("set QUARRY_CODEX_SCENARIOS to the folder of codex's apply-patch scenarios")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	equalTo, refused, changed := 0, 0, 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := e.Name()
		files := map[string]string{}
		if _, err := os.Stat(filepath.Join(dir, name, "input")); err == nil {
			files = tree(t, filepath.Join(dir, name, "input"))
		}
		w := changing(t, files)
		text, err := os.ReadFile(filepath.Join(dir, name, "patch.txt"))
		if err != nil {
			t.Fatal(err)
		}
		before := tree(t, w.root.RealDir())
		ops, err := patch.Parse(string(text), -1)
		if err == nil {
			_, err = w.Apply(context.Background(), change.Set{Ops: ops})
		}
		now := tree(t, w.root.RealDir())
		if err != nil && !equal(now, before) {
			t.Errorf("%s: refused and changed: %v", name, err)
		}
		if why := refusedOnPurpose[name]; why != "" {
			if err == nil {
				t.Errorf("%s was applied, though %s", name, why)
			}
			refused++
			continue
		}
		want := tree(t, filepath.Join(dir, name, "expected"))
		if !equal(now, want) {
			t.Errorf("%s: %v\nhas  %q\nwant %q", name, err, now, want)
			continue
		}
		equalTo++
		if !equal(want, before) {
			changed++
		}
	}
	t.Logf("%d scenarios: %d equal, %d refused on purpose; %d of the equal ones change files", equalTo+refused, equalTo, refused, changed)
	if equalTo+refused < 20 || changed < 10 {
		t.Errorf("only %d scenarios in %s, %d change files", equalTo+refused, dir, changed)
	}
}

// The names in a patch's rename are parsed correctly even with spaces, quotes and words
// used in headers.
func TestPatchNames(t *testing.T) {
	w := changing(t, map[string]string{"a b": "x\n"})
	text := "diff --git a/a b b/c d\nsimilarity index 50%\nrename from a b\nrename to c d\n--- a/a b\t\n+++ b/c d\t\n@@ -1 +1 @@\n-x\n+y\n"
	ops, err := patch.Parse(text, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Apply(context.Background(), change.Set{Ops: ops}); err != nil {
		t.Fatal(err)
	}
	if now := tree(t, w.root.RealDir()); !equal(now, map[string]string{"c d": "y\n"}) {
		t.Errorf("%v", now)
	}
}
