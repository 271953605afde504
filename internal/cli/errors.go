package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/render"
	"quarry/match"
)

// message formats an error for a person. It marks the position of an error in a pattern and adds
// the next step if one is known.
func message(err error) string {
	var e *match.Error
	if !errors.As(err, &e) || e.Pattern == "" {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(e.Reason)
	line, column, width := markedLine(e)
	fmt.Fprintf(&b, "\n    %s\n    %s%s", line, strings.Repeat(" ", column), strings.Repeat("^", width))
	hint, here := e.Hint, ""
	var replacing *replaceError
	switch inReplace := errors.As(err, &replacing); {
	case hint == "":
	case e.ECMAScript && inReplace:
		hint = "quarry replace has Rust's syntax alone: match what stands around it in groups, and put them back with $1."
	case e.ECMAScript:
		here = "quarry search --syntax javascript"
	case e.Multiline && inReplace:
		here = "quarry replace -U"
	case e.Multiline:
		here = "quarry search -U"
	}
	if hint != "" {
		fmt.Fprintf(&b, "\n%s", hint)
	}
	if here != "" {
		fmt.Fprintf(&b, "\nHere: %s", here)
	}
	return b.String()
}

// markedLine returns the erroneous line of the pattern, shortened to at most 60 characters around
// the error, and the column and width of the mark below it.
func markedLine(e *match.Error) (line string, column, width int) {
	at := min(max(e.Offset, 0), len(e.Pattern))
	start := strings.LastIndexByte(e.Pattern[:at], '\n') + 1
	end := len(e.Pattern)
	if i := strings.IndexByte(e.Pattern[at:], '\n'); i >= 0 {
		end = at + i
	}
	cutBefore, cutAfter := "", ""
	for utf8.RuneCountInString(e.Pattern[start:at]) > 40 {
		_, size := utf8.DecodeRuneInString(e.Pattern[start:])
		start, cutBefore = start+size, "…"
	}
	for utf8.RuneCountInString(e.Pattern[at:end]) > 60 {
		_, size := utf8.DecodeLastRuneInString(e.Pattern[at:end])
		end, cutAfter = end-size, "…"
	}
	show := func(s string) string { return printing.Escape(strings.ReplaceAll(s, "\t", " ")) }
	before := cutBefore + show(e.Pattern[start:at])
	stop := min(max(at+e.Length, at), end)
	width = max(1, utf8.RuneCountInString(show(e.Pattern[at:stop])))
	return before + show(e.Pattern[at:end]) + cutAfter, utf8.RuneCountInString(before), width
}

// instead maps flags that people know from ripgrep, rm and mv to their equivalents, by command.
var instead = map[string]map[string]string{
	"search": {
		"require-git":   "ignore files count outside git repositories, always; --no-ignore-vcs leaves them out",
		"generate":      "quarry man prints manual pages, quarry completion the completions of a shell; quarry rg has the flag",
		"pcre2-version": "there is no PCRE2 here; -P is --syntax javascript; quarry rg has the flag",
	},
	"rm": {
		"r": deletesFolders, "R": deletesFolders, "recursive": deletesFolders,
		"f": neverAsks,
		"i": "--dry-run shows what would be deleted",
	},
	"mv": {
		"r": "a folder is moved with all it holds: leave the flag out",
		"f": neverOverwrites, "force": neverOverwrites, "n": neverOverwrites, "no-clobber": neverOverwrites,
		"i": "--dry-run shows what would be moved",
	},
}

const (
	deletesFolders  = "a folder is deleted with all it holds: leave the flag out; quarry undo brings it back"
	neverAsks       = "nothing is asked: leave the flag out"
	neverOverwrites = "nothing is ever overwritten: leave the flag out, or move what is there away first"
)

// flagError formats the error about an invalid flag and suggests a replacement.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		if wrong := knownCommand(cmd, cmd.Flags().Args()); cmd.HasSubCommands() && wrong != nil {
			return wrong
		}
		return unknownFlag(cmd, unknown)
	case errors.As(err, &invalid):
		return invalidValue(cmd, invalid.GetFlag(), invalid.GetValue(), errors.Unwrap(invalid))
	case errors.As(err, &missing):
		fl := missing.GetFlag()
		what, _ := pflag.UnquoteUsage(fl)
		return fmt.Errorf("--%s needs a value: --%s %s", fl.Name, fl.Name, strings.ToUpper(what))
	}
	return fmt.Errorf("%w\n  %s --help lists the flags", err, cmd.CommandPath())
}

func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	err := fmt.Errorf("unknown flag --%s of %s", name, cmd.CommandPath())
	if unknown.GetSpecifiedShortnames() != "" {
		err = fmt.Errorf("unknown flag -%s of %s", name, cmd.CommandPath())
	}
	if hint, ok := instead[cmd.Name()][name]; ok {
		return fmt.Errorf("%w\n  %s", err, hint)
	}
	if flag := searchFlag(cmd, unknown); flag != "" {
		return fmt.Errorf("%w\n  to look for a text: quarry search %s PATTERN", err, flag)
	}
	if unknown.GetSpecifiedShortnames() == "" {
		if near := nearestFlag(cmd, name); near != "" {
			return fmt.Errorf("%w\n  did you mean --%s?", err, near)
		}
	}
	return fmt.Errorf("%w\n  %s --help lists the flags", err, cmd.CommandPath())
}

// searchFlag returns the flag of quarry search that was given to quarry itself, as one would to rg;
// "" if there is none.
func searchFlag(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	if cmd.HasParent() {
		return ""
	}
	search, _, err := cmd.Find([]string{"search"})
	if err != nil {
		return ""
	}
	name := unknown.GetSpecifiedName()
	switch {
	case unknown.GetSpecifiedShortnames() == "" && search.Flags().Lookup(name) != nil:
		return "--" + name
	case len(name) == 1 && unknown.GetSpecifiedShortnames() != "" && search.Flags().ShorthandLookup(name) != nil:
		return "-" + name
	}
	return ""
}

// wanted describes the valid values of each flag type.
var wanted = map[string]string{
	"int": "a number", "count": "a number", "bool": "true or false", "duration": "a time, as 90s, 5m or 1h", "time": "a time, as 90s, 1h or 30d",
}

func invalidValue(cmd *cobra.Command, fl *pflag.Flag, value string, why error) error {
	want, ok := wanted[fl.Value.Type()]
	if !ok {
		return fmt.Errorf("--%s %q: %w\n  %s --help tells more", fl.Name, value, why, cmd.CommandPath())
	}
	return fmt.Errorf("--%s %q: it takes %s", fl.Name, value, want)
}

func nearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return config.Nearest(name, names)
}

// clearArgs wraps an argument check: its errors name the missing or extra arguments and the
// command's usage.
func clearArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if command.IsGroup(cmd) {
			return knownCommand(cmd, args)
		}
		if root := cmd.Flags().Lookup("root"); root != nil && root.Changed && root.Value.String() == "" {
			return errEmptyRoot
		}
		if check == nil {
			return nil
		}
		if err := emptyArgument(cmd, args); err != nil {
			return err
		}
		err := check(cmd, args)
		if !errors.Is(err, command.ErrCount) {
			return err
		}
		var need, may int
		for _, word := range argumentWords(cmd) {
			if may++; !strings.HasPrefix(word, "[") {
				need++
			}
			if len(args) < need {
				return fmt.Errorf("%s is missing\n  usage: %s", word, cmd.UseLine())
			}
		}
		return tooMany(cmd, args[min(may, len(args)-1)])
	}
}

var errEmptyRoot = errors.New("--root is empty; . is the current folder")

// mayBeEmpty lists the arguments that may be empty texts. Any other empty argument probably comes
// from an unset variable in a script, and must not be taken for the current folder or the last
// change.
var mayBeEmpty = map[string]bool{"PATTERN": true, "TEXT": true, "VALUE": true, "JSON": true}

func emptyArgument(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"to", "by", "since", "all-since", "client", "session"}, f.Name) && f.Value.Type() == "string" && f.Value.String() == "" {
			err = fmt.Errorf("--%s is empty", f.Name)
		}
	})
	if err != nil {
		return err
	}
	words := argumentWords(cmd)
	for i, arg := range args {
		if arg != "" || len(words) == 0 {
			continue
		}
		word, _, _ := strings.Cut(strings.Trim(words[min(i, len(words)-1)], "[]."), "[") // for example read's PATH[:A-B]
		if !mayBeEmpty[word] {
			return fmt.Errorf("%s is empty\n  usage: %s", word, cmd.UseLine())
		}
	}
	return nil
}

// argumentWords returns the arguments in a command's usage, without flags.
func argumentWords(cmd *cobra.Command) []string {
	words := strings.Fields(cmd.Use)[1:]
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			return words[:i]
		}
	}
	return words
}

func tooMany(cmd *cobra.Command, arg string) error {
	return fmt.Errorf("unexpected argument %q\n  usage: %s", arg, cmd.UseLine())
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// near returns the subcommand of cmd that is most similar to a mistyped word.
func near(cmd *cobra.Command, word string) string { return config.Nearest(word, commandNames(cmd)) }

// otherNames maps command names of other programs to Quarry's.
var otherNames = map[string]string{
	"grep": "search", "ag": "search", "ack": "search",
	"ls": "find", "list": "find", "files": "find", "tree": "find", "glob": "find",
	"cat": "read", "view": "read", "head": "read", "tail": "read", "show": "read",
	"sed": "replace", "move": "mv", "delete": "rm", "remove": "rm", "del": "rm", "rmdir": "rm",
	"apply": "patch", "new": "write", "create": "write", "touch": "write",
	"history": "log", "changes": "log", "revert": "undo", "redo": "undo", "restore": "trash restore",
	"install": "mcp install", "uninstall": "mcp uninstall", "server": "mcp", "agent": "mcp",
	"page": "ui", "web": "ui", "open": "ui", "browser": "ui",
	"status": "log, quarry record status or quarry index status", "outline": "symbols", "check": "doctor", "settings": "config", "set": "config set",
}

// knownCommand is an argument check that refuses an unknown command and suggests the nearest one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandNames(cmd)
	err := fmt.Errorf("unknown command %q", args[0])
	if known, ok := otherNames[args[0]]; ok && !cmd.HasParent() {
		return fmt.Errorf("%w\n  did you mean quarry %s?", err, known)
	}
	if near := near(cmd, args[0]); near != "" {
		return fmt.Errorf("%w\n  did you mean %s %s?", err, cmd.CommandPath(), near)
	}
	if cmd.HasParent() {
		return fmt.Errorf("%w of %s: %s", err, cmd.CommandPath(), strings.Join(names, ", "))
	}
	if known := config.Nearest(args[0], slices.Sorted(maps.Keys(otherNames))); known != "" {
		return fmt.Errorf("%w\n  did you mean quarry %s?", err, otherNames[known])
	}
	if args[0] != "" && len(args[0]) < 200 && !strings.ContainsFunc(args[0], unicode.IsControl) {
		return fmt.Errorf("%w\n  to look for a text: quarry search %s\n  quarry help lists the commands", err, render.ShellQuote(args[0]))
	}
	return fmt.Errorf("%w\n  quarry help lists the commands", err)
}
