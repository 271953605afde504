package rootfs

import (
	"fmt"

	"quarry/fault"
)

// rootError is the error of Open.
type rootError struct {
	dir string
	err error
	own bool // it is one that the program makes
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

// Hint says that the caller has to make a missing folder.
func (e *rootError) Hint() string {
	if e.own && e.Code() == fault.NotFound {
		return "make the folder first, with mode 0700"
	}
	return ""
}
