// Package clients knows the programs that use MCP servers: where their settings are, and
// how a server is configured there.
//
// Changing settings leaves every byte outside the entry unchanged, including comments. The
// result is parsed again and compared before it is written; an invalid file is refused.
package clients

import (
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/config"
)

// Client is a program that uses MCP servers, with the format of its settings.
type Client struct {
	Name, Title string // for flags, and for people
	key         string // the object or table with the servers
	toml        bool   // the settings are TOML, not JSON
	kind        string // the type in an entry; "" if none
	joined      bool   // an entry's command and arguments are one list
	ProjectFile string // project settings, below its folder; "" if none
	ByProject   bool   // the default scope is the project
	// Folder is the variable for the project in the project's settings; "" if the client
	// starts servers in the project's folder.
	Folder string
	// UserFolder is Folder in the user's settings; "-" if a root must be given.
	UserFolder string
	// UserFile returns the file of the user's settings.
	UserFile func(p Places) string
	// all are members of every entry beside the command.
	all []Member
	// Variables is the member of an entry that lists the user's environment variables for
	// the server; "" if it gets all of them.
	Variables string
	// approval returns the settings that let the client call tools without asking.
	approval func(a *Approving) Approval
}

// EntryText returns a single entry, inside its enclosing object.
func (c *Client) EntryText(name string, e *Entry) string {
	text, err := c.Set(nil, name, e)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(text)
}

// Entry describes a server that a client starts.
type Entry struct {
	Command string
	Args    []string
	More    []Member // beside the command
}

// Member is a member of an entry or of settings, with its value as decoded.
type Member struct {
	Name  string
	Value any
}

// members returns the members of an entry in the usual order.
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

// Read returns the program and the arguments of an entry; ok is false if it starts no
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

// Roots separates the roots from the other arguments of an entry.
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

// Places are a user's folders.
type Places struct{ goos, home, config, appData, codex, copilot string }

// settings returns the folder for settings of desktop programs.
func (p Places) settings() string {
	switch p.goos {
	case "darwin":
		return filepath.Join(p.home, "Library", "Application Support")
	case "windows":
		return p.appData
	}
	return p.config
}

// All lists the known clients, according to their documentation as of November 2026.
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
		// In the user's settings ${workspaceFolder} is the folder of the window that started the
		// server; other windows would get the wrong files.
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

// Names returns the names of all clients.
func Names() []string {
	var names []string
	for _, c := range All {
		names = append(names, c.Name)
	}
	return names
}

// UserPlaces finds a user's folders on a system, from the environment.
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
