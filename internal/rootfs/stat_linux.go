//go:build linux && !portable

package rootfs

import (
	"io/fs"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// statxAt is statx without following a symlink at the end, and without
// allocating. An empty name describes at itself.
func statxAt(at int, name string, flags, mask int, st *unix.Statx_t) error {
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

func infoAt(at int, name string, flags int) (Info, error) {
	var st unix.Statx_t
	if err := statxAt(at, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return Info{}, err
	}
	return infoOfStatx(&st), nil
}

func infoOfStatx(st *unix.Statx_t) Info {
	i := Info{
		Type:       typeOfMode(uint32(st.Mode)),
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

func infoOfStat(st *syscall.Stat_t) Info {
	return Info{
		Type:       typeOfMode(st.Mode),
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

// unixMode is the reverse of modeOf.
func unixMode(m fs.FileMode) uint32 {
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

func (r *Root) statRel(rel string) (Info, error) {
	fd, err := r.sys.openRel(rel, flagsLook)
	if err != nil {
		return Info{}, err
	}
	defer syscall.Close(fd)
	return infoAt(fd, "", unix.AT_EMPTY_PATH)
}
