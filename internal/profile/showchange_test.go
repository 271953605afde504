package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/tool"
)

// openTree writes files and makes the tools of a profile for them.
func openTree(t *testing.T, opts *profile.Options, files map[string]string) *tool.Registry {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name := range files {
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), then, then); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	r, err := profile.New(ws, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func callText(t *testing.T, r *tool.Registry, name, args string) string {
	t.Helper()
	res, err := r.Call(context.Background(), name, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return res.Text
}

// TestChangesShowThemselves checks that changed lines are shown up to 3 KB. Larger changes
// show a line per file, even larger ones only counts. A dry run lists distinct rewrites
// once.
func TestChangesShowThemselves(t *testing.T) {
	files := map[string]string{"a.go": "one\ntwo\nthree\nfour\nfive\n"}
	for i := range 60 {
		files[fmt.Sprintf("long/folder/name/file%02d.txt", i)] = strings.Repeat("some text that calls oldName(x) and more\n", 2)
	}
	r := openTree(t, nil, files)
	if got := callText(t, r, "edit_file", `{"path":"a.go","old_text":"three","new_text":"3"}`); !strings.Contains(got, "\n@@ 2\n two\n-three\n+3\n four\n[change ") {
		t.Errorf("an edit:\n%s", got)
	}
	if got := callText(t, r, "edit_file", `{"path":"a.go","old_text":"3","new_text":"three","quiet":true}`); strings.Contains(got, "@@") {
		t.Errorf("a quiet edit:\n%s", got)
	}
	dry := callText(t, r, "replace_in_files", `{"text":"oldName","replacement":"newName","dry_run":true,"expected_count":7}`)
	if len(dry) > 600 || !strings.HasPrefix(dry, "expected_count is 7, but there are 120 matches in 60 files. ") || !strings.Contains(dry, "\n120× \"oldName\" → \"newName\"") {
		t.Errorf("a dry run:\n%s", dry)
	}
	if got := callText(t, r, "replace_in_files", `{"text":"oldName","replacement":"newName","dry_run":true,"diff":true}`); strings.Count(got, "+some text") < 50 {
		t.Errorf("a dry run with its diff has %d bytes", len(got))
	}
	if got := callText(t, r, "replace_in_files", `{"text":"oldName","replacement":"newName","expected_count":7}`); !strings.Contains(got, "[CONFLICT]") {
		t.Errorf("another number of matches:\n%s", got)
	}
	if got := callText(t, r, "replace_in_files", `{"text":"oldName","replacement":"newName"}`); len(got) > 300 || !strings.Contains(got, "120 matches in 60 files. Changed 60 files: +2 -2 each.") || strings.Contains(got, "version") {
		t.Errorf("a change of many files:\n%s", got)
	}
	set := callText(t, r, "apply_changes", `{"changes":[{"path":"a.go","old_text":"one","new_text":"1"},{"path":"b.go","content":"new\n"}]}`)
	if !strings.Contains(set, "\n# a.go\n@@ 1\n-one\n+1\n two\n") || strings.Contains(set, "+new") {
		t.Errorf("a set:\n%s", set)
	}
}

// TestShortVersions checks that the version shown by a read is enough for the next change.
func TestShortVersions(t *testing.T) {
	r := openTree(t, nil, map[string]string{"a.txt": "one\ntwo\n"})
	text := callText(t, r, "read_file", `{"path":"a.txt"}`)
	_, version, _ := strings.Cut(text, "[version ")
	version, _, _ = strings.Cut(version, "]")
	if len(version) != 12 {
		t.Fatalf("the version %q of\n%s", version, text)
	}
	if got := callText(t, r, "edit_file", `{"path":"a.txt","start_line":1,"new_text":"ONE","expected_version":"`+version+`"}`); strings.HasPrefix(got, "Error") {
		t.Error(got)
	}
	if got := callText(t, r, "edit_file", `{"path":"a.txt","start_line":1,"new_text":"eins","expected_version":"`+version+`"}`); !strings.Contains(got, "[CONFLICT]") {
		t.Errorf("a stale version: %s", got)
	}
}

// In the profile code, edits that match exactly are not shown, since they repeat the
// request. Edits that matched leniently are shown.
func TestExactEditsAreNotRepeated(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, map[string]string{"a.go": "package a\n\nfunc one() {\n\tfirst()\n}\n", "b.json": "{\"k\": 1}\n"})
	for _, c := range []struct {
		tool, args string
		shown      bool
	}{
		{"edit_file", `{"path":"a.go","old_text":"first()","new_text":"second()"}`, false},
		{"edit_file", `{"path":"a.go","edits":[{"old_text":"second()","new_text":"third()"}]}`, false},
		{"edit_file", `{"path":"a.go","old_text":"third()","new_text":"fourth()","quiet":false}`, true},
		{"edit_file", `{"path":"a.go","old_text":"func one() {\n    fourth()\n}","new_text":"func one() {\n    fifth()\n}"}`, true}, // the file has a tab instead of these spaces
		{"edit_file", `{"path":"a.go","insert_after_line":4,"content":"\tsixth()"}`, true},
		{"apply_changes", `{"changes":[{"path":"a.go","old_text":"sixth()","new_text":"seventh()"},{"path":"c.go","content":"package a\n"}]}`, false},
		{"apply_changes", `{"changes":[{"path":"b.json","at":"k","value":2}]}`, true},
	} {
		got := callText(t, r, c.tool, c.args)
		if strings.HasPrefix(got, "Error") || strings.Contains(got, "\n@@ ") != c.shown || !strings.Contains(got, "change ") {
			t.Errorf("%s %s: lines wanted %v:\n%s", c.tool, c.args, c.shown, got)
		}
	}
}

// The dry run of a replacement with groups shows the same sample rewrites as the
// replacement.
func TestFormsOfADryRun(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("f%02d.go", i)] = fmt.Sprintf("package p\n\nfunc f%d() error {\n\treturn errors.Wrap(err, \"reading %d\")\n}\n", i, i)
	}
	files["odd.go"] = "package p\n\nfunc odd() error {\n\treturn errors.Wrap(w.Close(), \"closing\")\n}\n"
	r := openTree(t, &profile.Options{Profile: "code"}, files)
	if got := callText(t, r, "search_files", `{"pattern":"Wrap\\(.*","show":"matches"}`); !strings.HasPrefix(got, "61 matches in 61 files, 61 different\n60 like Wrap(err, \"reading 0\")\n1 Wrap(w.Close(), \"closing\")  odd.go:4\n[texts that differ only in strings are one") {
		t.Errorf("texts that differ in strings:\n%s", got)
	}
	if got := callText(t, r, "search_files", `{"pattern":"func f\\w+","show":"matches"}`); !strings.Contains(got, "func f59") {
		t.Errorf("names are not strings:\n%s", got)
	}
	got := callText(t, r, "replace_in_files", `{"regex":"Wrap\\((.*), (\"[^\"]*\")\\)","replacement":"Wrap($2, $1)","dry_run":true}`)
	for _, want := range []string{`60 like "Wrap(err, "reading 0")" → "Wrap("reading 0", err)"`, `1 like "Wrap(w.Close(), "closing")"`, "diff: true shows every line"} {
		if !strings.Contains(got, want) || strings.Contains(got, "different rewrites") {
			t.Errorf("%s is missing:\n%s", want, got)
		}
	}
	if got := callText(t, r, "replace_in_files", `{"regex":"Wrap\\((.*), (\"[^\"]*\")\\)","replacement":"Wrap($2, $1)","dry_run":true,"diff":true}`); !strings.Contains(got, "+\treturn errors.Wrap(\"reading 7\", err)") || strings.Contains(got, " like ") {
		t.Errorf("the diff:\n%s", got)
	}
}
