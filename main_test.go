package quarry_test

import (
	"flag"
	"os"
	"testing"

	"quarry/internal/stress"
)

// The full suite runs on a disk, since these tests cover all layers together. The short one
// has half a minute.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		stress.InMemory()
	}
	os.Exit(m.Run())
}
