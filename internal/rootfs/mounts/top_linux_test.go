//go:build !portable

package mounts

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

func TestTop(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "quarry-mounts-test-")
	if err != nil {
		t.Skipf("a second file system is needed, mount one at /dev/shm: %v", err)
	}
	defer os.RemoveAll(dir)
	device := func(path string) uint64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Dev
	}
	if device("/dev") == device("/dev/shm") {
		t.Skip("a second file system is needed: /dev/shm is a part of /dev here, as in bubblewrap")
	}
	if top, err := Top(dir); top != "/dev/shm" || err != nil {
		t.Errorf("Top(%s) = %q, %v", dir, top, err)
	}
	if beneath, err := Beneath("/dev"); err != nil || !slices.Contains(beneath, "/dev/shm") {
		t.Errorf("mounts beneath /dev: %v, %v", beneath, err)
	}
}
