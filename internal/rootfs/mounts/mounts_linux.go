//go:build linux && !portable

package mounts

import (
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// Mounts follows the mounts below a root. It is safe for concurrent use.
//
// The kernel counts changes of the mount table inside the system call that makes them, and
// a poll of /proc/self/mountinfo reports them. So Poll sees every mount or unmount that
// returned before it was called.
type Mounts struct {
	dir string

	mu    sync.Mutex
	file  *os.File // nil without /proc; then mounts are unknown
	known []Mount
	sum   uint64        // of known
	moved []rootfs.Path // changed mounts that Poll has not reported yet
}

// Of begins to follow the mounts below the root. Close must be called.
func Of(root *rootfs.Root) *Mounts {
	m := &Mounts{dir: root.RealDir()}
	if fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		m.file = os.NewFile(uintptr(fd), "mountinfo")
		m.read()
	}
	return m
}

// Poll returns the paths at which mounts appeared or disappeared since the last
// call, nil if there are none. It is one system call unless something was mounted
// or unmounted.
func (m *Mounts) Poll() []rootfs.Path {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refresh()
	moved := m.moved
	m.moved = nil
	return moved
}

// refresh reads the table again if it has changed. m.mu must be held.
func (m *Mounts) refresh() {
	if m.file == nil || !m.changed() {
		return
	}
	before := m.known
	m.read()
	for _, p := range moved(before, m.known) {
		if !slices.Contains(m.moved, p) {
			m.moved = append(m.moved, p)
		}
	}
}

// changed reports whether the table has changed since the last call.
func (m *Mounts) changed() bool {
	fds := []unix.PollFd{{Fd: int32(m.file.Fd()), Events: unix.POLLPRI}}
	for {
		n, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			return n > 0 || err != nil
		}
	}
}

// read reads the table. If it can't be read, there are no known mounts, so the previous ones
// are reported as changed.
func (m *Mounts) read() {
	text, _ := io.ReadAll(io.NewSectionReader(m.file, 0, 1<<30))
	m.known = parse(string(text), m.dir)
	m.sum = sum(m.known)
}

// Below lists the mounts below the root as of the last Poll.
func (m *Mounts) Below() []Mount {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

// Sum returns a hash of the current mounts below the root. It is equal in two processes that see the same
// file systems there, and 0 if there are none.
func (m *Mounts) Sum() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refresh()
	return m.sum
}

// Close stops following.
func (m *Mounts) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return nil
	}
	err := m.file.Close()
	m.file = nil
	return err
}
