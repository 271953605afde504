package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"quarry/match"
	"quarry/search"
)

// errNoPCRE answers -P: there is one engine, and it has what people want -P for.
var errNoPCRE = errors.New("there is no PCRE2 engine here\n" +
	"  --syntax javascript has look-around and backreferences: quarry search --syntax javascript '(?<=a)b'")

// query turns the flags into a query without paths.
func (f *searchFlags) query(args []string, stdin io.Reader) (q search.Query, paths []string, err error) {
	if f.pcre {
		return q, nil, errNoPCRE
	}
	if q.Patterns, paths, err = f.allPatterns(args, stdin); err != nil {
		return q, nil, err
	}
	if err := f.check(); err != nil {
		return q, nil, err
	}
	if q.Match, err = f.matchOptions(); err != nil {
		return q, nil, err
	}
	if q.Types, err = f.typeFilter(); err != nil {
		return q, nil, err
	}
	q.Globs = f.globs
	q.IncludeHidden = f.hidden || f.unrestricted >= 2
	q.IncludeIgnored = f.noIgnore || f.unrestricted >= 1
	q.NoIndex = f.noIndex
	q.Binary = f.text || f.unrestricted >= 3
	q.MaxDepth = f.maxDepth
	q.Invert = f.invert
	q.Before, q.After = f.contextLines()
	q.Limits = search.Limits{LinesPerFile: f.maxCount, Time: f.timeout}
	if by, _ := f.order(); by == "modified" {
		q.Order = search.ByModTime
	}
	f.detail(&q)
	return q, paths, nil
}

// detail asks for no more than what will be shown.
func (f *searchFlags) detail(q *search.Query) {
	switch mode := f.shownMode(); {
	case mode == "files-without-match":
		q.Detail, q.FilesWithoutMatch = search.Files, true
	case f.quiet && mode != "json" || mode == "files-with-matches":
		q.Detail = search.Files
	case mode == "count" || mode == "count-matches":
		q.Detail = search.Counts
		q.CountMatches = mode == "count-matches" && !f.invert
	case mode == "json":
		q.Spans = true
	}
}

// shownMode is the mode asked for; counting with -o counts matches.
func (f *searchFlags) shownMode() string {
	if f.mode == "count" && f.only {
		return "count-matches"
	}
	return f.mode
}

// allPatterns gathers the patterns of -e and -f; without either the first
// argument is the pattern.
func (f *searchFlags) allPatterns(args []string, stdin io.Reader) (patterns, paths []string, err error) {
	if !f.given["regexp"] && !f.given["file"] {
		if len(args) == 0 {
			return nil, nil, errors.New("no pattern given: quarry search PATTERN [PATH...]")
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
			return nil, nil, clearPathError(name, err)
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

// check refuses numbers and names that mean nothing.
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
	case "path", "none", "modified":
	case "accessed", "created":
		return fmt.Errorf("--sort %s: files can be ordered by path or modified; reading them changes or does not know the rest", by)
	default:
		return fmt.Errorf("--sort %q: path, modified or none", by)
	}
	if by, reversed := f.order(); f.limit > 0 && (by == "modified") != reversed {
		return errors.New("--limit cuts what is found in the order of paths, or with --sortr modified the newest files first\n" +
			"  --limit 0 lifts it")
	}
	return nil
}

// order is the order asked for and whether it is reversed.
func (f *searchFlags) order() (by string, reversed bool) {
	if f.sortr != "" {
		return f.sortr, true
	}
	return f.sort, false
}

// contextLines lets -A and -B override their side of -C.
func (f *searchFlags) contextLines() (before, after int) {
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
	o := match.Options{WholeWord: f.whole == "word-regexp", WholeLine: f.whole == "line-regexp", DotAll: f.dotAll}
	switch f.syntax {
	case "rust":
	case "javascript", "js", "ecmascript":
		o.Syntax = match.ECMAScript
	case "literal":
		o.Syntax = match.Literal
	default:
		return o, fmt.Errorf("--syntax %q: rust, javascript or literal", f.syntax)
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

// filters names what narrows the search, as it was typed.
func (f *searchFlags) filters() string {
	var parts []string
	for _, list := range []struct {
		flag   string
		values []string
	}{{"-g", f.globs}, {"-t", f.types}, {"-T", f.notType}} {
		for _, v := range list.values {
			parts = append(parts, list.flag+" "+v)
		}
	}
	if f.maxDepth > 0 {
		parts = append(parts, fmt.Sprintf("--max-depth %d", f.maxDepth))
	}
	return strings.Join(parts, " ")
}
