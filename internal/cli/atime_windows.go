package cli

import (
	"os"
	"syscall"
	"time"
)

// accessTime returns when a file was last read, if the file system records it.
func accessTime(path string) time.Time {
	if info, err := os.Stat(path); err == nil {
		if st, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
			return time.Unix(0, st.LastAccessTime.Nanoseconds())
		}
	}
	return time.Time{}
}
