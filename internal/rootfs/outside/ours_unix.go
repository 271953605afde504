//go:build unix

package outside

import (
	"io/fs"
	"os"
	"syscall"
)

const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// Ours reports whether a file belongs to this user or to root: another user's file in a shared folder such as
// /tmp has no influence, as with git since CVE-2022-24765.
func Ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && OurUser(st.Uid)
}

// OurUser is Ours for the number of a user.
func OurUser(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
