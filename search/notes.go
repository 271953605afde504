package search

import "cmp"

// NotesQuery is a search for notes that have all words of a query.
type NotesQuery struct {
	Query string // words; each has to occur, in any case, also inside another word
	Scope
	Limit      int // notes to give; 0 is 10
	Content    bool
	MaxContent int // characters of content; 0 is 10,000
}

// Note is a note that was found.
type Note struct {
	Path       string
	Excerpts   []string // text around the first matches
	Content    string   // when asked for
	ContentCut bool
	InHeadings int // how many of the words are in the title or a heading
	Matches    int
	First      int // where the first match begins, in bytes of the text
}

// Compare orders notes, best first: more of the words in the title or headings,
// then more matches, then an earlier one. Equal notes stay in path order.
func (n *Note) Compare(other *Note) int {
	return cmp.Or(cmp.Compare(other.InHeadings, n.InHeadings), cmp.Compare(other.Matches, n.Matches), cmp.Compare(n.First, other.First))
}

// NotesResult is the answer to a NotesQuery, best first.
type NotesResult struct {
	Notes []Note
	Total int
	Summary
}
