package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/doctor"
)

// sandboxUser is a uid without an entry in the user database. It is neither root nor the overflow
// uid, which is the user nobody.
const sandboxUser = 48151

// sandboxed is a patient whose commands run in a sandbox.
type sandboxed struct {
	*patient
	box []string // the command that makes the sandbox
	env []string // additional environment variables

	uid      uint32 // the user of commands, if the test runs as root
	messages int    // number of message files written
}

// newSandboxed returns a patient whose files belong to an ordinary user even if the test runs as
// root.
func newSandboxed(t *testing.T) *sandboxed {
	t.Helper()
	p := newPatient(t)
	program := p.copyProgram() // a sandbox may hide the original's folder
	if os.Getuid() == 0 {
		p.give(sandboxUser, program)
	}
	return &sandboxed{patient: p, uid: sandboxUser}
}

// give changes the owner of the patient's files, except that of the program, which is a link to the
// running test binary.
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

// needsBox skips a test if the sandbox doesn't work on this machine.
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

// sh runs a command line in the sandbox.
func (s *sandboxed) sh(script string, env ...string) (string, int) {
	s.t.Helper()
	cmd := s.command(script, env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (s *sandboxed) command(script string, env ...string) *exec.Cmd {
	args := append(s.box[:len(s.box):len(s.box)], "sh", "-c", script)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(append(s.patient.env[:len(s.patient.env):len(s.patient.env)], s.env...), env...)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: s.uid, Gid: s.uid}}
	}
	return cmd
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

// mcp returns a command line that sends messages to a server and waits for the answer.
func (s *sandboxed) mcp(messages, flags string) string {
	s.t.Helper()
	s.messages++
	name := fmt.Sprint("messages-", s.messages)
	s.write(name, messages)
	return "quarry mcp --root . " + flags + " < ../" + name
}

// bwrap uses bubblewrap with the patient's files writable and all other files read-only.
func (s *sandboxed) bwrap(more ...string) {
	top := filepath.Dir(s.home)
	s.box = append([]string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", top, top, "--die-with-parent"}, more...)
}

// owned changes the owner of some of the patient's files, for which the test has to run as root.
func (s *sandboxed) owned(uid int, files ...string) {
	if os.Getuid() != 0 {
		s.t.Skip("only root can give a file away")
	}
	for _, file := range files {
		if err := os.Chown(file, uid, uid); err != nil {
			s.t.Fatal(err)
		}
	}
}

// sandboxes lists sandboxes that coding agents use for tools, and kinds of home folders. Searches
// must work in all of them.
var sandboxes = []struct {
	name string
	make func(s *sandboxed)
	// closed is the shell's error message if nothing can be changed; "" if changes work.
	closed string
	// findings are the doctor's findings, except the note about owners without names.
	findings []string
	// helps is set if changes work after setting XDG_STATE_HOME.
	helps bool
}{
	{name: "bubblewrap", make: func(s *sandboxed) { s.bwrap("--unshare-all", "--share-net") }},
	{name: "bubblewrap without a network", make: func(s *sandboxed) { s.bwrap("--unshare-all") }},
	{name: "unshare -Ur", make: func(s *sandboxed) { s.box = []string{"unshare", "-Ur"} }},
	{name: "unshare -U", make: func(s *sandboxed) { s.box = []string{"unshare", "-U"} }},
	{name: "no XDG_RUNTIME_DIR", make: func(s *sandboxed) { s.env = []string{"XDG_RUNTIME_DIR="} }},
	{name: "XDG_RUNTIME_DIR of another machine", make: func(s *sandboxed) { s.env = []string{"XDG_RUNTIME_DIR=/run/user/48151"} }},
	{name: "no /proc", make: func(s *sandboxed) { s.bwrap("--tmpfs", "/proc") }, findings: []string{"no-proc"}},
	{name: "no TMPDIR", make: func(s *sandboxed) { s.bwrap("--remount-ro", "/tmp"); s.env = []string{"TMPDIR=/nowhere"} }},
	{name: "nobody", make: func(s *sandboxed) {
		s.owned(65534)
		s.uid = 65534
		s.give(65534, filepath.Join(filepath.Dir(s.home), "bin", "quarry"))
	}},
	{
		name: "a read-only home", make: func(s *sandboxed) { s.must("chmod 555 ../home") },
		closed: "permission denied", findings: []string{"place-missing", "place-missing", "trash"}, helps: true,
	}, {
		name: "a home on a read-only volume", make: func(s *sandboxed) { s.bwrap("--ro-bind", s.home, s.home) },
		closed: "read-only file system", findings: []string{"place-missing", "place-missing", "trash"}, helps: true,
	}, {
		name: "Codex: a read-only home with earlier changes", make: func(s *sandboxed) {
			for _, command := range []string{"quarry edit a.txt --old one --new two", "quarry undo", "quarry index build"} {
				if out, code := s.sh(command); code != 0 {
					s.t.Fatal(out)
				}
			}
			s.bwrap("--ro-bind", s.home, s.home)
		},
		closed: "read-only", findings: []string{"place-read-only", "place-read-only", "trash"}, helps: true,
	}, {
		name: "a home of another user", make: func(s *sandboxed) {
			s.owned(sandboxUser+1, s.home)
			if err := os.Chmod(s.home, 0o777); err != nil {
				s.t.Fatal(err)
			}
		},
		closed: "others could tamper", findings: []string{"place-not-private", "place-not-private"}, helps: true,
	}, {
		name: "no home", make: func(s *sandboxed) { s.env = []string{"HOME="} },
		closed: "no home folder is known", findings: []string{"no-home"}, helps: true,
	}, {
		name: "nothing can be written to", make: func(s *sandboxed) { s.bwrap("--ro-bind", filepath.Dir(s.home), filepath.Dir(s.home)) },
		closed: "read-only file system", findings: []string{"root-read-only", "place-missing", "place-missing", "trash"},
	},
}

// In every sandbox, all searches work at the shell, over MCP and on the page. Changes work if the
// undo log can be written; otherwise they fail with READ_ONLY and advice. The doctor's findings are
// true, and its advice is harmless.
func TestSandboxes(t *testing.T) {
	for _, c := range sandboxes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandboxed(t)
			c.make(s)
			s.needsBox()
			type step struct {
				command, env string
				code         int
				want         string
			}
			steps := []step{
				{"quarry search one", "", 0, "a.txt:1:one"},
				{s.mcp(mcpSearch, ""), "", 0, "a.txt:1"},
				{s.mcp(mcpSearch, "--read-only"), "", 0, "a.txt:1"},
			}
			if c.closed == "" {
				steps = append(steps, []step{
					{"quarry edit a.txt --old one --new two", "", 0, `Replaced 1 occurrence in "a.txt".`},
					{"quarry undo", "", 0, "Undid change"},
					{"cat a.txt", "", 0, "one\n"},
					{"quarry rm a.txt", "", 0, "a.txt"},
					{"quarry undo", "", 0, "Undid change"},
					{"quarry index build", "", 0, "Indexed 2 files"},
					{`quarry serve & until case "$(quarry index status)" in *"kept by process"*) true;; *) false;; esac; do kill -0 $! || exit 1; sleep 0.05; done; quarry search one; echo another one >> a.txt; quarry search another; kill $!; wait; echo one > a.txt`, "", 0, "a.txt:2:another one"},
					{s.mcp(mcpEdit, ""), "", 0, `Replaced 1 occurrence in \"a.txt\".`},
					{"quarry undo", "", 0, "Undid change"},
				}...)
			} else {
				steps = append(steps, []step{
					{"quarry edit a.txt --old one --new two", "", 2, c.closed},
					{"quarry edit a.txt --old one --new two", "", 2, "XDG_STATE_HOME"},
					{"quarry undo", "", 2, "XDG_STATE_HOME"},
					{"quarry index build", "", 2, "XDG_CACHE_HOME"},
					{"quarry serve", "", 2, "XDG_CACHE_HOME"},
					{s.mcp(mcpEdit, ""), "", 0, "READ_ONLY"},
					{s.mcp(mcpEdit, "--review"), "", 0, "XDG_STATE_HOME"},
				}...)
			}
			if helps := "XDG_STATE_HOME=" + filepath.Join(filepath.Dir(s.home), "r"); c.helps {
				steps = append(steps, []step{
					{"quarry edit a.txt --old one --new two", helps, 0, `Replaced 1 occurrence in "a.txt".`},
					{"quarry undo", helps, 0, "Undid change"},
					{s.mcp(mcpEdit, ""), helps, 0, `Replaced 1 occurrence in \"a.txt\".`},
				}...)
			}
			found := s.doctor()
			var ids []string
			for _, f := range found {
				ids = append(ids, f.ID)
				if run := strings.Join(f.Run, ";"); c.name != "a read-only home" && strings.Contains(run, "chmod") || strings.Contains(run, "mv ") || strings.Contains(run, "rm ") {
					t.Errorf("advice that does harm: %+v", f)
				}
				if strings.HasPrefix(f.ID, "place-") && !strings.Contains(f.Fix, "XDG_") {
					t.Errorf("advice without the variable: %+v", f)
				}
			}
			if diff := cmp.Diff(c.findings, ids); diff != "" {
				t.Errorf("doctor (-want +got):\n%s", diff)
			}
			if c.name != "bubblewrap without a network" {
				s.searchPage()
			}
			for _, step := range steps {
				out, code := s.sh(step.command, step.env)
				if code != step.code || !strings.Contains(out, step.want) {
					t.Errorf("%s %s: exit code %d, want %d and %q in\n%s", step.env, step.command, code, step.code, step.want, out)
				}
			}
			t.Logf("%d commands", len(steps)+2)
		})
	}
}

// doctor returns the doctor's findings, without the note about owners that have no name.
func (s *sandboxed) doctor() []doctor.Finding {
	s.t.Helper()
	out, _ := s.sh("quarry doctor --json --least-free 1 --proc ../proc")
	var res struct{ Findings []doctor.Finding }
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return slices.DeleteFunc(res.Findings, func(f doctor.Finding) bool { return f.ID == ownerUnverified })
}

// searchPage starts quarry ui in the sandbox and searches on its page from outside.
func (s *sandboxed) searchPage() {
	s.t.Helper()
	cmd := s.command("exec quarry ui --no-open")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line, _ := bufio.NewReader(out).ReadString('\n')
	at, token, ok := strings.Cut(strings.TrimSpace(line), "/enter#token=")
	if !ok {
		s.t.Errorf("quarry ui printed %q\n%s", line, said.String())
		return
	}
	page, err := url.Parse(at)
	if err != nil {
		s.t.Fatal(err)
	}
	req := httptest.NewRequest("GET", "http://127.0.0.1:"+page.Port()+"/api/search?q=one", nil)
	req.RequestURI, req.Host = "", page.Host
	req.Header.Set("X-Quarry-Token", token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Errorf("the page: %v", err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), "a.txt") {
		s.t.Errorf("the page answers %s %v\n%s", res.Status, err, body)
	}
}

// With --read-only, a server starts and can search and read the log, although the undo log is on a
// read-only volume.
func TestReadOnlyStateFolder(t *testing.T) {
	s := newSandboxed(t)
	if out, code := s.sh("quarry edit a.txt --old one --new two"); code != 0 {
		t.Fatal(out)
	}
	s.bwrap("--ro-bind", s.home, s.home)
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
