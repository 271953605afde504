package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A write error ends the search and is reported once, not for every file.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": strings.Repeat("foo\n", 50_000), "b.txt": strings.Repeat("foo\n", 50_000)})
	for _, args := range [][]string{{"search", "foo", "a.txt", "b.txt"}, {"search", "foo", "."}, {"search", "--sortr", "path", "foo"}, {"search", "--json", "foo", "a.txt", "b.txt"}} {
		var errs bytes.Buffer
		code := Run(t.Context(), args, Streams{Out: fullDisk{}, Err: &errs})
		if code != 2 || strings.Count(errs.String(), "no space left") != 1 || strings.Contains(errs.String(), ".txt") {
			t.Errorf("%q: exit code %d, %s", args, code, errs.String())
		}
	}
}

// If a change was made but the output fails, the error says that it was made.
func TestFullDiskAfterChange(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": "one\n"})
	for _, args := range [][]string{
		{"edit", "a.txt", "--old", "one", "--new", "two"}, {"replace", "two", "three", "--json"}, {"undo"},
	} {
		var errs bytes.Buffer
		code := Run(t.Context(), args, Streams{Out: fullDisk{}, Err: &errs})
		if code != 2 || !strings.Contains(strings.ToLower(errs.String()), "no space left") || !strings.Contains(errs.String(), "the change was made all the same") {
			t.Errorf("%q: exit code %d, %s", args, code, errs.String())
		}
	}
	var errs bytes.Buffer
	if Run(t.Context(), []string{"edit", "a.txt", "--old", "two", "--new", "x", "-n"}, Streams{Out: fullDisk{}, Err: &errs}); strings.Contains(errs.String(), "was made") {
		t.Errorf("a dry run changes nothing: %s", errs.String())
	}
}

// Every command reports a failure to write its output.
func TestFullDiskEverywhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.go": "package a\n"})
	if got := runQuarry("", "index", "build", "-q"); got.code != 0 {
		t.Fatal(got.err)
	}
	if got := runQuarry("", "write", "b.txt", "--content", "x"); got.code != 0 {
		t.Fatal(got.err)
	}
	for _, line := range []string{
		"--help", "search --help", "find --help", "help syntax", "help", "version", "--version", "index status", "index status --json", "index verify", "index list", "index build -q",
		"config", "config --all", "config path", "config search.hidden", "doctor", "tools", "tools --json", "agents-md", "log", "diff", "find", "symbols", "read a.go", "search --type-list",
		"completion bash", "call list_files", "trash list", "note tag", "review", "mcp install --client cursor --root .", "undo -n",
	} {
		var errs bytes.Buffer
		code := Run(t.Context(), strings.Fields(line), Streams{Out: fullDisk{}, Err: &errs})
		if quiet := runQuarry("", strings.Fields(line)...).out == ""; quiet {
			continue // prints nothing here
		}
		if code != 2 || !strings.Contains(strings.ToLower(errs.String()), "no space left") {
			t.Errorf("quarry %s: exit code %d, %q", line, code, errs.String())
		}
	}
}

// endless is a reader that never ends.
type endless struct{ read *int }

func (e endless) Read(p []byte) (int, error) {
	*e.read += len(p)
	return len(p), nil
}

// Standard input is read only up to the maximum size of a changed file.
func TestEndlessInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("QUARRY_CHANGE_MAX_SIZE", "100KB")
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": "one\n"})
	for _, args := range [][]string{{"edit", "a.txt", "--old", "one", "--new", "-"}, {"write", "b.txt"}} {
		var errs bytes.Buffer
		read := 0
		code := Run(t.Context(), args, Streams{In: endless{&read}, Out: io.Discard, Err: &errs})
		if code != 2 || !strings.Contains(errs.String(), "change.max-size") || read > 1<<20 {
			t.Errorf("%q: exit code %d after %d bytes: %s", args, code, read, errs.String())
		}
	}
}
