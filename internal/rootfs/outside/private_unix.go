//go:build unix

package outside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckPrivate refuses a state folder that other users could tamper with, because its
// content decides what undo writes to the workspace. The folder and its parent must belong
// to this user or to root, must not be symlinks, and no other user may write to them; the
// parent may be a sticky folder such as /tmp. Folders further up may be symlinks, but none
// may be writable for all users. A folder that doesn't exist yet is accepted, since its
// creator will own it.
//
// In a user namespace, as made by bubblewrap and unshare, the owner of a folder may have no name there, so root
// can't be distinguished from another user. Such a folder is accepted above the parent if neither its group nor
// others may write to it, or if it is sticky. unverified is the lowest such folder.
func CheckPrivate(dir string) (unverified string, err error) {
	for depth, p := 0, dir; ; depth, p = depth+1, filepath.Dir(p) {
		known, err := checkFolder(p, depth)
		if err != nil {
			return "", err
		}
		if !known && unverified == "" {
			unverified = p
		}
		if filepath.Dir(p) == p {
			return unverified, nil
		}
	}
}

// checkFolder checks the folder that is depth levels above the state folder. known reports
// whether its owner could be verified.
func checkFolder(p string, depth int) (known bool, err error) {
	info, err := os.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if depth < 2 {
			return false, fmt.Errorf("%s is a symlink; a folder for state must be a real folder", p)
		}
		if info, err = os.Stat(p); err != nil {
			return false, err
		}
	}
	known = true
	mode := info.Mode()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		known = !unnamed(st.Uid)
		switch ours := int(st.Uid) == os.Geteuid(); {
		case known && (ours || st.Uid == 0):
		case known:
			return false, fmt.Errorf("%s belongs to another user (%d)", p, st.Uid)
		case depth >= 2:
		case !ours:
			return false, fmt.Errorf("%s belongs to a user who has no name in this user namespace", p)
		case mode.Perm()&0o077 != 0:
			// This process has no name either, so the same user id proves nothing. But if other users have
			// no access, only the owner could open the folder.
			return false, fmt.Errorf("it can't be verified in this user namespace that %s is yours (mode %04o); chmod 700 %s", p, mode.Perm(), p)
		}
	}
	writable := mode.Perm() & 0o022
	if depth >= 1 && mode&os.ModeSticky != 0 {
		writable = 0
	}
	if depth >= 2 && known {
		writable &= 0o002 // the owner is responsible for the group
	}
	if writable != 0 {
		return false, fmt.Errorf("other users may write to %s (mode %04o); chmod go-w %s", p, mode.Perm(), p)
	}
	return known, nil
}
