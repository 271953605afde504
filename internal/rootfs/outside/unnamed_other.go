//go:build unix && !linux

package outside

// unnamed returns false, because only Linux has users without a name.
func unnamed(uint32) bool { return false }
