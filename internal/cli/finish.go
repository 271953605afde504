package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/agents"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
	"quarry/internal/doctor"
)

// folders lists the commands that accept workspace folders as arguments, with the maximum number of
// folders.
var folders = map[string]int{
	"serve": 1, "index build": 1, "index status": 1, "index verify": 1, "index delete": 1,
	"trash list": 1, "trash empty": 1, "doctor": 1, "mcp": 99,
}

// finish completes all commands: uniform help texts, folders as arguments, and errors with advice.
func finish(root *cobra.Command, s env.Streams) {
	manual.Show(root, s.Lost)
	command.Each(root, func(cmd *cobra.Command) {
		cmd.DisableFlagsInUseLine = true
		if cmd.HasSubCommands() && !cmd.Runnable() {
			// Without RunE, cobra shows help for any argument instead of an error.
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		if most, ok := folders[command.Name(cmd)]; ok {
			cmd.Args = folderArgument(most)
			cmd.Use += map[bool]string{true: " [DIR]", false: " [DIR...]"}[most == 1]
		}
		cmd.Args = clearArgs(cmd.Args)
	})
}

// completions returns the completions that need the workspace, by command.
func completions() map[string]manual.Completer {
	args := map[string]manual.Completer{"undo": manual.FirstArg(completeChanges), "diff": manual.FirstArg(completeChanges), "search": completeSearch}
	for name := range folders {
		args[name] = manual.Folder
	}
	return args
}

// completeSearch offers no words for the pattern, and paths for the arguments after it.
func completeSearch(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if pathArgument(cmd, args) > len(args) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// completeChanges offers the newest changes with their summaries.
func completeChanges(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c := &changer{s: env.Streams{Out: io.Discard, Err: io.Discard}}
	if fl := cmd.Flags().Lookup("root"); fl != nil {
		c.root = fl.Value.String()
	}
	if c.open() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.ws.Close()
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	log, err := c.ws.Changes(ctx, 20)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []string
	for _, ch := range log.Changes {
		list = append(list, ch.ID+"\t"+strings.ReplaceAll(printing.Escape(ch.Summary), "\t", " "))
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// newPage makes quarry ui, which also offers the checks of quarry doctor.
func newPage(s env.Streams) *cobra.Command {
	cmd := agents.NewUI(s, func(root string) *doctor.Options { return doctorOptions(s, root) })
	cmd.Args = folderArgument(16)
	return cmd
}
