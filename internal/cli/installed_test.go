package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/internal/clients"
)

// samples are typical settings files in JSON and TOML. KEY is replaced by the name of the client's
// list of servers. "an entry with more" has additional fields that clients store in an entry.
var samples = []struct{ name, json, toml string }{
	{"no file", "", ""},
	{"nothing in it", "{}\n", "# mine\n"},
	{"comments and other servers", "{\n  // mine\n  \"theme\": \"dark\",\n  \"KEY\": {\n    \"other\": { \"command\": \"x\" }, // keep\n  },\n}\n",
		"model = \"x\" # mine\n\n[KEY.other] # keep\ncommand = \"x\"\n\n[KEY.other.env]\nA = \"1\"\n"},
	{"an entry with more", "{\n  \"KEY\": {\n    \"quarry\": {\n      \"command\": \"old\", // where it was\n      \"args\": [\"mcp\", \"--root\", \"/old\"],\n" +
		"      \"env\": { \"TOKEN\": \"s3cret\" },\n      \"alwaysAllow\": [\"read_file\"],\n      \"timeout\": 60,\n      \"disabled\": true,\n      \"unknown\": {\"a\": [1.50]}\n    },\n    \"z\": 1\n  }\n}\n",
		"[KEY.quarry] # where it was\nenabled = false\ncommand = 'old' # here\nargs = [\n  \"mcp\", # [\n  \"]\",\n]\nstartup_timeout_sec = 60\nenabled_tools = [\"read_file\"]\n\n[KEY.quarry.env]\nTOKEN = \"s3cret\"\n\n[KEY.z]\ncommand = \"z\"\n"},
	{"Windows' line endings", "\xef\xbb\xbf{\r\n\t\"KEY\": {\r\n\t\t\"other\": {\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t}\r\n}\r\n", "[KEY.other]\r\ncommand = \"x\"\r\n"},
	{"on one line", `{"a":[1,{"b":null}],"KEY":{"other":{"command":"x"}}}`, `KEY.other.command = "x"`},
}

var serverKeys = map[string]string{
	"claude-code": "mcpServers", "claude-desktop": "mcpServers", "cursor": "mcpServers", "vscode": "servers",
	"zed": "context_servers", "windsurf": "mcpServers", "codex": "mcp_servers", "gemini": "mcpServers",
}

// kept returns the fields that must be in a client's settings after an install.
func kept(client string) []string {
	if client == "codex" {
		return []string{"enabled = false", "startup_timeout_sec = 60", `enabled_tools = ["read_file"]`, "[KEY.quarry.env]", `TOKEN = "s3cret"`, "# where it was", "# here"}
	}
	return []string{`"env": { "TOKEN": "s3cret" }`, `"alwaysAllow": ["read_file"]`, `"timeout": 60`, `"disabled": true`, `"unknown": {"a": [1.50]}`, "// where it was"}
}

// For every client and kind of file, installing, installing again with another flag and
// uninstalling restores the original bytes. If the file was modified by another program in between,
// only the entry is removed.
func TestInstallAndBack(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_STATE_HOME"} {
		t.Setenv(name, home)
	}
	must := func(args ...string) string {
		t.Helper()
		got := runQuarry("", args...)
		if got.code != 0 {
			t.Fatalf("quarry %s: %+v", strings.Join(args, " "), got)
		}
		return got.out
	}
	cases, keys := 0, 0
	for _, client := range clients.Names() {
		key := serverKeys[client]
		for _, s := range samples {
			before := strings.ReplaceAll(s.json, "KEY", key)
			if runtime.GOOS == "windows" {
				before = strings.ReplaceAll(before, `"/old"`, `"C:/old"`)
			}
			if client == "codex" {
				before = strings.ReplaceAll(s.toml, "KEY", key)
			}
			file := filepath.Join(t.TempDir(), "made", "settings")
			write := func(text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
					err = os.WriteFile(file, []byte(text), 0o640)
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			read := func() string {
				t.Helper()
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				return string(data)
			}
			missing := s.name == "no file"
			if !missing {
				write(before)
			}
			where := []string{"--client", client, "--config", file, "--write"}
			must(append([]string{"mcp", "install", "--root", root, "--command", "q"}, where...)...)
			first := read()
			if out := must(append([]string{"mcp", "install", "--root", root, "--command", "q"}, where...)...); !strings.Contains(out, "has it already") {
				t.Errorf("%s, %s: a second install says %s", client, s.name, out)
			}
			must(append([]string{"mcp", "install", "--root", root, "--command", "q", "--read-only"}, where...)...)
			if second := read(); first == before || second == first || !strings.Contains(second, "--read-only") {
				t.Errorf("%s, %s: install wrote\n%s\nand then\n%s", client, s.name, first, second)
			}
			if s.name == "an entry with more" {
				for _, want := range kept(client) {
					if want = strings.ReplaceAll(want, "KEY", key); !strings.Contains(read(), want) {
						t.Errorf("%s lost %s:\n%s", client, want, read())
					}
					keys++
				}
			}
			must(append([]string{"mcp", "uninstall"}, where...)...)
			if missing {
				if _, err := os.Stat(file); err == nil {
					t.Errorf("%s, %s: the file is still there:\n%s", client, s.name, read())
				}
			} else if got := read(); got != before {
				t.Errorf("%s, %s: after uninstall\n%s\nwant\n%s", client, s.name, got, before)
			}
			cases++

			// Another program modifies the file after the install.
			must(append([]string{"mcp", "install", "--root", root, "--command", "q"}, where...)...)
			c := clientNamed(t, client)
			text, err := c.Set([]byte(read()), "another", &clients.Entry{Command: "y", Args: []string{"z"}})
			if err != nil {
				t.Fatalf("%s, %s: %v", client, s.name, err)
			}
			write(string(text))
			must(append([]string{"mcp", "uninstall"}, where...)...)
			servers, err := c.Servers([]byte(read()))
			if err != nil || servers["quarry"] != nil || servers["another"] == nil {
				t.Errorf("%s, %s: with a change in between: %v, %v\n%s", client, s.name, servers, err, read())
			}
			cases++
		}
	}
	t.Logf("%d round trips, %d kept keys", cases, keys)
}

func clientNamed(t *testing.T, name string) *clients.Client {
	t.Helper()
	for i := range clients.All {
		if clients.All[i].Name == name {
			return &clients.All[i]
		}
	}
	t.Fatalf("no client %s", name)
	return nil
}
