package rootfs

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrReplaced says that the path of a root leads to another folder than the one
// that was opened: it was moved, deleted, mounted over, or restored from a copy.
var ErrReplaced = errors.New("the workspace's folder was replaced")

// Follow makes the root the folder that stands at its path now, if it is another
// than the one that was opened: what is opened from then on is there. It reports
// whether it was. The new folder has to be a real one, reached without symlinks,
// of the same user as the old one; otherwise it is ErrReplaced, and the root stays
// where it was. Concurrent calls under way end in either folder.
func (r *Root) Follow() (moved bool, err error) {
	if r.InPlace() == nil {
		return false, nil
	}
	r.following.Lock()
	defer r.following.Unlock()
	if r.InPlace() == nil { // another goroutine was faster
		return true, nil
	}
	if real, err := filepath.EvalSymlinks(r.real); err != nil || real != r.real {
		return false, errors.Join(ErrReplaced, err)
	}
	if !r.allowAny {
		if err := checkRootDir(r.real); err != nil {
			return false, errors.Join(ErrReplaced, err)
		}
	}
	if err := r.sys.follow(r.real); err != nil {
		return false, fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	return true, nil
}

// Place is which folder a root is: equal numbers mean the same one. They are
// compared between processes on one machine, while both hold the folder open.
type Place struct{ Dev, Ino uint64 }

// Place tells which folder was opened.
func (r *Root) Place() (Place, error) { return r.sys.place() }

// InPlace reports whether the path the root was opened by still leads to the
// folder that was opened, by a real folder and no symlink: ErrReplaced if not.
// It is two system calls.
func (r *Root) InPlace() error {
	same, err := r.sys.leadsHere(r.real)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	case !same:
		return ErrReplaced
	}
	return nil
}
