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

// Hint says what helps.
func (closedError) Hint() string { return "open the workspace again" }

// Unwrap gives the code, and makes it an fs.ErrClosed, as that of a closed file.
func (closedError) Unwrap() []error { return []error{fault.IOError, fs.ErrClosed} }
