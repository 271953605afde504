//go:build linux && !portable

package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestRenameIntoNeverCopies(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "quarry-rootfs-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	dir := t.TempDir()
	src, dst := trusted(t, dir), trusted(t, shm)
	if top, _ := TopDir(src.RealDir()); top == "/dev/shm" {
		t.Skip("temporary files are on /dev/shm too")
	}
	if top, err := TopDir(dst.RealDir()); top != "/dev/shm" || err != nil {
		t.Errorf("TopDir = %q, %v", top, err)
	}
	mounts, err := MountsBeneath("/dev")
	if err != nil || !slices.Contains(mounts, "/dev/shm") {
		t.Errorf("mounts beneath /dev: %v, %v", mounts, err)
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

func TestUnescapeMount(t *testing.T) {
	for in, want := range map[string]string{
		"/plain": "/plain", `/a\040b`: "/a b", `/a\134\012`: "/a\\\n", `/end\04`: `/end\04`, `/odd\9x1`: `/odd\9x1`, "": "",
	} {
		if got := unescapeMount(in); got != want {
			t.Errorf("unescapeMount(%q) = %q, want %q", in, got, want)
		}
	}
}
