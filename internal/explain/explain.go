// Package explain finds out why a search found nothing, and which other search would find
// something.
//
// It repeats the search with one condition changed, and returns the results as data.
// Tools, the command line and the web page put them into words. Nothing is guessed. The
// extra searches read a fixed number of files and bytes in path order, so the results
// don't depend on the speed of the machine.
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
	// An extra search counts at most maxFiles files and names MaxNames of them. Naming a
	// few saves a call to list them.
	maxFiles, MaxNames = 10, 3

	// Limits of one extra search. With an index only candidate files are read, which takes a
	// few milliseconds for 78,000 files. Without an index the first files in path order are
	// read, which is all files of most workspaces.
	indexReads, indexBytes = 64, 2 << 20
	scanReads, scanBytes   = 1000, 16 << 20

	// longLine is the number of bytes of a line that are kept around a match.
	longLine = 4 << 10
)

// Way is how an extra search differs from the original one.
type Way int

const (
	AnyPattern    Way = iota // any of several patterns instead of all
	AllFiles                 // not only changed files
	NoFilter                 // without globs and other file filters
	NoPath                   // outside the given path
	NoPathOrGlob             // outside the given path and without file filters
	AnyCase                  // ignoring case
	InsideWords              // also inside words
	PlainText                // the pattern as literal text
	Regex                    // the text as a regular expression
	OneLine                  // a single line of a multi-line text
	OtherSpace               // with other white space between the words
	Alone                    // without text that was probably copied along, such as quotes
	Style                    // an identifier in another style
	Near                     // with one character wrong, missing, added or swapped
	Name                     // in the name of a file
	Hidden                   // including hidden files
	Ignored                  // including ignored files
	HiddenIgnored            // including hidden and ignored files
	AnyDepth                 // the glob applied at any depth
	Glob                     // a regular expression converted to the glob it probably means
	PartOfName               // a part of a name
	NearName                 // the most similar spelling of a name
)

// Finding is another search that has results.
type Finding struct {
	Way Way
	// Text is the pattern, glob or spelling that matches, if it differs from the
	// original.
	Text string
	// Unfiltered reports that the search also has no file filters.
	Unfiltered bool
	// Paths are the first results in path order, and Total is their number. It is a
	// minimum if More is set.
	Paths []string
	Total int
	More  bool
}

// Look makes the searches that explain an empty answer. Only Files is required; the other
// fields are then those of a workspace with an index.
type Look struct {
	Files Files
	// Scan reports that there is no index, so that searches read the files themselves.
	Scan bool
	// Whole reports that the index includes ignored files.
	Whole bool

	found []Finding
}

// After returns a Look for an answer with the given summary.
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

// seen is the result of an extra search: up to maxFiles matching files, and whether there
// may be more.
type seen struct {
	files []string
	more  bool
	text  string // of a match, if requested
}

// finding converts the result to a Finding.
func (s seen) finding(way Way, text string) Finding {
	return Finding{Way: way, Text: text, Paths: s.files, Total: min(len(s.files), maxFiles), More: s.more || len(s.files) > maxFiles}
}

func (l *Look) add(f Finding) bool {
	if f.Total > 0 {
		l.found = append(l.found, f)
	}
	return f.Total > 0
}

// search searches for files with a modified query.
func (l *Look) search(ctx context.Context, way Way, q search.Query, change func(*search.Query)) seen {
	change(&q)
	s := l.ask(ctx, q)
	l.add(s.finding(way, ""))
	return s
}

// ask searches for files with a query.
func (l *Look) ask(ctx context.Context, q search.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = search.Files, false, 0, 0, 0
	q.Limits = l.limits()
	sum, err := l.Files.SearchEach(ctx, q, func(f *search.FileMatch) error {
		s.files = append(s.files, f.Path)
		return nil
	})
	if err != nil {
		return seen{} // the query is invalid
	}
	s.more = sum.FilesMatched > maxFiles || sum.Stopped == search.StopReads
	return s
}

// askText is like ask, but also returns the text of a match, extended to whole words. It
// prefers a match that is a whole word already, then the first match of the most files.
func (l *Look) askText(ctx context.Context, q search.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = search.Lines, true, 0, 0, 0
	q.Limits = l.limits()
	q.Limits.LinesPerFile, q.Limits.LineBytes = 1, longLine
	times, most := map[string]int{}, 0
	sum, err := l.Files.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if len(f.Lines) > 0 && len(f.Lines[0].Spans) > 0 {
			at := f.Lines[0].Spans[0]
			text := wholeWord(string(f.Lines[0].Text), at)
			if times[text]++; len(text) == at.End-at.Start {
				times[text] += maxFiles
			}
			if times[text] > most {
				s.text, most = text, times[text]
			}
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
	known := sum.Stats.Plan.Kind == search.PlanScan // an index doesn't count the excluded files
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

// filtered reports whether a query has file filters.
func filtered(q *search.Query) bool { return len(q.Globs)+len(q.Types) > 0 || q.MaxDepth > 0 }

// onlyExcludes reports whether all file filters exclude files. The caller excluded these
// files on purpose, so there is no need to report that they match.
func onlyExcludes(q *search.Query) bool {
	return len(q.Types) == 0 && q.MaxDepth == 0 && !slices.ContainsFunc(q.Globs, func(g string) bool { return !strings.HasPrefix(g, "!") })
}

func unfilter(q *search.Query) { q.Globs, q.Types, q.MaxDepth = nil, nil, 0 }

// Sentence says how much a finding found. words describe the change of the search and come
// first; show formats a path.
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

// Items is like Sentence, for a listing that includes folders.
func (f *Finding) Items(words string, show func(path string) string) string {
	if f.Way == NearName {
		return f.Sentence(words, show)
	}
	return words + " " + fault.Count(f.Total, "item matches", "items match") + f.names(show)
}

// names names the results, or the first of them if there are many.
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

// OfName says which files have a certain name.
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
