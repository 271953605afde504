//go:build !windows

package names

// Check accepts all names, since none has a special meaning on this system.
func Check(string) error { return nil }

// CheckTyped accepts all names.
func CheckTyped(string) error { return nil }

// Plain returns p. Only Windows has other spellings of an absolute path.
func Plain(p string) string { return p }
