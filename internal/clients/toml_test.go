package clients

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/value"
)

var codex = &Client{key: "mcp_servers", toml: true}

func TestSetTable(t *testing.T) {
	e := &Entry{Command: `C:\bin\quarry "x"`, Args: []string{"mcp", "--root", "a b"}}
	const table = "[mcp_servers.quarry]\ncommand = \"C:\\\\bin\\\\quarry \\\"x\\\"\"\nargs = [\"mcp\", \"--root\", \"a b\"]\n"
	for _, c := range []struct{ name, old, want string }{
		{"a new file", "", table},
		{"at the end", "model = \"x\" # mine\n", "model = \"x\" # mine\n\n" + table},
		{"without a last line break", "model = \"x\"", "model = \"x\"\n\n" + table},
		{"beside another", "[mcp_servers.other]\ncommand = \"o\"\n", "[mcp_servers.other]\ncommand = \"o\"\n\n" + table},
		{"in place of an old one", "[mcp_servers.quarry]\ncommand = \"old\"\nargs = [\n  \"a\",\n]\n\n# next\n[other]\nx = 1\n", table + "\n# next\n[other]\nx = 1\n"},
		{"with its environment", "[mcp_servers.quarry]\ncommand = \"old\"\n[mcp_servers.quarry.env]\nA = \"1\"\n", table + "[mcp_servers.quarry.env]\nA = \"1\"\n"},
		{"quoted", "[ mcp_servers.\"quarry\" ] # x\ncommand = \"old\"\n", strings.Replace(table, "[mcp_servers.quarry]", "[ mcp_servers.\"quarry\" ] # x", 1)},
		{"with more in it", "[mcp_servers.quarry]\nenabled = false\ncommand = 'old' # here\nargs = [\n  \"]\", # ]\n]\ntimeout = 60\n",
			"[mcp_servers.quarry]\nenabled = false\ncommand = \"C:\\\\bin\\\\quarry \\\"x\\\"\" # here\nargs = [\"mcp\", \"--root\", \"a b\"]\ntimeout = 60\n"},
		{"Windows' line endings", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
	} {
		got, err := codex.Set([]byte(c.old), "quarry", e)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		again, err := codex.Set(got, "quarry", e)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time changes it: %v\n%s", c.name, err, again)
		}
	}
	if got, err := codex.Set([]byte("a = \n"), "quarry", e); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("not TOML: %v, %s", err, got)
	}
}

// Entries that aren't tables with a header are changed in place.
func TestSetTableForms(t *testing.T) {
	e := &Entry{Command: "q", Args: []string{"mcp"}}
	for _, c := range []struct{ name, old, want string }{
		{"an inline table", "mcp_servers = { other = { command = \"o\" } }\n", "mcp_servers = { other = { command = \"o\" }, quarry = { command = \"q\", args = [\"mcp\"] } }\n"},
		{"an inline entry", "[mcp_servers]\nquarry = { command = \"o\" } # ours\n", "[mcp_servers]\nquarry = { command = \"q\", args = [\"mcp\"] } # ours\n"},
		{"dotted keys", "mcp_servers.quarry.command = \"o\"\n", "mcp_servers.quarry.command = \"q\"\nmcp_servers.quarry.args = [\"mcp\"]\n"},
		{"a heading in a text", "x = \"\"\"\n[mcp_servers.quarry]\ncommand = 1\n\"\"\"\n", "x = \"\"\"\n[mcp_servers.quarry]\ncommand = 1\n\"\"\"\n\n[mcp_servers.quarry]\ncommand = \"q\"\nargs = [\"mcp\"]\n"},
	} {
		got, err := codex.Set([]byte(c.old), "quarry", e)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v, %q; want %q", c.name, err, got, c.want)
		}
	}
}

// For any settings, a change keeps all other entries, or is refused.
func FuzzSetTable(f *testing.F) {
	for _, s := range []string{"", "a = 1\n", "[mcp_servers.quarry]\ncommand='x'\n", "[[x]]\n[x.y]\n", "s = '''\n[mcp_servers.quarry]\n'''", "[mcp_servers]\r\nquarry.command = 'x'"} {
		f.Add([]byte(s), "quarry")
	}
	e := &Entry{Command: "quarry", Args: []string{"mcp"}}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		before, err := readSettings(value.TOML, text)
		if err != nil {
			return
		}
		out, err := codex.Set(text, name, e)
		if err != nil {
			return
		}
		after, err := readSettings(value.TOML, out)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, out, err)
		}
		entry, _ := after["mcp_servers"].(map[string]any)[name].(map[string]any)
		if entry["command"] != "quarry" || !reflect.DeepEqual(entry["args"], []any{"mcp"}) {
			t.Fatalf("%q becomes %q", text, out)
		}
		for _, all := range []map[string]any{before, after} { // compare all except the entry
			if servers, ok := all["mcp_servers"].(map[string]any); ok {
				if delete(servers, name); len(servers) == 0 {
					delete(all, "mcp_servers")
				}
			}
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%q becomes %q: %v, then %v", text, out, before, after)
		}
	})
}
