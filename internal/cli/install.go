package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/config"
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

func newInstall(s Streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install --client NAME",
		Short: "Connect an MCP client to this program",
		Long: `Show what a client's settings need for it to start quarry mcp, and with --write
put it there. Everything else in the file, comments too, stays as it is; a copy
of the file is kept beside it. A file that can't be understood is left alone.

The flags of quarry mcp given here become the server's.`,
		Example: `  quarry mcp install --client claude-code
  quarry mcp install --client claude-desktop --root ~/notes --write
  quarry mcp install --client vscode --read-only --write`,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return f.run(s, cmd.Flags()) },
	}
	to := newFlagSet()
	to.StringVar(&f.client, "client", "", "the `client`: "+strings.Join(clientNames(), ", "))
	to.StringVar(&f.scope, "scope", "", "settings of the user or of this project: `user` or project")
	to.StringVar(&f.name, "name", "quarry", "`name` of the entry")
	to.StringVar(&f.file, "config", "", "settings `file` (default: where the client has it)")
	to.StringVar(&f.command, "command", "", "`program` the client starts (default: this one)")
	to.BoolVar(&f.write, "write", false, "change the file; otherwise it is only shown")
	setGroups(cmd, append([]flagGroup{{"Where to", to}}, f.serverGroups()...))
	return cmd
}

func (f *installFlags) run(s Streams, flags *pflag.FlagSet) error {
	i := slices.Index(clientNames(), f.client)
	if i < 0 {
		return fmt.Errorf("--client %q: one of %s", f.client, strings.Join(clientNames(), ", "))
	}
	c := &mcpClients[i]
	if f.scope == "" {
		f.scope = "user"
		if c.byProject {
			f.scope = "project"
		}
	}
	file, err := f.settingsFile(s, c)
	if err != nil {
		return err
	}
	entry, err := f.entry(c, flags)
	if err != nil {
		return err
	}
	old, err := readSettings(file)
	if err != nil {
		return err
	}
	changed, err := c.set(old, f.name, entry)
	if err != nil {
		return fmt.Errorf("%s is left as it is: %w\nPut this into it by hand:\n%s", file, err, strings.TrimSpace(entryText(c, f.name, entry)))
	}
	if bytes.Equal(old, changed) {
		fmt.Fprintf(s.Out, "%s has it already.\n", file)
		return nil
	}
	if !f.write {
		fmt.Fprintf(s.Out, "This would go into %s; --write puts it there:\n%s", file, entryText(c, f.name, entry))
		return nil
	}
	backup, err := writeSettings(file, old, changed, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Wrote %s to %s.\n", f.name, file)
	if backup != "" {
		fmt.Fprintf(s.Out, "The file as it was: %s\n", backup)
	}
	fmt.Fprintf(s.Out, "Restart %s to use it.\n", c.title)
	return nil
}

// settingsFile finds the file to change.
func (f *installFlags) settingsFile(s Streams, c *mcpClient) (string, error) {
	if f.file != "" {
		return filepath.Abs(f.file)
	}
	switch f.scope {
	case "user":
		p, err := userPlaces(runtime.GOOS, s.getenv())
		if err != nil {
			return "", err
		}
		return c.user(p), nil
	case "project":
		if c.project == "" {
			return "", fmt.Errorf("%s has no settings of a project: --scope user", c.title)
		}
		here, err := os.Getwd()
		if err != nil {
			return "", err
		}
		return filepath.Join(config.FindRoot(here), filepath.FromSlash(c.project)), nil
	}
	return "", fmt.Errorf("--scope %q: user or project", f.scope)
}

// serverEntry is how clients describe a server they start. The order is the
// one people write.
type serverEntry struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (f *installFlags) entry(c *mcpClient, flags *pflag.FlagSet) (*serverEntry, error) {
	e := &serverEntry{Command: f.command, Args: []string{"mcp"}}
	if c.typed {
		e.Type = "stdio"
	}
	if e.Command == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		e.Command = self
	}
	if err := f.check(len(f.roots) > 0); err != nil {
		return nil, err
	}
	if f.set() {
		servers, err := f.args()
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
		case c.folder == "":
		case c.folder == "-":
			return nil, fmt.Errorf("%s starts servers in no folder of yours: say which one with --root", c.title)
		case c.userRoot && f.scope == "user":
			return nil, fmt.Errorf("%s shares one server among the windows of a user: say which folder it serves with --root, or use --scope project", c.title)
		default:
			e.Args = append(e.Args, "--root", c.folder)
		}
	}
	e.Args = append(e.Args, serverArgs(flags)...)
	return e, nil
}

// serverArgs are the flags of the server that were given here.
func serverArgs(flags *pflag.FlagSet) []string {
	var args []string
	for _, name := range []string{"profile", "tools", "read-only", "trash", "allow", "deny", "force", "no-index", "structured", "verbose"} {
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

// entryText is the entry alone, in the object it goes into.
func entryText(c *mcpClient, name string, e *serverEntry) string {
	text, err := c.set(nil, name, e)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(text)
}

// readSettings reads a settings file; one that isn't there is empty.
func readSettings(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	const most = 64 << 20
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is not a settings file", file)
	}
	return os.ReadFile(file)
}

// writeSettings replaces a file by a new one in one step, after copying it. It
// refuses when somebody has changed the file since it was read. A symlink, as
// dotfiles often are, keeps pointing where it does.
func writeSettings(file string, old, text []byte, now time.Time) (backup string, err error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
		backup = file + ".backup-" + now.Format("20060102-150405")
		if err := writeNew(backup, old, mode); err != nil {
			return "", fmt.Errorf("no backup, so nothing was changed: %w", err)
		}
	}
	temp := fmt.Sprintf("%s.quarry-%d", file, os.Getpid())
	if err := writeNew(temp, text, mode); err != nil {
		return backup, err
	}
	if current, err := readSettings(file); err != nil || !bytes.Equal(current, old) {
		return backup, errors.Join(errors.New("the file was changed meanwhile: try again"), err, os.Remove(temp))
	}
	if err := os.Rename(temp, file); err != nil {
		return backup, errors.Join(err, os.Remove(temp))
	}
	return backup, nil
}

// writeNew writes a file that must not exist, down to the disk.
func writeNew(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
