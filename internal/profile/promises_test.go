package profile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// White space around a path is dropped if no file has that exact name.
func TestSpaceAroundPaths(t *testing.T) {
	ws := fixture{files: map[string]string{"q.md": "x\n", "N/x.md": "x\n", " kept ": "x\n"}}.make(t)
	for _, name := range []string{"vault", "quarry"} {
		reg := tools(t, ws, profile.Options{Profile: name})
		for _, c := range []struct{ tool, args, want string }{
			{"write_file", `{"path":"trail.md ","content":"x"}`, `file "trail.md" (1 byte).`},
			{"read_file", `{"path":"q.md\n"}`, "1: x"},
			{"get_file_info", `{"path":" kept "}`, "File:  kept "},
			{"create_note", `{"path":" spaced name.md ","content":"x"}`, `"spaced name.md"`},
			{"delete_file", `{"path":"spaced name.md"}`, "Deleted 'spaced name.md'"},
			{"create_folder", `{"path":" / "}`, "Error: path cannot be empty or root."},
			{"move_file", `{"source":"trail.md","destination":" newdir/ "}`, `to "newdir/trail.md"`},
			{"delete_file", `{"path":"newdir"}`, "Deleted 'newdir'"},
		} {
			if text := call(t, reg, c.tool, c.args).Text; !strings.Contains(text, c.want) {
				t.Errorf("%s: %s %s: %s", name, c.tool, c.args, text)
			}
		}
	}
}

// A vault shows notes that git ignores like any other note.
func TestVaultShowsIgnoredNotes(t *testing.T) {
	ws := fixture{files: map[string]string{".obsidian/app.json": `{"userIgnoreFilters":["Old/"]}`, ".gitignore": "Private/\n", "Private/n.md": "a needle\n", "Old/o.md": "a needle\n", ".hidden/h.md": "a needle\n"}}.make(t)
	reg := tools(t, ws, profile.Options{Profile: "vault"})
	for _, c := range []struct{ tool, args string }{
		{"search_notes", `{"query":"needle"}`}, {"search_files", `{"pattern":"needle"}`}, {"list_files", `{"pattern":"**"}`},
	} {
		text := call(t, reg, c.tool, c.args).Text
		if !strings.Contains(text, "Private/n.md") || !strings.Contains(text, "Old/o.md") || strings.Contains(text, "h.md") {
			t.Errorf("%s: %s", c.tool, text)
		}
	}
}

// In the profile godoctor, only .git and files that .gitignore names are skipped, as
// documented.
func TestGodoctorGoesByGitignoreAlone(t *testing.T) {
	ws := fixture{files: map[string]string{".git/HEAD": "needle\n", ".gitignore": "built/\n", ".ignore": "dot.txt\n", ".rgignore": "rg.txt\n", ".git/info/exclude": "excluded.txt\n",
		"built/a.txt": "needle\n", "dot.txt": "needle\n", "rg.txt": "needle\n", "excluded.txt": "needle\n", ".hidden/h.txt": "needle\n"}}.make(t)
	text := call(t, tools(t, ws, profile.Options{Profile: "godoctor"}), "file_search", `{"query":"needle"}`).Text
	for _, want := range []string{"dot.txt:1", "rg.txt:1", "excluded.txt:1", ".hidden/h.txt:1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not found: %s", want, text)
		}
	}
	if strings.Contains(text, "built") || strings.Contains(text, "HEAD") {
		t.Errorf("ignored files are found: %s", text)
	}
}

// update_links, if given explicitly, also works in folders that aren't Obsidian vaults. The
// profile notes always updates links, whatever the vault's settings.
func TestLinksWithoutObsidian(t *testing.T) {
	for _, c := range []struct {
		profile, asks string
		files         map[string]string
	}{
		{"quarry", `,"update_links":true`, nil},
		{"notes", "", nil},
		{"notes", "", map[string]string{".obsidian/app.json": "{}"}},
		{"notes", "", map[string]string{".obsidian/app.json": `{"alwaysUpdateLinks":false}`}},
	} {
		f := fixture{files: map[string]string{"a.md": "see [[b]] and [b](b.md)\n", "b.md": "x\n"}}
		maps.Copy(f.files, c.files)
		ws := f.make(t)
		text := call(t, tools(t, ws, profile.Options{Profile: c.profile}), "move_file", `{"source":"b.md","destination":"sub/c.md"`+c.asks+`}`).Text
		data, err := os.ReadFile(filepath.Join(ws.Dir(), "a.md"))
		if err != nil || !strings.HasPrefix(string(data), "see [[c]] and [c](") || !strings.Contains(text, "updated 2 links in 1 file") {
			t.Errorf("%s %s: %s: %q, %v", c.profile, c.files, text, data, err)
		}
	}
}

// A strict profile has no offset, so it returns as many results as requested.
func TestStrictLimitsAreHonoured(t *testing.T) {
	f := fixture{files: map[string]string{}}
	for i := range 600 {
		f.files[fmt.Sprintf("%s%03d.md", strings.Repeat("long name ", 20), i)] = ""
	}
	ws := f.make(t)
	text := call(t, tools(t, ws, profile.Options{Profile: "vault"}), "list_files", `{"max_results":600}`).Text
	if n := strings.Count(text, "\n[file] "); n != 600 || strings.Contains(text, "Showing") {
		t.Errorf("%d of 600 names", n)
	}
	text = call(t, tools(t, ws, profile.Options{}), "list_files", `{"max_results":600}`).Text
	if !strings.Contains(text, "as many as fit in 60 KB. Use a narrower pattern.\n[cut at 60 KB; next: list_files") || strings.Contains(text, "larger max_results") {
		t.Errorf("cut by its length: %s", text[len(text)-300:])
	}
}

// A long line is cut so that it contains the matched word.
func TestCodeShowsTheWord(t *testing.T) {
	ws := fixture{files: map[string]string{"min.js": strings.Repeat("var a=1;", 5000) + "function findTheNeedle(){}" + strings.Repeat("var b=2;", 5000) + "\n"}}.make(t)
	for _, name := range []string{"quarry", "smcp"} {
		if text := call(t, tools(t, ws, profile.Options{Profile: name}), "search_code", `{"query":"find needle"}`).Text; !strings.Contains(text, "findTheNeedle") || len(text) > 4000 {
			t.Errorf("%s: %d bytes: %.300s", name, len(text), text)
		}
	}
}

// The index status counts the current files, even right after changes.
func TestIndexStatusAfterChanges(t *testing.T) {
	f := fixture{files: map[string]string{}}
	for i := range 15 {
		f.files[fmt.Sprintf("f%02d.txt", i)] = "x\n"
	}
	ws := withIndex(t, f.make(t).Dir())
	for i := range 10 {
		name := filepath.Join(ws.Dir(), fmt.Sprintf("f%02d.txt", i))
		var err error
		if i < 5 {
			err = os.Remove(name)
		} else {
			err = os.Rename(name, name+".moved")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var st struct {
		Status     string
		TotalFiles int
	}
	text := call(t, tools(t, ws, profile.Options{Profile: "smcp"}), "get_index_status", `{}`).Text
	if err := json.Unmarshal([]byte(text), &st); err != nil || st.Status != "ready" || st.TotalFiles != 10 {
		t.Errorf("%s %v", text, err)
	}
}

// Unsearched notes are named if nothing was found.
func TestNotesNotSearched(t *testing.T) {
	ws := fixture{files: map[string]string{"big.md": strings.Repeat("a", 9<<20) + "\nneedle\n", "bin.md": "needle\x00"}}.make(t)
	for _, name := range []string{"quarry", "vault"} {
		text := call(t, tools(t, ws, profile.Options{Profile: name}), "search_notes", `{"query":"needle"}`).Text
		if !strings.HasPrefix(text, "No notes found matching your search query.") || !strings.Contains(text, "1 too large") || !strings.Contains(text, "1 binary") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
