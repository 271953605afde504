package agents

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/clients"
)

// NewHook makes quarry hook with its subcommands install and uninstall. Hook events don't get here:
// they are handled before the commands are built.
func NewHook(s env.Streams) *cobra.Command {
	cmd := command.New("hook EVENT", "Answer a hook of an MCP client",
		`Answer a hook of Claude Code, Codex or Gemini CLI: before-tool, after-tool or
session-start, with the client's JSON on standard input. After an edit by the
client's own tools it says which file no longer parses. It ends with exit code 0
and without output whenever it has nothing to say or anything goes wrong.`,
		`  quarry hook install --client claude-code
  quarry hook uninstall --client claude-code --write`,
		command.Args(1, 1), func(*cobra.Command, []string) error {
			return errors.New("quarry hook needs an event, install or uninstall")
		})
	cmd.AddCommand(hookCommand(s, "install", "Add the hooks to a client's settings",
		`Show the hooks that a client's settings need to run quarry hook, and with --write
add them. Everything else in the file stays as it is, and a copy is kept beside it.`, (*hookFlags).install),
		hookCommand(s, "uninstall", "Take the hooks out of a client's settings",
			`Take out the hooks that quarry hook install has added, with --write. A file that is
unchanged since gets its old bytes back; a file that was made is removed.`, (*hookFlags).uninstall))
	return cmd
}

type hookFlags struct {
	installFlags
	hooks *clients.Hooks
	start bool
}

func hookCommand(s env.Streams, name, short, long string, run func(*hookFlags, env.Streams, *target) error) *cobra.Command {
	f := &hookFlags{}
	f.name = "hooks"
	cmd := command.New(name+" --client NAME", short, long, "  quarry hook "+name+" --client codex --write", command.Args(0, 0), func(*cobra.Command, []string) error {
		t, err := f.target(s)
		if err != nil {
			return err
		}
		return run(f, s, t)
	})
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.client, "client", "", "the `client`: "+strings.Join(clients.HookClients, ", "))
	fl.StringVar(&f.scope, "scope", "", "settings of this `scope`: user or project")
	fl.StringVar(&f.file, "config", "", "settings `file` (default: where the client has it)")
	if name == "install" {
		fl.BoolVar(&f.start, "start", false, "let a session start quarry serve, so that what other programs change is recorded")
	}
	fl.BoolVar(&f.write, "write", false, "change the file; otherwise it is only shown")
	return cmd
}

// target finds the settings file that contains a client's hooks.
func (f *hookFlags) target(s env.Streams) (*target, error) {
	if !slices.Contains(clients.HookClients, f.client) {
		return nil, fmt.Errorf("--client %q: one of %s", f.client, strings.Join(clients.HookClients, ", "))
	}
	f.hooks = clients.HooksOf(f.client)
	if f.hooks.Project == "" && f.scope == "project" {
		return nil, fmt.Errorf("%s has no hooks of a project: --scope user", f.client)
	}
	t, err := f.installFlags.target(s)
	if err != nil || f.file != "" {
		return t, err
	}
	if t.project != "" {
		t.file, err = t.inside(f.hooks.Project)
	} else {
		var p clients.Places
		if p, err = clients.UserPlaces(runtime.GOOS, s.Env()); err == nil {
			t.file = f.hooks.User(p)
		}
	}
	if err == nil {
		t.old, err = clients.ReadSettings(t.file)
	}
	return t, err
}

func (f *hookFlags) install(s env.Streams, t *target) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if onPath(program) {
		program = "quarry"
	} else if strings.ContainsAny(program, " '") {
		program = `"` + program + `"`
	}
	base := t.old
	if f.start { // replaces hooks installed without --start
		if without, found, err := f.hooks.Remove(base); err == nil && found {
			base = without
		}
	}
	changed, err := f.hooks.Add(base, program, f.start)
	if err != nil {
		return fmt.Errorf("%s is left as it is: %w", t.file, err)
	}
	if bytes.Equal(changed, t.old) {
		s.Say("%s has them already.\n", t.file)
		return nil
	}
	shown, err := f.hooks.Add(nil, program, f.start)
	switch {
	case err != nil:
		return err
	case !f.write:
		s.Say("This would go into %s; --write puts it there:\n%s", t.file, shown)
	default:
		err = f.writeEdit(s, edit{file: t.file, old: t.old, new: changed}, "Restart "+t.Title+" to use them.\n")
	}
	if f.hooks.Note != "" && err == nil {
		s.Say("%s\n", f.hooks.Note)
	}
	return err
}

func (f *hookFlags) uninstall(s env.Streams, t *target) error {
	changed, found, err := f.hooks.Remove(t.old)
	switch {
	case err != nil:
		return fmt.Errorf("%s is left as it is: %w", t.file, err)
	case !found:
		return fmt.Errorf("%s has no hooks of this program", t.file)
	case !f.write:
		s.Say("%s has the hooks; --write takes them out.\n", t.file)
		return nil
	}
	records, err := records(s)
	return f.restoreOrRemove(s, t, records, err == nil, edit{file: t.file, old: t.old, new: changed})
}
