package file

import (
	"io/fs"

	"quarry/fault"
)

// ErrClosed is returned for every use of a root after it was closed.
var ErrClosed error = closedError{}

// closedError is not a Conflict: repeating the call does not help.
type closedError struct{}

func (closedError) Error() string { return "the workspace is closed" }

// Hint says how to proceed.
func (closedError) Hint() string { return "open the workspace again" }

// Unwrap returns the code, and fs.ErrClosed, as for a closed file.
func (closedError) Unwrap() []error { return []error{fault.IOError, fs.ErrClosed} }
