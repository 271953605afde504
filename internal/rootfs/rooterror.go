package rootfs

import (
	"fmt"

	"quarry/fault"
)

// rootError is the error of Open.
type rootError struct {
	dir string
	err error
}

func (e *rootError) Error() string { return fmt.Sprintf("open root %s: %v", e.dir, e.err) }

// Unwrap returns the cause.
func (e *rootError) Unwrap() error { return e.err }

// Code returns the code of the cause: NotFound if the folder doesn't exist, InvalidArgument for a file.
func (e *rootError) Code() fault.Code {
	if code := fault.CodeOf(e.err); code != fault.IOError {
		return code
	}
	return kindOfErrno(e.err).Code()
}

// Is lets errors.Is match the code.
func (e *rootError) Is(target error) bool { return target == e.Code() }
