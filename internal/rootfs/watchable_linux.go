//go:build linux && !portable

package rootfs

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs/linux"
)

// AddWatch adds an inotify watch for the folder and returns the watch descriptor. Since inotify needs a path, it
// passes the handle's path in /proc, so the opened folder is watched even if its own path now leads elsewhere.
//
// A folder that is already watched loses no events: without IN_MASK_ADD, the kernel clears the mask for a
// moment, in which events are lost (662 of 200,000 on Linux 6.18 while a loop added the watch again).
func (d *Dir) AddWatch(inotify int, mask uint32) (int32, error) {
	wd, err := unix.InotifyAddWatch(inotify, handlePath(d.fd), mask|unix.IN_ONLYDIR|unix.IN_MASK_ADD)
	return int32(wd), Wrap("watch", d.path.String(), err)
}

// FSKind returns the kind of the folder's file system, which below a mount point may differ
// from the root's.
func (d *Dir) FSKind() FSKind { return linux.KindOf(d.fd) }

// OpenSystem opens a folder with files for ReadSystem, to watch it: rel is ".git" or
// ".git/info", relative to the folder dir. No symlink in rel is followed.
func (r *Root) OpenSystem(dir Path, rel string) (*Dir, error) {
	if !policy.LeadsToSystemFile(rel) {
		return nil, &fault.PathError{Op: "open", Path: dir.child(rel).s, Kind: fault.ProtectedPath, Rule: policy.Protected.String(), Name: rel}
	}
	d, err := r.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		sub, err := d.openDir(name)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = sub
	}
	return d, nil
}

func handlePath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
