package rootfs

import (
	"io/fs"

	"quarry/fault"
)

// ErrClosed is returned for every use of a Root after Close.
var ErrClosed error = closedError{}

// closedError is no Conflict: repeating the call does not help.
type closedError struct{}

func (closedError) Error() string { return "the workspace is closed" }

// Code is IOError.
func (closedError) Code() fault.Code { return fault.IOError }

// Hint says what helps.
func (closedError) Hint() string { return "open the workspace again" }

// Is makes it an fs.ErrClosed, as that of a closed file.
func (closedError) Is(target error) bool { return target == fs.ErrClosed || target == fault.IOError }
