package clients

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"quarry/internal/value"
)

// Hooks describes the hooks of a client: where its settings are, and the tools of each
// event.
type Hooks struct {
	Project string // path in the project's folder; "" if there are only user settings
	User    func(p Places) string
	Note    string // a message for the user
	events  []hookEvent
	timeout int // in the client's unit
}

type hookEvent struct {
	name, matcher, word string
}

// HookClients are the clients for which hooks are supported.
var HookClients = []string{"claude-code", "codex", "gemini"}

// HooksOf returns the hooks of a client.
func HooksOf(name string) *Hooks {
	const edits, ours = "Edit|MultiEdit|Write|NotebookEdit|Bash", "|mcp__.*quarry.*"
	switch name {
	case "claude-code":
		return &Hooks{
			Project: ".claude/settings.local.json", User: func(p Places) string { return filepath.Join(p.home, ".claude", "settings.json") }, timeout: 5,
			events: []hookEvent{{"PreToolUse", edits + ours, "before-tool"}, {"PostToolUse", edits, "after-tool"}, {"SessionStart", "", "session-start"}},
		}
	case "codex":
		return &Hooks{
			User: func(p Places) string { return filepath.Join(p.codex, "hooks.json") }, timeout: 5,
			Note:   "Codex runs hooks only after you have trusted them: type /hooks in it.",
			events: []hookEvent{{"PreToolUse", "apply_patch|Bash" + ours, "before-tool"}, {"PostToolUse", "apply_patch|Bash", "after-tool"}, {"SessionStart", "", "session-start"}},
		}
	}
	const writes = "replace|write_file|run_shell_command"
	return &Hooks{
		Project: ".gemini/settings.json", User: func(p Places) string { return filepath.Join(p.home, ".gemini", "settings.json") }, timeout: 5000,
		events: []hookEvent{{"BeforeTool", writes + "|mcp_.*quarry.*", "before-tool"}, {"AfterTool", writes, "after-tool"}, {"SessionStart", "", "session-start"}},
	}
}

// Hooked reports whether any client has Quarry's hooks, for this project or for the user.
func Hooked(root string, env func(string) string) bool {
	p, noHome := UserPlaces(runtime.GOOS, env)
	for _, name := range HookClients {
		h := HooksOf(name)
		var files []string
		if noHome == nil {
			files = append(files, h.User(p))
		}
		if h.Project != "" {
			files = append(files, filepath.Join(root, filepath.FromSlash(h.Project)))
		}
		for _, file := range files {
			text, err := ReadSettings(file)
			if err != nil {
				continue
			}
			if have, _, err := ourHooks(text, h.events[0].name); err == nil && len(have) > 0 {
				return true
			}
		}
	}
	return false
}

// Add adds the missing hooks to text, the contents of a settings file. program is the
// shell command that runs this program. If start is set, the hook for a session's start
// also starts a recording process.
func (h *Hooks) Add(text []byte, program string, start bool) ([]byte, error) {
	for _, e := range h.events {
		have, _, err := ourHooks(text, e.name)
		if err != nil {
			return nil, err
		}
		if len(have) > 0 {
			continue
		}
		if start && e.word == "session-start" {
			e.word += " --start"
		}
		command := []Member{{"type", "command"}, {"command", program + " hook " + e.word}, {"timeout", h.timeout}}
		inner, err := encode(command)
		if err != nil {
			return nil, err
		}
		item := `{"hooks":[` + string(inner) + `]}`
		if e.matcher != "" {
			item = `{"matcher":"` + e.matcher + `",` + item[1:]
		}
		if text, err = appended(text, item, "hooks", e.name); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// appended adds an item to a list in a JSON text.
func appended(text []byte, item string, list ...string) ([]byte, error) {
	n, err := value.FromJSON([]byte(item))
	if err != nil {
		return nil, err
	}
	at := append(value.Keys(list...), value.Step{Kind: value.Next})
	return edited(value.JSON, text, value.Edit{At: at, Value: n})
}

// Remove removes Quarry's hooks from text, and lists that become empty. found reports
// whether there were any.
func (h *Hooks) Remove(text []byte) (out []byte, found bool, err error) {
	for _, e := range h.events {
		have, all, err := ourHooks(text, e.name)
		if err != nil {
			return nil, false, err
		}
		at := value.Keys("hooks", e.name)
		for _, i := range slices.Backward(have) {
			found = true
			one := append(slices.Clone(at), value.Step{Kind: value.ByIndex, Index: i})
			if len(have) == all {
				one = at
			}
			if text, err = edited(value.JSON, text, value.Edit{At: one, Delete: true}); err != nil {
				return nil, false, err
			}
			if len(have) == all {
				break
			}
		}
	}
	settings, err := readIfAny(text)
	if left, there := settings["hooks"].(map[string]any); err == nil && found && there && len(left) == 0 {
		text, err = edited(value.JSON, text, value.Edit{At: value.Keys("hooks"), Delete: true})
	}
	return text, found, err
}

// ourHook matches a command that runs a hook of Quarry, at any location.
var ourHook = regexp.MustCompile(` hook (?:before-tool|after-tool|session-start(?: --start)?)$`)

// ourHooks returns the indices of Quarry's hooks for an event, and the number of all its
// hooks.
func ourHooks(text []byte, event string) (have []int, all int, err error) {
	settings, err := readIfAny(text)
	events, _ := settings["hooks"].(map[string]any)
	list, _ := events[event].([]any)
	for i, item := range list {
		entry, _ := item.(map[string]any)
		hooks, _ := entry["hooks"].([]any)
		if len(hooks) != 1 {
			continue // the entry also has another hook
		}
		hook, _ := hooks[0].(map[string]any)
		if command, _ := hook["command"].(string); ourHook.MatchString(command) {
			have = append(have, i)
		}
	}
	return have, len(list), err
}

func readIfAny(text []byte) (map[string]any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return readSettings(value.JSON, text)
}
