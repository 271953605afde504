package replacer_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/replacer"
	"quarry/internal/scan"
	"quarry/internal/stress"
	"quarry/match"
)

// A file's new text equals ripgrep's output with --passthru --replace.
func TestEqualsRipgrep(t *testing.T) {
	stress.SkipShort(t)
	rg := os.Getenv("QUARRY_RG")
	if rg == "" {
		var err error
		if rg, err = exec.LookPath("rg"); err != nil {
			t.Skip("ripgrep is not installed: install it or set QUARRY_RG")
		}
	}
	files := map[string]string{
		"a.go":        "package a\n\nfunc fooBar(x int) int { return fooBar(x) }\n// foo_bar fooBarBaz\n",
		"crlf.txt":    "fooBar one\r\nfoo\r\n\r\nlast fooBar\r\n",
		"open.txt":    "foo\nno line break after foo",
		"unicode.txt": "naïve café fooBar — ‘foo’\nÄÖÜ äöü\n",
		"empty.txt":   "",
		"none.txt":    "nothing here\n",
		"tabs.txt":    "\tfoo\tfoo\tfoofoo\n\n\nfoo\n",
		"long.txt":    strings.Repeat("foo bar ", 5000) + "\n",
	}
	changed := 0
	for _, c := range []struct {
		pattern, with string
		flags         []string
		options       match.Options
		literal       bool
	}{
		{pattern: `fooBar`, with: "barFoo"},
		{pattern: `foo(\w*)`, with: "<$1>"},
		{pattern: `(?P<first>f)(o+)`, with: "${2}${first}$$"},
		{pattern: `o`, with: ""},
		{pattern: `\bfoo\b`, with: "$0$0"},
		{pattern: `^`, with: "> "},
		{pattern: `$`, with: ";"},
		{pattern: `x*`, with: "-"},
		{pattern: `FOO`, with: "x", flags: []string{"-i"}, options: match.Options{Case: match.Insensitive}},
		{pattern: `[äöü]`, with: "${0}e"},
		{pattern: `foo(bar)?`, with: "[$1]"},
		{pattern: `foo`, with: `\n$`},
		{pattern: `^(foo)(Bar)?$`, with: "[$1]"},
		{pattern: `^(\w+)(.*)$`, with: "$2 $1"},
		{pattern: `(\w+)$`, with: "<$1>"},
	} {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]string{}
		for name := range files {
			args := append([]string{"--passthru", "--no-line-number", "--no-filename", "--color=never", "-r", c.with}, c.flags...)
			if name == "crlf.txt" {
				args = append(args, "--crlf")
			}
			out, err := exec.Command(rg, append(args, "-e", c.pattern, filepath.Join(dir, name))...).Output()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
				out = []byte(files[name]) // no match: ripgrep prints nothing, so the file stays as it is
			} else if err != nil {
				t.Fatalf("rg %q: %v", args, err)
			} else if changed++; string(out) == files[name] {
				t.Errorf("%s by %s in %s: ripgrep changes nothing: nothing is compared", c.pattern, c.with, name)
			}
			want[name] = string(out)
		}
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		q := replacer.Query{Replacement: c.with, Literal: c.literal}
		q.Pattern, q.Match = c.pattern, c.options
		found, err := replacer.Find(t.Context(), ws, q)
		if err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		if _, err := ws.Apply(t.Context(), change.Set{Ops: found.Ops}); err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		for name := range files {
			if c.pattern == "x*" && name == "unicode.txt" || (c.pattern == "x*" || c.pattern == "$") && name == "open.txt" {
				// ripgrep finds empty matches between the bytes of a character, and doesn't
				// find one at the end of a last line without a line break.
				continue
			}
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			// ripgrep adds a line break to a last line that has none.
			if string(got) != want[name] && string(got)+"\n" != want[name] && string(got)+"\r\n" != want[name] {
				t.Errorf("%s by %s in %s:\n%q, ripgrep has\n%q", c.pattern, c.with, name, short(string(got)), short(want[name]))
			}
		}
		ws.Close()
	}
	t.Logf("%d files compared that ripgrep changes", changed)
}

func short(s string) string { return s[:min(len(s), 300)] }

// The expected number of matches is enforced, and a lack of matches is reported.
func TestExpected(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x x\nx\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	q := replacer.Query{Replacement: "y", Expected: 2}
	q.Pattern = "x"
	if _, err := replacer.Find(t.Context(), ws, q); err == nil || !strings.Contains(err.Error(), "3 matches in 1 file,") {
		t.Errorf("another number: %v", err)
	}
	q.Expected, q.Pattern = 0, "z"
	if _, err := replacer.Find(t.Context(), ws, q); err != replacer.ErrNone {
		t.Errorf("no match: %v", err)
	}
}

// A file with a line that is too long to search is not changed by a query for files without a match.
func TestLackingOfLongLines(t *testing.T) {
	dir := t.TempDir()
	long := append(bytes.Repeat([]byte("x"), scan.MaxLine+1), "\nold unless\n"...)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "a"), []byte("old\n"), 0o644), os.WriteFile(filepath.Join(dir, "long"), long, 0o644)); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	q := replacer.Query{Replacement: "new"}
	q.Pattern = "old"
	if found, err := replacer.Find(t.Context(), ws, q); err != nil || len(found.Ops) != 2 {
		t.Fatalf("without lacking: %+v, %v", found, err)
	}
	q.Lacking = []string{"unless"}
	if found, err := replacer.Find(t.Context(), ws, q); !errors.Is(err, fault.Permission) && (err != nil || len(found.Ops) != 1 || found.Ops[0].Path != "a") {
		t.Errorf("%+v, %v", found, err)
	}
}
