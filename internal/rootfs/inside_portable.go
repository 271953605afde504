//go:build !linux || portable

package rootfs

func (s *sysRoot) openInside(above *sysRoot, rel string) error {
	h, err := above.openDir(rel)
	if err == nil {
		s.top.Store(h)
	}
	return err
}
