package quarry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/textfile"
	"quarry/internal/vault"
)

// NewNote is a note to be made.
type NewNote struct {
	Content string
	// Path is where, with or without ".md". Without it the note is called by
	// its Title, else by the first heading or line of Content, at the top of
	// the workspace; or in the folder that Path is, if it ends in "/".
	Path, Title string
}

// CreateNote makes a note and the folders on the way. It never overwrites.
func (w *Workspace) CreateNote(ctx context.Context, n NewNote, opts *ChangeOptions) (*Change, error) {
	o := given(opts)
	path := vault.NoteName(n.Path, n.Title, n.Content, time.Now())
	return w.write(ctx, path, []byte(n.Content), toolOf(o, "note"), o, true)
}

// NotePath is a path with ".md" at its end.
func NotePath(path string) string { return vault.NoteName(path, "", "", time.Time{}) }

// NoteOperation is a way to modify a note.
type NoteOperation string

const (
	NoteAppend  NoteOperation = "append"  // lines at the end
	NotePrepend NoteOperation = "prepend" // lines at the top, behind front matter
	NoteReplace NoteOperation = "replace" // the first occurrence of a text
)

var (
	// ErrNoteOperation is for an operation there is not.
	ErrNoteOperation = fault.New(fault.InvalidArgument, "the operation is append, prepend or replace", "")
	// ErrNoSearch is for a replacement that doesn't say of what.
	ErrNoSearch = fault.New(fault.InvalidArgument, "replace needs the text to search for", "")
)

// NoteEdit says how to modify a note.
type NoteEdit struct {
	Operation NoteOperation
	Content   string
	Search    string // for NoteReplace
}

// ModifyNote adds lines to a note or replaces a text in it.
func (w *Workspace) ModifyNote(ctx context.Context, path string, e NoteEdit, opts *ChangeOptions) (*Change, error) {
	o := given(opts)
	if e.Operation == NoteReplace && e.Search == "" {
		return nil, fmt.Errorf("modify %s: %w", rootfs.Printable(path), ErrNoSearch)
	}
	kind := map[NoteOperation]change.Verb{NoteAppend: change.Appended, NotePrepend: change.Prepended}[e.Operation]
	return w.modify(ctx, path, toolOf(o, "note"), kind, o, func(doc *textfile.Document) ([]Edit, error) {
		switch e.Operation {
		case NoteAppend:
			return []Edit{appendEdit(doc, e.Content)}, nil
		case NotePrepend:
			s := vault.Prepend(doc.Text(), e.Content)
			return []Edit{{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New}}, nil
		case NoteReplace:
			return []Edit{change.Edit{Old: e.Search, New: e.Content, Occurrence: change.First}}, nil
		}
		return nil, fmt.Errorf("modify %s: %w", rootfs.Printable(path), ErrNoteOperation)
	})
}

// appendEdit adds exactly the content at the end, and in front of it a line break
// where the note lacks its last; content that begins with one needs none.
func appendEdit(doc *textfile.Document, content string) Edit {
	end := len(doc.Text())
	closed := doc.Lines().Terminated()
	if end > 0 && content != "" {
		if !closed && !strings.HasPrefix(content, "\n") && !strings.HasPrefix(content, "\r\n") {
			content = "\n" + content
		}
	}
	return change.Edit{Verb: change.ReplaceSpan, Start: end, End: end, New: content}
}
