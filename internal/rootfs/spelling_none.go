//go:build !windows && !darwin

package rootfs

// spelling returns rel: names have one spelling here.
func (s *sysRoot) spelling(rel string, typed bool) (string, error) { return rel, nil }
