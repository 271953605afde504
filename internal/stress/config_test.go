package stress_test

import (
	"path/filepath"
	"quarry/internal/stress"
	"strings"
	"testing"
)

// No configuration file in a workspace can give access to files that the user's policy closes.
func TestWorkspaceCantConfigure(t *testing.T) {
	dir, home := stress.FastDir(t), stress.FastDir(t)
	lax := "[mcp]\nallow = [\"**\"]\nforce = true\nread-only = false\n"
	for name, text := range map[string]string{
		"quarry.toml": lax, ".quarry.toml": lax, ".config/quarry/quarry.toml": lax, ".config/quarry.toml": lax, "quarry/quarry.toml": lax,
		".gitignore": "!.env\n!.git\n!keys\n", ".ignore": "!*\n", ".rgignore": "!**\n", ".git/info/exclude": "!.env\n", ".git/config": "[core]\nexcludesFile = /dev/null\n",
		".obsidian/app.json": `{"userIgnoreFilters":[],"trashOption":"none"}`, ".env": secret, "keys/id_rsa": secret, ".git/HEAD": secret, "open.txt": "inside\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
	t.Setenv("HOME", home)
	env := map[string]string{"HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state", "XDG_CACHE_HOME": home + "/cache", "NO_COLOR": "1"}
	seen := ""
	for _, call := range [][2]string{
		{"read_file", `{"path":".env"}`}, {"read_file", `{"path":"keys/id_rsa"}`}, {"read_file", `{"path":".git/HEAD"}`},
		{"search_files", `{"regex":"SECRET|inside","include_hidden":true,"include_ignored":true}`}, {"list_files", `{"pattern":"**","include_hidden":true,"include_ignored":true}`},
		{"write_file", `{"path":".git/hooks/post-checkout","content":"x"}`}, {"edit_file", `{"path":".obsidian/app.json","old_text":"none","new_text":"local"}`},
	} {
		seen += runOn(env, []string{"call", "--no-index", call[0], call[1]})
	}
	if strings.Contains(seen, secret) || strings.Contains(seen, "Created file") || strings.Contains(seen, "id_rsa:") {
		t.Errorf("a workspace's own files opened it:\n%s", seen)
	}
	if !strings.Contains(seen, "inside") {
		t.Errorf("the open file was not found, so this shows nothing:\n%s", seen)
	}
}
