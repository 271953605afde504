package search

import (
	"io/fs"
	"time"

	"quarry/match"
)

// FindQuery is a search for paths.
type FindQuery struct {
	Scope
	Kind   EntryKind
	Order  Order
	Stat   bool // return sizes and times; implied by an order that needs them
	Links  bool // also return symlinks themselves
	Limit  int  // maximum number of entries; 0 is all
	Offset int

	// Fuzzy is a rough description of a path: words in any order, each a name, a
	// part of a name, initials, or one of these with a typo. Slashes separate
	// folders. Matching entries come best first; Order is ignored.
	Fuzzy string
	Fits  bool // with Fuzzy: only entries whose score is FuzzyFits or more

	// Time bounds the search. The answer has the results found until then, with Stopped set and Total a lower
	// bound. 0 is no limit.
	Time time.Duration
}

// EntryKind is a kind of entry: OnlyFiles, OnlyFolders or FilesAndFolders.
type EntryKind uint8

const (
	OnlyFiles EntryKind = iota
	OnlyFolders
	FilesAndFolders
)

// Entry is a path found by a search.
type Entry struct {
	Path    string
	Folder  bool
	Link    bool        // a symlink, listed as such
	Mode    fs.FileMode // permissions, when asked for
	Size    int64       // when asked for
	ModTime time.Time   // when asked for
	Created time.Time   // when asked for; zero where the file system doesn't tell
	Score   int         // with Fuzzy: the quality of the match; see FuzzyFits
}

// FuzzyFits is the lowest score of a path that matches by names, words, initials or with
// a typo. A path with a lower score only contains the letters in order, scattered.
const FuzzyFits = 6000

// FindResult is the answer to a FindQuery.
type FindResult struct {
	Entries []Entry
	Total   int // before Limit and Offset; exact unless Time ended the search
	Summary
}

// CodeQuery is a ranked search for code and prose by words.
type CodeQuery struct {
	Query string // words; identifiers are split
	Scope
	Limit int           // maximum number of chunks; 0 is 10
	Time  time.Duration // for reading files; the files ranked by then are the answer. 0 is no limit
}

// Chunk is a part of a file that answers a ranked search.
type Chunk struct {
	Path               string
	StartLine, EndLine int
	Symbol             string // the definition shown or around it, with its container; "" for none
	Kind               string // of the symbol: function, class, heading, ...
	Text               string
	Score              float64
}

// CodeResult is the answer to a CodeQuery, best first.
type CodeResult struct {
	Chunks []Chunk
	Total  int // number of chunks without a Limit: one for each ranked file
	Summary
}

// TextQuery asks for whole texts.
type TextQuery struct {
	Scope
	// Having is the condition for texts. Texts that don't meet it may be passed
	// nevertheless.
	Having match.Need
	// Names selects further files: those whose name contains one of these texts, in any
	// case.
	Names []string
	// Fields lets an index answer instead of the text; nil always reads the text.
	Fields *FieldQuery
	// Time bounds the query; 0 is no limit. Summary.Stopped tells whether the time ran out.
	Time time.Duration
}

// FieldQuery asks for the fields that an index keeps of files. The program that opened
// the workspace gives them their meaning.
type FieldQuery struct {
	// Keys select the files that have one of them; none selects all.
	Keys []uint64
	// Want has a bit for each value that Look needs, the lowest for the first; 0 asks for
	// all. Other values may be empty.
	Want uint64
	// Look is called with a file's values and its count of each key, instead of the
	// function for texts. A result other than nil is passed on. Both slices are valid
	// until it returns. One goroutine calls it.
	Look func(path string, values []byte, counts []uint8) any
}
