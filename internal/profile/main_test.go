package profile_test

import (
	"os"
	"testing"

	"quarry/internal/stress"
)

func TestMain(m *testing.M) {
	stress.InMemory()
	os.Exit(m.Run())
}
