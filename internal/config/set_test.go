package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/stress"
)

func TestChange(t *testing.T) {
	key := func(path string) Key {
		k, ok := Lookup(path)
		if !ok {
			t.Fatalf("no key %s", path)
		}
		return k
	}
	for _, c := range []struct{ before, key, root, value, after string }{
		{"", "search.hidden", "", "true", "[search]\nhidden = true\n"},
		{"[search]\nhidden = false # why\n", "search.hidden", "", "true", "[search]\nhidden = true # why\n"},
		{"# top\n[search]\ncontext = 2\n\n[mcp]\n", "search.hidden", "", "yes", "# top\n[search]\ncontext = 2\nhidden = true\n\n[mcp]\n"},
		{"search.context = 2\n[mcp]\n", "search.hidden", "", "true", "search.context = 2\nsearch.hidden = true\n[mcp]\n"},
		{"search = {context = 2}\n", "search.hidden", "", "true", "search = {context = 2, hidden = true}\n"},
		{"[search]\ncontext = 2", "search.hidden", "", "true", "[search]\ncontext = 2\nhidden = true\n"},
		{"[search]\r\ncontext = 2\r\n", "search.hidden", "", "true", "[search]\r\ncontext = 2\r\nhidden = true\r\n"},
		{"[search]\nglob = [\n  \"a#]\", # x ]\n  'b',\n]\ncontext = 1\n", "search.glob", "", "*.go", "[search]\nglob = [\"*.go\"]\ncontext = 1\n"},
		{"[mcp]\nprofile = \"\"\"vault\"\"\"\n", "mcp.profile", "", "roo", "[mcp]\nprofile = \"roo\"\n"},
		{"[mcp]\n", "mcp.profile", "/home/me/notes", "vault", "[mcp]\n\n[root.\"~/notes\".mcp]\nprofile = \"vault\"\n"},
		{"[root.\"/home/me/notes\".mcp]\nprofile = \"roo\"\n", "mcp.profile", "/home/me/notes", "vault", "[root.\"/home/me/notes\".mcp]\nprofile = \"vault\"\n"},
		{"[search]\nhidden = true\ncontext = 1\n", "search.hidden", "", "", "[search]\ncontext = 1\n"},
		{"[search]\ncontext = 1\n", "search.hidden", "", "", "[search]\ncontext = 1\n"},
		{"\xef\xbb\xbf[search]\nhidden = true\n", "search.hidden", "", "false", "\xef\xbb\xbf[search]\nhidden = false\n"},
	} {
		var v *Value
		k := key(c.key)
		if c.value != "" {
			got, err := k.SetText([]string{c.value})
			if err != nil {
				t.Fatal(err)
			}
			v = &got
		}
		got, err := Change("quarry.toml", []byte(here(c.before)), here("/home/me"), k, filepath.FromSlash(here(c.root)), v)
		if err != nil || string(got) != here(c.after) {
			t.Errorf("%s = %s in\n%s\ngives %v\n%s\nwant\n%s", c.key, c.value, c.before, err, got, c.after)
		}
	}
}

func TestChangeRefuses(t *testing.T) {
	hidden, _ := Lookup("search.hidden")
	yes := Value{Text: "true"}
	for text, want := range map[string]string{
		"[search]\nhiden = true\n":   "unknown key",
		"[search\n":                  "quarry.toml:1",
		"search.hidden = \"true\"\n": "has to be",
	} {
		if got, err := Change("quarry.toml", []byte(text), "/home/me", hidden, "", &yes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", text, got, err, want)
		}
	}
	if _, err := hidden.SetText([]string{"maybe"}); err == nil {
		t.Error("search.hidden takes maybe")
	}
	if _, err := hidden.SetText([]string{"true", "false"}); err == nil {
		t.Error("search.hidden takes two values")
	}
}

// A configuration file that is a symlink remains one, and keeps its permissions.
func TestChangeFile(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.toml"), filepath.Join(dir, "quarry.toml")
	if err := os.WriteFile(real, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !stress.CanLink(t) {
		t.Skip("no symlinks here")
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string { return map[string]string{"QUARRY_CONFIG": link, "HOME": dir}[name] }
	hidden, _ := Lookup("search.hidden")
	name, changed, err := ChangeFile(env, hidden, "", &Value{Text: "true"})
	if err != nil || !changed || name != link {
		t.Fatal(name, changed, err)
	}
	if data, err := os.ReadFile(real); err != nil || string(data) != "# mine\n\n[search]\nhidden = true\n" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions are %v, %v", info.Mode(), err)
	}
	if _, changed, err := ChangeFile(env, hidden, "", &Value{Text: "true"}); err != nil || changed {
		t.Errorf("the same value again: %v, %v", changed, err)
	}
}
