package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry"
	"quarry/change"
	"quarry/internal/config"
)

// settings are what quarry.toml says in this run.
type settings struct {
	off        bool // --no-config
	completing bool // a shell asks for words
	file       *config.File
	given      map[string]bool // flags of the command line
}

// works names commands that must work with an invalid configuration file: they
// repair it or don't use it.
var works = []string{"", "config", "config path", "config init", "doctor", "help", "man", "completion"}

// file is the configuration file, read at the first call.
func (s Streams) file() (*config.File, error) {
	if s.conf == nil || s.conf.off {
		return &config.File{}, nil
	}
	if s.conf.file == nil {
		f, err := config.Load(s.getenv())
		if err != nil {
			return nil, err
		}
		s.conf.file = f
	}
	return s.conf.file, nil
}

// commandName is a command's path without "quarry".
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// configure sets the flags that were not given to the values of the
// configuration.
func (s Streams) configure(cmd *cobra.Command, args []string) error {
	name := commandName(cmd)
	if top, _, _ := strings.Cut(name, " "); slices.Contains(works, name) || top == "completion" || strings.HasPrefix(name, "__") {
		return nil
	}
	s.conf.given = map[string]bool{}
	cmd.Flags().Visit(func(fl *pflag.Flag) { s.conf.given[fl.Name] = true })
	file, err := s.file()
	if err != nil {
		return fmt.Errorf("%w\n  quarry help config lists the keys; --no-config goes on without the file", err)
	}
	dir := workDir(cmd, args)
	var list []config.Setting
	for _, k := range config.Keys() {
		if !slices.Contains(k.Commands, name) {
			continue
		}
		set, err := file.Of(s.getenv(), dir, &k)
		if err != nil {
			return err
		}
		if set.Source != config.FromDefault && !s.conf.given[k.Name] && (k.With == "" || s.conf.given[k.With]) {
			list = append(list, set)
		}
	}
	list = s.remote(list)
	for i := range list {
		if !s.overruled(&list[i], list) {
			if err := setFlag(cmd.Flags(), &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// overruled reports whether another setting of the same group takes precedence: a
// flag, or one from a source of higher precedence.
func (s Streams) overruled(set *config.Setting, list []config.Setting) bool {
	if set.Group == "" {
		return false
	}
	for _, k := range config.Keys() {
		if k.Section == set.Section && k.Group == set.Group && s.conf.given[k.Name] {
			return true
		}
	}
	for _, other := range list {
		if other.Section == set.Section && other.Group == set.Group && other.Source.Nearer(set.Source) {
			return true
		}
	}
	return false
}

// remote drops settings about servers and folders that don't belong together.
// Checkouts and credentials belong to the servers that they are set for: they
// apply to a backend from the same source or one of lower precedence, never to
// one of higher precedence. Of servers and folders, those of higher precedence
// apply.
func (s Streams) remote(list []config.Setting) []config.Setting {
	var backend, root *config.Setting
	for i := range list {
		switch list[i].Path() {
		case "remote.backend":
			backend = &list[i]
		case "mcp.root":
			root = &list[i]
		}
	}
	drop := func(set config.Setting) bool {
		if set.Section == "remote" {
			return s.conf.given["backend"] || s.conf.given["root"] || backend == nil || backend.Source.Nearer(set.Source) ||
				root != nil && root.Source.Nearer(backend.Source)
		}
		return set.Path() == "mcp.root" && (s.conf.given["backend"] || backend != nil && backend.Source.Nearer(set.Source))
	}
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// setFlag gives a flag the value of a setting, as if it had been typed.
func setFlag(flags *pflag.FlagSet, set *config.Setting) error {
	fl := flags.Lookup(set.Name)
	if fl == nil {
		return fmt.Errorf("%s: the command has no such flag", set.Path())
	}
	if list, ok := fl.Value.(pflag.SliceValue); ok {
		fl.Changed = true
		return list.Replace(set.List)
	}
	if set.Text == fl.DefValue {
		return nil
	}
	if err := flags.Set(set.Name, set.Text); err != nil {
		return fmt.Errorf("%s: %w", set.Where, err)
	}
	return nil
}

// workDir is the folder that a command works in: --root, else the folder of the
// first path, else the current one. It decides which section applies.
func workDir(cmd *cobra.Command, args []string) string {
	dir := ""
	if fl := cmd.Flags().Lookup("root"); fl != nil && fl.Changed {
		if list, ok := fl.Value.(pflag.SliceValue); !ok {
			dir = fl.Value.String()
		} else if roots := list.GetSlice(); len(roots) == 1 {
			dir = roots[0]
			if _, after, named := strings.Cut(dir, "="); named && !exists(dir) {
				dir = after
			}
		} else {
			return "" // several: none speaks for the others
		}
	} else if at := pathArgument(cmd, args); at < len(args) {
		dir = args[at]
	}
	abs, err := filepath.Abs(filepath.FromSlash(orDot(dir)))
	if err != nil {
		return ""
	}
	abs = config.ExistingDir(abs)
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return abs
}

// pathArgument returns the index of a command's first path argument.
func pathArgument(cmd *cobra.Command, args []string) int {
	switch commandName(cmd) {
	case "search":
		if cmd.Flags().Changed("regexp") || cmd.Flags().Changed("file") {
			return 0
		}
		return 1
	case "find":
		_, paths := splitFindArgs(args, cmd.Flags().Changed("glob"))
		return len(args) - len(paths)
	case "read", "edit", "write", "mkdir", "mv", "rm", "note new", "note append", "note prepend", "trash restore":
		return 0
	}
	return len(args)
}

// journal sets how much the undo log of a folder keeps, and how large a change may
// make a file.
func (s Streams) journal(root string, opts *quarry.Options) error {
	file, err := s.file()
	if err != nil {
		return err
	}
	size, err := file.Get(s.getenv(), root, "journal.keep-size")
	if err == nil && size.Source != config.FromDefault {
		opts.KeepBytes, err = strconv.ParseInt(size.Text, 10, 64)
	}
	if err != nil {
		return err
	}
	size, err = file.Get(s.getenv(), root, "change.max-size")
	if err == nil && size.Source != config.FromDefault {
		opts.MaxSize, err = strconv.ParseInt(size.Text, 10, 64)
	}
	if err != nil {
		return err
	}
	age, err := file.Get(s.getenv(), root, "journal.keep-age")
	if err == nil && age.Source != config.FromDefault {
		opts.KeepAge, err = time.ParseDuration(age.Text)
	}
	return err
}

// forRoot returns the value of a key in the section of a root, unless a flag or
// the environment sets it. A server of several roots calls it for each.
func (s Streams) forRoot(root, key string) (v config.Value, ok bool) {
	file, err := s.file()
	if err != nil || s.conf == nil {
		return v, false
	}
	set, err := file.Get(s.getenv(), root, key)
	if err != nil || set.Source != config.FromRoot || s.conf.given[set.Name] {
		return v, false
	}
	return set.Value, true
}

// sectionOf applies the section of a root to the options of an agent. For the
// only root of a server, the flags have these values already.
func (s Streams) sectionOf(root string, opts *quarry.Options) {
	if v, ok := s.forRoot(root, "mcp.allow"); ok {
		opts.Allow = v.List
	}
	if v, ok := s.forRoot(root, "mcp.deny"); ok {
		opts.Deny = v.List
	}
	if v, ok := s.forRoot(root, "mcp.trash"); ok {
		opts.Trash = change.TrashKind(v.Text)
	}
	if v, ok := s.forRoot(root, "mcp.read-only"); ok {
		opts.ReadOnly = v.Text == "true"
	}
	if v, ok := s.forRoot(root, "mcp.force"); ok {
		opts.AllowAny = v.Text == "true"
	}
}

var errBothRoots = errors.New("the folder is given twice: as an argument and with --root")

// folderArgument lets a command take the workspace's folder as an argument, as
// people expect; most is how many.
func folderArgument(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if len(args) > most {
			return tooMany(cmd, args[most])
		}
		if cmd.Flags().Changed("root") {
			return errBothRoots
		}
		for _, dir := range args {
			info, err := os.Stat(dir)
			if err == nil && !info.IsDir() {
				err = errors.New("not a folder")
			}
			if _, after, named := strings.Cut(dir, "="); err != nil && named && most > 1 && exists(after) {
				err = nil
			}
			if err != nil && cmd.HasSubCommands() && near(cmd, dir) != "" {
				return fmt.Errorf("%w\n  did you mean %s %s?", clearPathError(dir, err), cmd.CommandPath(), near(cmd, dir))
			}
			if err != nil {
				return clearPathError(dir, err)
			}
			if err := cmd.Flags().Set("root", dir); err != nil {
				return err
			}
		}
		return nil
	}
}
