package changer

import (
	"fmt"
	"strconv"

	"quarry/fault"
)

// Reasons why a change may be refused, in addition to the errors of package
// change whose fields callers use.
var (
	ErrNoEdits    = fault.New(fault.InvalidArgument, "there is nothing to do: no edit was given", "")
	errTrashKind  = fault.New(fault.InvalidArgument, "it is system, local or none", "")
	errBadVersion = fault.New(fault.InvalidArgument, "expected version", "give the version that a read of the file shows")
	// errTwice is for a path that two operations of a set name, one of which
	// moves, deletes or makes it.
	errTwice = fault.New(fault.InvalidArgument, "another operation of the set names this path, or one above or below it", "make two sets of it; several edits of one file are fine")
)

// planError refuses to apply a plan: the files have changed since, or the plan is
// no longer known.
type planError struct {
	Digest string
	Now    string // the digest of what would be done now; "" when the plan is unknown
}

func (e *planError) Error() string {
	if e.Now == "" {
		return "no plan has the digest " + fault.Printable(e.Digest)
	}
	return "the set would do something else now than the plan " + e.Digest
}

// Unwrap gives the code: Conflict, or NotFound for a plan that is not known.
func (e *planError) Unwrap() error {
	if e.Now == "" {
		return fault.NotFound
	}
	return fault.Conflict
}

// Hint says how to go on.
func (e *planError) Hint() string { return "make the dry run again and look at what changed" }

// contentError is a file to be deleted that has other content than was given.
type contentError struct {
	Diff string // hunks from what was given to what is there
}

func (e *contentError) Error() string { return "it has other content than the patch deletes" }

// Hint shows the difference.
func (e *contentError) Hint() string {
	return "the file differs from what the patch deletes:\n" + fault.Clip(e.Diff, 1000)
}

// sameFileError refuses two operations of a set that write different contents to
// one file under two of its names.
type sameFileError struct{ Path, Other string }

func (e *sameFileError) Error() string {
	return fmt.Sprintf("%s and %s are two names of one file", strconv.QuoteToGraphic(e.Path), strconv.QuoteToGraphic(e.Other))
}

// Unwrap gives the code.
func (e *sameFileError) Unwrap() error { return fault.InvalidArgument }

// Hint says how to go on.
func (e *sameFileError) Hint() string { return "change it under one of them" }
