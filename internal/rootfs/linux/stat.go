//go:build linux

package linux

import (
	"io/fs"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// Statx calls statx without allocating. It doesn't follow a symlink at the end. With an
// empty name it describes at itself.
func Statx(at int, name string, flags, mask int, st *unix.Statx_t) error {
	var buf [256]byte
	p := cstring(&buf, name)
	for {
		_, _, e := syscall.Syscall6(unix.SYS_STATX, uintptr(at), uintptr(unsafe.Pointer(p)),
			uintptr(flags|unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT), uintptr(mask),
			uintptr(unsafe.Pointer(st)), 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return e
		}
		return nil
	}
}

// InfoOf describes an open file.
func InfoOf(fd int) (file.Info, error) { return InfoAt(fd, "", unix.AT_EMPTY_PATH) }

// InfoAt describes an entry of an open folder without following symlinks.
func InfoAt(at int, name string, flags int) (file.Info, error) {
	var st unix.Statx_t
	if err := Statx(at, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return file.Info{}, err
	}
	return infoOfStatx(&st), nil
}

func infoOfStatx(st *unix.Statx_t) file.Info {
	i := file.Info{
		Type:       TypeOfMode(uint32(st.Mode)),
		Mode:       modeOf(uint32(st.Mode)),
		Size:       int64(st.Size),
		ModTime:    time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		ChangeTime: time.Unix(st.Ctime.Sec, int64(st.Ctime.Nsec)),
		Ino:        st.Ino,
		Dev:        unix.Mkdev(st.Dev_major, st.Dev_minor),
		Nlink:      st.Nlink,
		UID:        st.Uid,
		GID:        st.Gid,
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		i.BirthTime = time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	}
	return i
}

// infoOfStat is infoOfStatx for stat, which has no birth time.
func infoOfStat(st *syscall.Stat_t) file.Info {
	return file.Info{
		Type:       TypeOfMode(st.Mode),
		Mode:       modeOf(st.Mode),
		Size:       st.Size,
		ModTime:    time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec)),
		ChangeTime: time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)),
		Ino:        st.Ino,
		Dev:        uint64(st.Dev),
		Nlink:      uint32(st.Nlink),
		UID:        st.Uid,
		GID:        st.Gid,
	}
}

func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	if m&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// UnixMode is the reverse of modeOf.
func UnixMode(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		mode |= syscall.S_ISUID
	}
	if m&fs.ModeSetgid != 0 {
		mode |= syscall.S_ISGID
	}
	if m&fs.ModeSticky != 0 {
		mode |= syscall.S_ISVTX
	}
	return mode
}

// TypeOfMode returns the type in a mode of stat.
func TypeOfMode(mode uint32) file.Type {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return file.TypeFile
	case syscall.S_IFDIR:
		return file.TypeDir
	case syscall.S_IFLNK:
		return file.TypeSymlink
	}
	return file.TypeOther
}

// Adopt describes an open file. If it is not a regular file, Adopt closes it.
func Adopt(fd int, info *file.Info) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		syscall.Close(fd)
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		syscall.Close(fd)
		return file.ErrNotRegular
	}
	*info = infoOfStat(&st)
	return nil
}
