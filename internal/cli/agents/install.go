package agents

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	replace bool
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
understood is left alone, and so is an entry that serves another folder, unless
--replace is given.

Settings of a project go into the project that --root names, or else the current
one. With quarry on PATH they hold no absolute path and can be committed: a
server that is started in a worktree serves that worktree.

The client's own settings for calling tools without asking are added only with
--allow read (tools that change nothing) or --allow all. They are shown first.

The flags of quarry mcp given here become the server's. Without --profile, and if
quarry.toml names none, the entry gets the profile with which agents worked best:
notes for an Obsidian vault, code for any other folder.`,
		Example: `  quarry mcp install --client claude-code
  quarry mcp install --client claude-code --allow read
  quarry mcp install --client claude-desktop --root ~/notes --write
  quarry mcp install --client vscode --read-only --write`,
		Args:                  command.Args(0, 0),
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return f.run(s, cmd.Flags()) },
	}
	to := command.NewFlags()
	f.addWhere(to)
	to.StringVar(&f.command, "command", "", "`program` the client starts (default: this one)")
	to.BoolVar(&f.replace, "replace", false, "replace an entry that serves another folder")
	groups := append([]command.Group{{Title: "Where to", Flags: to}}, f.serverGroups()...)
	for _, g := range groups {
		if fl := g.Flags.Lookup("allow"); fl != nil {
			fl.Usage = "add the client's settings for calling tools without\nasking: read or all; any other value is a `glob`, as of quarry mcp"
		}
	}
	manual.SetGroups(cmd, groups)
	return cmd
}

// addWhere adds the flags that identify a client's settings and the entry in them.
func (f *installFlags) addWhere(fl *pflag.FlagSet) {
	fl.StringVar(&f.client, "client", "", "the `client`: "+strings.Join(clients.Names(), ", "))
	fl.StringVar(&f.scope, "scope", "", "settings of this `scope`: user or project")
	fl.StringVar(&f.name, "name", "quarry", "`name` of the entry")
	fl.StringVar(&f.file, "config", "", "settings `file` (default: where the client has it)")
	fl.BoolVar(&f.write, "write", false, "change the file; otherwise it is only shown")
}

// target is the entry to change in a client's settings.
type target struct {
	*clients.Client
	project string // the project whose settings are changed; "" for the user's settings
	file    string
	old     []byte // current content of the settings file
	roots   []namedRoot
}

// target finds the client and its settings.
func (f *installFlags) target(s env.Streams) (*target, error) {
	i := slices.Index(clients.Names(), f.client)
	if f.client == "" {
		return nil, fmt.Errorf("--client is missing: one of %s", strings.Join(clients.Names(), ", "))
	}
	if i < 0 {
		return nil, fmt.Errorf("--client %q: one of %s", f.client, strings.Join(clients.Names(), ", "))
	}
	if f.name == "" {
		return nil, errors.New("--name is empty")
	}
	t := &target{Client: &clients.All[i]}
	if f.scope == "" {
		f.scope = "user"
		if t.ByProject {
			f.scope = "project"
		}
	}
	var err error
	if t.roots, err = parseRoots(f.roots); err != nil {
		return nil, err
	}
	switch f.scope {
	case "user":
		var p clients.Places
		if p, err = clients.UserPlaces(runtime.GOOS, s.Env()); err == nil {
			t.file = t.UserFile(p)
		}
	case "project":
		err = t.inProject()
	default:
		err = fmt.Errorf("--scope %q: user or project", f.scope)
	}
	if f.file != "" {
		t.file, err = filepath.Abs(f.file)
	}
	if err != nil {
		return nil, err
	}
	t.old, err = clients.ReadSettings(t.file)
	return t, err
}

// inProject selects the settings file of a project: that of the only root, or else the current one.
func (t *target) inProject() (err error) {
	given := ""
	if len(t.roots) == 1 && t.roots[0].name == "" {
		given = t.roots[0].dir
	} else if given, err = env.Here(); err != nil {
		return err
	}
	if t.project, err = env.RealPath(config.FindRoot(given)); err != nil {
		return err
	}
	if t.ProjectFile == "" {
		return fmt.Errorf("%s has no settings of a project: --scope user", t.Title)
	}
	t.file, err = t.inside(t.ProjectFile)
	return err
}

// inside returns the path of a settings file of the project. It refuses a link that leads out of
// the project, because a repository may contain one to the user's settings.
func (t *target) inside(name string) (string, error) {
	file := filepath.Join(t.project, filepath.FromSlash(name))
	real := rootfs.RealPath(file)
	if rel, err := filepath.Rel(rootfs.RealPath(t.project), real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s leads out of the project, to %s; replace the link by a file, or name that file with --config", file, real)
	}
	return file, nil
}

// edit is a settings file before and after a change.
type edit struct {
	file     string
	old, new []byte
	shown    string // the added lines
}

func (f *installFlags) run(s env.Streams, flags *pflag.FlagSet) error {
	approve, err := f.approveLevel(flags)
	if err != nil {
		return err
	}
	t, err := f.target(s)
	if err != nil {
		return err
	}
	entry, notes, err := f.entry(s, t, flags)
	if err != nil {
		return err
	}
	if err := f.mayReplace(t, entry); err != nil {
		return err
	}
	approval, err := f.approval(t, entry, approve)
	if err != nil {
		return err
	}
	approved := false
	if approve != "all" {
		if approved, err = f.approvesAll(s, t, entry); err != nil {
			return err
		}
	}
	switch {
	case approve != "" && approved:
		return fmt.Errorf("%s already calls every tool of %s without asking; quarry mcp uninstall --client %s --write takes that out", t.Title, f.name, f.client)
	case approve != "":
		entry.More = append(entry.More, approval.Entry...)
		notes = append(notes, approval.Note)
	case approved:
		notes = append(notes, t.Title+" calls every tool of "+f.name+" without asking.")
	case len(approval.Entry)+len(approval.Lists) > 0:
		notes = append(notes, t.Title+" asks before it calls a tool: --allow read or --allow all adds its settings for not asking.")
	}
	changed, err := t.Set(t.old, f.name, entry)
	if err != nil {
		return fmt.Errorf("%s is left as it is: %w\nPut this into it by hand:\n%s", t.file, err, strings.TrimSpace(t.EntryText(f.name, entry)))
	}
	edits := []edit{{t.file, t.old, changed, t.EntryText(f.name, entry)}}
	if approve != "" {
		if edits, err = f.addLists(s, t, approval.Lists, edits); err != nil {
			return err
		}
	}
	edits = slices.DeleteFunc(edits, func(e edit) bool { return bytes.Equal(e.old, e.new) })
	if len(edits) == 0 {
		s.Say("%s has it already.\n", t.file)
	}
	if !f.write {
		for i, e := range edits {
			format := "This would go into %s; --write puts it there:\n%s"
			if i > 0 {
				format = "And into %s:\n%s"
			}
			s.Say(format, e.file, e.shown)
		}
	}
	for i, e := range edits {
		if !f.write {
			break
		}
		next := ""
		if i == len(edits)-1 {
			next = "Restart " + t.Title + " to use it.\n"
		}
		if err := f.writeEdit(s, e, next); err != nil {
			return err
		}
	}
	for _, n := range notes {
		if n != "" {
			s.Say("%s\n", n)
		}
	}
	return nil
}

// writeEdit writes one file and records its old content for uninstall.
func (f *installFlags) writeEdit(s env.Streams, e edit, next string) error {
	missing := clients.Missing(e.file)
	if err := writeClient(s, e.file, e.old, e.new, fmt.Sprintf("Wrote %s to %s.", f.name, e.file), next); err != nil {
		return err
	}
	records, err := records(s)
	if err == nil {
		err = records.Installed(e.file, f.name, e.old, e.new, e.old != nil, missing)
	}
	if err != nil { // the entry was written; only uninstall can't restore the exact old file
		s.Say("The old text of the file could not be kept, so uninstall will remove the entry alone: %v\n", err)
	}
	return nil
}

// approveLevel removes the words read and all from the values of --allow and returns the one given.
// The other values are globs for the server.
func (f *installFlags) approveLevel(flags *pflag.FlagSet) (level string, err error) {
	f.allow = slices.DeleteFunc(f.allow, func(v string) bool {
		found := v == "read" || v == "all"
		if found && level != "" && level != v {
			err = errors.New("--allow read and --allow all exclude each other")
		}
		if found {
			level = v
		}
		return found
	})
	if list, ok := flags.Lookup("allow").Value.(pflag.SliceValue); ok && err == nil {
		err = list.Replace(f.allow)
	}
	return level, err
}

// approval returns the client settings that let the entry's tools run without asking the user.
func (f *installFlags) approval(t *target, entry *clients.Entry, level string) (clients.Approval, error) {
	named := f.profile
	if i := slices.Index(entry.Args, "--profile"); i >= 0 {
		named = entry.Args[i+1]
	}
	tools, err := profile.New(nil, &profile.Options{Profile: named, Tools: f.tools, ReadOnly: true})
	if err != nil {
		return clients.Approval{}, err
	}
	a := &clients.Approving{Server: f.name, All: level != "read"}
	for _, tool := range tools.Tools() {
		a.Reads = append(a.Reads, tool.Name)
	}
	return t.Approval(a), nil
}

// approvesAll reports whether the settings have the approval of --allow all.
func (f *installFlags) approvesAll(s env.Streams, t *target, entry *clients.Entry) (bool, error) {
	a, err := f.approval(t, entry, "all")
	if err != nil {
		return false, err
	}
	if len(a.Lists) > 0 { // the first one approves the calls
		file, err := f.listFile(s, t, &a.Lists[0])
		if err != nil {
			return false, err
		}
		text, err := clients.ReadSettings(file)
		return a.Lists[0].Has(text), err
	}
	servers, _ := t.Servers(t.old) // Set reports the error
	members, _ := servers[f.name].(map[string]any)
	return len(a.Entry) > 0 && !slices.ContainsFunc(a.Entry, func(m clients.Member) bool { return members[m.Name] != m.Value }), nil
}

// addLists adds words to lists in a client's settings. It writes each file only once.
func (f *installFlags) addLists(s env.Streams, t *target, lists []clients.List, edits []edit) ([]edit, error) {
	for _, l := range lists {
		if l.OnlyProject && t.project == "" {
			continue
		}
		file, err := f.listFile(s, t, &l)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(edits, func(e edit) bool { return e.file == file })
		if i < 0 {
			old, err := clients.ReadSettings(file)
			if err != nil {
				return nil, err
			}
			i, edits = len(edits), append(edits, edit{file: file, old: old, new: old})
		}
		e := &edits[i]
		if e.new, err = l.Add(e.new); err != nil {
			return nil, fmt.Errorf("%s is left as it is: %w", file, err)
		}
		shown, err := l.Add([]byte(e.shown))
		if err != nil {
			return nil, err
		}
		e.shown = string(shown)
	}
	return edits, nil
}

func (f *installFlags) listFile(s env.Streams, t *target, l *clients.List) (string, error) {
	p, err := clients.UserPlaces(runtime.GOOS, s.Env())
	if err != nil {
		return "", err
	}
	if t.project != "" && l.Project != "" {
		return t.inside(l.Project)
	}
	return l.File(t.file, t.project, p), nil
}

// records returns the install records of this user.
func records(s env.Streams) (*clients.Records, error) {
	base, err := config.StateDir(s.Env())
	return &clients.Records{Dir: filepath.Join(base, "installed")}, err
}

// writeClient replaces a client's settings and reports the change.
func writeClient(s env.Streams, file string, old, changed []byte, done, next string) error {
	backup, err := clients.WriteSettings(file, old, changed, time.Now())
	if err != nil {
		return err
	}
	s.Say("%s\n", done)
	if backup != "" {
		s.Say("The file as it was: %s\n", backup)
	}
	_, err = fmt.Fprint(s.Out, next)
	return err
}

// mayReplace refuses to replace an entry that serves other folders, unless --replace is given.
func (f *installFlags) mayReplace(t *target, entry *clients.Entry) error {
	servers, err := t.Servers(t.old)
	if err != nil || servers[f.name] == nil || f.replace {
		return nil // Set will report why the settings can't be changed
	}
	const hint = "\n  --replace replaces it, --name gives the new entry another name"
	old, _ := t.Read(servers[f.name])
	if !f.starts(t) {
		return fmt.Errorf("%s has a server %s that is not quarry mcp%s", t.file, f.name, hint)
	}
	before, now := t.served(&old), t.served(entry)
	before = slices.DeleteFunc(before, func(dir string) bool { return filepath.IsAbs(dir) && !env.Exists(dir) })
	// The new entry may replace one whose folders are gone. If it has no folder of its own, it may
	// replace one with a single folder, because it serves that project too.
	if len(before) == 0 || len(now) == 0 && len(before) == 1 || slices.Equal(before, now) {
		return nil
	}
	return fmt.Errorf("the entry %s of %s serves %s%s", f.name, t.file, strings.Join(before, ", "), hint)
}

// served returns the folders that an entry serves; none if the client chooses them.
func (t *target) served(e *clients.Entry) []string {
	roots, _ := e.Roots()
	var list []string
	for _, r := range roots {
		if _, after, named := strings.Cut(r, "="); named && !env.Exists(r) {
			r = after
		}
		if t.Folder != "" && t.project != "" {
			r = strings.Replace(r, t.Folder, t.project, 1)
		}
		switch {
		case strings.Contains(r, "${"):
			continue
		case !filepath.IsAbs(r) && t.project != "":
			r = filepath.Join(t.project, r)
		}
		if real, err := env.RealPath(r); err == nil {
			r = real
		}
		list = append(list, r)
	}
	if len(roots) == 0 && t.project != "" {
		list = []string{t.project}
	}
	return list
}

func (f *installFlags) entry(s env.Streams, t *target, flags *pflag.FlagSet) (e *clients.Entry, notes []string, err error) {
	e = &clients.Entry{Command: f.command, Args: []string{"mcp"}}
	if e.Command == "" {
		if e.Command, err = os.Executable(); err != nil {
			return nil, nil, err
		}
		if t.project != "" { // project settings are shared with other users
			if onPath(e.Command) {
				e.Command = "quarry"
			} else {
				notes = append(notes, "The entry names this program by its path, because quarry is not on PATH: others who share "+filepath.Base(t.file)+" need it in the same place.")
			}
		}
	}
	// Check now what the server would refuse at its start, because here a person sees the error.
	if _, err := profile.New(nil, &profile.Options{Profile: f.profile, Tools: f.tools, ReadOnly: f.readOnly}); err != nil {
		return nil, nil, err
	}
	if err := f.checkTrash(); err != nil {
		return nil, nil, err
	}
	var roots []string
	switch {
	case t.project != "":
		roots, err = t.sharedRoots()
	case len(t.roots) == 1 && t.roots[0].name == "" && t.UserFolder != "-" && f.name == flags.Lookup("name").DefValue:
		// This entry is for all projects, so it must not be tied to the folder of one.
		t.roots = nil
		notes = append(notes, "The entry serves the folder that "+t.Title+" works in, so it has no --root. For one folder in all projects give it a name of its own: --name NAME.")
		roots, err = t.userRoots()
	default:
		roots, err = t.userRoots()
	}
	if err != nil {
		return nil, nil, err
	}
	for _, r := range roots {
		e.Args = append(e.Args, "--root", r)
	}
	proposed, err := f.proposedProfile(s, t, flags)
	if err != nil {
		return nil, nil, err
	}
	if proposed != "" {
		e.Args = append(e.Args, "--profile", proposed)
	}
	e.Args = append(e.Args, serverArgs(flags)...)
	var names []any // the server needs these to find the same undo log and index
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		if s.Env()(name) != "" && t.Variables != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		e.More = []clients.Member{{Name: t.Variables, Value: names}}
	}
	return e, notes, nil
}

// onPath reports whether the command name quarry starts the program self.
func onPath(self string) bool {
	found, err := exec.LookPath("quarry")
	if err != nil {
		return false
	}
	one, err := os.Stat(found)
	if err != nil {
		return false
	}
	two, err := os.Stat(self)
	return err == nil && os.SameFile(one, two)
}

// sharedRoots returns the values of --root for the settings of a project. They are relative to the
// project's folder, which has another path for other users and in other worktrees.
func (t *target) sharedRoots() ([]string, error) {
	if len(t.roots) == 0 && t.Folder != "" {
		return []string{t.Folder}, nil
	}
	var list []string
	for _, r := range t.roots {
		rel, err := filepath.Rel(t.project, r.dir)
		if err != nil {
			return nil, fmt.Errorf("--root %s has no path relative to %s, and settings of a project hold no other: --scope user", r.dir, t.project)
		}
		value := filepath.ToSlash(rel)
		switch {
		case t.Folder != "" && value == ".":
			value = t.Folder
		case t.Folder != "":
			value = t.Folder + "/" + value
		case value == "." && r.name == "":
			continue
		}
		list = append(list, r.flag(value))
	}
	return list, nil
}

// userRoots returns the values of --root for the user's settings.
func (t *target) userRoots() ([]string, error) {
	if len(t.roots) > 0 {
		var list []string
		for _, r := range t.roots {
			list = append(list, r.flag(r.dir))
		}
		return list, nil
	}
	switch {
	case t.UserFolder == "":
		return nil, nil
	case t.UserFolder == "-" && t.ProjectFile == "":
		return nil, fmt.Errorf("%s starts servers in no folder of yours: say which one with --root", t.Title)
	case t.UserFolder == "-":
		return nil, fmt.Errorf("%s shares one server among the windows of a user: say which folder it serves with --root, or use --scope project", t.Title)
	}
	return []string{t.UserFolder}, nil
}

// proposedProfile returns the profile for an entry if neither --profile nor quarry.toml names one.
// It is notes for a vault. Otherwise it is code, with which agents needed the fewest tokens for the
// same tasks (docs/FIGURES.md, "Agents"). It is "", which means the server's default, if --tools is
// given or if vaults and other folders are served together.
func (f *installFlags) proposedProfile(s env.Streams, t *target, flags *pflag.FlagSet) (string, error) {
	if flags.Changed("profile") || flags.Changed("tools") {
		return "", nil
	}
	var dirs []string
	for _, r := range t.roots {
		dirs = append(dirs, r.dir)
	}
	if len(dirs) == 0 && t.project != "" {
		dirs = append(dirs, t.project)
	}
	file, err := config.Load(s.Env())
	if err != nil {
		return "", err
	}
	vaults := 0
	for _, dir := range append(dirs, "") { // "" means the settings that apply to all folders
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

// serverArgs returns the given flags that the server has too.
func serverArgs(flags *pflag.FlagSet) []string {
	var args []string
	for _, name := range []string{"profile", "tools", "read-only", "trash", "allow", "deny", "force", "no-index", "structured", "record", "no-record", "review", "review-client", "verbose"} {
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
