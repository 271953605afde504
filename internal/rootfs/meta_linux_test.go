//go:build linux && !portable

package rootfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/rootfs/version"
)

// acl encodes a POSIX access list: owner rw, user 1234 r, group r, mask r,
// others nothing.
func acl() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, ^uint32(0)}, {2, 4, 1234}, {4, 4, ^uint32(0)}, {16, 4, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

func TestReplaceKeepsMetadata(t *testing.T) {
	dir := workspace(t, "f")
	f := dir + "/f"
	big := bytes.Repeat([]byte("attribute "), 90)
	must(t, os.Chmod(f, 0o4750))
	if os.Geteuid() == 0 {
		must(t, os.Chown(f, 1234, 2345))
		must(t, os.Chmod(f, 0o4750|os.ModeSetuid))
	}
	xattrs := map[string][]byte{"user.note": []byte("x"), "user.big": big, "user.empty": {}, "system.posix_acl_access": acl()}
	for name, value := range xattrs {
		if err := unix.Setxattr(f, name, value, 0); err != nil {
			t.Logf("this file system has no %s: %v", name, err)
			delete(xattrs, name)
		}
	}
	var before syscall.Stat_t
	must(t, syscall.Stat(f, &before))
	r := openRoot(t, dir, nil)
	for i, change := range []func() (Replaced, error){
		func() (Replaced, error) { return r.Replace(Path{"f"}, []byte("other"), Version{}, nil) },
		func() (Replaced, error) {
			return r.Splice(Path{"f"}, []Edit{{Off: 1, Data: []byte("x")}}, Version{}, nil)
		},
	} {
		res, err := change()
		must(t, err)
		if res.InPlace {
			t.Errorf("change %d was made in place", i)
		}
		var after syscall.Stat_t
		must(t, syscall.Stat(f, &after))
		if after.Mode != before.Mode || after.Uid != before.Uid || after.Gid != before.Gid {
			t.Errorf("mode %o, owner %d:%d; want %o, %d:%d", after.Mode, after.Uid, after.Gid, before.Mode, before.Uid, before.Gid)
		}
		for name, want := range xattrs {
			got := make([]byte, 4096)
			n, err := unix.Getxattr(f, name, got)
			if err != nil || !bytes.Equal(got[:n], want) {
				t.Errorf("%s = %q, %v; want %q", name, got[:max(n, 0)], err, want)
			}
		}
	}
	// The folder's defaults for new files must not be applied to the replaced file.
	if unix.Setxattr(dir, "system.posix_acl_default", acl(), 0) == nil {
		must(t, unix.Removexattr(f, "system.posix_acl_access"))
		must(t, os.Chmod(f, 0o640))
		_, err := r.Replace(Path{"f"}, []byte("third"), Version{}, nil)
		must(t, err)
		if _, err := unix.Getxattr(f, "system.posix_acl_access", nil); err != unix.ENODATA {
			t.Errorf("an access list was inherited: %v", err)
		}
		if st, _ := os.Stat(f); st.Mode() != 0o640 {
			t.Errorf("mode %v", st.Mode())
		}
	}
}

// A read-only file is not replaced, even if the folder permits it.
func TestReplaceRefusesReadOnlyFiles(t *testing.T) {
	dir := workspace(t, "f")
	must(t, os.Chmod(dir+"/f", 0o444))
	want, err := os.ReadFile(dir + "/f")
	must(t, err)
	r := openRoot(t, dir, nil)
	asOwner := func(f func()) { f() }
	if os.Geteuid() == 0 { // root may do everything
		must(t, os.Chown(dir, 1234, -1))
		must(t, os.Chown(dir+"/f", 1234, -1))
		asOwner = func(f func()) {
			runtime.LockOSThread() // identities belong to threads
			defer runtime.UnlockOSThread()
			syscall.Setfsuid(1234)
			defer syscall.Setfsuid(0)
			f()
		}
	}
	asOwner(func() { _, err = r.Replace(Path{"f"}, []byte("other"), Version{}, nil) })
	if !errors.Is(err, fault.Permission) {
		t.Errorf("Replace: %v", err)
	}
	if got, err := os.ReadFile(dir + "/f"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is %q, %v", got, err)
	}
}

func TestReplaceKeepsHardLinks(t *testing.T) {
	dir := workspace(t, "f")
	must(t, os.Link(dir+"/f", dir+"/g"))
	r := openRoot(t, dir, nil)
	for _, text := range []string{"much longer than before", "short", ""} {
		before := content(t, dir+"/f")
		var kept []byte
		res, err := r.Replace(Path{"f"}, []byte(text), version.Of([]byte(before)), &ReplaceOptions{Keep: func(old *File) (err error) {
			kept, err = io.ReadAll(old)
			return err
		}})
		must(t, err)
		if !res.InPlace || res.Info.Nlink != 2 || string(kept) != before || content(t, dir+"/g") != text {
			t.Errorf("%q: %+v, kept %q, other name holds %q", text, res, kept, content(t, dir+"/g"))
		}
	}
	_, err := r.Replace(Path{"f"}, []byte("x"), version.Of([]byte("other")), nil)
	wantKind(t, "stale version in place", err, fault.Conflict)
	_, err = r.Replace(Path{"f"}, []byte("x"), Version{}, &ReplaceOptions{Keep: func(*File) error { return io.ErrUnexpectedEOF }})
	if err == nil || content(t, dir+"/f") != "" {
		t.Errorf("failed Keep in place: %v, %q", err, content(t, dir+"/f"))
	}
	onlyNames(t, dir, "f", "g")
}

// Writing drops the capabilities and the set-id bits of a file. A rewrite in place restores
// them, even if it fails.
func TestInPlaceKeepsPrivileges(t *testing.T) {
	dir := workspace(t, "f")
	f := dir + "/f"
	must(t, os.Link(f, dir+"/g"))
	must(t, os.Chmod(f, 0o755|os.ModeSetuid))
	// cap_net_raw+ep, as setcap writes it.
	caps := []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if err := unix.Setxattr(f, "security.capability", caps, 0); err != nil {
		t.Skipf("capabilities can't be set here, run it as root: %v", err)
	}
	r := openRoot(t, dir, nil)
	check := func(when string) {
		t.Helper()
		got := make([]byte, 64)
		n, err := unix.Getxattr(f, "security.capability", got)
		if err != nil || !bytes.Equal(got[:n], caps) {
			t.Errorf("%s: capabilities %x, %v", when, got[:max(n, 0)], err)
		}
		if info, err := os.Stat(f); err != nil || info.Mode() != 0o755|os.ModeSetuid {
			t.Errorf("%s: mode %v, %v", when, info.Mode(), err)
		}
	}
	res, err := r.Replace(Path{"f"}, []byte("other"), Version{}, nil)
	must(t, err)
	if !res.InPlace {
		t.Error("not in place")
	}
	check("rewritten")
	failed := false
	r.sys.Layer = &Layer{Before: func(c string) error {
		if c == "truncate" && !failed {
			failed = true
			return unix.EIO
		}
		return nil
	}}
	if _, err := r.Replace(Path{"f"}, []byte("third"), Version{}, nil); err == nil || content(t, f) != "other" {
		t.Errorf("a failed rewrite: %v, %q", err, content(t, f))
	}
	check("restored")
	onlyNames(t, dir, "f", "g")
}

// Without an exchanging rename the file is rewritten in place.
func TestReplaceWithoutExchange(t *testing.T) {
	dir := workspace(t, "f")
	r := openRoot(t, dir, nil)
	r.sys.Layer = &Layer{Before: func(c string) error {
		if c == "exchange" {
			return unix.EINVAL
		}
		return nil
	}}
	res, err := r.Replace(Path{"f"}, []byte("new"), version.Of([]byte("f")), nil)
	if err != nil || !res.InPlace || content(t, dir+"/f") != "new" {
		t.Errorf("%+v, %v, %q", res, err, content(t, dir+"/f"))
	}
	r.sys.Layer = &Layer{Before: func(c string) error {
		if c == "rename" {
			return unix.EINVAL
		}
		return nil
	}}
	_, _, err = r.Create(Path{"g"}, []byte("made"), nil)
	if err != nil || content(t, dir+"/g") != "made" {
		t.Errorf("Create without RENAME_NOREPLACE: %v", err)
	}
	must(t, r.Rename(Path{"g"}, Path{"h"}))
	wantKind(t, "Rename without RENAME_NOREPLACE", r.Rename(Path{"h"}, Path{"f"}), fault.AlreadyExists)
	onlyNames(t, dir, "f", "h")
}

// A move to another file system copies everything.
func TestRenameAcrossFileSystems(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "quarry")
	if err != nil {
		t.Skip("no second file system:", err)
	}
	defer os.RemoveAll(shm)
	dir := workspace(t, "tree/a/f", "tree/empty/", "tree/l -> a/f", "one", "two")
	must(t, os.Chmod(dir+"/tree/a/f", 0o751))
	must(t, os.Chmod(dir+"/tree/a", 0o750))
	r, dst := openRoot(t, dir, nil), openRoot(t, shm, &Options{Trusted: true})
	a, _ := r.Stat(Path{"one"})
	b, _ := dst.Stat(Path{})
	if a.Dev == b.Dev {
		t.Skip("/dev/shm is the same file system")
	}
	if err := r.RenameInto(Path{"one"}, dst, Path{"one"}); !errors.Is(err, unix.EXDEV) {
		t.Errorf("RenameInto: %v, want EXDEV", err)
	}
	before, _ := os.Stat(dir + "/tree/a/f")
	must(t, r.RenameTo(Path{"tree"}, dst, Path{"moved"}))
	after, err := os.Stat(shm + "/moved/a/f")
	must(t, err)
	if content(t, shm+"/moved/a/f") != "tree/a/f" || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("file became %v %v", after.Mode(), after.ModTime())
	}
	if s, err := os.Readlink(shm + "/moved/l"); err != nil || s != "a/f" {
		t.Errorf("symlink became %q, %v", s, err)
	}
	if st, err := os.Stat(shm + "/moved/a"); err != nil || st.Mode().Perm() != 0o750 {
		t.Errorf("folder became %v, %v", st, err)
	}
	must(t, r.RenameTo(Path{"one"}, dst, Path{"one"}))
	wantKind(t, "onto an existing file", r.RenameTo(Path{"two"}, dst, Path{"one"}), fault.AlreadyExists)
	onlyNames(t, dir, "two")
	onlyNames(t, shm, "moved", "one")
	must(t, dst.RenameTo(Path{"moved"}, r, Path{"back"}))
	if content(t, dir+"/back/a/f") != "tree/a/f" {
		t.Error("content changed on the way back")
	}
}
