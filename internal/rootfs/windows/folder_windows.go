package windows

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"quarry/internal/rootfs/file"
)

// Folder is an open folder. See the package comment on reparse points.
type Folder struct {
	mu sync.RWMutex // keeps the handle open while it is used, since a closed handle's number is reused
	h  windows.Handle
}

// Open opens the folder at an absolute path, following links.
func Open(dir string) (*Folder, error) {
	h, err := openPath(dir, accessDir, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return nil, err
	}
	info, _, err := infoOfHandle(h)
	if err == nil && info.Type != file.TypeDir {
		err = syscall.ENOTDIR
	}
	if err != nil {
		windows.CloseHandle(h)
		return nil, err
	}
	return &Folder{h: h}, nil
}

func openPath(path string, access, flags uint32) (windows.Handle, error) {
	u, err := windows.UTF16PtrFromString(longPath(path))
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(u, access, shareAll, nil, windows.OPEN_EXISTING, flags, 0)
}

// use calls f with the handle, which stays open during the call.
func (d *Folder) use(f func(windows.Handle) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.h == 0 {
		return file.ErrClosed
	}
	return f(d.h)
}

// open opens a name in d, or d itself if name is empty.
func (d *Folder) open(name string, access, share, disposition, options uint32) (h windows.Handle, err error) {
	err = d.use(func(dir windows.Handle) error {
		h, err = ntOpen(dir, name, access, share, disposition, options)
		return err
	})
	return h, err
}

// with opens a name without following links, calls f with the handle, and closes it.
func (d *Folder) with(name string, access uint32, f func(windows.Handle) error) error {
	h, err := d.open(name, access, shareAll, windows.FILE_OPEN, noFollow)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return f(h)
}

// Clone opens the folder a second time.
func (d *Folder) Clone() (*Folder, error) {
	h, err := d.open("", accessDir, shareAll, windows.FILE_OPEN, noFollow)
	if err != nil {
		return nil, err
	}
	return &Folder{h: h}, nil
}

// Close releases the folder.
func (d *Folder) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.h
	if d.h = 0; h == 0 {
		return nil
	}
	return windows.CloseHandle(h)
}

// plain opens a file or folder that is not a link. If its content has a special storage, such as OneDrive, it is
// opened again through its reparse point, and must be the same file.
func (d *Folder) plain(name string, access uint32) (windows.Handle, file.Info, error) {
	h, err := d.open(name, access, shareAll, windows.FILE_OPEN, noFollow)
	if err != nil {
		return 0, file.Info{}, err
	}
	info, stored, err := infoOfHandle(h)
	if err == nil && (info.Type == file.TypeSymlink || info.Type == file.TypeOther) {
		err = file.ErrSwapped
		if info.Type == file.TypeOther {
			err = file.ErrNotRegular
		}
	}
	if err != nil {
		windows.CloseHandle(h)
		return 0, file.Info{}, err
	}
	if !stored {
		return h, info, nil
	}
	defer windows.CloseHandle(h)
	through, err := d.open(name, access, shareAll, windows.FILE_OPEN, follow)
	if err != nil {
		return 0, file.Info{}, err
	}
	got, _, err := infoOfHandle(through)
	if err == nil && !got.SameFile(info) {
		err = file.ErrSwapped
	}
	if err != nil {
		windows.CloseHandle(through)
		return 0, file.Info{}, err
	}
	return through, got, nil
}

// Enter opens the folder called name, which must not be a link.
func (d *Folder) Enter(name string) (*Folder, error) {
	h, info, err := d.plain(name, accessDir)
	if err == file.ErrNotRegular {
		err = syscall.ENOTDIR
	}
	if err == nil && info.Type != file.TypeDir {
		windows.CloseHandle(h)
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, err
	}
	return &Folder{h: h}, nil
}

// Regular opens a regular file for reading.
func (d *Folder) Regular(name string) (*os.File, file.Info, error) {
	h, info, err := d.plain(name, accessRead)
	if err != nil {
		return nil, file.Info{}, err
	}
	if info.Type != file.TypeFile {
		windows.CloseHandle(h)
		return nil, file.Info{}, file.ErrNotRegular
	}
	return os.NewFile(uintptr(h), name), info, nil
}

// Stat describes the folder itself.
func (d *Folder) Stat() (info file.Info, err error) {
	err = d.use(func(h windows.Handle) error {
		info, _, err = infoOfHandle(h)
		return err
	})
	return info, err
}

// Lstat describes an entry without following links.
func (d *Folder) Lstat(name string) (info file.Info, err error) {
	err = d.with(name, accessInfo, func(h windows.Handle) error {
		info, _, err = infoOfHandle(h)
		return err
	})
	return info, err
}

// StatFile describes an open file.
func StatFile(f *os.File) (info file.Info, err error) {
	err = control(f, func(h windows.Handle) error {
		info, _, err = infoOfHandle(h)
		return err
	})
	return info, err
}

// control calls f with the file's handle, which can't be closed during the call.
func control(file *os.File, f func(windows.Handle) error) error {
	c, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := c.Control(func(fd uintptr) { done = f(windows.Handle(fd)) }); err != nil {
		return err
	}
	return done
}

// fullDirInfo is FILE_FULL_DIR_INFO up to its name.
type fullDirInfo struct {
	next, index                              uint32
	creation, access, write, change          int64
	size, allocation                         int64
	attributes, nameLength, tagOrExtraLength uint32
	name                                     [1]uint16
}

// Entries lists the folder. It opens the folder again, because the position of a listing
// belongs to the handle.
func (d *Folder) Entries(buf []file.Entry) ([]file.Entry, error) {
	h, err := d.open("", accessDir, shareAll, windows.FILE_OPEN, noFollow)
	if err != nil {
		return buf, err
	}
	defer windows.CloseHandle(h)
	space := make([]uint64, 8<<10) // 64 KiB, aligned
	block := (*byte)(unsafe.Pointer(&space[0]))
	for {
		err := windows.GetFileInformationByHandleEx(h, windows.FileFullDirectoryInfo, block, uint32(len(space)*8))
		if err == windows.ERROR_NO_MORE_FILES || err == windows.ERROR_FILE_NOT_FOUND {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
		for at := uintptr(0); ; {
			e := (*fullDirInfo)(unsafe.Add(unsafe.Pointer(block), at))
			name := syscall.UTF16ToString(unsafe.Slice(&e.name[0], e.nameLength/2))
			if name != "." && name != ".." {
				buf = append(buf, file.Entry{Name: name, Type: typeOfAttributes(e.attributes, e.tagOrExtraLength)})
			}
			if e.next == 0 {
				break
			}
			at += uintptr(e.next)
		}
	}
}

// Create makes a new file for reading, writing and renaming. It inherits its rights from the
// folder.
func (d *Folder) Create(name string, _ fs.FileMode) (*os.File, error) {
	h, err := d.open(name, accessRead|accessWrite|windows.DELETE|windows.WRITE_DAC, shareAll, windows.FILE_CREATE, noFollow|windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}

var errReadOnly = errors.New("the file is marked as read-only")

// OpenWrite opens an existing file for writing.
func (d *Folder) OpenWrite(name string) (*os.File, error) {
	var h windows.Handle
	err := patiently(func() (err error) {
		var info file.Info
		h, info, err = d.plain(name, accessWrite)
		if err == nil && info.Mode&0o200 == 0 { // Wine allows this for administrators
			windows.CloseHandle(h)
			return errReadOnly
		}
		return err
	})
	if err == errReadOnly {
		return nil, syscall.EACCES
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}

// OpenLog opens a file of our own state for reading and writing. It is not in append mode,
// because locks and truncation need the right to write anywhere.
func (d *Folder) OpenLog(name string, create bool) (*os.File, error) {
	disposition := uint32(windows.FILE_OPEN)
	if create {
		disposition = windows.FILE_OPEN_IF
	}
	h, err := d.open(name, accessRead|accessWrite, shareAll, disposition, noFollow|windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	if info, _, err := infoOfHandle(h); err != nil || info.Type != file.TypeFile {
		windows.CloseHandle(h)
		return nil, errors.Join(file.ErrNotRegular, err)
	}
	return os.NewFile(uintptr(h), name), nil
}

// Move renames without overwriting, in one step.
func (d *Folder) Move(name string, to *Folder, base string) error {
	return patiently(func() error { return d.rename(name, to, base, false) })
}

// Replace renames a file over another, in one step.
func (d *Folder) Replace(from, to string, patient bool) error {
	if !patient {
		return d.rename(from, d, to, true)
	}
	return patiently(func() error { return d.rename(from, d, to, true) })
}

func (d *Folder) rename(name string, to *Folder, base string, over bool) error {
	return d.with(name, windows.DELETE|accessInfo, func(h windows.Handle) error {
		return to.use(func(dir windows.Handle) error { return ntRename(h, dir, base, over) })
	})
}

// Remove deletes a file, a symlink or an empty folder.
func (d *Folder) Remove(name string) error {
	return patiently(func() error { return d.with(name, windows.DELETE|accessInfo, ntDelete) })
}

// RemoveAll deletes an entry with all it holds; links are deleted, not followed.
func (d *Folder) RemoveAll(name string) error {
	sub, err := d.Enter(name)
	if err == nil {
		var entries []file.Entry
		entries, err = sub.Entries(nil)
		for _, e := range entries {
			err = errors.Join(err, sub.RemoveAll(e.Name))
		}
		sub.Close()
	}
	if err != nil && err != syscall.ENOTDIR && err != file.ErrSwapped {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := d.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Mkdir makes a folder. With mode 0700, other users have no access to it.
func (d *Folder) Mkdir(name string, mode fs.FileMode) error {
	h, err := d.open(name, accessInfo|windows.READ_CONTROL|windows.WRITE_DAC|windows.DELETE, shareAll, windows.FILE_CREATE, noFollow|windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	if mode != 0o700 {
		return nil
	}
	if err := makePrivate(h); err != nil {
		ntDelete(h)
		return err
	}
	return nil
}

// makePrivate restricts access to a folder and its future contents to this user, the system and administrators.
func makePrivate(h windows.Handle) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	return windows.SetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
}

// MarkSystem marks an entry as hidden and as a system file.
func (d *Folder) MarkSystem(name string) error {
	return d.with(name, accessInfo|windows.FILE_WRITE_ATTRIBUTES, func(h windows.Handle) error {
		b, err := getBasic(h)
		if err != nil {
			return err
		}
		return setBasic(h, basicInfo{attributes: b.attributes&^windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM})
	})
}

// Chmod sets or clears the read-only attribute, the only permission on this system.
func (d *Folder) Chmod(name string, mode fs.FileMode) error {
	return d.with(name, accessInfo|windows.FILE_WRITE_ATTRIBUTES, func(h windows.Handle) error {
		return setWritable(h, mode&0o200 != 0)
	})
}

func setWritable(h windows.Handle, writable bool) error {
	b, err := getBasic(h)
	if err != nil || b.attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		return err
	}
	attributes := b.attributes | windows.FILE_ATTRIBUTE_READONLY
	if writable {
		attributes &^= windows.FILE_ATTRIBUTE_READONLY
	}
	if attributes == b.attributes {
		return nil
	}
	attributes = cmp.Or(attributes, windows.FILE_ATTRIBUTE_NORMAL)
	return setBasic(h, basicInfo{attributes: attributes})
}

// SetModTime sets an entry's modification time.
func (d *Folder) SetModTime(name string, t time.Time) error {
	return d.with(name, accessInfo|windows.FILE_WRITE_ATTRIBUTES, func(h windows.Handle) error {
		return setBasic(h, basicInfo{write: ticksOf(t)})
	})
}

// Sync does nothing: NTFS journals names, and there is no call to flush a folder.
func (d *Folder) Sync() error { return nil }

// LstatPath describes the entry at an absolute path without following a link there.
func LstatPath(path string) (file.Info, error) {
	h, err := openPath(path, accessInfo, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return file.Info{}, err
	}
	defer windows.CloseHandle(h)
	info, _, err := infoOfHandle(h)
	return info, err
}

// Exchange is not supported on this system.
func (d *Folder) Exchange(a, b string) error { return file.ErrNoExchange }
