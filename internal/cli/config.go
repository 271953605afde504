package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

type configFlags struct {
	root string
	all  bool
	json bool
}

func newConfig(s env.Streams) *cobra.Command {
	var f configFlags
	cmd := command.New("config [KEY]", "Show the configuration, and where it comes from",
		`Show what quarry.toml and the environment set for this workspace, and where each
value comes from; with a KEY, what it means and how it is set. A flag goes
before the environment, that before the section of the folder in the file, that
before the rest of the file.`,
		`  quarry config                  what is set
  quarry config --all            every key
  quarry config search.hidden    one key, explained
  quarry config set search.hidden true
  quarry config init             write a commented file to start from`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return f.explain(s, cmd.Root(), args[0])
			}
			return f.show(s, cmd.Root())
		})
	cmd.Flags().BoolVarP(&f.all, "all", "a", false, "keys that nothing sets, too")
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON")
	cmd.Flags().StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	cmd.AddCommand(
		command.New("path", "Show where the file is", "Show where quarry.toml is, or would be.", "", command.Args(0, 0),
			func(*cobra.Command, []string) error {
				name, _, err := config.FilePath(s.Env())
				if err == nil {
					_, err = fmt.Fprintln(s.Out, name)
				}
				return err
			}),
		command.New("init", "Write a commented file to start from",
			"Write a quarry.toml that has every key in a comment. A file that exists stays\nas it is.", "",
			command.Args(0, 0), func(cmd *cobra.Command, _ []string) error { return initConfig(s, cmd.Root()) }),
		newConfigSet(s), newConfigUnset(s),
	)
	return cmd
}

func initConfig(s env.Streams, root *cobra.Command) error {
	name, _, err := config.FilePath(s.Env())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := config.WriteNew(name, []byte(manual.ConfigExample(root)), 0o644); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already and stays as it is", name)
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "Wrote %s.\n", name)
	return err
}

// effective returns the configuration that applies to the folder of the flags.
func (f *configFlags) effective(s env.Streams) (file *config.File, root string, list []config.Setting, err error) {
	if file, err = s.File(); err != nil {
		return nil, "", nil, err
	}
	c := changer{s: s, root: f.root}
	if root, err = env.FindRoot(c.root); err != nil {
		return nil, "", nil, err
	}
	list, err = file.Effective(s.Env(), root)
	return file, root, list, err
}

// jsonSetting is one key in the output of quarry config --json.
type jsonSetting struct {
	Key    string        `json:"key"`
	Value  any           `json:"value"`
	Source config.Source `json:"source"`
	Where  string        `json:"where,omitempty"`
}

func (f *configFlags) show(s env.Streams, top *cobra.Command) error {
	file, root, list, err := f.effective(s)
	if err != nil {
		return err
	}
	if f.json {
		out := struct {
			File     string        `json:"file"`
			Root     string        `json:"root"`
			Settings []jsonSetting `json:"settings"`
		}{file.Name, root, []jsonSetting{}}
		for i := range list {
			out.Settings = append(out.Settings, jsonSetting{list[i].Path(), settingValue(top, &list[i]), list[i].Source, list[i].Where})
		}
		return printing.WriteJSON(s.Out, out)
	}
	c := changer{s: s}
	var b strings.Builder
	if file.Name == "" {
		if name, _, err := config.FilePath(s.Env()); err != nil {
			fmt.Fprintf(&b, "file  none: %v\n", err)
		} else {
			fmt.Fprintf(&b, "file  none; quarry config init writes %s\n", name)
		}
	} else {
		fmt.Fprintf(&b, "file  %s\n", file.Name)
	}
	fmt.Fprintf(&b, "root  %s\n", root)
	b.WriteString(f.table(top, file, list))
	return c.s.Print(b.String())
}

// table lists settings in columns, by section.
func (f *configFlags) table(top *cobra.Command, file *config.File, list []config.Setting) string {
	var rows [][3]string
	defaults := 0
	for i := range list {
		set := &list[i]
		value, where := set.Shown(), strings.Replace(set.Where, file.Name, config.FileName, 1)
		switch set.Source {
		case config.FromDefault:
			if defaults++; !f.all {
				continue
			}
			value, where = set.FormatDefault(manual.KeyDefault(top, &set.Key)), "default"
		case config.FromRoot:
			where += ", section of this folder"
		}
		rows = append(rows, [3]string{set.Path(), value, where})
	}
	var key, value int
	for _, r := range rows {
		key, value = max(key, len(r[0])), max(value, min(len(r[1]), 24))
	}
	var b strings.Builder
	if len(rows) > 0 {
		b.WriteByte('\n')
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", key, r[0], value, r[1], r[2])
	}
	if !f.all {
		fmt.Fprintf(&b, "\n%d keys have their defaults: --all shows them, quarry config KEY explains one.\n", defaults)
	}
	return b.String()
}

// settingValue returns a setting's value, or its default, for JSON.
func settingValue(top *cobra.Command, set *config.Setting) any {
	text := set.Text
	if set.Source == config.FromDefault {
		text = manual.KeyDefault(top, &set.Key)
	}
	switch set.Kind {
	case config.Bool:
		return text == "true"
	case config.Int:
		n, _ := strconv.Atoi(text) // validated on reading
		return n
	case config.List:
		if set.List == nil {
			return []string{}
		}
		return set.List
	}
	return text
}

// explain describes one key in full.
func (f *configFlags) explain(s env.Streams, top *cobra.Command, path string) error {
	k, ok := config.Lookup(path)
	if !ok {
		return unknownKey(path)
	}
	_, _, list, err := f.effective(s)
	if err != nil {
		return err
	}
	var set config.Setting
	for i := range list {
		if list[i].Path() == path {
			set = list[i]
		}
	}
	if f.json {
		return printing.WriteJSON(s.Out, jsonSetting{path, settingValue(top, &set), set.Source, set.Where})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", path, manual.KeyText(top, &k))
	now := set.Shown() + ", from " + set.Where
	if set.Source == config.FromDefault {
		now = k.FormatDefault(manual.KeyDefault(top, &k)) + ", the default"
	}
	kind := k.Kind.String()
	if len(k.Choices) > 0 {
		kind = strings.Join(k.Choices, ", ")
	}
	fmt.Fprintf(&b, "now       %s\n", now)
	fmt.Fprintf(&b, "takes     %s\n", kind)
	for i, c := range k.Commands {
		fmt.Fprintf(&b, "%-8s  quarry %s --%s\n", map[bool]string{true: "flag"}[i == 0], c, k.Name)
	}
	fmt.Fprintf(&b, "variable  %s\n", k.Variable())
	fmt.Fprintf(&b, "file      [%s]\n          %s = %s\n", k.Section, k.Name, manual.KeyExample(top, &k))
	return (&changer{s: s}).s.Print(b.String())
}

// unknownKey refuses a key and suggests the nearest one.
func unknownKey(path string) error {
	var names []string
	for _, k := range config.Keys() {
		if names = append(names, k.Path()); k.Name == path {
			return fmt.Errorf("unknown key %q\n  did you mean %s?", path, k.Path())
		}
	}
	if near := config.Nearest(path, names); near != "" {
		return fmt.Errorf("unknown key %q\n  did you mean %s?", path, near)
	}
	return fmt.Errorf("unknown key %q\n  quarry config --all lists them", path)
}
