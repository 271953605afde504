package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// everyTool calls each tool of the default profile at least once. Some calls fail, because a client
// that validates results must accept errors too.
var everyTool = []struct{ name, args string }{
	{"search_files", `{"regex":"needle"}`},
	{"search_files", `{"pattern":"needle","context_lines":1}`},
	{"search_files", `{"regex":"("}`},
	{"search_files", `{"regex":"absent"}`},
	{"file_search", `{"query":"needle"}`},
	{"search_by_path", `{"pattern":"**/*.txt"}`},
	{"search_by_path", `{"pattern":"["}`},
	{"search_code", `{"query":"needle"}`},
	{"find_symbol", `{"name":"needle"}`},
	{"search_notes", `{"query":"needle"}`},
	{"list_files", `{}`},
	{"list_files", `{"path":"nope"}`},
	{"get_file_info", `{"path":"a.txt"}`},
	{"read_file", `{"path":"a.txt"}`},
	{"read_file", `{"path":".git/config"}`},
	{"write_file", `{"path":"new.txt","content":"one\n"}`},
	{"edit_file", `{"path":"new.txt","old_text":"one","new_text":"two"}`},
	{"edit_file", `{"path":"new.txt"}`},
	{"create_folder", `{"path":"made"}`},
	{"move_file", `{"source":"new.txt","destination":"made/new.txt"}`},
	{"create_note", `{"title":"A note","content":"# A note\n\nText\n"}`},
	{"outline", `{"path":"A note.md"}`},
	{"modify_note", `{"path":"A note.md","operation":"append","content":"More\n"}`},
	{"organize_note", `{"source":"A note.md","destination":"made/A note"}`},
	{"delete_file", `{"path":"made/new.txt"}`},
	{"apply_changes", `{"changes":[{"path":"set.txt","content":"one\n"}]}`},
	{"apply_patch", `{"patch":"--- a/set.txt\n+++ b/set.txt\n@@ -1 +1 @@\n-one\n+two\n"}`},
	{"replace_in_files", `{"text":"two","replacement":"three","path":"set.txt"}`},
	{"list_changes", `{}`},
	{"undo_change", `{}`},
	{"get_index_status", `{}`},
}

// The TypeScript client of the MCP SDK, which validates results against the output schemas, calls
// every tool over stdio and over HTTP. internal/mcpserver uses the same script. QUARRY_NPM names
// the folder with its packages.
func TestTypeScriptClient(t *testing.T) {
	for _, mode := range [][]string{nil, {"--structured"}} {
		t.Run(strings.Join(append([]string{"mcp"}, mode...), " "), func(t *testing.T) { typeScriptClient(t, mode) })
	}
}

func typeScriptClient(t *testing.T, mode []string) {
	node, _ := npmProgram(t, "sdk", "package.json")
	t.Run("stdio", func(t *testing.T) {
		dir := sampleWorkspace(t)
		cmd := program(t, dir, append([]string{"mcp", "--trash", "local"}, mode...)...)
		env := map[string]string{}
		for _, v := range cmd.Env {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		target, _ := json.Marshal(map[string]any{"command": cmd.Path, "args": append(cmd.Args[1:], "--root", dir), "env": env})
		drive(t, node, string(target))
	})
	t.Run("http", func(t *testing.T) {
		cmd := program(t, sampleWorkspace(t), append([]string{"mcp", "--trash", "local", "--http", "0"}, mode...)...)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		drive(t, node, httpTarget(t, bufio.NewReader(stderr)))
	})
}

// npmProgram returns the paths of node and of a file in an npm package below QUARRY_NPM. If one is
// missing it skips the test.
func npmProgram(t *testing.T, name string, parts ...string) (node, file string) {
	t.Helper()
	npm := os.Getenv("QUARRY_NPM")
	file = filepath.Join(append([]string{npm, "@modelcontextprotocol", name}, parts...)...)
	if _, err := os.Stat(file); npm == "" || err != nil {
		t.Skipf("@modelcontextprotocol/%s is not below QUARRY_NPM: make conformance-install", name)
	}
	node = filepath.Join(npm, "node-"+runtime.GOOS+"-"+strings.Replace(runtime.GOARCH, "amd64", "x64", 1), "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
		}
	}
	return node, file
}

// The MCP inspector makes the same calls, validating schemas with --strict. It starts a process per
// call, which is slow, so the test only runs in make conformance.
func TestTypeScriptClientInspector(t *testing.T) {
	if os.Getenv("QUARRY_CONFORMANCE") == "" {
		t.Skip("QUARRY_CONFORMANCE is not set; make conformance sets it")
	}
	node, inspector := npmProgram(t, "inspector", "clients", "launcher", "build", "index.js")
	server := program(t, sampleWorkspace(t), "mcp", "--trash", "local", "--http", "0")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	var web struct{ URL, Token string }
	if err := json.Unmarshal([]byte(httpTarget(t, bufio.NewReader(stderr))), &web); err != nil {
		t.Fatal(err)
	}
	dir := sampleWorkspace(t)
	local := program(t, dir)
	for name, target := range map[string][]string{
		"stdio": {local.Path, "mcp", "--root", dir, "--trash", "local"},
		"http":  {"--cli", web.URL, "--transport", "http", "--header", "Authorization: Bearer " + web.Token},
	} {
		run := func(args ...string) string {
			if name == "stdio" { // the inspector expects the server's flags at the end
				args = slices.Concat([]string{inspector, "--cli", "-e", local.Env[0]}, args, []string{"--"}, target)
			} else {
				args = slices.Concat([]string{inspector}, target, args)
			}
			cmd := exec.Command(node, args...)
			cmd.Env = append(os.Environ(), local.Env[0])
			out, err := cmd.CombinedOutput()
			if err != nil && !strings.Contains(string(out), `"isError": true`) { // results that are errors have an exit code of their own
				t.Errorf("%s %q: %v\n%.2000s", name, args[1:], err, out)
			}
			return string(out)
		}
		if out := run("--method", "tools/list", "--strict"); !strings.Contains(out, `"undo_change"`) {
			t.Errorf("%s: tools/list gives %.500s", name, out)
		}
		for _, c := range everyTool {
			var values map[string]any
			if err := json.Unmarshal([]byte(c.args), &values); err != nil {
				t.Fatal(err)
			}
			args := []string{"--method", "tools/call", "--tool-name", c.name}
			for key, v := range values {
				args = append(args, "--tool-arg", fmt.Sprintf("%s=%v", key, v))
			}
			if out := run(args...); !strings.Contains(out, `"content"`) {
				t.Errorf("%s: %s %s gives %.300s", name, c.name, c.args, out)
			}
		}
	}
}

// httpTarget returns the address and token that a server prints.
func httpTarget(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	target := map[string]string{}
	for target["url"] == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		for key, pattern := range map[string]string{"token": `Bearer (\S+)`, "url": `listening on (\S+)`} {
			if m := regexp.MustCompile(pattern).FindStringSubmatch(line); m != nil {
				target[key] = m[1]
			}
		}
	}
	b, _ := json.Marshal(target)
	return string(b)
}

func drive(t *testing.T, node, target string) {
	t.Helper()
	var calls []string
	for _, c := range everyTool {
		calls = append(calls, fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.name, c.args))
	}
	cmd := exec.Command(node, "../mcpserver/testdata/clients/drive.mjs", target)
	cmd.Stdin = strings.NewReader("[" + strings.Join(calls, ",") + "]")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	var report struct {
		Tools   []struct{ Name string }
		Results []struct {
			Name, Threw string
			Result      struct {
				IsError           bool
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{} // tools called without an error
	for i, r := range report.Results {
		if r.Threw != "" {
			t.Errorf("%s %s: the client threw %s", r.Name, everyTool[i].args, r.Threw)
		}
		called[r.Name] = called[r.Name] || r.Threw == "" && !r.Result.IsError
	}
	for _, tl := range report.Tools {
		if !called[tl.Name] {
			t.Errorf("%s was not called with success", tl.Name)
			for i, r := range report.Results {
				if r.Name == tl.Name && len(r.Result.Content) > 0 {
					t.Logf("%s: %s", everyTool[i].args, r.Result.Content[0].Text)
				}
			}
		}
	}
	t.Logf("%d tools, %d calls", len(report.Tools), len(report.Results))
}
