//go:build unix && !linux && !darwin

package posix

import "quarry/internal/rootfs/file"

// Exchange is not supported on this system.
func (d *Folder) Exchange(a, b string) error { return file.ErrNoExchange }
