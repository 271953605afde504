// Package notes turns changes of notes into operations on files, which the caller
// applies. It changes nothing itself.
package notes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/textfile"
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

// Reader reads the bytes of a file, at most so many.
type Reader interface {
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

// maxNote is the largest note that gets lines at its top.
const maxNote = 64 << 20

// maxTries is how often lines are put at the top of a note that others change at
// the same time. Each failure is a success of one of them.
const maxTries = 100

// Modify adds lines to a note or replaces a text in it. apply makes a change of
// one operation; summary is its line for people, "" if that is worded from the
// operation.
func Modify(ctx context.Context, ws Reader, path string, e Edit, apply func(op change.Op, summary string) (*change.Change, error)) (*change.Change, error) {
	edit := change.Edit{New: e.Content}
	switch e.Operation {
	case Append:
		edit.Verb = change.AppendText
	case Prepend:
		return prepend(ctx, ws, path, e.Content, apply)
	case Replace:
		if e.Search == "" {
			return nil, fmt.Errorf("modify %s: %w", fault.Printable(path), ErrNoSearch)
		}
		edit.Old, edit.Occurrence = e.Search, change.First
	default:
		return nil, fmt.Errorf("modify %s: %w", fault.Printable(path), ErrOperation)
	}
	return apply(change.Op{Verb: change.EditFile, Path: path, Edits: []change.Edit{edit}}, "")
}

// prepend puts lines after the front matter of the note as it was read. If it was
// changed since, it is read again.
func prepend(ctx context.Context, ws Reader, path, content string, apply func(change.Op, string) (*change.Change, error)) (*change.Change, error) {
	var failed error
	for range maxTries {
		data, err := ws.ReadBytes(ctx, path, maxNote)
		if err != nil {
			return nil, err
		}
		doc, err := textfile.New(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fault.Printable(path), err)
		}
		s := vault.Prepend(doc.Text(), content)
		op := change.Op{Verb: change.EditFile, Path: path, Version: version.Of(data).String(), Edits: []change.Edit{{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New}}}
		c, err := apply(op, change.Action{Verb: change.Prepended, Path: path}.String())
		var stale *change.VersionError
		if errors.As(err, &stale) && stale.Want == op.Version {
			failed = err
			continue
		}
		if c != nil {
			for i := range c.Edits {
				c.Edits[i].Kind = change.Prepended
			}
		}
		return c, err
	}
	return nil, failed
}
