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
	"strings"
	"testing"
)

// everyTool calls each tool of the default profile at least once, some so that
// they fail: a client that validates must accept both.
var everyTool = []struct{ name, args string }{
	{"search_files", `{"regex":"needle"}`},
	{"search_files", `{"pattern":"needle","context_lines":1}`},
	{"search_files", `{"regex":"("}`},
	{"search_files", `{"regex":"absent"}`},
	{"file_search", `{"query":"needle"}`},
	{"search_by_path", `{"pattern":"**/*.txt"}`},
	{"search_by_path", `{"pattern":"["}`},
	{"search_code", `{"query":"needle"}`},
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
	{"modify_note", `{"path":"A note.md","operation":"append","content":"More\n"}`},
	{"organize_note", `{"source":"A note.md","destination":"made/A note"}`},
	{"delete_file", `{"path":"made/new.txt"}`},
	{"list_changes", `{}`},
	{"undo_change", `{}`},
	{"get_index_status", `{}`},
}

// The TypeScript client of the MCP SDK, which checks results against output
// schemas, calls every tool over stdio and over HTTP. The script is the one of
// internal/mcpserver; QUARRY_NPM names the folder with its packages.
func TestTypeScriptClient(t *testing.T) {
	npm := os.Getenv("QUARRY_NPM")
	if _, err := os.Stat(filepath.Join(npm, "@modelcontextprotocol", "sdk")); npm == "" || err != nil {
		t.Skip("@modelcontextprotocol/sdk is not below QUARRY_NPM")
	}
	node := filepath.Join(npm, "node-"+runtime.GOOS+"-"+strings.Replace(runtime.GOARCH, "amd64", "x64", 1), "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			t.Skip("node is not installed")
		}
	}
	t.Run("stdio", func(t *testing.T) {
		dir := sampleWorkspace(t)
		cmd := program(t, dir, "mcp", "--trash", "local")
		env := map[string]string{}
		for _, v := range cmd.Env {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		target, _ := json.Marshal(map[string]any{"command": cmd.Path, "args": append(cmd.Args[1:], "--root", dir), "env": env})
		drive(t, node, string(target))
	})
	t.Run("http", func(t *testing.T) {
		cmd := program(t, sampleWorkspace(t), "mcp", "--trash", "local", "--http", "0")
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

// httpTarget reads where a server listens, and its token.
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
	called := map[string]bool{} // and answered without an error
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
