//go:build unix

package clients

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Settings are protected under every name of the file.
func TestGuardIn(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	const ours = `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp", "--read-only"]}}}`
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	root = real
	if err := errors.Join(
		os.Mkdir(root+"/conf", 0o755), os.WriteFile(root+"/conf/mcp.json", []byte(ours), 0o644), os.Symlink("conf/mcp.json", root+"/.mcp.json"),
		os.Mkdir(root+"/.vscode", 0o755), os.WriteFile(root+"/.vscode/mcp.json", []byte(`{"servers": {"quarry": {"command": "quarry"}}}`), 0o644), os.Link(root+"/.vscode/mcp.json", root+"/hard.json"),
		os.Mkdir(root+"/.cursor", 0o755), os.Symlink("../conf/later.json", root+"/.cursor/mcp.json"),
		os.WriteFile(root+"/claude.json", []byte(ours), 0o644), os.Symlink(root+"/claude.json", home+"/.claude.json"),
		os.WriteFile(root+"/free.json", []byte(ours), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	p, err := UserPlaces("linux", func(name string) string { return map[string]string{"HOME": home}[name] })
	if err != nil {
		t.Fatal(err)
	}
	guard := GuardIn(root, p)
	for file, before := range map[string]string{
		".mcp.json": ours, "conf/mcp.json": ours, "hard.json": `{"servers": {"quarry": {"command": "quarry"}}}`, "conf/later.json": "", "claude.json": ours,
	} {
		judge := guard(file)
		if judge == nil {
			t.Errorf("%s is not guarded", file)
			continue
		}
		after := `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp"]}}}`
		if file == "hard.json" {
			after = `{"servers": {}}`
		}
		if judge([]byte(before), []byte(after)) == nil {
			t.Errorf("%s: a limit can be lifted", file)
		}
		if err := judge([]byte(before), []byte(before)); err != nil && before != "" {
			t.Errorf("%s: %v", file, err)
		}
	}
	if guard("free.json") != nil {
		t.Error("free.json is guarded")
	}
}
