//go:build !linux && !darwin

package rootfs

func (d *dirHandle) exchange(a, b string) error { return errNoExchange }
