//go:build !linux || portable

package rootfs

import "errors"

// exchangeOver swaps the names of two files in one step: the new file, called name, becomes base, and the
// file called base becomes name. The displaced file must be the one that was compared before: a file that
// another program put there in the meantime gets its name back, and only our own files are deleted.
func exchangeOver(dir *folder, name, base string, same func(name string) error, exchange func(a, b string) error) error {
	ours, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := exchange(name, base); err != nil {
		return err
	}
	cause := same(name)
	if cause == nil {
		dir.Remove(name) // CleanTemps tries again
		return nil
	}
	if err := exchange(name, base); err != nil {
		// The name was removed, or a system call fails: restore as much as possible.
		if dir.Move(name, dir, base) != nil {
			return keepForeign(dir, name, base, errors.Join(cause, err))
		}
		return cause
	}
	if back, err := dir.Lstat(name); err == nil && back.SameFile(ours) {
		return cause // the caller removes it
	} else if err == nil {
		// A third version came after ours. It is the newest, so it gets the name.
		err = exchange(name, base)
		return keepForeign(dir, name, base, errors.Join(cause, err))
	}
	return cause
}

// keepForeign renames a temporary file with another program's content to a visible name.
func keepForeign(dir *folder, name, base string, cause error) error {
	visible := conflictName(base)
	if err := dir.Move(name, dir, visible); err != nil {
		return errors.Join(cause, &StuckError{err})
	}
	return errors.Join(cause, &ConflictError{Copy: visible})
}
