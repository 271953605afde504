package cli

import (
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/doctor"
	"quarry/internal/stress"
)

// patient simulates a user with a home folder, a workspace, and the program in the path.
type patient struct {
	t         *testing.T
	home, dir string
	env       []string
	nobody    bool            // commands run as a user without root's rights
	ended     <-chan struct{} // closed when the process that the advice ends has exited; nil if there is none
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("advice is for a POSIX shell")
	}
	// The folder has a short name, because paths of sockets must be short.
	top, err := os.MkdirTemp("", "qd")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(top) })
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &patient{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "work")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(top, "bin")
	writeTree(t, top, map[string]string{
		"work/go.mod": "module x\n", "work/a.txt": "one\n", "home/.config/keep": "",
		"proc/sys/fs/inotify/max_user_watches": "8192\n", "proc/sys/fs/inotify/max_queued_events": "16384\n",
		// sudo and sysctl that modify the simulated /proc.
		"bin/sudo":     "#!/bin/sh\nexec \"$@\"\n",
		"bin/xdg-open": "#!/bin/sh\n", // without a browser the doctor would add a note
		"bin/sysctl":   "#!/bin/sh\nk=${2%%=*}; echo ${2#*=} > \"" + top + "/proc/sys/$(echo $k | tr . /)\"\n",
	})
	for _, name := range []string{"sudo", "sysctl", "xdg-open"} {
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The test binary behaves as quarry if it is called by that name: see TestMain.
	if err := os.Symlink(self, filepath.Join(bin, "quarry")); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(top, "r")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"HOME=" + p.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + run, "TMPDIR=" + top}
	return p
}

// sh runs a command line in the patient's environment.
func (p *patient) sh(script string, env ...string) (string, int) {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = p.dir, append(p.env[:len(p.env):len(p.env)], env...)
	if p.nobody {
		asNobody(cmd)
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (p *patient) must(script string) string {
	p.t.Helper()
	out, code := p.sh(script)
	if code != 0 {
		p.t.Fatalf("%s: exit code %d\n%s", script, code, out)
	}
	return out
}

const doctorCommand = "quarry doctor --json --least-free 1 --proc \"$TMPDIR/proc\""

// findings runs quarry doctor and returns its findings.
func (p *patient) findings(env ...string) []doctor.Finding {
	p.t.Helper()
	out, code := p.sh(doctorCommand, env...)
	var res struct{ Findings []doctor.Finding }
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		p.t.Fatalf("exit code %d: %v\n%s", code, err, out)
	}
	problems := 0
	for _, f := range res.Findings {
		if !f.Note {
			problems++
		}
		if f.What == "" || f.Why == "" {
			p.t.Errorf("%s says too little: %+v", f.ID, f)
		}
	}
	if want := min(problems, 1); code != want {
		p.t.Errorf("exit code %d with %d problems", code, problems)
	}
	// In a user namespace the owner of / has no name. This finding is about the test environment.
	return slices.DeleteFunc(res.Findings, func(f doctor.Finding) bool { return f.ID == ownerUnverified })
}

const ownerUnverified = "owner-unverified"

// wantNamedOwners skips a test of the doctor's text if the doctor would begin with a note about the
// test environment. TestSandboxes tests that note.
func (p *patient) wantNamedOwners() {
	p.t.Helper()
	if out, _ := p.sh(doctorCommand); strings.Contains(out, ownerUnverified) {
		p.t.Skip("needs a root folder whose owner has a name, which a user namespace has not")
	}
}

func (p *patient) write(name, text string) {
	p.t.Helper()
	writeTree(p.t, filepath.Dir(p.home), map[string]string{name: text})
}

// replaceIn replaces text in a file. A minimal machine may lack sed.
func (p *patient) replaceIn(name, from, to string) {
	p.t.Helper()
	before, err := os.ReadFile(filepath.Join(filepath.Dir(p.home), name))
	if err != nil {
		p.t.Fatal(err)
	}
	after := strings.ReplaceAll(string(before), from, to)
	if after == string(before) {
		p.t.Fatalf("%s doesn't contain %s", name, from)
	}
	p.write(name, after)
}

// The doctor reports exactly the planted problem, and its advice repairs it.
func TestDoctor(t *testing.T) {
	stress.SkipShort(t)
	for _, c := range []struct {
		name, id string
		plant    func(p *patient)
		env      string // an environment variable that causes the problem
	}{
		{"a key that doesn't exist", "config-broken", func(p *patient) {
			p.write("home/.config/quarry/quarry.toml", "# hiden files\n[search]\nhiden = true\n")
		}, ""},
		{"a value of the wrong type", "config-broken", func(p *patient) {
			p.write("home/.config/quarry/quarry.toml", "[search]\nhidden = true\ncontext = \"two\"\n")
		}, ""},
		{"a misspelt variable", "variable-unknown", func(*patient) {}, "QUARRY_SEARCH_HIDEN=true"},
		{"a variable with a wrong value", "variable-broken", func(*patient) {}, "QUARRY_SEARCH_CONTEXT=two"},
		{"a client that starts a program that is gone", "client-command", func(p *patient) {
			p.must("quarry mcp install --client claude-code --command /gone/quarry --profile vault --write")
		}, ""},
		{"a client that starts an older program", "client-old", func(p *patient) {
			p.must("mkdir ~/old && printf '#!/bin/sh\n' > ~/old/quarry && chmod +x ~/old/quarry && touch -d 2001-01-01 ~/old/quarry && quarry mcp install --client claude-code --command ~/old/quarry --write")
		}, ""},
		{"a client that serves a folder that is gone", "client-root", func(p *patient) {
			p.must("mkdir old && quarry mcp install --client claude-desktop --root old --read-only --write && rmdir old")
		}, ""},
		{"a client's entry with a flag of the past", "client-flags", func(p *patient) {
			p.must("quarry mcp install --client cursor --scope project --write")
			p.replaceIn("work/.cursor/mcp.json", `"mcp"`, `"mcp", "--fast"`)
		}, ""},
		{"a client's settings cut off", "client-broken", func(p *patient) {
			p.write("home/.cursor/mcp.json", "{\"mcpServers\": {}}\n")
			p.must("quarry mcp install --client cursor --scope user --root . --write && echo '{' > ~/.cursor/mcp.json")
		}, ""},
		{"a client in TOML that serves a folder that is gone", "client-root", func(p *patient) {
			p.must("mkdir old && quarry mcp install --client codex --command quarry --name old --root old --write && rmdir old")
		}, ""},
		{"shared settings with an absolute root", "client-fixed", func(p *patient) {
			p.must("quarry mcp install --client claude-code --write")
			p.replaceIn("work/.mcp.json", `"mcp"`, `"mcp", "--root", "`+p.dir+`"`)
		}, ""},
		{"a client's only entry with the root of another project", "client-fixed", func(p *patient) {
			p.must("mkdir ~/.codex ~/app && printf '[mcp_servers.quarry]\ncommand = \"%s\"\nargs = [\"mcp\", \"--root\", \"%s\"]\n' $(command -v quarry) ~/app > ~/.codex/config.toml")
		}, ""},
		{"a damaged index", "index-damaged", func(p *patient) {
			p.must(`quarry index build -q && for f in ~/.cache/quarry/index/*/seg*; do printf 'xxxx' | dd of=$f bs=1 seek=20 conv=notrunc 2>/dev/null; done`)
		}, ""},
		{"a socket without a listener", "socket-stale", func(p *patient) { p.staleSocket() }, ""},
		{"a change cut short", "journal-unfinished", func(p *patient) { p.cutChange() }, ""},
		{"a temporary file of a process of the last boot", "temporary-files", func(p *patient) {
			p.must("mkdir sub && : > sub/.quarry-tmp-w-deadbeef-00000001-4711-99-00112233445566778899aabb")
		}, ""},
		{"state that others can read", "place-open", func(p *patient) {
			p.must("quarry write b.txt --content x && chmod 755 ~/.local/state/quarry")
		}, ""},
		{"a trash that is a file", "trash", func(p *patient) { p.write("home/.local/share/Trash", "x") }, ""},
		{"a rule that hides everything", "all-ignored", func(p *patient) { p.write("work/.gitignore", "# all\n*\n") }, ""},
		{"too few watches", "inotify-user-watches", func(p *patient) {
			p.must("mkdir -p d/1 d/2 d/3")
			p.write("proc/sys/fs/inotify/max_user_watches", "3\n")
		}, ""},
		{"indexes over their limit", "index-cap", func(p *patient) {
			p.must("mkdir -p ../other && touch ../other/go.mod && echo two > ../other/b.txt && quarry index build -q --root ../other && quarry index build -q")
			p.write("home/.config/quarry/quarry.toml", "[index]\nmax-size = 10\n")
		}, ""},
		{"a folder inside with an index of its own", "index-nested", func(p *patient) {
			p.must("mkdir sub && echo two > sub/b.txt && quarry index build -q --root sub && quarry index build -q")
		}, ""},
		{"a folder around with an index of its own", "index-nested", func(p *patient) { p.must("quarry index build -q --root .. && quarry index build -q") }, ""},
		{"a second index of this folder", "index-twice", func(p *patient) {
			p.must("quarry index build -q && cp -R ~/.cache/quarry/index/work-* ~/.cache/quarry/index/work-2")
		}, ""},
		{"an index of a folder that is gone", "index-gone", func(p *patient) {
			p.must("mkdir ../old && echo two > ../old/b.txt && quarry index build -q --root ../old && rm -r ../old")
		}, ""},
		{"a process that holds the index and is suspended", "index-silent", func(p *patient) { p.suspended() }, ""},
		{"a server whose program was replaced", "owner-program", func(p *patient) {
			p.must("mkdir ../bin2 && cp -L ../bin/quarry ../bin2/quarry")
			p.serve(filepath.Join(filepath.Dir(p.home), "bin2", "quarry"))
			p.must("cp -L ../bin/quarry ../bin2/new && mv ../bin2/new ../bin2/quarry")
		}, ""},
		{"an unreadable folder", "unreadable", func(p *patient) { p.must("mkdir secret && chmod 000 secret") }, ""},
		{"a workspace that can't be written to", "root-read-only", func(p *patient) { p.must("chmod 555 .") }, ""},
		{"a state folder that can't be made", "place-missing", func(p *patient) {
			p.must("mkdir -p -m 700 ~/.cache/quarry && mkdir -p -m 700 ~/.local/share && mkdir ~/.local/state && chmod 555 ~/.local/state")
		}, ""},
		{"a cache that can't be written to", "place-read-only", func(p *patient) { p.must("mkdir -p -m 700 ~/.cache/quarry && chmod 500 ~/.cache/quarry") }, ""},
		{"too short a queue", "inotify-queued-events", func(p *patient) { p.write("proc/sys/fs/inotify/max_queued_events", "16\n") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			if os.Getuid() == 0 && slices.Contains([]string{"unreadable", "root-read-only", "place-missing", "place-read-only"}, c.id) {
				p.becomeNobody() // root's access is not restricted
			}
			var env []string
			if c.env != "" {
				env = append(env, c.env)
			} else if got := p.findings(); len(got) > 0 {
				t.Fatalf("before: %+v", got)
			}
			c.plant(p)
			got := p.findings(env...)
			if len(got) != 1 || got[0].ID != c.id {
				t.Fatalf("found %+v, want one %s", got, c.id)
			}
			if len(got[0].Run) == 0 {
				t.Fatalf("no command to repair it: %+v", got[0])
			}
			script := strings.Join(got[0].Run, " && ")
			if c.env != "" { // an environment variable can only be changed in the user's shell
				script += " && " + doctorCommand
			}
			out, code := p.sh(script, env...)
			if code != 0 {
				t.Fatalf("%s: exit code %d\n%s", script, code, out)
			}
			if p.ended != nil { // it was killed, but may not have exited yet
				select {
				case <-p.ended:
				case <-time.After(time.Minute):
					t.Fatalf("after %s the process is still there\n%s", script, out)
				}
			}
			if c.env == "" {
				if left := p.findings(); len(left) > 0 {
					t.Errorf("after %s: %+v\n%s", script, left, out)
				}
			}
			p.must("quarry search one")
		})
	}
}

// becomeNobody gives all the patient's files to an unprivileged user.
func (p *patient) becomeNobody() {
	p.t.Helper()
	top, own := filepath.Dir(p.home), p.copyProgram()
	err := filepath.WalkDir(top, func(file string, e fs.DirEntry, err error) error {
		if err != nil || file == own || e.Type() == fs.ModeSymlink {
			return err
		}
		return os.Chown(file, 65534, -1)
	})
	if err != nil {
		p.t.Skipf("can't become another user: %v", err)
	}
	p.nobody = true
}

// copyProgram copies the program to a folder that other users can read. They can't read the folder
// in which Go compiles tests.
func (p *patient) copyProgram() (own string) {
	p.t.Helper()
	program, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	own = filepath.Join(filepath.Dir(p.home), "bin", "quarry")
	if err := os.Remove(own); err != nil {
		p.t.Fatal(err)
	}
	if os.Link(program, own) != nil { // the folder is on another file system
		if out, err := exec.Command("cp", program, own).CombinedOutput(); err != nil {
			p.t.Fatalf("%v %s", err, out)
		}
	}
	return own
}

// suspended starts a process that owns the index and stops it with a signal.
func (p *patient) suspended() {
	p.t.Helper()
	if _, err := exec.LookPath("fuser"); err != nil {
		p.t.Skip("fuser is not installed (Debian: psmisc)")
	}
	pid := p.serve(filepath.Join(filepath.Dir(p.home), "bin", "quarry"))
	p.must("kill -STOP " + strconv.Itoa(pid))
}

// serve starts a program that owns the index until the doctor's advice ends it.
func (p *patient) serve(program string) (pid int) {
	p.t.Helper()
	serve := exec.Command(program, "serve")
	serve.Dir, serve.Env = p.dir, p.env
	if err := serve.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		serve.Wait()
		close(ended)
	}()
	p.ended = ended
	p.t.Cleanup(func() {
		serve.Process.Kill()
		<-ended
	})
	p.must("until case $(quarry index status) in *state*ready*) ;; *) false ;; esac; do sleep 0.02; done")
	return serve.Process.Pid
}

// staleSocket leaves a socket at the index owner's path.
func (p *patient) staleSocket() {
	p.t.Helper()
	p.must("quarry index build -q")
	dirs, err := filepath.Glob(filepath.Join(p.home, ".cache/quarry/index/*"))
	if err != nil || len(dirs) != 1 {
		p.t.Fatal(dirs, err)
	}
	run := filepath.Join(filepath.Dir(p.home), "r", "quarry")
	if err := os.MkdirAll(run, 0o700); err != nil {
		p.t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, filepath.Base(dirs[0])+".sock"), Net: "unix"})
	if err != nil {
		p.t.Skipf("the temporary folder's name is too long for a socket, set TMPDIR to a shorter one: %v", err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

// cutChange makes an undo log whose last change is unfinished, as after a crash: the final record
// is missing, and the process that wrote it has ended.
func (p *patient) cutChange() {
	p.t.Helper()
	p.must("quarry write b.txt --content before && quarry write b.txt --content after")
	segments, err := filepath.Glob(filepath.Join(p.home, ".local/state/quarry/*/journal/*.seg"))
	if err != nil || len(segments) != 1 {
		p.t.Fatal(segments, err)
	}
	whole, err := os.ReadFile(segments[0])
	if err != nil {
		p.t.Fatal(err)
	}
	// Find the shortest cut that leaves the change open: right after its intent.
	for n := len(whole) - 1; n > 0; n-- {
		if err := os.WriteFile(segments[0], whole[:n], 0o600); err != nil {
			p.t.Fatal(err)
		}
		if out := p.must("quarry doctor --json --proc /none || true"); strings.Contains(out, "journal-unfinished") && !strings.Contains(out, "journal-damaged") {
			return
		}
		if len(whole)-n > 400 {
			p.t.Fatal("no cut leaves an unfinished change")
		}
	}
}

// A nearly full disk is reported for the workspace, and also for the state folder if that is on
// another disk.
func TestDoctorRoom(t *testing.T) {
	p := newPatient(t)
	p.wantNamedOwners()
	out, code := p.sh("quarry doctor --proc \"$TMPDIR/proc\" --least-free 9000000000000000000")
	if n := strings.Count(out, "Problem: "); code != 1 || n < 1 || n > 3 || !strings.HasPrefix(out, "Problem: The disk of "+p.dir+" has only") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// Several checks need a home folder; without one, the doctor reports that once.
func TestDoctorNoHome(t *testing.T) {
	p := newPatient(t)
	got := p.findings("HOME=")
	if len(got) != 1 || got[0].ID != "no-home" {
		t.Errorf("found %+v, want one no-home", got)
	}
}

func TestDoctorText(t *testing.T) {
	p := newPatient(t)
	p.wantNamedOwners()
	out := p.must("quarry doctor --least-free 1 --proc \"$TMPDIR/proc\"")
	want := "All is well with " + p.dir + ".\n"
	if !strings.HasPrefix(out, want) {
		t.Errorf("%s, want %s", out, want)
	}
	p.write("work/.ignore", "*\n")
	out, code := p.sh("quarry doctor .")
	wantText := `Problem: Ignore rules hide every file of ` + p.dir
	if code != 1 || !strings.HasPrefix(strings.Join(strings.Fields(out), " "), wantText) {
		t.Errorf("exit code %d\n%s", code, cmp.Diff(wantText, out))
	}
	if _, code := p.sh("quarry doctor nowhere"); code != exitError {
		t.Errorf("of a folder that isn't there: exit code %d", code)
	}
}
