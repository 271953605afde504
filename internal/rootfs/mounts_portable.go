//go:build !linux || portable

package rootfs

// Mounts knows nothing here: answers rest on sweeps, which list what is there.
type Mounts struct{}

// Mounts begins to follow the mounts below the root.
func (r *Root) Mounts() *Mounts { return &Mounts{} }

// Poll tells where mounts came or went since the last call.
func (m *Mounts) Poll() []Path { return nil }

// Below lists the mounts below the root as of the last Poll.
func (m *Mounts) Below() []Mount { return nil }

// Sum stands for what is mounted below the root now.
func (m *Mounts) Sum() uint64 { return 0 }

// Close stops following.
func (m *Mounts) Close() error { return nil }
