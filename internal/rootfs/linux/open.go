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
	// Every open stays beneath the root and crosses no magic link. No symlink is
	// followed either: a Path has none. If one appeared since, the path is
	// resolved and checked again.
	resolveFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS

	// Flags to open a file, a folder, and to look at either without opening it.
	FlagsFile = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	FlagsDir  = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	FlagsLook = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW

	// MaxPath is the kernel's limit, 4096 bytes with the NUL. Longer paths go in steps.
	MaxPath = 4095

	// maxTarget is above any target of a symlink.
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

// OpenBeneath opens a cleaned relative path. A symlink anywhere in it is
// file.ErrSwapped. Only with O_PATH a symlink at the end is opened itself.
func OpenBeneath(at int, rel string, flags int) (int, error) {
	// EAGAIN means that a rename or mount happened meanwhile; try again.
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
			// O_DIRECTORY on a symlink at the end says ENOTDIR.
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

// notDirOrLink says which of the two it was, and closes look.
func notDirOrLink(look int) error {
	defer syscall.Close(look)
	var st syscall.Stat_t
	if syscall.Fstat(look, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		return file.ErrSwapped
	}
	return unix.ENOTDIR
}

// OpenByName is openBeneath without openat2: each name by itself, following
// nothing. ".." never occurs in a cleaned path, so it stays beneath.
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

// Readlink returns the target of a symlink that is open itself.
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

// cstring writes s and a NUL into buf, which lives on the caller's stack, or
// into fresh memory if it doesn't fit. No caller passes a NUL.
func cstring(buf *[256]byte, s string) *byte {
	if len(s) < len(buf) {
		copy(buf[:], s)
		return &buf[0]
	}
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// openat2 and Openat equal the functions of x/sys without their two allocations: a search makes 78,000 of
// these calls.
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
