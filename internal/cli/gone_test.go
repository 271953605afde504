package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// leaving is a server under test. Its client closes the server's standard input.
type leaving struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	mark string // identifies the server and its children by an environment variable
}

func startLeaving(t *testing.T, dir string, args ...string) *leaving {
	t.Helper()
	return leave(t, program(t, dir, append([]string{"mcp"}, args...)...))
}

func leave(t *testing.T, cmd *exec.Cmd) *leaving {
	t.Helper()
	l := &leaving{t: t, cmd: cmd, mark: fmt.Sprintf("LEAVING=%s %d", t.Name(), time.Now().UnixNano())}
	l.cmd.Env = append(l.cmd.Env, l.mark)
	var err error
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	l.out = bufio.NewReader(out)
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cmd.Process.Kill() })
	return l
}

func (l *leaving) send(lines ...string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, strings.Join(lines, "\n")+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

// call sends a tool call and does not wait for the answer.
func (l *leaving) call(id int, name, args string) {
	l.t.Helper()
	l.send(rpc(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)))
}

// ready waits until the server answers.
func (l *leaving) ready() {
	l.t.Helper()
	l.send(helloLine)
	if _, err := l.out.ReadString('\n'); err != nil {
		l.t.Fatal(err)
	}
}

// under waits until a call is in progress, which shows in the server's processor time.
func (l *leaving) under() {
	l.t.Helper()
	l.send(rpc(99, "ping", "{}"))
	if _, err := l.out.ReadString('\n'); err != nil {
		l.t.Fatal(err)
	}
}

// A server exits within two seconds after the end of its standard input, whatever it is doing. All
// processes that it started exit too. go test allows more time, because timers are late on a busy
// machine.
func TestGoneAfterInput(t *testing.T) {
	limit := time.Duration(stress.Size(6, 2)) * time.Second
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module x\n")
	write("wide.txt", strings.Repeat("0123456789 needle abcdefghijklmnopqrstuvwxyz\n", 2000))
	for i := range stress.Size(500, 4000) {
		write(fmt.Sprintf("d%d/f%d.go", i%50, i), fmt.Sprintf("package p\n\nfunc needle%d() {\n%s}\n", i, strings.Repeat(fmt.Sprintf("\tcall%d(some, words, %d)\n", i, i*7), 400)))
	}
	write("slow.java", strings.Repeat("a<b<", 1<<20))
	slow := `{"path": "slow.java"}`
	states := []struct {
		name string
		args []string
		into func(l *leaving)
	}{
		{"at the start", nil, func(*leaving) {}},
		{"idle", []string{"--no-index"}, (*leaving).ready},
		{"in the middle of a message", []string{"--no-index"}, func(l *leaving) {
			l.ready()
			_, _ = io.WriteString(l.in, `{"jsonrpc":"2.0","id":1,"method":`)
		}},
		{"building an index", nil, (*leaving).ready},
		{"reading definitions", []string{"--no-index"}, func(l *leaving) {
			l.ready()
			for i := range 4 {
				l.call(i+1, "outline", slow)
			}
			l.under()
		}},
		{"searching", []string{"--no-index"}, func(l *leaving) {
			l.ready()
			for i := range 8 {
				l.call(i+1, "search_files", `{"regex":"(call|some|word)+[^x]*x{40}.*needle","path":".","count":"exact"}`)
			}
			l.under()
		}},
		{"ranking", []string{"--no-index"}, func(l *leaving) { l.ready(); l.call(1, "search_code", `{"query":"needle some words"}`); l.under() }},
		{"waiting for a review", []string{"--no-index", "--review"}, func(l *leaving) {
			l.ready()
			l.call(1, "write_file", `{"path":"new.txt","content":"x"}`)
			l.under()
		}},
		{"unread answers", []string{"--no-index"}, func(l *leaving) {
			l.ready()
			for i := range 40 {
				l.call(i+1, "read_file", `{"path":"wide.txt"}`)
			}
		}},
		{"unread refusals", []string{"--no-index"}, func(l *leaving) {
			l.ready()
			for i := range 40 {
				l.call(i+1, "read_file", `{"path":"wide.txt"}`)
			}
			for range 60 {
				l.send(strings.Repeat("garbage\n", 100))
			}
		}},
		{"beside the owner of the index", nil, func(l *leaving) {
			owner := startLeaving(l.t, dir)
			owner.ready()
			l.ready()
			l.call(1, "outline", slow)
			l.under()
		}},
		{"owning the index of others", nil, func(l *leaving) {
			l.ready()
			other := startLeaving(l.t, dir)
			other.ready()
			other.call(1, "outline", slow)
			other.under()
		}},
	}
	longest := time.Duration(0)
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			l := startLeaving(t, dir, s.args...)
			s.into(l)
			ended := make(chan error, 1)
			began := time.Now()
			if err := l.in.Close(); err != nil {
				t.Fatal(err)
			}
			go func() {
				_, err := l.cmd.Process.Wait() // unlike cmd.Wait, this doesn't wait for the end of standard output
				ended <- err
			}()
			select {
			case <-ended:
				longest = max(longest, time.Since(began))
				if took := time.Since(began); took > limit {
					t.Errorf("gone after %v", took)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("not gone after 30 s")
			}
			if left := l.children(); left != "" {
				t.Errorf("left running: %s", left)
			}
		})
	}
	t.Logf("%d states, gone after %v at most", len(states), longest.Round(time.Millisecond))
}

// children lists processes started by the server that are still running.
func (l *leaving) children() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	left := ""
	stress.Becomes(func() bool {
		left = ""
		all, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			l.t.Fatal(err)
		}
		for _, file := range all {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), l.mark) {
				name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				left += fmt.Sprintf("%s %q ", file, name)
			}
		}
		return left == ""
	})
	return left
}
