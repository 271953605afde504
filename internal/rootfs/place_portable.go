//go:build !linux || portable

package rootfs

import (
	"errors"
	"os"
)

// follow is not possible here.
func (s *sysRoot) follow(string) error {
	return errors.New("open the workspace again: on this system it can't be followed")
}

// place is of the open folder; zero where the system has no numbers.
func (s *sysRoot) place() (Place, error) {
	st, err := s.root.Stat(".")
	if err != nil {
		return Place{}, err
	}
	info := infoOfFile(st)
	return Place{info.Dev, info.Ino}, nil
}

// leadsHere reports whether a real folder stands at an absolute path and is the
// open one.
func (s *sysRoot) leadsHere(dir string) (bool, error) {
	there, err := os.Lstat(dir)
	if err != nil {
		return false, err
	}
	here, err := s.root.Stat(".")
	return err == nil && there.IsDir() && os.SameFile(here, there), err
}
