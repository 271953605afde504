//go:build !portable

package mounts

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// Mounts follows the volumes that are mounted below a root.
type Mounts struct {
	root *rootfs.Root
	last []Mount
}

// Of begins to follow the volumes below the root.
func Of(root *rootfs.Root) *Mounts {
	m := &Mounts{root: root}
	m.last = m.now()
	return m
}

// Poll returns the paths at which volumes appeared or disappeared since the last
// call.
func (m *Mounts) Poll() []rootfs.Path {
	now := m.now()
	came := moved(m.last, now)
	m.last = now
	return came
}

// Below lists the volumes below the root as of the last Poll.
func (m *Mounts) Below() []Mount { return m.last }

// Sum returns a hash of the current mounts below the root.
func (m *Mounts) Sum() uint64 { return sum(m.now()) }

// Close stops following.
func (m *Mounts) Close() error { return nil }

func (m *Mounts) now() []Mount {
	top, err := m.root.TruePath()
	if err != nil {
		return nil
	}
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return nil
	}
	all := make([]unix.Statfs_t, n+8) // more may be mounted in the meantime
	if n, err = unix.Getfsstat(all, unix.MNT_NOWAIT); err != nil {
		return nil
	}
	var out []Mount
	for _, st := range all[:n] {
		rel, ok := strings.CutPrefix(unix.ByteSliceToString(st.Mntonname[:]), strings.TrimSuffix(top, "/")+"/")
		if !ok || rel == "" {
			continue
		}
		v := Mount{Device: fmt.Sprint(st.Fsid.Val), Source: unix.ByteSliceToString(st.Mntfromname[:])}
		for name := range strings.SplitSeq(rel, "/") {
			if v.At, err = v.At.Child(name); err != nil {
				break
			}
		}
		out = append(out, v)
	}
	return out
}
