// Package clients knows the programs that use MCP servers: where their settings
// are, and how a server is entered there.
//
// A change of settings leaves every byte outside the entry as it is, comments
// too. The result is read again and compared before it is written; a file that
// can't be understood is refused.
package clients

import (
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/config"
)

// Client is a program that uses MCP servers, and how its settings name them.
type Client struct {
	Name, Title string // as a flag, and for people
	key         string // the object or table that lists servers
	toml        bool   // the settings are TOML, not JSON
	kind        string // the type that an entry names; "" names none
	joined      bool   // an entry's command is one list with its arguments
	ProjectFile string // settings of a project, below its folder; "" without
	ByProject   bool   // the default scope is the project
	// Folder is the project in the arguments of the project's settings; "" if the
	// client starts servers in the project's folder.
	Folder string
	// UserFolder is Folder in the settings of the user; "-" if a root has to be given.
	UserFolder string
	// UserFile is where the settings of a user are.
	UserFile func(p Places) string
	// all are members of every entry beside the command.
	all []Member
	// Variables is the member of an entry that names variables of the user for the server
	// to get; "" if it gets all of them.
	Variables string
	// approval gives the settings by which the client calls tools without asking.
	approval func(a *Approving) Approval
}

// EntryText is an entry alone, in the object it goes into.
func (c *Client) EntryText(name string, e *Entry) string {
	text, err := c.Set(nil, name, e)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(text)
}

// Entry is how clients describe a server they start.
type Entry struct {
	Command string
	Args    []string
	More    []Member // beside the command
}

// Member is a member of an entry or of settings, its value as a decoder gives it.
type Member struct {
	Name  string
	Value any
}

// members are those of an entry in the order people write.
func (c *Client) members(e *Entry) []Member {
	var list []Member
	if c.kind != "" {
		list = append(list, Member{"type", c.kind})
	}
	args := make([]any, 0, len(e.Args)+1)
	if c.joined {
		args = append(args, e.Command)
	} else {
		list = append(list, Member{"command", e.Command})
	}
	for _, a := range e.Args {
		args = append(args, a)
	}
	name := "args"
	if c.joined {
		name = "command"
	}
	list = append(list, Member{name, args})
	return append(append(list, c.all...), e.More...)
}

// Read gives the program and the arguments of an entry; ok is false if it starts no
// program.
func (c *Client) Read(entry any) (e Entry, ok bool) {
	members, _ := entry.(map[string]any)
	words, _ := members["args"].([]any)
	if c.joined {
		if words, _ = members["command"].([]any); len(words) > 0 {
			e.Command, _ = words[0].(string)
			words = words[1:]
		}
	} else {
		e.Command, _ = members["command"].(string)
	}
	for _, w := range words {
		text, _ := w.(string)
		e.Args = append(e.Args, text)
	}
	return e, e.Command != ""
}

// Roots takes the roots out of the arguments of an entry.
func (e *Entry) Roots() (roots, rest []string) {
	for i := 0; i < len(e.Args); i++ {
		switch value, joined := strings.CutPrefix(e.Args[i], "--root="); {
		case joined:
			roots = append(roots, value)
		case e.Args[i] == "--root" && i+1 < len(e.Args):
			i++
			roots = append(roots, e.Args[i])
		case e.Args[i] != "mcp" || len(rest) > 0:
			rest = append(rest, e.Args[i])
		}
	}
	return roots, rest
}

// Starts reports whether an entry starts quarry mcp.
func (e *Entry) Starts(name string) bool {
	ours := name == "quarry" || strings.HasPrefix(strings.TrimSuffix(filepath.Base(e.Command), ".exe"), "quarry")
	return ours && slices.Contains(e.Args, "mcp")
}

// Places are the folders of a user.
type Places struct{ goos, home, config, appData, codex, copilot string }

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
		Name: "claude-code", Title: "Claude Code", key: "mcpServers", kind: "stdio", ProjectFile: ".mcp.json", ByProject: true,
		UserFile: func(p Places) string { return filepath.Join(p.home, ".claude.json") },
		approval: approveClaude,
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", key: "mcpServers", UserFolder: "-",
		UserFile: func(p Places) string { return filepath.Join(p.settings(), "Claude", "claude_desktop_config.json") },
	},
	{
		// In the user's settings ${workspaceFolder} is that of the window which
		// happened to start the server; the others get the wrong files.
		Name: "cursor", Title: "Cursor", key: "mcpServers", kind: "stdio", ProjectFile: ".cursor/mcp.json", ByProject: true,
		Folder: "${workspaceFolder}", UserFolder: "-",
		UserFile: func(p Places) string { return filepath.Join(p.home, ".cursor", "mcp.json") },
	},
	{
		Name: "vscode", Title: "VS Code", key: "servers", kind: "stdio", ProjectFile: ".vscode/mcp.json", ByProject: true,
		Folder: "${workspaceFolder}", UserFolder: "${workspaceFolder}",
		UserFile: func(p Places) string { return filepath.Join(p.settings(), "Code", "User", "mcp.json") },
	},
	{
		Name: "zed", Title: "Zed", key: "context_servers", ProjectFile: ".zed/settings.json", UserFolder: "-",
		UserFile: func(p Places) string {
			if p.goos == "windows" {
				return filepath.Join(p.appData, "Zed", "settings.json")
			}
			return filepath.Join(p.config, "zed", "settings.json")
		},
	},
	{
		Name: "windsurf", Title: "Windsurf", key: "mcpServers", UserFolder: "-",
		UserFile: func(p Places) string { return filepath.Join(p.home, ".codeium", "windsurf", "mcp_config.json") },
	},
	{
		Name: "codex", Title: "Codex", key: "mcp_servers", toml: true, ProjectFile: ".codex/config.toml", Variables: "env_vars",
		UserFile: func(p Places) string { return filepath.Join(p.codex, "config.toml") },
		approval: approveCodex,
	},
	{
		Name: "gemini", Title: "Gemini CLI", key: "mcpServers", ProjectFile: ".gemini/settings.json", ByProject: true,
		UserFile: func(p Places) string { return filepath.Join(p.home, ".gemini", "settings.json") },
		approval: approveGemini,
	},
	{
		Name: "copilot", Title: "Copilot CLI", key: "mcpServers", kind: "local", all: []Member{{"tools", []any{"*"}}},
		UserFile: func(p Places) string { return filepath.Join(p.copilot, "mcp-config.json") },
		approval: approveCopilot,
	},
	{
		Name: "opencode", Title: "opencode", key: "mcp", kind: "local", joined: true, ProjectFile: "opencode.json", ByProject: true,
		UserFile: func(p Places) string { return filepath.Join(p.config, "opencode", "opencode.json") },
		approval: approveOpencode,
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
	p := Places{goos: goos, home: env("HOME"), config: env("XDG_CONFIG_HOME"), appData: env("APPDATA"), codex: env("CODEX_HOME"), copilot: env("COPILOT_HOME")}
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
	if strings.TrimSpace(p.copilot) == "" {
		p.copilot = filepath.Join(p.home, ".copilot")
	}
	return p, nil
}
