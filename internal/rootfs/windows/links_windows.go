package windows

import (
	"encoding/binary"
	"strings"
	"syscall"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/names"
)

// maxReparse is the maximum size of a reparse point.
const maxReparse = 16 << 10

// Readlink returns the target of a symlink or junction, as a path of this system.
func (d *Folder) Readlink(name string) (target string, err error) {
	err = d.with(name, accessInfo, func(h windows.Handle) error {
		buf := make([]byte, maxReparse)
		var n uint32
		if err := windows.DeviceIoControl(h, windows.FSCTL_GET_REPARSE_POINT, nil, 0, &buf[0], uint32(len(buf)), &n, nil); err != nil {
			return err
		}
		target, err = parseReparse(buf[:n])
		return err
	})
	return target, err
}

// parseReparse reads a REPARSE_DATA_BUFFER: the tag, the length of the rest, and two reserved bytes; then the
// positions of the substitute name and of the printed one in the text, flags for symlinks, and the text in
// UTF-16.
func parseReparse(b []byte) (string, error) {
	if len(b) < 16 {
		return "", syscall.EINVAL
	}
	tag := binary.LittleEndian.Uint32(b)
	off, n := int(binary.LittleEndian.Uint16(b[8:])), int(binary.LittleEndian.Uint16(b[10:]))
	text, relative := b[16:], false
	switch tag {
	case windows.IO_REPARSE_TAG_MOUNT_POINT:
	case windows.IO_REPARSE_TAG_SYMLINK:
		if len(text) < 4 {
			return "", syscall.EINVAL
		}
		relative = binary.LittleEndian.Uint32(text)&1 != 0
		text = text[4:]
	default:
		return "", syscall.EINVAL
	}
	if off+n > len(text) || n%2 != 0 {
		return "", syscall.EINVAL
	}
	u := make([]uint16, n/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(text[off+2*i:])
	}
	target := syscall.UTF16ToString(u)
	if relative {
		return target, nil
	}
	return names.Plain(target), nil
}

// longPath returns the form of an absolute path that may exceed 260 characters and in which
// names have no special meaning.
func longPath(p string) string {
	switch {
	case strings.HasPrefix(p, `\\?\`), strings.HasPrefix(p, `\\.\`):
		return p
	case strings.HasPrefix(p, `\\`):
		return `\\?\UNC\` + p[2:]
	case len(p) >= 3 && p[1] == ':' && p[2] == '\\':
		return `\\?\` + p
	}
	return p
}

// Symlink makes a symlink. toDir says whether it leads to a folder, which the system requires.
// It needs developer mode or the privilege to make symlinks.
func (d *Folder) Symlink(target, name string, toDir bool) error {
	kind := uint32(windows.FILE_NON_DIRECTORY_FILE)
	if toDir {
		kind = windows.FILE_DIRECTORY_FILE
	}
	h, err := d.open(name, accessInfo|windows.FILE_WRITE_ATTRIBUTES|windows.FILE_WRITE_DATA|windows.DELETE, shareAll, windows.FILE_CREATE, noFollow|kind)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	data := ReparseOf(target)
	var n uint32
	err = windows.DeviceIoControl(h, windows.FSCTL_SET_REPARSE_POINT, &data[0], uint32(len(data)), nil, 0, &n, nil)
	if err == nil {
		// If a driver ignores the request, the entry is an ordinary file.
		var tag uint32
		if tag, err = ReparseTag(h); err == nil && tag == 0 {
			err = windows.ERROR_NOT_SUPPORTED
		}
	}
	if err != nil {
		ntDelete(h)
	}
	return err
}

// ReparseOf returns the REPARSE_DATA_BUFFER of a symlink.
func ReparseOf(target string) []byte {
	target = strings.ReplaceAll(target, "/", `\`)
	substitute, flags := target, uint32(1)
	if len(target) >= 2 && target[1] == ':' || strings.HasPrefix(target, `\\`) {
		substitute, flags = `\??\`+strings.TrimPrefix(longPath(target), `\\?\`), 0
	}
	sub, shown := utf16.Encode([]rune(substitute)), utf16.Encode([]rune(target))
	text := append(append([]uint16{}, sub...), shown...)
	b := make([]byte, 20+2*len(text))
	binary.LittleEndian.PutUint32(b, windows.IO_REPARSE_TAG_SYMLINK)
	binary.LittleEndian.PutUint16(b[4:], uint16(len(b)-8))
	binary.LittleEndian.PutUint16(b[8:], 0)
	binary.LittleEndian.PutUint16(b[10:], uint16(2*len(sub)))
	binary.LittleEndian.PutUint16(b[12:], uint16(2*len(sub)))
	binary.LittleEndian.PutUint16(b[14:], uint16(2*len(shown)))
	binary.LittleEndian.PutUint32(b[16:], flags)
	for i, u := range text {
		binary.LittleEndian.PutUint16(b[20+2*i:], u)
	}
	return b
}

// finalPath returns the path of an open file in the spelling of the disk, with true case and long names. It
// omits the volume, which may be accessible under several names.
func finalPath(h windows.Handle) (string, error) {
	const volumeNameNone = 4
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), volumeNameNone)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return syscall.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n+1)
	}
}

// FSKind returns the kind of file system.
func (d *Folder) FSKind() file.FSKind {
	kind := file.FSUnknown
	d.use(func(h windows.Handle) error {
		var info struct{ device, characteristics uint32 }
		var io windows.IO_STATUS_BLOCK
		if err := ntQueryVolume(h, &io, unsafe.Pointer(&info), 8, 4); err != nil {
			return err
		}
		const remote = 0x10 // FILE_REMOTE_DEVICE
		if kind = file.FSLocal; info.characteristics&remote != 0 {
			kind = file.FSNetwork
		}
		return nil
	})
	return kind
}

var procQueryVolume = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtQueryVolumeInformationFile")

func ntQueryVolume(h windows.Handle, io *windows.IO_STATUS_BLOCK, out unsafe.Pointer, size, class uint32) error {
	r, _, _ := syscall.SyscallN(procQueryVolume.Addr(), uintptr(h), uintptr(unsafe.Pointer(io)), uintptr(out), uintptr(size), uintptr(class))
	if r != 0 {
		return ntErr(windows.NTStatus(r))
	}
	return nil
}

// FinalPath is finalPath for an entry of the folder, or for the folder itself if name is empty.
func (d *Folder) FinalPath(name string) (path string, err error) {
	err = d.with(name, accessInfo, func(h windows.Handle) error {
		path, err = finalPath(h)
		return err
	})
	return path, err
}
