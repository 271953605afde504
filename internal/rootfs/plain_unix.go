//go:build unix

package rootfs

import (
	"io/fs"
	"os"
	"syscall"
)

const plainFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// BelongsToUs reports whether a file belongs to this user or to root: what another
// user put into a shared folder such as /tmp decides nothing, as with git since
// CVE-2022-24765.
func BelongsToUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && ourUser(st.Uid)
}

func ourUser(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
