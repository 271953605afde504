package clients

import "testing"

// TestGuard checks that Quarry's entry is protected in every settings file that install
// can change, and that everything else may change.
func TestGuard(t *testing.T) {
	const ours = `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp", "--read-only"]}, "x": {"command": "x"}}}`
	for _, c := range []struct {
		name, file, before, after string
		refused                   bool
	}{
		{"another server", ".mcp.json", ours, `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp", "--read-only"]}, "y": {"command": "y"}}}`, false},
		{"a comment and white space", ".mcp.json", ours, ` {"mcpServers":{"quarry":{"command":"quarry","args":["mcp","--read-only"]}}}`, false},
		{"a limit lifted", ".mcp.json", ours, `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp"]}}}`, true},
		{"the program replaced", ".mcp.json", ours, `{"mcpServers": {"quarry": {"command": "/tmp/q", "args": ["mcp", "--read-only"]}}}`, true},
		{"an environment added", ".mcp.json", ours, `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp", "--read-only"], "env": {"QUARRY_CONFIG": "/dev/null"}}}}`, true},
		{"deleted", ".mcp.json", ours, "", true},
		{"emptied", ".mcp.json", ours, "{}", true},
		{"a second entry", ".mcp.json", ours, ours[:len(ours)-2] + `, "q2": {"command": "sh", "args": ["-c", "quarry mcp"]}}}`, true},
		{"a first entry", ".mcp.json", "", ours, true},
		{"a first file without ours", ".mcp.json", "", `{"mcpServers": {"x": {"command": "x"}}}`, false},
		{"broken", ".mcp.json", ours, ours[1:], true},
		{"two lists", ".mcp.json", ours, `{"mcpServers": {}, ` + ours[1:], true},
		{"two lists, one escaped", ".mcp.json", ours, ours[:len(ours)-1] + `, "mcp\u0053ervers": {"quarry": {"command": "quarry", "args": ["mcp"]}}}`, true},
		{"two entries of one name", ".mcp.json", ours, `{"mcpServers": {"quarry": {"command": "quarry", "args": ["mcp"]}, ` + ours[len(`{"mcpServers": {`):], true},
		{"in a folder", "a/b/.mcp.json", ours, "{}", true},
		{"in another case", "a/.MCP.JSON", ours, "{}", true},
		{"VS Code", ".vscode/mcp.json", `{"servers": {"q": {"command": "quarry"}}}`, `{"servers": {}}`, true},
		{"Cursor", ".cursor/mcp.json", ours, "{}", true},
		{"Zed", ".zed/settings.json", `{"context_servers": {"q": {"command": "quarry"}}, "theme": "a"}`, `{"context_servers": {"q": {"command": "quarry"}}, "theme": "b"}`, false},
		{"Zed's entry", ".zed/settings.json", `{"context_servers": {"q": {"command": "quarry"}}}`, `{}`, true},
		{"Codex", ".codex/config.toml", "[mcp_servers.quarry]\ncommand = \"quarry\"\nargs = [\"mcp\", \"--review\"]\n", "[mcp_servers.quarry]\ncommand = \"quarry\"\nargs = [\"mcp\"]\n", true},
		{"Codex, another table", ".codex/config.toml", "[mcp_servers.quarry]\ncommand = \"quarry\"\n", "model = \"x\"\n[mcp_servers.quarry]\ncommand = \"quarry\"\n", false},
		{"Gemini", ".gemini/settings.json", ours, "{}", true},
		{"the user's own of Claude Code", "home/.claude.json", ours, "{}", true},
		{"the user's own of Windsurf", ".codeium/windsurf/mcp_config.json", ours, "{}", true},
	} {
		judge := Guard(c.file)
		if judge == nil {
			t.Errorf("%s: %s is not guarded", c.name, c.file)
			continue
		}
		var before, after []byte
		if c.before != "" {
			before = []byte(c.before)
		}
		if c.after != "" {
			after = []byte(c.after)
		}
		if err := judge(before, after); (err != nil) != c.refused {
			t.Errorf("%s: %v, want refused %v", c.name, err, c.refused)
		}
	}
	for _, file := range []string{"mcp.json", "a.mcp.json", "settings.json", "x/config.toml", ".mcp.json/x"} {
		if Guard(file) != nil {
			t.Errorf("%s is guarded", file)
		}
	}
}
