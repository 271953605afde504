package agents

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"quarry/fault"
	"quarry/internal/cli/env"
)

func TestHTTPAddress(t *testing.T) {
	for _, c := range []struct {
		given, want string
		remote      bool
	}{
		{"7777", "127.0.0.1:7777", false},
		{":7777", "127.0.0.1:7777", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
		{"localhost:80", "localhost:80", false},
		{"[::1]:80", "[::1]:80", false},
		{"0.0.0.0:80", "0.0.0.0:80", true},
		{"[::]:80", "[::]:80", true},
		{"192.168.1.5:80", "192.168.1.5:80", true},
		{"example.org:80", "example.org:80", true},
	} {
		got, remote, err := httpAddress(c.given)
		if err != nil || got != c.want || remote != c.remote {
			t.Errorf("httpAddress(%q) = %q, %v, %v; want %q, %v", c.given, got, remote, err, c.want, c.remote)
		}
	}
	for _, bad := range []string{"", "localhost", "127.0.0.1", "1.2.3.4:http", ":70000", "::1:80"} {
		if got, _, err := httpAddress(bad); err == nil {
			t.Errorf("httpAddress(%q) = %q", bad, got)
		}
	}
}

func TestParseRoots(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"app", "other/app", "a=b", "with space", "日本"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct {
		name   string
		values []string
		want   string // the expected names, or a part of the error
		fails  bool
	}{
		{"one", []string{"app"}, "", false},
		{"one with a name", []string{"x=app"}, "x", false},
		{"several are called after their folders", []string{"app", "b=other"}, "app b", false},
		{"a folder with an equals sign", []string{"a=b"}, "", false},
		{"two folders of one name", []string{"app", "other/app"}, "app app-2", false},
		{"a name that was given", []string{"app", "app=other/app"}, "app-2 app", false},
		{"two given names", []string{"x=app", "x=other/app"}, "both called x", true},
		{"one twice", []string{"x=app", "y=./app"}, "same folder", true},
		{"a folder's name made to fit", []string{"app", "with space"}, "app with-space", false},
		{"a folder without a usable name", []string{"app", "日本"}, "name it", true},
		{"a bad name", []string{"x y=app"}, "letters, digits", true},
		{"no folder", []string{"nope"}, "no such file", true},
		{"a file", []string{"file"}, "not a folder", true},
		{"nothing", []string{""}, "empty", true},
	} {
		roots, err := parseRoots(c.values)
		if c.fails {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, %v; want %q", c.name, roots, err, c.want)
			}
			continue
		}
		var names []string
		for _, r := range roots {
			names = append(names, r.name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestTokenFile(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text  string
		mode  os.FileMode
		want  string
		warns bool
	}{
		"good":      {"  0123456789abcdef\n", 0o600, "0123456789abcdef", false},
		"readable":  {"0123456789abcdef", 0o644, "0123456789abcdef", true},
		"short":     {"secret", 0o600, "", false},
		"two words": {"0123456789abcdef 0123456789", 0o600, "", false},
		"large":     {strings.Repeat("x", 5000), 0o600, "", false},
	} {
		file := filepath.Join(dir, name)
		err := os.WriteFile(file, []byte(c.text), c.mode)
		if err == nil {
			err = os.Chmod(file, c.mode) // independent of the umask
		}
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		got, err := (&mcpFlags{tokenFile: file}).token(env.Streams{Err: &errs})
		if got != c.want || (err == nil) != (c.want != "") || (errs.Len() > 0) != (c.warns && runtime.GOOS != "windows") {
			t.Errorf("%s: %q, %v, %q", name, got, err, errs.String())
		}
	}
	var errs bytes.Buffer
	a, err := (&mcpFlags{}).token(env.Streams{Err: &errs})
	b, _ := (&mcpFlags{}).token(env.Streams{Err: io.Discard})
	if err != nil || len(a) != 43 || a == b || !strings.Contains(errs.String(), a) {
		t.Errorf("a token made up: %q and %q, %v, %q", a, b, err, errs.String())
	}
}

// The server command that install writes has the flags given to install.
func TestServerArgs(t *testing.T) {
	var f installFlags
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, g := range f.serverGroups() {
		fl.AddFlagSet(g.Flags)
	}
	if err := fl.Parse([]string{"--profile", "vault", "--tools", "a,b", "--read-only", "--deny", "x,y", "--deny", "z", "--no-index=false"}); err != nil {
		t.Fatal(err)
	}
	want := "--profile vault --tools a,b --read-only --deny x,y --deny z"
	if got := strings.Join(serverArgs(fl), " "); got != want {
		t.Errorf("serverArgs = %q, want %q", got, want)
	}
}

// Every server flag that install accepts is passed on to the server.
func TestServerArgsAreAll(t *testing.T) {
	var f installFlags
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, g := range f.serverGroups() {
		fl.AddFlagSet(g.Flags)
	}
	elsewhere := map[string]bool{"root": true}
	fl.VisitAll(func(flag *pflag.Flag) {
		if elsewhere[flag.Name] {
			return
		}
		value := "x"
		if flag.Value.Type() == "bool" {
			value = "true"
		}
		if err := fl.Set(flag.Name, value); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(serverArgs(fl), " "); !strings.Contains(got+" ", "--"+flag.Name+" ") {
			t.Errorf("--%s is lost: %s", flag.Name, got)
		}
	})
}

// install refuses flags that the server would refuse.
func TestInstallRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--profile nosuch", `unknown profile "nosuch": quarry, vault`},
		{"--tools nosuch", `this profile has no tool "nosuch"`},
		{"--trash nosuch", `--trash "nosuch": system, local or none`},
	} {
		var out bytes.Buffer
		cmd := newInstall(env.Streams{Out: &out, Err: &out})
		cmd.SetArgs(append(strings.Fields(c.args), "--client", "claude-code", "--config", filepath.Join(t.TempDir(), "x.json")))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %s", c.args, err, out.String())
		}
	}
}

// No tool can read the file with the server's token, even if it is in the workspace.
func TestTokenFileIsHidden(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"conf/[my] token!", "conf/other"} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(strings.Repeat("t", 32)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	f := &mcpFlags{agent: agent{s: env.Streams{Err: io.Discard}, readOnly: true, noIndex: true}, tokenFile: filepath.Join(dir, "conf", "[my] token!")}
	if _, err := f.token(f.s); err != nil {
		t.Fatal(err)
	}
	ws, err := f.openOne(dir, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if _, err := ws.Read(t.Context(), "conf/[my] token!", nil); !errors.Is(err, fault.ProtectedPath) {
		t.Errorf("the token can be read: %v", err)
	}
	if _, err := ws.Read(t.Context(), "conf/other", nil); err != nil {
		t.Errorf("a file beside it: %v", err)
	}
}

// An entry names the profile with which agents worked best, unless the user chose one.
func TestProposedProfile(t *testing.T) {
	base := t.TempDir()
	config := filepath.Join(base, "quarry.toml")
	for _, name := range []string{"code/.git", "notes/.obsidian", "chosen/.obsidian"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	chosen := filepath.Join(base, "chosen")
	if err := os.WriteFile(config, []byte("[root.'"+chosen+"'.mcp]\nprofile = \"vault\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"QUARRY_CONFIG": config, "HOME": base}
	for _, c := range []struct{ args, want string }{
		{"--root code", "code"},
		{"--root notes", "notes"},
		{"--root chosen", ""},
		{"--root a=code --root b=notes", ""},
		{"--root code --profile roo", "roo"},
		{"--root code --tools read_file", ""},
		{"--scope user", "code"},
	} {
		var out bytes.Buffer
		cmd := newInstall(env.Streams{Out: &out, Err: &out, Getenv: func(name string) string { return vars[name] }})
		for _, name := range []string{"code", "notes", "chosen"} {
			c.args = strings.NewReplacer("--root "+name, "--root "+filepath.Join(base, name), "="+name, "="+filepath.Join(base, name)).Replace(c.args)
		}
		cmd.SetArgs(append(strings.Fields(c.args), "--client", "claude-code", "--config", filepath.Join(base, "x.json")))
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, after, found := strings.Cut(out.String(), `"--profile",`); found {
			got, _, _ = strings.Cut(strings.TrimLeft(after, " \n\t\""), `"`)
		}
		if got != c.want {
			t.Errorf("%s: profile %q, want %q\n%s", c.args, got, c.want, out.String())
		}
	}
}
