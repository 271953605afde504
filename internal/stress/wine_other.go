//go:build !windows

package stress

import "testing"

// UnderWine reports whether Wine plays Windows.
func UnderWine() bool { return false }

// SkipWine skips a test of something that Wine does otherwise than Windows.
func SkipWine(testing.TB, string) {}
