package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// Kind says what went wrong, for callers that decide. A Kind is itself an
// error, so errors.Is(err, rootfs.NotFound) asks for it.
type Kind uint8

const (
	IO              Kind = iota // the system failed: EIO, ENOSPC, EMFILE, …
	InvalidArgument             // the path can't name anything
	NotFound
	Ambiguous     // several entries differ only in case or Unicode form
	Protected     // the policy denies it
	OutsideRoot   // it leaves the root, textually or through a symlink
	AlreadyExists // and we never overwrite
	Conflict      // someone else changed it meanwhile
	TooLarge
	ReadOnly   // the file system or the owner forbids changes
	Permission // the system forbids access
	NotRegular // a FIFO, socket, device, or a folder where a file is needed
	NotFolder  // a file where a folder is needed
	NotEmpty   // a folder that has entries
)

var kinds = [...]struct{ text, code string }{
	IO:              {"i/o error", "IO_ERROR"},
	InvalidArgument: {"invalid path", "INVALID_ARGUMENT"},
	NotFound:        {"not found", "NOT_FOUND"},
	Ambiguous:       {"ambiguous path", "AMBIGUOUS_PATH"},
	Protected:       {"protected", "PROTECTED_PATH"},
	OutsideRoot:     {"outside the root", "OUTSIDE_ROOT"},
	AlreadyExists:   {"already exists", "ALREADY_EXISTS"},
	Conflict:        {"changed by someone else", "CONFLICT"},
	TooLarge:        {"too large", "TOO_LARGE"},
	ReadOnly:        {"read-only", "READ_ONLY"},
	Permission:      {"permission denied", "IO_ERROR"},
	NotRegular:      {"not a regular file", "INVALID_ARGUMENT"},
	NotFolder:       {"not a folder", "INVALID_ARGUMENT"},
	NotEmpty:        {"folder is not empty", "INVALID_ARGUMENT"},
}

// Error returns the kind in words.
func (k Kind) Error() string { return kinds[k].text }

// Code returns the code of the tools' error results.
func (k Kind) Code() string { return kinds[k].code }

// Error is what every call of this package fails with.
type Error struct {
	Op      string // "open", "resolve", "replace", …
	Path    string // as the user wrote it, or relative to the root; never our absolute path
	Kind    Kind
	Name    string   // Protected: what is protected, as ".obsidian/" or "id_rsa"
	Verdict Verdict  // Protected: which rule
	Matches []string // Ambiguous: the entries in question
	Err     error    // what the system said, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteByte(' ')
	b.WriteString(Printable(e.Path))
	b.WriteString(": ")
	b.WriteString(e.Kind.Error())
	if e.Name != "" {
		b.WriteString(": ")
		b.WriteString(Printable(e.Name))
	}
	for i, m := range e.Matches {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		b.WriteString(Printable(m))
	}
	if e.Err != nil && e.Err.Error() != e.Kind.Error() {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the system's error.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is work for kinds and for the matching fs sentinels.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.Kind == NotFound
	case fs.ErrExist:
		return e.Kind == AlreadyExists
	case fs.ErrPermission:
		return e.Kind == Permission
	}
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// KindOf returns the kind of an error of this package, IO for any other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return IO
}

// Printable returns s, quoted with escapes if it holds anything that could
// forge a line or steer a terminal. It is for messages, not for results.
func Printable(s string) string {
	q := strconv.QuoteToGraphic(s)
	if len(q) == len(s)+2 && q[1:len(q)-1] == s {
		return s
	}
	return q
}

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

// bare strips *fs.PathError and its like: they carry paths that are not for
// the user's eyes. What a failed change left behind stays.
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
	case errors.Is(err, errSwapped), errors.Is(err, errVersion), errors.Is(err, errMeanwhile),
		errors.Is(err, errBusy), errors.Is(err, errVerifyCopy):
		return Conflict
	case errors.Is(err, errEditOrder), errors.Is(err, errWant):
		return InvalidArgument
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Permission
	case errors.Is(err, syscall.ENOTDIR):
		return NotFolder
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
