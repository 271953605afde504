// Package explain says why a search found nothing, and which other search would find
// something.
//
// It searches again with one condition changed and returns the results as data, which
// tools, the shell and the page put into words. It never guesses. The extra searches
// read a fixed number of files and bytes in path order, so the answer is the same on
// a fast and on a slow machine.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// Files is the workspace to search again.
type Files interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
}

const (
	// maxFiles is how many files a wider search counts, and MaxNames how many of them are
	// named. Naming a few saves the call that would list them.
	maxFiles, MaxNames = 10, 3

	// Limits of one extra search. With an index only candidate files are read, which takes a
	// few milliseconds on 78,000 files. Without an index the first files in path order are
	// read; most workspaces don't have more.
	indexReads, indexBytes = 64, 2 << 20
	scanReads, scanBytes   = 1000, 16 << 20

	// longLine is how many bytes of a line around a match are kept.
	longLine = 4 << 10
)

// Way is the difference of another search.
type Way int

const (
	AnyPattern    Way = iota // any of several patterns instead of all
	AllFiles                 // not only changed files
	NoFilter                 // without globs and other filters of files
	NoPath                   // outside the searched path
	NoPathOrGlob             // in all files, wherever they are
	AnyCase                  // ignoring case
	InsideWords              // also inside words
	PlainText                // the pattern as literal text
	Regex                    // the text as a regular expression
	OneLine                  // one line of a multi-line text
	OtherSpace               // with other white space between the words
	Alone                    // without text that was copied along with it
	Style                    // an identifier in another style
	Near                     // with one wrong character
	Name                     // as the name of a file
	Hidden                   // hidden files too
	Ignored                  // ignored files too
	HiddenIgnored            // both
	AnyDepth                 // a glob at any depth
	Glob                     // a regular expression converted to the glob it probably means
	PartOfName               // a part of a name
	NearName                 // the nearest spelling of a name
)

// Finding is another search that finds something.
type Finding struct {
	Way Way
	// Text is the pattern, glob or spelling that matches, if it differs.
	Text string
	// Unfiltered says that it also drops the filters of files.
	Unfiltered bool
	// Paths are the first results, in path order, and Total is their number: a minimum if
	// More is set.
	Paths []string
	Total int
	More  bool
}

// Look makes the searches that explain an empty answer. The zero value with Files works
// without an index.
type Look struct {
	Files Files
	// Scan says that there is no index: a search reads the files themselves.
	Scan bool
	// Whole says that the index has ignored files, too.
	Whole bool

	found []Finding
}

// After returns a Look that follows a search with this summary.
func After(files Files, sum *search.Summary) *Look {
	return &Look{Files: files, Scan: sum.Stats.Plan.Scanned(), Whole: sum.Stats.IgnoredIndexed}
}

// limits returns the limits of one extra search.
func (l *Look) limits() search.Limits {
	if l.Scan {
		return search.Limits{Files: maxFiles, Reads: scanReads, ReadBytes: scanBytes}
	}
	return search.Limits{Files: maxFiles, Reads: indexReads, ReadBytes: indexBytes}
}

// seen is the result of an extra search: the matching files, up to maxFiles, and whether
// there may be more.
type seen struct {
	files []string
	more  bool
	text  string // of the first match, if requested
}

// finding makes a Finding of the result.
func (s seen) finding(way Way, text string) Finding {
	return Finding{Way: way, Text: text, Paths: s.files, Total: min(len(s.files), maxFiles), More: s.more || len(s.files) > maxFiles}
}

func (l *Look) add(f Finding) bool {
	if f.Total > 0 {
		l.found = append(l.found, f)
	}
	return f.Total > 0
}

// search searches for files that match a changed query.
func (l *Look) search(ctx context.Context, way Way, q search.Query, change func(*search.Query)) seen {
	change(&q)
	s := l.ask(ctx, q)
	l.add(s.finding(way, ""))
	return s
}

// ask searches for files that match a query.
func (l *Look) ask(ctx context.Context, q search.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = search.Files, false, 0, 0, 0
	q.Limits = l.limits()
	sum, err := l.Files.SearchEach(ctx, q, func(f *search.FileMatch) error {
		s.files = append(s.files, f.Path)
		return nil
	})
	if err != nil {
		return seen{} // the search is invalid
	}
	s.more = sum.FilesMatched > maxFiles || sum.Stopped == search.StopReads
	return s
}

// askText is ask with the text of the first match, extended to whole words.
func (l *Look) askText(ctx context.Context, q search.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = search.Lines, true, 0, 0, 0
	q.Limits = l.limits()
	q.Limits.LinesPerFile, q.Limits.LineBytes = 1, longLine
	sum, err := l.Files.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if s.text == "" && len(f.Lines) > 0 && len(f.Lines[0].Spans) > 0 {
			s.text = wholeWord(string(f.Lines[0].Text), f.Lines[0].Spans[0])
		}
		s.files = append(s.files, f.Path)
		return nil
	})
	if err != nil {
		return seen{}
	}
	s.more = sum.FilesMatched > maxFiles || sum.Stopped == search.StopReads
	return s
}

// Plain searches for the pattern of a query as literal text.
func (l *Look) Plain(ctx context.Context, q search.Query) []Finding {
	q.Match.Syntax = match.Literal
	l.add(l.ask(ctx, q).finding(PlainText, q.Pattern))
	return l.found
}

// Text explains a text search without matches.
func (l *Look) Text(ctx context.Context, q search.Query, sum *search.Summary) []Finding {
	if len(q.Paths) == 0 {
		q.Paths = []string{"."}
	}
	if q.Each {
		l.search(ctx, AnyPattern, q, func(q *search.Query) { q.Each = false })
	}
	if q.Changed.Any() {
		l.search(ctx, AllFiles, q, func(q *search.Query) { q.Changed = search.Changed{} })
	}
	if filtered(&q) && !onlyExcludes(&q) {
		l.search(ctx, NoFilter, q, unfilter)
	}
	if base := q.Paths[0]; base != "" && base != "." {
		l.search(ctx, NoPath, q, func(q *search.Query) { q.Paths = nil })
		if filtered(&q) && len(l.found) == 0 {
			l.search(ctx, NoPathOrGlob, q, func(q *search.Query) { q.Paths = nil; unfilter(q) })
		}
	}
	found := len(l.found) > 0
	if q.Match.Case != match.Insensitive {
		l.search(ctx, AnyCase, q, func(q *search.Query) { q.Match.Case = match.Insensitive })
	}
	if q.Match.WholeWord {
		l.search(ctx, InsideWords, q, func(q *search.Query) { q.Match.WholeWord = false })
	}
	if !found && len(l.found) == 0 && q.Pattern != "" {
		l.forms(ctx, q)
	}
	var hidden seen
	known := sum.Stats.Plan.Kind == search.PlanScan // an index doesn't count the files it excludes
	if !q.IncludeHidden && (!known || sum.SkippedCount[search.Hidden] > 0) {
		hidden = l.search(ctx, Hidden, q, func(q *search.Query) { q.IncludeHidden = true })
	}
	if !q.IncludeIgnored && (!known || sum.SkippedCount[search.Ignored] > 0) {
		l.ignored(ctx, false, q, hidden)
		if len(l.found) == 0 && filtered(&q) && !onlyExcludes(&q) {
			all := q
			all.IncludeHidden = true
			unfilter(&all)
			l.ignored(ctx, true, all, l.ask(ctx, all))
		}
	}
	return l.found
}

// filtered reports whether a query selects kinds of files.
func filtered(q *search.Query) bool { return len(q.Globs)+len(q.Types) > 0 || q.MaxDepth > 0 }

// onlyExcludes reports whether the filters only exclude: then the caller need not be told
// that the excluded files match.
func onlyExcludes(q *search.Query) bool {
	return len(q.Types) == 0 && q.MaxDepth == 0 && !slices.ContainsFunc(q.Globs, func(g string) bool { return !strings.HasPrefix(g, "!") })
}

func unfilter(q *search.Query) { q.Globs, q.Types, q.MaxDepth = nil, nil, 0 }

// Sentence says how much a finding found, after words that describe the change. show writes
// a path for the reader.
func (f *Finding) Sentence(words string, show func(path string) string) string {
	switch {
	case f.Way == NearName:
		return words + list(f.Paths, show)
	case f.Total == 1 && !f.More:
		return words + " 1 file matches" + f.names(show)
	}
	plus := ""
	if f.More {
		plus = "+"
	}
	return fmt.Sprintf("%s %d%s files match%s", words, f.Total, plus, f.names(show))
}

// Items is Sentence for a listing, which includes folders.
func (f *Finding) Items(words string, show func(path string) string) string {
	if f.Way == NearName {
		return f.Sentence(words, show)
	}
	return words + " " + fault.Count(f.Total, "item matches", "items match") + f.names(show)
}

// names names the results: all of them if they are few, else the first.
func (f *Finding) names(show func(path string) string) string {
	switch {
	case len(f.Paths) == 0:
		return ""
	case f.Total > MaxNames || len(f.Paths) < f.Total:
		return " (the first: " + show(f.Paths[0]) + ")"
	}
	return " (" + list(f.Paths, show) + ")"
}

func list(paths []string, show func(path string) string) string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = show(p)
	}
	return strings.Join(out, ", ")
}

// Common describes a finding that needs no parameter or flag; "" if each face has its own
// words.
func (f *Finding) Common() string {
	switch quoted := render.Quote(f.Text); f.Way {
	case OneLine:
		return "lines are searched one by one: with " + quoted + " alone"
	case Alone:
		return "with " + quoted + " alone"
	case Style:
		return "written " + quoted
	case Near:
		return "near spelling: " + quoted
	case NearName:
		return "near spelling: "
	case AnyDepth:
		return "at any depth (" + f.Text + ")"
	case Glob:
		return "as the glob " + f.Text
	case PartOfName:
		return "as a part of a name (*" + f.Text + "*)"
	}
	return ""
}

// OfName says in a sentence which files have a name.
func OfName(paths []string, total int, show func(path string) string) string {
	switch all := list(paths, show); {
	case total == 1:
		return "There is " + all
	case total <= len(paths):
		return "Files of that name: " + all
	default:
		return fmt.Sprintf("%d files have that name, the first: %s", total, all)
	}
}
