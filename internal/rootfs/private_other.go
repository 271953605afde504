//go:build !unix

package rootfs

// CheckPrivate: the home folder's own permissions keep others out.
func CheckPrivate(string) (unverified string, err error) { return "", nil }
