package stress

import (
	"flag"
	"os"
	"testing"
)

// memory is the folder of Linux's in-memory file system. Syncing costs nothing there; on
// a disk, tests that write spend half of their time on it.
const memory = "/dev/shm"

// enough is the free memory that the largest tests of a package need at once. Containers
// often have only 64 MB.
const enough = 2 << 30

// InMemory puts the temporary files of a test program into memory, for tests that don't
// depend on the disk: a killed process leaves the same files there. Call it from TestMain.
// A TMPDIR that the user chose is kept, and benchmarks use the disk.
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

// FastDir returns a temporary folder for one test, in memory if InMemory would use it.
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
