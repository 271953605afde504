//go:build !windows

package stress

import "testing"

// UnderWine reports whether the program runs under Wine.
func UnderWine() bool { return false }

// SkipWine does nothing, because Wine exists only for Windows programs.
func SkipWine(testing.TB, string) {}

// Samples returns true: all cases are tried.
func Samples(int) bool { return true }
