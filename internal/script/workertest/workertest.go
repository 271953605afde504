// Package workertest lets a test's own program be the worker that runs scripts.
package workertest

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"quarry/internal/script/worker"
)

const argument = "script-worker"

// Main runs scripts and exits, if this program was started for that by Command.
// TestMain calls it first.
func Main() {
	if !slices.Contains(os.Args, argument) {
		return
	}
	if err := worker.Main(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command starts this program as a worker.
func Command(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, argument}
}
