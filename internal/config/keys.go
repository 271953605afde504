package config

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"quarry/internal/fuzzy"
)

// Kind is the type of a key's value.
type Kind uint8

const (
	Bool     Kind = iota
	Int           // zero or more
	Text          // one of Choices, if there are any
	List          // a list of texts; a single text needs no brackets
	Duration      // a text such as "1h30m", "30d"
	Size          // a text such as "256MB", or a number of bytes
)

func (k Kind) String() string {
	return [...]string{"true or false", "number", "text", "list of texts", "time, as \"90s\", \"1h\" or \"30d\"", "size, as \"256MB\""}[k]
}

// Key is a setting in quarry.toml. If a command has a flag for it, the key has the flag's
// name, description and default. About and Default are only set for keys without a flag.
type Key struct {
	Section, Name  string
	Kind           Kind
	Choices        []string
	Commands       []string // commands with this flag, without "quarry"
	Group          string   // keys of a group exclude each other, as their flags do
	With           string   // the key applies only with this flag
	Everywhere     bool     // not allowed in a root's section
	About, Default string
	Example        string // an example value; "" means true, or one of Choices
}

// Path returns the section and the name, such as "search.hidden".
func (k *Key) Path() string { return k.Section + "." + k.Name }

// Sample returns an example value in the format of quarry.toml. It differs from the
// default def.
func (k *Key) Sample(def string) string {
	if k.Example != "" {
		return k.Example
	}
	for _, c := range k.Choices {
		if c != def {
			return strconv.Quote(c)
		}
	}
	return "true"
}

// Variable returns the environment variable that sets the key.
func (k *Key) Variable() string {
	b := []byte("QUARRY_" + k.Section + "_" + k.Name)
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z':
			b[i] = c - 'a' + 'A'
		case c == '.' || c == '-':
			b[i] = '_'
		}
	}
	return string(b)
}

var (
	changing = []string{"edit", "replace", "rename", "patch", "write", "mkdir", "mv", "rm", "note new", "note append", "note prepend", "undo", "trash restore"}
	indexing = []string{"serve", "index build", "index status", "index verify", "index list", "index delete"}
	agents   = []string{"mcp", "call", "tools"}
	trashes  = []string{"system", "local", "none"}
)

// Keys returns all keys in display order. Flags without a key concern only a single
// answer (a pattern, a mode, --json), or should be given explicitly each time (--yes,
// --http).
func Keys() []Key { return slices.Clone(keys()) }

// keys builds the list once, because a command looks up about twenty keys.
var keys = sync.OnceValue(func() []Key {
	search, find := []string{"search"}, []string{"find"}
	return []Key{
		{Section: "search", Name: "syntax", Kind: Text, Choices: []string{"rust", "javascript", "javascript/u", "javascript/v", "literal"}, Commands: search},
		{Section: "search", Name: "ignore-case", Commands: search, Group: "case"},
		{Section: "search", Name: "smart-case", Commands: search, Group: "case"},
		{Section: "search", Name: "case-sensitive", Commands: search, Group: "case"},
		{Section: "search", Name: "multiline", Commands: search},
		{Section: "search", Name: "multiline-dotall", Commands: search},
		{Section: "search", Name: "glob", Kind: List, Commands: search, Example: `["!vendor/**"]`},
		{Section: "search", Name: "type", Kind: List, Commands: search, Example: `["go", "markdown"]`},
		{Section: "search", Name: "type-not", Kind: List, Commands: search, Example: `["lock"]`},
		{Section: "search", Name: "hidden", Commands: search},
		{Section: "search", Name: "no-ignore", Commands: search},
		{Section: "search", Name: "no-index", Commands: search},
		{Section: "search", Name: "text", Commands: search},
		{Section: "search", Name: "max-depth", Kind: Int, Commands: search, Example: `3`},
		{Section: "search", Name: "after-context", Kind: Int, Commands: search, Group: "context", Example: `3`},
		{Section: "search", Name: "before-context", Kind: Int, Commands: search, Group: "context", Example: `3`},
		{Section: "search", Name: "context", Kind: Int, Commands: search, Group: "context", Example: `2`},
		{Section: "search", Name: "max-count", Kind: Int, Commands: search, Example: `100`},
		{Section: "search", Name: "limit", Kind: Int, Commands: search, Example: `1000`},
		{Section: "search", Name: "stats", Commands: search},
		{Section: "search", Name: "line-number", Commands: search, Group: "number"},
		{Section: "search", Name: "no-line-number", Commands: search, Group: "number"},
		{Section: "search", Name: "column", Commands: search},
		{Section: "search", Name: "with-filename", Commands: search, Group: "name"},
		{Section: "search", Name: "no-filename", Commands: search, Group: "name"},
		{Section: "search", Name: "heading", Commands: search, Group: "heading"},
		{Section: "search", Name: "no-heading", Commands: search, Group: "heading"},
		{Section: "search", Name: "color", Kind: Text, Choices: []string{"auto", "always", "never"}, Commands: search},
		{Section: "search", Name: "sort", Kind: Text, Choices: []string{"path", "modified", "accessed", "created", "none"}, Commands: search, Group: "sort"},
		{Section: "search", Name: "sortr", Kind: Text, Choices: []string{"path", "modified", "accessed", "created", "none"}, Commands: search, Group: "sort"},
		{Section: "search", Name: "max-columns", Kind: Int, Commands: search, Example: `300`},
		{Section: "search", Name: "trim", Commands: search},
		{Section: "search", Name: "no-messages", Commands: search},
		{Section: "search", Name: "threads", Kind: Int, Commands: search, Example: `4`},
		{Section: "search", Name: "time", Kind: Duration, Default: "30s", Example: `"2m"`,
			About: "how long a search by an agent's tool may take; its answer is partial then and says so"},
		{Section: "search", Name: "timeout", Kind: Duration, Commands: search, Example: `"10s"`},

		{Section: "find", Name: "glob", Kind: List, Commands: find, Example: `["!vendor/**"]`},
		{Section: "find", Name: "type", Kind: List, Commands: find, Example: `["file", "symlink"]`},
		{Section: "find", Name: "hidden", Commands: find},
		{Section: "find", Name: "no-ignore", Commands: find},
		{Section: "find", Name: "no-index", Commands: find},
		{Section: "find", Name: "max-depth", Kind: Int, Commands: find, Example: `3`},
		{Section: "find", Name: "sort", Kind: Text, Choices: []string{"path", "mtime", "size"}, Commands: find},
		{Section: "find", Name: "limit", Kind: Int, Commands: find, Example: `1000`},
		{Section: "find", Name: "timeout", Kind: Duration, Commands: find, Example: `"10s"`},

		{Section: "change", Name: "diff", Commands: changing},
		{Section: "change", Name: "links", Kind: Text, Choices: []string{"update", "keep-texts", "leave"}, Commands: []string{"mv"}},
		{Section: "change", Name: "trash", Kind: Text, Choices: trashes, Commands: []string{"rm"}},
		{Section: "change", Name: "max-size", Kind: Size, Default: "256MB", Example: `"1GB"`,
			About: "how large an edit may make a file; it is refused before anything is done"},
		{Section: "change", Name: "allow-clients", Default: "false",
			About: "let agents change the entry of Quarry in settings that start MCP servers, such as .mcp.json"},
		{Section: "change", Name: "quiet", Commands: []string{"replace", "rename", "patch", "mv", "rm", "undo"}},
		{Section: "log", Name: "limit", Kind: Int, Commands: []string{"log"}, Example: `50`},

		{Section: "index", Name: "idle", Kind: Duration, Commands: []string{"serve"}, Example: `"8h"`},
		{Section: "index", Name: "quiet", Commands: indexing},
		{Section: "index", Name: "force", Commands: indexing},
		{Section: "index", Name: "max-size", Kind: Size, Default: "10GB", Example: `"2GB"`,
			About: "how much all indexes together may take; those used longest ago are deleted first"},

		{Section: "mcp", Name: "root", Kind: List, Commands: []string{"mcp"}, Everywhere: true, Example: `["~/notes"]`},
		{Section: "mcp", Name: "profile", Kind: Text, Choices: []string{"quarry", "vault", "roo", "godoctor", "smcp", "notes", "code"}, Commands: agents},
		{Section: "mcp", Name: "tools", Kind: List, Commands: agents, Example: `["search_files", "read_file"]`},
		{Section: "mcp", Name: "read-only", Commands: agents},
		{Section: "mcp", Name: "trash", Kind: Text, Choices: trashes, Commands: []string{"mcp", "call"}},
		{Section: "mcp", Name: "allow", Kind: List, Commands: []string{"mcp", "call"}, Example: `[".env.example"]`},
		{Section: "mcp", Name: "deny", Kind: List, Commands: []string{"mcp", "call", "ui"}, Example: `["private/**"]`},
		{Section: "mcp", Name: "review", Commands: []string{"mcp", "call"}},
		{Section: "mcp", Name: "review-client", Kind: List, Commands: []string{"mcp", "call"}, Example: `["claude-code"]`},
		{Section: "mcp", Name: "force", Commands: []string{"mcp", "call"}},
		{Section: "mcp", Name: "no-index", Commands: []string{"mcp", "call"}},
		{Section: "mcp", Name: "structured", Commands: []string{"mcp"}},
		{Section: "mcp", Name: "verbose", Commands: []string{"mcp"}},
		{Section: "mcp", Name: "activity", Default: "true", Example: `false`,
			About: "keep a line for each call of a tool for a day, for the page's Activity; false writes nothing"},
		{Section: "mcp", Name: "token-file", Kind: Text, Commands: []string{"mcp"}, With: "http", Example: `"~/.quarry-token"`},
		{Section: "mcp", Name: "allow-host", Kind: List, Commands: []string{"mcp"}, With: "http", Example: `["quarry.example.com"]`},
		{Section: "mcp", Name: "allow-origin", Kind: List, Commands: []string{"mcp"}, With: "http", Example: `["https://example.com"]`},

		{Section: "ui", Name: "editor", Kind: Text, Commands: []string{"ui"}, Example: `"zed"`},
		{Section: "ui", Name: "port", Kind: Int, Commands: []string{"ui"}, Example: `7700`},
		{Section: "ui", Name: "no-open", Commands: []string{"ui"}},

		{Section: "review", Name: "wait", Kind: Duration, Default: "45s", Example: `"20s"`,
			About: "how long a call waits for the decision of a person; after that the client goes on and learns it later"},
		{Section: "review", Name: "rules", Kind: List, Example: `["accept docs/**", "refuse *.lock", "ask lines>200"]`,
			About: "which changes of agents are accepted, wait for a person or are refused, with or without --review; the strictest rule counts"},

		{Section: "journal", Name: "keep-size", Kind: Size, Default: "256MB", Example: `"1GB"`,
			About: "how much the undo log of a workspace may hold; the oldest changes are dropped first"},
		{Section: "journal", Name: "keep-age", Kind: Duration, Default: "30d", Example: `"90d"`,
			About: "how long changes can be undone"},

		{Section: "record", Name: "on", Example: `true`, Default: "true in quarry ui and where hooks are installed",
			About: "record what other programs change, so that it is listed and can be undone; --record and --no-record of serve, mcp and ui say it for one run"},
		{Section: "record", Name: "max-size", Kind: Size, Default: "512MB", Example: `"2GB"`,
			About: "how much contents and changes of other programs may take, beside the undo log; 0 records nothing"},
		{Section: "record", Name: "keep-age", Kind: Duration, Default: "14d", Example: `"30d"`,
			About: "how long changes of other programs can be undone"},
	}
})

// Lookup finds a key by its path.
func Lookup(path string) (Key, bool) {
	section, name, _ := strings.Cut(path, ".")
	list := keys()
	for i := range list {
		if list[i].Section == section && list[i].Name == name {
			return list[i], true
		}
	}
	return Key{}, false
}

// Sections lists the sections in order.
func Sections() []string {
	var list []string
	for _, k := range Keys() {
		if len(list) == 0 || list[len(list)-1] != k.Section {
			list = append(list, k.Section)
		}
	}
	return list
}

// Nearest returns the candidate most similar to name, or "" if none is similar. A
// candidate is similar if at most a third of name's letters differ (one, if name is
// short), or if name is a prefix of it.
func Nearest(name string, candidates []string) string {
	best, least := "", max(len(name)/3, 1)+1
	for _, c := range candidates {
		d := fuzzy.Distance(name, c, least)
		if len(name) > 2 && strings.HasPrefix(c, name) {
			d = 1 // a prefix of a word
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}
