//go:build !windows && !darwin

package rootfs

// spelling returns rel, since names have a single spelling on this system.
func (s *sysRoot) spelling(rel string, typed bool) (string, error) { return rel, nil }
