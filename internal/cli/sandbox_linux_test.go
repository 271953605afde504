package cli

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// sandboxUser is a user whom nothing knows: not root, and not the overflow uid as
// nobody is.
const sandboxUser = 48151

// sandboxed is a user with a home and a workspace whose commands run in a sandbox.
type sandboxed struct {
	*patient
	box []string // the command that makes the sandbox
	env []string // in addition

	messages int // files of them
}

// newSandboxed gives all the patient has to an ordinary user, if this one is root.
func newSandboxed(t *testing.T) *sandboxed {
	t.Helper()
	p := newPatient(t)
	program := p.copyProgram() // a sandbox may hide the folder of the test program
	if os.Getuid() == 0 {
		p.give(sandboxUser, program)
	}
	return &sandboxed{patient: p}
}

// give makes a user the owner of what the patient has, but for the program, which
// is a link to the one that runs.
func (p *patient) give(uid int, program string) {
	p.t.Helper()
	err := filepath.WalkDir(filepath.Dir(p.home), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || file == program {
			return err
		}
		return os.Lchown(file, uid, uid)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// needsBox skips a test whose sandbox can't be made here.
func (s *sandboxed) needsBox() {
	s.t.Helper()
	if len(s.box) == 0 {
		return
	}
	if _, err := exec.LookPath(s.box[0]); err != nil {
		s.t.Skipf("%s is not installed (Debian: bubblewrap, util-linux)", s.box[0])
	}
	if out, code := s.sh("true"); code != 0 {
		s.t.Skipf("%s can't make a sandbox here: %s", s.box[0], out)
	}
}

// sh runs a command line inside.
func (s *sandboxed) sh(script string, env ...string) (string, int) {
	s.t.Helper()
	args := append(s.box[:len(s.box):len(s.box)], "sh", "-c", script)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(append(s.patient.env[:len(s.patient.env):len(s.patient.env)], s.env...), env...)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: sandboxUser, Gid: sandboxUser}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	mcpEdit = hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"edit_file","arguments":{"path":"a.txt","old_text":"one","new_text":"three"}}}
`
	mcpSearch = hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"file_search","arguments":{"query":"one"}}}
`
)

// mcp is a command line that sends messages to a server and waits for its answer.
func (s *sandboxed) mcp(messages, flags string) string {
	s.t.Helper()
	s.messages++
	name := fmt.Sprint("messages-", s.messages)
	s.write(name, messages)
	return "quarry mcp --root . " + flags + " < ../" + name
}

// boxes are the sandboxes that coding agents run their tools in.
var boxes = []struct {
	name string
	make func(s *sandboxed)
}{
	{"bubblewrap", func(s *sandboxed) {
		top := filepath.Dir(s.home)
		s.box = []string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", top, top, "--unshare-all", "--die-with-parent"}
	}},
	{"unshare -Ur", func(s *sandboxed) { s.box = []string{"unshare", "-Ur"} }},
	{"unshare -U", func(s *sandboxed) { s.box = []string{"unshare", "-U"} }},
	{"no XDG_RUNTIME_DIR", func(s *sandboxed) { s.env = []string{"XDG_RUNTIME_DIR="} }},
	{"XDG_RUNTIME_DIR of another machine", func(s *sandboxed) { s.env = []string{"XDG_RUNTIME_DIR=/run/user/48151"} }},
}

// Where the user has a home that can be written to, everything works.
func TestSandboxes(t *testing.T) {
	for _, c := range boxes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandboxed(t)
			c.make(s)
			s.needsBox()
			tried := 0
			for _, step := range []struct{ command, want string }{
				{"quarry search one", "a.txt:1:one"},
				{"quarry edit a.txt --old one --new two", `Replaced 1 occurrence in "a.txt".`},
				{"quarry undo", "Undid change"},
				{"cat a.txt", "one\n"},
				{"quarry rm a.txt", "a.txt"},
				{"quarry undo", "Undid change"},
				{"quarry index build", "Indexed 2 files"},
				{`quarry serve & until case "$(quarry index status)" in *"kept by process"*) true;; *) false;; esac; do kill -0 $! || exit 1; sleep 0.05; done; quarry search one; kill $!; wait`, "a.txt:1:one"},
				{s.mcp(mcpEdit, ""), `Replaced 1 occurrence in \"a.txt\".`},
				{"quarry undo", "Undid change"},
				{doctorCommand, `"findings"`},
			} {
				out, code := s.sh(step.command)
				if code != 0 || !strings.Contains(out, step.want) {
					t.Errorf("%s: exit code %d, want %q in\n%s", step.command, code, step.want, out)
				}
				tried++
			}
			t.Logf("%d commands", tried)
		})
	}
}

// Where there is no home to write to, searches work, and what does not work names
// what is missing and what helps; doctor finds the same.
func TestSandboxesWithoutHome(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(s *sandboxed)
		finding string
	}{
		{"a read-only home", func(s *sandboxed) { s.must("chmod 555 ../home") }, "place-missing"},
		{"a home on a read-only volume", func(s *sandboxed) {
			top := filepath.Dir(s.home)
			s.box = []string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", top, top, "--ro-bind", s.home, s.home, "--die-with-parent"}
		}, "place-missing"},
		{"a home of another user", func(s *sandboxed) {
			if os.Getuid() != 0 {
				s.t.Skip("only root can give a folder away")
			}
			if err := os.Chown(s.home, sandboxUser+1, sandboxUser+1); err != nil {
				s.t.Fatal(err)
			}
			if err := os.Chmod(s.home, 0o777); err != nil {
				s.t.Fatal(err)
			}
		}, "place-not-private"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandboxed(t)
			c.make(s)
			s.needsBox()
			helps := "XDG_STATE_HOME=" + filepath.Join(filepath.Dir(s.home), "r")
			tried := 0
			for _, step := range []struct {
				command, env string
				code         int
				want         string
			}{
				{"quarry search one", "", 0, "a.txt:1:one"},
				{"quarry edit a.txt --old one --new two", "", 2, "set XDG_STATE_HOME to a folder of yours"},
				{"quarry undo", "", 2, "set XDG_STATE_HOME to a folder of yours"},
				{"quarry index build", "", 2, "set XDG_CACHE_HOME to a folder of yours"},
				{"quarry serve", "", 2, "set XDG_CACHE_HOME to a folder of yours"},
				{s.mcp(mcpSearch, ""), "", 2, "--read-only needs none"},
				{s.mcp(mcpSearch, "--read-only"), "", 0, "a.txt:1"},
				{doctorCommand, "", 1, `"id": "` + c.finding + `"`},
				{"quarry edit a.txt --old one --new two", helps, 0, `Replaced 1 occurrence in "a.txt".`},
				{"quarry undo", helps, 0, "Undid change"},
				{s.mcp(mcpEdit, ""), helps, 0, `Replaced 1 occurrence in \"a.txt\".`},
			} {
				out, code := s.sh(step.command, step.env)
				if code != step.code || !strings.Contains(out, step.want) {
					t.Errorf("%s %s: exit code %d, want %d and %q in\n%s", step.env, step.command, code, step.code, step.want, out)
				}
				tried++
			}
			t.Logf("%d commands", tried)
		})
	}
}

// With --read-only a server starts and searches where the undo log of earlier changes
// lies on a read-only volume; it can be read, too.
func TestReadOnlyStateFolder(t *testing.T) {
	s := newSandboxed(t)
	if out, code := s.sh("quarry edit a.txt --old one --new two"); code != 0 {
		t.Fatal(out)
	}
	top := filepath.Dir(s.home)
	s.box = []string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", top, top, "--ro-bind", s.home, s.home, "--die-with-parent"}
	s.needsBox()
	for _, step := range []struct{ command, want string }{
		{`quarry call --read-only --root . search_files '{"pattern":"two"}'`, "a.txt"},
		{`quarry call --read-only --root . list_changes '{}'`, "a.txt"},
		{`quarry call --read-only --review --root . search_files '{"pattern":"two"}'`, "a.txt"},
		{s.mcp(strings.ReplaceAll(mcpSearch, `"one"`, `"two"`), "--read-only"), "a.txt:1"},
		{"quarry log", "a.txt"},
	} {
		if out, code := s.sh(step.command); code != 0 || !strings.Contains(out, step.want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", step.command, code, step.want, out)
		}
	}
}
