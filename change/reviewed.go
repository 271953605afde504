package change

import (
	"fmt"
	"strings"

	"quarry/fault"
)

// Reviewed is the outcome of a change that a person accepted in part.
type Reviewed struct {
	Proposal string `json:"proposal"`
	// Written and Refused are the accepted and the refused parts of the change.
	Written []Part `json:"written"`
	Refused []Part `json:"refused"`
	// Comments are the person's comments, with their places.
	Comments []string `json:"comments,omitempty"`
}

// Part is a separately reviewed part of a change: lines of a file, or an operation on a
// whole file.
type Part struct {
	Path string `json:"path"`
	To   string `json:"to,omitempty"` // the destination of a move
	Did  Verb   `json:"did"`          // Edited, Created, Overwrote, Deleted, Moved or MadeFolder
	// Line is the first line that differs, in the current file; 0 if the part is not
	// about lines.
	Line    int `json:"line,omitempty"`
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// partVerbs name the operations on whole files.
var partVerbs = map[Verb]string{Created: "new file", Deleted: "deletion", Moved: "move", MadeFolder: "new folder"}

// String returns the part in a few words: a.go:12 (+1 -1).
func (p Part) String() string {
	s := fault.Printable(p.Path)
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	var notes []string
	if what := partVerbs[p.Did]; what != "" {
		if p.To != "" {
			what += " to " + fault.Printable(p.To)
		}
		notes = append(notes, what)
	}
	if p.Added > 0 {
		notes = append(notes, fmt.Sprintf("+%d", p.Added))
	}
	if p.Removed > 0 {
		notes = append(notes, fmt.Sprintf("-%d", p.Removed))
	}
	if len(notes) == 0 {
		return s
	}
	return s + " (" + strings.Join(notes, " ") + ")"
}

// maxParts limits the listed parts of a kind.
const maxParts = 40

// Parts lists parts in one line.
func Parts(list []Part) string {
	var b strings.Builder
	for i, p := range list[:min(len(list), maxParts)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.String())
	}
	if n := len(list) - maxParts; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

func (r *Reviewed) under(at place) *Reviewed {
	if r == nil {
		return nil
	}
	out := *r
	out.Proposal = at.given(r.Proposal)
	for _, list := range []*[]Part{&out.Written, &out.Refused} {
		named := make([]Part, len(*list))
		for i, p := range *list {
			p.Path, p.To = at.path(p.Path), at.given(p.To)
			named[i] = p
		}
		*list = named
	}
	return &out
}
