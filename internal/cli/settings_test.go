package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/config"
	"quarry/internal/profile"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

// tree returns the whole command tree.
func tree() *cobra.Command {
	return newRoot(Streams{Conf: &env.Settings{}}, "")
}

// withoutKey lists the flags that quarry.toml can't set, with the reason. "find exec" is the flag
// of one command, "force" the flag of any command.
var withoutKey = map[string]string{
	"force": "has to be said each time", "replace literal": "changes what a text means",
	"note list columns": "asks for one answer", "note list sort": "asks for one answer", "note list group": "asks for one answer", "note list tasks": "asks for one answer", "note task line": "is about one change", "note task open": "is about one change", "note section take": "is about one change", "mv heading": "is about one change", "help": "asks for one answer", "json": "asks for one answer", "root": "names the folder the sections are chosen by",
	"no-config": "is about the file", "version": "asks for one answer", "dry-run": "is about one change",
	"expected-version": "is about one file", "yes": "has to be said each time", "record": "record.on sets it", "no-record": "record.on sets it", "log mine": "asks for one answer", "undo to": "is about one change", "undo by": "is about one change", "diff since": "asks for one answer", "log outside": "asks for one answer", "all": "asks for one answer", "lacking": "is about one search", "where": "is about one change", "add": "is about one change", "keep-texts": "is about one change",

	"value delete": "is about one change", "value append": "is about one change", "value rename": "is about one change", "value text": "changes what a text means",
	"look expression": "the script", "change expression": "the script",
	"rename doubtful": "has to be said each time", "rename comments": "is about one change",
	"structure": "changes what a pattern means", "hole": "changes what a pattern means",
	"search regexp": "the pattern", "search file": "the pattern", "search fixed-strings": "search.syntax sets it",
	"search word-regexp": "changes what a pattern means", "search line-regexp": "changes what a pattern means",
	"search invert-match": "changes what a pattern means", "search type-list": "asks for one answer",
	"search unrestricted": "hidden, no-ignore and text set it", "search files-with-matches": "a mode", "search files-without-match": "a mode",
	"search count": "a mode", "search count-matches": "a mode", "search only-matching": "a mode", "search replace": "a mode",
	"search quiet": "a mode", "search vimgrep": "a mode", "search byte-offset": "a mode", "search null": "a mode",
	"search engine": "changes what a pattern means", "search auto-hybrid-regex": "changes what a pattern means", "search no-unicode": "changes what a pattern means",
	"search null-data": "changes what a pattern means", "search stop-on-nonmatch": "changes what a pattern means", "search regex-size-limit": "changes what a pattern means",
	"search pcre2": "changes what a pattern means", "search iglob": "is about one search", "search glob-case-insensitive": "is about one search",
	"search type-add": "is about one search", "search type-clear": "is about one search", "search follow": "is about one search",
	"search one-file-system": "is about one search", "search ignore-file": "is about one search", "search no-ignore-files": "is about one search",
	"search no-ignore-vcs": "is about one search", "search no-ignore-dot": "is about one search", "search no-ignore-exclude": "is about one search",
	"search no-ignore-global": "is about one search", "search no-ignore-parent": "is about one search", "search max-filesize": "is about one search",
	"search binary": "is about one search", "search search-zip": "is about one search", "search encoding": "is about one search",
	"search files": "a mode", "search passthru": "a mode", "search include-zero": "a mode",
	"search debug": "a mode", "search pretty": "is about one search", "search colors": "is about one search",
	"search hyperlink-format": "is about one search", "search max-columns-preview": "is about one search", "search field-match-separator": "is about one search",
	"search field-context-separator": "is about one search", "search context-separator": "is about one search", "search no-context-separator": "is about one search",
	"search path-separator": "is about one search", "search line-buffered": "is about one search", "search no-ignore-messages": "is about one search",
	"search pre": "runs a program: named on the command line only", "search pre-glob": "runs a program: named on the command line only", "search hostname-bin": "runs a program: named on the command line only",
	"find fuzzy": "is about one listing", "find extension": "is about one listing", "find exclude": "is about one listing",
	"find size": "is about one listing", "find changed-within": "is about one listing", "find changed-before": "is about one listing",
	"find ignore-case": "is about one listing", "find case-sensitive": "is about one listing", "find follow": "is about one listing",
	"find min-depth": "is about one listing", "find list-details": "is about one listing", "find absolute-path": "is about one listing",
	"find color": "is about one listing", "find exec": "runs a program: named on the command line only", "find exec-batch": "runs a program: named on the command line only",
	"find fixed-strings": "is about one listing", "find full-path": "is about one listing", "find one": "a mode", "find quiet": "a mode",
	"find unrestricted": "hidden and no-ignore set it", "find null": "a mode", "read plain": "a mode",

	"edit old": "the edit", "edit new": "the edit", "edit nth": "the edit", "edit insert-after": "the edit",
	"edit insert-before": "the edit", "edit delete": "the edit", "edit content": "the edit", "write content": "the content",
	"note new content": "the content", "note new title": "the content", "note append content": "the content",
	"note prepend content": "the content", "trash empty older-than": "is about one deletion",

	"log patch": "asks for one answer", "log since": "asks for one answer", "log client": "asks for one answer", "log session": "asks for one answer",
	"undo all-since": "has to be said each time", "undo client": "has to be said each time", "undo session": "has to be said each time", "undo skip-conflicts": "has to be said each time",
	"patch strip": "is about one patch", "patch message": "is about one change",
	"replace fixed-strings": "the pattern", "replace ignore-case": "the pattern", "replace multiline": "the pattern", "replace word-regexp": "the pattern",
	"replace glob": "the pattern", "replace also": "the pattern", "replace by": "the pattern", "replace expect": "is about one change", "replace message": "is about one change", "rename message": "is about one change",

	"mcp http": "clients that start the server speak on stdin", "mcp allow-remote": "has to be said each time",
	"mcp install client": "asks for one answer", "mcp install scope": "asks for one answer", "mcp install name": "asks for one answer",
	"mcp install config": "asks for one answer", "mcp install command": "asks for one answer", "mcp install write": "has to be said each time", "mcp install replace": "has to be said each time", "write empty": "has to be said each time",
	"mcp uninstall client": "asks for one answer", "mcp uninstall scope": "asks for one answer", "mcp uninstall name": "asks for one answer",
	"mcp uninstall config": "asks for one answer", "mcp uninstall write": "has to be said each time", "mcp uninstall root": "asks for one answer",
	"hook install client": "asks for one answer", "hook install scope": "asks for one answer", "hook install config": "asks for one answer", "hook install write": "has to be said each time", "hook install start": "asks for one answer",
	"hook uninstall client": "asks for one answer", "hook uninstall scope": "asks for one answer", "hook uninstall config": "asks for one answer", "hook uninstall write": "has to be said each time",
	"skill client": "asks for one answer", "skill scope": "asks for one answer", "skill write": "has to be said each time", "agents-md profile": "mcp.profile sets it",
	"rank path": "asks for one answer", "rank budget": "asks for one answer", "refs path": "asks for one answer", "refs budget": "asks for one answer",
	"tools structured": "mcp.structured sets it for a server", "tools tokens": "asks for one answer",
	"review accept message": "the comment", "review show full": "how much is shown once", "review accept hunks": "the decision", "review accept confirm": "has to be said each time", "review refuse message": "the comment",
	"ui allow": "mcp.allow sets it for agents; a page is started by hand", "ui read-only": "is about one start",
	"ui force": "has to be said each time", "ui no-index": "is about one start",
	"diff":                "asks for one answer",
	"note links outgoing": "asks for one answer", "note links unresolved": "asks for one answer", "note links orphans": "asks for one answer",
	"note property set": "the change", "note property delete": "the change", "note property rename": "the change",
	"note section heading": "names the part", "note section block": "names the part", "note section append": "the change",
	"note section prepend": "the change", "note section replace": "the change", "note section before": "the change",
	"note section after": "the change", "note section rename": "the change", "note section create": "the change",
	"note tag in": "asks for one answer", "note tag rename": "the change",
	"search all": "the pattern", "search changed": "asks for one answer", "search symbol": "asks for one answer",
	"find changed": "asks for one answer", "symbols changed": "asks for one answer",
	"symbols name": "asks for one answer", "symbols kind": "asks for one answer", "symbols fuzzy": "asks for one answer",
	"symbols hidden": "asks for one answer", "symbols no-ignore": "asks for one answer", "symbols text": "asks for one answer", "symbols limit": "asks for one answer",
	"doctor clean": "has to be said each time", "doctor fix": "has to be said each time",
}

// Every key corresponds to a flag of the same kind in each of its commands. Every flag has a key,
// or a reason in withoutKey.
func TestKeysAndFlags(t *testing.T) {
	top := tree()
	have := map[string]bool{}
	for _, k := range config.Keys() {
		for _, name := range k.Commands {
			cmd, rest, err := top.Find(strings.Fields(name))
			if err != nil || len(rest) > 0 {
				t.Errorf("%s: unknown command %s", k.Path(), name)
				continue
			}
			cmd.InheritedFlags() // adds the flags of parent commands
			fl := cmd.Flags().Lookup(k.Name)
			if fl == nil {
				fl = cmd.InheritedFlags().Lookup(k.Name)
			}
			if fl == nil {
				t.Errorf("%s: quarry %s has no flag --%s", k.Path(), name, k.Name)
				continue
			}
			have[name+" "+k.Name] = true
			want := map[config.Kind][]string{
				config.Bool: {"bool"}, config.Int: {"int"}, config.Text: {"string"}, config.Duration: {"time", "duration"},
				config.List: {"stringArray", "stringSlice"},
			}[k.Kind]
			if !slices.Contains(want, fl.Value.Type()) {
				t.Errorf("%s: the flag of %s is a %s", k.Path(), name, fl.Value.Type())
			}
			for _, c := range k.Choices {
				if err := fl.Value.Set(c); err != nil {
					t.Errorf("%s: quarry %s --%s %s: %v", k.Path(), name, k.Name, c, err)
				}
			}
		}
	}
	command.Each(top, func(cmd *cobra.Command) {
		name := command.Name(cmd)
		if name == "rg" || name == "fd" {
			return // these have the defaults of ripgrep and fd
		}
		cmd.InheritedFlags()
		cmd.Flags().VisitAll(func(fl *pflag.Flag) {
			installed := name == "mcp install" && have["mcp "+fl.Name]
			if !fl.Hidden && !command.IsGroup(cmd) && !have[name+" "+fl.Name] && !installed && withoutKey[fl.Name] == "" && withoutKey[name+" "+fl.Name] == "" {
				t.Errorf("quarry %s --%s has no key, and withoutKey has no reason", name, fl.Name)
			}
		})
	})
	k, _ := config.Lookup("mcp.profile")
	if diff := cmp.Diff(profile.Names(), k.Choices); diff != "" {
		t.Errorf("profiles:\n%s", diff)
	}
}

// Help names the keys, within 80 columns.
func TestHelpNamesKeys(t *testing.T) {
	for _, k := range config.Keys() {
		for _, name := range k.Commands {
			got := runQuarry("", append(strings.Fields(name), "--help")...)
			_, keys, found := strings.Cut(got.out, "Keys of quarry.toml, in ["+k.Section+"]:\n")
			if words := strings.Fields(strings.ReplaceAll(keys, ",", " ")); !found || !slices.Contains(words, k.Name) {
				t.Errorf("quarry %s --help doesn't name %s", name, k.Path())
			}
		}
	}
}

func TestConfigDoc(t *testing.T) {
	want := configDoc(tree())
	const name = "../../docs/CONFIG.md"
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("docs/CONFIG.md is old: go test ./internal/cli -run TestConfigDoc -update\n%s", diff)
	}
}

// The example file sets nothing, and each line of it is valid once uncommented.
func TestConfigExample(t *testing.T) {
	home := t.TempDir()
	text := manual.ConfigExample(tree())
	f, err := config.Parse("f", []byte(text), home)
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	list, err := f.Effective(none, "/")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Source != config.FromDefault {
			t.Errorf("%s is set", s.Path())
		}
	}
	text = regexp.MustCompile(`(?m)^#([a-z\[])`).ReplaceAllString(text, "$1")
	if f, err = config.Parse("f", []byte(text), home); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if list, err = f.Effective(none, filepath.Join(home, "notes")); err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Source == config.FromDefault {
			t.Errorf("%s is not in the example", s.Path())
		}
	}
}

// configured makes a folder with files and a configuration, and changes to it.
func configured(t *testing.T, text string) (dir, file string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "conf", "quarry.toml")
	writeTree(t, dir, map[string]string{
		"conf/quarry.toml": text, "w/go.mod": "", "w/a.txt": "one\nFoo\nthree\n", "w/.h": "foo\n", "w/sub/b.txt": "foo\n", "v/go.mod": "", "v/.h": "foo\n",
	})
	t.Setenv("QUARRY_CONFIG", file)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Chdir(filepath.Join(dir, "w"))
	return dir, file
}

func TestConfigured(t *testing.T) {
	configured(t, `
[search]
smart-case = true
hidden = true
context = 1
glob = ["!sub/**"]
[find]
hidden = true
`)
	const all = ".h:1:foo\n--\na.txt-1-one\na.txt:2:Foo\na.txt-3-three\n"
	for _, c := range []struct {
		name string
		args []string
		env  [2]string
		want string
	}{
		{"the file", []string{"search", "foo"}, [2]string{}, all},
		{"a flag goes before", []string{"search", "foo", "--hidden=false", "-C0"}, [2]string{}, "a.txt:2:Foo\n"},
		{"a flag of the same group too", []string{"search", "foo", "-s", "-A0"}, [2]string{}, ".h:1:foo\n"},
		{"a list is replaced", []string{"search", "foo", "-l", "-g", "*.txt"}, [2]string{}, "a.txt\nsub/b.txt\n"},
		{"the environment goes before", []string{"search", "-l", "foo"}, [2]string{"QUARRY_SEARCH_HIDDEN", "false"}, "a.txt\n"},
		{"a flag goes before that", []string{"search", "-l", "foo", "--hidden"}, [2]string{"QUARRY_SEARCH_HIDDEN", "false"}, ".h\na.txt\n"},
		{"without the file", []string{"search", "foo", "--no-config"}, [2]string{}, "sub/b.txt:1:foo\n"},
		{"find", []string{"find", "-d1"}, [2]string{}, ".h\na.txt\ngo.mod\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env[0] != "" {
				t.Setenv(c.env[0], c.env[1])
			}
			if got := runQuarry("", c.args...); got.out != c.want || got.err != "" {
				t.Errorf("%q: %s%s\nwant %s", c.args, got.out, got.err, c.want)
			}
		})
	}
}

// The section for a folder applies to that folder, whatever the current folder is. Its settings
// take precedence over those of the same group in the rest of the file.
func TestConfiguredForRoot(t *testing.T) {
	dir, file := configured(t, "")
	text := "[search]\nignore-case = true\n[root.'" + filepath.ToSlash(dir) + "/v']\nsearch.hidden = true\nsearch.case-sensitive = true\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	v := filepath.Join(dir, "v")
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"search", "-l", "FOO"}, "a.txt\nsub/b.txt\n", 0},
		{[]string{"search", "-l", "FOO", "../v"}, "", 1},
		{[]string{"search", "-l", "foo", "../v"}, "../v/.h\n", 0},
		{[]string{"search", "-l", "foo", "../v", "--hidden=false"}, "", 1},
	} {
		if got := runQuarry("", c.args...); got.out != c.want || got.code != c.code {
			t.Errorf("%q: code %d %s%s", c.args, got.code, got.out, got.err)
		}
	}
	got := runQuarry("", "config", "--root", v)
	want := "file  " + file + "\nroot  " + v + `

search.ignore-case     true  quarry.toml:2
search.case-sensitive  true  quarry.toml:5, section of this folder
search.hidden          true  quarry.toml:4, section of this folder

`
	if !strings.HasPrefix(got.out, want) {
		t.Errorf("quarry config: %s%s\nwant %s", got.out, got.err, want)
	}
	var out struct{ Settings []jsonSetting }
	if err := json.Unmarshal([]byte(runQuarry("", "config", "--json").out), &out); err != nil || len(out.Settings) != len(config.Keys()) {
		t.Errorf("--json: %d settings, %v", len(out.Settings), err)
	}
}

// In a server of several roots, each root has the settings of its own section. A flag takes
// precedence over them.
func TestConfiguredRoots(t *testing.T) {
	dir, file := configured(t, "")
	text := "mcp.deny = ['*.md']\n[root.'" + filepath.ToSlash(dir) + "/v'.mcp]\nread-only = true\ndeny = ['go.*']\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	roots := []string{"--root", filepath.Join(dir, "w"), "--root", filepath.Join(dir, "v")}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"write_file", `{"path": "w/new.txt", "content": "x"}`}, 0},
		{[]string{"write_file", `{"path": "v/new.txt", "content": "x"}`}, 1},
		{[]string{"read_file", `{"path": "w/go.mod"}`}, 0},
		{[]string{"read_file", `{"path": "v/go.mod"}`}, 1},
		{[]string{"read_file", `{"path": "v/go.mod"}`, "--deny", "*.x"}, 0},
	} {
		if got := runQuarry("", append(append([]string{"call"}, c.args...), roots...)...); got.code != c.code {
			t.Errorf("%q: code %d, %s%s", c.args, got.code, got.out, got.err)
		}
	}
}

// With an invalid configuration file, only the commands that help to repair it work.
func TestBrokenConfig(t *testing.T) {
	_, file := configured(t, "[search]\nhiden = true\n")
	command.Each(tree(), func(cmd *cobra.Command) {
		name := command.Name(cmd)
		if command.IsGroup(cmd) || cmd.HasSubCommands() || slices.Contains(works, name) || name == "serve" || name == "mcp" {
			return
		}
		args := strings.Fields(name)
		for _, word := range argumentWords(cmd) {
			if !strings.HasPrefix(word, "[") {
				args = append(args, "x")
			}
		}
		if got := runQuarry("", args...); got.code != exitError || !strings.Contains(got.err, file+":2: search.hiden: unknown key\n  did you mean hidden?") {
			t.Errorf("%q: code %d, %q", args, got.code, got.err)
		}
	})
	for _, args := range [][]string{{"help"}, {"help", "config"}, {"config", "path"}, {"search", "--help"}, {"completion", "bash"}, {"search", "--no-config", "foo"}} {
		if got := runQuarry("", args...); got.code != 0 || got.err != "" {
			t.Errorf("%q: code %d, %q", args, got.code, got.err)
		}
	}
	if got := runQuarry("", "config"); got.code != exitError || !strings.Contains(got.err, file+":2:") {
		t.Errorf("quarry config: %d %q", got.code, got.err)
	}
}

func TestConfigCommand(t *testing.T) {
	home := t.TempDir()
	name := filepath.Join(home, "deep", "quarry.toml")
	t.Setenv("QUARRY_CONFIG", name)
	if got := runQuarry("", "config", "path"); got.out != name+"\n" {
		t.Errorf("path: %q", got.out)
	}
	if got := runQuarry("", "config", "init"); got.code != 0 {
		t.Errorf("init: %q", got.err)
	}
	if got := runQuarry("", "config", "init"); got.code != exitError || !strings.Contains(got.err, "exists already") {
		t.Errorf("init again: %q", got.err)
	}
	got := runQuarry("", "config", "search.context")
	for _, want := range []string{"now       0, the default", "takes     number", "flag      quarry search --context", "variable  QUARRY_SEARCH_CONTEXT", "[search]\n          context = 2"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	for _, c := range []struct{ arg, want string }{
		{"hidden", "did you mean search.hidden?"}, {"search.hiden", "did you mean search.hidden?"}, {"xyz", "quarry config --all"},
	} {
		if got := runQuarry("", "config", c.arg); got.code != exitError || !strings.Contains(got.err, c.want) {
			t.Errorf("config %s: %q", c.arg, got.err)
		}
	}
}
