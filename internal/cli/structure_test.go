package cli

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/cli/manual"
)

// The examples in quarry help structure match, the replacements have the shown results, and undo
// restores the old text.
func TestStructureSamples(t *testing.T) {
	if len(manual.Structures) < 12 {
		t.Errorf("%d examples", len(manual.Structures))
	}
	for _, s := range manual.Structures {
		dir := t.TempDir()
		t.Chdir(dir)
		t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "..", "state"))
		writeTree(t, dir, map[string]string{"go.mod": "", s.File: s.Before})
		hole := "$"
		if s.Find[0] == '@' {
			hole = "@"
		}
		if got := runQuarry("", "search", "--structure", "--hole", hole, "-q", s.Find, s.File); got.code != exitFound {
			t.Errorf("%s doesn't match %q: exit code %d, %s", s.Find, s.Before, got.code, got.err)
		}
		if got := runQuarry("", "replace", "--structure", "--hole", hole, s.Find, s.Replace); got.code != 0 {
			t.Errorf("%s: exit code %d, %s", s.Find, got.code, got.err)
		}
		text, err := os.ReadFile(s.File)
		if err != nil || string(text) != s.After {
			t.Errorf("%s → %s\nmakes %q\nwant  %q, %v", s.Find, s.Replace, text, s.After, err)
		}
		runQuarry("", "undo")
		if text, _ := os.ReadFile(s.File); string(text) != s.Before {
			t.Errorf("%s: undo gives %q, want %q", s.Find, text, s.Before)
		}
	}
}
