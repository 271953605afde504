package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// program returns a command that runs quarry in a separate process.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	quarry, err := exec.LookPath("quarry") // the running test binary: see TestMain
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(quarry, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"} {
		cmd.Env = append(cmd.Env, name+"="+home)
	}
	for _, name := range []string{"TMPDIR", "TMP"} {
		cmd.Env = append(cmd.Env, name+"="+os.TempDir())
	}
	return cmd
}

func sampleWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\nneedle\n", "sub/b.txt": "two\n", ".git/config": "secret", ".env": "KEY=1"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const helloLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func rpc(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

// answers sends the lines to a server's stdin and returns the answers by id.
func answers(t *testing.T, cmd *exec.Cmd, lines ...string) map[string]string {
	t.Helper()
	cmd.Stdin = strings.NewReader(strings.Join(append([]string{helloLine}, lines...), "\n") + "\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Errorf("%v, stderr %q", err, errs.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("stdout has %q", line)
		}
		got[string(m.ID)] = line
	}
	return got
}

// The built program serves tools over stdin and stdout, and applies the policy.
func TestMCPStdio(t *testing.T) {
	dir := sampleWorkspace(t)
	got := answers(t, program(t, dir, "mcp"),
		rpc(1, "tools/call", `{"name":"search_files","arguments":{"regex":"needle"}}`),
		rpc(2, "tools/call", `{"name":"read_file","arguments":{"path":".env"}}`),
		rpc(8, "tools/list", `{}`),
		"garbage",
	)
	for id, want := range map[string]string{
		"0": "Every change can be undone", "1": "needle", "2": `"isError":true`, "8": `"edit_file"`, "null": "-32700",
	} {
		if !strings.Contains(got[id], want) {
			t.Errorf("%s: %s, want %q", id, got[id], want)
		}
	}
}

// Without --root, a server serves the worktree in which it was started. On each connection, the
// first answer about a change names that worktree.
func TestMCPWorktree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top := t.TempDir()
	main, tree := filepath.Join(top, "main"), filepath.Join(top, "tree")
	for _, args := range [][]string{
		{"init", "-q", "-b", "trunk", main}, {"-C", main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"},
		{"-C", main, "worktree", "add", "-q", "-b", "topic", tree},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, dir := range []string{main, tree} {
		writeFile(t, filepath.Join(dir, "a.txt"), "one\n")
		writeFile(t, filepath.Join(dir, "sub", "b.txt"), "one\n")
	}
	state := t.TempDir()
	run := func(dir string, args ...string) *exec.Cmd {
		cmd := program(t, dir, args...)
		cmd.Env = append(cmd.Environ(), "XDG_STATE_HOME="+state, "XDG_CACHE_HOME="+state)
		return cmd
	}
	edit := func(id int, old, new string) string {
		return rpc(id, "tools/call", fmt.Sprintf(`{"name":"edit_file","arguments":{"path":"a.txt","old_text":%q,"new_text":%q}}`, old, new))
	}
	got := answers(t, run(filepath.Join(tree, "sub"), "mcp", "--profile", "code"), edit(1, "one", "two"))
	again := answers(t, run(tree, "mcp", "--profile", "vault"), edit(1, "two", "three"))
	if !strings.Contains(got["1"], "tree on branch topic") || strings.Contains(again["1"], "branch") {
		t.Errorf("%s\n%s", got["1"], again["1"])
	}
	status := answers(t, run(main, "mcp"), rpc(1, "tools/call", `{"name":"get_index_status","arguments":{}}`), edit(2, "nowhere", "x"))
	if !strings.Contains(status["1"], "not_found") && !strings.Contains(status["1"], `\"branch\": \"trunk\"`) {
		t.Errorf("status: %s", status["1"])
	}
	for dir, want := range map[string]string{main: "one\n", tree: "three\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != want {
			t.Errorf("%s has %q, %v, want %q", dir, data, err, want)
		}
	}
	// After the client's hooks report another checkout, changes in the old one are refused.
	before := func(dir string) {
		cmd := run(dir, "hook", "before-tool")
		event, err := json.Marshal(map[string]string{"cwd": filepath.Join(dir, "sub"), "hook_event_name": "PreToolUse", "tool_name": "mcp__quarry__edit_file"})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(event)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("hook: %v %s", err, out)
		}
	}
	moving := func(to string) string {
		server := run(tree, "mcp", "--profile", "code")
		in, err := server.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		fmt.Fprintln(in, helloLine)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		before(to)
		fmt.Fprintln(in, edit(1, "three", "four"))
		answer, _ := lines.ReadString('\n')
		in.Close()
		server.Wait()
		return answer
	}
	if got := moving(main); !strings.Contains(got, filepath.Base(main)+" now, but this server changes files of") || !strings.Contains(got, "tree, another checkout") {
		t.Errorf("the client has moved: %s", got)
	}
	if got := moving(tree); !strings.Contains(got, "[change ") {
		t.Errorf("the client is back: %s", got)
	}
	log := func(dir string) string { out, _ := run(dir, "log").CombinedOutput(); return string(out) }
	if in, other := log(tree), log(main); !strings.Contains(in, "a.txt") || strings.Contains(other, "a.txt") {
		t.Errorf("logs of the worktree and the main checkout:\n%s\n%s", in, other)
	}
}

// Flags limit what an agent can do.
func TestMCPFlags(t *testing.T) {
	one, two := sampleWorkspace(t), sampleWorkspace(t)
	got := answers(t, program(t, one, "mcp", "--read-only", "--no-index", "--root", "x="+one, "--root", "y="+two),
		rpc(1, "tools/list", `{}`),
		rpc(2, "tools/call", `{"name":"read_file","arguments":{"path":"y/a.txt"}}`),
		rpc(3, "tools/call", `{"name":"read_file","arguments":{"path":"a.txt"}}`),
		rpc(4, "tools/call", `{"name":"search_files","arguments":{"regex":"needle"}}`))
	if strings.Contains(got["1"], "edit_file") || strings.Contains(got["1"], `"root"`) {
		t.Errorf("tools: %s", got["1"])
	}
	if !strings.Contains(got["0"], "the roots x, y") || !strings.Contains(got["0"], "Nothing can be changed") {
		t.Errorf("instructions: %s", got["0"])
	}
	for id, want := range map[string]string{
		"2": "needle", "3": "Maybe x/a.txt or y/a.txt is meant", "4": `# x/a.txt\n  1 | one\n  2 | needle\n----\n\n# y/a.txt`,
	} {
		if !strings.Contains(got[id], want) {
			t.Errorf("call %s: %s, want %q", id, got[id], want)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--http", "0.0.0.0:0"}, "--allow-remote"},
		{[]string{"--token-file", "x"}, "are for --http"},
		{[]string{"--http", "nonsense"}, "host:port"},
		{[]string{"--http", "0", "--token-file", "nope"}, "no such file"},
		{[]string{"--profile", "nope"}, "unknown profile"},
		{[]string{"--tools", "nope"}, "no tool"},
		{[]string{"--trash", "bin"}, "system, local or none"},
		{[]string{"--root", "/"}, "root"},
		{[]string{"--root", "nope"}, "no such file"},
		{[]string{"--profile", "roo", "--root", one, "--root", "y=" + two}, "one root"},
		{[]string{"argument"}, "argument: no such file or folder"},
	} {
		out, err := program(t, one, append([]string{"mcp"}, c.args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v, %s; want %q", c.args, err, out, c.want)
		}
	}
}

// TestMCPHTTP uses HTTP with a generated token, and ends the server with a signal.
func TestMCPHTTP(t *testing.T) {
	cmd := program(t, sampleWorkspace(t), "mcp", "--http", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var url, token string
	r := bufio.NewReader(stderr)
	for url == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`Bearer (\S+)`).FindStringSubmatch(line); m != nil {
			token = m[1]
		}
		if m := regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(line); m != nil {
			url = m[1]
		}
	}
	for header, want := range map[string]int{"Bearer " + token: 200, "Bearer wrong": 401, "": 401} {
		req, _ := http.NewRequest("POST", url, strings.NewReader(helloLine))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("Authorization %q: %d, want %d", header, resp.StatusCode, want)
		}
	}
	end := cmd.Process.Signal
	if runtime.GOOS == "windows" { // Windows has no signals between processes
		end = func(os.Signal) error { return cmd.Process.Kill() }
	}
	if err := end(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("a signal did not end the server")
	}
}

// TestMCPStartTime measures the processor time of a server that answers one tools/list; the best of
// several runs counts.
func TestMCPStartTime(t *testing.T) {
	stress.SkipTiny(t)
	stress.SkipRace(t)
	stress.SkipWine(t, "the time a process takes to start")
	dir, best := sampleWorkspace(t), time.Hour
	for range 10 {
		cmd := program(t, dir, "mcp")
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(in, "%s\n%s\n", helloLine, rpc(1, "tools/list", "{}"))
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, `"id":1`) {
				break
			}
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	if t.Logf("best of 10: %v", best); best > 50*time.Millisecond {
		t.Errorf("the first tools/list cost %v at best", best)
	}
}
