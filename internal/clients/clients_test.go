package clients

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestUserPlaces(t *testing.T) {
	env := map[string]string{"HOME": "/h", "USERPROFILE": "/u", "APPDATA": "/r"}
	for _, c := range []struct{ goos, client, want string }{
		{"linux", "claude-code", "/h/.claude.json"},
		{"linux", "claude-desktop", "/h/.config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", "/r/Claude/claude_desktop_config.json"},
		{"linux", "cursor", "/h/.cursor/mcp.json"},
		{"windows", "cursor", "/u/.cursor/mcp.json"},
		{"linux", "vscode", "/h/.config/Code/User/mcp.json"},
		{"darwin", "vscode", "/h/Library/Application Support/Code/User/mcp.json"},
		{"windows", "vscode", "/r/Code/User/mcp.json"},
		{"linux", "zed", "/h/.config/zed/settings.json"},
		{"darwin", "zed", "/h/.config/zed/settings.json"},
		{"windows", "zed", "/r/Zed/settings.json"},
		{"linux", "windsurf", "/h/.codeium/windsurf/mcp_config.json"},
		{"windows", "windsurf", "/u/.codeium/windsurf/mcp_config.json"},
		{"darwin", "codex", "/h/.codex/config.toml"},
		{"windows", "gemini", "/u/.gemini/settings.json"},
	} {
		p, err := UserPlaces(c.goos, func(k string) string { return env[k] })
		if err != nil {
			t.Fatal(err)
		}
		for i := range All {
			if All[i].Name == c.client {
				if got := filepath.ToSlash(All[i].UserFile(p)); got != c.want {
					t.Errorf("%s on %s: %s, want %s", c.client, c.goos, got, c.want)
				}
			}
		}
	}
	if _, err := UserPlaces("linux", func(string) string { return "" }); err == nil {
		t.Error("without a home folder there is a place")
	}
}

// A file that changed since it was read is not overwritten.
func TestWriteSettingsRace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteSettings(file, []byte("what we read"), []byte("ours"), time.Now()); err == nil {
		t.Error("their change was overwritten")
	}
	if data, _ := os.ReadFile(file); string(data) != "theirs" {
		t.Errorf("the file holds %q", data)
	}
	left, _ := filepath.Glob(file + ".quarry-*")
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// Two changes within a second leave two backups.
func TestWriteSettingsTwice(t *testing.T) {
	file, now := filepath.Join(t.TempDir(), "s.json"), time.Now()
	text := "first"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, next := range []string{"second", "third"} {
		backup, err := WriteSettings(file, []byte(text), []byte(next), now)
		if err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(backup); string(data) != text {
			t.Errorf("%s holds %q, want %q", backup, data, text)
		}
		text = next
	}
}
