package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/config"
)

const onlyBelow = "only for this `folder` and what is below it"

func newConfigSet(s env.Streams) *cobra.Command {
	var root string
	cmd := command.New("set KEY VALUE...", "Set a key in quarry.toml",
		`Set a key in quarry.toml, which is made when it is missing. Comments and
everything else in the file stay. A key that is a list takes several values.`,
		`  quarry config set search.hidden true
  quarry config set mcp.profile vault --root ~/notes
  quarry config set search.glob '!vendor/**' '!*.min.js'`,
		command.Args(2, command.Any), func(_ *cobra.Command, args []string) error {
			k, err := keyNamed(args[0])
			if err != nil {
				return err
			}
			v, err := k.SetText(args[1:])
			if err != nil {
				return fmt.Errorf("%s: %w", k.Path(), err)
			}
			return changeConfig(s, k, root, &v)
		})
	cmd.Flags().StringVar(&root, "root", "", onlyBelow)
	return cmd
}

func newConfigUnset(s env.Streams) *cobra.Command {
	var root string
	cmd := command.New("unset KEY", "Remove a key from quarry.toml",
		"Remove a key from quarry.toml, so that its default counts again. Everything else\nin the file stays.", "",
		command.Args(1, 1), func(_ *cobra.Command, args []string) error {
			k, err := keyNamed(args[0])
			if err != nil {
				return err
			}
			return changeConfig(s, k, root, nil)
		})
	cmd.Flags().StringVar(&root, "root", "", onlyBelow)
	return cmd
}

func keyNamed(path string) (config.Key, error) {
	k, ok := config.Lookup(path)
	if !ok {
		return k, unknownKey(path)
	}
	return k, nil
}

func changeConfig(s env.Streams, k config.Key, root string, v *config.Value) error {
	if root != "" {
		abs, err := filepath.Abs(config.ExpandHome(root, s.Env()))
		if err != nil {
			return err
		}
		root = abs
	}
	name, changed, err := config.ChangeFile(s.Env(), k, root, v)
	if err != nil {
		return err
	}
	if !changed && v == nil {
		_, err = fmt.Fprintf(s.Out, "%s does not set %s.\n", name, k.Path())
		return err
	}
	if !changed {
		_, err = fmt.Fprintf(s.Out, "%s has it already.\n", name)
		return err
	}
	_, err = fmt.Fprintf(s.Out, "Wrote %s.\n", name)
	return err
}
