package clients

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/value"
)

// Approving specifies which tools a client may call without asking.
type Approving struct {
	Server string   // the name of the entry
	All    bool     // every tool; otherwise only Reads
	Reads  []string // the read-only tools
}

// Approval has the settings that allow a client to call tools without asking, and make it
// show all of them to its model from the start.
type Approval struct {
	Entry []Member // members of the server's entry
	Lists []List   // lists in settings files
	Note  string   // a message for the user
}

// List is a list of words in a settings file, and the words to add to it.
type List struct {
	// Project and User are the file's paths, below the project's folder and below the
	// user's home. "" means the file with the server's entry.
	Project, User string
	Path          []string
	Words         []string
	prefix        string // prefix of other words that may have been added
	OnlyProject   bool   // not supported in the user's settings
}

// Approval returns the settings that approve the tools of a.
func (c *Client) Approval(a *Approving) Approval {
	if c.approval == nil {
		return Approval{Note: c.Title + " has no settings for it: approve the tools where it asks."}
	}
	return c.approval(a)
}

// AddedLists returns all lists to which an approval of the entry may have added words.
func (c *Client) AddedLists(name string) []List {
	one := c.Approval(&Approving{Server: name}).Lists
	return append(one, c.Approval(&Approving{Server: name, All: true}).Lists...)
}

// names returns the tools' names in a client's format, or only alone, the name for all
// tools.
func (a *Approving) names(alone, format string) []string {
	if a.All {
		return []string{alone}
	}
	var list []string
	for _, t := range a.Reads {
		list = append(list, fmt.Sprintf(format, a.Server, t))
	}
	return list
}

// approveClaude puts approvals in personal settings, not in the shared settings of a
// project.
func approveClaude(a *Approving) Approval {
	const project, user = ".claude/settings.local.json", ".claude/settings.json"
	return Approval{
		Entry: []Member{{"alwaysLoad", true}},
		Lists: []List{
			{Project: project, User: user, Path: []string{"permissions", "allow"}, Words: a.names("mcp__"+a.Server, "mcp__%s__%s"), prefix: "mcp__" + a.Server + "__"},
			{Project: project, User: user, Path: []string{"enabledMcpjsonServers"}, Words: []string{a.Server}, OnlyProject: true},
		},
	}
}

func approveCodex(a *Approving) Approval {
	if !a.All {
		return Approval{Note: "Codex calls tools that only read without asking."}
	}
	return Approval{Entry: []Member{{"default_tools_approval_mode", "approve"}}}
}

func approveGemini(a *Approving) Approval {
	if a.All {
		return Approval{Entry: []Member{{"trust", true}}}
	}
	return Approval{Lists: []List{{Path: []string{"tools", "allowed"}, Words: a.names("", "mcp_%s_%s"), prefix: "mcp_" + a.Server + "_"}}}
}

func approveCopilot(a *Approving) Approval {
	var flags strings.Builder
	for _, name := range a.names(a.Server, "%s(%s)") {
		fmt.Fprintf(&flags, " --allow-tool '%s'", name)
	}
	return Approval{Note: "Copilot CLI takes approvals at its start: copilot" + flags.String()}
}

func approveOpencode(*Approving) Approval {
	return Approval{Note: "opencode asks only if its permission setting says so."}
}

// File returns the file of a list: for the project's folder, or for the user if project
// is "".
func (l *List) File(entry, project string, p Places) string {
	switch {
	case l.Project == "":
		return entry
	case project == "":
		return filepath.Join(p.home, filepath.FromSlash(l.User))
	}
	return filepath.Join(project, filepath.FromSlash(l.Project))
}

// Has reports whether the list in text has all the words.
func (l *List) Has(text []byte) bool {
	have, _ := l.positions(text)
	for _, w := range l.Words {
		if _, there := have[w]; !there {
			return false
		}
	}
	return true
}

// Add adds the missing words to the list in text, the contents of a settings file.
func (l *List) Add(text []byte) ([]byte, error) {
	have, err := l.positions(text)
	if err != nil {
		return nil, err
	}
	for _, w := range l.Words {
		if _, there := have[w]; there {
			continue
		}
		if text, err = appended(text, fmt.Sprintf("%q", w), l.Path...); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Remove removes the words from the list in text.
func (l *List) Remove(text []byte) ([]byte, error) {
	for {
		have, err := l.positions(text)
		if err != nil {
			return nil, err
		}
		found := -1
		for w, i := range have {
			if slices.Contains(l.Words, w) || l.prefix != "" && strings.HasPrefix(w, l.prefix) {
				found = max(found, i)
			}
		}
		if found < 0 {
			return text, nil
		}
		at := append(value.Keys(l.Path...), value.Step{Kind: value.ByIndex, Index: found})
		if text, err = edited(value.JSON, text, value.Edit{At: at, Delete: true}); err != nil {
			return nil, err
		}
	}
}

// positions returns the index of each word of the list in text.
func (l *List) positions(text []byte) (map[string]int, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var at any
	at, err := readSettings(value.JSON, text)
	if err != nil {
		return nil, err
	}
	for _, key := range l.Path {
		level, _ := at.(map[string]any)
		at = level[key]
	}
	have := map[string]int{}
	items, _ := at.([]any)
	for i, item := range items {
		if w, ok := item.(string); ok {
			have[w] = i
		}
	}
	return have, nil
}
