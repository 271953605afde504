//go:build (!linux && !darwin) || portable

package mounts

import "quarry/internal/rootfs"

// Mounts reports no mounts on this system, so answers rely on sweeps.
type Mounts struct{}

// Of begins to follow the mounts below the root.
func Of(*rootfs.Root) *Mounts { return &Mounts{} }

// Poll returns the paths at which mounts appeared or disappeared since the last
// call.
func (m *Mounts) Poll() []rootfs.Path { return nil }

// Below lists the mounts below the root as of the last Poll.
func (m *Mounts) Below() []Mount { return nil }

// Sum returns a hash of the current mounts below the root.
func (m *Mounts) Sum() uint64 { return 0 }

// Close stops following.
func (m *Mounts) Close() error { return nil }
