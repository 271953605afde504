package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// TestOwnLimits checks that an agent can't read or change Quarry's own files, or the entry that
// starts its server, even if they are in the served folder.
func TestOwnLimits(t *testing.T) {
	stress.NeedsUnix(t, "XDG folders")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("QUARRY_CONFIG", "")
	for name, dir := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache", "XDG_RUNTIME_DIR": "run"} {
		t.Setenv(name, filepath.Join(home, dir))
	}
	for name, text := range map[string]string{
		".config/quarry/quarry.toml": "[mcp]\ndeny = [\"closed\"]\n", "a.txt": "one\n", ".local/state/quarry/x": "state\n", ".cache/quarry/x": "cache\n", "run/quarry/x": "run\n",
		".mcp.json": `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp", "--read-only"]}}}`,
	} {
		if err := os.MkdirAll(filepath.Join(home, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(tool, args string) outcome {
		return runQuarry("", "call", "--root", home, "--force", "--trash", "local", tool, args)
	}
	refused, made := 0, 0
	for _, c := range []struct {
		tool, args string
		ok         bool
	}{
		{"read_file", `{"path": ".config/quarry/quarry.toml"}`, false},
		{"read_file", `{"path": ".local/state/quarry/x"}`, false},
		{"write_file", `{"path": ".config/quarry/quarry.toml", "content": ""}`, false},
		{"write_file", `{"path": ".cache/quarry/new", "content": ""}`, false},
		{"write_file", `{"path": "run/quarry/new.sock", "content": ""}`, false},
		{"delete_file", `{"path": ".local/state/quarry"}`, false},
		{"delete_file", `{"path": ".config"}`, false},
		{"move_file", `{"path": ".config", "destination": "gone"}`, false},
		{"move_file", `{"path": ".local", "destination": "gone"}`, false},
		{"list_files", `{"path": ".config/quarry"}`, false},
		{"read_file", `{"path": ".mcp.json"}`, true},
		{"edit_file", `{"path": ".mcp.json", "old_text": ", \"--read-only\"", "new_text": ""}`, false},
		{"edit_file", `{"path": ".mcp.json", "old_text": ", \"--read-only\"", "new_text": "", "dry_run": true}`, false},
		{"write_file", `{"path": ".mcp.json", "content": "{}"}`, false},
		{"delete_file", `{"path": ".mcp.json"}`, false},
		{"move_file", `{"path": ".mcp.json", "destination": "mcp.old"}`, false},
		{"write_file", `{"path": "b/.vscode/mcp.json", "content": "{\"servers\": {\"q\": {\"command\": \"quarry\"}}}"}`, false},
		{"apply_changes", `{"changes": [{"path": "a.txt", "old_text": "one", "new_text": "two"}, {"path": ".mcp.json", "content": "{}"}]}`, false},
		{"write_file", `{"path": "c.json", "content": "{\"servers\": {\"q\": {\"command\": \"quarry\"}}}"}`, true},
		{"move_file", `{"path": "c.json", "destination": ".vscode/mcp.json"}`, false},
		{"edit_file", `{"path": ".mcp.json", "old_text": "}}}", "new_text": "}, \"x\": {\"command\": \"x\"}}}"}`, true},
		{"undo_change", `{}`, false}, // only a person may decide about the file that an undo leaves
	} {
		got := call(c.tool, c.args)
		if ok := got.code == 0; ok != c.ok {
			t.Errorf("%s %s: %+v, want success %v", c.tool, c.args, got, c.ok)
		} else if ok {
			made++
		} else if refused++; strings.Contains(got.out+got.err, "failed unexpectedly") {
			t.Errorf("%s %s: %+v", c.tool, c.args, got)
		}
	}
	if data, err := os.ReadFile(filepath.Join(home, ".config/quarry/quarry.toml")); err != nil || !strings.Contains(string(data), "closed") {
		t.Errorf("quarry.toml: %q, %v", data, err)
	}
	if data, _ := os.ReadFile(filepath.Join(home, "a.txt")); string(data) != "one\n" {
		t.Errorf("a set that was refused has changed a.txt: %q", data)
	}
	t.Logf("%d calls refused, %d made", refused, made)
	if err := os.WriteFile(filepath.Join(home, ".config/quarry/quarry.toml"), []byte("[change]\nallow-clients = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := call("write_file", `{"path": ".mcp.json", "content": "{}"}`); got.code != 0 {
		t.Errorf("with change.allow-clients: %+v", got)
	}
}
