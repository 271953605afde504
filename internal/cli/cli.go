// Package cli is the command line: it parses arguments, calls the library and writes the results.
//
// All commands use ripgrep's exit codes: 0 if something was found or done, 1 if not, 2 for an
// error. As in shells, 130 means interrupted. The packages below this one never print.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/internal/cli/agents"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/hook"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
)

// Exit codes.
const (
	exitFound = 0
	exitNone  = 1
	exitError = 2

	exitInterrupted = 130
)

// Streams are the input and output of a run.
type Streams = env.Streams

// Run runs one command line and returns the process's exit code.
func Run(ctx context.Context, args []string, s env.Streams) int {
	if isHook(args) { // before anything else: a hook fails silently
		s.Conf = &env.Settings{}
		hook.Answer(args[1:], s)
		return exitFound
	}
	s.Conf = &env.Settings{Completing: len(args) > 0 && strings.HasPrefix(args[0], "__complete")}
	root := newRoot(s, only(args))
	args, err := withRipgrepConfig(args, s.Env(), s.Err)
	if err != nil {
		fmt.Fprintf(s.Err, "quarry: %s\n", printing.EscapeLines(err.Error()))
		return exitError
	}
	root.SetArgs(splitFdExec(splitExec(args)))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err = root.ExecuteContext(ctx)
	if s.Conf.Unwritten != nil && (err == nil || errors.Is(err, env.ErrNone)) {
		err = s.Conf.Unwritten
	}
	if len(args) > 0 && args[0] == "fd" {
		return fdExit(ctx, s, err)
	}
	switch {
	case err == nil:
		return exitFound
	case errors.Is(err, env.ErrNone):
		return exitNone
	case isClosedPipe(err):
		// The reader (head, a pager) has closed the pipe, which is not an error.
		return exitFound
	case ctx.Err() != nil:
		fmt.Fprintln(s.Err, "quarry: interrupted")
		if errors.Is(err, change.ErrRolledBack) {
			fmt.Fprintln(s.Err, "  what the change had done is rolled back: nothing was changed")
		}
		return exitInterrupted
	}
	if !errors.Is(err, env.ErrReported) {
		fmt.Fprintf(s.Err, "%s: %s\n", programName(args), cutLines(printing.EscapeLines(message(err))))
	}
	return exitError
}

// programName returns the prefix of messages: rg or fd if quarry runs in their place, else quarry.
func programName(args []string) string {
	if len(args) > 0 && (args[0] == "rg" || args[0] == "fd") {
		return args[0]
	}
	return "quarry"
}

// cutLines shortens long lines of a message, because a message may quote an argument of any length.
// The limit leaves room for the longest path, 4,096 bytes.
func cutLines(text string) string {
	const most = 5000
	if len(text) <= most {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if len(l) > most {
			lines[i] = strings.ToValidUTF8(l[:most], "") + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// maker creates one command.
type maker struct {
	name string
	make func(env.Streams) *cobra.Command
}

// commands lists all commands of the program by name, in the order of the help.
func commands() []maker {
	return []maker{
		{"search", newSearch}, {"find", newFind}, {"rg", newRg}, {"fd", newFd}, {"symbols", newSymbols}, {"rank", agents.NewRank}, {"refs", agents.NewRefs}, {"index", newIndex}, {"serve", newServe},
		{"read", newRead}, {"edit", newEdit}, {"value", newValue}, {"write", newWrite}, {"mkdir", newMkdir}, {"mv", newMv}, {"rm", newRm}, {"note", newNote},
		{"patch", newPatch}, {"replace", newReplace}, {"rename", newRename},
		{"log", newLog}, {"undo", newUndo}, {"diff", newDiff}, {"point", newPoint}, {"record", newRecord}, {"trash", newTrash},
		{"tools", agents.NewTools}, {"call", agents.NewCall},
		{"mcp", agents.NewMCP}, {"hook", agents.NewHook}, {"agents-md", agents.NewAgentsMD}, {"skill", agents.NewSkill}, {"ui", newPage}, {"review", newReview},
		{"config", newConfig}, {"doctor", newDoctor}, {"completion", manual.NewCompletion}, {"man", manual.NewMan}, {"version", newVersion},
	}
}

// hot lists frequent commands that work without the rest of the command tree. For these only the
// command itself is made, because making all commands takes 0.4 ms.
var hot = []string{"search", "find", "rg", "fd", "read", "symbols", "version"}

// only returns the name of the one command that a command line needs, or "" if it may need the
// whole command tree.
func only(args []string) string {
	if len(args) > 0 && slices.Contains(hot, args[0]) && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--generate") }) {
		return args[0]
	}
	return ""
}

// ChangesNothing reports whether a command line only reads, whatever its flags.
func ChangesNothing(args []string) bool { return only(args) != "" || isHook(args) }

// isHook reports whether a client calls a hook. The arguments install, uninstall and flags come
// from people instead.
func isHook(args []string) bool {
	return len(args) > 1 && args[0] == "hook" && args[1] != "install" && args[1] != "uninstall" && !strings.HasPrefix(args[1], "-")
}

// newRoot makes the command tree; if only isn't "", it contains just that command.
func newRoot(s env.Streams, only string) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "quarry",
		Short: "Search a workspace and change files in it",
		Long: `Quarry searches a workspace and changes files in it: for people at a shell,
for AI agents over MCP, and for Go programs as a library.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              knownCommand,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return configure(s, cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return printVersion(s)
			}
			return cmd.Help()
		},
	}
	// Cobra's own version flag needs a template. A program that uses templates must keep every
	// method of every type: 16.3 MB instead of 13.6.
	root.Flags().BoolVarP(&showVersion, "version", "V", false, "show the version")
	if s.Conf != nil {
		root.PersistentFlags().BoolVar(&s.Conf.Off, "no-config", false, "ignore quarry.toml")
	}
	root.SetHelpCommand(manual.NewHelp(s))
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	for _, c := range commands() {
		if only == "" || only == c.name {
			root.AddCommand(c.make(s))
		}
	}
	root.InitDefaultHelpCmd()
	finish(root, s)
	if s.Conf != nil && s.Conf.Completing {
		manual.AddCompletions(root, completions()) // takes 1 ms, so only when a shell asks
	}
	return root
}

func newVersion(s env.Streams) *cobra.Command {
	return command.New("version", "Show the version", "Show the version, as --version and -V do.", "", command.Args(0, 0),
		func(*cobra.Command, []string) error { return printVersion(s) })
}

func printVersion(s env.Streams) error {
	_, err := fmt.Fprintf(s.Out, "quarry %s\n", env.Version())
	return err
}
