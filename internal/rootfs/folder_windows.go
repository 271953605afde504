package rootfs

import (
	"io/fs"
	"os"

	"quarry/internal/rootfs/windows"
)

// folder is an open folder. The functions below are specific to this system.
type folder = windows.Folder

func openTop(dir string) (*folder, error)        { return windows.Open(dir) }
func lstatPath(path string) (Info, error)        { return windows.LstatPath(path) }
func statFile(f *os.File) (Info, error)          { return windows.StatFile(f) }
func setMode(f *os.File, mode fs.FileMode) error { return windows.SetMode(f, mode) }
