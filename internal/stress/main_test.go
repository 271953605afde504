package stress_test

import (
	"os"
	"testing"

	"quarry/internal/script/workertest"
)

func TestMain(m *testing.M) {
	workertest.Main()
	os.Exit(m.Run())
}
