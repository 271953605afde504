package windows

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"quarry/internal/rootfs/file"
)

// CreateLike makes an empty file with the metadata of old: access rights, attributes, birth
// time and streams. kept is false if that isn't possible, because old is encrypted or
// compressed, is stored by OneDrive or deduplication, belongs to another user, or has
// extended attributes. Then it must be rewritten in place.
func (d *Folder) CreateLike(name string, old *os.File, base string, _ file.Info) (f *os.File, kept bool, err error) {
	var b basicInfo
	var sd *windows.SECURITY_DESCRIPTOR
	err = control(old, func(h windows.Handle) error {
		if b, err = getBasic(h); err != nil {
			return err
		}
		sd, err = windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
		kept = err == nil && storedPlainly(h, b.attributes)
		return nil
	})
	if err != nil || !kept {
		return nil, false, err
	}
	if f, err = d.Create(name, 0); err != nil {
		return nil, false, err
	}
	err = control(f, func(h windows.Handle) error {
		kept = sameRights(h, sd)
		return nil
	})
	if err == nil && kept {
		kept, err = d.copyStreams(old, base, name)
	}
	if err == nil && kept {
		err = control(f, func(h windows.Handle) error {
			return setBasic(h, basicInfo{creation: b.creation, attributes: b.attributes})
		})
	}
	if err != nil || !kept {
		f.Close()
		d.Remove(name)
		return nil, false, err
	}
	return f, true, nil
}

// storedPlainly reports whether a new file can get the same storage and attributes.
func storedPlainly(h windows.Handle, attributes uint32) bool {
	const special = windows.FILE_ATTRIBUTE_ENCRYPTED | windows.FILE_ATTRIBUTE_COMPRESSED | windows.FILE_ATTRIBUTE_REPARSE_POINT |
		windows.FILE_ATTRIBUTE_SPARSE_FILE | windows.FILE_ATTRIBUTE_OFFLINE
	if attributes&special != 0 {
		return false
	}
	const fileEaInformation = 7
	var size uint32
	var io windows.IO_STATUS_BLOCK
	err := windows.NtQueryInformationFile(h, &io, (*byte)(unsafe.Pointer(&size)), 4, fileEaInformation)
	return err != nil || size == 0
}

// sameRights sets the access rights of a new file to want, and reports whether they are equal.
// It fails if the owners differ.
func sameRights(h windows.Handle, want *windows.SECURITY_DESCRIPTOR) bool {
	have, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	if have.String() == want.String() {
		return true
	}
	a, _, errA := have.Owner()
	b, _, errB := want.Owner()
	if errA != nil || errB != nil || !a.Equals(b) {
		return false
	}
	dacl, _, err := want.DACL()
	if err != nil {
		return false
	}
	info := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION | windows.UNPROTECTED_DACL_SECURITY_INFORMATION)
	if c, _, err := want.Control(); err == nil && c&windows.SE_DACL_PROTECTED != 0 {
		info = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	return windows.SetSecurityInfo(h, windows.SE_FILE_OBJECT, info, nil, nil, dacl, nil) == nil
}

// maxStream is the size of the largest stream that is copied. The most common stream, the
// origin of a download, has 200 bytes.
const maxStream = 4 << 20

// streamInfo is FILE_STREAM_INFO up to its name.
type streamInfo struct {
	next, nameLength uint32
	size, allocation int64
	name             [1]uint16
}

func (d *Folder) copyStreams(old *os.File, base, name string) (bool, error) {
	var streams []string
	kept := true
	err := control(old, func(h windows.Handle) error {
		space := make([]uint64, 8<<10)
		block := unsafe.Pointer(&space[0])
		switch err := windows.GetFileInformationByHandleEx(h, windows.FileStreamInfo, (*byte)(block), uint32(len(space)*8)); err {
		case nil:
		case windows.ERROR_HANDLE_EOF, windows.ERROR_INVALID_PARAMETER, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_FUNCTION,
			windows.ERROR_CALL_NOT_IMPLEMENTED, windows.ERROR_INVALID_LEVEL:
			return nil // a file system without streams
		default:
			kept = false
			return nil
		}
		for at := uintptr(0); ; {
			e := (*streamInfo)(unsafe.Add(block, at))
			stream := syscall.UTF16ToString(unsafe.Slice(&e.name[0], e.nameLength/2))
			if stream != "::$DATA" && e.nameLength > 0 {
				kept = kept && e.size <= maxStream && strings.HasSuffix(stream, ":$DATA")
				streams = append(streams, stream)
			}
			if e.next == 0 {
				return nil
			}
			at += uintptr(e.next)
		}
	})
	if err != nil || !kept {
		return false, err
	}
	for _, stream := range streams {
		if err := d.copyStream(base+stream, name+stream); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (d *Folder) copyStream(from, to string) error {
	in, err := d.open(from, accessRead, shareAll, windows.FILE_OPEN, noFollow)
	if err != nil {
		return err
	}
	src := os.NewFile(uintptr(in), from)
	defer src.Close()
	out, err := d.open(to, accessWrite, shareAll, windows.FILE_CREATE, noFollow)
	if err != nil {
		return err
	}
	dst := os.NewFile(uintptr(out), to)
	if _, err := dst.ReadFrom(src); err != nil {
		dst.Close()
		return err
	}
	return dst.Close()
}

// Hold keeps other programs from writing to the file until release is called, so that exactly the compared
// content is replaced. held is false if a program has it open for writing, or the system has no such lock.
func (d *Folder) Hold(name string) (release func(), held bool) {
	h, err := d.open(name, accessRead, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, windows.FILE_OPEN, noFollow)
	if err != nil {
		return func() {}, false
	}
	return func() { windows.CloseHandle(h) }, true
}

// SetMode only sets whether a new file is writable. Its other rights are inherited from the
// folder.
func SetMode(f *os.File, mode fs.FileMode) error {
	return control(f, func(h windows.Handle) error { return setWritable(h, mode&0o200 != 0) })
}
