// Package manual writes the help, topics, manual pages and shell completions.
//
// Everything is generated from the command tree and the table of keys. So a flag or key is
// described in one place only, and a new one appears everywhere.
package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

// chapters groups the commands in the order in which people need them. Commands missing here are
// listed at the end.
var chapters = []struct {
	title    string
	commands []string
}{
	{"Search and read", []string{"search", "find", "symbols", "rank", "refs", "read", "rg", "fd"}},
	{"Change files", []string{"edit", "value", "replace", "rename", "patch", "write", "mkdir", "mv", "rm", "note"}},
	{"See what changed, and undo it", []string{"log", "diff", "undo", "point", "record", "trash"}},
	{"Work beside agents", []string{"mcp", "ui", "review", "tools", "call", "agents-md", "skill", "hook"}},
	{"Make it faster", []string{"index", "serve"}},
	{"Set up and repair", []string{"doctor", "config", "completion", "man", "version", "help"}},
}

// writeUsage writes the help below the description. groups are the titled groups of the command's
// flags; nil lists all flags as one group.
func writeUsage(c *cobra.Command, groups []command.Group) error {
	width := helpWidth(c.OutOrStdout())
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() && c.HasParent() && !command.IsGroup(c) {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", c.CommandPath())
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	writeCommands(&b, c)
	if groups == nil {
		flags := command.NewFlags()
		c.Flags().VisitAll(func(fl *pflag.Flag) {
			if !c.HasParent() || fl.Name != "no-config" && fl.Name != "help" {
				flags.AddFlag(fl)
			}
		})
		groups = []command.Group{{Title: "Flags", Flags: flags}}
	}
	for _, g := range groups {
		if text := FlagHelp(g.Flags, width); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", g.Title, text)
		}
	}
	writeKeys(&b, c, width)
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

func writeCommands(b *strings.Builder, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	if c.HasParent() {
		b.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(b, "  %-14s %s\n", sub.Name(), sub.Short)
			}
		}
		return
	}
	left := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			left[sub.Name()] = sub
		}
	}
	for _, ch := range chapters {
		fmt.Fprintf(b, "\n%s:\n", ch.title)
		for _, name := range ch.commands {
			if sub := left[name]; sub != nil {
				fmt.Fprintf(b, "  %-14s %s\n", name, sub.Short)
				delete(left, name)
			}
		}
	}
	if len(left) > 0 {
		b.WriteString("\nOther:\n")
		for _, sub := range c.Commands() {
			if left[sub.Name()] != nil {
				fmt.Fprintf(b, "  %-14s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	b.WriteString("\nTopics:\n")
	for _, t := range Topics() {
		fmt.Fprintf(b, "  %-14s %s\n", "help "+t.Name, t.short)
	}
	b.WriteString("\nquarry help COMMAND shows examples and flags.\n")
}

// KeysOf returns the keys of quarry.toml that set flags of the command.
func KeysOf(c *cobra.Command) []config.Key {
	return slices.DeleteFunc(config.Keys(), func(k config.Key) bool { return !slices.Contains(k.Commands, command.Name(c)) })
}

// writeKeys lists the command's flags that quarry.toml can set.
func writeKeys(b *strings.Builder, c *cobra.Command, width int) {
	for keys := KeysOf(c); len(keys) > 0; {
		section, names := keys[0].Section, []string{}
		for ; len(keys) > 0 && keys[0].Section == section; keys = keys[1:] {
			names = append(names, keys[0].Name)
		}
		fmt.Fprintf(b, "\nKeys of quarry.toml, in [%s]:\n%s", section, printing.WrapTo(strings.Join(names, ", "), "  ", width))
	}
}

// SetGroups adds groups of flags to a command, and a help text that shows the groups.
func SetGroups(cmd *cobra.Command, groups []command.Group) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.Flags)
	}
	cmd.Flags().SortFlags = false
	cmd.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c, groups) })
}
