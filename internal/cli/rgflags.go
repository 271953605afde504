package cli

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/search"
)

// rgFlags are ripgrep's rarely used flags; searchFlags has the others.
type rgFlags struct {
	passthru, binary, stopOnNonmatch, includeZero, nulData, foldRules bool
	follow, oneFileSystem, foldGlobs, zip                             bool
	preview, pretty, sortFiles, eager, debug                          bool
	noUnicode, autoEngine                                             bool
	noIgnoreFiles, noIgnoreMessages                                   bool
	without                                                           search.RuleFiles
	encoding, engine                                                  string
	pre, hostname                                                     string
	preGlobs, ignoreFiles, iglobs, typeAdd, typeClear                 []string
	colors                                                            []string
	links, pathSep                                                    string
	matchSep, contextFieldSep, contextSep                             string
	noContextSep                                                      bool
	maxFileSize, regexSize                                            bytesFlag
}

// bytesFlag is a number of bytes, optionally with the suffix K, M or G.
type bytesFlag int64

func (b *bytesFlag) String() string { return strconv.FormatInt(int64(*b), 10) }
func (b *bytesFlag) Type() string   { return "size" }

func (b *bytesFlag) Set(s string) error {
	unit := int64(1)
	digits := s
	if n := len(s) - 1; n >= 0 {
		switch s[n] {
		case 'K', 'k':
			unit = 1 << 10
		case 'M', 'm':
			unit = 1 << 20
		case 'G', 'g':
			unit = 1 << 30
		}
		if unit > 1 {
			digits = s[:n]
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("it takes a number, with K, M or G after it if you like: 500, 80K, 10M")
	}
	*b = bytesFlag(n * unit)
	return nil
}

// lines is a number of context lines, for -A, -B or -C. The last of these flags or --passthru
// decides whether all lines are shown.
type lines struct {
	to  *int
	all *bool
}

func (l lines) Type() string { return "int" }

func (l lines) String() string {
	if l.to == nil {
		return "0"
	}
	return strconv.Itoa(*l.to)
}

func (l lines) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return err
	}
	*l.to, *l.all = n, false
	return nil
}

// separator is the text of a separator flag. none is set by the flag that turns the separator off;
// the last of the two flags wins.
type separator struct {
	to   *string
	none *bool
}

func (s *separator) String() string { return *s.to }
func (s *separator) Type() string   { return "string" }

func (s *separator) Set(text string) error {
	*s.to, *s.none = text, false
	return nil
}

// off is a flag that cancels another by setting it to value.
type off struct {
	to    pflag.Value
	value string
}

func (o off) String() string   { return "false" }
func (o off) Type() string     { return "bool" }
func (o off) IsBoolFlag() bool { return true }

func (o off) Set(s string) error {
	switch s {
	case "true":
		return o.to.Set(o.value)
	case "false":
		return nil
	}
	return fmt.Errorf("%q is neither true nor false", s)
}

// opposites maps each flag to the flag that it cancels, which may come from an alias. The names are
// ripgrep's.
var opposites = map[string]string{
	"ignore": "no-ignore", "ignore-dot": "no-ignore-dot", "ignore-exclude": "no-ignore-exclude", "ignore-files": "no-ignore-files",
	"ignore-global": "no-ignore-global", "ignore-parent": "no-ignore-parent", "ignore-vcs": "no-ignore-vcs",
	"ignore-messages": "no-ignore-messages", "messages": "no-messages", "unicode": "no-unicode",
	"no-auto-hybrid-regex": "auto-hybrid-regex", "no-binary": "binary", "no-byte-offset": "byte-offset",
	"no-column": "column", "no-fixed-strings": "fixed-strings", "no-follow": "follow",
	"no-glob-case-insensitive": "glob-case-insensitive", "no-hidden": "hidden", "no-include-zero": "include-zero", "no-invert-match": "invert-match",
	"no-ignore-file-case-insensitive": "ignore-file-case-insensitive",
	"no-line-buffered":                "line-buffered", "no-max-columns-preview": "max-columns-preview", "no-multiline": "multiline",
	"no-multiline-dotall": "multiline-dotall", "no-one-file-system": "one-file-system", "no-pcre2": "pcre2", "no-search-zip": "search-zip",
	"no-stats": "stats", "no-text": "text", "no-trim": "trim", "no-sort-files": "sort-files", "pcre2-unicode": "no-pcre2-unicode",
	"require-git": "no-require-git", "no-crlf": "crlf", // only in quarry rg
	"no-json": "json", "no-encoding": "encoding", "no-pre": "pre",
}

// withoutEffect lists ripgrep's flags for behaviour that is always on or always off in Quarry. They
// are accepted so that existing command lines and aliases work; docs/SEARCH.md explains each.
var withoutEffect = map[string]string{
	"no-require-git": "ignore files count outside git repositories, always",
	"crlf":           "\\r\\n is one line ending, always", "no-crlf": "\\r\\n is one line ending, always",
	"mmap": "a large file that is named is mapped where that is safe: what was found counts only if the file has not changed meanwhile, else it is read", "no-mmap": "a file is mapped only where nobody can tell",
	"block-buffered": "it is the default in a pipe", "no-block-buffered": "it is the default in a pipe",
}

// addOpposites adds the flags of opposites.
func addOpposites(groups []command.Group) {
	last := groups[len(groups)-1].Flags
	for _, name := range slices.Sorted(maps.Keys(opposites)) {
		of := opposites[name]
		for _, g := range groups {
			fl := g.Flags.Lookup(of)
			if fl == nil {
				continue
			}
			value := "false"
			if fl.Value.Type() == "string" {
				value = ""
			}
			last.VarPF(off{fl.Value, value}, name, "", "").NoOptDefVal = "true"
			last.Lookup(name).Hidden = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(withoutEffect)) {
		if last.Lookup(name) != nil {
			continue // quarry rg defines its own
		}
		last.Bool(name, false, "")
		last.Lookup(name).Hidden = true
	}
	last.String("dfa-size-limit", "", "")
	last.Lookup("dfa-size-limit").Hidden = true
}

func (f *rgFlags) addPattern(fl *pflag.FlagSet) {
	fl.StringVar(&f.engine, "engine", "default", "`engine`: default, auto (as --auto-hybrid-regex)\nor pcre2 (as -P)")
	fl.BoolVar(&f.autoEngine, "auto-hybrid-regex", false, "-P if the pattern needs it")
	fl.BoolVar(&f.noUnicode, "no-unicode", false, "\\w, \\d, . and case by ASCII alone")
	fl.BoolVar(&f.noUnicode, "no-pcre2-unicode", false, "the same")
	fl.BoolVar(&f.nulData, "null-data", false, "lines end with NUL, not with a line feed")
	fl.BoolVar(&f.stopOnNonmatch, "stop-on-nonmatch", false, "leave a file at the first line that doesn't\nmatch after one that does")
	fl.Var(&f.regexSize, "regex-size-limit", "memory a pattern may take: a `size`, as 100M")
	fl.Lookup("no-pcre2-unicode").Hidden = true
}

func (f *rgFlags) addScope(fl *pflag.FlagSet) {
	command.AddTexts(fl, &f.iglobs, "iglob", "", "-g with a `glob` in any letter case")
	fl.BoolVar(&f.foldRules, "ignore-file-case-insensitive", false, "") // using it is an error, unless a later --no- flag turns it off
	fl.Lookup("ignore-file-case-insensitive").Hidden = true
	fl.BoolVar(&f.foldGlobs, "glob-case-insensitive", false, "all globs in any letter case")
	command.AddTexts(fl, &f.typeAdd, "type-add", "", "define a type: `name:glob`, or\nname:include:other,types")
	command.AddTexts(fl, &f.typeClear, "type-clear", "", "forget the globs of a `type`")
	fl.BoolVarP(&f.follow, "follow", "L", false, "follow symlinks, within the workspace")
	fl.BoolVar(&f.oneFileSystem, "one-file-system", false, "enter no folder on another file system")
	command.AddTexts(fl, &f.ignoreFiles, "ignore-file", "", "a `file` of ignore rules; all others win over it")
	fl.BoolVar(&f.noIgnoreFiles, "no-ignore-files", false, "no --ignore-file")
	fl.BoolVar(&f.without.VCS, "no-ignore-vcs", false, "leave .gitignore and git's own lists unread")
	fl.BoolVar(&f.without.Dot, "no-ignore-dot", false, "leave .ignore, .rgignore and .rooignore unread")
	fl.BoolVar(&f.without.Exclude, "no-ignore-exclude", false, "leave .git/info/exclude unread")
	fl.BoolVar(&f.without.Global, "no-ignore-global", false, "leave git's global list unread")
	fl.BoolVar(&f.without.Parent, "no-ignore-parent", false, "leave ignore files of folders above unread")
	fl.Var(&f.maxFileSize, "max-filesize", "no files over this `size`, as 80K, 10M or 1G")
	fl.BoolVar(&f.binary, "binary", false, "search binary files, and mention those that match")
	fl.BoolVarP(&f.zip, "search-zip", "z", false, "search in compressed files: gz, bz2; with the program\ninstalled also xz, lzma, lz4, zst (zstd), br (brotli)\nand Z (uncompress)")
	fl.StringVarP(&f.encoding, "encoding", "E", "", "`encoding` of all files, as latin1 or sjis; none is\nbytes as they are")
	fl.StringVar(&f.pre, "pre", "", "search what this `program` prints, given the path\nas argument and the file on its standard input")
	command.AddTexts(fl, &f.preGlobs, "pre-glob", "", "--pre only for files this `glob` matches")
}

func (f *rgFlags) addModes(fl *pflag.FlagSet) {
	fl.BoolVar(&f.passthru, "passthru", false, "all lines, the matches marked")
	fl.BoolVar(&f.passthru, "passthrough", false, "")
	fl.BoolVar(&f.includeZero, "include-zero", false, "with -c or --count-matches, files without a match too")
	fl.BoolVar(&f.debug, "debug", false, "on stderr, what is searched and how")
	fl.BoolVar(&f.debug, "trace", false, "the same")
	fl.Lookup("passthrough").Hidden = true
	fl.Lookup("trace").Hidden = true
}

func (f *rgFlags) addStyle(fl *pflag.FlagSet) {
	fl.BoolVarP(&f.pretty, "pretty", "p", false, "as on a terminal: colour, headings, line numbers")
	command.AddTexts(fl, &f.colors, "colors", "", "a colour: `part:fg:red`, part:bg:red,\npart:style:bold or part:none; parts are path, line,\ncolumn and match")
	fl.StringVar(&f.links, "hyperlink-format", "", "make links of paths: a `format` with {path}, {host},\n{line}, {column}, or file, vscode, kitty and so on")
	fl.StringVar(&f.hostname, "hostname-bin", "", "a `program` that prints {host}")
	fl.BoolVar(&f.preview, "max-columns-preview", false, "with -M, the beginning of longer lines")
	fl.StringVar(&f.matchSep, "field-match-separator", ":", "`text` after path, line number and so on")
	fl.StringVar(&f.contextFieldSep, "field-context-separator", "-", "the same in context, a `text`")
	f.contextSep = "--"
	fl.Var(&separator{&f.contextSep, &f.noContextSep}, "context-separator", "`text` between groups of lines")
	fl.BoolVar(&f.noContextSep, "no-context-separator", false, "nothing between groups of lines")
	fl.StringVar(&f.pathSep, "path-separator", "", "a `character` in place of / in paths")
	fl.BoolVar(&f.sortFiles, "sort-files", false, "--sort path")
	fl.BoolVar(&f.eager, "line-buffered", false, "write lines when they are found, also into a pipe")
	fl.Lookup("sort-files").Hidden = true
}

func (f *rgFlags) addOther(fl *pflag.FlagSet) {
	fl.BoolVar(&f.noIgnoreMessages, "no-ignore-messages", false, "don't report ignore files that could not be read")
}

// unescaped decodes escapes such as \n, \t and \x7F in a separator.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case '0':
			b.WriteByte(0)
		case '\\':
			b.WriteByte('\\')
		case 'x':
			if n, err := strconv.ParseUint(s[i+1:min(i+3, len(s))], 16, 8); err == nil && i+2 < len(s) {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
			b.WriteString(`\x`)
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}
