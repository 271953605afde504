// Package quarrytest makes workspaces for tests. Only tests import it.
package quarrytest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
	"quarry/search"
)

// Workspace makes a folder from a map of paths to texts, and opens it.
func Workspace(t testing.TB, files map[string]string, opts *quarry.Options) *quarry.Workspace {
	t.Helper()
	stress.SkipWine(t, "tests of whole workspaces use links, names in another case and files that are open")
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// Changeable is Workspace with a state folder and a trash, so that files can be changed.
func Changeable(t testing.TB, files map[string]string, opts *quarry.Options) *quarry.Workspace {
	t.Helper()
	if opts == nil {
		opts = &quarry.Options{}
	}
	if opts.StateDir == "" {
		opts.StateDir = t.TempDir()
	}
	if opts.Trash == "" {
		opts.Trash = change.TrashLocal
	}
	return Workspace(t, files, opts)
}

// Put writes a file of a workspace, as another program would.
func Put(t testing.TB, ws *quarry.Workspace, name, text string) {
	t.Helper()
	full := filepath.Join(ws.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// PutFile writes a file and makes its parent folders.
func PutFile(t *testing.T, full, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Content reads a file of a workspace from the disk.
func Content(t testing.TB, ws *quarry.Workspace, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(ws.Dir(), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Must returns a function that fails the test if a change failed.
func Must(t testing.TB) func(*change.Change, error) *change.Change {
	return func(c *change.Change, err error) *change.Change {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// Snapshot describes everything in a folder except the trash: contents, modes, and link
// targets.
func Snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if rel == ".trash" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			text += " -> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		all[filepath.ToSlash(rel)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Child returns a command that runs a test of this binary in a child process.
func Child(t testing.TB, test string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^"+test+"$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Search runs a query. It fails the test on an error.
func Search(t testing.TB, ws *quarry.Workspace, q search.Query) *search.Result {
	t.Helper()
	r, err := ws.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Slower reports a speed below the expected one. It fails the test if PERF=1, for a
// machine without other load, and otherwise only logs.
func Slower(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("PERF") == "1" {
		t.Errorf(format, args...)
	} else {
		t.Logf(format, args...)
	}
}

// Best returns the shortest duration of n runs.
func Best(n int, f func(i int)) time.Duration {
	least := time.Hour
	for i := range n {
		start := time.Now()
		f(i)
		least = min(least, time.Since(start))
	}
	return least
}

// Answer returns the parts of an answer that must be equal for all ways of searching.
func Answer(t testing.TB, ws *quarry.Workspace, q search.Query) string {
	t.Helper()
	return AnswerText(ws.Search(context.Background(), q))
}

// AnswerText formats an answer as text.
func AnswerText(r *search.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	// Formatted without fmt, which took half of the time of TestIndexEqualsScan.
	var b []byte
	number := func(n int) { b = strconv.AppendInt(append(b, ' '), int64(n), 10) }
	for _, f := range r.Files {
		b = append(b, f.Path...)
		number(f.Matched)
		number(f.Matches)
		b = append(b, '\n')
		for _, l := range f.Lines {
			number(l.Number)
			b = append(strconv.AppendBool(append(b, ' '), l.Hit), ' ')
			b = append(b, l.Text...)
			for _, s := range l.Spans {
				number(s.Start)
				number(s.End)
			}
			for _, doubt := range l.Doubts {
				b = append(append(b, ' '), doubt...)
			}
			for _, holes := range l.Holes {
				for _, h := range holes {
					b = append(append(b, ' '), h.Name...)
					number(h.Start)
					number(h.End)
				}
			}
			b = append(b, '\n')
		}
	}
	return string(fmt.Appendf(b, "%d %d %d %d %v %s %d", r.FilesMatched, r.LinesMatched, r.Blocks, r.Matches, r.Exact, r.Stopped, r.SkippedCount[search.Binary]))
}
