package change

import (
	"fmt"

	"quarry/fault"
)

// Verb is the kind of a change: Edited, Created, Overwrote, MadeFolder, Moved, Deleted,
// Restored, Undid, UndidPart, RolledBack or SetMode; or of an edit: Replaced, Inserted,
// DeletedLines, Appended, Prepended or Valued.
type Verb string

const (
	Edited       Verb = "edit" // several edits of one file
	Replaced     Verb = "replace"
	Inserted     Verb = "insert"
	DeletedLines Verb = "delete"
	Appended     Verb = "append"
	Prepended    Verb = "prepend"
	Valued       Verb = "value" // a value by its path

	Created    Verb = "create"
	Overwrote  Verb = "overwrite"
	MadeFolder Verb = "mkdir"
	Moved      Verb = "move"
	Deleted    Verb = "remove"
	Restored   Verb = "restore"
	Undid      Verb = "undo"
	UndidPart  Verb = "undo part" // undid all files except those changed since
	RolledBack Verb = "roll back" // rolled back a half-applied change
	SetMode    Verb = "mode"      // Text is "executable" or "not executable"
	Applied    Verb = "apply"     // a set of several files
	Noted      Verb = "note"      // in the caller's own words
	// Outside is a recorded change of another program: Count files, including Files new
	// and Broken deleted ones; Path is the first. Text says when it was made.
	Outside Verb = "outside"
	// WentBack undid Count changes of Files files, all after the point Text. Of the files,
	// Updated were changed back and Broken removed; the others were restored.
	WentBack Verb = "go back"
)

// Action describes a change: a verb and its operands. String makes a sentence of it.
type Action struct {
	Verb Verb   `json:"verb"`
	Path string `json:"path,omitempty"`
	To   string `json:"to,omitempty"` // Moved
	// Count is a number of edits, occurrences, lines, bytes or files, depending
	// on the verb. Line is the line of the first one.
	Count int `json:"count,omitempty"`
	Line  int `json:"line,omitempty"`
	// Of a move: Updated counts the updated links, Files the files they are in,
	// and Broken the broken links.
	Updated int  `json:"updated,omitempty"`
	Files   int  `json:"files,omitempty"`
	Broken  int  `json:"broken,omitempty"`
	ToTrash bool `json:"trash,omitempty"` // Deleted: it can be found there
	// For Undid and UndidPart: ID is the change that was undone, and Of its action. If it
	// had several files, Count is their number and Path the first; Files of them were
	// restored, Broken removed, and the others changed back.
	ID string  `json:"id,omitempty"`
	Of *Action `json:"of,omitempty"`
	// Text is the text of Noted, and the new mode of SetMode.
	Text string `json:"text,omitempty"`
}

// String returns the action in one line.
func (a Action) String() string {
	name := fault.Printable(a.Path)
	switch a.Verb {
	case Edited:
		return fmt.Sprintf("%s in %s", fault.Count(a.Count, "edit"), name)
	case Replaced:
		return fmt.Sprintf("replaced %s in %s", fault.Count(a.Count, "occurrence"), name)
	case Inserted:
		return fmt.Sprintf("inserted %s after line %d in %s", fault.Count(a.Count, "line"), a.Line, name)
	case DeletedLines:
		return fmt.Sprintf("deleted %s from line %d in %s", fault.Count(a.Count, "line"), a.Line, name)
	case Appended, Prepended:
		return fmt.Sprintf("%sed text in %s", a.Verb, name)
	case Valued:
		return fmt.Sprintf("changed %s in %s", fault.Count(a.Count, "value"), name)
	case Created:
		return fmt.Sprintf("created %s (%s)", name, fault.Count(a.Count, "byte"))
	case Overwrote:
		return fmt.Sprintf("overwrote %s (%s)", name, fault.Count(a.Count, "byte"))
	case MadeFolder:
		return "created folder " + name
	case Moved:
		return a.moved(name)
	case Deleted:
		if a.ToTrash {
			return "deleted " + name + " to trash"
		}
		return "deleted " + name
	case Restored:
		return "restored " + name + " from trash"
	case SetMode:
		return "made " + name + " " + a.Text
	case Undid, UndidPart:
		s := "undo " + a.ID
		if a.Verb == UndidPart {
			s = "undo a part of " + a.ID
		}
		if back := a.Back(false); back != "" {
			return s + ": " + back
		}
		if a.Of == nil {
			return s
		}
		return s + ": " + a.Of.String()
	case RolledBack:
		s := "rolled back change " + a.ID + ", which was half applied"
		if a.Count > 0 {
			s += ": " + fault.Count(a.Count, "path")
		}
		return s
	case Applied:
		return "changed " + fault.Count(a.Count, "file")
	case WentBack:
		return fmt.Sprintf("went back to %s: undid %s of %s", fault.Printable(a.Text), fault.Count(a.Count, "change"), fault.Count(a.Files, "file"))
	case Outside:
		return a.outside(name)
	}
	return a.Text
}

// Back describes the effect of an undo on several files, or the planned effect; "" if it
// is unknown.
func (a Action) Back(planned bool) string {
	all, changed := a.Count, a.Count-a.Files-a.Broken
	if a.Verb == WentBack {
		all, changed = a.Files, a.Updated
	}
	verbs := [...]string{"brought back", "changed back", "removed"}
	if planned {
		verbs = [...]string{"brings back", "changes back", "removes"}
	}
	s := ""
	for i, n := range [...]int{all - changed - a.Broken, changed, a.Broken} {
		switch {
		case n == 0:
		case s != "":
			s += fmt.Sprintf(", %s %d", verbs[i], n)
		case n == 1 && all == 1 && a.Path != "":
			s = verbs[i] + " " + fault.Printable(a.Path)
		default:
			s = verbs[i] + " " + fault.Count(n, "file")
		}
	}
	return s
}

func (a Action) outside(name string) string {
	s := "changed " + name
	switch {
	case a.Count > 1:
		s = fmt.Sprintf("changed %d files", a.Count)
		if a.Files > 0 {
			s += fmt.Sprintf(", %d of them new", a.Files)
		}
		if a.Broken > 0 {
			s += fmt.Sprintf(", %d deleted", a.Broken)
		}
	case a.Files > 0:
		s = "created " + name
	case a.Broken > 0:
		s = "deleted " + name
	}
	if a.Text != "" {
		s += ", " + fault.Printable(a.Text)
	}
	return s
}

func (a Action) moved(name string) string {
	if a.To == a.Path {
		return "moved " + name + " to itself"
	}
	s := "moved " + name + " to " + fault.Printable(a.To)
	if a.Updated > 0 {
		s += fmt.Sprintf(", updated %s in %s", fault.Count(a.Updated, "link"), fault.Count(a.Files, "file"))
	}
	if a.Broken > 0 {
		s += fmt.Sprintf(", %s broken", fault.Count(a.Broken, "link"))
	}
	return s
}

func (a Action) under(at place) Action {
	a.Path, a.To, a.ID = at.given(a.Path), at.given(a.To), at.given(a.ID)
	if a.Of != nil {
		of := a.Of.under(at)
		a.Of = &of
	}
	return a
}
