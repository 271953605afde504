package clients

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// guardHint says who can make the change.
const guardHint = "a person can change it, or the owner sets change.allow-clients = true in quarry.toml"

var (
	errOwnEntry = fault.New(fault.ProtectedPath, "the file starts this server: its entry, and so its limits, must stay as it is", guardHint)
	errUnread   = fault.New(fault.ProtectedPath, "the file starts MCP servers and would become unreadable", guardHint)
)

// Guard returns the check for changes of a settings file, or nil for other files. Because
// an agent must not remove its own limits by changing the arguments of its server,
// entries that start Quarry must stay the same. Everything else may change.
func Guard(file string) func(before, after []byte) error {
	if c := byProjectFile(file); c != nil {
		return c.judge
	}
	return nil
}

// GuardIn is Guard for the files of a folder. It also recognizes the settings of the
// folder and of the user by file identity, under the name of a symlink or hard link.
func GuardIn(root string, p Places) func(file string) func(before, after []byte) error {
	known := settingsOf(root, p)
	return func(file string) func(before, after []byte) error {
		if judge := Guard(file); judge != nil {
			return judge
		}
		full := filepath.Join(root, filepath.FromSlash(file))
		here, err := os.Stat(full)
		for name, c := range known {
			there, errThere := os.Stat(name)
			if err == nil && errThere == nil && os.SameFile(here, there) {
				return c.judge
			}
			if link, e := os.Lstat(name); e == nil && link.Mode()&os.ModeSymlink != 0 && errThere != nil && rootfs.RealPath(name) == rootfs.RealPath(full) {
				return c.judge
			}
		}
		return nil
	}
}

// settingsOf returns the settings files of all clients by absolute path.
func settingsOf(root string, p Places) map[string]*Client {
	known := map[string]*Client{}
	for i := range All {
		c := &All[i]
		if c.ProjectFile != "" {
			known[filepath.Join(root, filepath.FromSlash(c.ProjectFile))] = c
		}
		if c.UserFile != nil && p.home != "" {
			known[c.UserFile(p)] = c
		}
	}
	return known
}

func (c *Client) judge(before, after []byte) error {
	was, err := c.ours(before)
	if err != nil {
		was = nil // no entry started Quarry before
	}
	now, err := c.ours(after)
	if err != nil {
		return errUnread
	}
	if len(was) != len(now) || len(was) > 0 && !reflect.DeepEqual(was, now) {
		return errOwnEntry
	}
	return nil
}

// byProjectFile returns the client with project or user settings at such a path, ignoring
// case. The path may have more folders in front, because the served folder may contain
// projects.
func byProjectFile(file string) *Client {
	file = "/" + strings.ToLower(file)
	for i := range All {
		names := []string{All[i].ProjectFile}
		if user := All[i].UserFile; user != nil {
			// The last two names of the user's file are the same on all systems.
			name := filepath.ToSlash(user(Places{goos: "linux", home: "/home", config: "/home/.config", codex: "/home/.codex", copilot: "/home/.copilot"}))
			if dir := path.Dir(name); dir != "/home" {
				name = path.Base(dir) + "/" + path.Base(name)
			}
			names = append(names, strings.TrimPrefix(name, "/home/"))
		}
		for _, name := range names {
			if name != "" && strings.HasSuffix(file, "/"+strings.ToLower(name)) {
				return &All[i]
			}
		}
	}
	return nil
}

// ours returns the entries that start Quarry, by name. A missing or empty file has none.
func (c *Client) ours(text []byte) (map[string]any, error) {
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, nil
	}
	servers, err := c.Servers(text)
	if err != nil {
		return nil, err
	}
	if !c.toml && strings.Count(string(text), `"`+c.key+`"`) > 1 {
		return nil, errTwoLists // parsers differ in which of them they use
	}
	found := map[string]any{}
	for name, entry := range servers {
		if mentions(name) || mentions(entry) {
			found[name] = entry
		}
	}
	return found, nil
}

var errTwoLists = errors.New("two lists of servers")

// mentions reports whether a value contains the word quarry, because an entry may start
// it through a shell, a container or a package manager.
func mentions(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(strings.ToLower(v), "quarry")
	case []any:
		for _, e := range v {
			if mentions(e) {
				return true
			}
		}
	case map[string]any:
		for key, e := range v {
			if mentions(key) || mentions(e) {
				return true
			}
		}
	}
	return false
}
