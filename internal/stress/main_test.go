package stress_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"quarry/internal/script/worker"
)

// TestMain runs scripts if this program was started for that.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "script-worker") {
		if err := worker.Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
