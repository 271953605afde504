//go:build linux

package clients

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/internal/stress"
)

// runTime limits a run. It normally takes seconds, mostly for starting the client.
const runTime = 3 * time.Minute

// client describes one of the programs, which are installed from npm.
type client struct {
	name, program string
	// args returns the arguments for an unattended run; careful returns them without the option
	// that allows everything.
	args  func(prompt string) []string
	setUp func(r *room)
	// shared is the project's settings file that is committed; "" if the client uses the user's.
	shared string
	// mayNot is what the model reads if a call was not approved.
	mayNot string
}

var all = []*client{
	{
		name: "claude-code", program: "claude", shared: ".mcp.json", mayNot: "permission",
		args: func(prompt string) []string { return []string{"-p", prompt} },
	},
	{
		name: "codex", program: "codex", mayNot: "(?i)cancel|reject|approv",
		args: func(prompt string) []string { return []string{"exec", "--skip-git-repo-check", prompt} },
		setUp: func(r *room) {
			r.write(filepath.Join(r.home, ".codex", "config.toml"), "model = \"gpt-unknown\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n"+
				"[model_providers.scripted]\nname = \"scripted\"\nbase_url = \""+r.url+"/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n")
		},
	},
	{
		name: "gemini", program: "gemini", shared: ".gemini/settings.json", mayNot: "(?i)denied|not found|requires|unavailable",
		args: func(prompt string) []string { return []string{"-m", "gemini-2.5-pro", "-p", prompt} },
		setUp: func(r *room) {
			r.write(filepath.Join(r.home, ".gemini", "settings.json"), `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}`)
		},
	},
}

// room is a user with a home folder, Quarry, one client and a model. Only this machine can be
// reached from it.
type room struct {
	t *testing.T
	*client
	top, home, quarry string
	url               string
	model             *Model
	env               []string
}

var built struct {
	dir string
	err error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "quarry-clients-")
	if err == nil {
		var out []byte
		out, err = exec.Command("go", "build", "-C", "../..", "-o", filepath.Join(dir, "quarry"), "./cmd/quarry").CombinedOutput()
		os.Stderr.Write(out)
	}
	built.dir, built.err = dir, err
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// eachClient runs a test with each of the named clients that is installed.
func eachClient(t *testing.T, names []string, test func(r *room)) {
	for _, c := range all {
		if names != nil && !slices.Contains(names, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(filepath.Join(os.Getenv("QUARRY_CLIENTS"), c.program))
			if err != nil {
				t.Skipf("%s is not here: .ci/run installs it from npm; QUARRY_CLIENTS is the folder of such programs", c.program)
			}
			if built.err != nil {
				t.Fatal(built.err)
			}
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			r := &room{t: t, client: c, top: top, home: filepath.Join(top, "home"), quarry: filepath.Join(built.dir, "quarry"), model: &Model{}}
			server := httptest.NewServer(r.model)
			t.Cleanup(server.Close)
			r.url = server.URL
			const nowhere = "http://127.0.0.1:9"
			r.env = []string{
				"HOME=" + r.home, "XDG_STATE_HOME=" + filepath.Join(top, "state"), "TMPDIR=" + top, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "LANG=C.UTF-8",
				"HTTPS_PROXY=" + nowhere, "HTTP_PROXY=" + nowhere, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
				"ANTHROPIC_BASE_URL=" + r.url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
				"SCRIPTED_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + r.url, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
			}
			if c.setUp != nil {
				c.setUp(r)
			}
			r.write(filepath.Join(r.home, ".gitconfig"), "[safe]\n\tdirectory = *\n")
			test(r)
		})
	}
}

func (r *room) write(file, text string) {
	r.t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) read(file string) string {
	r.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

const (
	calc    = "def add(a, b):\n    return a + b\n"
	changed = "def add(a, b):\n    return b + a\n"
)

// project makes a repository with a short file and one that is too long for one answer.
func (r *room) project(name string) string {
	r.t.Helper()
	dir := filepath.Join(r.top, name)
	r.write(filepath.Join(dir, "calc.py"), calc)
	r.write(filepath.Join(dir, "sub", "long.txt"), strings.Repeat("the quick brown fox jumps over the lazy dog\n", 8000))
	r.do(dir, "git", "init", "-q")
	r.do(dir, "git", "add", "-A")
	r.do(dir, "git", "commit", "-qm", "first")
	return dir
}

// do runs a command that must succeed.
func (r *room) do(dir, program string, args ...string) string {
	r.t.Helper()
	cmd := r.command(context.Background(), dir, program, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (r *room) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	if program == r.program {
		cmd = exec.CommandContext(ctx, filepath.Join(os.Getenv("QUARRY_CLIENTS"), program), args...)
	}
	cmd.Dir, cmd.Env = dir, r.env
	return cmd
}

func (r *room) install(dir string, args ...string) string {
	r.t.Helper()
	return r.do(dir, r.quarry, append([]string{"mcp", "install", "--client", r.name, "--write"}, args...)...)
}

// run lets the client carry out scripted calls and returns the conversation.
func (r *room) run(dir string, more []string, calls ...Call) *Talk {
	r.t.Helper()
	talk, prompt := r.model.Script(calls...)
	ctx, cancel := context.WithTimeout(r.t.Context(), runTime)
	defer cancel()
	cmd := r.command(ctx, dir, r.program, append(r.args(prompt), more...)...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if n := len(talk.Results()); n != len(calls) {
		r.t.Fatalf("%d of %d calls were answered: %v\n%s\n%s", n, len(calls), err, strings.Join(talk.Results(), "\n"), out)
	}
	return talk
}

func (r *room) want(got, pattern string) {
	r.t.Helper()
	if !regexp.MustCompile("(?s)" + pattern).MatchString(got) {
		r.t.Errorf("want %q in the answer for the model:\n%.600s", pattern, got)
	}
}

func (r *room) wantFile(file, want string) {
	r.t.Helper()
	if got := r.read(file); got != want {
		r.t.Errorf("%s has %q, want %q", file, got, want)
	}
}

var (
	search = Call{Tool: "search_files", Args: map[string]any{"pattern": "def add"}}
	edit   = Call{Tool: "edit_file", Args: map[string]any{"path": "calc.py", "old_text": "a + b", "new_text": "b + a"}}
)

// install writes the same entry whatever the current folder is, and doesn't change another
// project's.
func TestInstallFolders(t *testing.T) {
	eachClient(t, nil, func(r *room) {
		one, two := r.project("one"), r.project("two")
		entry := filepath.Join(one, r.shared)
		if r.shared == "" {
			entry = filepath.Join(r.home, ".codex", "config.toml")
		}
		var first string
		for _, from := range []string{"/", r.home, filepath.Join(one, "sub")} {
			r.install(from, "--root", one)
			if got := r.read(entry); first == "" {
				first = got
			} else if got != first {
				r.t.Errorf("from %s:\n%s\nbefore:\n%s", from, got, first)
			}
		}
		if strings.Contains(first, one) {
			r.t.Errorf("the entry names a folder:\n%s", first)
		}
		r.install(two)
		r.wantFile(entry, first)
	})
}

// The settings are committed, and the client works in a linked worktree. Answers are complete, or
// say where they were cut, and only the worktree's file changes.
func TestWorktree(t *testing.T) {
	eachClient(t, nil, func(r *room) {
		main, tree := r.project("main"), filepath.Join(r.top, "tree")
		r.install(main, "--allow", "all")
		if r.shared != "" {
			r.do(main, "git", "add", "-f", r.shared)
			r.do(main, "git", "commit", "-qm", "settings")
		}
		r.do(main, "git", "worktree", "add", "-q", tree)
		calls := []Call{
			search,
			{Tool: "read_file", Args: map[string]any{"path": "sub/long.txt"}},
			{Tool: "edit_file", Args: map[string]any{"path": "calc.py", "old_text": "a - b", "new_text": "x"}},
			edit,
			{Tool: "undo_change"},
			edit,
		}
		var more []string
		if r.name == "claude-code" { // the other clients don't restart a server that has ended
			more = []string{"--allowedTools", "mcp__quarry"} // the entry added by --allow is for the main checkout
			again := search
			again.Before = func() { r.endServer(tree) }
			calls = append(calls, again, search)
		}
		talk := r.run(tree, more, calls...)
		got := talk.Results()
		r.want(got[0], `1 match in 1 file.*def add`)
		r.want(got[1], `\[lines 1-\d+ of 8000; next: read_file \{"path":"sub/long.txt","start_line":\d+\}\]`)
		r.want(got[2], `not found in calc.py.*\[NOT_FOUND\]`)
		r.want(got[3], `Replaced 1 occurrence.*\[change \w+\].*\[root `+regexp.QuoteMeta(tree)+` on branch tree\]`)
		r.want(got[4], `Undid change`)
		r.want(got[5], `Replaced 1 occurrence`)
		if len(got) > 6 { // the call made just after the server ended is lost
			r.want(got[7], `1 match in 1 file`)
		}
		for _, name := range []string{"search_files", "search_code", "find_symbol", "read_file", "edit_file", "apply_changes", "replace_in_files", "undo_change"} {
			if !slices.ContainsFunc(talk.Tools(), func(t string) bool {
				return t == name || strings.HasSuffix(t, "quarry__"+name) || strings.HasSuffix(t, "quarry_"+name)
			}) {
				r.t.Errorf("the model was not shown %s: %q", name, talk.Tools())
			}
		}
		r.wantFile(filepath.Join(tree, "calc.py"), changed)
		r.wantFile(filepath.Join(main, "calc.py"), calc)
		r.want(r.do(tree, r.quarry, "log"), `replaced 1 occurrence in calc.py`) // the server uses the user's state folder
	})
}

// endServer kills the server that serves a folder.
func (r *room) endServer(dir string) {
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		r.t.Error(err)
	}
	for _, p := range procs {
		program, _ := os.Readlink(p + "/exe")
		cwd, _ := os.Readlink(p + "/cwd")
		line, _ := os.ReadFile(p + "/cmdline")
		if program != r.quarry || cwd != dir || !bytes.Contains(line, []byte("\x00mcp\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(p)); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
	r.t.Errorf("no server in %s", dir)
}

// Without a person to ask, the client must follow --allow read and --allow all as documented.
func TestApproval(t *testing.T) {
	eachClient(t, nil, func(r *room) {
		one, two := r.project("one"), r.project("two")
		r.install(one, "--allow", "read")
		got := r.run(one, nil, search, edit).Results()
		r.want(got[0], `1 match in 1 file`)
		r.want(got[1], r.mayNot)
		r.wantFile(filepath.Join(one, "calc.py"), calc)

		r.install(two, "--allow", "all")
		got = r.run(two, nil, search, edit).Results()
		r.want(got[0], `1 match in 1 file`)
		r.want(got[1], `Replaced 1 occurrence`)
		r.wantFile(filepath.Join(two, "calc.py"), changed)
		r.wantFile(filepath.Join(one, "calc.py"), calc)
	})
}

// A call waits until its change is decided, and the model gets the reason for a refusal. If the
// client is stopped meanwhile, the file is unchanged and the proposal is abandoned.
func TestReview(t *testing.T) {
	eachClient(t, []string{"claude-code"}, func(r *room) {
		dir := r.project("one")
		r.install(dir, "--allow", "all", "--review")
		refused := make(chan string, 1)
		go func() {
			refused <- r.whenWaiting(dir, func(id string) string { return r.do(dir, r.quarry, "review", "refuse", id, "-m", "keep the order") })
		}()
		got := r.run(dir, nil, edit).Results()
		<-refused
		r.want(got[0], `refused.*keep the order`)
		r.wantFile(filepath.Join(dir, "calc.py"), calc)

		_, prompt := r.model.Script(edit)
		cmd := r.command(r.t.Context(), dir, r.program, r.args(prompt)...)
		if err := cmd.Start(); err != nil {
			r.t.Fatal(err)
		}
		r.whenWaiting(dir, func(string) string { _ = cmd.Process.Signal(syscall.SIGINT); return "" })
		_ = cmd.Wait()
		left := ""
		if !stress.Becomes(func() bool { left = r.do(dir, r.quarry, "review"); return strings.Contains(left, "abandoned") }) {
			r.t.Errorf("no proposal was said to be abandoned:\n%s", left)
		}
		r.wantFile(filepath.Join(dir, "calc.py"), calc)

		// A decision made later is not reported to another session.
		r.do(dir, r.quarry, "review", "refuse", waiting.FindString(left), "-m", "too late")
		if got := r.run(dir, nil, search).Results()[0]; strings.Contains(got, "too late") {
			r.t.Errorf("the next session was told:\n%s", got)
		}
	})
}

var waiting = regexp.MustCompile(`\bp-\d+\b`)

// whenWaiting calls do with the id of the first pending proposal.
func (r *room) whenWaiting(dir string, do func(id string) string) string {
	id := ""
	stress.Becomes(func() bool {
		out, _ := r.command(context.Background(), dir, r.quarry, "review").CombinedOutput()
		id = waiting.FindString(string(out))
		return id != ""
	})
	return do(id)
}

// If the client's own tool breaks a file, a hook tells the model. The log names the client.
func TestHooks(t *testing.T) {
	eachClient(t, []string{"claude-code", "gemini"}, func(r *room) {
		dir := r.project("one")
		file := filepath.Join(dir, "calc.py")
		r.install(dir, "--allow", "all", "--record")
		r.do(dir, r.quarry, "hook", "install", "--client", r.name, "--write")
		calls := []Call{
			search,
			{Tool: "Read", Args: map[string]any{"file_path": file}},
			{Tool: "Edit", Args: map[string]any{"file_path": file, "old_string": "a + b", "new_string": "(a + b"}},
			search,
		}
		more, tool := []string{"--permission-mode", "acceptEdits"}, "Edit"
		if r.name == "gemini" {
			calls[1] = search
			calls[2] = Call{Tool: "replace", Args: map[string]any{"file_path": file, "instruction": "x", "old_string": "a + b", "new_string": "(a + b"}}
			more, tool = []string{"--approval-mode", "yolo"}, "replace"
		}
		talk := r.run(dir, more, calls...)
		r.want(talk.Last(), `calc.py no longer parses: line`)
		r.want(r.do(dir, r.quarry, "log"), `by `+tool+` of `)
	})
}
