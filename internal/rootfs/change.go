package rootfs

import (
	"errors"
	"io/fs"
	"runtime"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/version"
)

// Edit is one replacement in the content of a file; Edits are several, in order.
type (
	Edit  = version.Edit
	Edits = version.Edits
)

// ToEnd, as the length of the last of some Edits, means everything up to the end.
const ToEnd = version.ToEnd

// ReplaceOptions refine Replace and Splice. nil is allowed.
type ReplaceOptions struct {
	// Keep is called with the complete old file, whose version was checked, before the
	// file is dropped. A journal copies it. If Keep fails, the change is rolled back and
	// the error returned. Keep must not close the file.
	Keep func(old *File) error
	// Want, if set, is the required version of the new content. If it differs, nothing is
	// changed and the error is InvalidArgument. It is for stored edits.
	Want Version
	// Old is the content of the expected version, if the caller has it in memory.
	// If Old and Want are set, the file is compared with Old instead of hashed, and Want
	// is not checked: hashing 100 MB takes as long as writing it.
	Old []byte
}

// Replaced reports the effects of a change of content.
type Replaced struct {
	Old, New Version
	Info     Info // of the current file
	// Unchanged says that the new content equals the old: nothing was written.
	Unchanged bool
	// InPlace is set if the same inode was rewritten. That happens if it has
	// several names, if a new file can't get the same owner, or if the system
	// can't exchange files.
	InPlace bool
}

// CreateOptions refine Create. nil is allowed.
type CreateOptions struct {
	// Mode is the file's permissions; 0 means 0666 without the bits of the umask.
	Mode fs.FileMode
}

// ConflictError is the cause of a Conflict during a change. The other program's
// content was saved under another name.
type ConflictError struct {
	Copy string // the name, in the same folder
}

func (e *ConflictError) Error() string {
	return "another writer's content was kept as " + fault.Printable(e.Copy)
}

// Hint says how to proceed.
func (e *ConflictError) Hint() string {
	return "read the file again and make the change on its present content"
}

// StuckError is part of the error of a replacement that failed and could not be
// rolled back. The file may have its new content, or a part of it if it was
// rewritten in place. The old content is in a temporary file, which CleanTemps
// restores, or in the copy of a ConflictError.
type StuckError struct {
	Err error // the reason
}

func (e *StuckError) Error() string { return "it could not be rolled back: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *StuckError) Unwrap() error { return e.Err }

var (
	errMeta        = errors.New("permissions, owner, links or attributes of the file were changed while it was being replaced")
	errWant        = errors.New("the edits do not result in the wanted version")
	errIsRootDir   = errors.New("the root itself can't be changed")
	errIntoItself  = errors.New("a folder can't be moved into itself")
	errBadTempName = errors.New("not the name of a temporary file")
	errModeKept    = errors.New("the file system did not change the mode")
)

// ExecutableBit reports whether this system has an executable bit in a file's
// mode.
const ExecutableBit = runtime.GOOS != "windows"

// editable refuses paths that no change may touch.
func (r *Root) editable(op string, p Path, isDir bool) error {
	if err := r.writable(op, p); err != nil {
		return err
	}
	if p.IsRoot() {
		return &fault.PathError{Op: op, Path: ".", Kind: fault.InvalidArgument, Err: errIsRootDir}
	}
	return r.policy.check(op, p.String(), p, isDir)
}

// Cleaned is the result of CleanTemps.
type Cleaned struct {
	Removed  int     // abandoned temporary files of ours
	Restored []Path  // files with an interrupted rewrite in place, which have their old content again
	Kept     []Path  // content of other programs from a temporary file, now under a visible name
	Errors   []error // folders or files that could not be cleaned
}

// Replace replaces the content of the file at p if it is the expected version; a zero
// expected accepts any. At every moment and after any crash, the content is entirely old or
// entirely new. When Replace returns without an error, the new content is durable. If
// another program changed the file since the expected version, its change is kept, and
// Replace fails with Conflict.
//
// Mode, owner, extended attributes and all names of the file are kept. A write-protected
// file is refused.
func (r *Root) Replace(p Path, data []byte, expected Version, opts *ReplaceOptions) (Replaced, error) {
	return r.replaceVersion(p, version.List([]Edit{{Off: 0, Len: ToEnd, Data: data}}), expected, opts)
}

// Splice is Replace for content that differs from the old one in a few places: the rest is copied without
// being held in memory. Edits are in order and don't overlap; offsets refer to the old content.
func (r *Root) Splice(p Path, edits []Edit, expected Version, opts *ReplaceOptions) (Replaced, error) {
	for _, e := range edits {
		if e.Len < 0 {
			return Replaced{}, &fault.PathError{Op: "replace", Path: p.String(), Kind: fault.InvalidArgument, Err: version.ErrOrder}
		}
	}
	return r.replaceVersion(p, version.List(edits), expected, opts)
}

// Rewrite is Splice for edits that are generated while they are written, so that neither
// they nor the contents are held in memory.
func (r *Root) Rewrite(p Path, edits Edits, expected Version, opts *ReplaceOptions) (Replaced, error) {
	return r.replaceVersion(p, edits, expected, opts)
}

// replaceVersion is replace, but reports a conflict if the edits reach beyond the end of the
// file, because the file has become shorter than the expected version.
func (r *Root) replaceVersion(p Path, edits Edits, expected Version, opts *ReplaceOptions) (Replaced, error) {
	res, err := r.replace(p, edits, expected, opts)
	if !expected.IsZero() && errors.Is(err, version.ErrOutside) {
		return Replaced{}, &fault.PathError{Op: "replace", Path: p.String(), Kind: fault.Conflict, Err: file.ErrVersion}
	}
	return res, err
}
