// Package clients knows the programs that use MCP servers: where their settings
// are, and how a server is entered there.
//
// A change of settings leaves every byte outside the entry as it is, comments
// too. The result is read again and compared before it is written; a file that
// can't be understood is refused.
package clients

import (
	"path/filepath"
	"strings"

	"quarry/internal/config"
)

// Client is a program that uses MCP servers, and how its settings name them.
type Client struct {
	Name, Title string // as a flag, and for people
	key         string // the object or table that lists servers
	toml        bool   // the settings are TOML, not JSON
	Typed       bool   // an entry says that it is of type stdio
	ProjectFile string // settings of a project, below its folder; "" without
	ByProject   bool   // the default scope is the project
	// Folder stands for the project in arguments; "" when a server is started
	// in the project's folder, "-" when a client has no project.
	Folder string
	// UserRoot says that Folder means nothing in the settings of the user.
	UserRoot bool
	// UserFile is where the settings of a user are.
	UserFile func(p Places) string
}

// EntryText is an entry alone, in the object it goes into.
func (c *Client) EntryText(name string, e *Entry) string {
	text, err := c.Set(nil, name, e)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(text)
}

// Entry is how clients describe a server they start. The order is the one
// people write.
type Entry struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// entryMember is a member of an entry, its value as a decoder gives it.
type entryMember struct {
	name  string
	value any
}

func (e *Entry) members() []entryMember {
	args := make([]any, len(e.Args))
	for i, a := range e.Args {
		args[i] = a
	}
	list := []entryMember{{"command", e.Command}, {"args", args}}
	if e.Type != "" {
		list = append([]entryMember{{"type", e.Type}}, list...)
	}
	return list
}

// Places are the folders of a user.
type Places struct{ goos, home, config, appData, codex string }

// settings is the folder where desktop programs keep theirs.
func (p Places) settings() string {
	switch p.goos {
	case "darwin":
		return filepath.Join(p.home, "Library", "Application Support")
	case "windows":
		return p.appData
	}
	return p.config
}

// All are the clients we know, by their own documentation as of November 2026.
var All = []Client{
	{
		Name: "claude-code", Title: "Claude Code", key: "mcpServers", Typed: true, ProjectFile: ".mcp.json", ByProject: true,
		UserFile: func(p Places) string { return filepath.Join(p.home, ".claude.json") },
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", key: "mcpServers", Folder: "-",
		UserFile: func(p Places) string { return filepath.Join(p.settings(), "Claude", "claude_desktop_config.json") },
	},
	{
		// In the user's settings ${workspaceFolder} is that of the window which
		// happened to start the server; the others get the wrong files.
		Name: "cursor", Title: "Cursor", key: "mcpServers", Typed: true, ProjectFile: ".cursor/mcp.json", ByProject: true,
		Folder: "${workspaceFolder}", UserRoot: true,
		UserFile: func(p Places) string { return filepath.Join(p.home, ".cursor", "mcp.json") },
	},
	{
		Name: "vscode", Title: "VS Code", key: "servers", Typed: true, ProjectFile: ".vscode/mcp.json", ByProject: true, Folder: "${workspaceFolder}",
		UserFile: func(p Places) string { return filepath.Join(p.settings(), "Code", "User", "mcp.json") },
	},
	{
		Name: "zed", Title: "Zed", key: "context_servers", ProjectFile: ".zed/settings.json", Folder: "-",
		UserFile: func(p Places) string {
			if p.goos == "windows" {
				return filepath.Join(p.appData, "Zed", "settings.json")
			}
			return filepath.Join(p.config, "zed", "settings.json")
		},
	},
	{
		Name: "windsurf", Title: "Windsurf", key: "mcpServers", Folder: "-",
		UserFile: func(p Places) string { return filepath.Join(p.home, ".codeium", "windsurf", "mcp_config.json") },
	},
	{
		Name: "codex", Title: "Codex", key: "mcp_servers", toml: true, ProjectFile: ".codex/config.toml",
		UserFile: func(p Places) string { return filepath.Join(p.codex, "config.toml") },
	},
	{
		Name: "gemini", Title: "Gemini CLI", key: "mcpServers", ProjectFile: ".gemini/settings.json", ByProject: true,
		UserFile: func(p Places) string { return filepath.Join(p.home, ".gemini", "settings.json") },
	},
}

// Names are the names of all clients.
func Names() []string {
	var names []string
	for _, c := range All {
		names = append(names, c.Name)
	}
	return names
}

// UserPlaces finds them for a system, by the variables of a user.
func UserPlaces(goos string, env func(string) string) (Places, error) {
	p := Places{goos: goos, home: env("HOME"), config: env("XDG_CONFIG_HOME"), appData: env("APPDATA"), codex: env("CODEX_HOME")}
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
