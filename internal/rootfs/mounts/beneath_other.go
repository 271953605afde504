//go:build !linux || portable

package mounts

// Beneath is not known here.
func Beneath(string) ([]string, error) { return nil, nil }
