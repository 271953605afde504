//go:build linux

package linux

import (
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

const (
	// Every open stays beneath the root and follows no magic link or symlink. A Path has
	// no symlinks; if one was created since, the path is resolved and checked again.
	resolveFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS

	// Flags to open a file, to open a folder, and to examine an entry without opening it.
	FlagsFile = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	FlagsDir  = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	FlagsLook = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW

	// MaxPath is the kernel's limit, 4096 bytes with the NUL. Longer paths are opened in steps.
	MaxPath = 4095

	// maxTarget is larger than any target of a symlink.
	maxTarget = 64 << 10
)

// HasOpenat2 reports whether OpenBeneath works. Kernels before 5.6 have no openat2,
// and old containers' filters forbid it.
func HasOpenat2(dir int) bool {
	fd, err := openat2(dir, ".", FlagsLook, resolveFlags)
	if err == nil {
		syscall.Close(fd)
	}
	return err == nil
}

// OpenBeneath opens a cleaned relative path. If it contains a symlink, the error is
// file.ErrSwapped, except that O_PATH opens a symlink at the end itself.
func OpenBeneath(at int, rel string, flags int) (int, error) {
	// EAGAIN means that there was a rename or mount at the same time; try again.
	for range 256 {
		fd, err := openat2(at, rel, flags, resolveFlags)
		switch err {
		case nil:
			return fd, nil
		case unix.EAGAIN, unix.EINTR:
			continue
		case unix.ELOOP:
			return -1, file.ErrSwapped
		case unix.ENOTDIR:
			// O_DIRECTORY returns ENOTDIR for a symlink at the end, too.
			if flags&unix.O_DIRECTORY != 0 {
				if look, e := openat2(at, rel, FlagsLook, resolveFlags); e == nil {
					return -1, notDirOrLink(look)
				}
			}
		}
		return -1, err
	}
	return -1, unix.EAGAIN
}

// notDirOrLink returns ErrSwapped if look is a symlink, else ENOTDIR. It closes look.
func notDirOrLink(look int) error {
	defer syscall.Close(look)
	var st syscall.Stat_t
	if syscall.Fstat(look, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		return file.ErrSwapped
	}
	return unix.ENOTDIR
}

// OpenByName is OpenBeneath without openat2. It opens one name after the other and follows
// no symlink. It stays beneath at, since a cleaned path contains no "..".
func OpenByName(at int, rel string, flags int) (int, error) {
	dir, owned := at, false
	for {
		name, rest, more := strings.Cut(rel, "/")
		f := flags | unix.O_NOFOLLOW
		if more {
			f = FlagsLook
		}
		fd, err := Openat(dir, name, f, 0)
		if err == unix.ENOTDIR && f&unix.O_DIRECTORY != 0 {
			if look, e := Openat(dir, name, FlagsLook, 0); e == nil {
				err = notDirOrLink(look)
			}
		}
		if owned {
			syscall.Close(dir)
		}
		if err == unix.ELOOP {
			return -1, file.ErrSwapped
		}
		if err != nil {
			return -1, err
		}
		if !more {
			return fd, nil
		}
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			syscall.Close(fd)
			return -1, err
		}
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFDIR:
		case syscall.S_IFLNK:
			syscall.Close(fd)
			return -1, file.ErrSwapped
		default:
			syscall.Close(fd)
			return -1, unix.ENOTDIR
		}
		dir, owned, rel = fd, true, rest
	}
}

// Readlink returns the target of an open symlink.
func Readlink(fd int) (string, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(fd, "", buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
		if size > maxTarget {
			return "", unix.ENAMETOOLONG
		}
	}
}

// cstring writes s and a NUL to buf, which is on the caller's stack, or to new memory if it
// doesn't fit. s contains no NUL.
func cstring(buf *[256]byte, s string) *byte {
	if len(s) < len(buf) {
		copy(buf[:], s)
		return &buf[0]
	}
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// openat2 and Openat are like the functions of x/sys, but without their two allocations. A search makes
// 78,000 of these calls.
func openat2(at int, path string, flags int, resolve uint64) (int, error) {
	var buf [256]byte
	p := cstring(&buf, path)
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolve}
	fd, _, e := syscall.Syscall6(unix.SYS_OPENAT2, uintptr(at), uintptr(unsafe.Pointer(p)),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// Openat opens an entry of an open folder.
func Openat(at int, path string, flags int, mode uint32) (int, error) {
	var buf [256]byte
	p := cstring(&buf, path)
	for {
		fd, _, e := syscall.Syscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(p)),
			uintptr(flags), uintptr(mode), 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return -1, e
		}
		return int(fd), nil
	}
}
