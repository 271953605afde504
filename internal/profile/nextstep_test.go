package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
)

// In the profile quarry, the answer to a frequent mistake of models contains the line
// that corrects the next call.
func TestAnswersTellTheNextStep(t *testing.T) {
	ws := fixture{opts: quarry.Options{Trash: change.TrashNone}, files: map[string]string{
		"src/main.go":     "package main\n\n// TODO: x\n",
		"src/lib/util.go": "package lib\n",
		"cmd/util.go":     "package cmd\n",
		"Notes/Plan.md":   "# Plan\n",
		"notes.txt":       "a\nb\nc\nd\n",
		"long.txt":        strings.Repeat("line\n", 5000),
	}}.make(t)
	r := tools(t, ws, profile.Options{})
	root, err := json.Marshal(ws.Dir())
	if err != nil {
		t.Fatal(err)
	}
	abs := strings.Trim(string(root), `"`)
	for _, c := range []struct{ name, tool, args, want string }{
		{"a file of that name elsewhere", "read_file", `{"path":"main.go"}`, "Error: File not found: \"main.go\"\nThere is src/main.go."},
		{"several", "read_file", `{"path":"pkg/UTIL.go"}`, "Error: File not found: \"pkg/UTIL.go\"\nFiles of that name: cmd/util.go, src/lib/util.go."},
		{"with a line, as results have it", "get_file_info", `{"path":"src/main.go:3"}`, "Error: Path not found: \"src/main.go:3\"\nThere is \"src/main.go\"; give the path alone."},
		{"with spaces", "get_file_info", `{"path":" src/main.go "}`, "File: src/main.go\n"},
		{"an address", "read_file", `{"path":"file://` + abs + `/notes.txt"}`, "There is \"notes.txt\"; give the path alone."},
		{"nothing like it", "read_file", `{"path":"zzz.go"}`, "Error: File not found: \"zzz.go\"\nFind the path with search_by_path or list_files."},
		{"a folder that isn't there", "search_files", `{"path":"lib","regex":"x"}`, "Error: Path not found: \"lib\"\n"},
		{"changes are exact", "edit_file", `{"path":"notes/plan.md","old_text":"a","new_text":"b"}`, "Error: File not found: \"notes/plan.md\"\nThere is \"Notes/Plan.md\": to change something, write its path exactly."},
		{"so are deletions", "delete_file", `{"path":"NOTES.txt"}`, "Error: File or folder not found: \"NOTES.txt\"\nThere is \"notes.txt\": to change something, write its path exactly."},
		{"and moves", "move_file", `{"source":"NOTES.txt","destination":"x"}`, "Error: Source not found: \"NOTES.txt\"\nThere is \"notes.txt\": to change something, write its path exactly."},
		{"into a folder", "move_file", `{"source":"notes.txt","destination":"src"}`, "Error: Destination already exists: \"src\"\nIt is a folder. To move into it, give \"src/notes.txt\"."},
		{"a folder is no file", "edit_file", `{"path":"src","old_text":"a","new_text":"b"}`, "Error: \"src\" is a folder, not a file\nUse list_files to see what is in it."},
		{"nor written", "write_file", `{"path":"src/","content":"a"}`, "Error: Failed to write file \"src/\": it is a folder"},
		{"lines are not replaced by deleting", "edit_file", `{"path":"notes.txt","delete_lines":{"start":1,"end":2},"content":"x"}`, "Error: delete_lines takes no content.\nTo replace lines, give their text as old_text and the new one as new_text."},
		{"the rest of a range", "read_file", `{"path":"long.txt","start_line":10,"end_line":4000}`, `next: read_file {"path":"long.txt","start_line":2010,"end_line":4000}]`},
		{"a name in another case", "list_files", `{"path":"src","pattern":"MAIN.*"}`, "in any letter case 1 item matches (src/main.go)"},

		{"a false replace_all says nothing", "edit_file", `{"path":"notes.txt","insert_after_line":1,"content":"x","replace_all":false}`, "Inserted 1 line after line 1"},
		{"empty content beside a deletion too", "edit_file", `{"path":"notes.txt","delete_lines":{"start":2,"end":2},"content":""}`, "Deleted line 2"},
		{"./ in a glob is the searched folder", "search_files", `{"regex":"TODO","path":"src","file_pattern":"./*.go"}`, "Found 1 result.\n\n# src/main.go\n"},
		{"not any folder", "search_by_path", `{"pattern":"./util.go"}`, `"totalMatches": 0`},
		{"below it", "search_by_path", `{"pattern":"./src/*.go"}`, `"src/main.go"`},
		{"excluded", "file_search", `{"query":"package","include":"!./src/**"}`, "Found 1 match for \"package\":\n\n- `cmd/util.go:1`"},
		{"of a listing", "list_files", `{"pattern":"./*.txt"}`, "Found 2 item(s):"},
		{"an absolute glob in the root", "search_by_path", `{"pattern":"` + abs + `/src/*.go"}`, `"src/main.go"`},
		{"a slash before a new name is the top", "write_file", `{"path":"/new.md","content":"x"}`, `Created file "new.md" (1 byte).`},
		{"of a note as well", "create_note", `{"path":"/Idea","content":"x"}`, `Successfully created note at "Idea.md".`},
		{"and of a destination", "move_file", `{"source":"new.md","destination":"/newer.md"}`, `Moved "new.md" to "newer.md".`},
		{"before more it may be a place on the machine", "write_file", `{"path":"/etc/new.md","content":"x"}`, `Error: Access denied: "/etc/new.md" is outside the workspace`},
		{"the root is no new folder", "create_folder", `{"path":"` + abs + `"}`, "Error: path cannot be empty or root."},
		{"whichever slash", "create_folder", `{"path":"\\"}`, "Error: path cannot be empty or root."},
	} {
		if text := call(t, r, c.tool, c.args).Text; !strings.Contains(text, c.want) {
			t.Errorf("%s: %s %s\n%.600s\nwant %s", c.name, c.tool, c.args, text, c.want)
		}
	}
}

// A symlink that leads out of the workspace is named as the cause, and a listing says that
// it omits symlinks and hidden files.
func TestLinksAreTold(t *testing.T) {
	ws := fixture{files: map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n", ".hidden": "h\n"}}.make(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(ws.Dir(), "out")); err != nil {
		t.Skip("no symlinks here:", err)
	}
	r := tools(t, ws, profile.Options{})
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"path":"out/x.txt"}`, "Error: Access denied: \"out/x.txt\" is outside the workspace\nA symlink in the path leads there; its target can be served as another root.\n"},
		{"read_file", `{"path":"../x.txt"}`, "Write the path relative to the top of the workspace."},
		{"list_files", `{}`, "\n[all items shown; omitted: hidden, symlinks]"},
		{"list_files", `{"include_hidden":true}`, "\n[all items shown; omitted: symlinks]"},
		{"list_files", `{"depth":2}`, "\n[all items shown; omitted: hidden, symlinks]"},
		{"list_files", `{"path":"sub"}`, "\n[all items shown]"},
	} {
		if text := call(t, r, c.tool, c.args).Text; !strings.Contains(text, c.want) {
			t.Errorf("%s %s\n%s\nwant %s", c.tool, c.args, text, c.want)
		}
	}
}

// An impossible path is not repeated in full.
func TestLongPathIsNotRepeated(t *testing.T) {
	r := tools(t, fixture{}.make(t), profile.Options{})
	for _, name := range []string{"read_file", "get_file_info", "delete_file"} {
		res := call(t, r, name, fmt.Sprintf(`{"path":%q}`, strings.Repeat("a/", 1900)))
		if !res.IsError || len(res.Text) > 1200 {
			t.Errorf("%s: %d bytes, error %v", name, len(res.Text), res.IsError)
		}
	}
}
