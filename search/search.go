// Package search is the contract of searching: what can be asked of a
// workspace and what it answers. It holds data only; package quarry has the
// methods.
//
// The zero value of every option is its default, and an answer says what it
// omitted and why: see Summary.
package search

import (
	"io"
	"time"

	"quarry/match"
)

// Query is a search for text. The zero value with a pattern searches every
// text file of the workspace, case-sensitively, line by line, in Rust's syntax.
type Query struct {
	// Pattern is what to search for; Patterns are further ones, any of which
	// may match.
	Pattern  string
	Patterns []string
	Match    match.Options

	// Each wants files only in which every one of the patterns matches somewhere.
	// Their lines are those that one of them matches. It goes with neither Invert,
	// FilesWithoutMatch, AllFiles nor Passthru.
	Each bool

	Scope

	Before, After     int  // lines of context
	Invert            bool // lines that don't match
	FilesWithoutMatch bool // files that have no match; with Detail Files
	Detail            Detail
	Spans             bool // where in each line the matches are
	CountMatches      bool // count matches beside lines
	Symbols           bool // which definition each matching line is in: Line.Symbol
	Binary            bool // search binary files as text

	Raw            bool // search bytes as they are: no mark of an encoding counts
	AllFiles       bool // give files without a match too
	Passthru       bool // give all lines: those that don't match are context
	StopOnNonmatch bool // stop reading a file at the first line after a match that doesn't

	// MaxFileSize omits larger files, as a glob would; 0 is no limit.
	MaxFileSize int64

	// Text, when set, gives what is searched of a file in place of its bytes:
	// unpacked, decoded or made by a program. It is called by several goroutines
	// at once, and every file is read. It does not travel to other processes.
	Text func(path string, bytes io.Reader) (io.ReadCloser, error) `json:"-"`

	Order  Order
	Limits Limits

	// Parts lets the lines of a file come in parts, for SearchEach: see
	// FileMatch.More. The memory of the search is bounded then, whatever it finds.
	// It counts with Detail Lines in path order, without Offset, and with no limits
	// but those of lines, of a line's text and of time.
	Parts bool

	// Offset omits this many matching lines first; files with Detail Files,
	// blocks if those are limited.
	Offset int
}

// Scope says which files a query is about.
type Scope struct {
	// Paths are files or folders; none means the root. A path that is ignored
	// is searched all the same when it is named here.
	Paths []string

	// Globs filter files by name. One with a leading ! excludes; the last
	// that matches decides, and with any that doesn't exclude, a file has to
	// match one.
	Globs   []string
	Dialect Dialect

	// Types is a second list of such globs, always in the Gitignore dialect; a
	// file has to pass both.
	Types []string

	// FoldedGlobs follow Globs; letter case does not count in them.
	FoldedGlobs []string

	// FollowLinks enters and searches what symlinks lead to, within the root.
	FollowLinks bool
	// OneFileSystem enters no folder on which another file system is mounted.
	OneFileSystem bool

	// Without leaves kinds of ignore files unread.
	Without RuleFiles
	// Lowest are ignore rules over which all others win, one gitignore pattern
	// each; Extra win over all others.
	Lowest []string

	IncludeHidden  bool // entries whose name begins with a dot
	IncludeIgnored bool // what ignore files exclude

	// StrictHidden omits hidden entries even where a rule as !.github asks for
	// them.
	StrictHidden bool
	// VaultRules omits what userIgnoreFilters of an Obsidian vault name.
	VaultRules bool

	// Extra are further ignore rules, one gitignore pattern each.
	Extra []string

	// Changed wants changed files only, also of those that Paths name.
	Changed Changed

	MaxDepth int // 0 is no limit; 1 is the named folder alone

	NoIndex bool // read every file, whatever an index knows
}

// RuleFiles are kinds of ignore files.
type RuleFiles struct {
	VCS     bool // .gitignore, info/exclude and the global file
	Dot     bool // .ignore, .rgignore and .rooignore
	Exclude bool // .git/info/exclude
	Global  bool // git's global file
	Parent  bool // those of folders above the searched one
}

// Dialect is a dialect of globs.
type Dialect uint8

const (
	Gitignore Dialect = iota // a name at any depth, or a path from the searched folder
	Vault                    // *, ** and ? from the root, in any case
	Minimatch                // as npm's minimatch with dot files, from the root
)

// Detail says how much of the answer is wanted; less is faster.
type Detail uint8

const (
	Lines  Detail = iota // matching lines with their text
	Counts               // how many a file has
	Files                // which files have one
)

// Order is the order of the answer.
type Order uint8

const (
	ByPath      Order = iota // byte order of the paths
	ByRelevance              // best first
	ByModTime                // newest first
	BySize                   // largest first; path searches only
)

// Limits bound an answer; 0 is no limit. Summary.Stopped names the limit that
// cut it.
type Limits struct {
	Files        int           // files with a match
	Lines        int           // matching lines
	Blocks       int           // of matching lines whose context touches or overlaps
	BlockLines   int           // lines of one block; the rest of it is omitted
	LinesPerFile int           // matching lines of one file
	Bytes        int           // text of the answer
	LineBytes    int           // text of one line; it is cut around its first match
	Time         time.Duration // for the whole search

	// Reads bounds the files that are read, in path order, and ReadBytes their
	// bytes; with an index only files that could match are read. A search that
	// must cost little ends so at the same place on every machine, where Time
	// would not.
	Reads     int
	ReadBytes int64

	// CountTo lets counting go on, without text, once Files, Lines, Blocks or
	// Bytes is reached, up to this many matching lines, or blocks if those are
	// limited. With CountCheaply it does not where servers can't tell which
	// files could match: it would fetch file after file, for a number.
	CountTo      int
	CountCheaply bool
}
