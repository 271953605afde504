package changer

import (
	"os"
	"testing"

	"quarry/internal/script/workertest"
	"quarry/internal/stress"
)

func TestMain(m *testing.M) {
	workertest.Main()
	stress.InMemory()
	os.Exit(m.Run())
}
