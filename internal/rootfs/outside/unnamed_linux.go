package outside

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// unnamed reports whether a file's owner has no name in this user namespace. The kernel shows all such owners
// as the overflow uid (65534). If the namespace also has a user with that number, such as "nobody" outside of
// namespaces, the two can't be distinguished, and the owner counts as that user.
func unnamed(uid uint32) bool { return uid == overflow().uid && !overflow().mapped }

// overflow asks the kernel once, since the mapping of a namespace never changes.
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

// isMapped reports whether a user id exists in this namespace. It tries to change the owner
// of an unnamed file in memory: only for a missing id, the error is EINVAL. Unlike
// /proc/self/uid_map, this works in every sandbox.
func isMapped(uid uint32) bool {
	fd, err := unix.MemfdCreate("", unix.MFD_CLOEXEC)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return !errors.Is(unix.Fchown(fd, int(uid), -1), unix.EINVAL)
}
