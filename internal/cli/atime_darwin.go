package cli

import (
	"os"
	"syscall"
	"time"
)

// accessTime returns when a file was last read, if the file system records it.
func accessTime(path string) time.Time {
	if info, err := os.Stat(path); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			return time.Unix(st.Atimespec.Sec, st.Atimespec.Nsec)
		}
	}
	return time.Time{}
}
