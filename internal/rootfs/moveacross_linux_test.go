//go:build linux && !portable

package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/fault"
)

func TestRenameIntoNeverCopies(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "quarry-rootfs-test-")
	if err != nil {
		t.Skipf("a second file system is needed, mount one at /dev/shm: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	dir := t.TempDir()
	src, dst := trusted(t, dir), trusted(t, shm)
	if info, err := os.Stat(src.RealDir()); err != nil || sameDevice(info, "/dev/shm") {
		t.Skip("temporary files are on /dev/shm too")
	}
	if info, err := os.Stat("/dev"); err != nil || sameDevice(info, "/dev/shm") {
		t.Skip("a second file system is needed: /dev/shm is a part of /dev here, as in bubblewrap")
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := src.Known("a")
	if err := src.RenameInto(a, dst, a); !errors.Is(err, syscall.EXDEV) {
		t.Errorf("across devices: %v", err)
	}
	if _, err := src.Stat(a); err != nil {
		t.Errorf("the file: %v", err)
	}
	if entries, _ := os.ReadDir(shm); len(entries) != 0 {
		t.Errorf("left over: %v", entries)
	}
}

// sameDevice reports whether a path is on the same file system as info.
func sameDevice(info os.FileInfo, path string) bool {
	other, err := os.Stat(path)
	return err == nil && info.Sys().(*syscall.Stat_t).Dev == other.Sys().(*syscall.Stat_t).Dev
}

// across opens two roots on different file systems.
func across(t *testing.T) (src, dst *Root) {
	t.Helper()
	shm, err := os.MkdirTemp("/dev/shm", "quarry-rootfs-test-")
	if err != nil {
		t.Skipf("a second file system is needed, mount one at /dev/shm: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	src, dst = trusted(t, t.TempDir()), trusted(t, shm)
	if info, err := os.Stat(src.RealDir()); err != nil || sameDevice(info, "/dev/shm") {
		t.Skip("temporary files are on /dev/shm too")
	}
	for name, text := range map[string]string{"d/a": "1", "d/in/b": "2", "d/in/deep/c": "3", "d/z": "4"} {
		full := filepath.Join(src.RealDir(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return src, dst
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		list = append(list, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A folder that can't be removed completely is not moved to another file system, and nothing in it is lost.
func TestMoveAcrossIsWholeOrNot(t *testing.T) {
	whole := []string{".", "d", "d/a", "d/in", "d/in/b", "d/in/deep", "d/in/deep/c", "d/z"}
	d := func(r *Root) Path { p, _ := r.Known("d"); return p }
	t.Run("moved", func(t *testing.T) {
		src, dst := across(t)
		if err := src.RenameTo(d(src), dst, d(dst)); err != nil {
			t.Fatal(err)
		}
		if a, b := namesIn(t, src.RealDir()), namesIn(t, dst.RealDir()); len(a) != 1 || !slices.Equal(b, whole) {
			t.Errorf("left %v, moved %v", a, b)
		}
	})
	for name, harm := range map[string]func(dir string) (undo func(), err error){
		"an immutable file": func(dir string) (func(), error) {
			file := filepath.Join(dir, "d/in/b")
			return func() { setImmutable(file, false) }, setImmutable(file, true)
		},
		"an immutable folder": func(dir string) (func(), error) {
			file := filepath.Join(dir, "d/in/deep")
			return func() { setImmutable(file, false) }, setImmutable(file, true)
		},
		"a mounted folder": func(dir string) (func(), error) {
			at := filepath.Join(dir, "d/in/deep")
			return func() { syscall.Unmount(at, syscall.MNT_DETACH) }, syscall.Mount(filepath.Join(dir, "d/in"), at, "", syscall.MS_BIND, "")
		},
		"a mounted file": func(dir string) (func(), error) {
			at := filepath.Join(dir, "d/in/b")
			return func() { syscall.Unmount(at, syscall.MNT_DETACH) }, syscall.Mount(filepath.Join(dir, "d/a"), at, "", syscall.MS_BIND, "")
		},
		"a folder that can't be written to": func(dir string) (func(), error) {
			if os.Getuid() == 0 {
				return func() {}, errors.New("root writes everywhere; run the tests as another user")
			}
			at := filepath.Join(dir, "d/in")
			return func() { os.Chmod(at, 0o755) }, os.Chmod(at, 0o555)
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, dst := across(t)
			undo, err := harm(src.RealDir())
			if err != nil {
				t.Skipf("can't be tried here (attributes and mounts need root, permissions another user): %v", err)
			}
			before := namesIn(t, src.RealDir())
			err = src.RenameTo(d(src), dst, d(dst))
			after := namesIn(t, src.RealDir())
			undo()
			if KindOf(err) != fault.Permission {
				t.Errorf("moved: %v", err)
			}
			if !slices.Equal(before, after) {
				t.Errorf("%v is left of %v", after, before)
			}
			if left := namesIn(t, dst.RealDir()); len(left) != 1 {
				t.Errorf("copies are left: %v", left)
			}
		})
	}
}

// DropCopy removes only an exact copy.
func TestDropCopy(t *testing.T) {
	src, _ := across(t)
	dir := src.RealDir()
	if err := os.CopyFS(filepath.Join(dir, "e"), os.DirFS(filepath.Join(dir, "d"))); err != nil {
		t.Fatal(err)
	}
	d, _ := src.Known("d")
	e, _ := src.Known("e")
	if was, err := src.DropCopy(d, e); was || err != nil {
		t.Errorf("files of another time are a copy: %v, %v", was, err)
	}
	for _, name := range []string{"a", "in/b", "in/deep/c", "z"} {
		info, err := os.Stat(filepath.Join(dir, "d", name))
		if err == nil {
			err = os.Chtimes(filepath.Join(dir, "e", name), info.ModTime(), info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if was, err := src.DropCopy(d, e); !was || err != nil {
		t.Errorf("a copy is none: %v, %v", was, err)
	}
	if _, err := src.Stat(e); KindOf(err) != fault.NotFound {
		t.Errorf("the copy is still there: %v", err)
	}
	if was, err := src.DropCopy(d, e); was || err != nil {
		t.Errorf("without a copy: %v, %v", was, err)
	}
	if got := namesIn(t, filepath.Join(dir, "d")); len(got) != 7 {
		t.Errorf("the original has %v", got)
	}
}

const immutable = 0x10 // FS_IMMUTABLE_FL

func setImmutable(path string, on bool) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	flags &^= immutable
	if on {
		flags |= immutable
	}
	return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags))
}
