//go:build linux && !portable

package rootfs

import (
	"cmp"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/linux"
)

const backslashSeparates = false

// pathEqual compares absolute paths as the system does.
func pathEqual(a, b string) bool { return a == b }

// sysRoot is the part of a Root that depends on the system: an open folder.
type sysRoot struct {
	fd   int
	refs atomic.Int32 // number of users of fd, plus one while open; fd is closed at 0, so its number isn't reused too early
	linux.Calls
	// byName opens paths name by name with openat, for kernels before 5.6 and sandboxes that
	// forbid openat2.
	byName bool
	kind   atomic.Uint32 // an FSKind

	selfOnce sync.Once
	self     owner // see Root.owner

	linger linger
}

func (s *sysRoot) open(dir string) error {
	fd, err := syscall.Open(dir, linux.FlagsDir&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	s.fd = fd
	s.refs.Store(1)
	s.byName = !linux.HasOpenat2(fd)
	s.setKind()
	return nil
}

func (s *sysRoot) setKind() { s.kind.Store(uint32(linux.KindOf(s.fd))) }

func (s *sysRoot) listen(l *Layer) { s.Calls.Layer = l }

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

// openRel opens a cleaned relative path beneath the root; see linux.OpenBeneath.
func (s *sysRoot) openRel(rel string, flags int) (int, error) {
	if err := s.acquire(); err != nil {
		return -1, err
	}
	defer s.release()
	rel = cmp.Or(rel, ".")
	if s.byName {
		return linux.OpenByName(s.fd, rel, flags)
	}
	if len(rel) <= linux.MaxPath {
		return linux.OpenBeneath(s.fd, rel, flags)
	}
	at, owned := s.fd, false
	for len(rel) > linux.MaxPath {
		cut := strings.LastIndexByte(rel[:linux.MaxPath], '/')
		fd, err := linux.OpenBeneath(at, rel[:cut], linux.FlagsLook|unix.O_DIRECTORY)
		if owned {
			syscall.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at, owned, rel = fd, true, rel[cut+1:]
	}
	fd, err := linux.OpenBeneath(at, rel, flags)
	syscall.Close(at)
	return fd, err
}

// probe returns the type of a cleaned path, and its target if it is a symlink. It follows no
// symlink.
func (s *sysRoot) probe(rel string) (Type, string, error) {
	if rel == "" {
		return TypeDir, "", nil
	}
	fd, err := s.openRel(rel, linux.FlagsLook)
	if err != nil {
		return TypeUnknown, "", err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return TypeUnknown, "", err
	}
	t := linux.TypeOfMode(st.Mode)
	if t != TypeSymlink {
		return t, "", nil
	}
	target, err := linux.Readlink(fd)
	return t, target, err
}

// FSKind returns the kind of file system. 9p and FUSE count as network, since this kernel does not know their
// storage.
func (r *Root) FSKind() FSKind { return FSKind(r.sys.kind.Load()) }

func (r *Root) statRel(rel string) (Info, error) {
	fd, err := r.sys.openRel(rel, linux.FlagsLook)
	if err != nil {
		return Info{}, err
	}
	defer syscall.Close(fd)
	return linux.InfoOf(fd)
}
