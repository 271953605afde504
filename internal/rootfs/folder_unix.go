//go:build (unix && !linux) || (linux && portable)

package rootfs

import (
	"io/fs"
	"os"

	"quarry/internal/rootfs/posix"
)

// folder is an open folder. The functions below are specific to this system.
type folder = posix.Folder

func openTop(dir string) (*folder, error)        { return posix.Open(dir) }
func lstatPath(path string) (Info, error)        { return posix.LstatPath(path) }
func statFile(f *os.File) (Info, error)          { return posix.StatFile(f) }
func setMode(f *os.File, mode fs.FileMode) error { return posix.SetMode(f, mode) }
