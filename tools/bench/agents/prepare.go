package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// arms are the ways in which an agent works: with only a shell; with a shell, the program and its
// skill; with only the program's tools; with its tools, a shell and the program's hooks.
var arms = []string{"shell", "skill", "quarry", "hooks"}

type preparation struct {
	run, arm, kind, program, profile, tools, version string
}

// prepare creates a run: its folder, a tree for each task, the program's definitions, and the
// index. It prints the brief for the agent.
func (t trial) prepare(p preparation, out io.Writer) error {
	if !nameOfRun.MatchString(p.run) {
		return fmt.Errorf("-run: invalid name %q: letters, digits, dots and dashes", p.run)
	}
	if !slices.Contains(arms, p.arm) {
		return fmt.Errorf("-arm: %s, not %q", strings.Join(arms, ", "), p.arm)
	}
	k, err := readKind(p.kind)
	if err != nil {
		return err
	}
	r := &runRecord{Name: p.run, Arm: p.arm, Kind: p.kind, Date: time.Now(), dir: filepath.Join(t.dir, p.run)}
	if _, err := os.Stat(r.dir); err == nil {
		return fmt.Errorf("%s is there already: a run is a fresh agent on fresh trees", r.dir)
	}
	if p.arm != "shell" {
		if r.Program, err = exec.LookPath(p.program); err != nil {
			return err
		}
		if r.Program, err = filepath.Abs(r.Program); err != nil {
			return err
		}
		if p.arm == "skill" && filepath.Base(r.Program) != "quarry" {
			return errors.New("-quarry: in the arm skill the program must be called quarry")
		}
		r.Profile, r.Tools = p.profile, p.tools
		if r.Version = p.version; r.Version == "" {
			if r.Version, err = versionOf(r.Program); err != nil {
				return err
			}
		}
	} else {
		r.Version = "bash"
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "home"), 0o755); err != nil {
		return err
	}
	for _, task := range k.Tasks {
		if err := t.plant(k, task, r); err != nil {
			return err
		}
	}
	if err := t.define(r, k); err != nil {
		return err
	}
	for _, task := range k.Tasks {
		if err := t.happen(r, task); err != nil {
			return fmt.Errorf("%s: %w", task.ID, err)
		}
	}
	if err := r.save(); err != nil {
		return err
	}
	if err := t.commands(); err != nil {
		return err
	}
	return t.brief(r, out)
}

// versionOf returns the program's version, including the commit it was built from.
func versionOf(program string) (string, error) {
	text, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(text)), "quarry ")
	if info, err := buildinfo.ReadFile(program); err == nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) > 9 {
				version += " " + s.Value[:9]
			}
			if s.Key == "vcs.modified" && s.Value == "true" {
				version += "+"
			}
		}
	}
	return version, nil
}

// plant makes the tree of one task.
func (t trial) plant(k *kind, task task, r *runRecord) error {
	to := r.tree(task.ID)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if task.Shared {
		shared := filepath.Join(t.dir, "shared-"+k.Source.Name)
		if _, err := os.Stat(shared); errors.Is(err, os.ErrNotExist) {
			if err := t.export(k.Source, task.Commit, shared); err != nil {
				return err
			}
			if err := committed(shared); err != nil {
				return err
			}
		}
		return os.Symlink(shared, to)
	}
	if err := t.export(k.Source, task.Commit, to); err != nil {
		return err
	}
	return committed(to)
}

// committed makes a tree a git repository with one commit, because agents usually work in a
// repository.
func committed(dir string) error {
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"commit", "-q", "-m", "start"}} {
		c := exec.Command("git", append([]string{"-c", "user.name=trial", "-c", "user.email=trial@example.org", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "commit.gpgsign=false"}, args...)...)
		c.Dir = dir
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s in %s: %w\n%s", args[0], dir, err, text)
		}
	}
	return nil
}

// shellDefinition is the tool definition that a client with only a shell sends to its model. It
// counts as the definitions of the shell arm.
const shellDefinition = `{"name":"bash","description":"Run a command in a bash shell, in the working directory. Output is stdout and stderr; over 30,000 characters it is cut.","input_schema":{"type":"object","properties":{"command":{"type":"string","description":"The command to run"}},"required":["command"]}}`

// define writes definitions.json, with what the agent's model would receive at the start. It also
// lets the program build the index before the first call, as in a workspace that is already in use.
func (t trial) define(r *runRecord, k *kind) error {
	keep := func(name string, text []byte) error {
		r.Definitions += len(text)
		return os.WriteFile(filepath.Join(r.dir, name), append(text, '\n'), 0o644)
	}
	if r.Arm != "quarry" {
		if err := keep("shell.json", []byte(shellDefinition)); err != nil || r.Arm == "shell" {
			return err
		}
	}
	done := map[string]bool{}
	for _, task := range k.Tasks {
		tree, err := filepath.EvalSymlinks(r.tree(task.ID))
		if err != nil {
			return err
		}
		if done[tree] {
			continue
		}
		done[tree] = true
		c := exec.Command(r.Program, "index", "build", "--quiet", "--root", tree)
		c.Env = r.environment()
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("quarry index build: %w\n%s", err, text)
		}
	}
	if r.Arm == "skill" {
		text, err := exec.Command(r.Program, "skill").Output()
		if err != nil {
			return fmt.Errorf("quarry skill: %w%s", err, stderrOf(err))
		}
		return keep("skill.md", text)
	}
	s, err := t.connect(context.Background(), r, k.Tasks[0].ID, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		return err
	}
	var definitions struct {
		Instructions string `json:"instructions,omitempty"`
		Tools        any    `json:"tools"`
	}
	definitions.Instructions, definitions.Tools = s.InitializeResult().Instructions, list.Tools
	data, err := json.Marshal(definitions)
	if err != nil {
		return err
	}
	return keep("definitions.json", data)
}

// happen runs the steps before a task. In all arms but the shell's, a server records each as an
// entry of its own.
func (t trial) happen(r *runRecord, task task) error {
	if len(task.Before) == 0 {
		return nil
	}
	if r.Program != "" {
		s, err := t.connect(context.Background(), r, task.ID, nil, "--record")
		if err != nil {
			return err
		}
		defer s.Close()
	}
	for i, s := range task.Before {
		if err := s.run(r.tree(task.ID)); err != nil {
			return err
		}
		for start := time.Now(); r.Program != ""; time.Sleep(200 * time.Millisecond) {
			c := exec.Command(r.Program, "log", "--json", "--root", r.tree(task.ID))
			c.Env = r.environment()
			text, err := c.Output()
			if err != nil {
				return fmt.Errorf("quarry log: %w%s", err, stderrOf(err))
			}
			var log struct{ Changes []struct{} }
			if err := json.Unmarshal(text, &log); err != nil {
				return err
			}
			if len(log.Changes) > i {
				break
			}
			if time.Since(start) > time.Minute {
				return fmt.Errorf("step %d was not recorded", i+1)
			}
		}
	}
	return nil
}

// commands writes the scripts DIR/call, DIR/sh and DIR/answer, which agents run.
func (t trial) commands() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range []string{"call", "sh", "answer"} {
		text := fmt.Sprintf("#!/bin/sh\nexec '%s' %s -dir '%s' \"$@\"\n", self, name, t.dir)
		if err := os.WriteFile(filepath.Join(t.dir, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// brief prints all instructions for a new agent.
func (t trial) brief(r *runRecord, out io.Writer) error {
	k, err := readKind(r.Kind)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n", k.Intro)
	for _, task := range k.Tasks {
		fmt.Fprintf(out, "- %s: %s\n", task.ID, task.Text)
	}
	asks := false
	judges, err := readJudges(r.Kind)
	if err != nil {
		return err
	}
	for _, j := range judges {
		asks = asks || len(j.Answers) > 0
	}
	call, sh, answer := filepath.Join(t.dir, "call"), filepath.Join(t.dir, "sh"), filepath.Join(t.dir, "answer")
	fmt.Fprintln(out)
	only := "Your only way to see and change files is this command, which"
	if r.Arm == "hooks" {
		only = "There are two ways to see and change files, use what suits. This command"
	}
	if r.Arm == "quarry" || r.Arm == "hooks" {
		fmt.Fprintf(out, `%[5]s calls one tool with arguments as JSON:
  %[1]s %[2]s TASK TOOL <<'J'
  {"argument": "value"}
  J
Several calls in one turn (as a client would send them together; they run in order) cost one turn:
  %[1]s %[2]s TASK <<'J'
  {"tool": "TOOL", "arguments": {…}}
  {"tool": "TOOL", "arguments": {…}}
  J
TASK is the name of a task (%[3]s); each has its own copy of the tree, and paths are relative to it. First read the definitions of the tools once: %[4]s
`, call, r.Name, ids(k), filepath.Join(r.dir, "definitions.json"), only)
		only = "This command"
	}
	if r.Arm != "quarry" {
		fmt.Fprintf(out, `%[4]s runs a bash command in the tree of a task:
  %[1]s %[2]s TASK <<'J'
  command
  J
TASK is the name of a task (%[3]s); each has its own copy of the tree. There are rg (give it a path), fdfind, ls, cat, sed -n, head; for edits python3, patch or sed -i. A command may do several things.
Don't compile or run what is in the trees.
`, sh, r.Name, ids(k), only)
	}
	if r.Arm == "skill" {
		fmt.Fprintf(out, "In that shell there is also the program quarry. First read how to use it, once: %s\n", filepath.Join(r.dir, "skill.md"))
	}
	fmt.Fprintln(out, "Use no other command on the trees.")
	if asks {
		fmt.Fprintf(out, `Give what a task asks you to answer with
  %s %s TASK <<'J'
  1 the first answer
  J
`, answer, r.Name)
	}
	fmt.Fprintf(out, `At the end say, with
  %s %s words <<'J'
  …
  J
what slowed you, what misled you, which choice was unclear, which answer was too long or too short, and what you wished for; quote the calls.
`, answer, r.Name)
	return nil
}

func ids(k *kind) string {
	var list []string
	for _, t := range k.Tasks {
		list = append(list, t.ID)
	}
	return strings.Join(list, ", ")
}
