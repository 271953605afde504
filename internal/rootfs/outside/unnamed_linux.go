package outside

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// unnamed reports whether a file's owner has no name in this user namespace. The kernel shows all such owners
// as one user, the overflow uid (65534), whatever else is mapped. Where that number is also a user of the
// namespace, as the user "nobody" is outside of one, the two can't be told apart, and the owner counts as
// that user.
func unnamed(uid uint32) bool { return uid == overflow().uid && !overflow().mapped }

// overflow asks the kernel once: a namespace's mapping is written once and never changes.
var overflow = sync.OnceValue(func() (o struct {
	uid    uint32
	mapped bool
}) {
	o.uid = 65534
	if data, err := os.ReadFile("/proc/sys/kernel/overflowuid"); err == nil {
		fmt.Sscan(string(data), &o.uid)
	}
	o.mapped = isMapped(o.uid)
	return o
})

// isMapped reports whether a number is a user of this namespace. A file can't be given to
// one that is not, whoever asks; a user that exists is refused for another reason, or gets
// the file, which is in memory and has no name. Unlike /proc/self/uid_map this is there in
// every sandbox.
func isMapped(uid uint32) bool {
	fd, err := unix.MemfdCreate("", unix.MFD_CLOEXEC)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return !errors.Is(unix.Fchown(fd, int(uid), -1), unix.EINVAL)
}
