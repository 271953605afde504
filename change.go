package quarry

import (
	"time"

	"quarry/internal/textedit"
)

// Change is what one call changed, or, in a dry run, would change. All of it is
// one entry of the journal and is taken back as one.
type Change struct {
	// ID names the change for Undo and Diff. It is "" in a dry run and when
	// there was nothing to change.
	ID   string    `json:"id,omitempty"`
	Time time.Time `json:"time,omitzero"`
	Tool string    `json:"tool"`
	// Paths are the files and folders it concerns, the one asked for first; a
	// move has the old and the new one.
	Paths   []string `json:"paths"`
	Summary string   `json:"summary"` // one line

	// Diff is a unified diff, cut after some hundred lines; Workspace.Diff has
	// more of it.
	Diff string `json:"diff,omitempty"`
	// Version is that of the file's content afterwards, and Size its bytes; ""
	// where there is no one file.
	Version string `json:"version,omitempty"`
	Size    int64  `json:"size,omitempty"`

	DryRun    bool `json:"dry_run,omitempty"`
	Unchanged bool `json:"unchanged,omitempty"` // everything was so already

	// Created says that the file or folder is new, and Folders which folders
	// were made for it.
	Created bool     `json:"created,omitempty"`
	Folders []string `json:"folders,omitempty"`

	Edits []EditOutcome `json:"edits,omitempty"` // of an edit, one for each
	Links *LinkReport   `json:"links,omitempty"` // of a move in a vault
	Trash *TrashReport  `json:"trash,omitempty"` // of a deletion

	// Undoes is the change this one took back, UndoneBy the one that took this
	// one back.
	Undoes   string `json:"undoes,omitempty"`
	UndoneBy string `json:"undone_by,omitempty"`
	// Pending says that the change is under way, or was cut short and could
	// not be settled.
	Pending bool `json:"pending,omitempty"`
	// NoUndo says why the change can't be taken back; "" when it can.
	NoUndo string `json:"no_undo,omitempty"`
	// Warnings are what the caller should know though all went well.
	Warnings []string `json:"warnings,omitempty"`
}

// EditOutcome tells what one edit did.
type EditOutcome struct {
	Kind string `json:"kind"` // replace, insert, delete, append or prepend
	// Count is the number of occurrences replaced, lines inserted or lines
	// deleted.
	Count int `json:"count"`
	// Line is the line of the first replacement, the line behind which text
	// was inserted (0: the beginning), or the first line deleted.
	Line int `json:"line"`
	// Before is set for lines that were asked for in front of line Line+1.
	Before bool `json:"before,omitempty"`
	// Remaining counts the occurrences that were left alone; RemainingLines
	// has the lines of the first of them.
	Remaining      int   `json:"remaining,omitempty"`
	RemainingLines []int `json:"remaining_lines,omitempty"`
}

// LinkReport tells what a move did to links.
type LinkReport struct {
	Updated  int      `json:"updated"`
	Files    []string `json:"files,omitempty"` // rewritten, by their new path
	Broken   int      `json:"broken"`
	BrokenIn []string `json:"broken_in,omitempty"` // by their old path
}

// TrashReport tells where deleted things are.
type TrashReport struct {
	Kind TrashKind `json:"kind"`
	// Where is the trash's own name for it; "" when it was deleted for good.
	Where string `json:"where,omitempty"`
}

// TrashKind is what deleting means.
type TrashKind string

const (
	// TrashDefault is what the vault's settings say, else TrashSystem.
	TrashDefault TrashKind = ""
	TrashSystem  TrashKind = "system" // the desktop's trash
	TrashLocal   TrashKind = "local"  // the folder .trash of the workspace
	TrashNone    TrashKind = "none"   // for good; the journal can still bring it back
)

// ChangeOptions say how a change is made; nil is fine.
type ChangeOptions struct {
	// ExpectedVersion is the version the file was read as. If its content is
	// another one now, nothing is changed and the error is a conflict. "" is
	// any: the change then rests on what the call itself reads.
	ExpectedVersion string
	// DryRun works everything out and changes nothing.
	DryRun bool
	// Tool is recorded with the change; "" is the method's own name.
	Tool string
}

func (o *ChangeOptions) get() ChangeOptions {
	if o == nil {
		return ChangeOptions{}
	}
	return *o
}

func (o ChangeOptions) tool(name string) string {
	if o.Tool != "" {
		return o.Tool
	}
	return name
}

// The edits of Workspace.Edit. Line numbers and occurrences are those of the
// file as it is before the first edit.
type (
	// Edit is a Replace, InsertAfter, InsertBefore or DeleteLines.
	Edit = textedit.Edit
	// Replace replaces the literal text Old by New: its first occurrence, the
	// Nth (from 1), or All of them. A line ending in Old matches \n and \r\n,
	// one in New becomes the file's.
	Replace = textedit.Replace
	// InsertAfter puts Text on lines of its own behind a Line; 0 is the
	// beginning of the file.
	InsertAfter = textedit.InsertAfter
	// InsertBefore puts Text on lines of its own in front of a Line.
	InsertBefore = textedit.InsertBefore
	// DeleteLines deletes the lines First to Last, both included.
	DeleteLines = textedit.DeleteLines
	// span is a place that the package found itself.
	span = textedit.Span
)

// What an edit may fail with, beside errors about the file.
type (
	// TextNotFoundError says that the text Old is not there; Near is what comes
	// closest, nil if nothing does.
	TextNotFoundError = textedit.NotFoundError
	// OccurrenceError says that occurrence Want was asked for and there are
	// only Have.
	OccurrenceError = textedit.OccurrenceError
	// LineError names a Line that is not there, in a file of Count lines.
	LineError = textedit.LineError
	// OverlapError names two edits, First and Second from 0, that want the same
	// text, at a Line.
	OverlapError = textedit.OverlapError
	// EditError says which of several edits failed: its Index, from 0, and Err.
	EditError = textedit.EditError
)
