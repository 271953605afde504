package search

import (
	"cmp"
	"slices"
	"time"
)

// Result is the answer to a Query.
type Result struct {
	Files []FileMatch
	Summary
}

// FileMatch is a file with matches. With Detail Counts and Files it has no
// lines.
//
// To edit at the offsets of its lines only if the file has not changed in between, set
// Query.Versions and give Version to the change, as change.Options.ExpectedVersion or
// change.Op.Version.
type FileMatch struct {
	Path    string
	Lines   []Line
	Matched int   // matching lines; in multiline mode, matches
	Matches int   // matches, when counted
	Bytes   int64 // searched
	NUL     int64 // 1 and the offset of the first NUL of a binary file; 0 for none
	AtNUL   bool  // the search ended at that NUL: Query.NUL
	Score   float64
	ModTime time.Time // set if the order uses it
	Version string    // if requested; "" if the file was changed during the search

	// More says that another part of the file follows; see Query.Parts. Sum Matched,
	// Matches and Bytes over all parts. Lines are valid until yield returns. The last
	// part may have no lines.
	More bool
}

// Span is a match in a line's text: Text[Start:End].
type Span struct{ Start, End int }

// Hole is the content of a structure's hole, with a position as in Whole.
type Hole struct {
	Name string
	Span
}

// Line is a line of an answer: a match, or its context.
//
// All offsets count bytes of the file's text, decoded to UTF-8 and without a byte order
// mark, as Workspace.Read returns it. A change.Edit takes them unchanged: the first match
// of a line starts at Offset+CutBefore+Spans[0].Start. FileMatch says how to
// refuse the edit if the file has changed since. A file that is neither UTF-8 nor marked as
// UTF-16 is decoded from Windows-1252. With Query.RawLines, Query.Raw or Query.Text, and in
// SearchText, lines are the searched bytes, and offsets count these.
type Line struct {
	Number int   // from 1
	Offset int64 // of its first byte
	Text   []byte
	Ending string // "\n", "\r\n", or "" at the end of the file
	Hit    bool   // it matches; context otherwise
	Spans  []Span // if requested; an inverted search sets them in context lines

	// Whole has, in multiline mode, the matches that begin in this line, as offsets from
	// its first byte. A match may end in a later line of the block; offsets count the
	// Text and Ending of all lines of the block.
	Whole []Span

	// Holes has, for each of Whole, the contents of the holes of Query.Structure.
	Holes [][]Hole
	// Doubts says, for each of Whole, why tokens can't decide whether it matches
	// Query.Structure; "" if they can. It is nil if they can for all.
	Doubts []string

	// CutBefore and CutAfter count the bytes that Limits.LineBytes removed from
	// Text.
	CutBefore, CutAfter int

	// Symbol is, with Query.Symbols, the innermost definition that contains the
	// matching line. It is nil if there is none, and for context lines. Modules
	// and headings don't count.
	Symbol *Symbol

	// Block is the number of the block in multiline mode. A block is a run of adjoining
	// lines touched by matches. In line mode every matching line is a block.
	Block int
}

// Summary describes a search as a whole.
type Summary struct {
	FilesMatched int
	LinesMatched int
	Blocks       int // if limited
	Matches      int // if counted

	// Exact says that the counts are totals. Otherwise they are lower bounds, up to the
	// point where the search stopped.
	Exact bool

	// Stopped is the limit that ended the answer; "" if the answer is complete.
	Stopped Stop

	// Skipped lists omitted files with reasons. SkippedCount counts all of them by
	// reason; the list has at most 1,000 entries.
	Skipped      []Skip
	SkippedCount map[Reason]int
	// Denied counts the files and folders that were not searched only because of
	// the policy. A folder counts once; an index counts it only if it has files.
	Denied int
	// Secrets are the first files, in path order, that the built-in list of names closes.
	// Files denied by the owner of the workspace are never named.
	Secrets []string

	Stats Stats
}

// Add adds the summary of another part of the same search. Stopped becomes the
// first limit that was reached, and Plan a scan if any part was scanned.
func (s *Summary) Add(part *Summary) {
	s.FilesMatched += part.FilesMatched
	s.LinesMatched += part.LinesMatched
	s.Blocks += part.Blocks
	s.Matches += part.Matches
	s.Denied += part.Denied
	s.AddSecrets(part.Secrets...)
	s.Exact = s.Exact && part.Exact
	s.Stopped = cmp.Or(s.Stopped, part.Stopped)
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
	st.IgnoredIndexed = part.Stats.IgnoredIndexed && (st.IgnoredIndexed || st.Plan.Kind == "")
	if st.Plan.Kind != PlanScan {
		st.Plan = part.Stats.Plan
	}
}

// maxSecrets limits the closed files that are named.
const maxSecrets = 5

// AddSecrets adds names of closed files.
func (s *Summary) AddSecrets(paths ...string) {
	if len(paths) == 0 {
		return
	}
	s.Secrets = append(s.Secrets, paths...)
	slices.Sort(s.Secrets)
	s.Secrets = slices.Compact(s.Secrets)
	s.Secrets = s.Secrets[:min(len(s.Secrets), maxSecrets)]
}

// Stop is the limit that ended an answer: StopFiles, StopLines, StopBlocks, StopBytes,
// StopTime, StopReads or StopBudget.
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

// Reason says why something was not searched: Binary, Unreadable, TooLarge, Protected,
// Ignored, Hidden, Filtered, NotRegular, Loop, Symlink or Outside.
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

// Skip is one path that was not searched.
type Skip struct {
	Path   string
	Reason Reason
	Detail string // the system's error; may be ""
}

// PlanKind is the method of finding files that could match: PlanScan, PlanIndex,
// PlanWords, PlanSymbols or PlanFields.
type PlanKind string

const (
	PlanScan    PlanKind = "scan"    // every file in scope was read
	PlanIndex   PlanKind = "index"   // an index named the candidates
	PlanWords   PlanKind = "words"   // an index of words
	PlanSymbols PlanKind = "symbols" // an index of definitions
	PlanFields  PlanKind = "fields"  // an index of fields
)

// Plan describes how the files that could match were found.
type Plan struct {
	Kind       PlanKind
	Documents  int  // indexed files in scope
	Candidates int  // files that could match
	Changed    int  // files changed since they were indexed, which were read
	Every      bool // the index could not narrow the search
	AtLeast    bool // the search ended before all candidates were known
	// Grams counts the grams the pattern needs, Lists the lists read for them, and Blocks the parts of files
	// that could match. NoDetail says that these are withheld, since they would reveal something about files
	// that the policy denies.
	Grams, Lists, Blocks int
	NoDetail             bool
}

// Indexed reports whether an index answered.
func (p Plan) Indexed() bool {
	return p.Kind == PlanIndex || p.Kind == PlanWords || p.Kind == PlanSymbols || p.Kind == PlanFields
}

// Scanned reports whether the files were found without an index.
func (p Plan) Scanned() bool { return p.Kind == "" || p.Kind == PlanScan }

// Stats describe the work for an answer.
type Stats struct {
	Considered int // files that passed the filters
	Searched   int // of these, read as text
	Bytes      int64
	Strategy   string // of the pattern
	Plan       Plan
	Remote     bool // another process answered
	// IgnoredIndexed says that the index includes ignored files, so a search with
	// Scope.IncludeIgnored needs no scan.
	IgnoredIndexed bool
	// Replaced says that the folder at the workspace's path was replaced since
	// the last answer. The new one was searched.
	Replaced bool
	Elapsed  time.Duration
}
