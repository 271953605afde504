package profile_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/tool"
)

// marker is contained in every secret of TestSecretNames.
const marker = "q7f3amarker"

// secretText contains a credential, a definition and typical elements of a note.
const secretText = "API_TOKEN=" + marker + "\n# " + marker + "\nfunc " + marker + "() {}\n[[" + marker + "]] #" + marker + "\n"

// secretRoutes returns calls that show a file's text, or that would let a later call show
// it.
func secretRoutes(path string) map[string][]any {
	moved := "moved-" + strings.ReplaceAll(path, "/", "-") + ".txt"
	patch := "--- a/" + path + "\n+++ b/" + path + "\n@@ -1,1 +1,1 @@\n-no such line\n+x\n"
	return map[string][]any{
		"read_file":              {"read_file", m{"path": path}},
		"read_file, a part":      {"read_file", m{"paths": []string{path + ":1-2"}}},
		"read_file, a link":      {"read_file", m{"path": "link-" + strings.ReplaceAll(path, "/", "-")}},
		"search_files, the file": {"search_files", m{"regex": marker, "path": path}},
		"search_files, pattern":  {"search_files", m{"pattern": marker, "include_hidden": true}},
		"search_files":           {"search_files", m{"regex": "(?i)" + marker, "include_hidden": true, "include_ignored": true}},
		"file_search":            {"file_search", m{"query": marker, "include_hidden": true}},
		"search_code":            {"search_code", m{"query": marker}},
		"find_symbol":            {"find_symbol", m{"name": marker}},
		"outline":                {"outline", m{"path": path}},
		"edit_file":              {"edit_file", m{"path": path, "old_text": "API_TOKENS=" + marker[:4], "new_text": "x"}},
		"edit_file, dry run":     {"edit_file", m{"path": path, "delete_lines": m{"start": 1, "end": 1}, "dry_run": true}},
		"write_file, dry run":    {"write_file", m{"path": path, "content": "x\n", "dry_run": true}},
		"replace_in_files":       {"replace_in_files", m{"regex": "API_TOKEN", "replacement": "x", "dry_run": true}},
		"apply_changes":          {"apply_changes", m{"changes": []any{m{"path": path, "old_text": "API_TOKEN=", "new_text": "x="}}, "dry_run": true}},
		"apply_patch":            {"apply_patch", m{"patch": patch, "dry_run": true}},
		"move_file":              {"move_file", m{"source": path, "destination": moved}, "read_file", m{"path": moved}},
	}
}

type m = map[string]any

func quote(v any) string { b, _ := json.Marshal(v); return string(b) }

// secretNames returns the names listed in docs/MCP.md and a backup file's name for each.
func secretNames(t *testing.T) []string {
	text, err := os.ReadFile("../../docs/MCP.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### Files that look like secrets\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			name := strings.ReplaceAll(match[1], "*", "x")
			names = append(names, name, "sub/"+name+".bak", name+"~")
		}
	}
	if len(names) < 60 {
		t.Fatalf("%d names in docs/MCP.md", len(names))
	}
	return names
}

// No tool shows a file that looks like a secret, by any route, with or without an index.
// To prove that the routes work, the same text is read under another name.
func TestSecretNames(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		dir := t.TempDir()
		put := func(name string) {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(secretText), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(name, filepath.Join(dir, "link-"+strings.ReplaceAll(name, "/", "-"))); err != nil && !os.IsExist(err) {
				t.Skip("no symlinks here:", err)
			}
		}
		opts := &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal}
		if indexed {
			opts.Index = &quarry.IndexOptions{Dir: t.TempDir()}
		}
		ws, err := quarry.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		r := tools(t, ws, profile.Options{})
		try := func(path string, before func(name string)) (shown map[string]string) {
			shown = map[string]string{}
			for _, route := range slices.Sorted(maps.Keys(secretRoutes(path))) {
				calls := secretRoutes(path)[route]
				before(path)
				for i := 0; i < len(calls); i += 2 {
					args := quote(calls[i+1])
					tl := r.Lookup(calls[i].(string))
					if tl == nil {
						t.Fatalf("no tool %v", calls[i])
					}
					res := tl.Execute(t.Context(), json.RawMessage(args))
					if text := said(res, args); strings.Contains(text, marker) {
						shown[route] = text
					}
				}
			}
			return shown
		}
		names := secretNames(t)
		for _, name := range names {
			put(name)
		}
		if indexed {
			if err := ws.Index().Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		tried := 0
		for _, name := range names {
			tried += len(secretRoutes(name))
			for route, text := range try(name, func(string) {}) {
				t.Errorf("%s shows %s: %s", route, name, text)
			}
		}
		open := "open.go"
		if shown := try(open, put); len(shown) < 11 || len(shown) < len(secretRoutes(open))-1 { // the dry run of a failing patch shows nothing
			t.Errorf("of a file that is open only %d routes show something: %q", len(shown), slices.Sorted(maps.Keys(shown)))
		}
		t.Logf("%d names × %d routes, index %v: %d calls", len(names), len(secretRoutes("")), indexed, tried)
	}
}

// said returns the answer without the parts that repeat the call.
func said(res *tool.Result, args string) string {
	b, _ := json.Marshal(res.Structured)
	text := res.Text + string(b)
	if strings.Contains(args, marker) { // "No matches found for …"
		for _, echo := range []string{`for "` + marker + `"`, `of "` + marker + `"`, `for "(?i)` + marker} {
			text = strings.ReplaceAll(text, echo, "")
		}
	}
	return text
}

// Files common to most projects are closed only while they hold a credential.
func TestSuspectFiles(t *testing.T) {
	dir := t.TempDir()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	r := tools(t, ws, profile.Options{})
	put := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(".npmrc", "registry=https://registry.example/\n")
	put("dev.env", "PORT=8080\n")
	put("token.txt", "TOKEN=abc\n")
	put(".aws/credentials", "x\n")
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"path": ".npmrc"}`, "1: registry="},
		{"edit_file", `{"path": ".npmrc", "old_text": "registry.example", "new_text": "other.example"}`, "Replaced"},
		{"search_files", `{"regex": "PORT"}`, "dev.env"},
		{"write_file", `{"path": "dev.env", "content": "PORT=8081\n"}`, "dev.env"},
		{"undo_change", `{}`, "dev.env"},
		{"write_file", `{"path": "new.env", "content": "HOST=a\n"}`, "Created"},
		{"delete_file", `{"path": "new.env"}`, "new.env"},
		{"undo_change", `{}`, "new.env"},
		// Content that would close the file is not written.
		{"write_file", `{"path": "dev.env", "content": "API_KEY=abc\n"}`, "would hold a credential"},
		{"edit_file", `{"path": "dev.env", "old_text": "PORT=8080", "new_text": "DB_PASSWORD=abc"}`, "would hold a credential"},
		{"move_file", `{"source": "token.txt", "destination": "x/.envrc"}`, "would hold a credential"},
		{"apply_changes", `{"changes": [{"path": "a.txt", "content": "a"}, {"path": "b.env", "content": "TOKEN=a"}]}`, "would hold a credential"},
		{"read_file", `{"path": "a.txt"}`, "not found"},
		// A folder whose name closes its files can't be renamed.
		{"move_file", `{"source": ".aws", "destination": "aws"}`, "holds something that may not be accessed"},
		{"read_file", `{"path": ".aws/credentials"}`, `mcp.allow = ["/.aws/credentials"]`},
	} {
		if got := call(t, r, c.tool, c.args).Text; !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s\nwant %q in it", c.tool, c.args, got, c.want)
		}
	}
	put("dev.env", "PORT=8080\nexport DB_PASSWORD=abc\n")
	for tool, args := range map[string]string{
		"read_file": `{"path": "dev.env"}`, "edit_file": `{"path": "dev.env", "old_text": "PORT=8080", "new_text": "x"}`, "delete_file": `{"path": "dev.env"}`,
	} {
		if got := call(t, r, tool, args).Text; !strings.Contains(got, "Access denied") || !strings.Contains(got, `mcp.allow = ["/dev.env"]`) {
			t.Errorf("%s of a file with a credential: %s", tool, got)
		}
	}
	if got := call(t, r, "search_files", `{"regex": "PORT"}`).Text; strings.Contains(got, "8080") || !strings.Contains(got, "1 protected") {
		t.Errorf("a search of a file with a credential: %s", got)
	}
}
