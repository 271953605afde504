package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/clients"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/profile"
)

func newCompletion(s Streams) *cobra.Command {
	cmd := command("completion SHELL", "Write completions for bash, zsh, fish or PowerShell",
		`Write a script that lets the shell complete commands, flags and many of their
values: file types, profiles, tools, keys, the ids of changes.`,
		`  bash        source <(quarry completion bash)
  zsh         quarry completion zsh > "${fpath[1]}/_quarry"
  fish        quarry completion fish > ~/.config/fish/completions/quarry.fish
  PowerShell  quarry completion powershell | Out-String | Invoke-Expression`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), args[0], s.Out)
		})
	cmd.ValidArgs = shells
	return cmd
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell", "pwsh":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return fmt.Errorf("there are completions for %s, not for %q", strings.Join(shells, ", "), shell)
}

// completer finds words to complete with.
type completer func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// words completes with a list.
func words(list func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

func fixed(list ...string) completer { return words(func() []string { return list }) }

// firstArg completes the first argument only.
func firstArg(c completer) completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c(cmd, args, toComplete)
	}
}

func folder(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// addCompletions gives flags and arguments their completions. A flag whose key in
// quarry.toml has fixed choices completes with these.
func addCompletions(root *cobra.Command) {
	byFlag := map[string]completer{
		"root": folder, "profile": words(profileWords), "tools": completeTools, "client": words(clients.Names),
		"scope": fixed("user", "project"), "type-not": words(typeWords),
	}
	byArgs := map[string]completer{
		"undo": firstArg(completeChanges), "diff": firstArg(completeChanges), "call": firstArg(completeTools),
		"config": firstArg(words(keyWords)), "help": words(topicWords), "search": completeSearch,
	}
	eachCommand(root, func(cmd *cobra.Command) {
		name := commandName(cmd)
		if c := byArgs[name]; c != nil {
			cmd.ValidArgsFunction = cobra.CompletionFunc(c)
		}
		if folders[name] > 0 {
			cmd.ValidArgsFunction = cobra.CompletionFunc(folder)
		}
		for flag, c := range byFlag {
			register(cmd, flag, c)
		}
		if name == "search" {
			register(cmd, "type", words(typeWords))
		}
		for _, k := range config.Keys() {
			if len(k.Choices) > 0 && slices.Contains(k.Commands, name) && byFlag[k.Name] == nil {
				register(cmd, k.Name, fixed(k.Choices...))
			}
		}
	})
}

func register(cmd *cobra.Command, flag string, c completer) {
	if cmd.LocalFlags().Lookup(flag) != nil {
		// It fails only for a flag that is registered already.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.CompletionFunc(c))
	}
}

func profileWords() []string {
	var list []string
	for _, name := range profile.Names() {
		list = append(list, name+"\t"+profile.About(name))
	}
	return list
}

func typeWords() []string { return slices.Sorted(maps.Keys(fileTypes)) }

func keyWords() []string {
	var list []string
	for _, k := range config.Keys() {
		list = append(list, k.Path())
	}
	return list
}

func topicWords() []string {
	var list []string
	for _, t := range topics() {
		list = append(list, t.name+"\t"+t.short)
	}
	for _, ch := range chapters {
		list = append(list, ch.commands...)
	}
	return list
}

// completeSearch offers nothing for the pattern, and paths after it.
func completeSearch(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if pathArgument(cmd, args) > len(args) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// completeTools offers the tools of the profile chosen.
func completeTools(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	a := &agent{}
	if fl := cmd.Flags().Lookup("profile"); fl != nil {
		a.profile = fl.Value.String()
	}
	r, err := a.registry(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := toComplete[:strings.LastIndexByte(toComplete, ',')+1]
	var list []string
	for _, t := range r.Tools() {
		list = append(list, before+t.Name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeChanges offers the newest changes with what they did.
func completeChanges(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c := &changer{s: Streams{Out: io.Discard, Err: io.Discard}}
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
