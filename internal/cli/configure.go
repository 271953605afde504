package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/config"
)

// works lists the commands that must work even if the configuration file is invalid: they help to
// repair it, or don't use it. rg and fd don't: they have the defaults of the original programs.
var works = []string{"", "rg", "fd", "config", "config path", "config init", "doctor", "help", "man", "completion"}

// configure sets the flags that were not given on the command line to their values in the
// configuration.
func configure(s env.Streams, cmd *cobra.Command, args []string) error {
	name := command.Name(cmd)
	if top, _, _ := strings.Cut(name, " "); slices.Contains(works, name) || top == "completion" || strings.HasPrefix(name, "__") {
		return nil
	}
	given := map[string]bool{}
	s.Conf.Given = given
	cmd.Flags().Visit(func(fl *pflag.Flag) { given[fl.Name] = true })
	file, err := s.File()
	if err != nil {
		return fmt.Errorf("%w\n  quarry help config lists the keys; --no-config goes on without the file", err)
	}
	dir := workDir(cmd, args)
	var list []config.Setting
	for _, k := range config.Keys() {
		if !slices.Contains(k.Commands, name) {
			continue
		}
		set, err := file.Of(s.Env(), dir, &k)
		if err != nil {
			return err
		}
		if set.Source != config.FromDefault && !given[k.Name] && (k.With == "" || given[k.With]) {
			list = append(list, set)
		}
	}
	for i := range list {
		if !overruled(given, &list[i], list) {
			if err := setFlag(cmd.Flags(), &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// overruled reports whether another setting of set's group takes precedence: one given as a flag,
// or one from a source of higher precedence.
func overruled(given map[string]bool, set *config.Setting, list []config.Setting) bool {
	if set.Group == "" {
		return false
	}
	for _, k := range config.Keys() {
		if k.Section == set.Section && k.Group == set.Group && given[k.Name] {
			return true
		}
	}
	return slices.ContainsFunc(list, func(other config.Setting) bool {
		return other.Section == set.Section && other.Group == set.Group && other.Source.Nearer(set.Source)
	})
}

// setFlag sets a flag to the value of a setting, as if it had been typed.
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

// workDir returns the folder that a command works in: --root, else the folder of the first path,
// else the current one. The folder decides which section of the configuration applies.
func workDir(cmd *cobra.Command, args []string) string {
	dir := ""
	if fl := cmd.Flags().Lookup("root"); fl != nil && fl.Changed {
		if list, ok := fl.Value.(pflag.SliceValue); !ok {
			dir = fl.Value.String()
		} else if roots := list.GetSlice(); len(roots) == 1 {
			dir = roots[0]
			if _, after, named := strings.Cut(dir, "="); named && !env.Exists(dir) {
				dir = after
			}
		} else {
			return "" // several roots have no common section
		}
	} else if at := pathArgument(cmd, args); at < len(args) {
		dir = args[at]
	}
	abs, err := filepath.Abs(filepath.FromSlash(cmp.Or(dir, ".")))
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
	switch command.Name(cmd) {
	case "search":
		if cmd.Flags().Changed("regexp") || cmd.Flags().Changed("file") {
			return 0
		}
		return 1
	case "find":
		_, paths := splitFindArgs(args, cmd.Flags().Changed("glob"))
		return len(args) - len(paths)
	case "read", "edit", "value", "write", "mkdir", "mv", "rm", "note new", "note append", "note prepend", "trash restore":
		return 0
	}
	return len(args)
}

var errBothRoots = errors.New("the folder is given twice: as an argument and with --root")

// folderArgument lets a command accept up to most workspace folders as arguments, as an alternative
// to --root.
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
			if _, after, named := strings.Cut(dir, "="); err != nil && named && most > 1 && env.Exists(after) {
				err = nil
			}
			if errors.Is(err, fs.ErrNotExist) && command.Name(cmd) == "index delete" {
				err = nil // its index may still exist
			}
			if err != nil && cmd.HasSubCommands() && near(cmd, dir) != "" {
				return fmt.Errorf("%w\n  did you mean %s %s?", env.PathError(dir, err), cmd.CommandPath(), near(cmd, dir))
			}
			if err != nil {
				return env.PathError(dir, err)
			}
			if err := cmd.Flags().Set("root", dir); err != nil {
				return err
			}
		}
		return nil
	}
}
