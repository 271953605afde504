package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"quarry"
	"quarry/match"
)

// searchFlags are the flags of quarry search; their names are ripgrep's.
type searchFlags struct {
	patterns       []string
	fixed          bool
	ignoreCase     bool
	smartCase      bool
	caseSensitive  bool
	word, line     bool
	invert         bool
	globs          []string
	types, notType []string
	typeList       bool
	list           bool
	without        bool
	count          bool
	countMatches   bool
	only           bool
	lineNumber     bool
	noLineNumber   bool
	column         bool
	byteOffset     bool
	after, before  int
	context        int
	maxCount       int
	multiline      bool
	dotAll         bool
	nul            bool
	quiet          bool
	sort           string
	hidden         bool
	noIgnore       bool
	unrestricted   int
	text           bool
	maxColumns     int
	maxDepth       int
	replace        string
	trim           bool
	stats          bool
	json           bool
	vimgrep        bool
	syntax         string
	colour         string
	heading        bool
	noHeading      bool
	withName       bool
	noName         bool
	workers        int
	root           string
	timeout        time.Duration

	replaceSet bool
}

func newSearch(s Streams) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search PATTERN [PATH...]",
		Short: "Search files for a pattern",
		Long: `Search files for a pattern, as ripgrep does: the current folder unless a path is
given, without hidden, ignored and binary files. The pattern is a regular
expression in Rust's syntax, or JavaScript's with --syntax javascript.

Exit code 0 when something matched, 1 when nothing did, 2 for an error.`,
		Example: `  quarry search 'func \w+\(ctx'           lines that match, here and below
  quarry search -F 'a.b(c)' src            a text, in one folder
  quarry search -il todo -t go             names of Go files that have it in any case
  quarry search --syntax javascript '(?<=TODO: ).*' -o`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSearch(cmd, s, &f, args)
		},
	}
	addSearchFlags(cmd, &f)
	return cmd
}

func addSearchFlags(cmd *cobra.Command, f *searchFlags) {
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringArrayVarP(&f.patterns, "regexp", "e", nil, "a pattern to search for; may be given several times")
	fl.BoolVarP(&f.fixed, "fixed-strings", "F", false, "the pattern is a text, not a regular expression")
	fl.StringVar(&f.syntax, "syntax", "rust", "pattern syntax: rust, javascript or literal")
	fl.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "match letters of either case")
	fl.BoolVarP(&f.smartCase, "smart-case", "S", false, "match either case unless the pattern has an upper-case letter")
	fl.BoolVarP(&f.caseSensitive, "case-sensitive", "s", false, "tell upper and lower case apart (the default)")
	fl.BoolVarP(&f.word, "word-regexp", "w", false, "match whole words only")
	fl.BoolVarP(&f.line, "line-regexp", "x", false, "match whole lines only")
	fl.BoolVarP(&f.invert, "invert-match", "v", false, "show lines that don't match")
	fl.BoolVarP(&f.multiline, "multiline", "U", false, "let matches span lines")
	fl.BoolVar(&f.dotAll, "multiline-dotall", false, "let . match line feeds in multiline mode")
	fl.StringArrayVarP(&f.globs, "glob", "g", nil, "search only files this glob matches; ! excludes")
	fl.StringArrayVarP(&f.types, "type", "t", nil, "search only files of this type")
	fl.StringArrayVarP(&f.notType, "type-not", "T", nil, "don't search files of this type")
	fl.BoolVar(&f.typeList, "type-list", false, "show the known types")
	fl.BoolVar(&f.hidden, "hidden", false, "search hidden files and folders too")
	fl.BoolVar(&f.noIgnore, "no-ignore", false, "search what ignore files leave out too")
	fl.CountVarP(&f.unrestricted, "unrestricted", "u", "-u is --no-ignore, -uu also --hidden, -uuu also --text")
	fl.BoolVarP(&f.text, "text", "a", false, "search binary files as if they were text")
	fl.IntVarP(&f.maxDepth, "max-depth", "d", 0, "search at most this many folders deep")
	fl.BoolVarP(&f.list, "files-with-matches", "l", false, "show only the names of files that match")
	fl.BoolVar(&f.without, "files-without-match", false, "show only the names of files that don't")
	fl.BoolVarP(&f.count, "count", "c", false, "show how many lines of each file match")
	fl.BoolVar(&f.countMatches, "count-matches", false, "show how many matches each file has")
	fl.BoolVarP(&f.only, "only-matching", "o", false, "show only the matching parts")
	fl.StringVarP(&f.replace, "replace", "r", "", "show matches replaced by this; $1 and $name are groups")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show nothing; the exit code tells")
	fl.BoolVarP(&f.lineNumber, "line-number", "n", false, "show line numbers (the default)")
	fl.BoolVarP(&f.noLineNumber, "no-line-number", "N", false, "don't show line numbers")
	fl.BoolVar(&f.column, "column", false, "show the column of the first match")
	fl.BoolVarP(&f.byteOffset, "byte-offset", "b", false, "show the offset in the file")
	fl.IntVarP(&f.after, "after-context", "A", 0, "show this many lines after each match")
	fl.IntVarP(&f.before, "before-context", "B", 0, "show this many lines before each match")
	fl.IntVarP(&f.context, "context", "C", 0, "both")
	fl.IntVarP(&f.maxCount, "max-count", "m", 0, "stop after this many matching lines of a file")
	fl.IntVarP(&f.maxColumns, "max-columns", "M", 0, "leave out lines longer than this")
	fl.BoolVar(&f.trim, "trim", false, "drop white space at the start of lines")
	fl.BoolVarP(&f.nul, "null", "0", false, "put a NUL after each path")
	fl.BoolVar(&f.heading, "heading", false, "put the path above its lines (the default on a terminal)")
	fl.BoolVar(&f.noHeading, "no-heading", false, "put the path on each line")
	fl.BoolVarP(&f.withName, "with-filename", "H", false, "show the path, also of a single file")
	fl.BoolVarP(&f.noName, "no-filename", "I", false, "don't show paths")
	fl.BoolVar(&f.vimgrep, "vimgrep", false, "one line a match, with line and column")
	fl.StringVar(&f.sort, "sort", "path", "order: path, modified or none")
	fl.StringVar(&f.colour, "color", "auto", "auto, always or never; NO_COLOR turns auto off")
	fl.BoolVar(&f.json, "json", false, "write ripgrep's JSON Lines")
	fl.BoolVar(&f.stats, "stats", false, "show how the search went")
	fl.IntVarP(&f.workers, "threads", "j", 0, "search in this many threads; 0 is one for each processor")
	fl.StringVar(&f.root, "root", "", "workspace folder (default: found from here)")
	fl.DurationVar(&f.timeout, "timeout", 0, "give up after this time, with what was found")
}

// query turns the flags into a query without paths.
func (f *searchFlags) query(args []string) (q quarry.Query, paths []string, err error) {
	q.Patterns = f.patterns
	paths = args
	if len(f.patterns) == 0 {
		if len(args) == 0 {
			return q, nil, errors.New("no pattern given: quarry search PATTERN [PATH...]")
		}
		q.Patterns, paths = args[:1], args[1:]
	}
	if q.Match, err = f.matchOptions(); err != nil {
		return q, nil, err
	}
	if q.Types, err = f.typeFilter(); err != nil {
		return q, nil, err
	}
	q.Globs = f.globs
	q.Hidden = f.hidden || f.unrestricted >= 2
	q.Ignored = f.noIgnore || f.unrestricted >= 1
	q.Binary = f.text || f.unrestricted >= 3
	q.MaxDepth = f.maxDepth
	q.Invert = f.invert
	q.Before, q.After = max(f.before, f.context), max(f.after, f.context)
	q.Limits = quarry.Limits{LinesAFile: f.maxCount, Time: f.timeout}
	switch f.sort {
	case "path", "none":
	case "modified":
		q.Order = quarry.ByModTime
	default:
		return q, nil, fmt.Errorf("unknown order %q: path, modified or none", f.sort)
	}
	switch {
	case f.quiet || f.list:
		q.Detail = quarry.Files
	case f.without:
		q.Detail, q.Without = quarry.Files, true
	case f.count || f.countMatches:
		q.Detail, q.CountMatches = quarry.Counts, f.countMatches && !f.invert
	default:
		q.Spans = (f.only || f.json || f.column || f.vimgrep || f.isSet("replace")) && !f.invert
	}
	return q, paths, nil
}

func (f *searchFlags) isSet(name string) bool { return name == "replace" && f.replaceSet }

func (f *searchFlags) matchOptions() (match.Options, error) {
	o := match.Options{WholeWord: f.word, WholeLine: f.line, DotAll: f.dotAll}
	switch f.syntax {
	case "rust":
	case "javascript", "js", "ecmascript":
		o.Syntax = match.ECMAScript
	case "literal":
		o.Syntax = match.Literal
	default:
		return o, fmt.Errorf("unknown syntax %q: rust, javascript or literal", f.syntax)
	}
	if f.fixed {
		o.Syntax = match.Literal
	}
	switch {
	case f.caseSensitive:
	case f.ignoreCase:
		o.Case = match.Insensitive
	case f.smartCase:
		o.Case = match.Smart
	}
	if f.multiline {
		o.Mode = match.Multiline
	}
	return o, nil
}

func (f *searchFlags) typeFilter() ([]string, error) {
	with, err := typeGlobs(f.types, false)
	if err != nil {
		return nil, err
	}
	without, err := typeGlobs(f.notType, true)
	return append(with, without...), err
}

func runSearch(cmd *cobra.Command, s Streams, f *searchFlags, args []string) error {
	if f.typeList {
		_, err := io.WriteString(s.Out, typeList())
		return err
	}
	f.replaceSet = cmd.Flags().Changed("replace")
	q, paths, err := f.query(args)
	if err != nil {
		return err
	}
	pattern, err := match.CompileAny(q.Patterns, q.Match)
	if err != nil {
		return patternError(err)
	}
	ws := &workspaces{open: map[string]*quarry.Workspace{}, workers: f.workers}
	defer ws.close()
	failed := false
	targets, err := ws.find(f.root, paths, func(err error) {
		failed = true
		fmt.Fprintf(s.Err, "quarry: %v\n", err)
	})
	if err != nil {
		return err
	}
	out := f.output(s, pattern, targets)
	var total quarry.Summary
	total.SkippedCount = map[quarry.Reason]int{}
	for _, t := range targets {
		q.Paths = []string{t.path}
		sum, err := t.ws.SearchEach(cmd.Context(), q, func(file *quarry.File) error {
			if f.quiet {
				return errStop
			}
			return out.file(t.shown(file.Path), file)
		})
		if errors.Is(err, errStop) {
			return nil
		}
		if err != nil {
			return err
		}
		addSummary(&total, sum)
	}
	if err := out.finish(&total); err != nil {
		return err
	}
	reportSkips(s.Err, &total)
	if f.stats && !f.json {
		writeStats(s.Out, &total, pattern)
	}
	if failed {
		return errReported
	}
	if total.FilesMatched == 0 {
		explainZero(cmd.Context(), s, f, q, targets)
		return errNone
	}
	return nil
}

// errStop ends a search that knows enough.
var errStop = errors.New("enough")

// patternError adds the hint to a pattern's error.
func patternError(err error) error {
	var e *match.Error
	if errors.As(err, &e) && e.Hint != "" {
		return fmt.Errorf("%w\n%s", err, e.Hint)
	}
	return err
}

// fileOutput is one way of showing files that match.
type fileOutput interface {
	file(path string, f *quarry.File) error
	finish(*quarry.Summary) error
}

func (f *searchFlags) output(s Streams, p *match.Pattern, targets []target) fileOutput {
	tty := isTerminal(s.Out)
	colour := useColour(f.colour, tty)
	if f.json {
		return jsonOutput{newJSONPrinter(s.Out)}
	}
	st := style{
		heading:     (tty || f.heading) && !f.noHeading && !f.vimgrep,
		path:        (f.withName || len(targets) != 1 || !targets[0].isFile || f.vimgrep) && !f.noName,
		lineNumber:  !f.noLineNumber,
		column:      f.column || f.vimgrep,
		byteOffset:  f.byteOffset,
		onlyMatches: f.only,
		maxColumns:  f.maxColumns,
		nul:         f.nul,
		trim:        f.trim,
		colour:      colour,
		escape:      tty,
		context:     max(f.before, f.after, f.context) > 0,
		vimgrep:     f.vimgrep,
	}
	if f.replaceSet {
		st.replace = &f.replace
	}
	pr := newPrinter(s.Out, st, p.NewMatcher())
	switch {
	case f.quiet || f.list || f.without:
		return pathOutput{pr}
	case f.count || f.countMatches:
		return countOutput{pr, f.countMatches && !f.invert}
	}
	return lineOutput{pr}
}

type lineOutput struct{ *printer }

func (o lineOutput) finish(*quarry.Summary) error { return o.flush() }

type pathOutput struct{ *printer }

func (o pathOutput) file(path string, _ *quarry.File) error {
	end := byte('\n')
	if o.style.nul {
		end = 0
	}
	return o.pathRow(path, end)
}

func (o pathOutput) finish(*quarry.Summary) error { return o.flush() }

type countOutput struct {
	*printer
	matches bool
}

func (o countOutput) file(path string, f *quarry.File) error {
	n := f.Matched
	if o.matches {
		n = f.Matches
	}
	if o.style.path {
		o.coloured(cPath, func() { o.text([]byte(path)) })
		if o.style.nul {
			o.row = append(o.row, 0)
		} else {
			o.row = append(o.row, ':')
		}
	}
	o.row = fmt.Appendf(o.row, "%d\n", n)
	return o.flushRow()
}

func (o countOutput) finish(*quarry.Summary) error { return o.flush() }

type jsonOutput struct{ *jsonPrinter }

func (o jsonOutput) finish(s *quarry.Summary) error { return o.summary(s) }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func useColour(when string, tty bool) bool {
	switch when {
	case "always", "ansi":
		return true
	case "never":
		return false
	}
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// explainZero says on a terminal why nothing may have been found.
func explainZero(ctx context.Context, s Streams, f *searchFlags, q quarry.Query, targets []target) {
	if f.quiet || f.json || !isTerminal(s.Err) || !isTerminal(s.Out) {
		return
	}
	var notes []string
	if len(q.Globs)+len(q.Types) > 0 {
		notes = append(notes, "only files that pass the globs and types given were searched")
	}
	if !q.Ignored || !q.Hidden {
		if n := hiddenMatches(ctx, q, targets); n > 0 {
			notes = append(notes, fmt.Sprintf("%d hidden or ignored %s: add -uu to see them", n, plural(n, "file has matches", "files have matches")))
		}
	}
	fmt.Fprintf(s.Err, "quarry: no match in %s", plural(len(targets), "", "the paths given"))
	if len(targets) == 1 {
		fmt.Fprint(s.Err, targets[0].arg())
	}
	if len(notes) > 0 {
		fmt.Fprintf(s.Err, "; %s", strings.Join(notes, "; "))
	}
	fmt.Fprintln(s.Err)
}

// hiddenMatches counts files that match and were left out, within a second.
func hiddenMatches(ctx context.Context, q quarry.Query, targets []target) int {
	q.Hidden, q.Ignored, q.Detail, q.Without = true, true, quarry.Files, false
	q.Limits.Time = time.Second
	n := 0
	for _, t := range targets {
		q.Paths = []string{t.path}
		if sum, err := t.ws.SearchEach(ctx, q, func(*quarry.File) error { return nil }); err == nil {
			n += sum.FilesMatched
		}
	}
	return n
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
