package agents

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
)

// WorkerCommand is the argument with which the program is a worker for scripts. It
// is hidden: only the server starts it.
const WorkerCommand = "script-worker"

// worker is how this program starts itself to run scripts; nil if it does not know
// its own file, and then there are none.
func worker() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, WorkerCommand}
}

// NewLook makes quarry look.
func NewLook(s env.Streams) *cobra.Command {
	return newScript(s, "look", "Ask several things with a script",
		`Run a script that searches and reads, and print what it shows: the tool look, under
the same policy and bounds. Scripts are Starlark, which looks like Python. help()
inside of one lists the functions. "-" reads the script from standard input.`,
		`  quarry look -e 'show(search("TODO", glob="*.go"))'
  quarry look -e 'for c in callers("Open"): print(c.path, c.symbol)'
  quarry look -e 'help("search")'
  quarry look script.star`, nil)
}

// NewChange makes quarry change.
func NewChange(s env.Streams) *cobra.Command {
	var dryRun bool
	cmd := newScript(s, "change", "Change files with a script",
		`Run a script that changes files: the tool change. All of it is one change, made
whole or not at all; an error changes nothing, and quarry undo undoes it. Functions
see what the script changed before.`,
		`  quarry change -e 'sub(r"\bOldName\b", "NewName", glob="*.go")'
  quarry change --dry-run script.star`, &dryRun)
	return cmd
}

func newScript(s env.Streams, name, short, long, examples string, dryRun *bool) *cobra.Command {
	a := &agent{s: s, tools: []string{name}, noGate: true}
	var text string
	cmd := command.New(name+" [-e TEXT] [SCRIPT]", short, long, examples, command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
		script, err := scriptText(cmd, s, text, args)
		if err != nil {
			return err
		}
		arguments := map[string]any{"script": script}
		if dryRun != nil && *dryRun {
			arguments["dry_run"] = true
		}
		data, err := json.Marshal(arguments)
		if err != nil {
			return err
		}
		return a.call(cmd, []string{name, string(data)})
	})
	cmd.DisableFlagsInUseLine = true
	what, out := command.NewFlags(), command.NewFlags()
	what.StringVarP(&text, "expression", "e", "", "the script's `text`")
	command.AddTexts(what, &a.roots, "root", "", "workspace `folder` (default: found from here)")
	if dryRun != nil {
		what.BoolVarP(dryRun, "dry-run", "n", false, "show what would change, and change nothing")
	}
	out.BoolVar(&a.json, "json", false, "write the result as JSON")
	manual.SetGroups(cmd, []command.Group{{Title: "Script", Flags: what}, {Title: "Other", Flags: out}})
	return cmd
}

// scriptText is the script of -e, of a file, or of standard input.
func scriptText(cmd *cobra.Command, s env.Streams, text string, args []string) (string, error) {
	switch {
	case cmd.Flags().Changed("expression") && len(args) > 0:
		return "", errors.New("give -e or a file, not both")
	case cmd.Flags().Changed("expression"):
		return text, nil
	case len(args) == 0:
		return "", errors.New("no script: give a file, - or -e TEXT")
	case args[0] == "-":
		data, err := io.ReadAll(env.InputOf(cmd.Context(), s.In))
		return string(data), err
	}
	data, err := os.ReadFile(args[0])
	return string(data), err
}
