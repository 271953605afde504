// Package fault says what went wrong: one table of codes, and the errors that
// carry one.
//
// An error of Quarry knows its code wherever it was made, so no caller has to
// list the errors of other packages: CodeOf and HintOf ask the error itself.
// Messages are for people; programs should use CodeOf, errors.Is and errors.As.
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
	AlreadyExists   Code = "ALREADY_EXISTS" // and nothing is ever overwritten
	Conflict        Code = "CONFLICT"       // someone else changed it meanwhile
	NotText         Code = "NOT_TEXT"
	TooLarge        Code = "TOO_LARGE"
	ReadOnly        Code = "READ_ONLY"
	IndexNotFound   Code = "INDEX_NOT_FOUND"
	Timeout         Code = "TIMEOUT"
	IOError         Code = "IO_ERROR"
)

// Finer codes of a PathError. CodeOf reports each as one of those above.
const (
	Permission Code = "PERMISSION"  // the system forbids access
	NotRegular Code = "NOT_REGULAR" // a pipe, socket, device, or a folder where a file is needed
	NotFolder  Code = "NOT_FOLDER"  // a file where a folder is needed
	NotEmpty   Code = "NOT_EMPTY"   // a folder that has entries
)

// table has for each code its words, the code it is reported as if that is
// another one, and the next step for a path that failed with it.
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

// Words says what the code means, as it describes a path.
func (c Code) Words() string {
	if e, ok := table[c]; ok {
		return e.words
	}
	return table[IOError].words
}

// Code returns the code that callers of tools see: c itself, unless it is a
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

// Is makes a finer code the one it is reported as, too.
func (c Code) Is(target error) bool { return target == c.Code() }

// CodeOf returns the code of an error: that of the first error in its tree
// that has one. An error without a code is a Timeout if a context ended, and
// an IOError otherwise. No error has no code: "".
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

// HintOf says what to do next about an error; "" when there is nothing to say.
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

// hintIn returns the first hint that an error of the tree carries.
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

// New makes an error to compare with errors.Is: a message, its code, and the
// next step, which may be "".
func New(code Code, message, hint string) error { return &sentinel{code, message, hint} }

type sentinel struct {
	code          Code
	message, hint string
}

func (e *sentinel) Error() string { return e.message }

// Unwrap gives the code.
func (e *sentinel) Unwrap() error { return e.code }

// Hint returns the next step.
func (e *sentinel) Hint() string { return e.hint }
