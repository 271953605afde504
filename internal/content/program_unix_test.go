//go:build unix

package content

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/internal/stress"
)

// A program that hangs, leaves a child holding its output, or continues without output
// ends with the context, and so do its child processes.
func TestProgramEndsWithItsContext(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"hangs", `echo text; sleep 1000 & echo $! > "$1"; wait`},
		{"leaves a child with its output", `echo text; sleep 1000 & echo $! > "$1"`},
		{"lives on without output", `echo text; sleep 1000 >/dev/null 2>&1 & echo $! > "$1"; exec >&-; wait`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			script, pidFile := filepath.Join(dir, "p.sh"), filepath.Join(dir, "pid")
			if err := os.WriteFile(script, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			m, err := New(Options{Command: script})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := m.Text(ctx, pidFile, strings.NewReader(strings.Repeat("x", 1<<20)))
			if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 5)
			if _, err := io.ReadFull(r, b); err != nil || string(b) != "text\n" {
				t.Fatalf("read %q, %v", b, err)
			}
			child := waitPid(t, pidFile)
			time.AfterFunc(10*time.Millisecond, cancel)
			rest, err := io.ReadAll(r)
			closed := r.Close()
			if len(rest) > 0 || !errors.Is(errors.Join(err, closed), context.Canceled) {
				t.Errorf("rest %q, read %v, close %v; want %v", rest, err, closed, context.Canceled)
			}
			waitGone(t, child)
		})
	}
}

// Closing a text early also kills the program's children.
func TestClosedEarly(t *testing.T) {
	dir := t.TempDir()
	script, pidFile := filepath.Join(dir, "p.sh"), filepath.Join(dir, "pid")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 1000 & echo $! > \"$1\"; echo text; wait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{Command: script})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Text(t.Context(), pidFile, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	child := waitPid(t, pidFile)
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	waitGone(t, child)
}

func waitPid(t *testing.T, name string) int {
	t.Helper()
	pid := 0
	if !stress.Becomes(func() bool {
		data, err := os.ReadFile(name)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		}
		return err == nil
	}) {
		t.Fatal("no process id")
	}
	return pid
}

// waitGone waits until a process was killed. It may not have been reaped yet.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	if !stress.Becomes(func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return syscall.Kill(pid, 0) == syscall.ESRCH || err == nil && strings.Contains(string(stat), ") Z ")
	}) {
		syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d still runs", pid)
	}
}
