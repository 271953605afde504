package stress

import (
	"flag"
	"os"
	"testing"
)

// memory is where Linux mounts an in-memory file system. Syncing takes no time there; on a disk,
// tests that write files spend half of their time syncing.
const memory = "/dev/shm"

// enough is the free memory that the largest tests of a package need together. In containers, the
// in-memory file system often has only 64 MB.
const enough = 2 << 30

// InMemory puts the temporary files of a test program into memory. Call it from TestMain of
// tests that don't need a real disk; killing a process leaves the same files in memory. It
// respects a TMPDIR set by the user, and leaves benchmarks on the disk.
func InMemory() {
	if !flag.Parsed() {
		flag.Parse()
	}
	if bench := flag.Lookup("test.bench"); bench != nil && bench.Value.String() != "" {
		return
	}
	if os.Getenv("TMPDIR") == "" && free(memory) >= enough {
		os.Setenv("TMPDIR", memory)
	}
}

// FastDir returns a temporary folder for one test, in memory under the same conditions as InMemory.
func FastDir(t testing.TB) string {
	t.Helper()
	if os.Getenv("TMPDIR") != "" || free(memory) < enough {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "quarry-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
