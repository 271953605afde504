//go:build unix && !linux

package doctor

// tryWrite: only Linux has files without a name.
func tryWrite(string) error { return nil }
