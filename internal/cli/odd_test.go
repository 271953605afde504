//go:build unix

package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"quarry/internal/stress"
)

// Unusual files never make a search hang or crash. All other files are searched, and omitted files
// are reported with the reason.
func TestOddFiles(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"a.txt": "foo\n", "z.txt": "foo\n"})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(syscall.Mkfifo("fifo", 0o666))
	must(os.Symlink(".", "self"))
	must(os.Symlink("ring2", "ring1"))
	must(os.Symlink("ring1", "ring2"))
	socket, err := net.Listen("unix", "sock")
	must(err)
	defer socket.Close()
	must(os.WriteFile("sparse", nil, 0o666))
	must(os.Truncate("sparse", 10<<30)) // not read, because it is too large
	must(os.WriteFile("holes", nil, 0o666))
	must(os.Truncate("holes", 1<<20))

	for _, c := range []struct {
		name string
		args []string
		code int
		out  string
		errs string // text expected on stderr
	}{
		{"beside ordinary files", []string{"-l", "foo"}, exitFound, "a.txt\nz.txt\n", ""},
		{"in the statistics", []string{"--stats", "-c", "foo"}, exitFound, "skipped: binary 2, not_regular 2, symlink 3", ""},
		{"a device beside a file", []string{"foo", "a.txt", "/dev/null"}, exitFound, "a.txt:1:foo\n", ""},
		{"a FIFO that is named", []string{"foo", "fifo", "a.txt"}, exitError, "a.txt:1:foo\n", "fifo: "},
		{"a socket that is named", []string{"foo", "sock", "a.txt"}, exitError, "a.txt:1:foo\n", "sock: "},
		{"a symlink to itself", []string{"foo", "ring1", "a.txt"}, exitError, "a.txt:1:foo\n", "ring1: "},
		{"through a loop", []string{"-l", "foo", "self/self"}, exitFound, "self/self/a.txt\nself/self/z.txt\n", ""},
		{"1 MB of nothing, named", []string{"foo", "holes"}, exitNone, "", ""},
	} {
		got := runQuarry("", append([]string{"search"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.out, c.out) || !strings.Contains(got.err, c.errs) || c.errs == "" && got.err != "" {
			t.Errorf("%s: exit code %d, want %d\n%s%s", c.name, got.code, c.code, got.out, got.err)
		}
	}
	for name, want := range map[string]string{"fifo": "Type: special", "sock": "Type: special", "a.txt": "Type: file"} {
		if got := runQuarry("", "call", "get_file_info", `{"path":"`+name+`"}`); !strings.Contains(got.out, want) {
			t.Errorf("%s: %s%s, want %s", name, got.out, got.err, want)
		}
	}
}

// Searching a line of 5 GB takes bounded memory, and the answer says that the search is incomplete.
func TestHugeLine(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := "foo\n" + strings.Repeat("filler\n", 10_000)
	if err := os.WriteFile("huge", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("huge", 5<<30); err != nil {
		t.Skipf("this file system makes no file of 5 GB with holes, set TMPDIR to one that does: %v", err)
	}
	for _, args := range [][]string{{"foo"}, {"-U", `foo\n`}, {"-v", "-c", "zzz"}, {"-C3", "foo"}} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		got := runQuarry("", append([]string{"search"}, args...)...)
		runtime.ReadMemStats(&after)
		if got.code != exitError || !strings.Contains(got.err, "huge: a line is over 16 MB") {
			t.Errorf("%q: exit code %d, stderr %q", args, got.code, got.err)
		}
		if more := int64(after.Sys) - int64(before.Sys); more > 64<<20 {
			t.Errorf("%q took %d MB", args, more>>20)
		}
	}
}

// A file that is too large for a structural search is reported as too large, although the search
// also limits the length of lines.
func TestHugeCode(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("huge.c", []byte(strings.Repeat("int aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;\n", 450_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("small.c", []byte("int f() { return a && b; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := runQuarry("", "search", "--structure", "$A && $B")
	if got.code != exitError || !strings.Contains(got.err, "huge.c: code over 16 MB, or too hard to take apart: not searched") || !strings.Contains(got.out, "a && b") {
		t.Errorf("exit code %d, stderr %q, %q", got.code, got.err, got.out)
	}
}

// Reading a file ends even if the file grows as fast as it is read, and also if it shrinks.
func TestChangingFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	line := []byte(strings.Repeat("foo bar\n", 8<<10))
	for _, shrink := range []bool{false, true} {
		f, err := os.Create("log")
		if err != nil {
			t.Fatal(err)
		}
		for range 64 {
			if _, err := f.Write(line); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			size := int64(64 * len(line))
			for {
				select {
				case <-done:
					return
				default:
				}
				if shrink {
					size = max(size/2, 1)
					f.Truncate(size)
				} else if size < 1<<30 {
					f.Write(line)
					size += int64(len(line))
				}
			}
		})
		got := runQuarry("", "search", "-c", "bar", "log")
		close(done)
		writer.Wait()
		f.Close()
		// The kernel may zero bytes during a truncation. If the read sees them, it reports a binary
		// file.
		zeroed := shrink && got.code == exitNone && strings.Contains(got.err, "binary file, not searched")
		if got.code == exitError || got.err != "" && !zeroed {
			t.Errorf("shrinking %v: exit code %d, %s", shrink, got.code, got.err)
		}
	}
}

// ordinary returns a function that runs the program in a tree as an unprivileged user. The tree has
// an unreadable file and an unreadable folder.
func ordinary(t *testing.T, files map[string]string) func(args ...string) (out, errs string, code int) {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != filepath.Dir(d) && strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Skipf("another user can't be let into the temporary folder, set TMPDIR to one of your own: %v", err)
		}
	}
	tree := filepath.Join(dir, "tree")
	writeTree(t, tree, files)
	for name, mode := range map[string]os.FileMode{"": 0o755, "closed.go": 0, "locked": 0} {
		if err := os.Chmod(filepath.Join(tree, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(tree, "locked"), 0o755) })
	program := filepath.Join(dir, "quarry")
	copyProgram(t, program)
	return func(args ...string) (string, string, int) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = tree, []string{"HOME=" + dir}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Skipf("can't run as another user: %v", err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
}

// For an unprivileged user, an unreadable file is reported, the others are searched, and the exit
// code is 2, as in ripgrep.
func TestUnreadable(t *testing.T) {
	run := ordinary(t, map[string]string{"a.txt": "foo\n", "closed.go": "foo\n", "locked/b.txt": "foo\n", "z.txt": "foo\n"})
	out, errs, code := run("search", "-l", "foo")
	if code != exitError || out != "a.txt\nz.txt\n" {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, name := range []string{"closed.go: ", "locked: "} {
		if !strings.Contains(errs, name) {
			t.Errorf("stderr lacks %q:\n%s", name, errs)
		}
	}
}

// Every search tool reports unreadable files, even if it found nothing or its answer was cut.
func TestToolsTellUnreadable(t *testing.T) {
	stress.SkipTiny(t)
	run := ordinary(t, map[string]string{
		"a.go": "package a\n\nfunc Needle() {}\n", "b.go": "package a\n\nfunc Needle2() {}\n", "note.md": "needle\n",
		"closed.go": "package a\n\nfunc Secret() {}\n", "locked/b.go": "package b\n\nfunc Secret() {}\n",
	})
	for _, call := range [][2]string{
		{"search_files", `{"regex":"Needle"}`}, {"search_files", `{"regex":"Needle","max_results":1}`}, {"search_files", `{"regex":"Needle","max_results":1,"count":"exact"}`},
		{"search_files", `{"regex":"nothing"}`}, {"search_files", `{"pattern":"Needle","max_results":1}`}, {"search_files", `{"pattern":"nothing"}`},
		{"file_search", `{"query":"needle"}`}, {"file_search", `{"query":"needle","max_results":1}`}, {"file_search", `{"query":"nothing"}`},
		{"search_code", `{"query":"needle"}`}, {"search_code", `{"query":"needle","top_k":1}`}, {"search_code", `{"query":"nothing"}`},
		{"search_notes", `{"query":"needle"}`}, {"search_notes", `{"query":"nothing"}`},
		{"find_symbol", `{"name":"Needle"}`}, {"find_symbol", `{"name":"Secret"}`}, {"outline", `{"path":"."}`},
		{"list_files", `{"pattern":"**"}`}, {"list_files", `{"pattern":"**","max_results":1}`}, {"list_files", `{"depth":3}`}, {"list_files", `{"pattern":"nothing*"}`},
		{"search_by_path", `{"pattern":"*.go"}`}, {"search_by_path", `{"pattern":"b.go"}`}, {"search_by_path", `{"pattern":"nothing.xyz"}`},
	} {
		out, errs, code := run("call", "--read-only", call[0], call[1])
		if code != 0 || !strings.Contains(out, "unreadable") || strings.Count(out, "not searched:") != 1 {
			t.Errorf("%s %s does not say once what could not be read: exit code %d\n%s%s", call[0], call[1], code, out, errs)
		}
	}
	if out, errs, code := run("call", "--read-only", "outline", `{"path":"closed.go"}`); code == 0 || !strings.Contains(out+errs, "permission denied") {
		t.Errorf("outline of a closed file: exit code %d\n%s%s", code, out, errs)
	}
}

// copyProgram copies the running test binary, which behaves as quarry if it has that name.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// If a shell substitutes a path for <(command), the search prints that path.
func TestProcessSubstitution(t *testing.T) {
	t.Chdir(t.TempDir())
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skipf("this system has no /dev/fd, mount it: %v", err)
	}
	if _, err := w.WriteString("one\nfoo\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got := runQuarry("", "search", "-H", "foo", name); got.code != 0 || got.out != name+":2:foo\n" {
		t.Errorf("exit code %d, %q, %s", got.code, got.out, got.err)
	}
	if got := runQuarry("", "search", "foo", "/dev/fd/999"); got.code != exitError || got.err != "quarry: /dev/fd/999: no such file or folder\n" {
		t.Errorf("one that is not open: exit code %d, %q", got.code, got.err)
	}
}
