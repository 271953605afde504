// Package clients knows programs that use MCP servers: where their settings are, and how
// servers are configured there.
//
// Changes to settings keep every byte outside the entry, including comments. The result
// is parsed and compared before it is written. Invalid files are refused.
package clients

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/config"
)

// Client is a program that uses MCP servers, and the format of its settings.
type Client struct {
	Name, Title string // names for flags and for display
	key         string // key of the object or table with the servers
	toml        bool   // the settings are TOML, not JSON
	kind        string // value of "type" in an entry; "" if there is none
	joined      bool   // an entry has the command and its arguments in one list
	ProjectFile string // path of a project's settings in its folder; "" if there are none
	ByProject   bool   // the project's settings are the default
	// Folder is the variable for the project's folder in the project's settings. It is ""
	// if the client starts servers in that folder.
	Folder string
	// UserFolder is the same in the user's settings; "-" means that a root must be given.
	UserFolder string
	// UserFile returns the path of the user's settings.
	UserFile func(p Places) string
	// all has members that every entry has in addition to the command.
	all []Member
	// Variables is the member of an entry that lists the environment variables passed to
	// the server. It is "" if all are passed.
	Variables string
	// approval returns the settings that approve tools; nil if the client has none.
	approval func(a *Approving) Approval
}

// EntryText returns the settings text of one entry in its enclosing object.
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
	More    []Member // members in addition to the command
}

// Member is a member of an entry or of settings, with its decoded value.
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

// Read returns the program and the arguments of an entry. ok is false if the entry does
// not start a program.
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

// Roots splits the arguments of an entry into roots and others.
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

// Places has the folders of a user.
type Places struct{ goos, home, config, appData, codex, copilot string }

// settings returns the folder for the settings of desktop programs.
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
		// In the user's settings, ${workspaceFolder} is the folder of the window that
		// starts the server. Other windows would use the wrong files.
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

// UserPlaces returns a user's folders according to the environment, for the system goos.
func UserPlaces(goos string, env func(string) string) (Places, error) {
	p := Places{goos: goos, home: env("HOME"), config: env("XDG_CONFIG_HOME"), appData: env("APPDATA"), codex: env("CODEX_HOME"), copilot: env("COPILOT_HOME")}
	if goos == "windows" {
		p.home = env("USERPROFILE")
		p.appData = cmp.Or(p.appData, filepath.Join(p.home, "AppData", "Roaming"))
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
