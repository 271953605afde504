package rootfs

import (
	"errors"
	"fmt"
)

// ErrReplaced says that the path of a root leads to another folder than the one
// that was opened: it was moved, deleted, mounted over, or restored from a copy.
var ErrReplaced = errors.New("the workspace's folder was replaced")

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
