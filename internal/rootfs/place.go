package rootfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quarry/internal/rootfs/outside"
)

// ErrReplaced means that the root's path no longer leads to the opened folder, which was
// moved, deleted, mounted over, or restored from a copy.
var ErrReplaced = errors.New("the workspace's folder was replaced")

// Follow checks whether the root's path now leads to another folder than the opened one.
// If so, the root switches to it: later calls use the new folder. It reports whether it
// switched. The new folder must be a real folder, reached without symlinks, and have the
// same owner as the old one. Otherwise the error is ErrReplaced, and the root keeps the
// old folder. Concurrent calls use one folder or the other.
func (r *Root) Follow() (moved bool, err error) {
	if r.InPlace() == nil {
		return false, nil
	}
	r.following.Lock()
	defer r.following.Unlock()
	if r.InPlace() == nil { // another goroutine has switched
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
	if r.private {
		if _, err := outside.CheckPrivate(r.real); err != nil {
			return false, err
		}
	}
	if err := r.sys.follow(r.real); err != nil {
		return false, fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	return true, nil
}

// Renew is Follow for a folder of Quarry. It recreates the folder if it was deleted.
func (r *Root) Renew() (moved bool, err error) {
	if r.InPlace() == nil {
		return false, nil
	}
	if err := os.MkdirAll(r.real, 0o700); err != nil {
		return false, errors.Join(ErrReplaced, err)
	}
	return r.Follow()
}

// Place identifies the folder of a root. Processes on one machine can compare the Places of
// folders that they have open.
type Place struct{ Dev, Ino uint64 }

// Place identifies the opened folder.
func (r *Root) Place() (Place, error) { return r.sys.place() }

// InPlace checks that the root's path still leads to the opened folder, and not to a
// symlink. Otherwise it returns ErrReplaced. It costs two system calls.
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

var errOtherUser = errors.New("the folder there now belongs to another user")
