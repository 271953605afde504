package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"quarry/internal/cli/env"
	"quarry/internal/cli/filetypes"
	"quarry/internal/structure"
	"quarry/match"
	"quarry/search"
)

// errNoPattern is the error for a command line without a pattern.
var errNoPattern = errors.New("no pattern given: quarry search PATTERN [PATH...]")

// query turns the flags into a query. The query has no paths; they are returned separately.
func (f *searchFlags) query(args []string, stdin io.Reader) (q search.Query, paths []string, err error) {
	if f.mode == "files" {
		paths = args
	} else if q.Patterns, paths, err = f.allPatterns(args, stdin); err != nil {
		return q, nil, err
	}
	if err := f.check(); err != nil {
		return q, nil, err
	}
	if q.Match, err = f.matchOptions(); err != nil {
		return q, nil, err
	}
	if f.structure {
		if err = f.structured(&q); err != nil {
			return q, nil, err
		}
	} else if err = f.enginePatterns(&q); err != nil {
		return q, nil, err
	}
	if err = f.scope(&q.Scope); err != nil {
		return q, nil, err
	}
	q.Binary = f.text || f.binary || f.nulData || f.unrestricted >= 3
	q.Raw, q.RawLines = f.encoding == "none", true
	q.Invert, q.Each, q.Lacking = f.invert, f.every, f.lacking
	q.Symbols = f.symbol && f.mode == ""
	q.Passthru, q.StopOnNonmatch, q.MaxFileSize = f.passthru, f.stopOnNonmatch, int64(f.maxFileSize)
	q.Before, q.After = f.contextLines()
	q.Limits = search.Limits{LinesPerFile: f.maxCount, Time: f.timeout}
	if by, _ := f.order(); by == "modified" || by == "accessed" || by == "created" {
		q.Order = search.ByModTime
	}
	f.detail(&q)
	return q, paths, nil
}

// structured makes the query's pattern a structural one: code with holes.
func (f *searchFlags) structured(q *search.Query) error {
	if len(q.Patterns) != 1 || f.fixed || f.pcre || f.letters != "" || f.whole != "" || f.given["syntax"] || f.given["replace"] {
		return errors.New("--structure takes one pattern: -F, -P, -i, -S, -w, -x, --syntax and --replace have no effect there\n  quarry replace --structure rewrites code")
	}
	p, err := structure.Compile(q.Patterns[0], f.sign())
	if err != nil {
		return err
	}
	// Other code uses q.Patterns only as the text that every match must contain.
	q.Structure, q.Hole, q.Spans = q.Patterns[0], f.hole, true
	q.Patterns, q.Match = p.Needs(), match.Options{Syntax: match.Literal, Mode: match.Multiline}
	if len(q.Patterns) == 0 {
		q.Patterns = []string{""}
	}
	return nil
}

// sign returns the character that begins a hole, set by --hole.
func (f *searchFlags) sign() rune {
	for _, r := range f.hole {
		return r
	}
	return structure.DefaultHole
}

// scope sets the scope of files from the flags.
func (f *searchFlags) scope(s *search.Scope) (err error) {
	if f.foldRules {
		return errors.New("--ignore-file-case-insensitive: ignore rules are read as git reads them\n  write a class: [Rr]eadme")
	}
	if s.Types, err = f.typeFilter(); err != nil {
		return err
	}
	s.Globs, s.FoldedGlobs = f.globs, f.iglobs
	if f.foldGlobs {
		s.Globs, s.FoldedGlobs = nil, slices.Concat(f.globs, f.iglobs)
	}
	s.IncludeHidden = f.hidden || f.unrestricted >= 2
	s.IncludeIgnored = f.noIgnore || f.unrestricted >= 1
	s.NoIndex = f.noIndex
	s.MaxDepth, s.Changed = f.maxDepth, f.changed.to
	s.FollowLinks, s.OneFileSystem, s.Without = f.follow, f.oneFileSystem, f.without
	return nil
}

// detail sets the lowest level of detail that the output needs.
func (f *searchFlags) detail(q *search.Query) {
	switch mode := f.shownMode(); {
	case mode == "files-without-match":
		q.Detail, q.FilesWithoutMatch = search.Files, true
	case (f.quiet && mode != "json" || mode == "files-with-matches") && f.stats:
		q.Detail, q.CountMatches = search.Counts, !f.invert // count every match, not only lines
	case f.quiet && mode != "json" || mode == "files-with-matches":
		q.Detail = search.Files
	case mode == "count" || mode == "count-matches":
		q.Detail = search.Counts
		q.CountMatches = (mode == "count-matches" || f.stats) && !f.invert
		q.AllFiles = f.includeZero
	case mode == "json":
		q.Spans = true
	}
}

// shownMode returns the output mode; --count with -o counts matches instead of lines.
func (f *searchFlags) shownMode() string {
	if f.mode == "count" && f.only {
		return "count-matches"
	}
	return f.mode
}

// allPatterns collects the patterns of -e and -f. If there are none, the first argument is the
// pattern.
func (f *searchFlags) allPatterns(args []string, stdin io.Reader) (patterns, paths []string, err error) {
	if !f.given["regexp"] && !f.given["file"] {
		if len(args) == 0 && f.rg {
			return nil, nil, errors.New("no pattern given: quarry rg PATTERN [PATH...]")
		}
		if len(args) == 0 {
			return nil, nil, errNoPattern
		}
		return args[:1], args[1:], nil
	}
	patterns = f.patterns
	for _, name := range f.patternFiles {
		var data []byte
		if name == "-" {
			data, err = io.ReadAll(stdin)
		} else {
			data, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, nil, env.PathError(name, err)
		}
		for line := range bytes.Lines(data) {
			if body, ended := bytes.CutSuffix(line, []byte("\n")); ended {
				line = bytes.TrimSuffix(body, []byte("\r"))
			}
			patterns = append(patterns, string(line))
		}
	}
	return patterns, args, nil
}

// check refuses invalid numbers and names.
func (f *searchFlags) check() error {
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"after-context", f.after}, {"before-context", f.before}, {"context", f.context},
		{"max-count", f.maxCount}, {"limit", f.limit}, {"max-columns", f.maxColumns}, {"max-depth", f.maxDepth}, {"threads", f.workers},
	} {
		if n.value < 0 {
			return fmt.Errorf("--%s %d: the number can't be negative", n.flag, n.value)
		}
	}
	switch f.colour {
	case "auto", "always", "ansi", "never":
	default:
		return fmt.Errorf("--color %q: auto, always or never", f.colour)
	}
	switch by, _ := f.order(); by {
	case "path", "none", "modified", "accessed", "created":
	default:
		return fmt.Errorf("--sort %q: path, modified, accessed, created or none", by)
	}
	if by, reversed := f.order(); f.limit > 0 && (by == "accessed" || by == "created" || (by == "modified") != reversed) {
		return errors.New("--limit cuts what is found in the order of paths, or with --sortr modified the newest files first\n" +
			"  --limit 0 lifts it")
	}
	return nil
}

// order returns the requested order and whether it is reversed.
func (f *searchFlags) order() (by string, reversed bool) {
	if f.sortFiles && !f.given["sort"] && !f.given["sortr"] {
		return "path", false
	}
	if f.sortr != "" {
		return f.sortr, true
	}
	return f.sort, false
}

// contextLines returns the numbers of context lines; -A and -B override -C.
func (f *searchFlags) contextLines() (before, after int) {
	if f.passthru {
		return 0, 0
	}
	before, after = f.context, f.context
	if f.given["before-context"] {
		before = f.before
	}
	if f.given["after-context"] {
		after = f.after
	}
	return before, after
}

func (f *searchFlags) matchOptions() (match.Options, error) {
	o := match.Options{WholeWord: f.whole == "word-regexp", WholeLine: f.whole == "line-regexp", DotAll: f.dotAll, SizeLimit: int(f.regexSize)}
	language, flag, _ := strings.Cut(f.syntax, "/")
	o.Unicode, o.UnicodeSets = flag == "u", flag == "v"
	switch js := language == "javascript" || language == "js" || language == "ecmascript"; {
	case js && (flag == "" || flag == "u" || flag == "v"):
		o.Syntax = match.ECMAScript
	case f.syntax == "literal":
		o.Syntax = match.Literal
	case f.syntax != "rust":
		return o, fmt.Errorf("--syntax %q: rust, literal, javascript, or javascript/u and javascript/v for its flags", f.syntax)
	}
	if f.fixed {
		o.Syntax = match.Literal
	}
	switch f.letters {
	case "ignore-case":
		o.Case = match.Insensitive
	case "smart-case":
		o.Case = match.Smart
	}
	if f.multiline {
		o.Mode = match.Multiline
	}
	o.KeepCR = f.rg && !f.crlf
	return o, nil
}

func (f *searchFlags) typeFilter() ([]string, error) {
	if len(f.types)+len(f.notType) == 0 && len(f.typeAdd)+len(f.typeClear) == 0 {
		return nil, nil
	}
	known, err := filetypes.Known(f.typeClear, f.typeAdd)
	if err != nil {
		return nil, err
	}
	with, err := known.Globs(f.types, false)
	if err != nil {
		return nil, err
	}
	without, err := known.Globs(f.notType, true)
	return append(with, without...), err
}

// filters returns the flags that narrow the search, in command-line form.
func (f *searchFlags) filters() string {
	var parts []string
	for _, list := range []struct {
		flag   string
		values []string
	}{{"-g", f.globs}, {"--iglob", f.iglobs}, {"-t", f.types}, {"-T", f.notType}} {
		for _, v := range list.values {
			parts = append(parts, list.flag+" "+v)
		}
	}
	if f.changed.to.Any() {
		parts = append(parts, "--changed="+f.changed.text)
	}
	if f.maxDepth > 0 {
		parts = append(parts, fmt.Sprintf("--max-depth %d", f.maxDepth))
	}
	return strings.Join(parts, " ")
}
