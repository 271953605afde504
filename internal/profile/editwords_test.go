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

// The answer to a failed edit contains the edit's text; after a successful one, remaining
// occurrences are counted.
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
		{"look-around", `{"regex":"a(?=b)","replacement":"x"}`, []string{"without look-around", "no other syntax"}},
		{"many others", `{"path":"many.txt","old_text":"word","new_text":"x"}`, []string{"29 other occurrences remain, on lines 2, 3", " and 9 more"}},
	} {
		tool := "edit_file"
		if strings.Contains(c.args, "replacement") {
			tool = "replace_in_files"
		}
		res, err := tools.Call(t.Context(), tool, []byte(c.args))
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

// Edits are accepted as models write them, except in the strict profiles, which require
// exact texts.
func TestEditsAsModelsWriteThem(t *testing.T) {
	const text = "func run() error {\n\tfirst(1, 2, 3)\n\tsecond(1, 2, 3)\n\treturn nil\n}\n"
	for _, c := range []struct{ name, tool, args, want, file string }{
		{"white space", "edit_file", `{"path":"a.go","old_text":"    first(1, 2, 3)\n    second(1, 2, 3)\n","new_text":"    first(1)\n    second(1, 2, 3)\n"}`, "a.go:2: matched with other white space (tabs for 4 spaces)", "first(1)\n\tsecond"},
		{"white space, of a set", "apply_changes", `{"changes":[{"path":"a.go","old_text":"    first(1, 2, 3)\n    second(1, 2, 3)\n","new_text":"    second(1, 2, 3)\n"}]}`, "a.go:2: matched with other white space", "error {\n\tsecond"},
		{"white space, of a patch", "apply_patch", `{"patch":"*** Begin Patch\n*** Update File: a.go\n@@\n     first(1, 2, 3)\n-    second(1, 2, 3)\n+    third(1, 2, 3)\n*** End Patch"}`, "a.go:2: matched with other white space", "\tthird(1, 2, 3)\n"},
		{"line numbers", "edit_file", `{"path":"a.go","old_text":"2: \tfirst(1, 2, 3)\n3: \tsecond(1, 2, 3)","new_text":"\tfirst()"}`, "the line numbers of old_text were taken off", "error {\n\tfirst()\n\treturn"},
		{"an ellipsis", "edit_file", `{"path":"a.go","old_text":"\tfirst(1, 2, 3)\n","new_text":"\tfirst()\n\t// ... existing code ...\n"}`, "stands for text that was left out", text},
		{"entities", "edit_file", `{"path":"a.go","old_text":"first(1, 2, 3)\n\tsecond(1, 2, 3)&#10;","new_text":"x"}`, "HTML entities", text},
		{"already so", "edit_file", `{"path":"a.go","old_text":"\tzero(1, 2, 3)\n\tsecond(1, 2, 3)\n","new_text":"\tfirst(1, 2, 3)\n\tsecond(1, 2, 3)\n"}`, "Already so", text},
	} {
		for _, name := range []string{"quarry", "code", "vault"} {
			dir := t.TempDir()
			ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
			tools, err := profile.New(ws, &profile.Options{Profile: name})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "a.go")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			tl := tools.Lookup(c.tool)
			if tl == nil {
				continue // the profile has no such tool
			}
			res := tl.Execute(t.Context(), []byte(c.args))
			now, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if name == "vault" {
				if c.name != "an ellipsis" && (!res.IsError || string(now) != text) {
					t.Errorf("%s: the strict profile took it: %s", c.name, res.Text)
				}
				continue
			}
			if !strings.Contains(res.Text, c.want) || !strings.Contains(string(now), c.file) || res.IsError != (c.file == text) {
				t.Errorf("%s, %s: %s\n%s", name, c.name, res.Text, now)
			}
		}
	}
}
