package search

import "time"

// Result is the answer to a Query.
type Result struct {
	Files []FileMatch
	Summary
}

// FileMatch is a file with matches. With Detail Counts and Files it has no
// lines.
type FileMatch struct {
	Path    string
	Lines   []Line
	Matched int   // matching lines; in multiline mode, matches
	Matches int   // matches, when counted
	Bytes   int64 // searched
	NUL     int64 // 1 and the offset of the first NUL of a binary file; 0 for none
	Score   float64
	ModTime time.Time // when the order asked for it

	// More says that another part of the file follows: with Query.Parts. The
	// parts' Matched, Matches and Bytes add up, and their Lines are valid until
	// the function that takes them returns. The last part may have none.
	More bool
}

// Span is a match in a line's text: Text[Start:End].
type Span struct{ Start, End int }

// Line is a line of an answer: a match, or its context.
type Line struct {
	Number int   // from 1
	Offset int64 // of its first byte in the text, after decoding
	Text   []byte
	Ending string // "\n", "\r\n", or "" at the end of the file
	Hit    bool   // it matches; context otherwise
	Spans  []Span // when asked for; inverted, those of the context

	// Whole are, in multiline mode, the matches that begin in this line, as
	// offsets from its first byte. They may end in a later line of the block:
	// its text is the lines' Text and Ending one after the other.
	Whole []Span

	// CutBefore and CutAfter count the bytes that Limits.LineBytes took from
	// Text.
	CutBefore, CutAfter int

	// Symbol is the innermost definition that begins above the matching line and
	// goes on to it, with Query.Symbols; nil if there is none, and for context.
	// Modules and headings don't count.
	Symbol *Symbol

	// Block numbers the blocks of multiline mode: adjoining lines that matches
	// touch. By lines every matching line is one.
	Block int
}

// Summary is what a search reports beside what it found.
type Summary struct {
	FilesMatched int
	LinesMatched int
	Blocks       int // when limited
	Matches      int // when counted

	// Exact says that these are totals. If not, they are what was counted
	// before Stopped: lower bounds.
	Exact bool

	// Stopped is the limit that ended the answer; "" when it is complete.
	Stopped Stop

	// Skipped lists what was not searched and why. SkippedCount has all of it
	// by reason; the list holds the first thousand.
	Skipped      []Skip
	SkippedCount map[Reason]int
	// Denied counts the files and folders that the policy keeps from the search
	// and that it would have looked at otherwise. A folder counts once, by an index
	// if it has files. They are named nowhere. Servers of repositories do not count
	// them.
	Denied int

	Stats Stats
}

// Add adds the summary of another part of the same search. Stopped is the first
// limit that was reached, and Plan a scan if any part had one.
func (s *Summary) Add(part *Summary) {
	s.FilesMatched += part.FilesMatched
	s.LinesMatched += part.LinesMatched
	s.Blocks += part.Blocks
	s.Matches += part.Matches
	s.Denied += part.Denied
	s.Exact = s.Exact && part.Exact
	if s.Stopped == "" {
		s.Stopped = part.Stopped
	}
	s.Skipped = append(s.Skipped, part.Skipped...)
	if s.SkippedCount == nil {
		s.SkippedCount = map[Reason]int{}
	}
	for why, n := range part.SkippedCount {
		s.SkippedCount[why] += n
	}
	st := &s.Stats
	st.Considered += part.Stats.Considered
	st.Searched += part.Stats.Searched
	st.Bytes += part.Stats.Bytes
	st.Elapsed += part.Stats.Elapsed
	st.Strategy = part.Stats.Strategy
	st.Remote = st.Remote || part.Stats.Remote
	st.Replaced = st.Replaced || part.Stats.Replaced
	st.IgnoredIndexed = part.Stats.IgnoredIndexed && (st.IgnoredIndexed || st.Plan == "")
	if st.Plan != "scan" {
		st.Plan = part.Stats.Plan
	}
}

// Stop is the limit that ended an answer.
type Stop string

const (
	StopFiles  Stop = "files"
	StopLines  Stop = "lines"
	StopBlocks Stop = "blocks"
	StopBytes  Stop = "bytes"
	StopTime   Stop = "time"
	StopReads  Stop = "reads"
	StopBudget Stop = "budget" // a backtracking pattern took too many steps
)

// Reason says why something was not searched.
type Reason string

const (
	Binary     Reason = "binary"
	Unreadable Reason = "unreadable"
	TooLarge   Reason = "too_large"
	Protected  Reason = "protected"
	Ignored    Reason = "ignored"
	Hidden     Reason = "hidden"
	Filtered   Reason = "filtered" // by a glob
	NotRegular Reason = "not_regular"
	Loop       Reason = "loop"
	Symlink    Reason = "symlink" // not followed
	Outside    Reason = "outside_root"
)

// Skip is one path that was not searched, or a server that has not answered:
// then Path is its name, and its repositories are missing from the answer.
type Skip struct {
	Path   string
	Reason Reason
	Detail string // what the system or the server said; may be ""
	Server bool
}

// Stats tell how an answer came about.
type Stats struct {
	Considered int // files that passed the filters
	Searched   int // of which read as text
	Bytes      int64
	Strategy   string // of the pattern
	Plan       string // scan, or what the index said
	Remote     bool   // another process answered
	// IgnoredIndexed says that an index answered that has ignored files as well,
	// so that a search with Scope.IncludeIgnored needs no scan either.
	IgnoredIndexed bool
	// Replaced says that another folder stands at the workspace's path than at the
	// last answer: it is the one that was searched.
	Replaced bool
	// Commits are the commits of the repositories on servers in which something
	// was found, by their name: the first hundred.
	Commits map[string]string
	Elapsed time.Duration
}
