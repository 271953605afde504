package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

// chapters are the commands in the order a person meets them. A command that
// is missing here is listed at the end.
var chapters = []struct {
	title    string
	commands []string
}{
	{"Search and read", []string{"search", "find", "symbols", "read"}},
	{"Change files", []string{"edit", "replace", "patch", "write", "mkdir", "mv", "rm", "note"}},
	{"See what changed, and undo it", []string{"log", "diff", "undo", "trash"}},
	{"Work beside agents", []string{"mcp", "ui", "review", "tools", "call"}},
	{"Make it faster", []string{"index", "serve"}},
	{"Set up and repair", []string{"doctor", "config", "completion", "man", "version", "help"}},
}

// folders lists the commands that take the workspace's folder as an argument,
// and how many of them.
var folders = map[string]int{
	"serve": 1, "index build": 1, "index status": 1, "index verify": 1, "index delete": 1,
	"trash list": 1, "trash empty": 1, "doctor": 1, "mcp": 99,
}

// finish adds to all commands what they have in common: help texts of one form,
// folders as arguments, and errors that say what to do.
func finish(root *cobra.Command) {
	showHelp(root)
	root.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c, nil) })
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.DisableFlagsInUseLine = true
		if cmd.HasSubCommands() && !cmd.Runnable() {
			// Otherwise cobra shows help for any argument instead of an error.
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		if most, ok := folders[commandName(cmd)]; ok {
			cmd.Args = folderArgument(most)
			cmd.Use += map[bool]string{true: " [DIR]", false: " [DIR...]"}[most == 1]
		}
		cmd.Args = clearArgs(cmd.Args)
	})
}

// groups are commands that only hold others.
func isGroup(cmd *cobra.Command) bool {
	return !cmd.HasParent() || slices.Contains([]string{"index", "trash", "note"}, commandName(cmd))
}

// eachCommand visits a command and all below it.
func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, visit)
	}
}

// writeUsage is the part of help below the description. groups are the
// command's flags with titles, nil shows them as one.
func writeUsage(c *cobra.Command, groups []flagGroup) error {
	width := helpWidth(c.OutOrStdout())
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() && c.HasParent() && !isGroup(c) {
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
		flags := newFlagSet()
		c.Flags().VisitAll(func(fl *pflag.Flag) {
			if !c.HasParent() || fl.Name != "no-config" && fl.Name != "help" {
				flags.AddFlag(fl)
			}
		})
		groups = []flagGroup{{"Flags", flags}}
	}
	for _, g := range groups {
		if text := flagHelp(g.flags, width); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", g.title, text)
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
	for _, t := range topics() {
		fmt.Fprintf(b, "  %-14s %s\n", "help "+t.name, t.short)
	}
	b.WriteString("\nquarry help COMMAND shows examples and flags.\n")
}

// keysOf are the keys of quarry.toml that set a flag of the command.
func keysOf(c *cobra.Command) []config.Key {
	return slices.DeleteFunc(config.Keys(), func(k config.Key) bool { return !slices.Contains(k.Commands, commandName(c)) })
}

// writeKeys says which flags quarry.toml can set.
func writeKeys(b *strings.Builder, c *cobra.Command, width int) {
	for keys := keysOf(c); len(keys) > 0; {
		section, names := keys[0].Section, []string{}
		for ; len(keys) > 0 && keys[0].Section == section; keys = keys[1:] {
			names = append(names, keys[0].Name)
		}
		fmt.Fprintf(b, "\nKeys of quarry.toml, in [%s]:\n%s", section, printing.WrapTo(strings.Join(names, ", "), "  ", width))
	}
}
