package search

import (
	"cmp"
	"time"

	"quarry/fault"
)

// NotesQuery is a search for notes by words, best first.
type NotesQuery struct {
	// Query is words. Each has to occur, in any case, also inside another word;
	// with Loose see there.
	Query string
	// Loose finds notes that lack some of the words or have them in another
	// form: without case, accents and English endings. The query may then have
	// filters: tag:a/b, property:status=done, path:Projects, heading:Log. A
	// note has to pass all of them; a value with blanks stands in quotes.
	Loose bool
	Scope
	Limit int           // notes to give; 0 is 10
	Time  time.Duration // for looking at notes; what was found until then is the answer. 0 is no limit
	// Totals are those of a larger collection, whose order is wanted; nil are
	// those of this one.
	Totals     *NoteTotals
	Content    bool
	MaxContent int // characters of content; 0 is 10,000
}

// Note is a note that was found.
type Note struct {
	Path       string
	Excerpts   []string // text around the first matches
	Content    string   // when asked for
	ContentCut bool
	// Score says how well the note answers the query: BM25 over its text, with
	// more weight for its name, aliases and headings.
	Score float64
}

// Compare orders notes, best first. Equal notes stay in path order.
func (n *Note) Compare(other *Note) int { return cmp.Compare(other.Score, n.Score) }

// NotesResult is the answer to a NotesQuery, best first.
type NotesResult struct {
	Notes  []Note
	Total  int
	Totals NoteTotals // what the order depends on beside each note
	Summary
}

// NoteTotals are counts that an order of notes depends on. Those of parts of a
// collection add up to those of the whole.
type NoteTotals struct {
	Notes   int   // all there are
	Found   int   // that have a word
	With    []int // by word: notes that have it
	Lengths []int // by field of a note: words of the notes found
}

// ErrFilter is for a filter of a notes query that can't be read.
var ErrFilter = fault.New(fault.InvalidArgument, "invalid filter", "use tag:name, property:name, property:name=value, path:text or heading:text")
