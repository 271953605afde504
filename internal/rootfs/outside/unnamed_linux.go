package outside

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// unnamed reports whether a file's owner has no name in this user namespace. The kernel shows all such owners
// as one user, the overflow uid (65534), whatever else is mapped. Where that number is also a user of the
// namespace, as the user "nobody" is outside of one, the two can't be told apart, and the owner counts as
// that user.
func unnamed(uid uint32) bool { return uid == overflow().uid && !overflow().mapped }

// overflow reads the kernel's tables once: a namespace's mapping is written once and never changes. Without
// /proc no owner counts as unnamed, and folders of root look like another user's.
var overflow = sync.OnceValue(func() (o struct {
	uid    uint32
	mapped bool
}) {
	o.uid, o.mapped = 65534, true
	if data, err := os.ReadFile("/proc/sys/kernel/overflowuid"); err == nil {
		fmt.Sscan(string(data), &o.uid)
	}
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return o
	}
	o.mapped = inUIDMap(string(data), o.uid)
	return o
})

// inUIDMap reports whether a table as /proc/self/uid_map has it names a user. A
// line is the first uid here, the first uid outside, and how many there are.
func inUIDMap(table string, uid uint32) bool {
	for line := range strings.Lines(table) {
		var first, outside, count uint64
		if _, err := fmt.Sscan(line, &first, &outside, &count); err == nil && first <= uint64(uid) && uint64(uid) < first+count {
			return true
		}
	}
	return false
}
