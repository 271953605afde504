// Package search is the contract of searching: the queries of a workspace and their
// answers. It holds data only; package quarry has the methods.
//
// The zero value of every option is its default. An answer lists its omissions and their
// reasons: see Summary.
package search

import (
	"io"
	"time"

	"quarry/match"
)

// Query is a search for text. The zero value with a pattern searches every
// text file of the workspace, case-sensitively, line by line, in Rust's syntax.
type Query struct {
	// Pattern is the pattern to search for. Patterns are alternatives to it.
	Pattern  string
	Patterns []string
	Match    match.Options

	// Structure is code with holes, such as foo($A, $B) or if err != nil { $$BODY }, that
	// is searched for by its tokens: $NAME is one balanced piece, $$NAME any number of
	// them. Pattern, Patterns and Match are then ignored, and Invert, FilesWithoutMatch,
	// AllFiles, Passthru, Each and Lacking are refused. Matches may overlap; they are in
	// Line.Whole and Line.Holes.
	Structure string
	// Hole is the sign that begins a hole; "" is $.
	Hole string

	// Each selects files in which every pattern matches somewhere. The lines that match
	// any of them are returned. It can't be combined with Invert, FilesWithoutMatch,
	// AllFiles or Passthru.
	Each bool

	// Lacking omits files in which one of these patterns matches. It has the same
	// restrictions as Each.
	Lacking []string

	Scope

	Before, After     int  // lines of context
	Invert            bool // lines that don't match
	FilesWithoutMatch bool // files that have no match; with Detail Files
	Detail            Detail
	Spans             bool // positions of the matches in each line
	CountMatches      bool // count matches, not only lines
	Symbols           bool // the definition around each matching line: Line.Symbol
	Versions          bool // FileMatch.Version; with Detail Lines, without Parts and Text
	Binary            bool // search binary files as text

	// NUL is the meaning of a NUL in a file, unless Binary is set.
	NUL NULRule

	Raw            bool // search the bytes as they are; ignore byte order marks
	RawLines       bool // return the original bytes of lines in Windows-1252; see Line
	AllFiles       bool // give files without a match too
	Passthru       bool // give all lines: those that don't match are context
	StopOnNonmatch bool // after a match, stop reading the file at the first line that doesn't match

	// MaxFileSize omits larger files, like a glob; 0 is no limit.
	MaxFileSize int64

	// Text, if set, returns the text to search instead of a file's bytes, for example
	// unpacked or decoded. It is called concurrently. Every file is then read in this
	// process, without an index.
	Text func(path string, bytes io.Reader) (io.ReadCloser, error) `json:"-"`

	Order  Order
	Limits Limits

	// Parts lets SearchEach deliver the lines of a file in parts; see FileMatch.More.
	// This bounds the memory of a search of any result size. It has an effect only with
	// RawLines and Detail Lines, in path order, without Offset, and with no limits except
	// Lines, LineBytes and Time.
	Parts bool

	// Offset omits the first matching lines; with Detail Files it counts files,
	// and if blocks are limited it counts blocks.
	Offset int
}

// Scope restricts the files of a query.
type Scope struct {
	// Paths are files or folders; none means the root. An ignored path is searched if it
	// is named here.
	Paths []string

	// Globs filter files by name. A leading ! makes a glob exclude. The last matching
	// glob decides. If any glob has no !, a file has to match one.
	Globs   []string
	Dialect Dialect

	// Types is a second list of globs, always in the Gitignore dialect; a file has to
	// pass both lists.
	Types []string

	// FoldedGlobs come after Globs and ignore letter case.
	FoldedGlobs []string

	// FollowLinks follows symlinks within the root.
	FollowLinks bool
	// OneFileSystem does not enter folders on which another file system is
	// mounted.
	OneFileSystem bool

	// Without lists the kinds of ignore files to disregard.
	Without RuleFiles
	// Lowest are ignore rules of the lowest precedence, one gitignore pattern
	// each. Extra has the highest.
	Lowest []string

	IncludeHidden  bool // entries whose name begins with a dot
	IncludeIgnored bool // entries that ignore files exclude

	// StrictHidden omits hidden entries even if a rule such as !.github includes
	// them.
	StrictHidden bool

	// Extra are further ignore rules, one gitignore pattern each.
	Extra []string

	// Changed restricts the query to changed files, including those named in
	// Paths.
	Changed Changed

	MaxDepth int // 0 is no limit; 1 is the named folder alone

	NoIndex bool // do not use the index; read every file
}

// RuleFiles are kinds of ignore files.
type RuleFiles struct {
	VCS     bool // .gitignore, info/exclude and the global file
	Dot     bool // .ignore, .rgignore and .rooignore
	Exclude bool // .git/info/exclude
	Global  bool // git's global file
	Parent  bool // ignore files of folders above the searched one
	NoGit   bool // .gitignore and git's global file outside git repositories

	// Fd reads .fdignore instead of .rgignore and .rooignore.
	Fd bool
}

// Dialect is a dialect of globs: Gitignore, Plain or Minimatch.
type Dialect uint8

const (
	Gitignore Dialect = iota // a name at any depth, or a path from the searched folder
	Plain                    // *, ** and ? from the root, in any case
	Minimatch                // as npm's minimatch with dot files, from the root
)

// Detail selects how much to return: Lines, Counts or Files. Less is faster.
type Detail uint8

const (
	Lines  Detail = iota // matching lines with their text
	Counts               // the number of matching lines per file
	Files                // only the files with a match
)

// NULRule is the meaning of a NUL in a file: SkipBinary, StopAtNUL, MentionNUL,
// StopAtNULMapped or MentionNULMapped.
type NULRule uint8

const (
	// SkipBinary skips a file with a NUL in its first 64 KiB.
	SkipBinary NULRule = iota
	// StopAtNUL is ripgrep's rule for files that were not named: it reads 64 KiB at a time and stops before a
	// block with a NUL. Matches before it count, but with Detail Counts the file has none.
	StopAtNUL
	// MentionNUL is ripgrep's rule for named files: NUL ends a line, and from the first
	// 64 KiB with a NUL, a match is only mentioned: see FileMatch.NUL.
	MentionNUL
	// StopAtNULMapped and MentionNULMapped are these rules for a file that ripgrep maps:
	// only the first 64 KiB and matching lines are examined.
	StopAtNULMapped
	MentionNULMapped
)

// Order is the order of the answer: ByPath, ByRelevance, ByModTime, BySize or ByMatches.
type Order uint8

const (
	ByPath      Order = iota // byte order of the paths
	ByRelevance              // best first
	ByModTime                // newest first
	BySize                   // largest first; path searches only
	ByMatches                // most matching lines first; all are counted, whatever the limits
)

// Limits bound an answer; 0 is no limit. Summary.Stopped names the limit that ended it.
// BlockLines, LinesPerFile and LineBytes shorten parts of an answer without ending it.
type Limits struct {
	Files        int           // files with a match
	Lines        int           // matching lines
	Blocks       int           // of matching lines whose context touches or overlaps
	BlockLines   int           // lines of one block, if Blocks is set; the rest of it is omitted
	LinesPerFile int           // matching lines of one file; the rest of it is not read, so totals don't count it
	Bytes        int           // text and paths of the answer, in whole files; the first is given whatever its size
	LineBytes    int           // text of one line; it is cut around its first match
	Time         time.Duration // for the whole search

	// Reads limits the number of files read, in path order, and ReadBytes their bytes.
	// With an index, only files that could match are read. Unlike Time, these limits end
	// a search at the same place on every machine.
	Reads     int
	ReadBytes int64

	// CountTo continues counting, without text, after Files, Lines, Blocks or
	// Bytes is reached, up to this many matching lines, or blocks if those are
	// limited. CountCheaply skips that if servers can't tell which files could
	// match, since every file would have to be fetched.
	CountTo      int
	CountCheaply bool
}
