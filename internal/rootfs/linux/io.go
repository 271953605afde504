//go:build linux

package linux

import "syscall"

// maxIO is below the kernel's limit for one call, 2 GiB.
const maxIO = 1 << 30

// Read reads from the file's position.
func Read(fd int, b []byte) (int, error) {
	b = b[:min(len(b), maxIO)]
	for {
		n, err := syscall.Read(fd, b)
		if err == syscall.EINTR {
			continue
		}
		return n, err
	}
}

// Pread reads at an offset.
func Pread(fd int, b []byte, off int64) (int, error) {
	b = b[:min(len(b), maxIO)]
	for {
		n, err := syscall.Pread(fd, b, off)
		if err == syscall.EINTR {
			continue
		}
		return n, err
	}
}
