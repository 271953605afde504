//go:build unix

package outside

import (
	"io/fs"
	"os"
	"syscall"
)

const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// Ours reports whether a file belongs to this user or to root. Other users' files, for example in /tmp, must
// have no effect, as in git since CVE-2022-24765.
func Ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && OurUser(st.Uid)
}

// OurUser is Ours for a user id.
func OurUser(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
