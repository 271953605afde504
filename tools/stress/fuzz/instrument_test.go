package main

import "testing"

// Quarry's packages get counters in all variants that the go command compiles for tests.
func TestOurs(t *testing.T) {
	for pkg, want := range map[string]bool{
		"quarry": true, "quarry_test": true, "quarry/internal/owner": true, "quarry/internal/owner_test": true, "main": true,
		"quarryx": false, "fmt": false, "golang.org/x/text/unicode/norm": false, "vendor/quarry": false,
	} {
		if ours(pkg) != want {
			t.Errorf("ours(%q) = %v", pkg, !want)
		}
	}
}
