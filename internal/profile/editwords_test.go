package profile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
)

// An edit that fails is named, with its text; what remains is counted.
func TestWordsOfEdits(t *testing.T) {
	dir := t.TempDir()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	tools, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "alpha\nbeta\ngamma", "many.txt": strings.Repeat("word\n", 30)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, args string
		want       []string
	}{
		{"one of two", `{"path":"a.txt","edits":[{"old_text":"alpha","new_text":"A"},{"old_text":"nope","new_text":"x"}]}`, []string{"Edit 2: Text 'nope' not found in a.txt"}},
		{"two of three", `{"path":"a.txt","edits":[{"old_text":"alpha","new_text":"A"},{"old_text":"nope","new_text":"x"},{"old_text":"zilch","new_text":"x"}]}`,
			[]string{"edit 2, a.txt: Text 'nope' not found", "edit 3, a.txt: Text 'zilch' not found"}},
		{"the final newline", `{"path":"a.txt","old_text":"gamma\n","new_text":"x\n"}`, []string{"the last line of the file has no newline, you gave one"}},
		{"many others", `{"path":"many.txt","old_text":"word","new_text":"x"}`, []string{"29 other occurrences remain, on lines 2, 3", " and 9 more"}},
	} {
		res, err := tools.Call(t.Context(), "edit_file", []byte(c.args))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(res.Text, want) {
				t.Errorf("%s: %s", c.name, fmt.Sprintf("%q lacks %q", res.Text, want))
			}
		}
	}
}
