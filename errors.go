package quarry

import "quarry/fault"

// Code says what kind of error it is; the codes are those of the tools.
type Code = fault.Code

const (
	InvalidArgument = fault.InvalidArgument
	InvalidPattern  = fault.InvalidPattern
	NotFound        = fault.NotFound
	AmbiguousPath   = fault.AmbiguousPath
	ProtectedPath   = fault.ProtectedPath
	OutsideRoot     = fault.OutsideRoot
	AlreadyExists   = fault.AlreadyExists
	Conflict        = fault.Conflict
	NotText         = fault.NotText
	FileTooLarge    = fault.TooLarge
	ReadOnly        = fault.ReadOnly
	Timeout         = fault.Timeout
	IOError         = fault.IOError
)

// Errors with data. CodeOf says what kind of error one is.
type (
	PathError   = fault.PathError
	GlobError   = fault.GlobError
	BinaryError = fault.BinaryError
)

// CodeOf returns the code of an error of this package.
func CodeOf(err error) Code { return fault.CodeOf(err) }

// HintOf says what to do next about an error; "" when there is nothing to say.
func HintOf(err error) string { return fault.HintOf(err) }
