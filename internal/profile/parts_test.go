package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
	"quarry/tool"
)

// noteTools opens a vault and makes the tools of a profile.
func noteTools(t *testing.T, profileName string, isVault bool) (*tool.Registry, string) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"Plan.md":  "---\nstatus: open # why\ntags: [a]\n---\n# Log\n- one ^id\n\n## Today\ntext\n",
		"Other.md": "see [[Plan#Log]] #a/b [[gone]]\n",
	}
	if isVault {
		files[".obsidian/app.json"] = "{}"
	}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	r, err := profile.New(ws, &profile.Options{Profile: profileName})
	if err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// A refused change says why.
func TestRefusedPropertyHasReason(t *testing.T) {
	r, dir := noteTools(t, "notes", true)
	if err := os.WriteFile(filepath.Join(dir, "Anchor.md"), []byte("---\na: &x 1\nb: *x\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`"operation": "set", "name": "a", "value": "2"`: "aliases use &x", `"operation": "rename", "name": "a", "value": "b"`: `there is a "b" already`,
	} {
		if got := callText(t, r, "properties", `{"path": "Anchor.md", `+args+`}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %q", args, got, want)
		}
	}
}

// read_file names the sections of a note as edit_section does.
func TestReadSectionsOfOneName(t *testing.T) {
	r, dir := noteTools(t, "notes", true)
	if err := os.WriteFile(filepath.Join(dir, "Twice.md"), []byte("# A\n## Log\none\n\n## Log\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{"Log": "A::Log[2] (line 5)", "Log[2]": "two", "A::Log[1]": "one", "Lag": "defines no"} {
		if got := callText(t, r, "read_file", `{"path": "Twice.md#`+part+`"}`); !strings.Contains(got, want) || want == "two" && strings.Contains(got, "one") {
			t.Errorf("%s: %s; want %q", part, got, want)
		}
	}
}

// The tools for notes are offered in quarry only where the root is a vault.
func TestNoteToolsInVaultsOnly(t *testing.T) {
	for _, c := range []struct {
		profile string
		vault   bool
		want    bool
	}{{"quarry", false, false}, {"quarry", true, true}, {"notes", false, true}, {"vault", true, false}} {
		r, _ := noteTools(t, c.profile, c.vault)
		if got := r.Lookup("edit_section") != nil; got != c.want {
			t.Errorf("%s, vault %v: edit_section is there: %v", c.profile, c.vault, got)
		}
	}
}

func TestNoteTools(t *testing.T) {
	r, dir := noteTools(t, "quarry", true)
	call := func(name, args string) (string, bool) {
		res, err := r.Call(context.Background(), name, json.RawMessage(args))
		if err != nil {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		return res.Text, res.IsError
	}
	for _, c := range []struct {
		tool, args, want string
		bad              bool
	}{
		{"read_section", `{"path":"Plan"}`, "Plan.md: 9 lines\nProperties: status, tags\nTags: #a\n\n5-9: # Log\n8-9: ## Today\n\nBlocks: ^id (line 6)\n[version ", false},
		{"read_section", `{"path":"Plan.md","heading":"Today"}`, "8: ## Today\n9: text\n\n[Showing lines 8-9 of 9 total]\n[version ", false},
		{"read_section", `{"path":"Plan.md","block":"id"}`, "6: - one ^id\n", false},
		{"read_section", `{"path":"Plan.md","property":"status"}`, "2: status: open # why\n", false},
		{"read_file", `{"path":"Plan.md#^id"}`, "6: - one ^id\n", false},
		{"read_file", `{"path":"Plan.md#log::today"}`, "8: ## Today\n9: text\n", false},
		{"read_section", `{"path":"nope"}`, "Error: There is no note at \"nope\"", true},
		{"read_section", `{"path":"Plan","heading":"Nope"}`, "Error: The note has no heading \"Nope\"\nIt has Log, Log::Today.\n[NOT_FOUND]", true},
		{"edit_section", `{"path":"Plan","operation":"replace","content":"x"}`, "Error: Name one part of the note\nGive heading, block or property.\n[INVALID_ARGUMENT]", true},
		{"edit_section", `{"path":"Plan","heading":"Today","operation":"append","content":"- x"}`, "Appended to section \"Today\" of Plan.md.\n", false},
		{"edit_section", `{"path":"Plan","property":"tags","operation":"append","content":"b"}`, "Appended to property tags of Plan.md.\n", false},
		{"edit_section", `{"path":"Plan","heading":"Log","operation":"rename","content":"Journal"}`, "Renamed section \"Log\" of Plan.md to \"Journal\".\n", false},
		{"properties", `{"path":"Plan"}`, "2: status: open # why\n3: tags: [a, b]\n[version ", false},
		{"properties", `{"path":"Plan","name":"due","operation":"set","value":"2024-01-02"}`, "Set due in Plan.md.\n", false},
		{"properties", `{"operation":"set","name":"x","value":"1"}`, "Error: path or where is required to set a property.", true},
		{"properties", `{}`, "3 properties:\ndue (1 note)\nstatus (1 note)\ntags (1 note)", false},
		{"tags", `{}`, "3 tags:\n#a (1 note)\n#a/b (1 note)\n#b (1 note)", false},
		{"tags", `{"tag":"#a"}`, "2 notes:\nOther.md\nPlan.md", false},
		{"tags", `{"tag":"a","new_name":"z"}`, "Renamed tag #a to #z in 2 notes.\n", false},
		{"links", `{"path":"Plan"}`, "1 link in 1 note:\n\n## Other.md\nLine 1: see [[Plan#Journal]] #z/b [[gone]]", false},
		{"links", `{"path":"Other","kind":"outgoing"}`, "2 links:\n\n## Other.md\nLine 1: Plan#Journal → Plan.md\nLine 1: gone → nothing", false},
		{"links", `{"kind":"unresolved"}`, "1 link in 1 note:\n\n## Other.md\nLine 1: gone", false},
		{"links", `{"kind":"orphans"}`, "1 note:\nOther.md", false},
		{"links", `{}`, "Error: path is required: the note whose links are wanted.", true},
	} {
		got, bad := call(c.tool, c.args)
		if !strings.HasPrefix(got, c.want) || bad != c.bad {
			t.Errorf("%s %s\n got %q\nwant %q", c.tool, c.args, got, c.want)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "Plan.md"))
	if want := "---\nstatus: open # why\ntags: [z, b]\ndue: 2024-01-02\n---\n# Journal\n- one ^id\n\n## Today\ntext\n- x\n"; err != nil || string(data) != want {
		t.Errorf("Plan.md is %q, want %q", data, want)
	}
}

// Values of a property are listed with counts, and an empty answer names them.
func TestValuesOfProperties(t *testing.T) {
	r, dir := noteTools(t, "notes", true)
	for i, front := range []string{"project: \"[[Atlas]]\"", "project: \"[[Atlas]]\"", "project: \"[[atlas]]\"", "project: [a, b, c, a]", "project: [d, e]\nsize: 3", "project:", "size: 40"} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte("---\n"+front+"\n---\n- [ ] task\nrank:: 7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	has := "project has: [[Atlas]] (3), a (1), b (1), c (1), d (1), and 1 more"
	for _, c := range []struct{ tool, args, want, not string }{
		{"properties", `{"name":"size"}`, "2 values of size in 2 notes:\n3 (1 note)\n40 (1 note)", "project"},
		{"properties", `{"name":"project"}`, "6 values of project in 6 notes:\n[[Atlas]] (3 notes)\na (1 note)", "status"},
		{"properties", `{"name":"Project","operation":"get","where":"property:size"}`, "2 values of Project in 1 note:\nd (1 note)\ne (1 note)", "tlas"},
		{"properties", `{"name":"rank"}`, "1 value of rank in 7 notes:\n7 (7 notes)", ""},
		{"properties", `{"name":"projct"}`, `Unknown property "projct"; the nearest: project.`, ""},
		{"properties", `{"where":"has:size"}`, "get with a name and no path", "values"},
		{"search_notes", `{"query":"property:project=Zeus","show":"table"}`, "No notes. " + has + ".", "size"},
		{"search_notes", `{"query":"property:project=Zeus property:size>1","show":"tasks"}`, "No tasks. " + has + ".", "size has"},
		{"search_notes", `{"query":"property:project=Zeus"}`, has, "size has"},
		{"search_notes", `{"query":"property:project=Zeus","show":"count"}`, has, ""},
		{"search_notes", `{"query":"property:project=Atlas property:size>1"}`, "No notes", "has:"},
		{"properties", `{"operation":"set","name":"rating","value":"1","where":"has:project","dry_run":true}`, "Set rating in 5 notes.", "replaced"},
		{"properties", `{"operation":"set","name":"size","value":"3","where":"path:n","dry_run":true}`, "Set size in 7 notes, replaced in 1.", ""},
		{"properties", `{"operation":"set","name":"project","value":"[a, b, c, a]","where":"has:size OR has:project","quiet":true}`, "Set project in 5 notes, replaced in 4.", ""},
		{"search_notes", `{"query":"(property:size>90 OR property:projct) -property:status","show":"table"}`, `No notes. size has: 3 (1), 40 (1). unknown property "projct"; the nearest: project.`, "status"},
	} {
		got := r.Lookup(c.tool).Execute(context.Background(), json.RawMessage(c.args)).Text
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s %s\n got %q\nwant %q and not %q", c.tool, c.args, got, c.want, c.not)
		}
	}
}

// Files with the same line are merged, as in a search; a line with two links is shown once.
func TestLinksFoldEqualLines(t *testing.T) {
	r, dir := noteTools(t, "notes", true)
	for name, text := range map[string]string{"d/a.md": "to [[Plan]]\n", "d/b.md": "\nto [[Plan]]\n", "e.md": "to [[Plan]]\n", "f.md": "[[Plan]] [[Plan#Log]]\n"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res := r.Lookup("links").Execute(context.Background(), json.RawMessage(`{"path":"Plan"}`))
	want := "6 links in 5 notes:\n\n## Other.md\nLine 1: see [[Plan#Log]] #a/b [[gone]]\n\n## d/a.md\nLine 1: to [[Plan]]\nthe same line in b.md:2, e.md:1\n\n## f.md\nLine 1: [[Plan]] [[Plan#Log]]"
	if res.Text != want {
		t.Errorf("got %q\nwant %q", res.Text, want)
	}
}

// A part reports the encoding and the line ending of its file, as read_file does.
func TestReadSectionStructured(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "n.md"), []byte("\xef\xbb\xbf# A\r\ntext\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	r, err := profile.New(ws, &profile.Options{Profile: "notes", Structured: true, Tools: []string{"read_section", "read_file"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{"read_section": `{"path":"n.md","heading":"A"}`, "read_file": `{"path":"n.md"}`} {
		data, err := json.Marshal(r.Lookup(name).Execute(context.Background(), json.RawMessage(args)).Structured)
		if err != nil || !strings.Contains(string(data), `"encoding":"utf-8-bom"`) || !strings.Contains(string(data), `"line_ending":"crlf"`) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}
