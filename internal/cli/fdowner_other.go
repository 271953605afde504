//go:build !unix

package cli

import (
	"errors"
	"io/fs"
)

// mayExecute reports a mode by which somebody may execute a file.
func mayExecute(_ string, mode fs.FileMode) bool { return mode&0o111 != 0 }

// ownerTest refuses -o: files have no such owners here.
func ownerTest(s string) (func(path string) bool, error) {
	if s == "" {
		return nil, nil
	}
	return nil, errors.New("--owner is not there on this system")
}
