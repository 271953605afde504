//go:build !windows

package stress

import "testing"

// UnderWine reports whether Wine plays Windows.
func UnderWine() bool { return false }

// SkipWine skips a test of something that Wine does otherwise than Windows.
func SkipWine(testing.TB, string) {}

// Samples reports whether a test that compares two ways to the same answer takes
// the i-th case: under Wine not each does.
func Samples(int) bool { return true }
