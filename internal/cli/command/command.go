// Package command is what commands are made of: their texts, groups of flags with
// titles, and the kinds of values flags have.
//
// It knows no command by its job. What is written about commands is in package
// manual.
package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// New fills in what all commands share.
func New(use, short, long, example string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: run}
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
