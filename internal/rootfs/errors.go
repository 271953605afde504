package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"quarry/fault"
)

// Kind is the kind of an error, for programs: a code of package fault, to be used
// with errors.Is.
type Kind = fault.Code

// The codes of this package's errors, as it calls them.
const (
	IO              = fault.IOError // the system failed: EIO, ENOSPC, EMFILE, …
	InvalidArgument = fault.InvalidArgument
	NotFound        = fault.NotFound
	Ambiguous       = fault.AmbiguousPath // several entries differ only in case or Unicode form
	Protected       = fault.ProtectedPath
	OutsideRoot     = fault.OutsideRoot
	AlreadyExists   = fault.AlreadyExists
	Conflict        = fault.Conflict
	TooLarge        = fault.TooLarge
	ReadOnly        = fault.ReadOnly
	Permission      = fault.Permission
	NotRegular      = fault.NotRegular
	NotFolder       = fault.NotFolder
	NotEmpty        = fault.NotEmpty
)

// Error is the type of all errors of this package.
type Error = fault.PathError

// KindOf returns the kind of an error of this package, IO for any other, and ""
// for none.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return IO
}

// Printable returns s as messages show it.
func Printable(s string) string { return fault.Printable(s) }

// wrap turns a system error into ours. An *Error passes unchanged.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	return &Error{Op: op, Path: path, Kind: kindOfErrno(err), Err: bare(err)}
}

// bare strips *fs.PathError and similar errors, because they contain absolute
// paths that must not be shown. What they say about a failed change is kept.
func bare(err error) error {
	out := err
	var n syscall.Errno
	var pe *fs.PathError
	if errors.As(err, &n) {
		out = n
	} else if errors.As(err, &pe) {
		out = pe.Err
	} else {
		return err
	}
	var stuck *StuckError
	if errors.As(err, &stuck) {
		out = fmt.Errorf("%w; %w", out, stuck)
	}
	var beside *ConflictError
	if errors.As(err, &beside) {
		out = fmt.Errorf("%w; %w", out, beside)
	}
	return out
}

func kindOfErrno(err error) Kind {
	switch {
	case err == errNotRegular:
		return NotRegular
	case errors.Is(err, errSwapped), errors.Is(err, errVersion), errors.Is(err, errMeanwhile), errors.Is(err, errMeta),
		errors.Is(err, errBusy), errors.Is(err, errVerifyCopy):
		return Conflict
	case errors.Is(err, errEditOrder), errors.Is(err, errEditOutside), errors.Is(err, errWant):
		return InvalidArgument
	case errors.Is(err, syscall.ENOTDIR): // before the next one: on Windows it counts as that, too
		return NotFolder
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Permission
	case errors.Is(err, syscall.EISDIR):
		return NotRegular
	case errors.Is(err, syscall.ENOTEMPTY):
		return NotEmpty
	case errors.Is(err, fs.ErrExist):
		return AlreadyExists
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP), errors.Is(err, errTooManyLinks):
		return InvalidArgument
	}
	return IO
}

var (
	errTooManyLinks = errors.New("too many levels of symbolic links")
	errNotRegular   = errors.New("not a regular file")
)
