package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
	"quarry/internal/stress"
)

// Each sample in quarry help syntax matches its first text and not its second.
func TestSyntaxSamples(t *testing.T) {
	for _, syn := range manual.Syntaxes {
		for _, e := range syn.Samples {
			args := append(append([]string{"search"}, syn.Flags...), "-q", "-e", e.Pattern, "-")
			if got := runQuarry(e.Yes+"\n", args...); got.code != exitFound {
				t.Errorf("%s: %q doesn't match %q: %s", syn.Title, e.Pattern, e.Yes, got.err)
			}
			if got := runQuarry(e.No+"\n", args...); got.code != exitNone {
				t.Errorf("%s: %q matches %q: %s", syn.Title, e.Pattern, e.No, got.err)
			}
		}
	}
}

// Each sample in quarry help globs lists its first file and not its second.
func TestGlobSamples(t *testing.T) {
	for _, g := range manual.Globs {
		dir := t.TempDir()
		t.Chdir(dir)
		writeTree(t, dir, map[string]string{g.Yes: "", g.No: ""})
		got := runQuarry("", "find", "-g", g.Pattern)
		if got.out != g.Yes+"\n" {
			t.Errorf("%s lists %q, want %s and not %s", g.Pattern, got.out, g.Yes, g.No)
		}
		if got := runQuarry("", "search", "--files-without-match", "-g", g.Pattern, "x"); got.out != g.Yes+"\n" {
			t.Errorf("-g %s searches %q, want %s", g.Pattern, got.out, g.Yes)
		}
	}
}

// Every help text fits 80 columns.
func TestHelpWidth(t *testing.T) {
	var all [][]string
	command.Each(tree(), func(cmd *cobra.Command) {
		if name := command.Name(cmd); name != "help" {
			all = append(all, append(strings.Fields(name), "--help"))
		}
	})
	for _, tp := range manual.Topics() {
		all = append(all, []string{"help", tp.Name})
	}
	for _, args := range all {
		got := runQuarry("", args...)
		if got.code != 0 || got.err != "" {
			t.Errorf("%q: exit code %d, %s", args, got.code, got.err)
		}
		for line := range strings.Lines(got.out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > printing.Width {
				t.Errorf("%q: %d columns: %s", args, n, line)
			}
			if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("%q: spaces at the end of %q", args, line)
			}
		}
	}
}

// The list of flags fits the available width. It has no empty or repeated defaults, names each kind
// of value, and does not keep the source's line breaks.
func TestFlagHelp(t *testing.T) {
	command.Each(tree(), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(fl *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(fl)
			if !fl.Hidden && slices.Contains([]string{"string", "strings", "stringArray", "int", "uint", "float"}, value) {
				t.Errorf("quarry %s: --%s %s names the value by its type in Go", command.Name(cmd), fl.Name, value)
			}
		})
		for _, width := range []int{manual.Narrowest, 80, manual.Widest} {
			text := manual.FlagHelp(cmd.Flags(), width)
			for line := range strings.Lines(text) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > width && len(strings.Fields(line)) > 2 {
					t.Errorf("quarry %s: %d of %d columns: %s", command.Name(cmd), n, width, line)
				}
			}
			flat := strings.Join(strings.Fields(text), " ")
			for _, bad := range []string{"(default )", ") (default", "default 0s", "0m0s", "days "} {
				if strings.Contains(flat, bad) {
					t.Errorf("quarry %s: help has %q", command.Name(cmd), bad)
				}
			}
		}
	})
}

// Every command belongs to a group of the help.
func TestHelpGroups(t *testing.T) {
	if got := runQuarry("", "help"); strings.Contains(got.out, "Other:") {
		t.Errorf("a command is in no group:\n%s", got.out)
	}
	for word, name := range otherNames {
		got := runQuarry("", word)
		if !strings.Contains(got.err, "did you mean quarry "+name+"?") {
			t.Errorf("quarry %s: %s", word, got.err)
		}
		for name := range strings.SplitSeq(strings.ReplaceAll(name, " or quarry ", ", quarry "), ", quarry ") {
			if help := runQuarry("", append(strings.Fields(name), "--help")...); help.code != 0 || !strings.Contains(help.out, "quarry "+name) {
				t.Errorf("quarry %s suggests quarry %s, which there is not", word, name)
			}
		}
	}
}

// Invalid input is refused with exit code 2 and advice.
func TestWrongUsage(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"go.mod": "", "a.txt": "x\n"})
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, c := range []struct{ line, want string }{
		{"serch x", "unknown command \"serch\"\n  did you mean quarry search?"},
		{"a.txt", "quarry search a.txt"},
		{"xyzzy", "quarry help lists the commands"},
		{"foo", "unknown command \"foo\"\n  to look for a text: quarry search foo\n  quarry help lists the commands"},
		{"grpe x", "did you mean quarry search?"},
		{"-i foo", "unknown flag -i of quarry\n  to look for a text: quarry search -i PATTERN"},
		{"--hidden foo", "unknown flag --hidden of quarry\n  to look for a text: quarry search --hidden PATTERN"},
		{"--verison", "did you mean --version?"},
		{"vers", "did you mean quarry version?"},
		{"search", "no pattern given: quarry search PATTERN"},
		{"search --hiden x", "unknown flag --hiden of quarry search\n  did you mean --hidden?"},
		{"search -Q x", "unknown flag -Q of quarry search\n  quarry search --help lists the flags"},
		{"search -iQ x", "unknown flag -Q of quarry search"},
		{"mcp instal", "did you mean quarry mcp install?"},
		{"search -A x y", `--after-context "x": it takes a number`},
		{"search --after-context", "--after-context needs a value: --after-context N"},
		{"search --hidden=maybe x", `--hidden "maybe": it takes true or false`},
		{"search --timeout soon x", `--timeout "soon": it takes a time, as 90s, 1h or 30d`},
		{"search --pcre2-version", "-P is --syntax javascript"},
		{"search --require-git x", "count outside git repositories, always"},
		{`search -P \b+ x`, "an assertion is not repeated"},
		{"search -E klingon x", `unknown encoding "klingon"`},
		{"search --colors match:fg:purplish x", `unknown colour "purplish"`},
		{"search --type-add x x", "it is name:glob"},
		{"search --max-filesize 5X x", "with K, M or G after it"},
		{"search --pre no-such-program-here x", `no program "no-such-program-here"`},
		{"search --sort size x", `--sort "size": path, modified, accessed, created or none`},
		{"search x nowhere", "nowhere: no such file or folder"},
		{"symbols OpenFile", "OpenFile: no such file or folder\n  to find a definition by its name: quarry symbols --name OpenFile"},
		{"find -t link", "f (file), d (dir), l (symlink)"},
		{"find --max-depth -1", "can't be negative"},
		{"find a -x", "--exec needs a value"},
		{"find a -X ;", "--exec-batch needs a value"},
		{"read", "PATH[:A-B]... is missing\n  usage: quarry read PATH[:A-B]"},
		{"read nowhere", "nowhere"},
		{"edit", "PATH... is missing\n  usage: quarry edit PATH"},
		{"edit a.txt", "give one of --old"},
		{"mv a.txt", "DESTINATION is missing\n  usage: quarry mv SOURCE... DESTINATION"},
		{"mv a b c", "Several files can only be moved into a folder"},
		{"rm", "PATH... is missing"},
		{"rm -r d", "unknown flag -r of quarry rm\n  a folder is deleted with all it holds: leave the flag out"},
		{"rm -rf d", "leave the flag out"},
		{"rm -f d", "nothing is asked"},
		{"mv -f a b", "nothing is ever overwritten"},
		{"diff zzz", "zzz"},
		{"log --since yesterday", "Invalid time"},
		{"edit a.txt b.txt --nth 2", "pairs of --old and --new"},
		{"patch nowhere.diff", "nowhere.diff"},
		{"replace x", "TEXT is missing"},
		{"log --limit -1", "--limit -1: the number can't be negative"},
		{"rm a.txt --trash bin", `trash "bin": it is system, local or none`},
		{"rmdir d", "did you mean quarry rm?"},
		{"ui --port 70000", "--port 70000: a port is a number up to 65535"},
		{"log --limit many", `--limit "many": it takes a number`},
		{"log . .", "unexpected argument \".\""},
		{"serve nowhere", "nowhere: no such file or folder"},
		{"serve --idle soon", `--idle "soon": it takes a time`},
		{"index biuld", "unknown command \"biuld\"\n  did you mean quarry index build?"},
		{"index xyzzy", "unknown command \"xyzzy\" of quarry index: build, delete, list, status, verify"},
		{"index status nowhere", "nowhere: no such file or folder"},
		{"trash xyzzy", "of quarry trash: empty, list, restore"},
		{"trash empty", "--yes"},
		{"note xyzzy", "of quarry note: "},
		{"mcp nowhere", "nowhere: no such file or folder"},
		{"mcp install", "--client is missing: one of claude-code"},
		{"mcp install x", "unexpected argument \"x\""},
		{"mcp --profile odd", "odd"},
		{"call", "TOOL is missing\n  usage: quarry call TOOL [JSON]"},
		{"call nothing {}", `unknown tool "nothing"; quarry tools lists`},
		{"call serch_files {}", "did you mean search_files?"},
		{"tools x", "unexpected argument \"x\""},
		{"config x y", "unexpected argument \"y\""},
		{"config path x", "unexpected argument \"x\""},
		{"doctor nowhere", "nowhere: no such file or folder"},
		{"completion", "SHELL is missing\n  usage: quarry completion SHELL"},
		{"completion tcsh", "bash, zsh, fish, powershell"},
		{"man", "DIR is missing"},
		{"help serch", "no help for \"serch\"\n  did you mean quarry help search?"},
		{"help index biuld", "did you mean quarry help index build?"},
	} {
		got := runQuarry("", strings.Fields(c.line)...)
		if got.code != exitError || !strings.Contains(got.err, c.want) {
			t.Errorf("quarry %s: exit code %d\n%s\nwant %s", c.line, got.code, got.err, c.want)
		}
		for _, ugly := range []string{"arg(s)", "strconv", "invalid argument", "pflag", "<nil>"} {
			if strings.Contains(got.err, ugly) {
				t.Errorf("quarry %s: %s", c.line, got.err)
			}
		}
	}
}

// Very long arguments are shortened in messages.
func TestLongArguments(t *testing.T) {
	stress.SkipTiny(t)
	long := strings.Repeat("*{a,b}", 4000)
	for _, args := range [][]string{{"search", "--type-add", long, "x"}, {"search", "-g", long + "[", "x"}, {long}, {"search", "--color", long, "x"}} {
		if got := runQuarry("", args...); got.code != exitError || len(got.err) > 12_000 {
			t.Errorf("%.30q: exit code %d, %d bytes of message", args, got.code, len(got.err))
		}
	}
}

// Commands accept folders as arguments where people would expect it.
func TestFolderArguments(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"w/go.mod": "", "w/a.txt": "x\n"})
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"index status w", 1, ""},
		{"index build w -q", 0, "2 files"},
		{"write w/b.txt --content x --root w", 0, ""},
		{"log w", 0, "b.txt"},
		{"log .", 1, ""},
		{"trash list w", 1, ""},
	} {
		if got := runQuarry("", strings.Fields(c.line)...); got.code != c.code || !strings.Contains(got.out, c.want) {
			t.Errorf("quarry %s: exit code %d, %s%s", c.line, got.code, got.out, got.err)
		}
	}
}

func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"go.mod": "", "sub/x": ""})
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	runQuarry("", "write", "a.txt", "--content", "x")
	id := strings.Fields(runQuarry("", "log").out)[0]
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"search", "-t", "mark"}, "markdown"},
		{[]string{"search", "--syntax", ""}, "javascript"},
		{[]string{"search", "--color", ""}, "always"},
		{[]string{"find", "--sort", ""}, "mtime"},
		{[]string{"mcp", "--profile", ""}, "vault"},
		{[]string{"mcp", "--tools", "search_files,read"}, "search_files,read_file"},
		{[]string{"tools", "--profile", "v"}, "vault"},
		{[]string{"mcp", "install", "--client", "cl"}, "claude-code"},
		{[]string{"call", "sea"}, "search_files"},
		{[]string{"call", "--profile", "roo", ""}, "search_files"},
		{[]string{"undo", ""}, id},
		{[]string{"diff", ""}, id},
		{[]string{"config", "search.h"}, "search.hidden"},
		{[]string{"help", "syn"}, "syntax"},
		{[]string{"rm", "--trash", ""}, "local"},
		{[]string{"completion", ""}, "powershell"},
		{[]string{"ind"}, "index"},
	} {
		got := runQuarry("", append([]string{"__complete"}, c.args...)...)
		words := strings.FieldsFunc(got.out, func(r rune) bool { return r == '\n' || r == '\t' })
		if !slices.Contains(words, c.want) {
			t.Errorf("%q: no %s in %q", c.args, c.want, got.out)
		}
	}
}

// The manual has a page for every command, and man accepts all pages.
func TestMan(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	dir := filepath.Join(t.TempDir(), "man")
	if got := runQuarry("", "man", dir); got.code != 0 {
		t.Fatal(got.err)
	}
	command.Each(tree(), func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if cmd.Name() == "help" || cmd.Hidden {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		for _, k := range manual.KeysOf(cmd) {
			if !strings.Contains(string(text), strings.ReplaceAll(k.Path(), "-", `\-`)) {
				t.Errorf("%s doesn't name %s", name, k.Path())
			}
		}
	})
	for _, name := range []string{"quarry.toml.5", "quarry-syntax.7", "quarry-globs.7", "quarry-profiles.7"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	reader, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed (Debian: groff): the pages were not read")
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, p := range pages {
		// man also reads the pages as UTF-8.
		out, err := exec.Command(reader, "-Kutf8", "-man", "-Tutf8", "-ww", "-z", p).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", p, err, out)
		}
	}
}
