//go:build linux || darwin

package posix

// Exchange swaps two names in one step if the file system can.
func (d *Folder) Exchange(a, b string) error {
	dir, err := d.h.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return swapNames(int(dir.Fd()), a, b)
}
