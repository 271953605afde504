package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/version"
)

// KindOf returns the kind of an error of this package, IO for any other, and "" for nil.
func KindOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	var e *fault.PathError
	if errors.As(err, &e) {
		return e.Kind
	}
	return fault.IOError
}

// Wrap turns a system error into a *fault.PathError. A *fault.PathError is returned
// unchanged.
func Wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var own *fault.PathError
	if errors.As(err, &own) {
		return err
	}
	return &fault.PathError{Op: op, Path: path, Kind: kindOfErrno(err), Err: bare(err)}
}

// bare strips *fs.PathError and similar errors, because they contain absolute paths that must not be shown.
// It keeps a StuckError and a ConflictError.
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

func kindOfErrno(err error) fault.Code {
	switch {
	case err == file.ErrNotRegular:
		return fault.NotRegular
	case errors.Is(err, file.ErrSwapped), errors.Is(err, file.ErrVersion), errors.Is(err, file.ErrMeanwhile), errors.Is(err, errMeta),
		errors.Is(err, file.ErrBusy), errors.Is(err, file.ErrVerifyCopy):
		return fault.Conflict
	case errors.Is(err, version.ErrOrder), errors.Is(err, version.ErrOutside), errors.Is(err, errWant):
		return fault.InvalidArgument
	case errors.Is(err, syscall.ENOTDIR): // must precede the next case, which it also matches on Windows
		return fault.NotFolder
	case errors.Is(err, fs.ErrNotExist):
		return fault.NotFound
	case errors.Is(err, syscall.EROFS):
		return fault.ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return fault.Permission
	case errors.Is(err, syscall.EISDIR):
		return fault.NotRegular
	case errors.Is(err, syscall.ENOTEMPTY):
		return fault.NotEmpty
	case errors.Is(err, fs.ErrExist):
		return fault.AlreadyExists
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP), errors.Is(err, errTooManyLinks):
		return fault.InvalidArgument
	}
	return fault.IOError
}

var errTooManyLinks = errors.New("too many levels of symbolic links")
