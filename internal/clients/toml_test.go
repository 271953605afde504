package clients

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		got, err := setTable([]byte(c.old), "mcp_servers", "quarry", e)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		again, err := setTable(got, "mcp_servers", "quarry", e)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time changes it: %v\n%s", c.name, err, again)
		}
	}
	for _, c := range []struct{ name, old, want string }{
		{"not TOML", "a = \n", "line 1"},
		{"an inline table", "mcp_servers = { other = { command = \"o\" } }\n", "can't be changed"},
		{"an inline entry", "[mcp_servers]\nquarry = { command = \"o\" }\n", "can't be replaced"},
		{"dotted keys", "mcp_servers.quarry.command = \"o\"\n", "can't be replaced"},
		{"a heading in a text", "x = \"\"\"\n[mcp_servers.quarry]\ncommand = 1\n\"\"\"\n", "can't be changed"},
	} {
		got, err := setTable([]byte(c.old), "mcp_servers", "quarry", e)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %s; want %q", c.name, err, got, c.want)
		}
	}
}

// Whatever the settings are, they keep their other entries or stay as they are.
func FuzzSetTable(f *testing.F) {
	for _, s := range []string{"", "a = 1\n", "[mcp_servers.quarry]\ncommand='x'\n", "[[x]]\n[x.y]\n", "s = '''\n[mcp_servers.quarry]\n'''", "[mcp_servers]\r\nquarry.command = 'x'"} {
		f.Add([]byte(s), "quarry")
	}
	e := &Entry{Command: "quarry", Args: []string{"mcp"}}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		before, err := readTOML(text)
		if err != nil {
			return
		}
		out, err := setTable(text, "mcp_servers", name, e)
		if err != nil {
			return
		}
		after, err := readTOML(out)
		if err != nil || !sameBeside(before, after, "mcp_servers", name) || !e.sameAs(entryOf(after, "mcp_servers", name)) {
			t.Errorf("%q becomes %q: %v", text, out, err)
		}
	})
}
