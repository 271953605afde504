package profile_test

import (
	"strings"
	"testing"

	"quarry/internal/profile"
)

// Every tool that changes files names the files that no longer parse, except in the
// profiles whose answers are documented word for word.
func TestBrokenFiles(t *testing.T) {
	files := map[string]string{"a.go": "package a\n\nfunc f() {\n\tg(1)\n}\n", "b.json": "{\"a\": [1]}\n", "c.py": "x = [1]\n"}
	for _, c := range []struct{ profile, tool, args, want string }{
		{"code", "edit_file", `{"path":"a.go","old_text":"g(1)","new_text":"g(1"}`, "a.go no longer parses: line 4: missing ',' before newline"},
		{"code", "edit_file", `{"path":"a.go","old_text":"g(1)","new_text":"g(1","dry_run":true}`, "a.go no longer parses: line 4: missing ',' before newline"},
		{"code", "edit_file", `{"path":"a.go","old_text":"g(1)","new_text":"g(2)"}`, ""},
		{"quarry", "write_file", `{"path":"b.json","content":"{"}`, "b.json no longer parses: line 1: unexpected end of JSON input"},
		{"quarry", "write_file", `{"path":"new.json","content":"{"}`, ""},
		{"code", "apply_changes", `{"changes":[{"path":"b.json","old_text":"]","new_text":""},{"path":"c.py","old_text":"]","new_text":""}]}`, "c.py no longer parses: line 1: '[' is not closed"},
		{"code", "apply_changes", `{"changes":[{"path":"b.json","old_text":"]","new_text":""}],"dry_run":true}`, "b.json no longer parses: line 1"},
		{"quarry", "replace_in_files", `{"text":"]","replacement":""}`, "c.py no longer parses: line 1: '[' is not closed"},
		{"vault", "edit_file", `{"path":"a.go","old_text":"g(1)","new_text":"g(1"}`, ""},
	} {
		r := tools(t, fixture{files: files}.make(t), profile.Options{Profile: c.profile})
		if r.Lookup(c.tool) == nil {
			continue
		}
		got := call(t, r, c.tool, c.args)
		if !strings.Contains(got.Text, c.want) || c.want == "" && strings.Contains(got.Text, "no longer parses") {
			t.Errorf("%s %s %s\ngot %s", c.profile, c.tool, c.args, got.Text)
		}
	}
}
