//go:build linux && !portable

package rootfs

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
)

// cleanTemp cleans up after one temporary file. It drops unfinished content, restores the
// old content of a file that a crash left half-written, and gives content that exists
// nowhere else a visible name.
func (r *Root) cleanTemp(d *Dir, e Entry, res *Cleaned) error {
	t, err := parseTempName(e.Name)
	if err != nil {
		return nil // a file of another program with a similar name
	}
	info, err := linux.InfoAt(d.fd, e.Name, 0)
	if err == unix.ENOENT || err == nil && !r.abandoned(t, info) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case t.phase == phaseBackup:
		return r.recoverBackup(d, e.Name, res)
	case t.phase == phaseExchange && r.inode(info) != t.newIno:
		// The files were exchanged, so this is the displaced one. It can be dropped
		// if it is the version that was read.
		if v, err := r.sys.VersionAt(d.fd, e.Name, info.Size); err != nil {
			return err
		} else if v != t.version {
			return r.keepLeftOver(d, e.Name, "recovered", res)
		}
	}
	if info.Type == TypeDir {
		err = r.sys.RemoveTree(d.fd, e.Name)
	} else {
		err = r.sys.Unlink(d.fd, e.Name, 0)
	}
	if err == nil {
		res.Removed++
	}
	return err
}

// keepLeftOver gives content of another program a visible name.
func (r *Root) keepLeftOver(d *Dir, name, base string, res *Cleaned) error {
	visible := conflictName(base)
	if err := r.sys.RenameNoReplace(d.fd, name, d.fd, visible); err != nil {
		return err
	}
	res.Kept = append(res.Kept, d.path.child(visible))
	return r.sys.SyncDir(d.fd)
}

// recoverBackup finishes a rewrite in place whose process died.
func (r *Root) recoverBackup(d *Dir, name string, res *Cleaned) error {
	bk, err := linux.Openat(d.fd, name, linux.FlagsFile, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(bk)
	drop := func() error {
		if err := r.sys.Unlink(d.fd, name, 0); err != nil {
			return err
		}
		res.Removed++
		return nil
	}
	head := make([]byte, backupHeader)
	if n, err := r.sys.Pread(bk, head, 0); err != nil {
		return err
	} else if n < backupHeader {
		return drop() // incomplete backup, so nothing was overwritten
	}
	b, ok := decodeBackup(head)
	if !ok {
		return drop()
	}
	if v, err := r.sys.Hash(bk, backupHeader, b.oldSize); err != nil || v != b.old {
		if err == nil || errors.Is(err, file.ErrMeanwhile) {
			return drop() // incomplete
		}
		return err
	}
	fd, err := linux.Openat(d.fd, b.base, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		defer syscall.Close(fd)
		state, err := r.compareBackup(bk, b, fd)
		switch {
		case err != nil:
			return err
		case state == whole:
			return drop()
		case state == torn:
			if err := r.putBack(bk, b, fd, Info{}); err != nil {
				return err
			}
			res.Restored = append(res.Restored, d.path.child(b.base))
			return drop()
		}
	} else if err != unix.ENOENT && err != unix.ELOOP {
		return err
	}
	// The file is gone or was replaced: keep the content it had before the rewrite.
	if err := r.exportOld(d, bk, b, res); err != nil {
		return err
	}
	return drop()
}

func (r *Root) exportOld(d *Dir, bk int, b backup, res *Cleaned) error {
	visible := conflictName(b.base)
	fd, err := r.sys.Create(d.fd, visible, 0o600)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if _, err := r.sys.Copy(bk, backupHeader, fd, 0, b.oldSize); err != nil {
		return err
	}
	if err := r.sys.Sync(fd); err != nil {
		return err
	}
	res.Kept = append(res.Kept, d.path.child(visible))
	return r.sys.SyncDir(d.fd)
}

type backupState uint8

const (
	foreign backupState = iota // content of another program
	whole                      // the old or the new content
	torn                       // a mixture of old and new pages
)

// compareBackup compares a file with its backup.
func (r *Root) compareBackup(bk int, b backup, fd int) (backupState, error) {
	info, err := r.sys.FDInfo(fd)
	if err != nil {
		return foreign, err
	}
	if r.inode(info) != b.ino || info.Type != TypeFile {
		return foreign, nil
	}
	for _, c := range [...]struct {
		size int64
		v    Version
	}{{b.oldSize, b.old}, {b.newSize, b.new}} {
		if info.Size != c.size {
			continue
		}
		if v, err := r.sys.Hash(fd, 0, c.size); err != nil {
			return foreign, err
		} else if v == c.v {
			return whole, nil
		}
	}
	const page = 4096
	var have, old, new [page]byte
	for off := int64(0); off < info.Size; off += page {
		n, err := r.sys.ReadFull(fd, have[:], off, info.Size)
		if err != nil {
			return foreign, err
		}
		nOld, err := r.sys.ReadFull(bk, old[:], backupHeader+off, backupHeader+b.oldSize)
		if err != nil {
			return foreign, err
		}
		nNew, err := r.sys.ReadFull(bk, new[:], backupHeader+b.oldSize+off, backupHeader+b.oldSize+b.newSize)
		if err != nil {
			return foreign, err
		}
		if !mixed(have[:n], old[:nOld], new[:nNew]) {
			return foreign, nil
		}
	}
	return torn, nil
}

// mixed reports whether a page begins like the new one and ends like the old one. The end
// may contain zeros, for a part that never reached the disk.
func mixed(have, old, new []byte) bool {
	k := 0
	for k < len(have) && k < len(new) && have[k] == new[k] {
		k++
	}
	for i := k; i < len(have); i++ {
		if !(i < len(old) && have[i] == old[i]) && have[i] != 0 {
			return false
		}
	}
	return true
}
