package quarry_test

import (
	"flag"
	"os"
	"testing"

	"quarry/internal/stress"
)

// The whole suite is run on a disk: here are the tests of all layers together. The
// short one has half a minute.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		stress.InMemory()
	}
	os.Exit(m.Run())
}
