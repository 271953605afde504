package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/config"
)

// searchFlags are the flags of quarry search, with ripgrep's names. As in
// ripgrep, the last of several flags that exclude each other wins.
type searchFlags struct {
	patterns       []string
	patternFiles   []string
	fixed          bool
	pcre           bool
	letters        string // "", ignore-case, smart-case or case-sensitive
	whole          string // "", word-regexp or line-regexp
	invert         bool
	every          bool
	changed        changedFlag
	symbol         bool
	globs          []string
	types, notType []string
	typeList       bool
	mode           string // "", or the flag that replaces lines by something else
	only           bool
	number         string // "", line-number or no-line-number
	column         bool
	byteOffset     bool
	after, before  int
	context        int
	maxCount       int
	limit          int
	multiline      bool
	dotAll         bool
	nul            bool
	quiet          bool
	sort, sortr    string
	hidden         bool
	noIgnore       bool
	noIndex        bool
	unrestricted   int
	text           bool
	maxColumns     int
	maxDepth       int
	replace        string
	trim           bool
	stats          bool
	noMessages     bool
	vimgrep        bool
	syntax         string
	colour         string
	heading        string // "", heading or no-heading
	name           string // "", with-filename or no-filename
	workers        int
	root           string
	timeout        time.Duration
	rgFlags
	backendFlags

	given map[string]bool // flags on the command line
}

// choice is one of several flags that exclude each other: the last given wins.
type choice struct {
	to   *string
	name string
}

func (c choice) String() string   { return fmt.Sprint(c.to != nil && *c.to == c.name && c.name != "") }
func (c choice) Type() string     { return "bool" }
func (c choice) IsBoolFlag() bool { return true }

func (c choice) Set(s string) error {
	switch {
	case s == "true":
		*c.to = c.name
	case s != "false":
		return fmt.Errorf("%q is neither true nor false", s)
	case *c.to == c.name:
		*c.to = ""
	}
	return nil
}

func addChoice(fl *pflag.FlagSet, to *string, name, short, usage string) {
	fl.VarPF(choice{to, name}, name, short, usage).NoOptDefVal = "true"
}

// flagGroup is a part of a command's flags with the title help shows.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// groups of the flags of quarry search, in the order help shows them.
func (f *searchFlags) groups() []flagGroup {
	list := []flagGroup{
		{"What to search for", nil}, {"Where to search", nil}, {"What to show", nil},
		{"How to show it", nil}, {"Other", nil},
	}
	for i, add := range []func(*pflag.FlagSet){f.addPattern, f.addScope, f.addModes, f.addStyle, f.addOther} {
		list[i].flags = newFlagSet()
		add(list[i].flags)
	}
	addOpposites(list)
	return list
}

func newFlagSet() *pflag.FlagSet {
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	fl.SortFlags = false
	return fl
}

func (f *searchFlags) addPattern(fl *pflag.FlagSet) {
	textsVar(fl, &f.patterns, "regexp", "e", "a `pattern`; may be given several times")
	textsVar(fl, &f.patternFiles, "file", "f", "patterns from a `file`, one a line; - is stdin")
	fl.BoolVarP(&f.fixed, "fixed-strings", "F", false, "the pattern is plain text")
	fl.StringVar(&f.syntax, "syntax", "rust", "pattern `language`: rust (the default),\njavascript or literal")
	addChoice(fl, &f.letters, "ignore-case", "i", "letters match in either case")
	addChoice(fl, &f.letters, "smart-case", "S", "-i unless the pattern has a capital letter")
	addChoice(fl, &f.letters, "case-sensitive", "s", "case counts (the default)")
	addChoice(fl, &f.whole, "word-regexp", "w", "match whole words only")
	addChoice(fl, &f.whole, "line-regexp", "x", "match whole lines only")
	fl.BoolVarP(&f.invert, "invert-match", "v", false, "show lines that don't match")
	fl.BoolVar(&f.every, "all", false, "only files in which each of several patterns matches")
	fl.BoolVarP(&f.multiline, "multiline", "U", false, "let matches span lines")
	fl.BoolVar(&f.dotAll, "multiline-dotall", false, "with -U, let . match a line feed")
	fl.BoolVarP(&f.pcre, "pcre2", "P", false, "look-around and backreferences, as --syntax\njavascript has them")
	f.rgFlags.addPattern(fl)
}

func (f *searchFlags) addScope(fl *pflag.FlagSet) {
	textsVar(fl, &f.globs, "glob", "g", "only files this `glob` matches; ! excludes")
	textsVar(fl, &f.types, "type", "t", "only files of this `type`")
	textsVar(fl, &f.notType, "type-not", "T", "no files of this `type`")
	fl.BoolVar(&f.typeList, "type-list", false, "show the known types")
	f.changed.add(fl)
	fl.BoolVarP(&f.hidden, "hidden", ".", false, "hidden files and folders too")
	fl.BoolVar(&f.noIgnore, "no-ignore", false, "ignored files too")
	fl.CountVarP(&f.unrestricted, "unrestricted", "u", "-u is --no-ignore, -uu also --hidden,\n-uuu also --binary")
	fl.BoolVar(&f.noIndex, "no-index", false, "read every file, even if an index could tell")
	fl.BoolVarP(&f.text, "text", "a", false, "binary files too, as if they were text")
	fl.IntVarP(&f.maxDepth, "max-depth", "d", 0, "at most `n` folders deep; 1 is the folder alone")
	fl.IntVar(&f.maxDepth, "maxdepth", 0, "")
	fl.Lookup("maxdepth").Hidden = true
	f.rgFlags.addScope(fl)
	fl.StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	f.backendFlags.add(fl)
}

func (f *searchFlags) addModes(fl *pflag.FlagSet) {
	addChoice(fl, &f.mode, "files-with-matches", "l", "only the names of files that match")
	addChoice(fl, &f.mode, "files-without-match", "", "only the names of files that don't")
	addChoice(fl, &f.mode, "count", "c", "how many lines of each file match")
	addChoice(fl, &f.mode, "count-matches", "", "how many matches each file has")
	addChoice(fl, &f.mode, "json", "", "ripgrep's JSON Lines")
	addChoice(fl, &f.mode, "files", "", "the files that would be searched; no pattern")
	fl.BoolVarP(&f.only, "only-matching", "o", false, "only the parts that match")
	fl.StringVarP(&f.replace, "replace", "r", "", "matches replaced by `text`; $1, $name are groups")
	fl.VarP(lines{&f.after, &f.passthru}, "after-context", "A", "`n` lines after each match")
	fl.VarP(lines{&f.before, &f.passthru}, "before-context", "B", "`n` lines before each match")
	fl.VarP(lines{&f.context, &f.passthru}, "context", "C", "`n` lines before and after")
	fl.IntVarP(&f.maxCount, "max-count", "m", 0, "at most `n` matching lines of each file")
	fl.IntVar(&f.limit, "limit", 0, "at most `n` matching lines in all; with -l or -c\nat most n files")
	fl.BoolVar(&f.symbol, "symbol", false, "above matches, the line that begins the function,\ntype or method around them, as git grep -p")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "nothing; the exit code tells")
	fl.BoolVar(&f.vimgrep, "vimgrep", false, "each match on a line, with line and column")
	fl.BoolVar(&f.stats, "stats", false, "how the search went, after the matches")
	f.rgFlags.addModes(fl)
}

func (f *searchFlags) addStyle(fl *pflag.FlagSet) {
	addChoice(fl, &f.number, "line-number", "n", "line numbers (the default)")
	addChoice(fl, &f.number, "no-line-number", "N", "no line numbers")
	fl.BoolVar(&f.column, "column", false, "the column of the first match")
	fl.BoolVarP(&f.byteOffset, "byte-offset", "b", false, "the offset in the file")
	addChoice(fl, &f.name, "with-filename", "H", "the path, also of a single file")
	addChoice(fl, &f.name, "no-filename", "I", "no paths")
	addChoice(fl, &f.heading, "heading", "", "the path above its lines (default on a terminal)")
	addChoice(fl, &f.heading, "no-heading", "", "the path on each line")
	fl.StringVar(&f.colour, "color", "auto", "`when`: auto (the default; heeds NO_COLOR),\nalways or never")
	fl.StringVar(&f.sort, "sort", "path", "`order`: path (the default), none, or the oldest\nfirst by modified, created or accessed")
	fl.StringVar(&f.sortr, "sortr", "", "the same `order` reversed")
	fl.IntVarP(&f.maxColumns, "max-columns", "M", 0, "omit lines longer than `n` bytes")
	fl.BoolVar(&f.trim, "trim", false, "drop white space at the start of lines")
	fl.BoolVarP(&f.nul, "null", "0", false, "a NUL after each path")
	f.rgFlags.addStyle(fl)
}

func (f *searchFlags) addOther(fl *pflag.FlagSet) {
	fl.BoolVar(&f.noMessages, "no-messages", false, "don't report what could not be read")
	fl.IntVarP(&f.workers, "threads", "j", 0, "use `n` threads; 0 is one for each processor")
	addDuration(fl, &f.timeout, "timeout", 0, "give up after this `time`, with what was found")
	f.rgFlags.addOther(fl)
}

// setGroups gives a command its flags and a help text that shows the groups.
func setGroups(cmd *cobra.Command, groups []flagGroup) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.Flags().SortFlags = false
	cmd.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c, groups) })
}

// texts is a flag that may be given several times. pflag's own type makes a CSV
// writer to print an empty default, which takes 0.1 ms for all flags of a search.
type texts struct {
	list  *[]string
	given bool
}

func textsVar(fl *pflag.FlagSet, list *[]string, name, short, usage string) {
	fl.VarP(&texts{list: list}, name, short, usage)
}

func (t *texts) Type() string             { return "stringArray" }
func (t *texts) String() string           { return "[" + strings.Join(*t.list, ",") + "]" }
func (t *texts) GetSlice() []string       { return slices.Clone(*t.list) }
func (t *texts) Append(s string) error    { *t.list = append(*t.list, s); return nil }
func (t *texts) Replace(s []string) error { *t.list = slices.Clone(s); return nil }

// Set replaces the default by the first value.
func (t *texts) Set(s string) error {
	if !t.given {
		*t.list, t.given = nil, true
	}
	return t.Append(s)
}

// days is a time that may be given in days.
type days time.Duration

func (d *days) String() string { return config.ShortDuration(time.Duration(*d).String()) }
func (d *days) Type() string   { return "time" }

func (d *days) Set(s string) error {
	v, err := config.ParseDuration(s)
	*d = days(v)
	return err
}

func addDuration(fl *pflag.FlagSet, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	fl.Var((*days)(to), name, usage)
}
