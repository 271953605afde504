//go:build linux && !portable

package rootfs

import (
	"cmp"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const backslashSeparates = false

// pathEqual compares absolute paths as the system does.
func pathEqual(a, b string) bool { return a == b }

// sysRoot is a root as Linux sees it: an open folder.
type sysRoot struct {
	fd   int
	refs atomic.Int32 // number of users of fd, plus one while open: closing must not free a number that is in use
	// A test listens here; see Layer. All are nil otherwise.
	hook  func(call) error
	after func(Event)
	boot  string
	// byName walks name by name with openat, for kernels before 5.6 and
	// sandboxes that forbid openat2.
	byName bool
	kind   atomic.Uint32 // an FSKind

	selfOnce sync.Once
	self     owner // see Root.owner

	linger linger
}

const (
	// Every open stays beneath the root and crosses no magic link. No symlink is
	// followed either: a Path has none. If one appeared since, the path is
	// resolved and checked again.
	resolveFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS

	flagsFile = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	flagsDir  = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	flagsLook = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW

	// The kernel takes 4096 bytes with the NUL; longer paths go in steps.
	kernelPath = 4095
)

func (s *sysRoot) open(dir string) error {
	fd, err := syscall.Open(dir, flagsDir&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	s.fd = fd
	s.refs.Store(1)
	probe, err := openat2(fd, ".", flagsLook, resolveFlags)
	if err == nil {
		syscall.Close(probe)
	} else {
		s.byName = true // ENOSYS, or EPERM from an old container's filter
	}
	s.setKind()
	return nil
}

func (s *sysRoot) setKind() { s.kind.Store(uint32(fsKind(s.fd))) }

func (s *sysRoot) listen(l *Layer) {
	if l.Before != nil {
		s.hook = func(c call) error { return l.Before(string(c)) }
	}
	s.after, s.boot = l.After, l.Boot
}

func (s *sysRoot) close() error { s.release(); return nil }

func (s *sysRoot) acquire() error {
	for {
		n := s.refs.Load()
		if n <= 0 {
			return ErrClosed
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

func (s *sysRoot) release() {
	if s.refs.Add(-1) == 0 {
		syscall.Close(s.fd)
	}
}

// openRel opens a cleaned relative path beneath the root. A symlink anywhere in
// it is errSwapped. Only with O_PATH a symlink at the end is opened itself.
func (s *sysRoot) openRel(rel string, flags int) (int, error) {
	if err := s.acquire(); err != nil {
		return -1, err
	}
	defer s.release()
	rel = cmp.Or(rel, ".")
	if s.byName {
		return openByName(s.fd, rel, flags)
	}
	if len(rel) <= kernelPath {
		return openBeneath(s.fd, rel, flags)
	}
	at, owned := s.fd, false
	for len(rel) > kernelPath {
		cut := strings.LastIndexByte(rel[:kernelPath], '/')
		fd, err := openBeneath(at, rel[:cut], flagsLook|unix.O_DIRECTORY)
		if owned {
			syscall.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at, owned, rel = fd, true, rel[cut+1:]
	}
	fd, err := openBeneath(at, rel, flags)
	syscall.Close(at)
	return fd, err
}

func openBeneath(at int, rel string, flags int) (int, error) {
	// EAGAIN means that a rename or mount happened meanwhile; try again.
	for range 256 {
		fd, err := openat2(at, rel, flags, resolveFlags)
		switch err {
		case nil:
			return fd, nil
		case unix.EAGAIN, unix.EINTR:
			continue
		case unix.ELOOP:
			return -1, errSwapped
		case unix.ENOTDIR:
			// O_DIRECTORY on a symlink at the end says ENOTDIR.
			if flags&unix.O_DIRECTORY != 0 {
				if look, e := openat2(at, rel, flagsLook, resolveFlags); e == nil {
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
		return errSwapped
	}
	return unix.ENOTDIR
}

// openByName is openBeneath without openat2: each name by itself, following
// nothing. ".." never occurs in a cleaned path, so it stays beneath.
func openByName(at int, rel string, flags int) (int, error) {
	dir, owned := at, false
	for {
		name, rest, more := strings.Cut(rel, "/")
		f := flags | unix.O_NOFOLLOW
		if more {
			f = flagsLook
		}
		fd, err := openat(dir, name, f, 0)
		if err == unix.ENOTDIR && f&unix.O_DIRECTORY != 0 {
			if look, e := openat(dir, name, flagsLook, 0); e == nil {
				err = notDirOrLink(look)
			}
		}
		if owned {
			syscall.Close(dir)
		}
		if err == unix.ELOOP {
			return -1, errSwapped
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
			return -1, errSwapped
		default:
			syscall.Close(fd)
			return -1, unix.ENOTDIR
		}
		dir, owned, rel = fd, true, rest
	}
}

// probe looks at a cleaned path without following any symlink: its type, and
// the target if it is a symlink.
func (s *sysRoot) probe(rel string) (Type, string, error) {
	if rel == "" {
		return TypeDir, "", nil
	}
	fd, err := s.openRel(rel, flagsLook)
	if err != nil {
		return TypeUnknown, "", err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return TypeUnknown, "", err
	}
	t := typeOfMode(st.Mode)
	if t != TypeSymlink {
		return t, "", nil
	}
	target, err := readlink(fd)
	return t, target, err
}

func readlink(fd int) (string, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(fd, "", buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
		if size > maxPath {
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

// openat2 and openat are those of x/sys without their two allocations: a search
// makes 78,000 of these calls.
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

func openat(at int, path string, flags int, mode uint32) (int, error) {
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

func typeOfMode(mode uint32) Type {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return TypeFile
	case syscall.S_IFDIR:
		return TypeDir
	case syscall.S_IFLNK:
		return TypeSymlink
	}
	return TypeOther
}

// fsKind reads the magic number of the file system.
func fsKind(fd int) FSKind {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return FSUnknown
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.RAMFS_MAGIC,
		unix.REISERFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1,
		unix.ISOFS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, 0x2FC12FC1 /* zfs */, 0x3153464A /* jfs */ :
		if folds(fd) {
			return FSUnknown
		}
		return FSLocal
	// vfat, exFAT and ntfs3 fold names, as the ext4 above may: an event has the name that
	// a program used, which need not be that of the file.
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, 0x786F4256 /* vboxsf */, 0x6A656A63 /* prl_fs */ :
		return FSNetwork
	}
	return FSUnknown
}

// folds reports whether names in another case mean the same file in a folder (chattr +F).
func folds(fd int) bool {
	const flag = 0x40000000 // FS_CASEFOLD_FL
	got, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && got&flag != 0
}

// FSKind says whether changes by other machines can be noticed: local, network,
// or unknown. 9p and FUSE count as network, since this kernel does not know what
// is behind them.
func (r *Root) FSKind() FSKind { return FSKind(r.sys.kind.Load()) }
