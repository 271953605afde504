package windows

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"quarry/internal/rootfs/file"
)

// errShared is a sharing violation: another program has the file open in a way that forbids our access.
var errShared = fmt.Errorf("%w, or keeps others out; close it there", file.ErrBusy)

var errNUL = errors.New("a path can't contain a NUL byte")

const (
	shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// noFollow opens a reparse point itself. The backup intent lets folders be
	// opened; without the backup privilege it grants nothing.
	noFollow = windows.FILE_OPEN_REPARSE_POINT | windows.FILE_OPEN_FOR_BACKUP_INTENT | windows.FILE_SYNCHRONOUS_IO_NONALERT
	follow   = noFollow &^ windows.FILE_OPEN_REPARSE_POINT

	accessInfo  = windows.FILE_READ_ATTRIBUTES | windows.SYNCHRONIZE
	accessDir   = windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE | accessInfo
	accessRead  = windows.FILE_GENERIC_READ
	accessWrite = windows.FILE_GENERIC_WRITE | windows.FILE_READ_ATTRIBUTES
)

// ntOpen opens name in the open folder dir, or dir again if name is empty. The system takes
// the name literally, except for a separator, which callers never pass, and a colon, which
// starts the name of a stream.
func ntOpen(dir windows.Handle, name string, access, share, disposition, options uint32) (windows.Handle, error) {
	u, err := ntString(name)
	if err != nil {
		return 0, err
	}
	oa := windows.OBJECT_ATTRIBUTES{
		Length:        uint32(unsafe.Sizeof(windows.OBJECT_ATTRIBUTES{})),
		RootDirectory: dir,
		ObjectName:    u,
		Attributes:    windows.OBJ_CASE_INSENSITIVE,
	}
	var h windows.Handle
	var io windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&h, access, &oa, &io, nil, windows.FILE_ATTRIBUTE_NORMAL, share, disposition, options, 0, 0)
	if err != nil {
		return 0, ntErr(err)
	}
	return h, nil
}

// ntString converts a name, including unpaired surrogates, which Go encodes as three bytes
// each and UTF16FromString restores.
func ntString(name string) (*windows.NTUnicodeString, error) {
	u, err := syscall.UTF16FromString(name)
	if err != nil {
		return nil, errNUL
	}
	n := uint16(len(u)-1) * 2
	return &windows.NTUnicodeString{Length: n, MaximumLength: n + 2, Buffer: &u[0]}, nil
}

// ntErr converts errors of the native API to errors that the rest of the package handles.
func ntErr(err error) error {
	s, ok := err.(windows.NTStatus)
	if !ok {
		return err
	}
	switch s {
	case windows.STATUS_NOT_A_DIRECTORY:
		return syscall.ENOTDIR
	case windows.STATUS_FILE_IS_A_DIRECTORY:
		return syscall.EISDIR
	case windows.STATUS_OBJECT_NAME_COLLISION:
		return syscall.EEXIST
	case windows.STATUS_DIRECTORY_NOT_EMPTY:
		return syscall.ENOTEMPTY
	case windows.STATUS_OBJECT_NAME_NOT_FOUND, windows.STATUS_OBJECT_PATH_NOT_FOUND, windows.STATUS_NO_SUCH_FILE, windows.STATUS_DELETE_PENDING:
		return syscall.ENOENT
	case windows.STATUS_SHARING_VIOLATION, windows.STATUS_USER_MAPPED_FILE:
		return errShared
	case windows.STATUS_NOT_SAME_DEVICE:
		return syscall.EXDEV
	case windows.STATUS_REPARSE_POINT_ENCOUNTERED, windows.STATUS_STOPPED_ON_SYMLINK:
		return file.ErrSwapped
	case windows.STATUS_MEDIA_WRITE_PROTECTED:
		return syscall.EROFS
	case windows.STATUS_CANNOT_DELETE, windows.STATUS_ACCESS_DENIED:
		return syscall.EACCES
	case windows.STATUS_NAME_TOO_LONG:
		return syscall.ENAMETOOLONG
	case windows.STATUS_INVALID_HANDLE:
		return file.ErrClosed
	}
	return s.Errno()
}

// tooNew reports whether an error means that the system or the file system lacks an
// information class: FAT lacks POSIX semantics, and Wine before 9 both classes used here.
func tooNew(err error) bool {
	switch err {
	case windows.STATUS_INVALID_INFO_CLASS, windows.STATUS_INVALID_PARAMETER, windows.STATUS_NOT_SUPPORTED,
		windows.STATUS_NOT_IMPLEMENTED, windows.STATUS_INVALID_DEVICE_REQUEST:
		return true
	}
	return false
}

// patiently retries a call for a tenth of a second, because virus scanners and indexers may briefly block it.
func patiently(try func() error) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := try()
		if err != errShared && err != syscall.EACCES || pause > 64*time.Millisecond {
			return err
		}
		time.Sleep(pause)
	}
}

// ntRename gives an open file the name base in folder dir.
func ntRename(h, dir windows.Handle, base string, over bool) error {
	const fileRenameInformationEx = 65
	name, err := ntString(base)
	if err != nil {
		return err
	}
	// FILE_RENAME_INFORMATION: flags or a boolean, the folder, the length in
	// bytes, the name.
	type header struct {
		flags  uint32
		root   windows.Handle
		length uint32
	}
	at := unsafe.Offsetof(header{}.length) + 4
	buf := make([]byte, max(at+uintptr(name.Length), unsafe.Sizeof(header{})))
	head := (*header)(unsafe.Pointer(&buf[0]))
	head.root, head.length = dir, uint32(name.Length)
	copy(buf[at:], unsafe.Slice((*byte)(unsafe.Pointer(name.Buffer)), name.Length))
	head.flags = windows.FILE_RENAME_POSIX_SEMANTICS
	if over {
		head.flags |= windows.FILE_RENAME_REPLACE_IF_EXISTS
	}
	var io windows.IO_STATUS_BLOCK
	err = windows.NtSetInformationFile(h, &io, &buf[0], uint32(len(buf)), fileRenameInformationEx)
	if tooNew(err) {
		head.flags &= windows.FILE_RENAME_REPLACE_IF_EXISTS
		err = windows.NtSetInformationFile(h, &io, &buf[0], uint32(len(buf)), windows.FileRenameInformation)
	}
	return ntErr(err)
}

// ntDelete deletes an open entry. If the file system can, the name disappears at once, even if
// other programs have the entry open.
func ntDelete(h windows.Handle) error {
	flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
	var io windows.IO_STATUS_BLOCK
	err := windows.NtSetInformationFile(h, &io, (*byte)(unsafe.Pointer(&flags)), 4, windows.FileDispositionInformationEx)
	if tooNew(err) {
		yes := byte(1)
		err = windows.NtSetInformationFile(h, &io, &yes, 1, windows.FileDispositionInformation)
	}
	return ntErr(err)
}

// basicInfo is FILE_BASIC_INFO. Times of 0 are not set.
type basicInfo struct {
	creation, access, write, change int64 // ticks of 100 ns since 1601
	attributes                      uint32
	_                               uint32
}

func getBasic(h windows.Handle) (b basicInfo, err error) {
	err = windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&b)), uint32(unsafe.Sizeof(b)))
	return b, err
}

func setBasic(h windows.Handle, b basicInfo) error {
	return windows.SetFileInformationByHandle(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&b)), uint32(unsafe.Sizeof(b)))
}

// epoch is 1970 in ticks since 1601.
const epoch = 116444736000000000

func timeOfTicks(t int64) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(0, 0).Add(time.Duration(t-epoch) * 100) // valid until 2262
}

func ticksOf(t time.Time) int64 { return t.UnixNano()/100 + epoch }

// nameSurrogate is the bit of a reparse tag that marks a link to another path. Without it the tag describes how
// the content is stored (OneDrive, deduplication, compression), and the file is a regular one.
const nameSurrogate = 0x20000000

func typeOfAttributes(attributes, tag uint32) file.Type {
	switch {
	case attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 && tag&nameSurrogate != 0:
		if tag == windows.IO_REPARSE_TAG_SYMLINK || tag == windows.IO_REPARSE_TAG_MOUNT_POINT {
			return file.TypeSymlink
		}
		return file.TypeOther
	case attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return file.TypeDir
	case attributes&windows.FILE_ATTRIBUTE_DEVICE != 0:
		return file.TypeOther
	}
	return file.TypeFile
}

// ReparseTag returns the reparse tag of a file, or 0 if it has none.
func ReparseTag(h windows.Handle) (uint32, error) {
	var info struct{ attributes, tag uint32 }
	err := windows.GetFileInformationByHandleEx(h, windows.FileAttributeTagInfo, (*byte)(unsafe.Pointer(&info)), 8)
	if err != nil || info.attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT == 0 {
		return 0, err
	}
	return info.tag, nil
}

// infoOfHandle describes an open file. stored reports whether its content has a special storage, so that it
// must be opened through its reparse point.
func infoOfHandle(h windows.Handle) (info file.Info, stored bool, err error) {
	var st windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &st); err != nil {
		return file.Info{}, false, err
	}
	var tag uint32
	if st.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		if tag, err = ReparseTag(h); err != nil {
			return file.Info{}, false, err
		}
	}
	info = file.Info{
		Type:      typeOfAttributes(st.FileAttributes, tag),
		Mode:      modeOfAttributes(st.FileAttributes),
		Size:      int64(st.FileSizeHigh)<<32 | int64(st.FileSizeLow),
		ModTime:   time.Unix(0, st.LastWriteTime.Nanoseconds()),
		BirthTime: time.Unix(0, st.CreationTime.Nanoseconds()),
		Ino:       uint64(st.FileIndexHigh)<<32 | uint64(st.FileIndexLow),
		Dev:       uint64(st.VolumeSerialNumber),
		Nlink:     st.NumberOfLinks,
	}
	if info.Type == file.TypeDir {
		info.Size = 0
	}
	if b, err := getBasic(h); err == nil {
		info.ChangeTime = timeOfTicks(b.change)
	}
	return info, tag != 0 && tag&nameSurrogate == 0, nil
}

func modeOfAttributes(a uint32) fs.FileMode {
	switch {
	case a&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return 0o777
	case a&windows.FILE_ATTRIBUTE_READONLY != 0:
		return 0o444
	}
	return 0o666
}
