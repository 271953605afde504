//go:build !linux || portable

package mounts

// Beneath is not supported on this system.
func Beneath(string) ([]string, error) { return nil, nil }
