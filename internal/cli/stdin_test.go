package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"quarry/internal/cli/env"
)

// Commands that wait for standard input end when interrupted.
func TestInterruptedWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeTree(t, dir, map[string]string{"go.mod": "module x\n"})
	for _, args := range [][]string{
		{"search", "x", "-"}, {"search", "-f", "-"}, {"write", "new.txt"}, {"edit", "go.mod", "--old", "-", "--new", "y"}, {"note", "append", "go.mod"},
	} {
		in, out, err := os.Pipe() // no data is written to the pipe
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var said, errs bytes.Buffer
		ended := make(chan int, 1)
		go func() { ended <- Run(ctx, args, Streams{In: in, Out: &said, Err: &errs}) }()
		cancel()
		if code := <-ended; code != exitInterrupted || errs.String() != "quarry: interrupted\n" {
			t.Errorf("%q: exit code %d, %q", args, code, errs.String())
		}
		out.Close()
		in.Close()
	}
	if env.Exists("new.txt") {
		t.Error("an interrupted write made a file")
	}
}

// Input that comes in pieces is read completely.
func TestStdinInPieces(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go func() {
		for range 1000 {
			out.WriteString(strings.Repeat("x", 100) + " foo\n")
		}
		out.Close()
	}()
	var said, errs bytes.Buffer
	code := Run(t.Context(), []string{"search", "-c", "foo$", "-"}, Streams{In: in, Out: &said, Err: &errs})
	if code != 0 || said.String() != "1000\n" {
		t.Errorf("exit code %d, %q, %q", code, said.String(), errs.String())
	}
}
