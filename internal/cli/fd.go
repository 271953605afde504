package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
	"quarry/search"
)

// fdVersion is the version of fd that quarry fd imitates.
const fdVersion = "10.3.0"

// fdFlags are the flags of quarry fd. The embedded findFlags are those with the same meaning in
// quarry find.
type fdFlags struct {
	findFlags
	glob, regex                   bool
	and, searchPaths, ignoreFiles []string
	separator, base, format       string
	owner, stripPrefix, colour    string
	ignoreContain                 []string
	exactDepth, threads           int
	maxResults, batchSize         int
	prune, oneFileSystem          bool
	noVCS, noParent, noRequireGit bool
	noGlobal, showErrors, version bool
	relative, exactName           bool
	hyperlink                     string
	commands, batches             []string // of -x and -X, words separated by NUL
}

func newFd(s env.Streams) *cobra.Command {
	var f fdFlags
	cmd := &cobra.Command{
		Use:   "fd [PATTERN] [PATH...]",
		Short: "List files by name as fd does, for aliases and scripts",
		Long: `List files and folders with fd's own defaults and flags, so that alias
fd='quarry fd' and scripts go on working: the pattern is a regular expression in
names, in any letter case unless it has a capital letter, folders are listed and
end in /, .fdignore is read. docs/SEARCH.md lists what differs from fd. quarry
find lists files with our defaults.

Exit code 0, also when nothing was found; with -q 1 then; 1 for an error.`,
		Example: `  alias fd='quarry fd'
  quarry fd -e go -x gofmt -l`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.version {
				return s.Write(fmt.Sprintf("fd %s (quarry %s)\n", fdVersion, env.Version()))
			}
			return f.run(cmd.Context(), s, cmd.Flags().Changed, args)
		},
	}
	manual.SetGroups(cmd, f.groups())
	return cmd
}

func (f *fdFlags) groups() []command.Group {
	what, how := command.NewFlags(), command.NewFlags()
	what.BoolVarP(&f.glob, "glob", "g", false, "the pattern is a glob, for whole names")
	what.BoolVar(&f.regex, "regex", false, "the pattern is a regular expression (the default)")
	what.BoolVarP(&f.fixed, "fixed-strings", "F", false, "the pattern is plain text")
	what.BoolVar(&f.exactName, "exact", false, "the pattern is the whole name, as plain text")
	what.BoolVar(&f.fixed, "literal", false, "the same")
	command.AddTexts(what, &f.and, "and", "", "a further `pattern` that has to match")
	command.AddChoice(what, &f.letters, "ignore-case", "i", "the pattern in any letter case")
	command.AddChoice(what, &f.letters, "case-sensitive", "s", "the pattern's letter case counts")
	what.BoolVarP(&f.fullPath, "full-path", "p", false, "the pattern is about absolute paths")
	command.AddTexts(what, &f.kinds, "type", "t", "`kind`: f (file), d (dir), l (symlink), x (executable)\nor e (empty); may be given several times")
	command.AddTexts(what, &f.exts, "extension", "e", "only names that end in .`ext`")
	command.AddTexts(what, &f.excludes, "exclude", "E", "nothing this `glob` matches, nor what is below it")
	command.AddTexts(what, &f.sizes, "size", "S", "+`n` is at least n bytes, -n at most; 10k, 5m, 1gi")
	for _, name := range []string{"changed-within", "change-newer-than", "newer", "changed-after"} {
		what.StringVar(&f.within, name, "", "changed since a `time` ago, as 2h or 3d, or a date")
		what.Lookup(name).Hidden = name != "changed-within"
	}
	for _, name := range []string{"changed-before", "change-older-than", "older"} {
		what.StringVar(&f.before, name, "", "not changed since a `time` ago")
		what.Lookup(name).Hidden = name != "changed-before"
	}
	what.StringVarP(&f.owner, "owner", "o", "", "only what belongs to `user:group`; ! excludes")
	what.BoolVarP(&f.hidden, "hidden", "H", false, "hidden files and folders too")
	what.BoolVarP(&f.noIgnore, "no-ignore", "I", false, "ignored files too")
	what.VarPF(both{&f.hidden, &f.noIgnore}, "unrestricted", "u", "-H and -I").NoOptDefVal = "true"
	what.BoolVar(&f.noVCS, "no-ignore-vcs", false, "leave .gitignore and git's own lists unread")
	what.BoolVar(&f.noParent, "no-ignore-parent", false, "leave ignore files of folders above unread")
	what.BoolVar(&f.noRequireGit, "no-require-git", false, "heed .gitignore outside git repositories too")
	what.BoolVar(&f.noGlobal, "no-global-ignore-file", false, "leave fd's own list of ignored files unread")
	command.AddTexts(what, &f.ignoreFiles, "ignore-file", "", "a `file` of ignore rules")
	command.AddTexts(what, &f.ignoreContain, "ignore-contain", "", "no folder in which there is an entry with this `name`")
	what.BoolVarP(&f.follow, "follow", "L", false, "follow symlinks, within the workspace")
	what.BoolVar(&f.oneFileSystem, "one-file-system", false, "enter no folder on another file system")
	what.IntVarP(&f.maxDepth, "max-depth", "d", 0, "at most `n` folders deep")
	what.IntVar(&f.minDepth, "min-depth", 0, "at least `n` folders deep")
	what.IntVar(&f.exactDepth, "exact-depth", 0, "exactly `n` folders deep")
	what.BoolVar(&f.prune, "prune", false, "nothing below a folder that is listed")
	command.AddTexts(what, &f.searchPaths, "search-path", "", "a `folder` to search, so that arguments are patterns")
	what.StringVar(&f.base, "base-directory", "", "work as if this `folder` were the current one")
	how.BoolVarP(&f.long, "list-details", "l", false, "mode, size and time before each path")
	how.BoolVarP(&f.absolute, "absolute-path", "a", false, "whole paths")
	how.BoolVar(&f.relative, "relative-path", false, "paths from here, which is the default")
	how.StringVar(&f.stripPrefix, "strip-cwd-prefix", "auto", "`when` paths lack ./: always, never or auto")
	how.Lookup("strip-cwd-prefix").NoOptDefVal = "always"
	how.StringVar(&f.separator, "path-separator", "", "a `character` in place of / in paths")
	how.StringVarP(&f.colour, "color", "c", "auto", "`when`: auto, always or never; colours are those of\nLS_COLORS")
	how.StringVar(&f.hyperlink, "hyperlink", "never", "`when` paths are links: auto, always or never")
	how.Lookup("hyperlink").NoOptDefVal = "auto"
	how.StringVar(&f.format, "format", "", "print each path by a `template`: {} is the path, {/}\nits name, {//} its folder, {.} and {/.} without\nextension")
	command.AddTexts(how, &f.commands, "exec", "x", "run a `command` for each path; it ends with the line,\nor with ;")
	command.AddTexts(how, &f.batches, "exec-batch", "X", "run a `command` once, for all paths")
	how.IntVar(&f.batchSize, "batch-size", 0, "-X with at most `n` paths at a time")
	how.IntVar(&f.maxResults, "max-results", 0, "at most `n` paths")
	how.BoolVarP(&f.one, "max-one-result", "1", false, "at most one path")
	how.BoolVarP(&f.quiet, "quiet", "q", false, "nothing; the exit code tells")
	how.BoolVar(&f.quiet, "has-results", false, "the same")
	how.BoolVarP(&f.nul, "print0", "0", false, "a NUL after each path instead of a line feed")
	how.BoolVar(&f.showErrors, "show-errors", false, "say which folders can't be read")
	how.IntVarP(&f.threads, "threads", "j", 0, "accepted; a listing takes as many as it needs, not `n`")
	how.Int("max-buffer-time", 0, "")
	how.BoolVarP(&f.version, "version", "V", false, "the version of fd that this behaves like")
	for _, name := range []string{"max-buffer-time", "has-results", "relative-path"} {
		how.Lookup(name).Hidden = true
	}
	for _, alias := range []struct {
		name string
		to   *int
	}{{"maxdepth", &f.maxDepth}, {"mindepth", &f.minDepth}} {
		what.IntVar(alias.to, alias.name, 0, "")
		what.Lookup(alias.name).Hidden = true
	}
	what.Lookup("literal").Hidden = true
	list := []command.Group{{Title: "What to list", Flags: what}, {Title: "How to show it", Flags: how}}
	addFdOpposites(list)
	return list
}

// both is a flag that sets two others, which later flags can set again.
type both struct{ one, other *bool }

func (b both) Type() string     { return "bool" }
func (b both) String() string   { return "false" }
func (b both) IsBoolFlag() bool { return true }

func (b both) Set(s string) error {
	on, err := strconv.ParseBool(s)
	*b.one, *b.other = on, on
	return err
}

// fdOpposites maps each flag to the flag that it cancels.
var fdOpposites = map[string]string{
	"no-hidden": "hidden", "ignore": "no-ignore", "ignore-vcs": "no-ignore-vcs", "ignore-parent": "no-ignore-parent",
	"require-git": "no-require-git", "no-follow": "follow",
}

func addFdOpposites(groups []command.Group) {
	fl := groups[0].Flags
	for name, of := range fdOpposites {
		fl.VarPF(off{fl.Lookup(of).Value, "false"}, name, "", "").NoOptDefVal = "true"
		fl.Lookup(name).Hidden = true
	}
}

// fdExit prints an error and returns fd's exit code, 1 for every error.
func fdExit(ctx context.Context, s env.Streams, err error) int {
	switch {
	case err == nil || isClosedPipe(err):
		return exitFound
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, env.ErrNone), errors.Is(err, env.ErrReported):
		return exitNone
	}
	fmt.Fprintf(s.Err, "fd: %s\n", cutLines(printing.EscapeLines(message(err))))
	return exitNone
}

// run lists the entries selected by the flags.
func (f *fdFlags) run(ctx context.Context, s env.Streams, given func(string) bool, args []string) error {
	if f.base != "" {
		if err := os.Chdir(f.base); err != nil {
			return fmt.Errorf("--base-directory %s: no such folder", strconv.Quote(f.base))
		}
	}
	patterns, paths := f.and, f.searchPaths
	if len(args) > 0 && len(f.searchPaths) > 0 {
		patterns = append(patterns[:len(patterns):len(patterns)], args...)
	} else if len(args) > 0 {
		patterns, paths = append([]string{args[0]}, patterns...), args[1:]
	}
	if err := f.check(given, paths); err != nil {
		return err
	}
	accepts, err := f.patterns(patterns)
	if err != nil {
		return err
	}
	pass, kinds, err := f.filter()
	if err != nil {
		return err
	}
	complain := func(err error) { // as in fd, the other paths are still listed and the exit code stays 0
		fmt.Fprintf(s.Err, "fd: %s\n", printing.EscapeLines(err.Error()))
	}
	ws := &workspaces{open: map[string]*quarry.Workspace{}}
	defer ws.close()
	var real []string
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			complain(fmt.Errorf("%s: no such folder", strconv.Quote(p)))
			continue
		}
		real = append(real, p)
	}
	if len(real) == 0 && len(paths) > 0 {
		complain(errors.New("none of the paths is a folder"))
		return env.ErrReported
	}
	if _, err := os.Getwd(); err != nil && len(paths) == 0 {
		return errors.New("the current folder is gone")
	}
	root := ""
	if _, err := os.Getwd(); err != nil {
		root = real[0] // the current folder was deleted, but the given paths may be elsewhere
	}
	targets, err := ws.find(root, fdPaths(real), complain)
	if err != nil {
		return err
	}
	targets = withinDepth(targets, (given("max-depth") || given("maxdepth")) && f.maxDepth == 0)
	out := &fdOutput{f: f, s: s, w: bufio.NewWriterSize(s.Out, 64<<10), implicit: len(paths) == 0, tty: s.OutTerminal()}
	if printing.UseColour(f.colour, out.tty, s.Env()) && !f.nul {
		palette := lsColoursOf(s.Env())
		out.palette = &palette
	}
	looks := pass != nil || f.long || out.palette != nil || kinds["executable"] || kinds["empty"]
	for i := range targets {
		t := &targets[i]
		res, err := t.ws.Find(ctx, f.fdQuery(t, looks, complain))
		if err != nil {
			return err
		}
		if f.showErrors {
			for _, k := range res.Skipped {
				complain(skipError(t, k))
			}
		}
		if err := out.add(ctx, t, res.Entries, accepts, pass, kinds); err != nil {
			return err
		}
	}
	if err := out.finish(ctx); err != nil {
		return err
	}
	if f.quiet && out.n == 0 {
		return env.ErrNone
	}
	return nil
}

// fdPaths replaces the path "-" by "./-", because "-" alone would mean standard input.
func fdPaths(paths []string) []string {
	for i, p := range paths {
		if p == "-" {
			paths[i] = "./-"
		}
	}
	return paths
}

// check refuses arguments that fd refuses.
func (f *fdFlags) check(given func(string) bool, paths []string) error {
	if given("threads") && f.threads <= 0 {
		return errors.New("--threads takes a number, 1 or more")
	}
	if len(f.commands)+len(f.batches) > 0 && (given("max-results") || f.one) {
		return errors.New("--max-results can't be used with --exec or --exec-batch")
	}
	if len(f.commands) > 0 && len(f.batches) > 0 {
		return errors.New("--exec can't be used with --exec-batch")
	}
	if f.exactDepth > 0 {
		f.minDepth, f.maxDepth = f.exactDepth, f.exactDepth
	}
	if f.one {
		f.maxResults = 1
	}
	if f.minDepth > f.maxDepth && f.maxDepth > 0 {
		f.minDepth = f.maxDepth + 1 // an empty range: no entry is deep enough
	}
	switch f.stripPrefix {
	case "auto", "always", "never":
	default:
		return fmt.Errorf("--strip-cwd-prefix %q: auto, always or never", f.stripPrefix)
	}
	return nil
}

// fdQuery returns the query for everything below a target. looks requests sizes, times and
// permissions.
func (f *fdFlags) fdQuery(t *target, looks bool, complain func(error)) search.FindQuery {
	q := search.FindQuery{Kind: search.FilesAndFolders, Links: true, Stat: looks, Order: search.ByPath}
	q.Paths = []string{t.path}
	q.IncludeHidden, q.IncludeIgnored, q.FollowLinks, q.OneFileSystem = f.hidden, f.noIgnore, f.follow, f.oneFileSystem
	q.MaxDepth = f.maxDepth
	q.Without = search.RuleFiles{VCS: f.noVCS, Parent: f.noParent, NoGit: !f.noRequireGit && outsideGit(t.root), Fd: true}
	for _, x := range f.excludes {
		q.Globs = append(q.Globs, "!"+strings.TrimPrefix(x, "!"))
	}
	named := f.ignoreFiles
	if list := f.globalIgnores(); list != "" && !f.noIgnore {
		named = append([]string{list}, named...)
	}
	rules := (&searchFlags{rgFlags: rgFlags{ignoreFiles: named}}).ignoreRules(complain)
	q.Lowest = rebased(rules, t.here)
	return q
}

// globalIgnores returns the path of fd's global ignore file, or "".
func (f *fdFlags) globalIgnores() string {
	if f.noGlobal {
		return ""
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	list := filepath.Join(dir, "fd", "ignore")
	if _, err := os.Stat(list); err != nil {
		return ""
	}
	return list
}

// filter returns the test of entries by kind, size, time and owner.
func (f *fdFlags) filter() (func(*search.Entry) bool, map[string]bool, error) {
	kinds := map[string]bool{}
	for _, k := range f.kinds {
		name, ok := fdKinds[k]
		if !ok {
			return nil, nil, fmt.Errorf("--type %q: file, directory, symlink, executable or empty", k)
		}
		kinds[name] = true
	}
	own := findFlags{sizes: f.sizes, within: f.within, before: f.before}
	pass, err := own.test(map[string]bool{})
	if err != nil {
		return nil, nil, err
	}
	return pass, kinds, nil
}

// fdKinds are the values of fd's -t.
var fdKinds = map[string]string{
	"f": "file", "file": "file", "d": "dir", "dir": "dir", "directory": "dir", "l": "symlink", "symlink": "symlink",
	"x": "executable", "executable": "executable", "e": "empty", "empty": "empty",
	"s": "other", "socket": "other", "p": "other", "pipe": "other", "b": "other", "block-device": "other", "c": "other", "char-device": "other",
}

// isKind reports whether an entry has one of the kinds of -t.
func (f *fdFlags) isKind(ctx context.Context, t *target, e *search.Entry, kinds map[string]bool) bool {
	if len(kinds) == 0 {
		return true
	}
	file, dir, exe := kinds["file"] || kinds["executable"], kinds["dir"], kinds["executable"]
	if kinds["empty"] && !file && !dir {
		file, dir = true, true
	}
	switch {
	case e.Folder && !dir, e.Link && !kinds["symlink"], !e.Folder && !e.Link && !file:
		return false
	case exe && !t.executable(e):
		return false
	}
	return !kinds["empty"] || t.empty(ctx, e)
}

// executable reports whether this user may execute a file.
func (t *target) executable(e *search.Entry) bool {
	if e.Link || t.root == "" {
		return !e.Link && e.Mode&0o111 != 0
	}
	return mayExecute(t.abs(e), e.Mode)
}

// abs returns the absolute path of an entry.
func (t *target) abs(e *search.Entry) string {
	return filepath.Join(t.root, filepath.FromSlash(e.Path))
}
