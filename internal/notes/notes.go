// Package notes converts changes of notes to operations on files, which the caller
// applies.
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

// New describes a new note.
type New struct {
	Content string
	// Path is the path, with or without ".md". If it is empty or, ending in "/", a
	// folder, the note is named after its Title, or else after the first heading or line
	// of Content.
	Path, Title string
}

// Create returns the operation that makes a note and its folders. It never overwrites.
func Create(n New) change.Op {
	return change.Op{Verb: change.CreateFile, Path: vault.NoteName(n.Path, n.Title, n.Content, time.Now()), Content: []byte(n.Content)}
}

// Path returns path with the extension ".md".
func Path(path string) string { return vault.NoteName(path, "", "", time.Time{}) }

// Operation is a way to modify a note.
type Operation string

const (
	Append  Operation = "append"  // add lines at the end
	Prepend Operation = "prepend" // add lines at the top, after front matter
	Replace Operation = "replace" // replace the first occurrence of a text
)

var (
	// ErrOperation reports an unknown operation.
	ErrOperation = fault.New(fault.InvalidArgument, "the operation is append, prepend or replace", "")
	// ErrNoSearch reports a replacement without a text to search for.
	ErrNoSearch = fault.New(fault.InvalidArgument, "replace needs the text to search for", "")
)

// Edit describes how to modify a note.
type Edit struct {
	Operation Operation
	Content   string
	Search    string // for Replace
}

// Reader reads a file of at most max bytes.
type Reader interface {
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

// maxNote is the size of the largest note to which lines are prepended.
const maxNote = 64 << 20

// maxTries limits the attempts to prepend lines to a note that others change
// concurrently. An attempt fails only if another change succeeded.
const maxTries = 100

// Modify adds lines to a note or replaces a text in it. apply applies one operation;
// summary describes it in the log, or is "" for the default description.
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

// prepend inserts lines after the front matter. If the note has changed since it was
// read, prepend tries again.
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
