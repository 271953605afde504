package rootfs

import (
	"fmt"

	"quarry/fault"
)

// rootError says why a folder can't be opened as a root.
type rootError struct {
	dir string
	err error
}

func (e *rootError) Error() string { return fmt.Sprintf("open root %s: %v", e.dir, e.err) }

// Unwrap gives the cause.
func (e *rootError) Unwrap() error { return e.err }

// Code returns the code of the cause: NotFound if nothing is there, InvalidArgument for a file.
func (e *rootError) Code() fault.Code {
	if code := fault.CodeOf(e.err); code != fault.IOError {
		return code
	}
	return kindOfErrno(e.err).Code()
}

// Is makes errors.Is find the code.
func (e *rootError) Is(target error) bool { return target == e.Code() }
