//go:build linux

package linux

import (
	"io/fs"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// Folder is an open folder in which entries are changed. Tests can make all its calls fail.
type Folder struct {
	Calls *Calls
	FD    int
}

// Lstat describes an entry without following symlinks.
func (d *Folder) Lstat(name string) (file.Info, error) { return d.Calls.InfoAt(d.FD, name) }

// Mkdir makes a folder.
func (d *Folder) Mkdir(name string, perm fs.FileMode) error {
	return d.Calls.Mkdir(d.FD, name, UnixMode(perm))
}

// Symlink makes a symlink.
func (d *Folder) Symlink(target, name string, _ bool) error {
	return d.Calls.Symlink(target, d.FD, name)
}

// Remove deletes a file, a symlink or an empty folder.
func (d *Folder) Remove(name string) error {
	err := d.Calls.Unlink(d.FD, name, 0)
	if err == unix.EISDIR {
		err = d.Calls.Unlink(d.FD, name, unix.AT_REMOVEDIR)
	}
	return err
}

// RemoveAll deletes an entry with its contents.
func (d *Folder) RemoveAll(name string) error { return d.Calls.RemoveTree(d.FD, name) }

// Move renames and never overwrites.
func (d *Folder) Move(name string, to *Folder, base string) error {
	return d.Calls.MoveFile(d.FD, name, to.FD, base)
}

// Sync makes the names in the folder durable.
func (d *Folder) Sync() error { return d.Calls.SyncDir(d.FD) }
