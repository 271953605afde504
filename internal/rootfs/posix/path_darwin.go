package posix

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Path returns the kernel's path of an entry of the folder, or of the folder for ".".
func (d *Folder) Path(name string) (string, error) {
	f, err := d.h.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, unix.PathMax)
	var pin runtime.Pinner
	pin.Pin(&buf[0])
	defer pin.Unpin()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0])))); err != nil {
		return "", err
	}
	n := 0
	for n < len(buf) && buf[n] != 0 {
		n++
	}
	return string(buf[:n]), nil
}
