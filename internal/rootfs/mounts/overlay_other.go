//go:build !linux

package mounts

// IsOverlay returns false, because only Linux has overlays.
func IsOverlay(string) bool { return false }
