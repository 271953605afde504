package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// reading is a tool call and the parts, wants, that its answer has to contain. A client shows its
// model either only the text or only the structured form of a result, so each of them must contain
// all parts.
type reading struct {
	tool, args string
	wants      []string
}

var readings = map[string][]reading{
	"quarry": {
		{"search_files", `{"regex":"needle"}`, []string{"Notes/n.md", "before the needle", "one needle here", "after the needle"}},
		{"search_files", `{"pattern":"needle"}`, []string{"Notes/n.md", "one needle here"}},
		{"search_files", `{"regex":"neeedle"}`, []string{"near spelling", "needle"}},
		{"search_files", `{"regex":"("}`, []string{"INVALID_PATTERN", "unclosed group"}},
		{"search_files", `{"regex":"needle","max_results":1}`, []string{"next", "offset"}},
		{"file_search", `{"query":"NEEDLE"}`, []string{"Notes/n.md", "one needle here"}},
		{"search_by_path", `{"pattern":"*.md"}`, []string{"Notes/n.md"}},
		{"search_code", `{"query":"needle"}`, []string{"one needle here"}},
		{"search_notes", `{"query":"needle","read_content":true}`, []string{"Notes/n.md", "one needle here"}},
		{"search_notes", `{"query":"needle"}`, []string{"one needle here"}},
		{"list_files", `{}`, []string{"code.go", "Notes"}},
		{"list_files", `{"depth":2}`, []string{"code.go", "n.md"}},
		{"get_file_info", `{"path":"code.go"}`, []string{"code.go"}},
		{"read_file", `{"path":"Notes/n.md"}`, []string{"before the needle", "one needle here", "version"}},
		{"read_file", `{"paths":["code.go","nope"]}`, []string{"func needle()", "nope", "not found"}},
		{"read_file", `{"path":"Notes/m.md"}`, []string{"There is", "Notes/n.md", "NOT_FOUND"}},
		{"write_file", `{"path":"new.md","content":"# New\n"}`, []string{"new.md", "version"}},
		{"edit_file", `{"path":"new.md","old_text":"New","new_text":"Old","dry_run":true}`, []string{"+# Old", "-# New"}},
		{"edit_file", `{"path":"new.md","old_text":"New","new_text":"Old"}`, []string{"new.md", "version"}},
		{"edit_file", `{"path":"new.md","old_text":"# Odl","new_text":"x"}`, []string{"not found", "Old"}},
		{"apply_changes", `{"changes":[{"path":"set.md","content":"one\n"},{"path":"code.go","old_text":"func needle","new_text":"func thread"}],"dry_run":true}`, []string{"set.md", "+func thread", "code.go", "digest"}},
		{"apply_changes", `{"changes":[{"path":"set.md","content":"one\n"},{"path":"code.go","old_text":"no such","new_text":"x"}]}`, []string{"code.go", "not found"}},
		{"apply_changes", `{"changes":[{"path":"set.md","content":"one\n"}]}`, []string{"set.md"}},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: set.md\n@@\n-one\n+two\n*** End Patch\n"}`, []string{"set.md"}},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: set.md\n@@\n-three\n+two\n*** End Patch\n"}`, []string{"set.md", "three"}},
		{"replace_in_files", `{"text":"two","replacement":"three","file_pattern":"set.md"}`, []string{"set.md"}},
		{"outline", `{"path":"code.go"}`, []string{"needle"}},
		{"find_symbol", `{"name":"needle"}`, []string{"code.go", "func needle()"}},
		{"create_folder", `{"path":"made"}`, []string{"made"}},
		{"move_file", `{"source":"new.md","destination":"made/"}`, []string{"made/new.md"}},
		{"create_note", `{"content":"# Note\n"}`, []string{"Note.md"}},
		{"modify_note", `{"path":"Note","operation":"append","content":"more"}`, []string{"Note.md"}},
		{"organize_note", `{"source":"Note","destination":"made/Note"}`, []string{"made/Note.md"}},
		{"delete_file", `{"path":"made/Note.md"}`, []string{"made/Note.md"}},
		{"list_changes", `{}`, []string{"made/Note.md", "edit_file"}},
		{"undo_change", `{}`, []string{"made/Note.md"}},
		{"get_index_status", `{}`, []string{"status"}},
		{"read_file", `{"pth":"x"}`, []string{"unknown parameter", "Known parameters", "INVALID_ARGUMENT"}},
	},
	"vault": {
		{"search_files", `{"pattern":"needle"}`, []string{"Notes/n.md", "before the needle", "one needle here"}},
		{"search_notes", `{"query":"needle","read_content":true}`, []string{"one needle here"}},
		{"list_files", `{"pattern":"**"}`, []string{"Notes/n.md"}},
		{"get_file_info", `{"path":"Notes"}`, []string{"Notes"}},
		{"read_file", `{"path":"Notes/n.md"}`, []string{"one needle here"}},
		{"read_file", `{"path":".obsidian/x"}`, []string{"Access denied: Cannot access files in '.obsidian/' directory (protected system folder)"}},
		{"write_file", `{"path":"w.md","content":"x"}`, []string{"w.md"}},
		{"edit_file", `{"path":"w.md","old_text":"x","new_text":"y"}`, []string{"w.md"}},
		{"create_note", `{"content":"x","path":"c"}`, []string{"c.md"}},
		{"modify_note", `{"path":"c.md","operation":"append","content":"y"}`, []string{"c.md"}},
		{"organize_note", `{"source":"c","destination":"d"}`, []string{"d.md"}},
		{"create_folder", `{"path":"f"}`, []string{"f"}},
		{"move_file", `{"source":"d.md","destination":"f/d.md"}`, []string{"f/d.md"}},
		{"delete_file", `{"path":"f"}`, []string{"f"}},
	},
	"code": {
		{"search_files", `{"pattern":"needle"}`, []string{"Notes/n.md", "one needle here"}},
		{"search_files", `{"pattern":"needle","show":"definitions"}`, []string{"code.go", "func needle()"}},
		{"search_files", `{"pattern":"("}`, []string{"INVALID_PATTERN", "unclosed group"}},
		{"search_code", `{"query":"needle"}`, []string{"code.go", "func needle()", "Notes/n.md"}},
		{"find_symbol", `{"name":"needle"}`, []string{"code.go", "func needle()"}},
		{"read_file", `{"path":"Notes/n.md"}`, []string{"before the needle", "one needle here"}},
		{"read_file", `{"path":"Notes/n.md","numbers":true}`, []string{"one needle here", "version"}},
		{"read_file", `{"paths":["code.go#needle","nope"]}`, []string{"func needle()", "nope", "not found"}},
		{"edit_file", `{"path":"code.go","old_text":"func needle","new_text":"func thread","quiet":false}`, []string{"code.go", "+func thread"}},
		{"apply_changes", `{"changes":[{"path":"set.md","content":"one\n"}]}`, []string{"set.md"}},
		{"replace_in_files", `{"text":"one","replacement":"two","glob":"*.md","dry_run":true,"diff":true}`, []string{"+two", "Notes/n.md"}},
		{"replace_in_files", `{"text":"one","replacement":"two","glob":"set.md","expected_count":1}`, []string{"1 match in 1 file"}},
		{"undo_change", `{}`, []string{"set.md"}},
	},
	"roo":      {{"search_files", `{"path":".","regex":"needle"}`, []string{"before the needle", "one needle here", "after the needle"}}},
	"godoctor": {{"file_search", `{"query":"needle"}`, []string{"one needle here"}}},
	"smcp": {
		{"search_by_path", `{"pattern":"**/*.md"}`, []string{"Notes/n.md"}},
		{"search_by_path", `{"pattern":"["}`, []string{"INVALID_PATTERN", "unbalanced"}},
		{"search_code", `{"query":"needle"}`, []string{"one needle here"}},
		{"get_index_status", `{}`, []string{"status"}},
	},
}

// noteReadings are further readings for the profile notes.
var noteReadings = []reading{
	{"read_section", `{"path":"Notes/n.md"}`, []string{"N", "version"}},
	{"read_section", `{"path":"Notes/n.md","heading":"N"}`, []string{"before the needle", "one needle here", "after the needle"}},
	{"edit_section", `{"path":"Notes/n.md","heading":"N","operation":"append","content":"#odd tag [[t]]"}`, []string{"Notes/n.md"}},
	{"properties", `{"path":"Notes/n.md","operation":"set","name":"status","value":"open"}`, []string{"Notes/n.md"}},
	{"properties", `{"path":"Notes/n.md"}`, []string{"status", "open"}},
	{"tags", `{}`, []string{"odd"}},
	{"write_file", `{"path":"t.md","content":"# T\n"}`, []string{"t.md"}},
	{"links", `{"path":"t.md"}`, []string{"Notes/n.md"}},
	{"apply_changes", `{"changes":[{"path":"set.md","content":"one\n"}]}`, []string{"set.md"}},
	{"replace_in_files", `{"text":"one","replacement":"two","file_pattern":"set.md"}`, []string{"set.md"}},
	{"list_changes", `{}`, []string{"replace_in_files", "set.md"}},
	{"undo_change", `{}`, []string{"set.md"}},
}

// readingsOf returns the readings of a profile. For a tool without a reading, it uses the first
// call in the tool's golden file.
func readingsOf(name string) []reading {
	list := slices.Clone(readings[name])
	if name == "notes" {
		return append(slices.Clone(readings["vault"]), noteReadings...)
	}
	registry, err := profile.New(nil, &profile.Options{Profile: name})
	if err != nil {
		panic(err)
	}
	for _, tl := range registry.Tools() {
		if slices.ContainsFunc(list, func(r reading) bool { return r.tool == tl.Name }) {
			continue
		}
		golden, _ := os.ReadFile(filepath.Join("../profile/testdata", name, tl.Name+".golden"))
		_, args, _ := strings.Cut(string(golden), "\n> "+tl.Name+" ")
		args, _, _ = strings.Cut(args, "\n")
		if args != "" { // without a call, readAll reports that the tool was not read
			list = append(list, reading{tool: tl.Name, args: args})
		}
	}
	return list
}

// namedTools returns the tools to select with --tools for the profile notes, because some are
// available only if they are named.
func namedTools(name string) []string {
	if name != "notes" {
		return nil
	}
	var tools []string
	for _, r := range readingsOf(name) {
		if !slices.Contains(tools, r.tool) {
			tools = append(tools, r.tool)
		}
	}
	return tools
}

// caller sends a request to a server and returns the result.
type caller func(id int, method, params string) (json.RawMessage, error)

func TestEitherReaderMissesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	for _, name := range profile.Names() {
		if len(readingsOf(name)) == 0 {
			t.Errorf("the profile %s has no readings", name)
		}
		for _, structured := range []bool{false, true} {
			for transport, connect := range map[string]func(*testing.T, string, ...string) caller{"stdio": overStdio, "http": overHTTP} {
				t.Run(fmt.Sprintf("%s/%s/structured=%v", name, transport, structured), func(t *testing.T) {
					args := []string{"--profile", name, "--trash", "local"}
					if structured {
						args = append(args, "--structured")
					}
					if named := namedTools(name); named != nil {
						args = append(args, "--tools", strings.Join(named, ","))
					}
					readAll(t, connect(t, readersWorkspace(t), args...), name, structured || profile.InJSON(name), structured)
				})
			}
		}
	}
}

// readAll makes the calls for a profile. has means that results have a structured form, and same
// that the text must equal it.
func readAll(t *testing.T, ask caller, name string, has, same bool) {
	t.Helper()
	list := readingsOf(name)
	called := map[string]bool{}
	for i, c := range list {
		raw, err := ask(i+10, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.args))
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) == 0 {
			t.Fatalf("%s %s: %.300s", c.tool, c.args, raw)
		}
		called[c.tool] = true
		text := r.Content[0].Text
		var fromText, data any
		if err := json.Unmarshal([]byte(text), &fromText); same && err != nil {
			t.Errorf("%s %s: the text is no JSON: %.300s", c.tool, c.args, text)
		}
		if has != (r.StructuredContent != nil) {
			t.Errorf("%s %s: structured content %.200s", c.tool, c.args, r.StructuredContent)
		}
		if has {
			if err := json.Unmarshal(r.StructuredContent, &data); err != nil {
				t.Fatal(err)
			}
			if same && !reflect.DeepEqual(fromText, data) {
				t.Errorf("%s %s: text and structure differ:\n%s\n%s", c.tool, c.args, text, r.StructuredContent)
			}
		}
		for _, want := range c.wants {
			if !same && !strings.Contains(text, want) || same && !inside(fromText, want) {
				t.Errorf("%s %s: the text misses %q:\n%.600s", c.tool, c.args, want, text)
			}
			if has && !inside(data, want) {
				t.Errorf("%s %s: the structure misses %q:\n%.600s", c.tool, c.args, want, r.StructuredContent)
			}
		}
	}
	raw, err := ask(5, "tools/list", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(`"outputSchema"`)) != has {
		t.Errorf("output schemas: %.300s", raw)
	}
	if registry, err := profile.New(nil, &profile.Options{Profile: name, Tools: namedTools(name)}); err != nil {
		t.Error(err)
	} else if _, tokens, err := profile.Costs(registry, has); err != nil || tokens*4 < len(raw)-100 || tokens*4 > len(raw)+100 {
		t.Errorf("tools/list has %d bytes, quarry tools --tokens says %d tokens, %v", len(raw), tokens, err)
	}
	var listed struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(raw, &listed); err != nil {
		t.Fatal(err)
	}
	for _, tl := range listed.Tools {
		if !called[tl.Name] {
			t.Errorf("%s was not read", tl.Name)
		}
	}
}

// inside reports whether s occurs in a key or string of a JSON value.
func inside(v any, s string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, s)
	case map[string]any:
		for key, value := range v {
			if strings.Contains(key, s) || inside(value, s) {
				return true
			}
		}
	case []any:
		for _, value := range v {
			if inside(value, s) {
				return true
			}
		}
	}
	return false
}

func readersWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "Notes", "n.md"), "# N\nbefore the needle\none needle here\nafter the needle\n")
	writeFile(t, filepath.Join(dir, "code.go"), "package code\n\nfunc needle() {}\n")
	return dir
}

// overStdio returns a caller that uses stdin and stdout.
func overStdio(t *testing.T, dir string, args ...string) caller {
	t.Helper()
	cmd := program(t, dir, append([]string{"mcp"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	ask := func(id int, method, params string) (json.RawMessage, error) {
		if _, err := io.WriteString(in, rpc(id, method, params)+"\n"); err != nil {
			return nil, err
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			var m struct {
				ID     int
				Result json.RawMessage
			}
			if err := json.Unmarshal(line, &m); err == nil && m.ID == id {
				return m.Result, nil
			}
		}
	}
	if _, err := ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return ask
}

// overHTTP returns a caller that uses HTTP.
func overHTTP(t *testing.T, dir string, args ...string) caller {
	t.Helper()
	c, err := startHTTP(t, dir, args...).client(true)
	if err != nil {
		t.Fatal(err)
	}
	return func(id int, method, params string) (json.RawMessage, error) {
		data, _, err := c.post(rpc(id, method, params), map[string]string{"Mcp-Session-Id": c.session, "Mcp-Protocol-Version": "2025-11-25"})
		var m struct{ Result json.RawMessage }
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		return m.Result, err
	}
}
