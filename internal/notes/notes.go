// Package notes says what changing a note means: which operation on which file
// it is. It opens nothing; whoever applies the operations does.
package notes

import (
	"fmt"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// New is a note to be made.
type New struct {
	Content string
	// Path is where, with or without ".md". Without it the note is called by
	// its Title, else by the first heading or line of Content, at the top of
	// the workspace; or in the folder that Path is, if it ends in "/".
	Path, Title string
}

// Create makes a note and the folders on the way. It never overwrites.
func Create(n New) change.Op {
	return change.Op{Verb: change.CreateFile, Path: vault.NoteName(n.Path, n.Title, n.Content, time.Now()), Content: []byte(n.Content)}
}

// Path is a path with ".md" at its end.
func Path(path string) string { return vault.NoteName(path, "", "", time.Time{}) }

// Operation is a way to modify a note.
type Operation string

const (
	Append  Operation = "append"  // lines at the end
	Prepend Operation = "prepend" // lines at the top, after front matter
	Replace Operation = "replace" // the first occurrence of a text
)

var (
	// ErrOperation is for an unknown operation.
	ErrOperation = fault.New(fault.InvalidArgument, "the operation is append, prepend or replace", "")
	// ErrNoSearch is for a replacement that doesn't say of what.
	ErrNoSearch = fault.New(fault.InvalidArgument, "replace needs the text to search for", "")
)

// Edit says how to modify a note.
type Edit struct {
	Operation Operation
	Content   string
	Search    string // for Replace
}

// Modify adds lines to a note or replaces a text in it.
func Modify(path string, e Edit) (change.Op, error) {
	edit := change.Edit{New: e.Content}
	switch e.Operation {
	case Append:
		edit.Verb = change.AppendText
	case Prepend:
		edit.Verb = change.PrependText
	case Replace:
		if e.Search == "" {
			return change.Op{}, fmt.Errorf("modify %s: %w", fault.Printable(path), ErrNoSearch)
		}
		edit.Old, edit.Occurrence = e.Search, change.First
	default:
		return change.Op{}, fmt.Errorf("modify %s: %w", fault.Printable(path), ErrOperation)
	}
	return change.Op{Verb: change.EditFile, Path: path, Edits: []change.Edit{edit}}, nil
}
