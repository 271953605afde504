package quarry

import "quarry/change"

// The contract of changing is package change. These names are for programs
// that were written before it was a package.
type (
	Change            = change.Change
	ChangeLog         = change.Log
	ChangeOptions     = change.Options
	DeleteOptions     = change.DeleteOptions
	Edit              = change.Edit
	EditOutcome       = change.Outcome
	LinkReport        = change.LinkReport
	LinkUpdate        = change.LinkUpdate
	MoveOptions       = change.MoveOptions
	TrashReport       = change.TrashReport
	TrashKind         = change.TrashKind
	TrashItem         = change.Trashed
	Cleaned           = change.Cleaned
	PathConflict      = change.Conflict
	TextNotFoundError = change.NotFoundError
	OccurrenceError   = change.OccurrenceError
	LineError         = change.LineError
	OverlapError      = change.OverlapError
	EditError         = change.EditError
	VersionError      = change.VersionError
	MovePathError     = change.MoveError
	PartialError      = change.PartialError
	SetError          = change.SetError
	UndoConflictError = change.UndoError
)

const (
	TrashDefault = change.TrashDefault
	TrashSystem  = change.TrashSystem
	TrashLocal   = change.TrashLocal
	TrashNone    = change.TrashNone

	LinksDefault = change.LinksDefault
	LinksUpdate  = change.LinksUpdate
	LinksLeave   = change.LinksLeave
)

var (
	ErrNoEdits    = change.ErrNoEdits
	ErrTrashKind  = change.ErrTrashKind
	ErrBadID      = change.ErrBadID
	ErrBadVersion = change.ErrBadVersion
	ErrNotTrashed = change.ErrNotTrashed
	ErrNoState    = change.ErrNoState
)
