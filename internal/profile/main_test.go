package profile_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"quarry/internal/script/worker"
	"quarry/internal/stress"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "script-worker") {
		if err := worker.Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	stress.InMemory()
	os.Exit(m.Run())
}

// scriptWorker is the command that runs scripts in tests: this program.
func scriptWorker(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "script-worker"}
}
