package stress_test

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
	"quarry/internal/stress"
)

// Names that differ only in Unicode form are different files for every tool: changing one doesn't
// affect the other.
func TestTwins(t *testing.T) {
	stress.NeedsCase(t)
	const nfc, nfd = "caf\u00e9.md", "cafe\u0301.md"
	for _, index := range []bool{false, true} {
		dir := stress.FastDir(t)
		opts := &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal}
		if index {
			opts.Index = &quarry.IndexOptions{Dir: stress.FastDir(t)}
		}
		ws, err := quarry.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		reg, err := profile.New(ws, &profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for _, name := range []string{nfc, nfd} {
			other := map[string]string{nfc: nfd, nfd: nfc}[name]
			path := fmt.Sprintf("%q", name)
			for _, c := range []struct{ tool, args, want string }{
				{"read_file", `{"path":` + path + `}`, "text of " + name}, {"get_file_info", `{"path":` + path + `}`, ""}, {"outline", `{"path":` + path + `}`, ""},
				{"search_files", `{"path":` + path + `,"regex":"text of"}`, "text of " + name}, {"search_files", `{"regex":"text of"}`, "text of " + other}, {"search_by_path", `{"pattern":` + path + `}`, name},
				{"edit_file", `{"path":` + path + `,"old_text":"text of","new_text":"edited"}`, ""}, {"write_file", `{"path":` + path + `,"content":"written"}`, ""},
				{"modify_note", `{"path":` + path + `,"operation":"append","content":"more"}`, ""}, {"replace_in_files", `{"path":` + path + `,"text":"text of","replacement":"replaced"}`, ""},
				{"apply_changes", `{"changes":[{"path":` + path + `,"old_text":"text of","new_text":"edited"}]}`, ""},
				{"move_file", `{"source":` + path + `,"destination":"moved.md"}`, ""}, {"organize_note", `{"source":` + path + `,"destination":"elsewhere.md"}`, ""}, {"delete_file", `{"path":` + path + `}`, ""},
				{"move_file", `{"source":"third.md","destination":` + path + `}`, "already exists"}, {"create_note", `{"path":` + path + `,"content":"new"}`, ""},
				{"read_file", `{"path":"CAFE\u0301.md"}`, "AMBIGUOUS_PATH"}, // ambiguous, because neither file has exactly this name
			} {
				for _, n := range []string{nfc, nfd} {
					put(t, filepath.Join(dir, n), "# "+n+"\n\ntext of "+n+"\n")
				}
				put(t, filepath.Join(dir, "third.md"), "third\n")
				calls++
				r := reg.Lookup(c.tool).Execute(t.Context(), json.RawMessage(c.args))
				if !strings.Contains(r.Text, c.want) {
					t.Errorf("index %v: %s %s: %s, want %q", index, c.tool, c.args, r.Text, c.want)
				}
				if text, err := os.ReadFile(filepath.Join(dir, other)); err != nil || string(text) != "# "+other+"\n\ntext of "+other+"\n" {
					t.Errorf("index %v: %s %s (%s) left the other file as %q, %v", index, c.tool, c.args, r.Text, text, err)
				}
				for _, made := range []string{"moved.md", "elsewhere.md"} {
					_ = os.Remove(filepath.Join(dir, made))
				}
			}
		}
		t.Logf("index %v: %d calls", index, calls)
	}
}
