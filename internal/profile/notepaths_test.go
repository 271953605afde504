package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// Every tool that reads or edits a file accepts a note's name instead of its path. Tools
// that create, overwrite or delete files don't.
func TestNotePaths(t *testing.T) {
	files := map[string]string{
		".obsidian/app.json": `{"trashOption":"local"}`,
		"a.md":               "# Head\n\nalpha ^b\n",
		"b":                  "a file\n", "b.md": "a note\n",
		"in/c.md": "deep [[a]]\n",
		"d/x.md":  "folder\n", "d.md": "note beside a folder\n",
		"n #2.md": "numbered\n",
	}
	for _, c := range []struct{ profiles, tool, args, want string }{
		{"vault notes quarry", "read_file", `{"path":"a"}`, "alpha"},
		{"vault notes quarry", "read_file", `{"path":"a/"}`, "alpha"},
		{"vault notes quarry", "read_file", `{"path":"in/c"}`, "deep"},
		{"vault", "read_file", `{"path":"/in/c"}`, "deep"},
		{"vault notes quarry", "read_file", `{"path":"b"}`, "a file"},
		{"vault notes quarry", "read_file", `{"path":"d"}`, "is a folder"},
		{"vault notes quarry", "read_file", `{"path":"none"}`, `File not found: "none"`},
		{"vault notes quarry", "read_file", `{"path":"n #2"}`, "numbered"},
		{"notes quarry", "read_file", `{"path":"a:3"}`, "alpha"},
		{"notes quarry", "read_file", `{"path":"a#Head"}`, "alpha"},
		{"quarry", "read_file", `{"paths":["a:1-1","n #2","none"]}`, "## a.md:1-1\n1: # Head"},
		{"notes", "read_file", `{"paths":["a:1-1","n #2","none"]}`, "## a.md:1\n# Head"},
		{"vault notes quarry", "get_file_info", `{"path":"a"}`, "a.md"},
		{"vault notes quarry", "edit_file", `{"path":"a","old_text":"alpha","new_text":"omega"}`, `in "a.md"`},
		{"vault notes quarry", "edit_file", `{"path":"b","old_text":"file","new_text":"text"}`, `in "b"`},
		{"vault notes quarry", "edit_file", `{"path":"a","insert_after_line":1,"content":"x"}`, `in "a.md"`},
		{"vault notes quarry", "edit_file", `{"path":"a","old_text":"nope","new_text":""}`, "Text 'nope' not found in a.md"},
		{"vault notes quarry", "modify_note", `{"path":"a","operation":"append","content":"x"}`, `"a.md"`},
		{"vault notes quarry", "modify_note", `{"path":"b","operation":"append","content":"x"}`, `"b.md"`},
		{"vault notes quarry", "organize_note", `{"source":"b","destination":"e"}`, `"b.md" to "e.md"`},
		{"vault notes quarry", "move_file", `{"source":"a","destination":"in/"}`, `"a.md" to "in/a.md"`},
		{"vault notes quarry", "move_file", `{"source":"a","destination":"e.md"}`, `"a.md" to "e.md"`},
		{"vault notes quarry", "move_file", `{"source":"a","destination":"e"}`, `Source not found: "a"`},
		{"vault notes quarry", "move_file", `{"source":"b","destination":"e"}`, `"b" to "e"`},
		{"vault notes quarry", "delete_file", `{"path":"a"}`, `File or folder not found: "a"`},
		{"vault notes quarry", "write_file", `{"path":"a","content":"x"}`, `Created file "a"`},
		{"notes quarry", "apply_changes", `{"changes":[{"path":"a","old_text":"alpha","new_text":"omega"},{"path":"in/c","old_text":"deep","new_text":"low"}]}`, "in/c.md"},
		{"notes quarry", "apply_changes", `{"changes":[{"path":"a","delete":true}]}`, "can't be made"},
		{"notes quarry", "apply_changes", `{"changes":[{"path":"a","content":"x"}]}`, "created a: "},
		{"notes quarry", "replace_in_files", `{"text":"alpha","replacement":"omega","path":"a"}`, "a.md"},
		{"quarry", "apply_patch", `{"patch":"*** Begin Patch\n*** Update File: a\n@@\n-alpha ^b\n+omega\n*** End Patch\n"}`, "a.md"},
		{"quarry", "search_files", `{"regex":"alpha","path":"a"}`, "# a.md"},
		{"quarry", "search_files", `{"pattern":"alpha","path":"a"}`, "## a.md"},
		{"quarry", "file_search", `{"query":"alpha","path":"a"}`, "a.md:3"},
		{"quarry", "search_code", `{"query":"alpha","path":"a"}`, "a.md"},
		{"quarry", "find_symbol", `{"name":"Head","path":"a"}`, "a.md"},
		{"quarry", "outline", `{"path":"a"}`, "Head"},
		{"notes quarry", "read_section", `{"path":"a","heading":"Head"}`, "alpha"},
		{"notes quarry", "edit_section", `{"path":"a","heading":"Head","operation":"append","content":"x"}`, "a.md"},
		{"notes quarry", "properties", `{"path":"a","name":"n","operation":"set","value":"1"}`, "a.md"},
		{"notes quarry", "tags", `{"path":"a"}`, "No tags"},
		{"notes quarry", "links", `{"path":"a"}`, "in/c.md"},
		{"code", "read_file", `{"path":"a"}`, `File not found: "a"`},
	} {
		for _, name := range strings.Fields(c.profiles) {
			ws := fixture{files: files}.make(t)
			got := call(t, tools(t, ws, profile.Options{Profile: name, Tools: []string{c.tool}}), c.tool, c.args).Text
			if !strings.Contains(got+"\n", c.want) {
				t.Errorf("%s %s %s\nwants %s\ngot %s", name, c.tool, c.args, c.want, got)
			}
			if data, err := os.ReadFile(filepath.Join(ws.Dir(), "a.md")); c.tool == "delete_file" && err != nil {
				t.Errorf("%s %s deleted a.md: %s %v", name, c.args, data, err)
			}
		}
	}
}

// Names are found regardless of Unicode normalization: a name in NFD, as macOS writes it,
// by a query in NFC, as keyboards type it, and the reverse.
func TestNamesHoweverComposed(t *testing.T) {
	const composed, apart = "caf\u00E9", "cafe\u0301"
	for _, name := range []string{composed, apart} {
		ws := fixture{files: map[string]string{
			".obsidian/app.json": "{}", name + ".md": "no word\n", "in " + name + "/x.md": "one [[" + composed + "]]\n",
		}}.make(t)
		tried := 0
		for _, typed := range []string{composed, apart} {
			for _, c := range []struct{ profiles, tool, args, want string }{
				{"vault notes quarry", "search_notes", `{"query":"CAFÉ"}`, "## " + name + ".md"},
				{"notes quarry", "search_notes", `{"query":"one path:café"}`, "## in " + name + "/x.md"},
				{"vault notes quarry", "list_files", `{"pattern":"café*"}`, name + ".md"},
				{"vault notes quarry", "list_files", `{"path":"in café"}`, "in " + name + "/x.md"},
				{"vault notes", "search_files", `{"pattern":"one","file_pattern":"in café/*"}`, "# in " + name + "/x.md"},
				{"vault notes quarry", "read_file", `{"path":"café"}`, "no word"},
				{"vault notes quarry", "get_file_info", `{"path":"café.md"}`, "File: " + name + ".md"},
				{"quarry", "search_files", `{"regex":"one","file_pattern":"in café/**"}`, "# in " + name + "/x.md"},
				{"quarry", "file_search", `{"query":"word","include":"*é.md"}`, name + ".md"},
				{"quarry", "search_by_path", `{"pattern":"*café*/*.md"}`, "in " + name + "/x.md"},
				{"quarry", "search_by_path", `{"pattern":"afé"}`, name + ".md"},
				{"smcp", "search_by_path", `{"pattern":"caf[é].md"}`, name + ".md"},
				{"notes quarry", "links", `{"path":"café"}`, "in " + name + "/x.md"},
			} {
				args := strings.NewReplacer("é", typed[3:], "É", strings.ToUpper(typed[3:])).Replace(c.args)
				for _, profiled := range strings.Fields(c.profiles) {
					got := call(t, tools(t, ws, profile.Options{Profile: profiled, Tools: []string{c.tool}}), c.tool, args).Text
					if tried++; !strings.Contains(got, c.want) {
						t.Errorf("%q: %s %s %+q\nwants %+q\ngot %+q", name, profiled, c.tool, args, c.want, got)
					}
				}
			}
		}
		t.Logf("%q: %d calls", name, tried)
	}
}
