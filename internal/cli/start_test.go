package cli

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"quarry/internal/cli/env"
)

// TestOneCommandIsMade checks that a command made alone behaves as in the whole tree, including
// help, invalid flags and invalid arguments.
func TestOneCommandIsMade(t *testing.T) {
	for _, name := range hot {
		for _, rest := range []string{"--help", "-h", "--no-such-flag", "--max-cout 3 x", "--typ go x", "--no-config", "a b c --sort wrong"} {
			args := append([]string{name}, strings.Fields(rest)...)
			var out [2]string
			for i, one := range []string{only(args), ""} {
				var b bytes.Buffer
				no := false
				s := Streams{In: strings.NewReader(""), Out: &b, Err: &b, Terminal: &no, Conf: &env.Settings{}, Getenv: func(string) string { return "" }}
				root := newRoot(s, one)
				root.SetArgs(args)
				root.SetIn(s.In)
				root.SetOut(s.Out)
				root.SetErr(s.Err)
				if err := root.ExecuteContext(context.Background()); err != nil {
					b.WriteString(message(err))
				}
				out[i] = b.String()
			}
			if out[0] != out[1] || out[0] == "" && rest == "--help" {
				t.Errorf("quarry %s: alone\n%s\nin the whole tree\n%s", strings.Join(args, " "), out[0], out[1])
			}
		}
	}
	all := map[string]bool{}
	for _, c := range newRoot(Streams{Conf: &env.Settings{}}, "").Commands() {
		all[c.Name()] = true
	}
	for _, c := range commands() {
		if !all[c.name] {
			t.Errorf("commands() calls %q what has another name", c.name)
		}
	}
}

// TestLittleIsMadeBeforeMain limits package initialization, which slows down every command. The
// definitions of all tools once took 40 KB and the language tables 50 KB, which was a tenth of the
// time of a small search.
func TestLittleIsMadeBeforeMain(t *testing.T) {
	const most = 16 << 10
	cmd := program(t, t.TempDir(), "version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for _, m := range regexp.MustCompile(`(?m)^init (quarry\S*) @.* clock, (\d+) bytes`).FindAllStringSubmatch(string(out), -1) {
		if m[1] == "quarry/internal/cli" {
			continue // the package contains these tests
		}
		seen++
		if n, _ := strconv.Atoi(m[2]); n > most {
			t.Errorf("%s makes %d bytes before main, at most %d are allowed: make them when they are used", m[1], n, most)
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages in\n%s", seen, out)
	}
}
