package rootfs

import (
	"os"

	"golang.org/x/sys/unix"

	"quarry/fault"
)

// TruePath returns the path of the root as the kernel spells it: events have it.
func (r *Root) TruePath() (string, error) {
	path, err := pathOf(r.sys.root().h, ".")
	return path, wrap("open", ".", err)
}

// Touch makes an empty file in a folder of our own, for the event it makes. It
// doesn't wait for the disk. remove deletes it.
func (r *Root) Touch(name string) (remove func(), err error) {
	if r.policy.Policy != nil {
		return nil, &fault.PathError{Op: "create", Path: name, Kind: fault.InvalidArgument, Err: errNotTrusted}
	}
	top := r.sys.root()
	f, err := top.h.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, wrap("create", name, err)
	}
	f.Close()
	return func() { top.h.Remove(name) }, nil
}

// FSKind says whether others may change files unseen: a volume that isn't local
// tells of our own changes only.
func (r *Root) FSKind() FSKind {
	dir, err := r.sys.root().h.Open(".")
	if err != nil {
		return FSUnknown
	}
	defer dir.Close()
	var st unix.Statfs_t
	switch err := unix.Fstatfs(int(dir.Fd()), &st); {
	case err != nil:
		return FSUnknown
	case st.Flags&unix.MNT_LOCAL == 0:
		return FSNetwork
	}
	return FSLocal
}
