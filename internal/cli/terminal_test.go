package cli

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// onTerminal runs a command line with a terminal as its output.
func onTerminal(env map[string]string, args ...string) outcome {
	var out, errs bytes.Buffer
	yes := true
	code := Run(context.Background(), args, Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs,
		Terminal: &yes, Getenv: func(name string) string { return env[name] },
	})
	return outcome{out.String(), code, errs.String()}
}

func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"a.txt": "foo bar\n", "b.txt": "x foo\ny\n"})
	plain := map[string]string{"NO_COLOR": "1"}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"headings and colour", nil, []string{"search", "foo"},
			"\x1b[0m\x1b[35ma.txt\x1b[0m\n\x1b[0m\x1b[32m1\x1b[0m:\x1b[0m\x1b[1m\x1b[31mfoo\x1b[0m bar\n\n" +
				"\x1b[0m\x1b[35mb.txt\x1b[0m\n\x1b[0m\x1b[32m1\x1b[0m:x \x1b[0m\x1b[1m\x1b[31mfoo\x1b[0m\n"},
		{"NO_COLOR", plain, []string{"search", "foo"}, "a.txt\n1:foo bar\n\nb.txt\n1:x foo\n"},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, []string{"search", "foo", "a.txt"}, "1:foo bar\n"},
		{"no heading", plain, []string{"search", "--no-heading", "foo"}, "a.txt:1:foo bar\nb.txt:1:x foo\n"},
		{"colour although", plain, []string{"search", "--color=always", "-N", "foo", "a.txt"}, "\x1b[0m\x1b[1m\x1b[31mfoo\x1b[0m bar\n"},
	} {
		if diff := cmp.Diff(c.want, onTerminal(c.env, c.args...).out); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// On a terminal, names and text can't move the cursor, forge a line or reverse text. In a pipe they
// are unchanged.
func TestHostileNamesAndText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names can't exist")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	name := "a\nb.txt:1:forged\x1b[2J\u202etxt"
	writeTree(t, dir, map[string]string{name: "foo \x1b]0;title\a \u2066bar\r over\n", ".v.json": `{"a": "\u001b]0;title\u0007", "b": ["\u001b[2J\u202e"]}`})
	const shownName = `a\x0ab.txt:1:forged\x1b[2J\u{202e}txt`
	const shownText = `foo \x1b]0;title\x07 \u{2066}bar\x0d over`
	plain := map[string]string{"NO_COLOR": "1"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"search", "foo"}, shownName + "\n1:" + shownText + "\n"},
		{[]string{"search", "--no-heading", "foo"}, shownName + ":1:" + shownText + "\n"},
		{[]string{"search", "-l", "foo"}, shownName + "\n"},
		{[]string{"search", "-c", "foo"}, shownName + ":1\n"},
		{[]string{"search", "-o", "-I", "-N", "--no-heading", "foo .*t"}, `foo \x1b]0;tit` + "\n"},
		{[]string{"find"}, shownName + "\n"},
		{[]string{"value", ".v.json", "a"}, `\x1b]0;title\x07` + "\n"},
		{[]string{"value", ".v.json", "b"}, "[\n  \"\\u001b[2J\\u202e\"\n]\n"},
	} {
		if diff := cmp.Diff(c.want, onTerminal(plain, c.args...).out); diff != "" {
			t.Errorf("%q:\n%s", c.args, diff)
		}
	}
	if got := runQuarry("", "search", "-l", "foo"); got.out != name+"\n" {
		t.Errorf("in a pipe: %q", got.out)
	}
	if got := runQuarry("", "value", ".v.json", "a"); got.out != "\x1b]0;title\a\n" {
		t.Errorf("a value in a pipe: %q", got.out)
	}
	if got := onTerminal(plain, "search", "foo", "no\x1b[2Jne"); !strings.Contains(got.err, `no\x1b[2Jne: no such file`) {
		t.Errorf("a message: %q", got.err)
	}
}

// If nothing is found, a person gets an explanation; in a pipe nothing is printed.
func TestZeroExplained(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{
		".gitignore": "*.log\n", "a.txt": "Alpha a.b(c)\n", "b.go": "beta\n", "c.log": "gamma\n", ".d": "gamma\n", "bin": "x\x00y", "sub/e.txt": "e\n",
	})
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"ignored and hidden", []string{"gamma"}, "quarry: no match in . (3 files searched)\n  with --hidden 1 file matches (.d)\n  with --no-ignore 1 file matches (c.log)\n  1 binary file was skipped: -a searches it\n"},
		{"a filter", []string{"-t", "go", "Alpha", "."}, "quarry: no match in . (1 file searched)\n  only files that pass -t go\n  without -t go 1 file matches (a.txt)\n"},
		{"letter case", []string{"alpha", "a.txt"}, "quarry: no match in a.txt (1 file searched)\n  with -i 1 file matches (a.txt)\n"},
		{"grep's style", []string{`x\|y`, "a.txt"}, "quarry: no match in a.txt (1 file searched)\n  \\| matches a vertical bar; write | for alternatives.\n"},
		{"plain text", []string{"a.b(c)", "a.txt"}, "quarry: no match in a.txt (1 file searched)\n  with -F 1 file matches (a.txt)\n"},
		{"one letter wrong", []string{"Alpah"}, "quarry: no match in . (3 files searched)\n  near spelling: \"Alpha\" 1 file matches (a.txt)\n  1 binary file was skipped: -a searches it\n"},
		{"elsewhere", []string{"beta", "sub"}, "quarry: no match in sub (1 file searched)\n  outside sub 1 file matches (b.go)\n"},
		{"the name of a file", []string{"-g", "*.go", "a.txt"}, "quarry: no match in . (1 file searched)\n  only files that pass -g *.go\n  by name: There is a.txt\n"},
		{"nothing more to say", []string{"zzz", "sub"}, "quarry: no match in sub (1 file searched)\n"},
		{"not with -q", []string{"-q", "zzz"}, ""},
		{"not in JSON", []string{"--json", "zzz"}, ""},
	} {
		got := onTerminal(nil, append([]string{"search"}, c.args...)...)
		if diff := cmp.Diff(c.want, got.err); diff != "" || got.code != exitNone {
			t.Errorf("%s: exit code %d\n%s", c.name, got.code, diff)
		}
		if got := runQuarry("", append([]string{"search"}, c.args...)...); got.err != "" {
			t.Errorf("%s, in a pipe: %q", c.name, got.err)
		}
	}
}

// A binary file that is named is searched; others are reported as skipped.
func TestZeroInBinary(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"bin": "x\x00y", "sub/bin": "x\x00y", "sub/a": "a\n"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bin"}, "quarry: no match in bin (1 file searched)\n"},
		{[]string{"bin", "sub"}, "quarry: no match in bin, sub (2 files searched)\n  1 binary file was skipped: -a searches it\n"},
	} {
		got := onTerminal(nil, append([]string{"search", "zzz"}, c.args...)...)
		if diff := cmp.Diff(c.want, got.err); diff != "" {
			t.Errorf("%q:\n%s", c.args, diff)
		}
	}
}

// If there is nothing to show, a person is told so, and what to do next. In a pipe there is only
// the exit code.
func TestNothingToShow(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", ".hidden": "x\n"})
	env := map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"log"}, "quarry: no changes: nothing was changed here with quarry so far\n"},
		{[]string{"log", "go.mod"}, "quarry: no changes: go.mod was not changed with quarry so far\n"},
		{[]string{"log", "--since", "1h"}, "quarry: no change fits these flags\n  quarry log without them lists all\n"},
		{[]string{"trash", "list"}, "quarry: the trash has nothing of this workspace\n"},
		{[]string{"undo"}, "quarry: there is nothing to undo\n"},
		{[]string{"find", "*.md"}, "quarry: no file found\n  -u lists ignored files too, -uu also hidden ones\n"},
		{[]string{"find", "-uu", "*.md"}, "quarry: no file found\n"},
		{[]string{"find", "-uu", `\.md$`}, "quarry: no file found\n  a pattern is a part of a name, or a glob as *.go, not a regular expression\n"},
		{[]string{"find", "--json", "*.md"}, ""},
	} {
		got := onTerminal(env, c.args...)
		if got.code != exitNone || got.out != "" || got.err != c.want {
			t.Errorf("%q: exit code %d, %q, %q, want %q", c.args, got.code, got.out, got.err, c.want)
		}
	}
	for _, c := range []struct{ id, want string }{
		{"nope", "quarry: \"nope\" is not the id of a change\n  quarry log lists them\n"},
		{"2pentt01", "quarry: No such change: 2pentt01\n  quarry log lists the changes that are kept\n"},
	} {
		for _, command := range []string{"diff", "undo"} {
			if got := onTerminal(env, command, c.id); got.code != exitError || got.err != c.want {
				t.Errorf("%s %s: exit code %d, %q, want %q", command, c.id, got.code, got.err, c.want)
			}
		}
	}
}

// Help texts fit a terminal of 80 columns and list every flag once.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"search", "--help"}, {"find", "--help"}, {"help", "search"}} {
		got := runQuarry("", args...)
		if got.code != 0 || got.err != "" {
			t.Errorf("%q: exit code %d, %s", args, got.code, got.err)
		}
		for line := range strings.Lines(got.out) {
			if len([]rune(line)) > 81 {
				t.Errorf("%q: too long: %q", args, line)
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := runQuarry("", "completion", shell); got.code != 0 || !strings.Contains(got.out, "quarry") {
			t.Errorf("completion %s: exit code %d, %d bytes", shell, got.code, len(got.out))
		}
	}
	if got := runQuarry("", "__complete", "search", "--mult"); !strings.Contains(got.out, "--multiline-dotall") {
		t.Errorf("completing --mult: %q", got.out)
	}
}
