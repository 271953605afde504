// Package cli is the command line: it parses arguments, calls the library and
// writes what comes back.
//
// Exit codes are ripgrep's everywhere: 0 when something was found or done, 1
// when nothing was, 2 for an error; 130, as shells have it, when it was
// interrupted. Nothing below this package prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"quarry/internal/cli/printing"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFound = 0
	exitNone  = 1
	exitError = 2

	exitInterrupted = 130
)

// Streams are the program's standard streams, passed in so that tests can replace
// them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	// Terminal says whether Out and Err are a terminal; nil means that they are
	// checked.
	Terminal *bool
	// Getenv looks variables up; nil is os.Getenv.
	Getenv func(string) string

	conf *settings // of this run
}

// errNone ends a command that succeeded and found nothing: exit code 1, no
// message.
var errNone = errors.New("nothing found")

// errReported ends a command whose errors were shown already: exit code 2.
var errReported = errors.New("some paths could not be used")

// Run runs one command line and returns the process's exit code.
func Run(ctx context.Context, args []string, s Streams) int {
	s.conf = &settings{completing: len(args) > 0 && strings.HasPrefix(args[0], "__complete")}
	root := newRoot(s, only(args))
	args, err := withRipgrepConfig(args, s.getenv())
	if err != nil {
		fmt.Fprintf(s.Err, "quarry: %s\n", printing.EscapeLines(err.Error()))
		return exitError
	}
	root.SetArgs(splitExec(args))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err = root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitFound
	case errors.Is(err, errNone):
		return exitNone
	case isClosedPipe(err):
		// The reader (head, a pager) has closed the pipe, which is not an error.
		return exitFound
	case ctx.Err() != nil:
		fmt.Fprintln(s.Err, "quarry: interrupted")
		return exitInterrupted
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(s.Err, "quarry: %s\n", printing.EscapeLines(message(err)))
	}
	return exitError
}

// maker makes a command.
type maker struct {
	name string
	make func(Streams) *cobra.Command
}

// commands are all commands of the program by name, in the order of the help.
func commands() []maker {
	return []maker{
		{"search", newSearch}, {"find", newFind}, {"symbols", newSymbols}, {"index", newIndex}, {"serve", newServe},
		{"read", newRead}, {"edit", newEdit}, {"write", newWrite}, {"mkdir", newMkdir}, {"mv", newMv}, {"rm", newRm}, {"note", newNote},
		{"patch", newPatch}, {"replace", newReplace},
		{"log", newLog}, {"undo", newUndo}, {"diff", newDiff}, {"trash", newTrash},
		{"tools", newTools}, {"call", newCall},
		{"mcp", func(s Streams) *cobra.Command { return newMCP(s, openTools) }}, {"ui", newUI}, {"review", newReview},
		{"config", newConfig}, {"doctor", newDoctor}, {"completion", newCompletion}, {"man", newMan}, {"version", newVersion},
	}
}

// hot are the commands that don't need the other commands, so only they are made:
// making all takes 0.4 ms. The remaining commands list or describe all commands.
var hot = []string{"search", "find", "read", "symbols", "version"}

// only returns the one command that a command line needs, or "" if others may be
// needed.
func only(args []string) string {
	if len(args) > 0 && slices.Contains(hot, args[0]) {
		return args[0]
	}
	return ""
}

// newRoot makes the command tree, or with a name the part of it that this command
// needs.
func newRoot(s Streams, only string) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "quarry",
		Short: "Search a workspace and change files in it",
		Long: `Quarry searches a workspace and changes files in it: for people at a shell,
for AI agents over MCP, and for Go programs as a library.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              knownCommand,
		PersistentPreRunE: s.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return s.printVersion()
			}
			return cmd.Help()
		},
	}
	// cobra's own flag needs a template, and a program with templates keeps
	// every method of every type: 16.3 MB instead of 13.6.
	root.Flags().BoolVarP(&showVersion, "version", "V", false, "show the version")
	if s.conf != nil {
		root.PersistentFlags().BoolVar(&s.conf.off, "no-config", false, "ignore quarry.toml")
	}
	root.SetHelpCommand(newHelp(s))
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	for _, c := range commands() {
		if only == "" || only == c.name {
			root.AddCommand(c.make(s))
		}
	}
	root.InitDefaultHelpCmd()
	finish(root)
	if s.conf != nil && s.conf.completing {
		addCompletions(root) // takes 1 ms: only when a shell asks
	}
	return root
}

func newVersion(s Streams) *cobra.Command {
	return command("version", "Show the version", "Show the version, as --version and -V do.", "", cobra.NoArgs,
		func(*cobra.Command, []string) error { return s.printVersion() })
}

func (s Streams) printVersion() error {
	_, err := fmt.Fprintf(s.Out, "quarry %s\n", version())
	return err
}

// stamped is set by release builds: -ldflags "-X quarry/internal/cli.stamped=v1.2.3".
var stamped string

// version is the stamped release, else what the Go tool recorded in the
// binary, else "devel".
func version() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
