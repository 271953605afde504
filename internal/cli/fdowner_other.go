//go:build !unix

package cli

import (
	"errors"
	"io/fs"
)

// mayExecute reports whether the mode has any execute permission.
func mayExecute(_ string, mode fs.FileMode) bool { return mode&0o111 != 0 }

// ownerTest refuses -o: files on this system have no Unix owner.
func ownerTest(s string) (func(path string) bool, error) {
	if s == "" {
		return nil, nil
	}
	return nil, errors.New("--owner is not available on this system")
}
