package agents

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/clients"
	"quarry/internal/config"
	"quarry/internal/profile"
	"quarry/internal/rootfs"
)

type installFlags struct {
	mcpFlags
	client  string
	scope   string
	name    string
	file    string
	command string
	write   bool
}

func newInstall(s env.Streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install --client NAME",
		Short: "Connect an MCP client to this program",
		Long: `Show what a client's settings need for it to start quarry mcp, and with --write
put it there. Everything else in the file, comments too, stays as it is, and so
does what an entry of that name has beside its command (env, timeout, disabled
and the like); a copy of the file is kept beside it. A file that can't be
understood is left alone.

The flags of quarry mcp given here become the server's. Without --profile, and if
quarry.toml names none, the entry gets the profile with which agents worked best:
notes for an Obsidian vault, code for any other folder.`,
		Example: `  quarry mcp install --client claude-code
  quarry mcp install --client claude-desktop --root ~/notes --write
  quarry mcp install --client vscode --read-only --write`,
		Args:                  command.Args(0, 0),
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return f.run(s, cmd.Flags()) },
	}
	to := command.NewFlags()
	f.addWhere(to)
	to.StringVar(&f.command, "command", "", "`program` the client starts (default: this one)")
	manual.SetGroups(cmd, append([]command.Group{{Title: "Where to", Flags: to}}, f.serverGroups()...))
	return cmd
}

// addWhere adds the flags that name an entry of a client.
func (f *installFlags) addWhere(fl *pflag.FlagSet) {
	fl.StringVar(&f.client, "client", "", "the `client`: "+strings.Join(clients.Names(), ", "))
	fl.StringVar(&f.scope, "scope", "", "settings of the user or of this project: `user` or project")
	fl.StringVar(&f.name, "name", "quarry", "`name` of the entry")
	fl.StringVar(&f.file, "config", "", "settings `file` (default: where the client has it)")
	fl.BoolVar(&f.write, "write", false, "change the file; otherwise it is only shown")
}

// settings finds the client, its settings file and the content.
func (f *installFlags) settings(s env.Streams) (c *clients.Client, file string, old []byte, err error) {
	i := slices.Index(clients.Names(), f.client)
	if f.client == "" {
		return nil, "", nil, fmt.Errorf("--client is missing: one of %s", strings.Join(clients.Names(), ", "))
	}
	if i < 0 {
		return nil, "", nil, fmt.Errorf("--client %q: one of %s", f.client, strings.Join(clients.Names(), ", "))
	}
	c = &clients.All[i]
	if f.scope == "" {
		f.scope = "user"
		if c.ByProject {
			f.scope = "project"
		}
	}
	if file, err = f.settingsFile(s, c); err != nil {
		return nil, "", nil, err
	}
	old, err = clients.ReadSettings(file)
	return c, file, old, err
}

func (f *installFlags) run(s env.Streams, flags *pflag.FlagSet) error {
	c, file, old, err := f.settings(s)
	if err != nil {
		return err
	}
	entry, err := f.entry(s, c, flags)
	if err != nil {
		return err
	}
	changed, err := c.Set(old, f.name, entry)
	if err != nil {
		return fmt.Errorf("%s is left as it is: %w\nPut this into it by hand:\n%s", file, err, strings.TrimSpace(c.EntryText(f.name, entry)))
	}
	if bytes.Equal(old, changed) {
		s.Say("%s has it already.\n", file)
		return nil
	}
	if !f.write {
		s.Say("This would go into %s; --write puts it there:\n%s", file, c.EntryText(f.name, entry))
		return nil
	}
	missing := clients.Missing(file)
	if err := writeClient(s, file, old, changed, fmt.Sprintf("Wrote %s to %s.", f.name, file), "Restart "+c.Title+" to use it."); err != nil {
		return err
	}
	records, err := records(s)
	if err == nil {
		err = records.Installed(file, f.name, old, changed, old != nil, missing)
	}
	if err != nil { // the entry is there; only its way back is less exact
		s.Say("What the file was before could not be noted, so uninstall will remove the entry alone: %v\n", err)
	}
	return nil
}

// records are those of this user.
func records(s env.Streams) (*clients.Records, error) {
	base, err := config.StateDir(s.Env())
	return &clients.Records{Dir: filepath.Join(base, "installed")}, err
}

// writeClient replaces a client's settings and says what was done.
func writeClient(s env.Streams, file string, old, changed []byte, done, next string) error {
	backup, err := clients.WriteSettings(file, old, changed, time.Now())
	if err != nil {
		return err
	}
	s.Say("%s\n", done)
	if backup != "" {
		s.Say("The file as it was: %s\n", backup)
	}
	_, err = fmt.Fprintln(s.Out, next)
	return err
}

func newUninstall(s env.Streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall --client NAME",
		Short: "Disconnect an MCP client from this program",
		Long: `Show which entry a client's settings have for quarry mcp, and with --write take
it out. A file that nobody has changed since quarry mcp install gets the bytes
back that it had before; in any other the entry alone is removed, and everything
else, comments too, stays as it is. A copy of the file is kept beside it. Indexes, the log of changes and the trash stay: quarry
index delete and quarry trash empty remove them.`,
		Example: `  quarry mcp uninstall --client claude-code
  quarry mcp uninstall --client claude-desktop --write`,
		Args: command.Args(0, 0),
		RunE: func(*cobra.Command, []string) error { return f.uninstall(s) },
	}
	f.addWhere(cmd.Flags())
	return cmd
}

func (f *installFlags) uninstall(s env.Streams) error {
	c, file, old, err := f.settings(s)
	if err != nil {
		return err
	}
	records, recordsErr := records(s)
	if recordsErr == nil {
		if before, existed, ok := records.Before(file, f.name, old); ok && f.write {
			return f.giveBack(s, c, records, file, old, before, existed)
		}
	}
	changed, err := c.Remove(old, f.name)
	switch {
	case errors.Is(err, clients.ErrNoEntry):
		return fmt.Errorf("%s has no server %s%s", file, f.name, f.otherScope(s, c))
	case err != nil:
		return fmt.Errorf("%s is left as it is: %w", file, err)
	case !f.write:
		_, err := fmt.Fprintf(s.Out, "%s has the server %s; --write takes it out.\n", file, f.name)
		return err
	}
	return writeClient(s, file, old, changed, fmt.Sprintf("Took %s out of %s.", f.name, file), "Restart "+c.Title+".")
}

// giveBack makes a file what it was before the entry was put into it.
func (f *installFlags) giveBack(s env.Streams, c *clients.Client, records *clients.Records, file string, old, before []byte, existed bool) error {
	if !existed {
		if err := records.RemoveSettings(file, f.name, old); err != nil {
			return err
		}
		s.Say("Removed %s, which was made for %s.\nRestart %s.\n", file, f.name, c.Title)
		return records.Forget(file, f.name)
	}
	next := "Restart " + c.Title + "."
	if servers, err := c.Servers(before); err == nil && servers[f.name] != nil {
		next = "It had a server " + f.name + " before, which is there again: run this once more to remove it.\n" + next
	}
	if err := writeClient(s, file, old, before, fmt.Sprintf("Took %s out of %s, which is as it was before the install.", f.name, file), next); err != nil {
		return err
	}
	return records.Forget(file, f.name)
}

// otherScope names the other settings file of a client if it has the entry.
func (f *installFlags) otherScope(s env.Streams, c *clients.Client) string {
	other := *f
	other.scope = map[string]string{"user": "project", "project": "user"}[f.scope]
	if f.file != "" {
		return ""
	}
	if _, _, old, err := other.settings(s); err == nil {
		if servers, err := c.Servers(old); err == nil && servers[f.name] != nil {
			return "\n  the settings of the " + other.scope + " have it: --scope " + other.scope
		}
	}
	return ""
}

// settingsFile finds the file to change.
func (f *installFlags) settingsFile(s env.Streams, c *clients.Client) (string, error) {
	if f.file != "" {
		return filepath.Abs(f.file)
	}
	switch f.scope {
	case "user":
		p, err := clients.UserPlaces(runtime.GOOS, s.Env())
		if err != nil {
			return "", err
		}
		return c.UserFile(p), nil
	case "project":
		if c.ProjectFile == "" {
			return "", fmt.Errorf("%s has no settings of a project: --scope user", c.Title)
		}
		here, err := env.Here()
		if err != nil {
			return "", err
		}
		root := config.FindRoot(here)
		file := filepath.Join(root, filepath.FromSlash(c.ProjectFile))
		// A repository may have a link there that leads to settings of the user.
		real := rootfs.RealPath(file)
		if rel, err := filepath.Rel(rootfs.RealPath(root), real); err != nil || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("%s leads out of the project, to %s; replace the link by a file, or name that file with --file", file, real)
		}
		return file, nil
	}
	return "", fmt.Errorf("--scope %q: user or project", f.scope)
}

func (f *installFlags) entry(s env.Streams, c *clients.Client, flags *pflag.FlagSet) (*clients.Entry, error) {
	e := &clients.Entry{Command: f.command, Args: []string{"mcp"}}
	if c.Typed {
		e.Type = "stdio"
	}
	if e.Command == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		e.Command = self
	}
	if err := f.servers.Check(len(f.roots) > 0); err != nil {
		return nil, err
	}
	// What the server would refuse is refused here, where a person reads it.
	if _, err := profile.New(nil, &profile.Options{Profile: f.profile, Tools: f.tools, ReadOnly: f.readOnly, Worker: worker()}); err != nil {
		return nil, err
	}
	if err := f.checkTrash(); err != nil {
		return nil, err
	}
	if f.servers.Given() {
		servers, err := f.servers.Args()
		e.Args = append(append(e.Args, servers...), serverArgs(flags)...)
		return e, err
	}
	roots, err := parseRoots(f.roots)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		value := r.dir
		if r.name != "" {
			value = r.name + "=" + r.dir
		}
		e.Args = append(e.Args, "--root", value)
	}
	if len(roots) == 0 {
		switch {
		case c.Folder == "":
		case c.Folder == "-":
			return nil, fmt.Errorf("%s starts servers in no folder of yours: say which one with --root", c.Title)
		case c.UserRoot && f.scope == "user":
			return nil, fmt.Errorf("%s shares one server among the windows of a user: say which folder it serves with --root, or use --scope project", c.Title)
		default:
			e.Args = append(e.Args, "--root", c.Folder)
		}
	}
	proposed, err := f.proposedProfile(s, roots, flags)
	if err != nil {
		return nil, err
	}
	if proposed != "" {
		e.Args = append(e.Args, "--profile", proposed)
	}
	e.Args = append(e.Args, serverArgs(flags)...)
	return e, nil
}

// proposedProfile is the profile that an entry names when neither --profile nor
// quarry.toml does: notes for a vault, else code, with which agents needed the fewest
// tokens for the same tasks (docs/FIGURES.md, "Agents"). It is "", which leaves the
// server its default, if --tools names tools, or if vaults and other folders are
// served together.
func (f *installFlags) proposedProfile(s env.Streams, roots []namedRoot, flags *pflag.FlagSet) (string, error) {
	if flags.Changed("profile") || flags.Changed("tools") {
		return "", nil
	}
	var dirs []string
	for _, r := range roots {
		dirs = append(dirs, r.dir)
	}
	if len(dirs) == 0 && f.scope == "project" {
		here, err := env.Here()
		if err != nil {
			return "", err
		}
		dirs = append(dirs, config.FindRoot(here))
	}
	file, err := config.Load(s.Env())
	if err != nil {
		return "", err
	}
	vaults := 0
	for _, dir := range append(dirs, "") { // "" for what is said of all folders
		set, err := file.Get(s.Env(), dir, "mcp.profile")
		if err != nil {
			return "", err
		}
		if set.Source == config.FromFile || set.Source == config.FromRoot {
			return "", nil
		}
		if dir == "" {
			continue
		}
		if at, err := os.Lstat(filepath.Join(dir, ".obsidian")); err == nil && at.IsDir() {
			vaults++
		}
	}
	switch vaults {
	case 0:
		return "code", nil
	case len(dirs):
		return "notes", nil
	}
	return "", nil
}

// serverArgs are the flags of the server that were given here.
func serverArgs(flags *pflag.FlagSet) []string {
	var args []string
	for _, name := range []string{"profile", "tools", "read-only", "trash", "allow", "deny", "force", "no-index", "structured", "no-resources", "review", "review-client", "verbose"} {
		fl := flags.Lookup(name)
		if fl == nil || !fl.Changed {
			continue
		}
		switch v := fl.Value.(type) {
		case pflag.SliceValue:
			if name == "tools" {
				args = append(args, "--tools", strings.Join(v.GetSlice(), ","))
				continue
			}
			for _, item := range v.GetSlice() {
				args = append(args, "--"+name, item)
			}
		default:
			switch {
			case v.Type() != "bool":
				args = append(args, "--"+name, v.String())
			case v.String() == "true":
				args = append(args, "--"+name)
			}
		}
	}
	return args
}
