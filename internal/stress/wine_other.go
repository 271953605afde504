//go:build !windows

package stress

import "testing"

// UnderWine reports whether the program runs under Wine.
func UnderWine() bool { return false }

// SkipWine skips a test of something that Wine does differently from Windows.
func SkipWine(testing.TB, string) {}

// Samples reports whether a test that compares two ways to the same answer takes the
// i-th case: under Wine only some are.
func Samples(int) bool { return true }
