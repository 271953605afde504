// Package command has the parts of commands: their texts, titled groups of flags, and
// the kinds of values that flags have.
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

// New fills in what all commands share.
func New(use, short, long, example string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: run}
}

// ErrCount says that a command has too few or too many arguments.
var ErrCount = errors.New("wrong number of arguments")

// Any is for Args: there may be any number.
const Any = math.MaxInt

// Args checks the number of arguments.
func Args(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return ErrCount
		}
		return nil
	}
}

// Name is a command's path without "quarry".
func Name(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// IsGroup reports whether a command only holds others.
func IsGroup(cmd *cobra.Command) bool {
	return !cmd.HasParent() || slices.Contains([]string{"index", "trash", "note"}, Name(cmd))
}

// Each visits a command and all below it.
func Each(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		Each(sub, visit)
	}
}
