//go:build unix

package rootfs

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// checkPrivate refuses a state folder that other users could tamper with: its
// content decides what undo writes into the workspace. The folder and its parent
// must belong to this user or to root, must not be symlinks, and no other user
// may write to them; the parent may be a sticky folder such as /tmp. Folders
// further up may be symlinks, but none may be writable for everybody.
func checkPrivate(dir string) error {
	for depth, p := 0, dir; ; depth, p = depth+1, filepath.Dir(p) {
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			if depth < 2 {
				return fmt.Errorf("%s is a symlink; a folder for state must be one itself", p)
			}
			if info, err = os.Stat(p); err != nil {
				return err
			}
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			return fmt.Errorf("%s belongs to another user (%d)", p, st.Uid)
		}
		writable := info.Mode().Perm() & 0o022
		if depth >= 1 && info.Mode()&os.ModeSticky != 0 {
			writable = 0
		}
		if depth >= 2 {
			writable &= 0o002 // a group above is the owner's business
		}
		if writable != 0 {
			return fmt.Errorf("other users may write to %s (mode %04o); chmod go-w %s", p, info.Mode().Perm(), p)
		}
		if filepath.Dir(p) == p {
			return nil
		}
	}
}
