//go:build unix && !linux

package outside

// unnamed: only Linux has users without a name.
func unnamed(uint32) bool { return false }
