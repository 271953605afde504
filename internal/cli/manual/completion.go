package manual

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/filetypes"
	"quarry/internal/clients"
	"quarry/internal/config"
	"quarry/internal/profile"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// WriteCompletion writes the completion script for a shell.
func WriteCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return writeBash(root, w)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell", "pwsh":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return fmt.Errorf("there are completions for %s, not for %q", strings.Join(shells, ", "), shell)
}

// WriteCompletionOf writes the completion script for a shell alias of a command, such as rg for
// quarry rg. The script calls quarry itself.
func WriteCompletionOf(root *cobra.Command, alias, shell string, w io.Writer) error {
	program := root.Use
	root.Use = alias
	defer func() { root.Use = program }()
	var b strings.Builder
	if err := WriteCompletion(root, shell, &b); err != nil {
		return err
	}
	_, err := strings.NewReplacer("${words[0]} __complete", program+" __complete "+alias, "${words[1]} __complete", program+" __complete "+alias,
		"$args[1] __complete", program+" __complete "+alias, "$Program __complete", program+" __complete "+alias).WriteString(w, b.String())
	return err
}

// Completer returns the possible completions of an argument.
type Completer = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// words returns a Completer for a fixed list.
func words(list func() []string) Completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

func fixed(list ...string) Completer { return words(func() []string { return list }) }

// FirstArg limits a Completer to the first argument.
func FirstArg(c Completer) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c(cmd, args, toComplete)
	}
}

// Folder completes an argument with the names of folders.
func Folder(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// AddCompletions adds completions for flags and arguments. A flag whose key in quarry.toml has
// fixed choices is completed with these.
//
// args has the completions of arguments that need more than the command tree, by command.
func AddCompletions(root *cobra.Command, args map[string]Completer) {
	byFlag := map[string]Completer{
		"root": Folder, "profile": words(profileWords), "tools": completeTools, "client": words(clients.Names),
		"scope": fixed("user", "project"), "type-not": words(typeWords),
	}
	byArgs := map[string]Completer{
		"call": FirstArg(completeTools), "config": FirstArg(words(keyWords)), "help": words(topicWords),
	}
	maps.Copy(byArgs, args)
	command.Each(root, func(cmd *cobra.Command) {
		name := command.Name(cmd)
		if c := byArgs[name]; c != nil {
			cmd.ValidArgsFunction = c
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

func register(cmd *cobra.Command, flag string, c Completer) {
	if cmd.LocalFlags().Lookup(flag) != nil {
		// The only possible error is that the flag has a completion already.
		_ = cmd.RegisterFlagCompletionFunc(flag, c)
	}
}

func profileWords() []string {
	var list []string
	for _, name := range profile.Names() {
		list = append(list, name+"\t"+profile.About(name))
	}
	return list
}

func typeWords() []string { return filetypes.All().Names() }

func keyWords() []string {
	var list []string
	for _, k := range config.Keys() {
		list = append(list, k.Path())
	}
	return list
}

func topicWords() []string {
	var list []string
	for _, t := range Topics() {
		list = append(list, t.Name+"\t"+t.short)
	}
	for _, ch := range chapters {
		list = append(list, ch.commands...)
	}
	return list
}

// completeTools offers the tools of the selected profile.
func completeTools(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	of := ""
	if fl := cmd.Flags().Lookup("profile"); fl != nil {
		of = fl.Value.String()
	}
	before := toComplete[:strings.LastIndexByte(toComplete, ',')+1]
	var list []string
	for _, name := range toolNames(of) {
		list = append(list, before+name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// NewCompletion returns the command "quarry completion".
func NewCompletion(s env.Streams) *cobra.Command {
	cmd := command.New("completion SHELL", "Write completions for bash, zsh, fish or PowerShell",
		`Write a script that lets the shell complete commands, flags and many of their
values: file types, profiles, tools, keys, the ids of changes.`,
		`  bash        source <(quarry completion bash)
  zsh         quarry completion zsh > "${fpath[1]}/_quarry"
  fish        quarry completion fish > ~/.config/fish/completions/quarry.fish
  PowerShell  quarry completion powershell | Out-String | Invoke-Expression`,
		command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
			return WriteCompletion(cmd.Root(), args[0], s.Out)
		})
	cmd.ValidArgs = shells
	return cmd
}
