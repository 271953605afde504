package change

import (
	"fmt"
	"strings"

	"quarry/fault"
)

// Reviewed tells what became of a change that a person accepted in part.
type Reviewed struct {
	Proposal string `json:"proposal"`
	// Written and Refused are the parts of the change, each in one of them.
	Written []Part `json:"written"`
	Refused []Part `json:"refused"`
	// Comments are the person's comments, with the places they are about.
	Comments []string `json:"comments,omitempty"`
}

// Part is a part of a change that was decided on its own: lines of a file, or the fate of a file as a whole.
type Part struct {
	Path string `json:"path"`
	To   string `json:"to,omitempty"` // where a move puts it
	Did  Verb   `json:"did"`          // Edited, Created, Overwrote, Deleted, Moved or MadeFolder
	// Line is the first line that differs, counted in the file as it is now; 0 if
	// the part is not about lines.
	Line    int `json:"line,omitempty"`
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// partVerbs name the operations on a file as a whole.
var partVerbs = map[Verb]string{Created: "new file", Deleted: "deletion", Moved: "move", MadeFolder: "new folder"}

// String is the part in a few words: a.go:12 (+1 -1).
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

// maxParts is how many parts of a kind are listed.
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
