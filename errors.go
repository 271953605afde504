package quarry

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/glob"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
	"quarry/internal/trash"
	"quarry/internal/vault"
	"quarry/match"
)

// Code says what kind of error it is; the codes are those of the tools.
type Code string

const (
	InvalidArgument Code = "INVALID_ARGUMENT"
	InvalidPattern  Code = "INVALID_PATTERN"
	NotFound        Code = "NOT_FOUND"
	AmbiguousPath   Code = "AMBIGUOUS_PATH"
	ProtectedPath   Code = "PROTECTED_PATH"
	OutsideRoot     Code = "OUTSIDE_ROOT"
	AlreadyExists   Code = "ALREADY_EXISTS"
	Conflict        Code = "CONFLICT"
	NotText         Code = "NOT_TEXT"
	FileTooLarge    Code = "TOO_LARGE"
	ReadOnly        Code = "READ_ONLY"
	Timeout         Code = "TIMEOUT"
	IOError         Code = "IO_ERROR"
)

// PathError is what is wrong with a path: every refusal of the sandbox and of
// the file system is one. Path is as the caller wrote it, or relative to the
// workspace; Matches are the entries an ambiguous one may mean. CodeOf says
// what kind it is.
type PathError = rootfs.Error

// CodeOf returns the code of an error of this package.
func CodeOf(err error) Code {
	var pattern *match.Error
	var globbing *glob.Error
	var file *rootfs.Error
	switch {
	case errors.Is(err, ErrNotText):
		return NotText
	case errors.As(err, &pattern), errors.As(err, &globbing), errors.Is(err, match.ErrBudget):
		return InvalidPattern
	case errors.Is(err, ErrNoState), errors.Is(err, ErrRemoteOnly):
		return ReadOnly
	case isEditError[*TextNotFoundError](err), isEditError[*OccurrenceError](err), errors.Is(err, journal.ErrNotFound),
		errors.Is(err, ErrNotTrashed), errors.Is(err, trash.ErrNotFound):
		return NotFound
	case errors.Is(err, journal.ErrUndone), errors.Is(err, journal.ErrUnfinished), errors.Is(err, rootfs.Conflict):
		return Conflict
	case errors.As(err, &file):
		return Code(file.Kind.Code())
	case invalid(err):
		return InvalidArgument
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Timeout
	}
	return IOError
}

func isEditError[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// invalid reports errors about the call itself.
func invalid(err error) bool {
	for _, known := range []error{
		ErrRange, ErrNoEdits, ErrNoWords, ErrTrashKind, ErrBadID, ErrBadVersion, ErrNoSearch, ErrNoteOperation,
		textedit.ErrEmptyOld, textedit.ErrSame, textedit.ErrHalfUnit, journal.ErrNotKept,
		trash.ErrNoTrash, trash.ErrUnsupported, trash.ErrNoOriginal, vault.ErrBadMove,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return isEditError[*LineError](err) || isEditError[*OverlapError](err) ||
		isEditError[*textfile.EncodeError](err) || isEditError[*textedit.MeaningError](err)
}

// HintOf says what to do next about an error; "" when there is nothing to say.
func HintOf(err error) string {
	var missing *TextNotFoundError
	var overlap *OverlapError
	var version *VersionError
	var ours *rootfs.ConflictError
	var undo *UndoConflictError
	var partial *PartialError
	switch {
	case errors.Is(err, ErrRemoteOnly):
		return "files on servers can be read and searched; to change one, work in a checkout of its repository"
	case errors.As(err, &missing):
		if missing.Near != nil {
			return missing.Near.String()
		}
		return "nothing in the file resembles the text; read the file again"
	case errors.As(err, &overlap):
		return "make one edit of the two, or two calls"
	case errors.As(err, &partial):
		return fmt.Sprintf("look at change %s and the files it names, then undo it", partial.ID)
	case errors.As(err, &undo) && undo.gone():
		return "the trash was emptied, or it was taken out of it; other changes can be undone by their ids"
	case errors.As(err, &undo):
		return "look at what changed since, or undo the later changes first"
	case errors.As(err, &version), errors.As(err, &ours):
		return "read the file again and make the change on its present content"
	case errors.Is(err, rootfs.AlreadyExists):
		return "nothing is ever overwritten; choose another name, or delete what is there"
	case errors.Is(err, textedit.ErrSame):
		return "the file has this text already, or the edit says the same twice"
	case errors.Is(err, ErrNoState):
		return "give the workspace a state folder"
	case errors.Is(err, journal.ErrUndone):
		return "to make the change again, undo the undo"
	case errors.Is(err, rootfs.Conflict):
		return "someone else is changing the file; read it again and repeat the change"
	case errors.Is(err, rootfs.Ambiguous):
		return "write the path exactly as it is"
	}
	return ""
}
