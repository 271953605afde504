//go:build !linux || portable

package rootfs

// follow opens the folder at dir instead of the current one, which stays open for calls
// in progress.
func (s *sysRoot) follow(dir string) error {
	next, err := openTop(dir)
	if err != nil {
		return err
	}
	old := s.top.Load()
	was, err := old.Stat()
	if err == nil {
		var now Info
		if now, err = next.Stat(); err == nil && now.UID != was.UID {
			err = errOtherUser
		}
	}
	if err != nil {
		next.Close()
		return err
	}
	s.top.Store(next)
	s.left = append(s.left, old)
	return nil
}

// place identifies the open folder. It is zero if the system has no inode numbers.
func (s *sysRoot) place() (Place, error) {
	info, err := s.root().Stat()
	return Place{info.Dev, info.Ino}, err
}

// leadsHere reports whether an absolute path leads to the open folder and is not a symlink.
func (s *sysRoot) leadsHere(dir string) (bool, error) {
	there, err := lstatPath(dir)
	if err != nil {
		return false, err
	}
	here, err := s.root().Stat()
	return err == nil && there.Type == TypeDir && here.SameFile(there), err
}
