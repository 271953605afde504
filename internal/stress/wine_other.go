//go:build !windows

package stress

import "testing"

// SkipWine skips a test of something that Wine does otherwise than Windows.
func SkipWine(testing.TB, string) {}
