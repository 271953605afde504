//go:build linux && !portable

package rootfs

import "quarry/internal/rootfs/linux"

func (s *sysRoot) openInside(above *sysRoot, rel string) error {
	fd, err := above.openRel(rel, linux.FlagsDir)
	if err != nil {
		return err
	}
	s.fd, s.byName = fd, above.byName
	s.refs.Store(1)
	s.setKind()
	return nil
}
