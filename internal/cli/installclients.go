package cli

import (
	"path/filepath"
	"strings"

	"quarry/internal/config"
)

// mcpClient is a program that uses MCP servers, and how its settings name them.
type mcpClient struct {
	name, title string
	key         string // the object or table that lists servers
	toml        bool   // the settings are TOML, not JSON
	typed       bool   // an entry says that it is of type stdio
	project     string // settings of a project, below its folder; "" without
	byProject   bool   // the default scope is the project
	// folder stands for the project in arguments; "" when a server is started
	// in the project's folder, "-" when a client has no project.
	folder string
	// userRoot says that folder means nothing in the settings of the user.
	userRoot bool
	user     func(p places) string
}

// set puts an entry into the text of a client's settings.
func (c *mcpClient) set(old []byte, name string, e *serverEntry) ([]byte, error) {
	if c.toml {
		return setTable(old, c.key, name, e)
	}
	return setMember(old, []string{c.key, name}, e)
}

// places are the folders of a user.
type places struct{ goos, home, config, appData, codex string }

// settings is the folder where desktop programs keep theirs.
func (p places) settings() string {
	switch p.goos {
	case "darwin":
		return filepath.Join(p.home, "Library", "Application Support")
	case "windows":
		return p.appData
	}
	return p.config
}

// mcpClients are the clients we know, by their own documentation as of
// November 2026.
var mcpClients = []mcpClient{
	{
		name: "claude-code", title: "Claude Code", key: "mcpServers", typed: true, project: ".mcp.json", byProject: true,
		user: func(p places) string { return filepath.Join(p.home, ".claude.json") },
	},
	{
		name: "claude-desktop", title: "Claude Desktop", key: "mcpServers", folder: "-",
		user: func(p places) string { return filepath.Join(p.settings(), "Claude", "claude_desktop_config.json") },
	},
	{
		// In the user's settings ${workspaceFolder} is that of the window which
		// happened to start the server; the others get the wrong files.
		name: "cursor", title: "Cursor", key: "mcpServers", typed: true, project: ".cursor/mcp.json", byProject: true,
		folder: "${workspaceFolder}", userRoot: true,
		user: func(p places) string { return filepath.Join(p.home, ".cursor", "mcp.json") },
	},
	{
		name: "vscode", title: "VS Code", key: "servers", typed: true, project: ".vscode/mcp.json", byProject: true, folder: "${workspaceFolder}",
		user: func(p places) string { return filepath.Join(p.settings(), "Code", "User", "mcp.json") },
	},
	{
		name: "zed", title: "Zed", key: "context_servers", project: ".zed/settings.json", folder: "-",
		user: func(p places) string {
			if p.goos == "windows" {
				return filepath.Join(p.appData, "Zed", "settings.json")
			}
			return filepath.Join(p.config, "zed", "settings.json")
		},
	},
	{
		name: "windsurf", title: "Windsurf", key: "mcpServers", folder: "-",
		user: func(p places) string { return filepath.Join(p.home, ".codeium", "windsurf", "mcp_config.json") },
	},
	{
		name: "codex", title: "Codex", key: "mcp_servers", toml: true, project: ".codex/config.toml",
		user: func(p places) string { return filepath.Join(p.codex, "config.toml") },
	},
	{
		name: "gemini", title: "Gemini CLI", key: "mcpServers", project: ".gemini/settings.json", byProject: true,
		user: func(p places) string { return filepath.Join(p.home, ".gemini", "settings.json") },
	},
}

func clientNames() []string {
	var names []string
	for _, c := range mcpClients {
		names = append(names, c.name)
	}
	return names
}

func userPlaces(goos string, env func(string) string) (places, error) {
	p := places{goos: goos, home: env("HOME"), config: env("XDG_CONFIG_HOME"), appData: env("APPDATA"), codex: env("CODEX_HOME")}
	if goos == "windows" {
		p.home = env("USERPROFILE")
		if p.appData == "" {
			p.appData = filepath.Join(p.home, "AppData", "Roaming")
		}
	}
	if p.home == "" {
		return p, config.ErrNoHome
	}
	if p.config == "" || goos == "darwin" {
		p.config = filepath.Join(p.home, ".config")
	}
	if strings.TrimSpace(p.codex) == "" {
		p.codex = filepath.Join(p.home, ".codex")
	}
	return p, nil
}
