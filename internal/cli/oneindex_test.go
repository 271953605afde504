package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
	"quarry/search"
)

// shared is a workspace used by several programs that have the same home folder.
type shared struct {
	t         *testing.T
	dir, home string
}

func (s *shared) program(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := program(s.t, s.dir, args...)
	cmd.Env = []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "QUARRY_CONFIG=" + os.DevNull,
		"XDG_CACHE_HOME=" + s.home, "XDG_STATE_HOME=" + s.home, "XDG_RUNTIME_DIR=" + s.home,
	}
	return cmd
}

func (s *shared) run(args ...string) string {
	s.t.Helper()
	out, err := s.program(args...).Output()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		s.t.Fatal(args, err)
	}
	return string(out)
}

func (s *shared) status() (st search.IndexStatus) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.run("index", "status", "--json")), &st); err != nil {
		s.t.Fatal(err)
	}
	return st
}

// agent calls a tool of a newly started MCP server.
func (s *shared) agent(tool, arguments string, args ...string) string {
	s.t.Helper()
	cmd := s.program(append([]string{"mcp"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	c := &stdioClient{t: s.t, in: in, r: bufio.NewReaderSize(out, 1<<20)}
	c.line(helloLine)
	text, _ := c.call(tool, arguments)
	return text
}

// The command line, quarry serve, and MCP servers of five profiles with three policies share one
// index, which has one owner. Each answers as it would without an index.
func TestOneIndexForEveryFace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes share an index on Linux only")
	}
	s := &shared{t, t.TempDir(), t.TempDir()}
	if err := os.Chmod(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module m\n", "a.go": "needle one\n", "b.md": "needle two\n", "k.pem": "needle three\n", ".env": "needle four\n",
		"sub/c.go": "needle five\n", "sub/d.md": "nothing\n", "out/e.go": "needle six\n", ".gitignore": "out/\n", ".git/config": "needle seven\n",
	} {
		file := filepath.Join(s.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.run("index", "build", "-q")
	serve := s.program("serve", "--quiet")
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Signal(os.Interrupt); _ = serve.Wait() }()
	if !stress.Becomes(func() bool { return s.status().State == "ready" }) {
		t.Fatal("the index of the other process is never ready")
	}
	if got, want := s.run("search", "needle"), s.run("search", "--no-index", "needle"); got != want || !strings.Contains(got, "k.pem") {
		t.Errorf("the command line finds %q, without an index %q", got, want)
	}
	tools := [][3]string{
		{"quarry", "search_files", `{"path":".","regex":"needle"}`},
		{"vault", "search_files", `{"pattern":"needle"}`},
		{"roo", "search_files", `{"path":".","regex":"needle"}`},
		{"godoctor", "file_search", `{"query":"needle"}`},
		{"smcp", "search_by_path", `{"pattern":"**/*.go"}`},
	}
	policies := [][]string{nil, {"--deny", "*.md"}, {"--allow", "*.pem", "--deny", "sub"}}
	for i, tool := range tools {
		for j, policy := range policies {
			if i%3 != j && !stress.Long() {
				continue
			}
			args := append([]string{"--profile", tool[0]}, policy...)
			got := s.agent(tool[1], tool[2], args...)
			if tool[0] == "smcp" { // requires an index
				if !strings.Contains(got, `"a.go"`) || strings.Contains(got, "sub/c.go") == slices.Contains(policy, "sub") {
					t.Errorf("smcp with %q answers %s", policy, got)
				}
				continue
			}
			want := s.agent(tool[1], tool[2], append(slices.Clone(args), "--no-index")...)
			if got != want {
				t.Errorf("%s with %q answers\n%s\nwithout an index\n%s", tool[0], policy, got, want)
			}
			if len(policy) > 0 && strings.Contains(fmt.Sprint(policy), "*.md") && strings.Contains(got, ".md") {
				t.Errorf("%s with %q names denied files:\n%s", tool[0], policy, got)
			}
		}
	}
	if st := s.status(); st.PID != serve.Process.Pid || st.State != "ready" {
		t.Errorf("the owner is process %d (%s), want quarry serve, %d", st.PID, st.State, serve.Process.Pid)
	}
	if dirs, err := os.ReadDir(filepath.Join(s.home, "quarry", "index")); err != nil || len(dirs) != 1 {
		t.Errorf("%d indexes of one folder: %v, %v", len(dirs), dirs, err)
	}
}
