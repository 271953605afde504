package quarry_test

import (
	"flag"
	"os"
	"testing"

	"quarry/internal/stress"
)

// The full tests use the disk, because they cover all layers together. The short form uses memory,
// to end within half a minute.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		stress.InMemory()
	}
	os.Exit(m.Run())
}
