package changer

import (
	"fmt"
	"strconv"

	"quarry/fault"
)

// Errors that refuse a change. Errors with fields for callers are in package change.
var (
	ErrNoEdits    = fault.New(fault.InvalidArgument, "there is nothing to do: no edit was given", "")
	errTrashKind  = fault.New(fault.InvalidArgument, "it is system, local or none", "")
	errBadVersion = fault.New(fault.InvalidArgument, "expected version", "give the version that a read of the file shows")
	// errTwice means that two operations of a set name the same path, and one of them
	// moves, deletes or creates it.
	errTwice = fault.New(fault.InvalidArgument, "another operation of the set names this path, or one above or below it", "make two sets of it; several edits of one file are fine")
)

// planError means that a plan can't be applied because the files have changed since, or
// because the plan is unknown.
type planError struct {
	Digest string
	Now    string // the digest of a new plan of the same set; "" if the plan is unknown
}

func (e *planError) Error() string {
	if e.Now == "" {
		return "no plan has the digest " + fault.Printable(e.Digest)
	}
	return "the set would do something else now than the plan " + e.Digest
}

// Unwrap returns the error code: Conflict, or NotFound for an unknown plan.
func (e *planError) Unwrap() error {
	if e.Now == "" {
		return fault.NotFound
	}
	return fault.Conflict
}

// Hint says how to continue.
func (e *planError) Hint() string { return "make the dry run again and look at what changed" }

// contentError means that a file to be deleted does not have the given content.
type contentError struct {
	Diff string // hunks from the given content to the file's
}

func (e *contentError) Error() string { return "it has other content than the patch deletes" }

// Hint returns the difference.
func (e *contentError) Hint() string {
	return "the file differs from what the patch deletes:\n" + fault.Clip(e.Diff, 1000)
}

// sameFileError means that two operations of a set write different contents to one file
// under two of its names.
type sameFileError struct{ Path, Other string }

func (e *sameFileError) Error() string {
	return fmt.Sprintf("%s and %s are two names of one file", strconv.QuoteToGraphic(e.Path), strconv.QuoteToGraphic(e.Other))
}

// Unwrap returns the error code.
func (e *sameFileError) Unwrap() error { return fault.InvalidArgument }

// Hint says how to continue.
func (e *sameFileError) Hint() string { return "change it under one of them" }
