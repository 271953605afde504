// Package command builds commands: their help texts, titled groups of flags, and types of flag
// values.
//
// It knows no particular command. Package manual writes the help.
package command

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// New makes a command with the settings that all commands share.
func New(use, short, long, example string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: run}
}

// ErrCount is the error for too few or too many arguments.
var ErrCount = errors.New("wrong number of arguments")

// Any, as the maximum in Args, allows any number of arguments.
const Any = math.MaxInt

// Args returns a check that there are from least to most arguments.
func Args(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return ErrCount
		}
		return nil
	}
}

// Name returns a command's path without "quarry".
func Name(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// IsGroup reports whether a command only contains subcommands.
func IsGroup(cmd *cobra.Command) bool {
	return !cmd.HasParent() || slices.Contains([]string{"index", "trash", "note"}, Name(cmd))
}

// Each calls visit for a command and all its subcommands.
func Each(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		Each(sub, visit)
	}
}
