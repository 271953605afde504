package stress

import (
	"flag"
	"os"
	"testing"
)

// memory is where Linux keeps files in memory. There syncing costs nothing: on a
// disk half of the time of the tests that write is waiting for it.
const memory = "/dev/shm"

// enough is the free memory that the largest tests of a package need at once. A
// container often has 64 MB only.
const enough = 2 << 30

// InMemory puts the temporary files of a test program into memory, for what does
// not depend on the disk: a killed process leaves the same in memory. It is for
// TestMain. A TMPDIR that the user chose stays, and benchmarks keep the disk.
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

// FastDir is a temporary folder of one test in memory, by the rules of InMemory.
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
