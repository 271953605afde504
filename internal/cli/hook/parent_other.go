//go:build !linux && !darwin && !windows

package hook

// parentOf returns 0, because it is unknown on these systems.
func parentOf(int) int { return 0 }
