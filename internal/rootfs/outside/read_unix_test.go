//go:build unix

package outside

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Read refuses anything except a small regular file at once. All reads of files outside of a root use it;
// internal/arch enforces that.
func TestReadOutside(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("small"), []byte("text"), 0o600))
	must(os.Symlink("small", at("link")))
	must(os.WriteFile(at("large"), nil, 0o600))
	must(os.Truncate(at("large"), 20<<30))
	must(syscall.Mkfifo(at("fifo"), 0o600))
	must(os.Symlink("fifo", at("to-fifo")))
	must(os.Symlink("/dev/zero", at("zero")))
	must(os.Symlink("self", at("self")))
	must(os.Mkdir(at("folder"), 0o700))
	if l, err := net.Listen("unix", at("sock")); err == nil {
		defer l.Close()
	}
	for _, name := range []string{"small", "link"} {
		if data, info, err := Read(at(name), 4); err != nil || string(data) != "text" || info.Size() != 4 {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, _, err := Read(at("small"), 3); err == nil {
		t.Error("4 bytes are read where 3 are the limit")
	}
	for _, name := range []string{"large", "fifo", "to-fifo", "zero", "self", "folder", "sock", "none"} {
		done := make(chan error, 1)
		go func() { _, _, err := Read(at(name), 1<<20); done <- err }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s is read", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: no end", name)
		}
	}
}
