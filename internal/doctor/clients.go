package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"quarry/internal/clients"
	"quarry/internal/config"
	"quarry/internal/render"
	"quarry/internal/rootfs/outside"
)

// checkConfig reads quarry.toml in the way commands do.
func (x *exam) checkConfig(context.Context) error {
	file, err := x.Config()
	var wrong *config.FileError
	if errors.As(err, &wrong) {
		f := Finding{
			ID: "config-broken", What: "The configuration file has a mistake: " + strings.ReplaceAll(wrong.Error(), "\n  ", "; "),
			Why: "Commands refuse to start, because the file is ambiguous.",
			Fix: "Correct the line; quarry help config lists the keys.",
			Run: []string{repairConfig(wrong)},
		}
		if f.Run[0] == "" {
			f.Run = nil
		}
		x.find(f)
		return nil
	}
	if err != nil {
		x.find(Finding{ID: "config-unreadable", What: fmt.Sprintf("The configuration file can't be read: %v.", err),
			Why: "Commands refuse to start.", Fix: "Make it readable, or ignore it with QUARRY_CONFIG=" + os.DevNull + "."})
		return nil
	}
	for _, r := range file.Roots("") {
		if !exists(r.Dir) {
			x.find(Finding{ID: "config-root", Note: true, What: fmt.Sprintf("%s:%d is for %s, which doesn't exist.", file.Name, r.Line, r.Dir),
				Why: "The section has no effect.", Fix: "Correct the path, or remove the section."})
		}
	}
	_, err = file.Effective(x.Getenv, x.Root)
	if err != nil {
		broken := Finding{ID: "variable-broken", What: "A variable has a wrong value: " + err.Error() + ".",
			Why: "Commands that use it refuse to start.", Fix: "Correct or remove it, also where your shell sets it."}
		if v := (*config.VariableError)(nil); errors.As(err, &v) {
			broken.Run = []string{"unset " + v.Name}
		}
		x.find(broken)
	}
	return nil
}

// repairConfig returns a command that corrects a mistake in quarry.toml: it replaces a
// word by the one probably intended, or removes the line.
func repairConfig(e *config.FileError) string {
	data, _, err := outside.Read(e.File, 4<<20)
	if err != nil {
		return ""
	}
	edit := "quarry --no-config edit --root " + render.ShellQuote(filepath.Dir(e.File)) + " " + render.ShellQuote(e.File)
	lines := bytes.SplitAfter(data, []byte("\n"))
	if e.Line > len(lines) {
		return ""
	}
	if e.Near != "" && e.Wrong != "" && bytes.Contains(lines[e.Line-1], []byte(e.Wrong)) {
		before := bytes.Count(bytes.Join(lines[:e.Line-1], nil), []byte(e.Wrong))
		return fmt.Sprintf("%s --old %s --new %s --nth %d", edit, render.ShellQuote(e.Wrong), render.ShellQuote(e.Near), before+1)
	}
	if e.Key == "" || bytes.HasPrefix(bytes.TrimSpace(lines[e.Line-1]), []byte("[")) {
		return "" // otherwise the following lines would belong to another section
	}
	return fmt.Sprintf("%s --delete %d", edit, e.Line)
}

func (x *exam) checkEnvironment(context.Context) error {
	for _, v := range config.UnknownVariables(os.Environ()) {
		f := Finding{ID: "variable-unknown", What: v.Name + " is set, and nothing reads it.", Why: "It starts as our variables do: what you meant to set is not set.",
			Fix: "Remove it, also where your shell sets it.", Run: []string{"unset " + v.Name}}
		if v.Near != "" {
			f.Fix = "Call it " + v.Near + ", also where your shell sets it."
			f.Run = []string{fmt.Sprintf(`export %s="$%s"; unset %s`, v.Near, v.Name, v.Name)}
		}
		x.find(f)
	}
	return nil
}

// checkClients reads the settings of every client that could start quarry.
func (x *exam) checkClients(context.Context) error {
	p, err := clients.UserPlaces(runtime.GOOS, x.Getenv)
	if err != nil {
		return err
	}
	for i := range clients.All {
		c := &clients.All[i]
		x.checkClient(c, "user", c.UserFile(p))
		if c.ProjectFile != "" {
			x.checkClient(c, "project", filepath.Join(x.Root, filepath.FromSlash(c.ProjectFile)))
		}
	}
	return nil
}

func (x *exam) checkClient(c *clients.Client, scope, file string) {
	text, err := clients.ReadSettings(file)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return
	}
	servers, err := c.Servers(text)
	if err != nil {
		x.brokenSettings(c, file, err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		switch e, _ := c.Read(servers[name]); {
		case e.Starts(name):
			x.checkEntry(c, scope, file, name, &e)
		case name == "quarry":
			x.find(Finding{ID: "client-foreign", Note: true, What: fmt.Sprintf("%s, entry %q of %s, starts something else than quarry mcp.", c.Title, name, file),
				Why: "quarry mcp install leaves it alone.", Fix: "Use another --name, or --replace."})
		}
	}
}

// brokenSettings reports settings that can't be read. It suggests restoring the backup
// made by quarry mcp install, if there is one.
func (x *exam) brokenSettings(c *clients.Client, file string, err error) {
	f := Finding{ID: "client-broken", What: fmt.Sprintf("The settings of %s can't be read: %s, %v.", c.Title, file, err),
		Why: "The client starts no server, or ignores all its settings.", Fix: "Correct the line by hand."}
	copies, _ := filepath.Glob(file + ".backup-*")
	slices.Sort(copies)
	for _, old := range slices.Backward(copies) {
		text, err := clients.ReadSettings(old)
		if err != nil {
			continue
		}
		if _, err := c.Servers(text); err == nil {
			f.Fix = "Correct the line by hand, or go back to the copy made when Quarry was connected; the broken file is kept."
			f.Run = []string{fmt.Sprintf("mv %s %s && cp -p %s %s", render.ShellQuote(file), render.ShellQuote(file+".broken"), render.ShellQuote(old), render.ShellQuote(file))}
			break
		}
	}
	x.find(f)
}

// checkEntry checks one entry of a client's settings that starts quarry.
func (x *exam) checkEntry(c *clients.Client, scope, file, name string, e *clients.Entry) {
	where := fmt.Sprintf("%s, entry %q of %s", c.Title, name, file)
	install := func(roots, rest []string, more ...string) []string {
		words := []string{"quarry", "mcp", "install", "--client", c.Name, "--scope", scope, "--name", name, "--config", file}
		for _, r := range roots {
			if !strings.Contains(r, "${") { // the root may be a variable of the client, written by install
				words = append(words, "--root", r)
			}
		}
		words = append(append(append(words, rest...), more...), "--write")
		for i, w := range words {
			words[i] = render.ShellQuote(w)
		}
		return []string{strings.Join(words, " ")}
	}
	command := e.Command
	roots, rest := e.Roots()
	var gone, there []string
	fixed := "" // a single folder used for all projects
	for _, r := range roots {
		dir, before := r, ""
		if name, after, named := strings.Cut(r, "="); named && !exists(r) {
			dir, before = after, name+"="
		}
		variable := strings.Contains(dir, "${")
		if filepath.IsAbs(dir) && (scope == "project" || c.UserFolder != "-" && name == "quarry") {
			fixed = dir
		} else if scope == "project" && !variable {
			dir = filepath.Join(x.Root, dir)
			r = before + dir
		}
		if variable || exists(dir) {
			there = append(there, r)
		} else {
			gone = append(gone, dir)
		}
	}
	if len(gone) > 0 && len(there) == 0 {
		there = []string{x.Root}
	}
	program, err := exec.LookPath(command)
	if err != nil {
		x.find(Finding{ID: "client-command", What: fmt.Sprintf("%s starts %s, which is not a program here.", where, command),
			Why: "The client can't start the server.", Fix: "Enter this program.", Run: install(there, rest)})
		return
	}
	if len(gone) > 0 {
		x.find(Finding{ID: "client-root", What: fmt.Sprintf("%s serves %s, which doesn't exist.", where, strings.Join(gone, ", ")),
			Why: "The server ends as soon as it is started.", Fix: "Enter a folder that exists; the command below takes " + strings.Join(there, ", ") + ".", Run: install(there, rest)})
		return
	}
	if err := x.ServerFlags(rest); err != nil {
		x.find(Finding{ID: "client-flags", What: fmt.Sprintf("%s has flags quarry mcp doesn't know: %v.", where, err),
			Why: "The server ends as soon as it is started.", Fix: "Enter it again without them.", Run: install(there, nil)})
		return
	}
	if fixed != "" {
		f := Finding{ID: "client-fixed", What: fmt.Sprintf("%s serves %s wherever it is used.", where, fixed),
			Why: "Agents in another project, or in another worktree of this one, change the files of that folder.",
			Fix: "Enter it again: it then serves the folder that " + c.Title + " works in.", Run: install([]string{x.Root}, rest, "--replace")}
		if len(roots) > 1 {
			f.Run = install(there, rest, "--replace")
		}
		x.find(f)
	}
	if x.isOlder(program) {
		x.find(Finding{ID: "client-old", What: fmt.Sprintf("%s starts %s, which is older than this program, %s.", where, program, x.Program),
			Why: "The client gets what that version can, and its faults.", Fix: "Enter this program, or replace the other one.", Run: install(there, rest)})
	}
}

// isOlder reports whether a program is another, older build. It compares files and does
// not run the program to ask for its version, because a project's settings may name any
// program.
func (x *exam) isOlder(program string) bool {
	if x.Program == "" {
		return false
	}
	theirs, err := os.Stat(program)
	if err != nil {
		return false
	}
	ours, err := os.Stat(x.Program)
	if err != nil || os.SameFile(ours, theirs) || !theirs.ModTime().Before(ours.ModTime()) {
		return false
	}
	return !sameBytes(program, x.Program)
}

// sameBytes reports whether two programs have the same content. It returns false if one
// can't be read.
func sameBytes(a, b string) bool {
	const most = 256 << 20
	one, _, err := outside.Read(a, most)
	if err != nil {
		return false
	}
	two, _, err := outside.Read(b, most)
	return err == nil && bytes.Equal(one, two)
}
