package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
)

// An answer without notes is the same with and without an index, including the number of
// files excluded by ignore rules.
func TestZeroNotesIndexed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.md": "garden\n", "drafts/b.md": "xyzzy\n", "c.log": "xyzzy\n", ".ignore": "drafts/\n*.log\n"} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
	}
	var answers []string
	for _, index := range []*quarry.IndexOptions{nil, {Dir: t.TempDir()}} {
		ws, err := quarry.Open(dir, &quarry.Options{Index: index})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		if index != nil {
			if err := ws.Index().Wait(t.Context()); err != nil {
				t.Skip("no index here:", err)
			}
		}
		tools, err := profile.New(ws, &profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		res := call(t, tools, "search_notes", `{"query":"xyzzy"}`)
		answers = append(answers, res.Text)
	}
	if !strings.Contains(answers[0], "2 ignored") || answers[0] != answers[1] {
		t.Errorf("by a scan:\n%s\nby the index:\n%s", answers[0], answers[1])
	}
}
