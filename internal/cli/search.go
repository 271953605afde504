package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry"
	"quarry/fault"
	"quarry/internal/cli/env"
	"quarry/internal/cli/filetypes"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
	"quarry/internal/replacer"
	"quarry/match"
	"quarry/search"
)

func newSearch(s env.Streams) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search PATTERN [PATH...]",
		Short: "Search files for a pattern",
		Long: `Search files for a pattern, as ripgrep does: the current folder unless a path
is given (- is stdin), without hidden, ignored and binary files. The pattern is
a regular expression in Rust's syntax, or JavaScript's with --syntax javascript.

Exit code 0 when something matched, 1 when nothing did, 2 for an error.`,
		Example: `  quarry search 'func \w+\(ctx'       lines that match, here and below
  quarry search -F 'a.b(c)' src       a text, in one folder
  quarry search -il todo -t go        names of Go files that have it in any case
  quarry search --syntax javascript '(?<=TODO: ).*' -o`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSearch(cmd, s, &f, args)
		},
	}
	manual.SetGroups(cmd, f.groups())
	return cmd
}

// searching is the state of one search from the command line.
type searching struct {
	s          env.Streams
	f          *searchFlags
	q          search.Query
	pattern    *match.Pattern
	targets    []target
	out        printing.Output
	total      search.Summary
	held       []heldFile // files kept until all are found, to be sorted
	began      time.Time
	accessed   map[accessKey]time.Time // for --sort accessed: access times before the search reads the files
	given      int                     // lines, or files if only those are shown, counted for --limit
	failed     bool                    // something could not be searched
	binaryTold int                     // binary files reported on stderr
	in         *env.Implicit           // standard input if it is searched without being named; else nil

	implicit bool // no path was given
	rules    []string
	contents func(path string, r io.Reader) (io.ReadCloser, error)
}

type heldFile struct {
	path string
	from *target
	file search.FileMatch
}

// errStop ends a search that has reached its limit.
var errStop = errors.New("enough")

func runSearch(cmd *cobra.Command, s env.Streams, f *searchFlags, args []string) error {
	f.given = map[string]bool{}
	cmd.Flags().Visit(func(fl *pflag.Flag) { f.given[fl.Name] = true })
	if f.typeList {
		known, err := filetypes.Known(f.typeClear, f.typeAdd)
		if err == nil {
			_, err = io.WriteString(s.Out, known.List())
		}
		return err
	}
	if f.pretty {
		f.colour, f.heading, f.number = "always", "heading", "line-number"
	}
	q, paths, err := f.query(args, env.InputOf(cmd.Context(), s.In))
	if err != nil {
		return err
	}
	if f.given["max-count"] && f.maxCount == 0 {
		return env.ErrNone // --max-count 0 allows no matches
	}
	ctx := cmd.Context()
	r := &searching{s: s, f: f, began: time.Now()}
	if f.mode == "files" {
		q.Patterns = []string{"x"} // a placeholder, since no content is searched
	} else if len(q.Patterns) == 0 {
		if !f.invert {
			return env.ErrNone // an empty list of patterns matches nothing
		}
		q.Patterns, q.Match = []string{`[a&&b]`}, match.Options{Mode: q.Match.Mode}
	}
	if what := needsUnicode(&q); what != "" && !f.noMessages && !f.pcre {
		fmt.Fprintf(s.Err, "quarry: without the u flag %s is text, as in JavaScript: --syntax javascript/u\n", what)
	}
	r.q, r.implicit = q, len(paths) == 0
	bounded, cancel := f.bounded(ctx, r.began)
	defer cancel()
	if r.pattern, err = compileWithin(bounded, q.Patterns, q.Match); err != nil {
		return err
	}
	if q.Match.Mode == match.Multiline && q.Structure == "" && !f.pcre && r.pattern.OneLine() {
		lines := q.Match
		lines.Mode = match.Lines
		if p, err := compileWithin(bounded, q.Patterns, lines); err == nil {
			r.q.Match, r.pattern = lines, p // ripgrep too counts lines if no match can span several
		}
	}
	if r.contents, err = f.contents(bounded); err != nil {
		return err
	}
	if len(paths) == 0 && f.mode != "files" && !slices.Contains(f.patternFiles, "-") && f.root == "" && s.InputGiven() {
		paths, r.in = []string{"-"}, s.ImplicitInput(ctx)
	}
	ws := &workspaces{open: map[string]*quarry.Workspace{}, workers: f.workers, streams: true}
	defer ws.close()
	if r.targets, err = ws.find(f.root, paths, r.complain); err != nil {
		return err
	}
	r.targets = withinDepth(r.targets, (f.given["max-depth"] || f.given["maxdepth"]) && f.maxDepth == 0)
	if f.limit > 0 && q.Order != search.ByPath && len(r.targets) > 1 {
		return errors.New("--limit with --sortr modified takes one path")
	}
	r.total.SkippedCount = map[search.Reason]int{}
	r.rules = f.ignoreRules(r.complain)
	if r.out, err = r.output(max(len(paths), 1)); err != nil {
		return err
	}
	if f.mode == "files" {
		return r.listFiles(ctx)
	}
	r.q.Parts = !r.ordered()
	return r.run(ctx)
}

// needsUnicode returns the part of a JavaScript pattern that needs the u or v flag, such as a
// property escape. It returns "" if the query has one of these flags.
func needsUnicode(q *search.Query) string {
	if q.Match.Syntax != match.ECMAScript || q.Match.Unicode || q.Match.UnicodeSets {
		return ""
	}
	for _, p := range q.Patterns {
		for i := 0; i+2 < len(p); i++ {
			if p[i] != '\\' {
				continue
			}
			if end := strings.IndexByte(p[i:], '}'); strings.IndexByte("pPu", p[i+1]) >= 0 && p[i+2] == '{' && end > 0 {
				return printing.Escape(p[i : i+end+1])
			}
			i++ // the escaped character
		}
	}
	return ""
}

// bounded adds the deadline of --timeout to ctx.
func (f *searchFlags) bounded(ctx context.Context, began time.Time) (context.Context, context.CancelFunc) {
	if f.timeout > 0 {
		return context.WithDeadline(ctx, began.Add(f.timeout))
	}
	return context.WithCancel(ctx)
}

// complain reports a file that could not be searched, but does not end the search.
func (r *searching) complain(err error) {
	r.failed = true
	if !r.f.noMessages {
		fmt.Fprintf(r.s.Err, "%s: %s\n", r.f.program(), printing.EscapeLines(err.Error()))
		if hint := fault.HintOf(err); hint != "" && fault.CodeOf(err) == fault.InvalidArgument {
			fmt.Fprintf(r.s.Err, "  %s\n", printing.EscapeLines(hint))
		}
	}
}

func (r *searching) run(ctx context.Context) error {
	if err := r.noteAccess(ctx); err != nil {
		return err
	}
	for i := range r.targets {
		if !r.room() {
			break
		}
		err := r.target(ctx, &r.targets[i])
		if errors.Is(err, errStop) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := r.giveHeld(ctx); err != nil {
		return err
	}
	if r.f.rg { // ripgrep counts binary files as searched
		r.total.Stats.Searched += r.total.SkippedCount[search.Binary]
	}
	if err := r.out.Finish(&r.total); err != nil {
		return err
	}
	if r.f.stats && r.f.mode != "json" {
		printing.WriteStats(r.s.Out, &r.total, r.pattern, r.out.Printed())
	}
	if r.f.debug {
		printing.WriteStats(r.s.Err, &r.total, r.pattern, r.out.Printed())
	}
	if (r.total.Stopped == search.StopLines || r.total.Stopped == search.StopFiles) && !r.f.noMessages {
		fmt.Fprintf(r.s.Err, "quarry: stopped at %s, as --limit says\n", fault.Count(r.given, strings.TrimSuffix(string(r.total.Stopped), "s")))
	}
	if why := r.cutShort(); why != "" {
		r.complain(errors.New(why))
	}
	found := r.total.FilesMatched > 0
	if r.implicit && r.in == nil && r.total.Stats.Considered == 0 && r.total.Stopped == "" && !r.failed && !r.q.Changed.Any() {
		// Finding nothing in no files needs its own message.
		r.complain(r.nothingSearched())
	}
	switch {
	case r.failed && !(r.f.quiet && found):
		return env.ErrReported
	case !found && r.in != nil && r.in.Empty():
		if !r.f.noMessages {
			fmt.Fprintln(r.s.Err, "quarry: standard input is empty; to search files, give a path such as .")
		}
		return env.ErrNone
	case !found:
		if r.implicit && !r.f.noMessages && !r.f.quiet && r.s.InputSocket() {
			fmt.Fprintln(r.s.Err, "quarry: standard input is a socket and was not searched; to search it, give the path -")
		}
		r.explainZero(ctx)
		return env.ErrNone
	}
	return nil
}

// compileWithin compiles the patterns and gives up when ctx is done.
func compileWithin(ctx context.Context, patterns []string, o match.Options) (*match.Pattern, error) {
	p, err := match.NewCompiler(ctx, o).Any(patterns)
	if errors.Is(err, context.DeadlineExceeded) {
		// No time is left. This pattern matches nothing; the search will stop at once and report
		// the timeout.
		return match.CompileAny([]string{`[a&&b]`}, match.Options{Mode: o.Mode})
	}
	return p, err
}

// nothingSearched returns the error that says why no file was searched.
func (r *searching) nothingSearched() error {
	if filters := r.f.filters(); filters != "" {
		return fmt.Errorf("no file was searched: none passes %s\n  --files lists those that do; -uu takes hidden and ignored ones too", filters)
	}
	return errors.New("no file was searched: there is none that is neither hidden nor ignored\n  -uu searches those too")
}

// cutShort says why the answer is incomplete for a reason other than --limit, or returns "". If it
// is incomplete the exit code is 2, because 1 means that everything was searched and nothing found.
func (r *searching) cutShort() string {
	switch r.total.Stopped {
	case search.StopTime:
		return fmt.Sprintf("stopped after %s, as --timeout says: not everything was searched", r.f.timeout)
	case search.StopBudget:
		return match.ErrBudget.Error() + ": not everything was searched"
	}
	return ""
}

// room limits the next path's query to the rest of --limit and --timeout. It returns false if
// nothing is left.
func (r *searching) room() bool {
	if r.f.timeout > 0 {
		if r.q.Limits.Time = r.f.timeout - time.Since(r.began); r.q.Limits.Time <= 0 {
			r.total.Stopped, r.total.Exact = search.StopTime, false
			return false
		}
	}
	if r.f.limit == 0 {
		return true
	}
	limit, why := &r.q.Limits.Lines, search.StopLines
	if r.q.Detail != search.Lines {
		limit, why = &r.q.Limits.Files, search.StopFiles
	}
	if *limit = r.f.limit - r.given; *limit > 0 {
		return true
	}
	r.total.Stopped = why
	return false
}

// input returns standard input, either named as - or searched implicitly.
func (r *searching) input(ctx context.Context) io.Reader {
	if r.in != nil {
		return r.in
	}
	return env.InputOf(ctx, r.s.In)
}

// target searches one path. Errors about the path are reported, and the search continues.
func (r *searching) target(ctx context.Context, t *target) error {
	var own error // error from writing the output
	give := func(file *search.FileMatch) error {
		if r.f.quiet && r.f.mode != "json" {
			if r.f.stats || file.Matched == 0 && !r.q.FilesWithoutMatch {
				return nil
			}
			return errStop
		}
		if r.q.Detail == search.Lines {
			r.given += file.Matched
		} else {
			r.given++
		}
		own = r.hold(t, file)
		return own
	}
	var sum *search.Summary
	var err error
	if t.stdin {
		sum, err = r.searchInput(ctx, t, give)
	} else {
		q := r.about(t, t.path)
		if r.twice() {
			q.Detail = search.Files
		}
		sum, err = t.ws.SearchEach(ctx, q, give)
	}
	switch {
	case own != nil:
		return own
	case errors.Is(err, errStop) || err != nil && (isClosedPipe(err) || ctx.Err() != nil):
		return err
	case errors.Is(err, env.ErrIdle):
		return err
	case err != nil && badQuery(err): // the query is invalid, whatever the path
		return err
	case err != nil:
		r.complain(env.PathError(t.arg(), err))
		return nil
	}
	r.reportSkips(t, sum)
	r.total.Add(sum)
	return nil
}

// searchInput searches standard input, or the stream that replaces it.
func (r *searching) searchInput(ctx context.Context, t *target, give func(*search.FileMatch) error) (*search.Summary, error) {
	in := r.input(ctx)
	if t.stream != "" {
		f, err := os.Open(t.stream)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = env.InputOf(ctx, f)
	}
	if r.contents == nil || r.f.pre != "" || r.f.zip {
		return quarry.SearchText(ctx, in, r.about(t, ""), give)
	}
	text, err := r.contents("-", in)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	return quarry.SearchText(ctx, text, r.about(t, ""), give)
}

// listFiles prints the files that would be searched.
func (r *searching) listFiles(ctx context.Context) error {
	q := search.FindQuery{Scope: r.q.Scope, Order: search.ByPath}
	found := 0
	for i := range r.targets {
		t := &r.targets[i]
		if t.stdin {
			continue
		}
		q.Paths, q.Lowest = []string{t.path}, rebased(r.rules, t.here)
		q.Without.NoGit = r.withoutGit(t)
		q.Stat = r.f.maxFileSize > 0 || r.q.Order != search.ByPath
		if r.f.timeout > 0 {
			q.Time = max(r.f.timeout-time.Since(r.began), 1)
		}
		res, err := t.ws.Find(ctx, q)
		if err != nil {
			return err
		}
		if res.Stopped == search.StopTime {
			r.total.Stopped = search.StopTime
		}
		for i := range res.Entries {
			e := &res.Entries[i]
			if r.f.maxFileSize > 0 && e.Size > int64(r.f.maxFileSize) && !t.isFile {
				continue
			}
			if found++; r.f.quiet {
				return nil
			}
			if err := r.hold(t, &search.FileMatch{Path: e.Path, ModTime: e.ModTime, Matched: 1}); err != nil {
				return err
			}
		}
		r.reportSkips(t, &res.Summary)
	}
	if err := r.giveHeld(ctx); err != nil {
		return err
	}
	if err := r.out.Finish(&r.total); err != nil {
		return err
	}
	if why := r.cutShort(); why != "" {
		r.complain(errors.New(why))
	}
	switch {
	case r.failed:
		return env.ErrReported
	case found == 0:
		return env.ErrNone
	}
	return nil
}

// hold prints a file, or keeps it for later if the order requires knowing all files first.
func (r *searching) hold(t *target, file *search.FileMatch) error {
	path := t.shown(file.Path)
	if r.ordered() {
		r.held = append(r.held, heldFile{path, t, *file})
		return nil
	}
	return r.out.File(path, file)
}

// badQuery reports whether an error is about the query, such as an invalid glob, and not about a
// path.
func badQuery(err error) bool {
	return fault.CodeOf(err) == fault.InvalidPattern
}

// about returns the query for one path of a target.
func (r *searching) about(t *target, path string) search.Query {
	q := r.q
	if path != "" {
		q.Paths, q.Lowest = []string{path}, rebased(r.rules, t.here)
	}
	q.Without.NoGit = r.withoutGit(t)
	named := t.isFile || t.stdin
	if named && !q.Binary { // for a named binary file, report whether it matches
		q.NUL = search.MentionNULMapped
	}
	if r.f.rg {
		q.NUL, q.Binary = r.f.nulRule(t, len(r.targets)), q.Binary && (r.f.text || r.f.nulData)
	}
	q.Binary = q.Binary || named && r.f.mode == "json" // JSON can represent binary lines
	if r.contents != nil && path != "" {
		q.Text = func(path string, b io.Reader) (io.ReadCloser, error) { return r.contents(t.shown(path), b) }
	}
	return q
}

// ordered reports whether all files must be found before the first is printed.
func (r *searching) ordered() bool {
	_, reversed := r.f.order()
	return reversed || r.q.Order != search.ByPath || r.byNames()
}

// byNames reports whether to sort as ripgrep's --sort path does: folder by folder, so a/b comes
// before a-b. Otherwise files are sorted by the bytes of their paths.
func (r *searching) byNames() bool {
	by, _ := r.f.order()
	return r.f.rg && by == "path" && (r.f.given["sort"] || r.f.given["sortr"] || r.f.sortFiles)
}

// twice reports whether to find the files first and then search each again in order. Keeping all
// lines until they can be sorted would take unlimited memory.
func (r *searching) twice() bool {
	return r.ordered() && r.q.Detail == search.Lines && r.f.limit == 0 && !r.q.Passthru && r.f.mode != "files"
}

// again repeats the search in one found file and prints its lines.
func (r *searching) again(ctx context.Context, h *heldFile) error {
	q := r.about(h.from, h.file.Path)
	q.Order, q.Parts = search.ByPath, true
	var own error
	sum, err := h.from.ws.SearchEach(ctx, q, func(file *search.FileMatch) error {
		own = r.out.File(h.path, file)
		return own
	})
	switch {
	case own != nil:
		return own
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		r.complain(env.PathError(h.path, err))
		return nil
	}
	r.total.LinesMatched += sum.LinesMatched
	r.total.Matches += sum.Matches
	r.total.Stopped = cmp.Or(r.total.Stopped, sum.Stopped)
	return nil
}

// accessKey identifies a file by its workspace and path.
type accessKey struct{ root, path string }

// noteAccess records the access times of all files in scope, because searching a file changes its
// access time.
func (r *searching) noteAccess(ctx context.Context) error {
	if by, _ := r.f.order(); by != "accessed" || r.f.mode == "files" {
		return nil
	}
	r.accessed = map[accessKey]time.Time{}
	for i := range r.targets {
		t := &r.targets[i]
		if t.stdin || t.root == "" {
			continue
		}
		q := search.FindQuery{Scope: r.about(t, t.path).Scope}
		res, err := t.ws.Find(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range res.Entries {
			r.accessed[accessKey{t.root, e.Path}] = t.time(e.Path, "accessed")
		}
	}
	return nil
}

// giveHeld prints the held files sorted by path, or by time with the oldest first. --sortr reverses
// the order.
func (r *searching) giveHeld(ctx context.Context) error {
	by, reversed := r.f.order()
	for i := range r.held {
		h := &r.held[i]
		switch at, noted := r.accessed[accessKey{h.from.root, h.file.Path}]; {
		case noted:
			h.file.ModTime = at
		case by == "accessed" || by == "created":
			h.file.ModTime = h.from.time(h.file.Path, by)
		}
	}
	if r.q.Order == search.ByModTime {
		sort.SliceStable(r.held, func(i, j int) bool { return r.held[i].file.ModTime.Before(r.held[j].file.ModTime) })
	}
	for rest := r.held; r.byNames() && len(rest) > 0; {
		n := len(rest)
		if i := slices.IndexFunc(rest, func(h heldFile) bool { return h.from != rest[0].from }); i > 0 && !reversed {
			n = i // sort each given path separately
		}
		sort.SliceStable(rest[:n], func(i, j int) bool {
			return strings.ReplaceAll(rest[i].path, "/", "\x00") < strings.ReplaceAll(rest[j].path, "/", "\x00")
		})
		rest = rest[n:]
	}
	if reversed {
		slices.Reverse(r.held)
	}
	if r.twice() {
		r.total.LinesMatched, r.total.Matches = 0, 0 // the first search counted once per file; again counts all
	}
	for i := range r.held {
		if h := &r.held[i]; r.twice() && !h.from.stdin {
			if err := r.again(ctx, h); err != nil {
				return err
			}
			continue
		}
		if r.twice() {
			r.total.LinesMatched += r.held[i].file.Matched
			r.total.Matches += r.held[i].file.Matches
		}
		if err := r.out.File(r.held[i].path, &r.held[i].file); err != nil {
			return err
		}
	}
	return nil
}

// numbers reports whether to print line numbers. By default quarry search does so always, and
// quarry rg on a terminal or with --column.
func (r *searching) numbers(tty bool) bool {
	f := r.f
	if !f.rg || f.number != "" {
		return f.number != "no-line-number"
	}
	onlyInput := len(r.targets) == 1 && r.targets[0].stdin
	return f.column || f.vimgrep || tty && !onlyInput
}

// output selects the printer for the flags. paths is the number of given paths, including those not
// found.
func (r *searching) output(paths int) (printing.Output, error) {
	f := r.f
	tty := r.s.OutTerminal()
	multiline := r.pattern.Mode() != match.Lines
	var rep *replacer.Template
	if f.given["replace"] {
		rep = replacer.NewTemplate(f.replace, false, r.pattern.NewMatcher())
	}
	if f.mode == "json" {
		return printing.NewJSON(r.s.Out, printing.JSONStyle{Terminal: tty, Multiline: multiline, Numbers: f.number != "no-line-number", Text: f.text, NulLines: f.nulData, Quiet: f.quiet}, rep), nil
	}
	single := paths == 1 && len(r.targets) == 1 && r.targets[0].isFile && !f.vimgrep
	before, after := f.contextLines()
	st := printing.Style{
		Heading:     (tty && f.heading == "" || f.heading == "heading") && !f.vimgrep,
		Path:        (!single || f.name == "with-filename") && f.name != "no-filename",
		LineNumber:  r.numbers(tty),
		Column:      f.column || f.vimgrep && !f.given["no-column"],
		ByteOffset:  f.byteOffset,
		OnlyMatches: f.only,
		MaxColumns:  f.maxColumns,
		Nul:         f.nul,
		Trim:        f.trim,
		Colour:      printing.UseColour(f.colour, tty, r.s.Env()),
		Escape:      tty,
		Context:     before+after > 0 && !f.passthru,
		Vimgrep:     f.vimgrep,
		Symbols:     f.symbol,
		Multiline:   multiline,
		Passthru:    f.passthru, NulLines: f.nulData && f.mode != "files", BinaryNotice: !f.text && !f.nulData,
		BinaryLines: f.rg && !f.text && !f.nulData, KeepCR: f.rg, CRLF: f.rg && f.crlf && f.mode != "files",
		Preview: f.preview, PathSep: f.pathSep, Eager: f.eager,
		MatchSep: unescaped(f.matchSep), ContextSep: unescaped(f.contextFieldSep), NoFieldSep: true,
		GroupSep: unescaped(f.contextSep), NoGroupSep: f.noContextSep,
	}
	var err error
	if st.Colours, err = printing.ParseColours(f.colors); err != nil {
		return nil, err
	}
	if f.links != "" {
		here, _ := os.Getwd()
		host, err := f.hostName()
		if err == nil {
			st.Links, err = printing.NewLinks(f.links, host, here)
		}
		if err != nil {
			return nil, err
		}
	}
	st.Spans = st.Colour || st.Column || st.Vimgrep || f.only || f.given["replace"] || f.stats
	switch mode := f.shownMode(); {
	case f.quiet || mode == "files-with-matches" || mode == "files-without-match" || mode == "files":
		return printing.NewPaths(r.s.Out, st), nil
	case mode == "count" || mode == "count-matches":
		return printing.NewCounts(r.s.Out, st, mode == "count-matches" && !f.invert), nil
	}
	r.q.Spans = st.Spans
	return printing.NewLines(r.s.Out, st, rep), nil
}
