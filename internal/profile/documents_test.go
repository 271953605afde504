package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
)

// The tests of this file are the examples of the requirement documents, with their
// output. Where the documents disagree, the tests follow our decision: results in path
// order, a blank line between files.

// expect calls a tool and compares the whole text.
func expect(t *testing.T, name, profileName string, f fixture, toolName, args, want string) {
	t.Helper()
	r := call(t, tools(t, f.make(t), profile.Options{Profile: profileName}), toolName, args)
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), r.Text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRooDocument(t *testing.T) {
	expect(t, "the text of tools.md", "roo", fixture{files: map[string]string{
		"src/a.py":     "alpha\nTODO: one\nbeta\ngamma\ndelta\nTODO: two\n",
		"src/crlf.txt": "TODO\r\n",
	}}, "search_files", `{"path":".","regex":"TODO"}`, `
Found 3 results.

# src/a.py
  1 | alpha
  2 | TODO: one
  3 | beta
----
  5 | delta
  6 | TODO: two
----

# src/crlf.txt
  1 | TODO
----`)
	project := fixture{files: map[string]string{
		"src/app.py":        "import os\n# TODO: tidy up\nx = 1\n",
		"src/lib/deep.py":   "# FIXME: slow\n",
		"src/other.js":      "// TODO: not Python\n",
		"setup.py":          "# TODO: outside src\n",
		"web/cart.ts":       "// sums\nasync function calculateTotal(items: Item[]) {\n  return 0\n",
		"web/old.jsx":       "function calculateTotal(a, b) {}\n  function calculateTotal() {}\n",
		"src/api/client.js": "const users = await fetch(\"/api/users\")\nfetch('/api/usersets')\n",
	}}
	expect(t, "example 1", "roo", project, "search_files", `{"path":"src","regex":"(TODO|FIXME):","file_pattern":"*.py"}`, `
Found 2 results.

# src/app.py
  1 | import os
  2 | # TODO: tidy up
  3 | x = 1
----

# src/lib/deep.py
  1 | # FIXME: slow
----`)
	expect(t, "example 2", "roo", project, "search_files",
		`{"path":".","regex":"^(async\\s+)?function\\s+calculateTotal\\s*\\([^)]*\\)","file_pattern":"*.{js,ts,jsx,tsx}"}`, `
Found 2 results.

# web/cart.ts
  1 | // sums
  2 | async function calculateTotal(items: Item[]) {
  3 |   return 0
----

# web/old.jsx
  1 | function calculateTotal(a, b) {}
  2 |   function calculateTotal() {}
----`)
	expect(t, "example 3", "roo", project, "search_files", `{"path":"src","regex":"fetch\\(.*['\"]/api/users['\"]"}`, `
Found 1 result.

# src/api/client.js
  1 | const users = await fetch("/api/users")
  2 | fetch('/api/usersets')
----`)
}

// If there are more than 300 blocks, the first 300 are shown, with the exact total up to
// 6,000. Above that the total ends in a plus sign.
func TestRooLimits(t *testing.T) {
	for _, c := range []struct {
		files, blocks int
		first, last   string
	}{
		{3, 100, "Found 300 results.", "----"},
		{3, 150, "Found 450 results.", "# Showing first 300 of 450 results. Use a more specific search or path if necessary."},
		{60, 100, "Found 6000 results.", "# Showing first 300 of 6000 results. Use a more specific search or path if necessary."},
		{61, 100, "Found 6000+ results.", "# Showing first 300 of 6000+ results. Use a more specific search or path if necessary."},
		{90, 100, "Found 6000+ results.", "# Showing first 300 of 6000+ results. Use a more specific search or path if necessary."},
	} {
		r := call(t, tools(t, many(c.files, c.blocks).make(t), profile.Options{Profile: "roo"}), "search_files", `{"regex":"match"}`)
		lines := strings.Split(r.Text, "\n")
		if lines[0] != c.first || lines[len(lines)-1] != c.last || strings.Count(r.Text, "\n----") != 300 {
			t.Errorf("%d blocks: %s … %s, %d shown", c.files*c.blocks, lines[0], lines[len(lines)-1], strings.Count(r.Text, "\n----"))
		}
	}
}

// The concatenated pages of an answer equal the whole answer.
func TestPages(t *testing.T) {
	ws := many(7, 13).make(t)
	reg := tools(t, ws, profile.Options{Budget: 2000})
	all := map[string]int{}
	offset, total := 0, 0
	for page := 0; ; page++ {
		r := call(t, reg, "search_files", fmt.Sprintf(`{"regex":"match","offset":%d}`, offset))
		var a struct {
			Files []struct {
				Path  string
				Lines []struct {
					Line    int
					Context bool
				}
			}
			Total int
			Next  int `json:"next_offset"`
		}
		data, _ := json.Marshal(r.Structured)
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
		if len(r.Text) > 2000 {
			t.Errorf("page %d has %d bytes", page, len(r.Text))
		}
		for _, f := range a.Files {
			for _, l := range f.Lines {
				if l.Context {
					continue
				}
				all[fmt.Sprintf("%s:%d", f.Path, l.Line)]++
				total++
			}
		}
		if a.Next == 0 {
			break
		}
		if want := fmt.Sprintf(`next: search_files {"regex":"match","offset":%d}]`, a.Next); !strings.HasSuffix(r.Text, want) {
			t.Errorf("page %d ends in %q, not %s", page, r.Text[len(r.Text)-80:], want)
		}
		if page > 50 || a.Next <= offset {
			t.Fatalf("page %d goes from %d to %d", page, offset, a.Next)
		}
		offset = a.Next
	}
	if len(all) != 7*13 || total != 7*13 {
		t.Errorf("the pages have %d lines, %d different ones, not %d", total, len(all), 7*13)
	}
}

func TestGodoctorDocument(t *testing.T) {
	at := func(line int, text string) string { return strings.Repeat("\n", line-1) + text + "\n" }
	expect(t, "example", "godoctor", fixture{files: map[string]string{
		"README.md":                 at(12, "// TODO: Add setup instructions"),
		"internal/config/config.go": at(45, "\t// TODO(refactor): Move this to a separate package  "),
		"design/roadmap.md":         at(5, "- [ ] TODO: Implement file_search tool"),
	}}, "file_search", `{"query":"TODO"}`, "\nFound 3 matches for \"TODO\":\n\n"+
		"- `README.md:12`: // TODO: Add setup instructions\n"+
		"- `design/roadmap.md:5`: - [ ] TODO: Implement file_search tool\n"+
		"- `internal/config/config.go:45`: // TODO(refactor): Move this to a separate package")
	r := call(t, tools(t, many(4, 78).make(t), profile.Options{Profile: "godoctor"}), "file_search", `{"query":"match"}`)
	if n := strings.Count(r.Text, "\n- `"); n != 50 || !strings.HasSuffix(r.Text, "\n\nShowing the first 50 of 312 matches. Narrow the query, path or include.") {
		t.Errorf("%d matches: %s", n, r.Text[len(r.Text)-100:])
	}
}

func TestVaultSearchDocument(t *testing.T) {
	f := fixture{files: map[string]string{
		"Projects/Alpha.md": strings.Repeat("\n", 40) + "some context before\nthe matching line with TODO\nsome context after\n",
		"Notes/daily.md":    strings.Repeat("\n", 9) + "FIXME: needs review\nfollowing content\n",
		"src/main.js":       "function  hello (x) {}\n",
		"Notes/Minutes.md":  "the meeting notes of today\n",
	}}
	expect(t, "response format", "vault", f, "search_files", `{"pattern":"with TODO|needs review","file_pattern":"**/*.md","context_lines":1,"max_results":20}`, `
Found 2 matching file(s):

## Notes/daily.md
Line 9:   
Line 10: > FIXME: needs review
Line 11:   following content

## Projects/Alpha.md
Line 41:   some context before
Line 42: > the matching line with TODO
Line 43:   some context after`)
	expect(t, "function definitions", "vault", f, "search_files", `{"pattern":"function\\s+\\w+\\s*\\(","file_pattern":"**/*.js"}`, `
Found 1 matching file(s):

## src/main.js
Line 1: > function  hello (x) {}`)
	expect(t, "markdown by default", "vault", f, "search_files", `{"pattern":"meeting notes"}`, `
Found 1 matching file(s):

## Notes/Minutes.md
Line 1: > the meeting notes of today`)
	expect(t, "no excerpt is more than five", "vault", fixture{files: map[string]string{"a.md": strings.Repeat("x\n\n\n\n\n\n", 9)}},
		"search_files", `{"pattern":"x","context_lines":0}`, `
Found 1 matching file(s):

## a.md
Line 1: > x

Line 7: > x

Line 13: > x

Line 19: > x

Line 25: > x`)
}

func TestListFilesDocument(t *testing.T) {
	f := fixture{files: map[string]string{
		"Projects/notes.md": "", "Projects/todo.md": "", "Projects/Archive/x": "", "README.md": "", "Templates/x": "",
	}}
	ws := f.make(t)
	for path, date := range map[string]string{
		"Projects/notes.md": "2026-02-03", "Projects/todo.md": "2026-02-01", "Projects/Archive": "2026-01-31",
		"README.md": "2026-01-30", "Templates": "2026-01-29", "Projects": "2026-01-28", "Projects/Archive/x": "2025-01-01", "Templates/x": "2025-01-01",
	} {
		when, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		touch(t, filepath.Join(ws.Dir(), path), when)
	}
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	got := call(t, reg, "list_files", `{"pattern":"**","max_results":5}`).Text
	want := `Found 8 item(s):

[file] Projects/notes.md (modified: 2026-02-03)
[file] Projects/todo.md (modified: 2026-02-01)
[folder] Projects/Archive/
[file] README.md (modified: 2026-01-30)
[folder] Templates/

Showing the first 5 of 8 items. Use a narrower pattern or a larger max_results.`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, want := call(t, reg, "list_files", `{"pattern":"*.xyz","path":"Projects"}`).Text, `No files or folders match the pattern "*.xyz" in "Projects".`; got != want {
		t.Errorf("%s", got)
	}
	if got := call(t, reg, "list_files", `{"pattern":"*","path":"Projects"}`).Text; !strings.HasPrefix(got, "Found 3 item(s):\n\n[file] Projects/notes.md") {
		t.Errorf("%s", got)
	}
}

func TestFileInfoDocument(t *testing.T) {
	ws := fixture{files: map[string]string{"Projects/project-a.md": strings.Repeat("x", 2456)}}.make(t)
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	got := call(t, reg, "get_file_info", `{"path":"Projects/project-a.md"}`).Text
	lines := strings.Split(got, "\n")
	if len(lines) != 5 || strings.Join(lines[:3], "\n") != "File: Projects/project-a.md\nType: file\nSize: 2.4 KB (2,456 bytes)" ||
		!strings.HasPrefix(lines[3], "Created: 20") || lines[4] != "Modified: 2026-02-03 14:22:45" {
		t.Errorf("%s", got)
	}
	for size, want := range map[int]string{156: "156 bytes", 1 << 20: "1.0 MB (1,048,576 bytes)"} {
		if err := os.WriteFile(filepath.Join(ws.Dir(), "s"), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := call(t, reg, "get_file_info", `{"path":"s"}`).Text; !strings.Contains(got, "\nSize: "+want+"\n") {
			t.Errorf("%d: %s", size, got)
		}
	}
}

func TestReadFileDocument(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	ws := fixture{files: map[string]string{"long.md": long.String(), "one.txt": strings.Repeat("é", 100<<10)}}.make(t)
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	for args, want := range map[string][2]string{
		`{"path":"long.md"}`: {"1: line 1\n", "2000: line 2000\n\n[... truncated, showing lines 1-2000, total lines in file: 5000]"},
		`{"path":"long.md","start_line":10,"end_line":4000}`:  {"10: line 10\n", "2009: line 2009\n\n[... truncated, showing lines 10-2009 of requested range 10-4000, total lines in file: 5000]"},
		`{"path":"long.md","start_line":50,"end_line":100}`:   {"50: line 50\n", "100: line 100\n\n[Showing lines 50-100 of 5000 total]"},
		`{"path":"long.md","start_line":4999,"end_line":"x"}`: {"Error: end_line must be an integer", ", not \"x\""},
	} {
		got := call(t, reg, "read_file", args).Text
		if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) {
			t.Errorf("%s: %.60s … %s", args, got, got[max(0, len(got)-150):])
		}
	}
	if got := call(t, reg, "read_file", `{"path":"one.txt"}`).Text; len(got) > 110<<10 || !strings.HasSuffix(got, "\n\n[... truncated, showing lines 1-1, total lines in file: 1]") {
		t.Errorf("%d bytes, %s", len(got), got[max(0, len(got)-80):])
	}
}

func TestSearchNotesDocument(t *testing.T) {
	pad := strings.Repeat("word ", 60)
	ws := fixture{files: map[string]string{
		"Projects/Alpha.md": "# Alpha Project\n\n" + pad + "project timeline is set for Q2 " + pad,
		"long.md":           "zebra\n" + strings.Repeat("é", 12_000),
	}}.make(t)
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	r := call(t, reg, "search_notes", `{"query":"timeline set"}`)
	if !strings.HasPrefix(r.Text, "Found 1 matching note(s):\n\n## Projects/Alpha.md\nExcerpts:\n  \"...d word") || !strings.Contains(r.Text, "project timeline is set for Q2 word") ||
		!strings.HasSuffix(r.Text, "...\"") {
		t.Errorf("%s", r.Text)
	}
	r = call(t, reg, "search_notes", `{"query":"zebra","read_content":"true"}`)
	if !strings.HasSuffix(r.Text, "é\n[Content truncated...]") || strings.Count(r.Text, "é") != 10_000-6 {
		t.Errorf("%d, %s", strings.Count(r.Text, "é"), r.Text[len(r.Text)-60:])
	}
}

// TestEditFileDocument runs the vault document's examples of edit_file in sequence.
func TestEditFileDocument(t *testing.T) {
	ws := fixture{files: map[string]string{
		"notes/todo.md": "- [ ] a\n", "notes/document.md": strings.Repeat("2025\n", 3) + strings.Repeat("x\n", 27), "notes/log.md": strings.Repeat("x\n", 42),
		"notes/list.md": strings.Repeat("- item\n", 5), "notes.md": "x\n",
	}}.make(t)
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	for _, c := range []struct{ args, want string }{
		{`{"path":"notes/todo.md","old_text":"[ ]","new_text":"[x]"}`, `Replaced 1 occurrence in "notes/todo.md".`},
		{`{"path":"notes/document.md","old_text":"2025","new_text":"2026","replace_all":true}`, `Replaced 3 occurrences in "notes/document.md".`},
		{`{"path":"notes/log.md","insert_after_line":42,"content":"1\n2\n3\n4\n5\n"}`, `Inserted 5 lines after line 42 in "notes/log.md".`},
		{`{"path":"notes/log.md","insert_after_line":0,"content":"# Header\n\nNew content at top"}`, `Inserted 3 lines after line 0 in "notes/log.md".`},
		{`{"path":"notes/list.md","insert_after_line":5,"content":"- New item"}`, `Inserted 1 line after line 5 in "notes/list.md".`},
		{`{"path":"notes/document.md","insert_before_line":10,"content":"## New Section"}`, `Inserted 1 line before line 10 in "notes/document.md".`},
		{`{"path":"notes/document.md","delete_lines":{"start":5,"end":10}}`, `Deleted lines 5-10 (6 lines) in "notes/document.md".`},
		{`{"path":"notes.md","old_text":"foo","new_text":"x"}`, `Error: Text 'foo' not found in notes.md`},
		{`{"path":"notes/document.md","insert_before_line":5,"content":"a\nb\nc\nd\ne"}`, `Inserted 5 lines before line 5 in "notes/document.md".`},
		{`{"path":"notes/document.md","insert_before_line":50,"content":"x"}`, `Error: Line 50 does not exist in file with 30 lines.`},
		{`{"path":"notes.md","old_text":"x","new_text":"y","delete_lines":{"start":1,"end":1}}`, `Error: Cannot mix search/replace parameters with line-based parameters.`},
	} {
		if got := call(t, reg, "edit_file", c.args).Text; got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.args, got, c.want)
		}
	}
}

// TestVaultChangesDocument runs the vault document's other examples in one vault.
func TestVaultChangesDocument(t *testing.T) {
	ws := fixture{opts: quarry.Options{Trash: change.TrashLocal}, files: map[string]string{
		"notes/draft.md": "old\n", "notes/old-note.md": "", "Archive/2024/x": "", "notes/old-name.md": "", "notes/file.md": "",
		"Inbox/meeting-notes.md": "m\n", "Projects/old-project/x": "", "existing-file.md": "", "Journal/daily.md": "# Day\n", ".obsidian/app.json": "{}",
	}}.make(t)
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	for _, c := range []struct{ tool, args, want string }{
		{"write_file", `{"path":"Projects/new-project.md","content":"` + strings.Repeat("x", 156) + `"}`, `Created file "Projects/new-project.md" (156 bytes).`},
		{"write_file", `{"path":"notes/draft.md","content":"` + strings.Repeat("x", 2400) + `"}`, `Overwrote file "notes/draft.md" (2.3 KB).`},
		{"write_file", `{}`, `Error: path is required and must be a non-empty string.`},
		{"write_file", `{"path":".obsidian/app.json","content":""}`, `Error: Access denied: Cannot access files in '.obsidian/' directory (protected system folder)`},
		{"create_folder", `{"path":"Projects"}`, `Folder "Projects" already exists.`},
		{"create_folder", `{"path":"Archive/2026/January"}`, `Created folder "Archive/2026/January".`},
		{"create_folder", `{"path":7.5e400}`, `Created folder "7.5e400".`},
		{"create_folder", `{"path":["x"]}`, `Error: path is required and must be a string.`},
		{"create_folder", `{"path":"//"}`, `Error: path cannot be empty or root.`},
		{"delete_file", `{"path":"notes/old-note.md"}`, `Deleted 'notes/old-note.md' to trash.`},
		{"delete_file", `{"path":"Archive/2024"}`, `Deleted 'Archive/2024' to trash.`},
		{"delete_file", `{"path":"nonexistent.md"}`, `Error: File or folder not found: "nonexistent.md"`},
		{"move_file", `{"source":"notes/old-name.md","destination":"notes/new-name.md"}`, `Moved "notes/old-name.md" to "notes/new-name.md".`},
		{"move_file", `{"source":"Inbox/meeting-notes.md","destination":"Meetings/2026/February/meeting-notes.md"}`, `Moved "Inbox/meeting-notes.md" to "Meetings/2026/February/meeting-notes.md".`},
		{"move_file", `{"source":"Projects/old-project","destination":"Archive/2026/old-project"}`, `Moved "Projects/old-project" to "Archive/2026/old-project".`},
		{"move_file", `{"source":"notes/file.md","destination":"notes/file.md"}`, `No changes made: source and destination are the same path ("notes/file.md").`},
		{"move_file", `{"source":"nonexistent.md","destination":"x"}`, `Error: Source not found: "nonexistent.md"`},
		{"move_file", `{"source":"notes/file.md","destination":"existing-file.md"}`, `Error: Destination already exists: "existing-file.md"`},
		{"organize_note", `{"source":"Meetings/2026/February/meeting-notes","destination":"Meetings/m"}`, `Successfully moved note from "Meetings/2026/February/meeting-notes.md" to "Meetings/m.md".`},
		{"create_note", `{"content":"# Meeting Notes\n\nDiscussed project timeline...","path":"Meetings/2026-02-03.md"}`, `Successfully created note at "Meetings/2026-02-03.md".`},
		{"create_note", `{"content":"x","path":"Meetings/2026-02-03"}`, `Error: A note already exists at "Meetings/2026-02-03.md". Use modify_note to update it.`},
		{"modify_note", `{"path":"Journal/daily.md","operation":"append","content":"\n\n## Evening Update\nCompleted all tasks."}`, `Successfully appended content to "Journal/daily.md".`},
		{"get_file_info", `{"path":"nonexistent/file.md"}`, `Error: Path not found: "nonexistent/file.md"`},
	} {
		if got := call(t, reg, c.tool, c.args).Text; got != c.want {
			t.Errorf("%s %.80s\ngot  %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
	text, err := os.ReadFile(filepath.Join(ws.Dir(), "Journal/daily.md"))
	if err != nil || string(text) != "# Day\n\n\n## Evening Update\nCompleted all tasks." {
		t.Errorf("%q %v", text, err)
	}
}

func TestSearchByPathDocument(t *testing.T) {
	ws := many(130, 1).make(t)
	reg := tools(t, ws, profile.Options{Profile: "smcp"})
	for args, want := range map[string][2]int{
		`{"pattern":"**/*.txt"}`:               {20, 130},
		`{"pattern":"*.txt","limit":100}`:      {100, 130},
		`{"pattern":"f00[0-2]?.txt"}`:          {20, 30},
		`{"pattern":"f0000.txt"}`:              {1, 1},
		`{"pattern":"!f0000.txt","limit":"2"}`: {2, 129},
	} {
		var a struct {
			Matches []string
			Total   int `json:"totalMatches"`
		}
		r := call(t, reg, "search_by_path", args)
		if err := json.Unmarshal([]byte(r.Text), &a); err != nil {
			t.Fatalf("%s: %s", args, r.Text)
		}
		if len(a.Matches) != want[0] || a.Total != want[1] {
			t.Errorf("%s: %d of %d", args, len(a.Matches), a.Total)
		}
	}
}
