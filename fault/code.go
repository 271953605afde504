// Package fault defines the error codes of Quarry and the errors that carry them.
//
// Every error of Quarry carries its code, so callers need not list the errors of other
// packages: CodeOf and HintOf ask the error itself. Messages are for people; programs
// should use CodeOf, errors.Is and errors.As.
package fault

import (
	"context"
	"errors"
	"syscall"
)

// Code is the kind of an error. It is itself an error, so errors.Is(err,
// fault.NotFound) finds an error of Quarry with this code. CodeOf works for all
// errors. It is InvalidArgument, InvalidPattern, NotFound, AmbiguousPath, ProtectedPath,
// OutsideRoot, AlreadyExists, Conflict, NotText, TooLarge, ReadOnly, IndexNotFound, Timeout
// or IOError, or a finer one: Permission, NotRegular, NotFolder or NotEmpty.
type Code string

// The codes that callers of tools see.
const (
	InvalidArgument Code = "INVALID_ARGUMENT"
	InvalidPattern  Code = "INVALID_PATTERN"
	NotFound        Code = "NOT_FOUND"
	AmbiguousPath   Code = "AMBIGUOUS_PATH"
	ProtectedPath   Code = "PROTECTED_PATH"
	OutsideRoot     Code = "OUTSIDE_ROOT"
	AlreadyExists   Code = "ALREADY_EXISTS" // nothing is ever overwritten
	Conflict        Code = "CONFLICT"       // another program changed it meanwhile
	NotText         Code = "NOT_TEXT"
	TooLarge        Code = "TOO_LARGE"
	ReadOnly        Code = "READ_ONLY"
	IndexNotFound   Code = "INDEX_NOT_FOUND"
	Timeout         Code = "TIMEOUT"
	IOError         Code = "IO_ERROR"
)

// Finer codes of a PathError. CodeOf reports each as one of the codes above.
const (
	Permission Code = "PERMISSION"  // the system forbids access
	NotRegular Code = "NOT_REGULAR" // a pipe, socket, device, or a folder where a file is needed
	NotFolder  Code = "NOT_FOLDER"  // a file where a folder is needed
	NotEmpty   Code = "NOT_EMPTY"   // a folder that has entries
)

// table describes the codes: the words for each, the code reported instead of a finer
// code, and the next step for a path that failed with it.
var table = map[Code]struct {
	words    string
	reported Code
	hint     string
}{
	InvalidArgument: {words: "invalid path"},
	InvalidPattern:  {words: "invalid pattern"},
	NotFound:        {words: "not found"},
	AmbiguousPath:   {words: "ambiguous path", hint: "write the path exactly as it is"},
	ProtectedPath:   {words: "protected"},
	OutsideRoot:     {words: "outside the root"},
	AlreadyExists:   {words: "already exists", hint: "nothing is ever overwritten; choose another name, or delete what is there"},
	Conflict:        {words: "changed by someone else", hint: "someone else is changing the file; read it again and repeat the change"},
	NotText:         {words: "not a text file"},
	TooLarge:        {words: "too large"},
	ReadOnly:        {words: "read-only"},
	IndexNotFound:   {words: "no index"},
	Timeout:         {words: "took too long"},
	IOError:         {words: "i/o error"},
	Permission:      {words: "permission denied", reported: IOError},
	NotRegular:      {words: "not a regular file", reported: InvalidArgument},
	NotFolder:       {words: "not a folder", reported: InvalidArgument},
	NotEmpty:        {words: "folder is not empty", reported: InvalidArgument},
}

// Error returns the code itself.
func (c Code) Error() string { return string(c) }

// Words returns the meaning of the code in words, as they describe a path.
func (c Code) Words() string {
	if e, ok := table[c]; ok {
		return e.words
	}
	return table[IOError].words
}

// Code returns the code that callers of tools see: c itself, or the reported code of a
// finer one.
func (c Code) Code() Code {
	e, ok := table[c]
	switch {
	case !ok:
		return IOError
	case e.reported != "":
		return e.reported
	}
	return c
}

// Is makes a finer code match its reported code, too.
func (c Code) Is(target error) bool { return target == c.Code() }

// CodeOf returns the code of the first error in err's tree that has one. Without a code,
// an error is a Timeout if a context ended, and an IOError otherwise. For a nil error
// CodeOf returns "".
func CodeOf(err error) Code {
	var coded interface{ Code() Code }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &coded):
		return coded.Code()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Timeout
	}
	return IOError
}

// HintOf returns the next step after an error; "" if there is none.
func HintOf(err error) string {
	if hint := hintIn(err); hint != "" {
		return hint
	}
	if errors.Is(err, syscall.ENOSPC) {
		return "the disk is full: quarry doctor shows which folder has no space left, and what may be deleted; an undo needs as much space as its change"
	}
	var path *PathError
	if errors.As(err, &path) {
		return table[path.Kind].hint
	}
	return ""
}

// hintIn returns the first hint in the tree of an error.
func hintIn(err error) string {
	if err == nil {
		return ""
	}
	if hinted, ok := err.(interface{ Hint() string }); ok {
		if hint := hinted.Hint(); hint != "" {
			return hint
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return hintIn(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if hint := hintIn(inner); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// New returns an error to compare with errors.Is. It has a message, a code, and the next
// step, which may be "".
func New(code Code, message, hint string) error { return &sentinel{code, message, hint} }

type sentinel struct {
	code          Code
	message, hint string
}

func (e *sentinel) Error() string { return e.message }

// Unwrap returns the code.
func (e *sentinel) Unwrap() error { return e.code }

// Hint returns the next step.
func (e *sentinel) Hint() string { return e.hint }
