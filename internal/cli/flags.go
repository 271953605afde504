package cli

import (
	"time"

	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
)

// searchFlags are the flags of quarry search, with ripgrep's names. As in
// ripgrep, the last of several mutually exclusive flags wins.
type searchFlags struct {
	patterns       []string
	patternFiles   []string
	fixed          bool
	structure      bool
	hole           string
	pcre           bool
	letters        string // "", ignore-case, smart-case or case-sensitive
	whole          string // "", word-regexp or line-regexp
	invert         bool
	every          bool
	lacking        []string
	changed        changedFlag
	symbol         bool
	globs          []string
	types, notType []string
	typeList       bool
	mode           string // "", or the flag that selects another output than matching lines
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
	rgPreset

	given map[string]bool // flags on the command line
}

// groups returns the flags of quarry search in the order of the help.
func (f *searchFlags) groups() []command.Group {
	list := []command.Group{
		{Title: "What to search for"}, {Title: "Where to search"}, {Title: "What to show"},
		{Title: "How to show it"}, {Title: "Other"},
	}
	for i, add := range []func(*pflag.FlagSet){f.addPattern, f.addScope, f.addModes, f.addStyle, f.addOther} {
		list[i].Flags = command.NewFlags()
		add(list[i].Flags)
	}
	if f.rg {
		f.addRg(list)
	}
	addOpposites(list)
	return list
}

func (f *searchFlags) addPattern(fl *pflag.FlagSet) {
	command.AddTexts(fl, &f.patterns, "regexp", "e", "a `pattern`; may be given several times")
	command.AddTexts(fl, &f.patternFiles, "file", "f", "patterns from a `file`, one a line; - is stdin")
	fl.BoolVarP(&f.fixed, "fixed-strings", "F", false, "the pattern is plain text")
	if !f.rg {
		addStructure(fl, &f.structure, &f.hole)
	}
	fl.StringVar(&f.syntax, "syntax", "rust", "pattern `language`: rust (the default), literal,\njavascript, javascript/u or /v for RegExp's flags")
	command.AddChoice(fl, &f.letters, "ignore-case", "i", "letters match in either case")
	command.AddChoice(fl, &f.letters, "smart-case", "S", "-i unless the pattern has a capital letter")
	command.AddChoice(fl, &f.letters, "case-sensitive", "s", "case counts (the default)")
	command.AddChoice(fl, &f.whole, "word-regexp", "w", "match whole words only")
	command.AddChoice(fl, &f.whole, "line-regexp", "x", "match whole lines only")
	fl.BoolVarP(&f.invert, "invert-match", "v", false, "show lines that don't match")
	fl.BoolVar(&f.every, "all", false, "only files in which each of several patterns matches")
	fl.StringArrayVar(&f.lacking, "lacking", nil, "only files in which `PATTERN` matches nowhere; may be repeated")
	fl.BoolVarP(&f.multiline, "multiline", "U", false, "let matches span lines")
	fl.BoolVar(&f.dotAll, "multiline-dotall", false, "with -U, let . match a line feed")
	fl.BoolVarP(&f.pcre, "pcre2", "P", false, "PCRE2's syntax: look-around, backreferences; an error\nfor what would be answered differently")
	f.rgFlags.addPattern(fl)
}

// addStructure adds the flags for code patterns with holes.
func addStructure(fl *pflag.FlagSet, structure *bool, hole *string) {
	fl.BoolVar(structure, "structure", false, "the pattern is code with holes: foo($A, $$REST);\nsee quarry help structure")
	fl.StringVar(hole, "hole", "$", "`sign` that begins a hole, where $ is part of names")
}

func (f *searchFlags) addScope(fl *pflag.FlagSet) {
	command.AddTexts(fl, &f.globs, "glob", "g", "only files this `glob` matches; ! excludes")
	command.AddTexts(fl, &f.types, "type", "t", "only files of this `type`")
	command.AddTexts(fl, &f.notType, "type-not", "T", "no files of this `type`")
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
}

func (f *searchFlags) addModes(fl *pflag.FlagSet) {
	command.AddChoice(fl, &f.mode, "files-with-matches", "l", "only the names of files that match")
	command.AddChoice(fl, &f.mode, "files-without-match", "", "only the names of files that don't")
	command.AddChoice(fl, &f.mode, "count", "c", "how many lines of each file match")
	command.AddChoice(fl, &f.mode, "count-matches", "", "how many matches each file has")
	command.AddChoice(fl, &f.mode, "json", "", "ripgrep's JSON Lines")
	command.AddChoice(fl, &f.mode, "files", "", "the files that would be searched; no pattern")
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
	command.AddChoice(fl, &f.number, "line-number", "n", "line numbers (the default)")
	command.AddChoice(fl, &f.number, "no-line-number", "N", "no line numbers")
	fl.BoolVar(&f.column, "column", false, "the column of the first match")
	fl.BoolVarP(&f.byteOffset, "byte-offset", "b", false, "the offset in the file")
	command.AddChoice(fl, &f.name, "with-filename", "H", "the path, also of a single file")
	command.AddChoice(fl, &f.name, "no-filename", "I", "no paths")
	command.AddChoice(fl, &f.heading, "heading", "", "the path above its lines (default on a terminal)")
	command.AddChoice(fl, &f.heading, "no-heading", "", "the path on each line")
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
	command.AddDuration(fl, &f.timeout, "timeout", 0, "give up after this `time`, with what was found")
	f.rgFlags.addOther(fl)
}
