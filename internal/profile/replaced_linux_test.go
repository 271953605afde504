package profile_test

import (
	"os"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// After the workspace's folder was replaced, the next answer of any tool says so, and
// later ones don't. A change before that answer is refused with advice.
func TestReplacedFolderIsSaid(t *testing.T) {
	const words = "he workspace's folder was replaced since the last answer"
	for _, c := range []struct {
		profile, tool, args string
		silent              bool // the profile's documented answers can't contain the message
	}{
		{"quarry", "search_files", `{"regex":"func"}`, false},
		{"quarry", "search_files", `{"regex":"nowhere"}`, false},
		{"quarry", "file_search", `{"query":"func"}`, false},
		{"quarry", "search_code", `{"query":"main"}`, false},
		{"quarry", "search_by_path", `{"pattern":"*"}`, false},
		{"quarry", "list_files", `{}`, false},
		{"quarry", "find_symbol", `{"name":"other"}`, false},
		{"quarry", "outline", `{"path":"src/calc.js"}`, false},
		{"quarry", "read_file", `{"path":"src/a.py"}`, false},
		{"quarry", "read_file", `{"path":"gone.py"}`, false},
		{"notes", "search_notes", `{"query":"milk"}`, false},
		{"notes", "links", `{"path":"notes/todo.md"}`, false},
		{"vault", "read_file", `{"path":"gone.py"}`, true},
		{"roo", "search_files", `{"path":".","regex":"func"}`, true},
		{"vault", "search_files", `{"pattern":"func","file_pattern":"**"}`, true},
		{"smcp", "search_code", `{"query":"main"}`, true},
		{"godoctor", "file_search", `{"query":"func"}`, true},
	} {
		ws := code().make(t)
		reg := tools(t, ws, profile.Options{Profile: c.profile})
		if r := call(t, reg, c.tool, c.args); strings.Contains(r.Text, words) {
			t.Errorf("%s %s: before anything happened: %s", c.profile, c.tool, r.Text)
		}
		if err := os.Rename(ws.Dir(), ws.Dir()+".bak"); err != nil {
			t.Fatal(err)
		}
		if c.profile == "quarry" {
			if r := call(t, reg, "edit_file", `{"path":"src/a.py","old_text":"alpha","new_text":"omega"}`); !r.IsError || !strings.Contains(r.Text, "is not there any more") {
				t.Errorf("a change in a missing folder: %s", r.Text)
			}
		}
		if err := os.CopyFS(ws.Dir(), os.DirFS(ws.Dir()+".bak")); err != nil {
			t.Fatal(err)
		}
		if c.profile == "quarry" {
			r := call(t, reg, "edit_file", `{"path":"src/a.py","old_text":"alpha","new_text":"omega"}`)
			if !r.IsError || !strings.Contains(r.Text, "The workspace's folder was replaced since it was last read") || !strings.Contains(r.Text, "Search or read it again") {
				t.Errorf("a change in a replaced folder: %s", r.Text)
			}
		}
		if r := call(t, reg, c.tool, c.args); r.IsError != strings.Contains(c.args, "gone") || strings.Contains(r.Text, words) == c.silent {
			t.Errorf("%s %s: after it was replaced: %s", c.profile, c.tool, r.Text)
		}
		if r := call(t, reg, c.tool, c.args); strings.Contains(r.Text, words) {
			t.Errorf("%s %s: said twice: %s", c.profile, c.tool, r.Text)
		}
	}
}
